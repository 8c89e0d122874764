// SPDX-License-Identifier: GPL-2.0
/* A line of three nodes, made, broken and mended by one process. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cline.h"
#include "device.h"
#include "netns.h"
#include "rtnl.h"

struct cnode nodes[NODES];
static struct cnode host;	/* the namespace of this process */

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

void enter(int netns)
{
	if (setns(netns, CLONE_NEWNET))
		die("setns");
}

/* The first call keeps the namespace in which the process started. */
static void host_enter(void)
{
	if (!host.netns) {
		host.netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
		if (host.netns < 0)
			die("own namespace");
	}
	enter(host.netns);
}

void line_leave(void)
{
	host_enter();
}

static struct in_addr addr(const char *text)
{
	return (struct in_addr){ inet_addr(text) };
}

static void put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die(path);
	close(fd);
}

static void batch(int i, struct nl_msg **msgs, int n)
{
	struct rtnl *r = rtnl_open(nodes[i].name);
	int k, bad = !r;

	for (k = 0; k < n && !bad; k++)
		bad = rtnl_add(r, msgs[k], "request %u", (unsigned int)k);
	if (bad || rtnl_commit(r))
		exit(1);
	rtnl_close(r);
}

/* In the namespace of node @i: make a device there, with its peer in @other. */
static void wire(int i, const char *device, int index, int other,
		 const char *peer, int peer_index)
{
	struct rtnl_link_req link = {
		device, index, { 2, 0, 0, 0, (uint8_t)i, 1 }, 1500
	};
	struct rtnl_link_req end = {
		peer, peer_index, { 2, 0, 0, 0, (uint8_t)other, 0 }, 1500
	};
	struct nl_msg *veth;

	enter(nodes[i].netns);
	veth = rtnl_msg_veth(&link, &end, nodes[other].netns);
	batch(i, &veth, 1);
	enter(nodes[other].netns);
	veth = rtnl_msg_up(peer_index);
	batch(other, &veth, 1);
}

static void address(int i, int index, const char *own, const char *neighbour,
		    int other)
{
	uint8_t mac[6] = { 2, 0, 0, 0, (uint8_t)other, index == LEFT };
	struct nl_msg *msgs[] = {
		rtnl_msg_addr(index, addr(own), 24),
		rtnl_msg_neigh(index, addr(neighbour), mac),
	};

	enter(nodes[i].netns);
	batch(i, msgs, 2);
}

static void route(int i, int to, const char *via, int index)
{
	struct nl_msg *msg = rtnl_msg_route((struct in_addr){ nodes[to].id },
					    addr(via), index,
					    (struct in_addr){ nodes[i].id });

	enter(nodes[i].netns);
	batch(i, &msg, 1);
}

static void link_wait(int i, const char *device)
{
	enter(nodes[i].netns);
	if (device_wait(device))
		exit(1);
}

/* Make the link between a node and the next one, with addresses and routes. */
static void link_make(int left)
{
	char own[32], next[32];
	int to;

	snprintf(own, sizeof(own), "10.%d.0.%d", left + 1, left + 1);
	snprintf(next, sizeof(next), "10.%d.0.%d", left + 1, left + 2);
	wire(left, "right", RIGHT, left + 1, "left", LEFT);
	address(left, RIGHT, own, next, left + 1);
	address(left + 1, LEFT, next, own, left);
	for (to = left + 1; to < NODES; to++)
		route(left, to, next, RIGHT);
	for (to = 0; to <= left; to++)
		route(left + 1, to, own, LEFT);
	link_wait(left, "right");
	link_wait(left + 1, "left");
}

static void node_make(int i)
{
	static const char * const ids[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3" };
	/*
	 * Each name is used once: a namespace that is being deleted still has
	 * its own.
	 */
	static unsigned int made;
	struct cnode *node = &nodes[i];
	struct nl_msg *msgs[2];

	snprintf(node->name, sizeof(node->name), "%c%u-%d", "sar"[i], made++,
		 getpid());
	node->id = inet_addr(ids[i]);
	/* This enters the new namespace. */
	node->netns = netns_create(node->name);
	if (node->netns < 0)
		exit(1);
	put("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	put("/proc/sys/net/ipv4/ip_forward", "1");
	put("/proc/sys/net/ipv4/conf/all/rp_filter", "0");
	put("/proc/sys/net/ipv4/conf/default/rp_filter", "0");
	msgs[0] = rtnl_msg_up(1);
	msgs[1] = rtnl_msg_addr(1, (struct in_addr){ node->id }, 32);
	batch(i, msgs, 2);
}

static void port(int i, uint32_t ifindex)
{
	struct aggnet_port_info info = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX),
		.ifindex = ifindex,
	};
	int err = aggnet_port_add(nodes[i].ctl, &info);

	if (err && err != -EEXIST)
		die(aggnet_ctl_error(nodes[i].ctl));
}

