/* SPDX-License-Identifier: GPL-2.0 */
/* From a received packet to the entry, link or route that serves it. */
#ifndef _AGGNET_RX_H
#define _AGGNET_RX_H

#include <linux/skbuff.h>

struct aggnet_net;
struct aggnet_port;

enum aggnet_verdict {
	AGGNET_NOT_OURS,	/* unchanged; the stack continues with it */
	AGGNET_STOLEN,		/* consumed */
};

/**
 * aggnet_rx() - serve a packet that an attached device received
 * @an: namespace
 * @port: the device's port, NULL: the packet came through the UDP socket
 * @skb: at its IP header; may be shared
 *
 * Softirq, RCU. Reads no bytes beyond those that were pulled.
 */
enum aggnet_verdict aggnet_rx(struct aggnet_net *an, struct aggnet_port *port,
			      struct sk_buff *skb);

#endif /* _AGGNET_RX_H */
