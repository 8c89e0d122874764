/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of "aggctl host check" share. */
#ifndef AGGCTL_CHECKS_H
#define AGGCTL_CHECKS_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggnet.h"

/**
 * struct checks - the results so far
 * @rows: one row for each check
 * @good: no check has failed
 * @port: UDP port of the node's packets
 * @identity: of the node, 0: none
 * @member: identities that are known: its own, and those of receivers and children
 * @n_members: how many
 * @attached: the node's ports
 * @n_attached: how many
 */
struct checks {
	json_t *rows;
	bool good;
	uint16_t port;
	struct in_addr identity;
	struct in_addr *member;
	size_t n_members;
	struct aggnet_port_info *attached;
	size_t n_attached;
};

/* node_check.c */

/* Add a row. */
void checks_add(struct checks *c, bool ok, const char *what, const char *fmt,
		...)
	__attribute__((format(printf, 4, 5)));

/* Add a note: a row that is neither good nor a fault. Programs see no fault: "ok" is true. */
void checks_note(struct checks *c, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The command that mends what the last row has found. */
void checks_fix(struct checks *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Is it an address of this host? */
bool checks_own(struct in_addr addr);

/* check_reach.c */

/* Is the device a port of the node? */
bool checks_attached(const struct checks *c, uint32_t ifindex);

/**
 * checks_reach() - ask neighbours and members for an answer of full length
 * @c: its members are known
 * @ctl: the node
 * @trees: its entries
 * @n: how many
 *
 * The neighbours of planned links are asked by these, the members by their routes, each
 * once and many at a time.
 */
void checks_reach(struct checks *c, struct aggnet_ctl *ctl,
		  const struct aggnet_tree_info *trees, size_t n);

#endif
