/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A testbed: a network of namespaces on this machine. Names, addresses and
 * interface indices follow from the topology alone.
 */
#ifndef AGGCTL_TESTBED_H
#define AGGCTL_TESTBED_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "addressing.h"
#include "aggtree.h"
#include "testbed/rtnl.h"

#define TB_BRIDGE	"br"
/* Above the indices of sit, gre and others in every new namespace. */
#define TB_BRIDGE_INDEX	15

/**
 * struct testbed - the description of a testbed
 * @topo: its topology
 * @description: text that described it, NULL if it has only a name
 * @part: the nodes that it has; NULL: all of the topology
 * @mtu: MTU of all links
 * @aggnet_switches: switches forward by aggnet, not only by their bridge
 * @shape: of each link, in each direction
 * @core: rate of links between switches in bit/s, 0: that of @shape
 * @next_hop: of a graph that is whole: by server, then destination, the next
 *	server on the way; %AGGT_NONE: no way
 */
struct testbed {
	struct aggt_topo *topo;
	char *description;
	struct tb_part *part;
	uint32_t mtu;
	bool aggnet_switches;
	struct rtnl_shape shape;
	uint64_t core;
	aggt_node *next_hop;
};

/**
 * struct tb_port - a port of a node: one end of a link
 * @of_switch: the node is a switch, else a server
 * @node: its number
 * @number: of the port
 * @far: the other end
 */
struct tb_port {
	bool of_switch;
	uint32_t node;
	unsigned int number;
	struct aggt_far far;
};

/* testbed.c */
bool tb_is_mesh(const struct aggt_topo *topo);
unsigned int tb_ports(const struct testbed *tb, bool of_switch, uint32_t node);
bool tb_port(const struct testbed *tb, bool of_switch, uint32_t node,
	     unsigned int number, struct tb_port *port);
struct tb_port tb_far_port(const struct tb_port *port);
bool tb_port_makes(const struct tb_port *port);
int tb_port_index(const struct tb_port *port);
const char *tb_port_name(const struct tb_port *port, char *name);
void tb_port_mac(const struct testbed *tb, const struct tb_port *port,
		 uint8_t *mac);
bool tb_has_subnets(const struct aggt_topo *topo);
unsigned int tb_prefixlen(const struct testbed *tb);
const char *tb_node_name(const struct testbed *tb, bool is_switch,
			 uint32_t node);
int tb_shape(const struct testbed *tb, struct rtnl *r,
	     const struct tb_port *port);

/* testbed_part.c */
typedef int (*tb_set_route)(void *arg, aggt_node to, aggt_node hop);

int tb_part_read(struct testbed *tb, char **file, int n);
int tb_part_restore(struct testbed *tb, const json_t *nodes);
int tb_part_routes(const struct testbed *tb, aggt_node server, tb_set_route set,
		   void *arg);

/* Free what @tb points to. */
void tb_free(struct testbed *tb);

/* The nodes of a testbed: how many, and the number of the one at an index. */
uint32_t tb_servers(const struct testbed *tb);
aggt_node tb_server(const struct testbed *tb, uint32_t index);
uint32_t tb_switches(const struct testbed *tb);
uint32_t tb_switch(const struct testbed *tb, uint32_t index);

/* Index of a node, AGGT_NONE if the testbed does not have it. */
uint32_t tb_index(const struct testbed *tb, bool is_switch, uint32_t node);

/* testbed_up.c */
int tb_up(struct testbed *tb);
int tb_down(const struct testbed *tb);
int tb_settle(const struct testbed *tb);

/* testbed_attach.c */
int tb_attach(const struct testbed *tb, bool *loaded);

/* testbed_shape.c */
int tb_reshape(struct testbed *tb, const struct rtnl_shape *shape,
	       uint64_t core);

/* testbed_route.c */
int tb_find_routes(struct testbed *tb);
int tb_routes(const struct testbed *tb, struct rtnl *r, aggt_node server);
int tb_neighbours(const struct testbed *tb, struct rtnl *r, aggt_node server);
int tb_reroute(const struct aggt_topo *topo);

/* testbed_state.c */
int tb_lock(void);
json_t *tb_state_json(const struct testbed *tb, bool complete);
int tb_state_save(const struct testbed *tb, bool complete);
json_t *tb_state_load(void);
int tb_state_remove(void);
int tb_state_open(struct testbed *tb);
bool tb_state_exists(void);
bool tb_is_partial(void);

/* testbed_entries.c */
json_t *tb_entries(const json_t *state);

/* testbed_traffic.c */
json_t *tb_traffic(const json_t *state);

#endif
