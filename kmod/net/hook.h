/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks of the receive path and of what leaves, and the UDP socket. */
#ifndef _AGGNET_HOOK_H
#define _AGGNET_HOOK_H

#include <linux/types.h>

struct aggnet_net;
struct aggnet_port;
struct netlink_ext_ack;

void aggnet_hook_init(struct aggnet_net *an);

/* Ingress hook of an attached device; process context, RTNL held or not. */
int aggnet_hook_attach(struct aggnet_net *an, struct aggnet_port *port);
void aggnet_hook_detach(struct aggnet_net *an, struct aggnet_port *port);

/**
 * aggnet_hook_start() - open the kernel's UDP socket, register the guard
 * @an: namespace
 * @udp_port: of the socket; if it differs, the namespace's from now on
 * @guard: there will be an identity, whose packets only the module may make
 * @extack: gets the reason of a failure
 *
 * Under an->lock. What is there already stays. Return: 0 or -errno, and nothing
 * has changed
 */
int aggnet_hook_start(struct aggnet_net *an, __be16 udp_port, bool guard,
		      struct netlink_ext_ack *extack);

/**
 * aggnet_hook_idle() - is the socket or the guard open without need?
 * @an: namespace, locked
 *
 * A command asks when it ends, also one that failed: it may have opened the
 * socket for itself. Closing waits for a grace period, and a command that follows
 * may need the socket again: a work item calls aggnet_hook_settle(), which looks
 * again.
 */
bool aggnet_hook_idle(struct aggnet_net *an);
void aggnet_hook_settle(struct aggnet_net *an);

/* Close both at once; under an->lock. */
void aggnet_hook_stop(struct aggnet_net *an);

#endif /* _AGGNET_HOOK_H */
