/* SPDX-License-Identifier: GPL-2.0 */
/* The hosts of a plan's nodes, and the program that runs commands there. */
#ifndef AGGCTL_HOSTS_H
#define AGGCTL_HOSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct hosts - how commands are run on hosts
 * @file: has a line for each host: the plan's name of the node, and where ssh finds
 *	it, if that is not its name; "#" begins a comment
 * @ssh: program and arguments that come before the host and the command
 * @sudo: the command is run by "sudo -n"
 * @timeout_ms: how long the hosts may take for each step
 * @to: destination by name of the node, after hosts_load()
 */
struct hosts {
	const char *file;
	const char *ssh;
	bool sudo;
	uint32_t timeout_ms;
	json_t *to;
};

#define HOSTS_SSH	"ssh -o BatchMode=yes -o ConnectTimeout=10"

#define HOSTS_WORDS	32	/* of hosts.ssh, at most */

#define HOSTS_AT_A_TIME	32	/* sshd, and this host, take so many new connections */

/* Is @ssh a program with its arguments, not too many? */
bool hosts_ssh_is_command(const char *ssh);

/* Return: 0, or -1 with an error line printed; hosts_free() is due in any case */
int hosts_load(struct hosts *hosts);
void hosts_free(struct hosts *hosts);

/* Return: 0, or -1 with an error line printed if the node has no line */
int hosts_find(const struct hosts *hosts, const char *node);

/**
 * hosts_command() - the arguments that run aggctl on a node's host
 * @hosts: loaded; hosts_ssh_is_command() holds for @ssh
 * @node: name of a node, which hosts_find() has found
 * @arguments: of aggctl, for a shell
 *
 * Return: an array for execvp(), one block for free(), or NULL with an error line
 * printed
 */
char **hosts_command(const struct hosts *hosts, const char *node,
		     const char *arguments);

#endif
