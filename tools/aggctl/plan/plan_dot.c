// SPDX-License-Identifier: GPL-2.0
/* The file of a drawing: Graphviz source, or what dot makes of it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggctl.h"
#include "plan/plan.h"
#include "plan/plan_drawing.h"

/* The format that dot is asked for, NULL: its source is what is wanted. */
static const char *format(const char *file)
{
	const char *dot = strrchr(file, '.');

	if (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".png") ||
		    !strcmp(dot, ".pdf")))
		return dot + 1;
	return NULL;
}

static FILE *start_dot(const char *type, const char *file, pid_t *pid)
{
	char option[8];
	int fds[2];

	snprintf(option, sizeof(option), "-T%s", type);
	if (pipe(fds))
		return NULL;
	*pid = fork();
	if (!*pid) {
		signal(SIGPIPE, SIG_DFL);
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		execlp("dot", "dot", option, "-o", file, NULL);
		err("dot: %s; it draws .svg, .png and .pdf and is in the package graphviz",
		    strerror(errno));
		_exit(ST_FAILED);
	}
	close(fds[0]);
	if (*pid < 0) {
		close(fds[1]);
		return NULL;
	}
	return fdopen(fds[1], "w");
}

/**
 * plan_draw() - draw the trees of a plan
 * @file: where to; .svg, .png and .pdf are made by dot, all else is its source
 * @plan: the plan
 * @traffic: bytes that left by each port, or NULL, as for plan_drawing()
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_draw(const char *file, const struct plan *plan,
	      const json_t *traffic)
{
	const char *type = format(file);
	sighandler_t on_pipe = signal(SIGPIPE, SIG_IGN);
	int status = 0, bad;
	pid_t pid = 0;
	FILE *f;

	/* A dot that is missing, or fails, must not end the command. */
	f = type ? start_dot(type, file, &pid) : fopen(file, "w");
	if (!f) {
		err("%s: %s", file, strerror(errno));
		signal(SIGPIPE, on_pipe);
		return -1;
	}
	bad = plan_drawing(f, plan, traffic);
	bad |= fclose(f);
	signal(SIGPIPE, on_pipe);
	if (pid && (waitpid(pid, &status, 0) < 0 || status))
		bad = -1;
	if (bad)
		err("%s: the drawing could not be made", file);
	return bad ? -1 : 0;
}
