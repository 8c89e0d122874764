// SPDX-License-Identifier: GPL-2.0
/*
 * The state in a directory: "counter", and in "jobs" ID.json and ID.TREE.plan; with the
 * store in etcd, "cluster", and in "plans" ID.TREE.plan. A file is written beside its
 * place, synchronised and renamed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conf.h"
#include "store_ops.h"

#define CLUSTER		"cluster"	/* file: ID of the cluster of etcd, number of jobs */
#define LOCK_TRIES	50
#define LOCK_WAIT_NS	20000000

static char *top;
static const char *sub;
static int dir = -1, jobs = -1, lock = -1, children = -1;

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= (size_t)n) {
		n = write(fd, data, len);
		if (n < 0)
			return -1;
	}
	return fsync(fd);
}

/* Replace a file by one with this content. */
static int put_file(int at, const char *name, const char *data, struct text *why)
{
	int fd = openat(at, ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
			O_NOFOLLOW, 0600);
	int err = fd < 0 ? -1 : write_all(fd, data, strlen(data));

	if (!err)
		err = renameat(at, ".new", at, name);
	if (!err)
		err = fsync(at);
	if (err)
		text_set(why, "%s: %s: %s", top, name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int open_dir(int at, const char *path)
{
	if (mkdirat(at, path, 0700) && errno != EEXIST)
		return -1;
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Return: the lock, or -1 */
static int open_lock(const char *name, int how)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || !flock(fd, how))
		return fd;
	close(fd);
	return -1;
}

/*
 * A child of a process that was killed has the lock until it runs its program, which is
 * soon. Return: the lock, or -1
 */
static int open_lock_soon(const char *name)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };
	unsigned int i;
	int fd;

	for (i = 0; i < LOCK_TRIES; i++) {
		fd = open_lock(name, LOCK_EX | LOCK_NB);
		if (fd >= 0 || errno != EWOULDBLOCK)
			break;
		nanosleep(&wait, NULL);
	}
	return fd;
}

int store_file_open(const char *path, const char *plans, struct text *why)
{
	top = strdup(path);
	sub = plans;
	dir = open_dir(AT_FDCWD, path);
	if (dir >= 0)
		jobs = open_dir(dir, sub);
	if (!top || jobs < 0)
		return text_set(why, "%s: %s", path, strerror(errno));
	lock = open_lock_soon("lock");
	if (lock < 0 && errno == EWOULDBLOCK)
		return text_set(why, "%s: another aggd uses it", path);
	children = lock < 0 ? -1 : open_lock("children", LOCK_EX | LOCK_NB);
	if (lock >= 0 && children < 0) {
		note("waiting for processes of an earlier aggd to end");
		children = open_lock("children", LOCK_EX);
	}
	if (children >= 0)
		return 0;
	return text_set(why, "%s: lock: %s", path, strerror(errno));
}

int store_children(void)
{
	return children;
}

/* Return: the content, to be freed; NULL with errno */
static char *get_file(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *data = NULL;
	size_t size = 0;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (getdelim(&data, &size, 0, f) < 0) {
		free(data);
		data = strdup("");
	}
	fclose(f);
	return data;
}

int store_file_counter(uint32_t *next, struct text *why)
{
	char *text = get_file(dir, "counter");

	*next = conf.first;
	if (!text && errno == ENOENT)
		return 0;
	if (text)
		text[strcspn(text, "\n")] = 0;
	if (!text || !value_parse(OPT_U32, text, next)) {
		free(text);
		return text_set(why, "%s: counter: not a number: write one that exceeds all job IDs",
				top);
	}
	free(text);
	return 0;
}

static int take_ids(uint32_t n, uint32_t *first, struct text *why)
{
	char text[16];

	if (store_file_counter(first, why))
		return -1;
	if (*first > UINT32_MAX - n)
		return text_set(why, "all job IDs have been used");
	snprintf(text, sizeof(text), "%u\n", *first + n);
	return put_file(dir, "counter", text, why);
}

static int put(uint32_t id, const json_t *record, struct text *why)
{
	char *data = json_dumps(record, JSON_INDENT(1)), name[32];
	int err;

	if (!data)
		return text_set(why, "out of memory");
	snprintf(name, sizeof(name), "%u.json", id);
	err = put_file(jobs, name, data, why);
	free(data);
	return err;
}

static json_t *get(uint32_t id, struct text *why)
{
	json_t *record = NULL;
	json_error_t fault;
	char name[32];
	char *data;

	snprintf(name, sizeof(name), "%u.json", id);
	data = get_file(jobs, name);
	if (!data) {
		text_set(why, "%s/jobs/%s: %s", top, name, strerror(errno));
		return NULL;
	}
	record = json_loads(data, JSON_REJECT_DUPLICATES, &fault);
	if (!record)
		text_set(why, "%s/jobs/%s: not JSON: %s", top, name, fault.text);
	free(data);
	return record;
}

void store_plan(uint32_t id, uint32_t tree, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s/%u.%u.plan", top, sub, id, tree);
}

