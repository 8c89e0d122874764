/* SPDX-License-Identifier: GPL-2.0 */
/* What on this host would stop aggnet's forwarding, or its fallback to IP. */
#ifndef AGGCTL_NODE_CHECK_H
#define AGGCTL_NODE_CHECK_H

#include <jansson.h>
#include <stdbool.h>

json_t *node_check(bool *good);

#endif
