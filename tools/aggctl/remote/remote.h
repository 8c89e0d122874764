/* SPDX-License-Identifier: GPL-2.0 */
/* Commands that run on other hosts, by a program such as ssh, at the same time. */
#ifndef AGGCTL_REMOTE_H
#define AGGCTL_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define REMOTE_LINE	2048	/* longer lines are cut */

/**
 * struct remote - a command on a host
 * @name: the plan's name of the host
 * @pid: the local process, 0: none was started, or its end was seen
 * @pidfd: is readable when it has ended; -1: none
 * @input: what is written here, the command reads; -1: closed
 * @output: its output and error lines; -1: at its end
 * @text: what is still to be written, owned
 * @sent: how much of @text was
 * @last: the end of the input comes after it
 * @line: the beginning of a line that the command has printed
 * @len: its length
 * @status: exit status of the local process, 128 and the number of the signal that
 *	ended it, or -1: it runs
 */
struct remote {
	const char *name;
	pid_t pid;
	int pidfd;
	int input;
	int output;
	char *text;
	size_t sent;
	bool last;
	char line[REMOTE_LINE];
	size_t len;
	int status;
};

/**
 * remote_start() - run a command on a host
 * @r: zeroed; @name stays with the caller; remote_end() is due in any case
 * @name: for error lines
 * @argv: the local program and its arguments, NULL at the end
 *
 * Signals of the terminal do not end the program: it ends when it reads the end of its
 * input.
 *
 * Return: 0, or -1 with an error line printed
 */
int remote_start(struct remote *r, const char *name, char *const argv[]);

/**
 * remote_say() - have the command read a line
 * @r: was started
 * @text: without the newline; it follows what is still to be written
 *
 * Return: 0, or -1 with an error line printed
 */
int remote_say(struct remote *r, const char *text);

/* The command reads the end of its input after what it was told. */
void remote_hang_up(struct remote *r);

/**
 * remote_wait() - serve all commands until one prints a line or ends
 * @r: the commands
 * @n: how many
 * @ms: how long to wait
 * @heard: called for each line that a command has printed, and with NULL when its
 *	process has ended, although another process may have its output open
 * @arg: its last argument
 *
 * Return: 0, -ETIMEDOUT if nothing happened, or -1 with an error line printed
 */
int remote_wait(struct remote *r, size_t n, int ms,
		void (*heard)(struct remote *r, const char *line, void *arg),
		void *arg);

/* Ends the local process if it runs, and frees what it has. */
void remote_end(struct remote *r);

#endif
