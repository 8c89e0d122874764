// SPDX-License-Identifier: GPL-2.0
/* Processes of a job on the nodes of a testbed, which begin together. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"

double crew_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void crew_sleep(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

int crew_init(struct crew *crew, uint32_t receivers)
{
	memset(crew, 0, sizeof(*crew));
	crew->result = mmap(NULL, receivers * sizeof(*crew->result),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew->result == MAP_FAILED || pipe(crew->ready) || pipe(crew->go)) {
		perror("crew");
		return -1;
	}
	return 0;
}

static bool enter(const char *node)
{
	char path[64];
	int fd;
	bool in;

	snprintf(path, sizeof(path), "/run/netns/%s", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	in = fd >= 0 && !setns(fd, CLONE_NEWNET);
	if (!in)
		fprintf(stderr, "%s: %s\n", node, strerror(errno));
	close(fd);
	return in;
}

/* Runs in the child process. */
static bool play(struct crew *crew, const char *node, crew_join join,
		 crew_work work, void *arg, uint32_t index)
{
	char c;

	close(crew->go[1]);
	c = enter(node) && join(arg, index);
	if (write(crew->ready[1], &c, 1) != 1 || !c)
		return false;
	/* Nothing is ever written: the pipe ends when the job begins. */
	return !read(crew->go[0], &c, 1) && work(arg, index);
}

bool crew_start(struct crew *crew, const char *node, crew_join join,
		crew_work work, void *arg, uint32_t index)
{
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != self)
			_exit(2);
		_exit(!play(crew, node, join, work, arg, index));
	}
	if (pid < 0) {
		perror("fork");
		return false;
	}
	crew->n++;
	return true;
}

bool crew_joined(struct crew *crew)
{
	char c;

	for (; crew->joined < crew->n; crew->joined++) {
		if (read(crew->ready[0], &c, 1) != 1 || !c)
			return false;
	}
	return true;
}

double crew_begin(struct crew *crew)
{
	double began = crew_clock();

	close(crew->go[1]);
	return began;
}

bool crew_wait(struct crew *crew)
{
	bool good = true;
	unsigned int i;
	int status;

	for (i = 0; i < crew->n; i++)
		good &= wait(&status) > 0 && !status;
	return good;
}
