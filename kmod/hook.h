/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks of the receive path and of local output. */
#ifndef _AGGNET_HOOK_H
#define _AGGNET_HOOK_H

struct aggnet_net;
struct aggnet_port;
struct netlink_ext_ack;

/* Ingress hook of an attached device; process context, RTNL held or not. */
int aggnet_hook_attach(struct aggnet_net *an, struct aggnet_port *port);
void aggnet_hook_detach(struct aggnet_net *an, struct aggnet_port *port);

/* Kernel UDP socket and LOCAL_OUT guard; under an->lock; idempotent start. */
int aggnet_hook_start(struct aggnet_net *an, struct netlink_ext_ack *extack);
void aggnet_hook_stop(struct aggnet_net *an);

#endif /* _AGGNET_HOOK_H */
