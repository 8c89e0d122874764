/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes have sockets of aggnet: the module cannot be removed before they end. */
#ifndef AGGCTL_SOCKETS_H
#define AGGCTL_SOCKETS_H

#include <jansson.h>
#include <stddef.h>

/**
 * host_sockets() - find the sockets of aggnet that processes hold
 * @unseen: how many processes this user may not look into
 *
 * In all network namespaces. Another user's processes need CAP_SYS_PTRACE.
 *
 * Return: an array of objects with pid, command, user and fd, or NULL with an error line
 * printed
 */
json_t *host_sockets(size_t *unseen);

#endif
