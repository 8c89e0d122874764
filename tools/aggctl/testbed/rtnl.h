/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Batches of rtnetlink requests: sent many at a time and acknowledged once,
 * so that a network of thousands of routes is up in a moment.
 */
#ifndef AGGCTL_RTNL_H
#define AGGCTL_RTNL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct nl_msg;
struct rtnl;

/**
 * struct rtnl_link_req - a link to make
 * @name: name
 * @index: interface index, chosen by us so that it need not be asked for
 * @mac: hardware address
 * @mtu: MTU
 */
struct rtnl_link_req {
	const char *name;
	int index;
	uint8_t mac[6];
	uint32_t mtu;
};

/**
 * struct rtnl_shape - how a link's queueing discipline shapes packets
 * @rate: bit/s, 0 for no limit
 * @delay: ns
 * @loss: percentage of packets
 * @duplicate: percentage of packets
 * @reorder: percentage of packets
 * @corrupt: percentage of packets
 */
struct rtnl_shape {
	uint64_t rate;
	uint64_t delay;
	double loss;
	double duplicate;
	double reorder;
	double corrupt;
};

struct rtnl *rtnl_open(const char *where);
void rtnl_close(struct rtnl *r);
int rtnl_add(struct rtnl *r, struct nl_msg *msg, const char *what,
	     unsigned int arg);
int rtnl_commit(struct rtnl *r);
int rtnl_links_down(struct rtnl *r, int above);

/* rtnl_msg.c: the requests; each returns NULL if memory is short */
struct nl_msg *rtnl_msg_up(int index);
struct nl_msg *rtnl_msg_bridge(const char *name, int index);
struct nl_msg *rtnl_msg_enslave(int index, int master);
struct nl_msg *rtnl_msg_fixed_port(int index);
struct nl_msg *rtnl_msg_fdb(int index, const uint8_t *mac);
struct nl_msg *rtnl_msg_veth(const struct rtnl_link_req *link,
			     const struct rtnl_link_req *peer, int peer_ns);
struct nl_msg *rtnl_msg_addr(int index, struct in_addr addr, int prefixlen);
struct nl_msg *rtnl_msg_neigh(int index, struct in_addr addr,
			      const uint8_t *mac);
struct nl_msg *rtnl_msg_route(struct in_addr dst, struct in_addr via,
			      int index, struct in_addr src, bool onlink);

/* rtnl_qdisc.c */
bool rtnl_shape_netem(const struct rtnl_shape *shape);
struct nl_msg *rtnl_msg_netem(int index, const struct rtnl_shape *shape);
struct nl_msg *rtnl_msg_tbf(int index, const struct rtnl_shape *shape,
			    uint32_t mtu);
struct nl_msg *rtnl_msg_no_qdisc(int index);

#endif
