// SPDX-License-Identifier: GPL-2.0
/* The watchdog, and the memory that it shares with aggd and its children. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "watchdog.h"

#define FREE	0	/* instead of a process group */
#define TAKEN	-1
#define KILLED	-2

/**
 * struct area - what aggd, its children and the watchdog share
 * @until: when children are killed, of now_ms(); 0: not known yet
 * @n: how many children there may be
 * @group: process group of each, or FREE, TAKEN or KILLED
 */
struct area {
	_Atomic int64_t until;
	uint32_t n;
	_Atomic pid_t group[];
};

static struct area *area;
static int feed = -1;

/* @mark: aggd is still there, and tells those that were killed apart */
static void kill_groups(bool mark)
{
	pid_t group;
	uint32_t i;

	for (i = 0; i < area->n; i++) {
		group = area->group[i];
		if (group <= 0)
			continue;
		kill(-group, SIGKILL);
		/* It has left meanwhile, and is not watched any more. */
		if (mark)
			atomic_compare_exchange_strong(&area->group[i], &group, KILLED);
	}
}

/* Return: ms until children are killed, -1: not before aggd says something */
static int left(bool *killed)
{
	int64_t until = area->until, now = now_ms();

	if (!until || (*killed && now >= until))
		return -1;
	*killed = now >= until;
	if (*killed)
		kill_groups(true);
	return *killed ? -1 : (int)(until - now);
}

static void watch(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool killed = false;
	char buf[64];
	ssize_t n = 1;

	while (n) {
		poll(&p, 1, left(&killed));
		n = read(fd, buf, sizeof(buf));
	}
	/* aggd has ended, and what its children have started has not. */
	kill_groups(false);
	_exit(0);
}

int watchdog_start(uint32_t n, struct text *why)
{
	size_t size = sizeof(*area) + n * sizeof(area->group[0]);
	int fd[2];
	pid_t pid;

	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || pipe2(fd, O_CLOEXEC | O_NONBLOCK))
		return text_set(why, "watchdog: %s", strerror(errno));
	area->n = n;
	pid = fork();
	if (pid < 0)
		return text_set(why, "watchdog: %s", strerror(errno));
	if (!pid) {
		close(fd[1]);
		/* Signals of a terminal are not for it. */
		setpgid(0, 0);
		prctl(PR_SET_NAME, "aggd-watchdog");
		watch(fd[0]);
	}
	close(fd[0]);
	feed = fd[1];
	return 0;
}

bool watchdog_runs(void)
{
	return feed >= 0;
}

int watchdog_fd(void)
{
	return feed;
}

void watchdog_feed(int64_t until)
{
	area->until = until;
	/* If the pipe is full, it has something to read. */
	if (write(feed, "", 1) < 0)
		return;
}

uint32_t watchdog_take(void)
{
	uint32_t i = 0;

	if (!area)
		return 0;
	while (area->group[i])
		i++;
	area->group[i] = TAKEN;
	return i;
}

bool watchdog_enter(uint32_t number)
{
	area->group[number] = getpid();
	/* If the watchdog has killed children before, it has not seen this one. */
	if (now_ms() < area->until)
		return true;
	area->group[number] = KILLED;
	return false;
}

bool watchdog_leave(uint32_t number)
{
	return area && atomic_exchange(&area->group[number], FREE) == KILLED;
}
