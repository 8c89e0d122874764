/* SPDX-License-Identifier: GPL-2.0 */
/* The hosts of a plan's nodes, and the program that runs commands there. */
#ifndef AGGCTL_HOSTS_H
#define AGGCTL_HOSTS_H

#include <jansson.h>
#include <stdbool.h>

/**
 * struct hosts - how commands are run on hosts
 * @file: has a line for each host: the plan's name of the node, and where ssh finds
 *	it, if that is not its name; "#" begins a comment
 * @ssh: program and arguments that come before the host and the command
 * @sudo: the command is run by "sudo -n"
 * @to: destination by name of the node, after hosts_load()
 */
struct hosts {
	const char *file;
	const char *ssh;
	bool sudo;
	json_t *to;
};

#define HOSTS_SSH	"ssh -o BatchMode=yes -o ConnectTimeout=10"

/* Return: 0, or -1 with an error line printed; hosts_free() is due in any case */
int hosts_load(struct hosts *hosts);
void hosts_free(struct hosts *hosts);

/**
 * hosts_command() - the arguments that run aggctl on a node's host
 * @hosts: loaded
 * @node: name of the node
 * @arguments: of aggctl, for a shell; "--node NAME" is added
 *
 * Return: an array for execvp(), one block for free(), or NULL with an error line
 * printed
 */
char **hosts_command(const struct hosts *hosts, const char *node,
		     const char *arguments);

#endif