static int sync_plan(uint32_t id, uint32_t tree, struct text *why)
{
	char path[PATH_MAX];
	int fd, err;

	store_plan(id, tree, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -1 : fsync(fd);
	if (err)
		text_set(why, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int fetch_plan(uint32_t id, uint32_t tree, struct text *why)
{
	char path[PATH_MAX];

	(void)why;
	store_plan(id, tree, path);
	return !access(path, F_OK);
}

char *store_file_read_plan(uint32_t id, uint32_t tree, size_t *len, struct text *why)
{
	char name[32], *plan;

	snprintf(name, sizeof(name), "%u.%u.plan", id, tree);
	plan = get_file(jobs, name);
	if (plan)
		*len = strlen(plan);
	else
		text_set(why, "%s/%s/%s: %s", top, sub, name, strerror(errno));
	return plan;
}

int store_file_write_plan(uint32_t id, uint32_t tree, const char *plan,
			  struct text *why)
{
	char name[32];

	snprintf(name, sizeof(name), "%u.%u.plan", id, tree);
	return put_file(jobs, name, plan, why);
}

void store_file_del_plans(uint32_t id, uint32_t trees)
{
	char name[32];
	uint32_t i;

	for (i = 0; i < trees; i++) {
		snprintf(name, sizeof(name), "%u.%u.plan", id, i);
		unlinkat(jobs, name, 0);
	}
}

static void del(uint32_t id, uint32_t trees)
{
	char name[32];

	store_file_del_plans(id, trees);
	snprintf(name, sizeof(name), "%u.json", id);
	unlinkat(jobs, name, 0);
}

static int is_record(const struct dirent *e)
{
	unsigned int id;
	char tail;

	return sscanf(e->d_name, "%u.jso%c", &id, &tail) == 2 && tail == 'n';
}

static int by_id(const struct dirent **a, const struct dirent **b)
{
	unsigned long x = strtoul((*a)->d_name, NULL, 10);
	unsigned long y = strtoul((*b)->d_name, NULL, 10);

	return (x > y) - (x < y);
}

static int each(int (*one)(uint32_t id, json_t *record, struct text *why),
		struct text *why)
{
	struct dirent **list;
	int i, n = scandirat(dir, "jobs", &list, is_record, by_id);
	json_t *record;
	uint32_t id;

	if (n < 0)
		return text_set(why, "%s/jobs: %s", top, strerror(errno));
	for (i = 0; i < n; i++) {
		id = (uint32_t)strtoul(list[i]->d_name, NULL, 10);
		record = get(id, why);
		/* It must not keep the other jobs from their end. */
		if (!record || one(id, record, why))
			note("job %u is left as it is: %s", id, why->s);
		json_decref(record);
		free(list[i]);
	}
	free(list);
	return 0;
}

/* Return: 0: the job has ended; -1 with @why */
static int check_ended(uint32_t id, struct text *why)
{
	char name[32], *data;
	const char *state;
	json_t *record;
	bool ended;

	snprintf(name, sizeof(name), "jobs/%u.json", id);
	data = get_file(dir, name);
	record = data ? json_loads(data, 0, NULL) : NULL;
	state = json_string_value(json_object_get(record, "state"));
	ended = state && !strcmp(state, "ended");
	json_decref(record);
	free(data);
	return ended ? 0 : text_set(why, "%s/%s: the job has not ended: run aggd with 'store file', cancel its jobs, and then use etcd",
				    top, name);
}

int store_file_is_left(struct text *why)
{
	struct dirent **list;
	int i, n = scandirat(dir, "jobs", &list, is_record, by_id), err = 0;

	if (n < 0)
		return errno == ENOENT ? 0 : text_set(why, "%s/jobs: %s", top,
						      strerror(errno));
	for (i = 0; i < n; i++) {
		if (!err)
			err = check_ended((uint32_t)strtoul(list[i]->d_name, NULL, 10),
					  why);
		free(list[i]);
	}
	free(list);
	return err;
}

int store_file_read_cluster(uint64_t *cluster, uint64_t *number, struct text *why)
{
	char *text = get_file(dir, CLUSTER), *end;
	bool valid = false;

	*cluster = 0;
	*number = 0;
	if (!text && errno == ENOENT)
		return 0;
	if (text) {
		*cluster = strtoull(text, &end, 16);
		*number = *end == ' ' ? strtoull(end + 1, &end, 16) : 0;
		valid = *cluster && *number && !strcmp(end, "\n");
	}
	free(text);
	return valid ? 0 : text_set(why, "%s/" CLUSTER ": not the ID of a cluster of etcd: remove the file if 'store' is right",
				    top);
}

int store_file_write_cluster(uint64_t cluster, uint64_t number, struct text *why)
{
	char text[64];

	snprintf(text, sizeof(text), "%016llx %016llx\n", (unsigned long long)cluster,
		 (unsigned long long)number);
	return put_file(dir, CLUSTER, text, why);
}

/* Jobs of etcd are not ended by an aggd that does not use it, and have IDs, too. */
static int open_file(struct text *why)
{
	if (faccessat(dir, CLUSTER, F_OK, 0))
		return 0;
	return text_set(why, "%s/" CLUSTER ": jobs are in etcd: cancel them, write a number that exceeds all job IDs to %s/counter, and remove the file",
			top, top);
}

static int is_plan(const struct dirent *e)
{
	return *e->d_name != '.';
}

void store_file_del_all_plans(void)
{
	struct dirent **list;
	int i, n = scandirat(dir, sub, &list, is_plan, NULL);

	for (i = 0; i < n; i++) {
		unlinkat(jobs, list[i]->d_name, 0);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

const struct store_ops store_file = {
	.open = open_file,
	.take_ids = take_ids,
	.put = put,
	.get = get,
	.del = del,
	.del_plans = store_file_del_plans,
	.each = each,
	.sync_plan = sync_plan,
	.fetch_plan = fetch_plan,
};
