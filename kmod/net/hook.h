/* SPDX-License-Identifier: GPL-2.0 */
/* The hooks of received and of outgoing packets, and the kernel's UDP socket. */
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
 * @udp_port: port of the socket, and of the namespace from now on
 * @guard: also register the guard, because there will be an identity
 * @extack: gets the reason of a failure
 *
 * Under an->lock. An open socket and a registered guard stay. Return: 0, or -errno
 * and nothing has changed
 */
int aggnet_hook_start(struct aggnet_net *an, __be16 udp_port, bool guard,
		      struct netlink_ext_ack *extack);

/**
 * aggnet_hook_idle() - is the socket open, or the guard registered, without need?
 * @an: namespace, locked
 *
 * Each command asks at its end, even one that failed, as it may have opened the
 * socket. To close it waits for a grace period, and the next command may need the
 * socket again: so a work item calls aggnet_hook_settle(), which checks again.
 */
bool aggnet_hook_idle(struct aggnet_net *an);
void aggnet_hook_settle(struct aggnet_net *an);

/*
 * Close both at once; under an->lock. A namespace that ends needs it before its devices
 * do: the socket may hold a route of the loopback device, which waits for that.
 */
void aggnet_hook_stop(struct aggnet_net *an);

#endif /* _AGGNET_HOOK_H */
