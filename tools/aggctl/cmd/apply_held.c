// SPDX-License-Identifier: GPL-2.0
/* One host of "aggctl apply --hosts": it stages, commits and keeps when it is told. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggctl.h"
#include "cmd/apply_hosts.h"
#include "cmd/plan_find.h"
#include "monotonic.h"

/* The command says more often than this that other hosts are not so far. */
#define PATIENCE_MS	60000
#define PART		4096	/* is read at a time, at first */

#define LOCK_DIR	"/run/aggnet"
#define LOCK_MS		5000	/* until an earlier command that was killed has ended */
#define LOCK_POLL_MS	50

/**
 * struct input - standard input that was read and not used
 * @data: for realloc()
 * @len: how many bytes
 * @room: for how many
 */
static struct input {
	char *data;
	size_t len;
	size_t room;
} input;

/* Return: false at the end of the input, or if there is no memory */
static bool read_more(void)
{
	ssize_t n;
	char *data;

	if (input.len == input.room) {
		data = realloc(input.data, 2 * input.room + PART);
		if (!data)
			return false;
		input.data = data;
		input.room = 2 * input.room + PART;
	}
	do
		n = read(STDIN_FILENO, input.data + input.len,
			 input.room - input.len);
	while (n < 0 && errno == EINTR);
	input.len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* Return: the next line, for free(); NULL: there is none, or nothing came for @ms */
static char *next_line(int ms, bool *late)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	char *end, *line;

	*late = false;
	while (!input.len || !(end = memchr(input.data, '\n', input.len))) {
		*late = !poll(&fd, 1, ms);
		if (*late || !read_more())
			return NULL;
	}
	line = strndup(input.data, (size_t)(end - input.data));
	input.len -= (size_t)(end + 1 - input.data);
	memmove(input.data, end + 1, input.len);
	return line;
}

/* Say @done, and wait until @next may be done. */
static bool may(const char *done, const char *next)
{
	bool late, waits, does;
	char *line;

	puts(done);
	fflush(stdout);
	do {
		line = next_line(PATIENCE_MS, &late);
		waits = line && !strcmp(line, HELD_WAIT);
		does = line && !strcmp(line, next);
		free(line);
	} while (waits);
	if (late)
		err("no message from 'aggctl apply --hosts' for %d s: it is over",
		    PATIENCE_MS / 1000);
	return does;
}

static bool may_commit(const struct plan_install *how)
{
	(void)how;
	return may(HELD_STAGED, HELD_COMMIT);
}

static bool may_keep(const struct plan_install *how)
{
	return may(how->changes ? HELD_IN_FORCE : HELD_UNCHANGED, HELD_KEEP);
}

static json_t *read_plan(void)
{
	json_error_t error;
	bool late;
	char *line = next_line(PATIENCE_MS, &late);
	json_t *json;

	if (!line) {
		err("standard input has no plan: 'aggctl apply PLAN.json --hosts FILE' sends one");
		return NULL;
	}
	json = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		err("the plan on standard input: %s", error.text);
	free(line);
	return json;
}

/* Return: 0; 1: another process has the lock; -1 with errno */
static int try_lock(int fd, json_int_t job)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = job, .l_len = 1,
	};

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	return errno == EAGAIN || errno == EACCES ? 1 : -1;
}

/* Return: 0; -1 with an error line printed */
static int wait_lock(int fd, json_int_t job)
{
	const int64_t end = monotonic_ms() + LOCK_MS;
	int busy = try_lock(fd, job);

	while (busy > 0 && monotonic_left(end)) {
		poll(NULL, 0, LOCK_POLL_MS);
		busy = try_lock(fd, job);
	}
	if (busy > 0)
		err("another 'aggctl apply --hosts' has not ended, and may take this plan back: one that was cut off ends within %d s; then repeat the command",
		    PATIENCE_MS / 1000);
	else if (busy)
		err("the lock of the plan: %s", strerror(errno));
	return busy ? -1 : 0;
}

/**
 * held_lock() - have the plan of a job on a node
 * @node: the node
 * @file: the plan
 * @fd: set to a descriptor, which the caller closes
 *
 * An earlier command that was cut off may wait for its next word, and then take back
 * entries that this one would find in force: only one command at a time has the plan of a
 * job on this node. The node has a file with one byte for each job, which is locked until
 * @fd is closed. A user other than root cannot make the file, and has no lock.
 *
 * Return: 0, or -1 with an error line printed
 */
int held_lock(const char *node, const struct plan_file *file, int *fd)
{
	char path[sizeof(LOCK_DIR) + 80];

	if (geteuid())
		return 0;
	snprintf(path, sizeof(path), LOCK_DIR "/%.64s.held", node);
	/* Users reach aggd's socket there, whatever the login's umask is. */
	if (!mkdir(LOCK_DIR, 0755))
		chmod(LOCK_DIR, 0755);
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0) {
		err("%s: %s", path, strerror(errno));
		return -1;
	}
	return wait_lock(*fd, json_integer_value(json_object_get(file->json, "job")));
}

int apply_held(const char *netns, const char *node, struct plan_install *how)
{
	struct plan_file file = {};
	json_t *json = read_plan();
	int ret = -1, lock = -1;

	how->may_commit = may_commit;
	how->may_keep = may_keep;
	if (json && !plan_file_take(&file, json) &&
	    !plan_file_find(&file, netns, node, &how->in_testbed) &&
	    !held_lock(node, &file, &lock))
		ret = plan_install(&file, how);
	if (ret && !how->in_doubt)
		puts(HELD_UNDONE);
	if (lock >= 0)
		close(lock);
	plan_file_free(&file);
	json_decref(json);
	free(input.data);
	input = (struct input){};
	return ret;
}
