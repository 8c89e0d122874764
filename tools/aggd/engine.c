// SPDX-License-Identifier: GPL-2.0
/* Processes of aggctl: their descriptors in the loop, their errors, their end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf.h"
#include "engine.h"
#include "loop.h"
#include "store.h"
#include "watchdog.h"

#define END_MS		2000	/* until processes that are killed have ended */
#define END_POLL_MS	5	/* how often they are looked for */

/**
 * struct child - a process
 * @list: in children
 * @end: its pidfd, readable when it has ended
 * @error: its standard error
 * @pid: the process and its process group
 * @number: of the watchdog
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
	uint32_t number;
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
	siginfo_t info = {};
	int status = 0;

	(void)events;
	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    !info.si_pid)
		return;
	/* Until it is waited for, no other process has its number. */
	if (watchdog_leave(c->number))
		c->silent = true;
	waitpid(c->pid, &status, 0);
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
	c->ended(c->arg, c->silent && !c->late ? ENGINE_SILENT :
			 WIFEXITED(status) ? WEXITSTATUS(status) : -1, text);
	child_free(c);
}

/* The standard streams of a child, and the lock. Return: 0, or -1 with errno */
static int set_files(const char *out, int err)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int to = open(out ? out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		      0600);

	if (dup2(err, STDERR_FILENO) < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(to, STDOUT_FILENO) < 0)
		return -1;
	return fcntl(store_children(), F_SETFD, 0);
}

/*
 * Another process that leads does not know the children of this one: they end with it, or
 * when the watchdog says so. Return: may the program of this child run?
 */
static bool tie(const struct child *c, pid_t parent)
{
	return !watchdog_runs() ||
	       (!prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent &&
		watchdog_enter(c->number));
}

/* In the child */
static void run(const struct child *c, pid_t parent, char *const argv[],
		const char *out, int err)
{
	sigset_t none;

	setpgid(0, 0);
	if (!tie(c, parent))
		_exit(ST_FAILED);
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!set_files(out, err))
		execv(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(ST_FAILED);
}

/* Return: 0, or -1 with errno */
static int spawn(struct child *c, char *const argv[], const char *out, int err)
{
	pid_t parent = getpid();

	/* Else it is the child that fails, which is taken for a fault of the job. */
	if (access(argv[0], X_OK))
		return -1;
	c->number = watchdog_take();
	c->pid = fork();
	if (!c->pid)
		run(c, parent, argv, out, err);
	if (c->pid < 0) {
		watchdog_leave(c->number);
		return -1;
	}
	/* The child does so, too: one of both is the first. */
	setpgid(c->pid, c->pid);
	return 0;
}

/* Wait for the end of a process that may enter the watchdog until then. */
static void wait_child(const struct child *c)
{
	siginfo_t info;

	waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT);
	/* Until it is waited for, no other process has its number. */
	watchdog_leave(c->number);
	waitpid(c->pid, NULL, 0);
}

/* Wait for what the process does. Return: 0, or -1 */
static int watch_child(struct child *c)
{
	c->end = (struct watch){ .fd = pidfd_open(c->pid, 0), .ready = end_ready };
	if (c->end.fd >= 0 && !loop_add(&c->end, EPOLLIN) &&
	    !loop_add(&c->error, EPOLLIN))
		return 0;
	kill(-c->pid, SIGKILL);
	wait_child(c);
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
	if (spawn(c, argv, out, fd[1]))
		goto fail;
	close(fd[1]);
	fd[1] = -1;
	if (watch_child(c))
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

void engine_kill_all(void)
{
	struct child *c;

	LIST_FOREACH(c, &children, list) {
		engine_kill(c);
		c->silent = true;
	}
}

/*
 * Wait until a process that was killed has ended, and what it has started, as ssh. If it
 * has not, its group stays with the watchdog. Return: has it?
 */
static bool has_ended(const struct child *c, int64_t until)
{
	for (;;) {
		while (waitpid(-c->pid, NULL, WNOHANG) > 0)
			;
		if (kill(-c->pid, 0))
			break;
		if (now_ms() >= until)
			return false;
		poll(NULL, 0, END_POLL_MS);
	}
	watchdog_leave(c->number);
	return true;
}

bool engine_end_all(void)
{
	int64_t until = now_ms() + END_MS;
	struct child *c;
	bool ended = true;

	/* What they have started is waited for, too. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	engine_kill_all();
	/* One that waits for a disk or a file system does not end. */
	LIST_FOREACH(c, &children, list)
		if (!has_ended(c, until))
			ended = false;
	return ended;
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
