// SPDX-License-Identifier: GPL-2.0
/* Processes of aggctl: their descriptors in the loop, their errors, their end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf.h"
#include "engine.h"
#include "loop.h"
#include "store.h"

/**
 * struct child - a process
 * @list: in children
 * @end: its pidfd, readable when it has ended
 * @error: its standard error
 * @pid: the process and its process group
 * @until: when it is killed
 * @late: it was
 * @silent: it was killed because the store is silent
 * @text: what it has written, cut
 * @len: of it
 * @ended: of the caller
 * @arg: of the caller
 */
struct child {
	LIST_ENTRY(child) list;
	struct watch end;
	struct watch error;
	pid_t pid;
	int64_t until;
	bool late;
	bool silent;
	char text[TEXT_MAX];
	size_t len;
	void (*ended)(void *arg, int status, const char *text);
	void *arg;
};

static LIST_HEAD(, child) children = LIST_HEAD_INITIALIZER(children);
static uint32_t running;

bool engine_has_room(void)
{
	return running < conf.children;
}

/* Return: is there more? */
static bool read_error(struct child *c)
{
	char buf[4096];
	ssize_t n = read(c->error.fd, buf, sizeof(buf));
	size_t room = sizeof(c->text) - 1 - c->len;

	if (n <= 0)
		return false;
	if (room > (size_t)n)
		room = (size_t)n;
	memcpy(c->text + c->len, buf, room);
	c->len += room;
	return true;
}

static void error_ready(struct watch *w, uint32_t events)
{
	struct child *c = container(w, struct child, error);

	(void)events;
	if (read_error(c) || errno == EAGAIN)
		return;
	/* A process that it has left behind may have it open still. */
	loop_del(w);
}

/*
 * Make one sentence of the lines: without the name of the program, and "; " between.
 */
static void make_sentence(const char *from, char *to, size_t size)
{
	size_t len = 0, n;

	while (*from && len + 3 < size) {
		if (!strncmp(from, "aggctl: ", 8))
			from += 8;
		n = strcspn(from, "\n");
		len += (size_t)snprintf(to + len, size - len, "%s%.*s",
					len ? "; " : "", (int)n, from);
		from += n + (from[n] == '\n');
	}
	to[len < size ? len : size - 1] = 0;
}

static void child_free(struct child *c)
{
	LIST_REMOVE(c, list);
	running--;
	loop_del(&c->end);
	loop_del(&c->error);
	close(c->end.fd);
	close(c->error.fd);
	free(c);
}

static void end_ready(struct watch *w, uint32_t events)
{
	struct child *c = container(w, struct child, end);
	char text[2 * TEXT_MAX] = "";
	int status;

	(void)events;
	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	while (c->len < sizeof(c->text) - 1 && read_error(c))
		;
	make_sentence(c->text, text, sizeof(text));
	if (c->late)
		snprintf(text, sizeof(text), "aggctl has not ended within %u ms",
			 conf.child_time);
	else if (c->silent)
		snprintf(text, sizeof(text), "etcd has not answered for too long: aggctl was ended");
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "aggctl was ended by signal %d",
			 WTERMSIG(status));
	else if (!*text && WEXITSTATUS(status))
		snprintf(text, sizeof(text), "aggctl has ended with status %d",
			 WEXITSTATUS(status));
	c->ended(c->arg, WIFEXITED(status) ? WEXITSTATUS(status) : -1, text);
	child_free(c);
}

static int set_actions(posix_spawn_file_actions_t *do_, const char *out, int err)
{
	int e = posix_spawn_file_actions_addopen(do_, 0, "/dev/null", O_RDONLY, 0);

	if (!e)
		e = posix_spawn_file_actions_addopen(do_, 1, out ? out : "/dev/null",
						     O_WRONLY | O_CREAT | O_TRUNC,
						     0600);
	if (!e)
		e = posix_spawn_file_actions_adddup2(do_, err, 2);
	/* The same number: the descriptor stays open. */
	if (!e)
		e = posix_spawn_file_actions_adddup2(do_, store_children(),
						     store_children());
	return e;
}

static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, pipe;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &pipe);
	posix_spawnattr_setpgroup(attr, 0);
	return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
					POSIX_SPAWN_SETSIGDEF |
					POSIX_SPAWN_SETPGROUP);
}

/*
 * Another process that leads does not know the children of this one: they end with it.
 * Return: the arguments, which are at @argv behind their place for a prefix
 */
static char *const *tie(char *const argv[], char *tied[CHILD_ARGS + 5])
{
	char *const prefix[] = { "/usr/bin/setpriv", "--pdeathsig", "KILL", "--" };
	size_t n = ARRAY_SIZE(prefix);

	memcpy(tied, prefix, sizeof(prefix));
	while (*argv && n < CHILD_ARGS + ARRAY_SIZE(prefix))
		tied[n++] = *argv++;
	tied[n] = NULL;
	return tied;
}

/* Return: the process, or -1 with errno */
static pid_t spawn(char *const argv[], const char *out, int err)
{
	char *tied[CHILD_ARGS + 5];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	pid_t pid = -1;
	int e;

	if (store_is_shared()) {
		/* Else it is setpriv that fails, which is taken for a fault of the job. */
		if (access(argv[0], X_OK))
			return -1;
		argv = tie(argv, tied);
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	e = set_actions(&actions, out, err);
	if (!e)
		e = set_attributes(&attr);
	if (!e)
		e = posix_spawn(&pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	errno = e;
	return e ? -1 : pid;
}

/* Wait for what the process does. Return: 0, or -1 */
static int watch_child(struct child *c)
{
	c->end = (struct watch){ .fd = pidfd_open(c->pid, 0), .ready = end_ready };
	if (c->end.fd >= 0 && !loop_add(&c->end, EPOLLIN) &&
	    !loop_add(&c->error, EPOLLIN))
		return 0;
	kill(-c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	if (c->end.fd >= 0)
		close(c->end.fd);
	return -1;
}

struct child *engine_start(char *const argv[], const char *out,
			   void (*ended)(void *arg, int status, const char *text),
			   void *arg)
{
	struct child *c = calloc(1, sizeof(*c));
	int fd[2] = { -1, -1 };

	if (!c || pipe2(fd, O_CLOEXEC | O_NONBLOCK))
		goto fail;
	c->error = (struct watch){ .fd = fd[0], .ready = error_ready };
	c->ended = ended;
	c->arg = arg;
	c->until = now_ms() + conf.child_time;
	/* A child's standard error must not fail because it is not read yet. */
	fcntl(fd[1], F_SETFL, 0);
	c->pid = spawn(argv, out, fd[1]);
	close(fd[1]);
	fd[1] = -1;
	if (c->pid < 0 || watch_child(c))
		goto fail;
	LIST_INSERT_HEAD(&children, c, list);
	running++;
	return c;
fail:
	if (fd[0] >= 0)
		close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
	free(c);
	return NULL;
}

void engine_kill(struct child *c)
{
	kill(-c->pid, SIGKILL);
}

void engine_kill_all(bool wait)
{
	struct child *c;

	LIST_FOREACH(c, &children, list) {
		engine_kill(c);
		c->silent = true;
		if (wait)
			waitpid(c->pid, NULL, 0);
	}
}

int64_t engine_tick(int64_t now)
{
	int64_t left = -1;
	struct child *c;

	LIST_FOREACH(c, &children, list) {
		if (!c->late && now >= c->until) {
			c->late = true;
			engine_kill(c);
		}
		if (!c->late && (left < 0 || c->until - now < left))
			left = c->until - now;
	}
	return left;
}