static void member(int i)
{
	struct aggnet_node_info info = {
		.has = AGGNET_HAS(AGGNET_A_NODE_ADDRESS),
		.address = { nodes[i].id },
	};

	enter(nodes[i].netns);
	if (aggnet_ctl_open(&nodes[i].ctl))
		die("control handle");
	if (aggnet_node_set(nodes[i].ctl, &info))
		die(aggnet_ctl_error(nodes[i].ctl));
	line_mend_ports(i);
}

void line_make(void)
{
	int i;

	host_enter();
	if (netns_prepare())
		exit(1);
	for (i = 0; i < NODES; i++)
		node_make(i);
	for (i = 0; i < NODES - 1; i++)
		link_make(i);
	line_members();
}

void line_members(void)
{
	int i;

	for (i = 0; i < NODES; i++)
		member(i);
	enter(host.netns);
}

void line_close(void)
{
	int i;

	for (i = 0; i < NODES; i++) {
		if (nodes[i].ctl)
			aggnet_ctl_close(nodes[i].ctl);
		nodes[i].ctl = NULL;
	}
}

void node_unmake(int i)
{
	if (nodes[i].netns < 0)
		return;
	enter(host.netns);
	if (nodes[i].ctl)
		aggnet_ctl_close(nodes[i].ctl);
	nodes[i].ctl = NULL;
	close(nodes[i].netns);
	nodes[i].netns = -1;
	if (netns_delete(nodes[i].name))
		exit(1);
}

void line_unmake(void)
{
	int i;

	for (i = 0; i < NODES; i++)
		node_unmake(i);
}

/*
 * --- what can happen to a node ---------------------------------------------
 */

int set_up(int i, const char *device, bool up)
{
	int err;

	enter(nodes[i].netns);
	err = device_set_up(device, up);
	enter(host.netns);
	return err;
}

static int request(int i, struct nl_msg *msg)
{
	struct rtnl *r;
	int err;

	enter(nodes[i].netns);
	r = rtnl_open(nodes[i].name);
	err = !r || rtnl_add(r, msg, "change %u", 0) || rtnl_commit(r);
	rtnl_close(r);
	enter(host.netns);
	return err;
}

int del_device(int i, const char *device)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_DELLINK, NLM_F_REQUEST);
	struct ifinfomsg info = {};

	nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(msg, IFLA_IFNAME, device);
	return request(i, msg);
}

int del_identity(int i)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_DELADDR, NLM_F_REQUEST);
	struct ifaddrmsg ifa = {
		.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1,
	};

	nlmsg_append(msg, &ifa, sizeof(ifa), NLMSG_ALIGNTO);
	nla_put(msg, IFA_LOCAL, sizeof(nodes[i].id), &nodes[i].id);
	return request(i, msg);
}

/*
 * --- mending it --------------------------------------------------------------
 */

void line_mend_ports(int i)
{
	if (i > 0)
		port(i, LEFT);
	if (i < NODES - 1)
		port(i, RIGHT);
}

static bool has_device(int i, const char *device)
{
	bool there;

	enter(nodes[i].netns);
	there = if_nametoindex(device);
	enter(host.netns);
	return there;
}

/* The device may be gone, or be deleted just now with its peer's namespace. */
static void no_device(int i, const char *device)
{
	if (has_device(i, device) && del_device(i, device) &&
	    has_device(i, device))
		die(device);
}

void line_mend_link(int left)
{
	no_device(left, "right");
	no_device(left + 1, "left");
	link_make(left);
	enter(host.netns);
	line_mend_ports(left);
	line_mend_ports(left + 1);
}

void line_mend_node(int i)
{
	node_unmake(i);
	node_make(i);
	if (i > 0)
		no_device(i - 1, "right");
	if (i < NODES - 1)
		no_device(i + 1, "left");
	if (i > 0)
		link_make(i - 1);
	if (i < NODES - 1)
		link_make(i);
	member(i);
	enter(host.netns);
	if (i > 0)
		line_mend_ports(i - 1);
	if (i < NODES - 1)
		line_mend_ports(i + 1);
}
