// SPDX-License-Identifier: GPL-2.0
/* Runs many aggctl commands at the same time, one on each line of standard
 * input: OUT ERR WORD... It forks and does not execute aggctl: starting a
 * program takes most of the time in an emulated guest.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define main	aggctl_main
#include "../../tools/aggctl/cmd/main.c"
#undef main

#define MEMBERS	1024
#define WORDS		32

static struct {
	pid_t pid;
	char *line;
} member[MEMBERS];

static int members;

/* Runs in the child process. */
static int run(char *line)
{
	char *out = strtok(line, "\n "), *err = strtok(NULL, "\n ");
	char *argv[WORDS + 1] = { "aggctl" };
	int argc = 1;

	while (argc < WORDS && (argv[argc] = strtok(NULL, "\n ")))
		argc++;
	if (argc == WORDS || !err || !freopen(out, "w", stdout) ||
	    !freopen(err, "w", stderr))
		return 2;
	return aggctl_main(argc, argv);
}

static bool start(const char *line)
{
	pid_t self = getpid(), pid;
	char *copy = strdup(line);

	if (members == MEMBERS || !copy)
		return false;
	pid = fork();
	if (pid < 0)
		return false;
	if (!pid) {
		fclose(stdin);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != self)
			_exit(2);
		exit(run(copy));
	}
	member[members].pid = pid;
	member[members++].line = copy;
	return true;
}

static bool succeeded(int i)
{
	int status;

	if (waitpid(member[i].pid, &status, 0) == member[i].pid && !status)
		return true;
	fprintf(stderr, "aggctl_batch: %s %d: %s",
		WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		member[i].line);
	return false;
}

int main(void)
{
	bool good = true;
	char line[1024];
	int i;

	while (good && fgets(line, sizeof(line), stdin)) {
		good = start(line);
		if (!good)
			fprintf(stderr, "aggctl_batch: cannot start (%s): %s",
				strerror(errno), line);
	}
	for (i = 0; i < members; i++)
		good &= succeeded(i);
	return !good;
}
