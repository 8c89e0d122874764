/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names and addresses of nodes that follow from the topology alone: those of a
 * testbed, and those of a plan whose topology describes none.
 */
#ifndef AGGCTL_ADDRESSING_H
#define AGGCTL_ADDRESSING_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggtree.h"

#define ADDRESSING_NAME_LEN	16
/* Servers, and switches, of a testbed of a whole topology at most. */
#define ADDRESSING_SERVERS	16384
/* Servers of a topology that can have identities. */
#define ADDRESSING_IDENTITIES	((1U << 20) - 2)

const char *addressing_server_name(aggt_node server);
const char *addressing_switch_name(uint32_t sw);
struct in_addr addressing_identity(aggt_node server);
struct in_addr addressing_port_addr(const struct aggt_topo *topo,
				    aggt_node server, unsigned int level);
unsigned int addressing_prefixlen(const struct aggt_topo *topo);
void addressing_server_mac(aggt_node server, unsigned int level, uint8_t *mac);
void addressing_switch_mac(uint32_t sw, unsigned int digit, uint8_t *mac);
bool addressing_fits(const struct aggt_topo *topo);
int addressing_check(const struct aggt_topo *topo, bool part);

#endif
