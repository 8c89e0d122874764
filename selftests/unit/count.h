/* SPDX-License-Identifier: GPL-2.0 */
/* Counts the instructions of a section by single-stepping a child process. */
#ifndef COUNT_H
#define COUNT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Marks the start and the end of the counted section. */
static void mark(void)
{
	raise(SIGUSR1);
}

static bool stopped_at_mark(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
	       WSTOPSIG(status) == SIGUSR1;
}

static bool is_running(pid_t child, bool *marked)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return false;
	*marked = WSTOPSIG(status) == SIGUSR1;
	return true;
}

/* Return: instructions of the section, 0: single-stepping failed */
static unsigned long count(void (*run)(const void *), const void *of)
{
	unsigned long n = 0;
	bool marked = false;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		run(of);
		_exit(0);
	}
	if (!stopped_at_mark(child))
		return 0;
	for (; !marked; n++)
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    !is_running(child, &marked))
			return 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return n;
}

#endif /* COUNT_H */
