/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names and addresses of nodes: those of a description, else those that follow
 * from the topology alone. A plan and a testbed of a topology have the same.
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
/* The same where each server has many others as neighbours. */
#define ADDRESSING_MESH		1024
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
const char *addressing_name_server(const struct aggt_topo *topo,
				   aggt_node server);
const char *addressing_name_switch(const struct aggt_topo *topo, uint32_t sw);
struct in_addr addressing_of_server(const struct aggt_topo *topo,
				    aggt_node server);
struct in_addr addressing_of_port(const struct aggt_topo *topo,
				  aggt_node server, unsigned int level);
void addressing_of_mac(const struct aggt_topo *topo, aggt_node server,
		       unsigned int level, uint8_t *mac);
bool addressing_fits(const struct aggt_topo *topo);
int addressing_check(const struct aggt_topo *topo, bool part);
int addressing_check_server(const struct aggt_topo *topo, aggt_node server);
int addressing_check_port(const struct aggt_topo *topo, aggt_node server,
			  unsigned int level);
bool addressing_same(const char *name, const char *a, const char *b);

#endif
