/* SPDX-License-Identifier: GPL-2.0 */
/* What on this host would stop aggnet's forwarding, or its fallback to IP. */
#ifndef AGGCTL_NODE_CHECK_H
#define AGGCTL_NODE_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

json_t *node_check(bool *good);

/* firewall.c */
enum forward_policy {
	FORWARD_UNKNOWN = -1,
	FORWARD_ACCEPT,
	FORWARD_DROP,
};

#define FIREWALL_FIX_MAX	256

enum forward_policy firewall_forward(uint16_t port, char *fix);

#endif
