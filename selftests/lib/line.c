// SPDX-License-Identifier: GPL-2.0
/* See line.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "line.h"
#include "testbed/rtnl.h"

static int line_fault(const char *what)
{
	fprintf(stderr, "# line: %s: %s\n", what, strerror(errno));
	return -1;
}

static int line_refused(const struct aggnet_ctl *ctl)
{
	fprintf(stderr, "# line: %s\n", aggnet_ctl_error(ctl));
	return -1;
}

struct in_addr line_identity(const struct line *line, int node)
{
	return (struct in_addr){ htonl(10u << 24 | (uint32_t)(line->n - node)) };
}

void line_mac(int node, bool right, uint8_t mac[6])
{
	const uint8_t own[6] = { 2, 0xa6, 0, 0, (uint8_t)node, right };

	memcpy(mac, own, sizeof(own));
}

void line_enter(const struct line *line, int node)
{
	if (setns(line->ns[node], CLONE_NEWNET))
		line_fault("setns");
}

void line_leave(const struct line *line)
{
	if (setns(line->home, CLONE_NEWNET))
		line_fault("setns");
}

/* Send requests of the current namespace. */
static int line_request(struct nl_msg **msg, unsigned int n)
{
	struct rtnl *r = rtnl_open("line");
	unsigned int i;
	int err = !r;

	for (i = 0; i < n && !err; i++)
		err = rtnl_add(r, msg[i], "request %u", i);
	err = err || rtnl_commit(r);
	rtnl_close(r);
	return err ? -1 : 0;
}

/* --- nodes ---------------------------------------------------------------- */

static int line_put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, value, strlen(value)) > 0;

	if (fd >= 0)
		close(fd);
	return done ? 0 : line_fault(path);
}

/* The caller is in the namespace of the node afterwards. */
static int line_make_node(struct line *line, int node)
{
	struct nl_msg *msg[2];

	if (unshare(CLONE_NEWNET))
		return line_fault("unshare");
	line->ns[node] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (line->ns[node] < 0)
		return line_fault("namespace");
	msg[0] = rtnl_msg_up(1);
	msg[1] = rtnl_msg_addr(1, line_identity(line, node), 32);
	return line_put("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1") ||
	       line_put("/proc/sys/net/ipv4/ip_forward", "1") ||
	       line_put("/proc/sys/net/ipv4/conf/all/rp_filter", "0") ||
	       line_put("/proc/sys/net/ipv4/conf/default/rp_filter", "0") ||
	       line_request(msg, 2) ? -1 : 0;
}

static int line_port(struct line *line, int node, uint32_t ifindex)
{
	struct aggnet_port_info port = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX),
		.ifindex = ifindex,
		.transit = line->transit,
	};
	int err;

	if (line->transit)
		port.has |= AGGNET_HAS(AGGNET_A_PORT_TRANSIT);
	err = aggnet_port_add(line->ctl[node], &port);
	return err && err != -EEXIST ? line_refused(line->ctl[node]) : 0;
}

int line_mend_ports(struct line *line, int node)
{
	if (node > 0 && line_port(line, node, LINE_LEFT))
		return -1;
	return node < line->n - 1 ? line_port(line, node, LINE_RIGHT) : 0;
}

static int line_member(struct line *line, int node)
{
	struct aggnet_node_info info = {
		.has = AGGNET_HAS(AGGNET_A_NODE_ADDRESS),
		.address = line_identity(line, node),
	};

	line_enter(line, node);
	if (aggnet_ctl_open(&line->ctl[node]) ||
	    aggnet_node_set(line->ctl[node], &info))
		return line_refused(line->ctl[node]);
	return line_mend_ports(line, node);
}

int line_members(struct line *line)
{
	int i, err = 0;

	for (i = 0; i < line->n && !err; i++)
		err = line_member(line, i);
	line_leave(line);
	return err;
}

void line_close(struct line *line)
{
	int i;

	for (i = 0; i < line->n; i++) {
		aggnet_ctl_close(line->ctl[i]);
		line->ctl[i] = NULL;
	}
}

/* --- links ---------------------------------------------------------------- */

static struct in_addr line_address(int left, bool right)
{
	return (struct in_addr){ htonl(10u << 24 | 16 << 16 |
				       (uint32_t)left << 8 | (right ? 2 : 1)) };
}

static struct rtnl_link_req line_device(int node, bool right)
{
	struct rtnl_link_req device = {
		.name = right ? "r" : "l",
		.index = right ? LINE_RIGHT : LINE_LEFT,
		.mtu = LINE_MTU,
	};

	line_mac(node, right, device.mac);
	return device;
}

/* Set the address of a device and the neighbour on its link. */
static int line_addresses(int node, bool right)
{
	int index = right ? LINE_RIGHT : LINE_LEFT;
	int left = right ? node : node - 1;
	struct nl_msg *msg[3];
	uint8_t mac[6];

	line_mac(right ? node + 1 : node - 1, !right, mac);
	msg[0] = rtnl_msg_up(index);
	msg[1] = rtnl_msg_addr(index, line_address(left, !right), 24);
	msg[2] = rtnl_msg_neigh(index, line_address(left, right), mac);
	return line_request(msg, 3);
}

/*
 * Add routes through the link on the right, or the left, to all nodes on that
 * side.
 */
static int line_routes(const struct line *line, int node, bool right)
{
	int to = right ? node + 1 : 0, until = right ? line->n : node;
	struct nl_msg *msg[LINE_MAX_NODES];
	unsigned int n = 0;

	for (; to < until; to++)
		msg[n++] = rtnl_msg_route(line_identity(line, to),
					  line_address(right ? node : node - 1,
						       right),
					  right ? LINE_RIGHT : LINE_LEFT,
					  line_identity(line, node), false);
	return line_request(msg, n);
}

/* Connect @left to its right neighbour; both must exist. */
static int line_connect(const struct line *line, int left)
{
	struct rtnl_link_req device = line_device(left, true);
	struct rtnl_link_req peer = line_device(left + 1, false);
	struct nl_msg *veth = rtnl_msg_veth(&device, &peer, line->ns[left + 1]);

	line_enter(line, left);
	if (line_request(&veth, 1) || line_addresses(left, true))
		return -1;
	line_enter(line, left + 1);
	if (line_addresses(left + 1, false) ||
	    line_routes(line, left + 1, false) || device_wait("l"))
		return -1;
	line_enter(line, left);
	return line_routes(line, left, true) || device_wait("r") ? -1 : 0;
}

int line_up(struct line *line)
{
	int i;

	line->home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < line->n; i++) {
		line->ns[i] = -1;
		line->ctl[i] = NULL;
	}
	for (i = 0; i < line->n; i++)
		if (line_make_node(line, i))
			return -1;
	for (i = 0; i < line->n - 1; i++)
		if (line_connect(line, i))
			return -1;
	return line_members(line);
}

/* --- breaking and mending ------------------------------------------------- */

void line_release(struct line *line, int node)
{
	if (line->ns[node] < 0)
		return;
	line_leave(line);
	aggnet_ctl_close(line->ctl[node]);
	close(line->ns[node]);
	line->ctl[node] = NULL;
	line->ns[node] = -1;
}

void line_down(struct line *line)
{
	int i;

	for (i = 0; i < line->n; i++)
		line_release(line, i);
	close(line->home);
}

static void line_delete(const struct line *line, int node, const char *device)
{
	line_enter(line, node);
	device_delete(device);
}

void line_cut(struct line *line, int node)
{
	line_delete(line, node, "l");
	line_delete(line, node, "r");
}

void line_destroy(struct line *line, int node)
{
	line_cut(line, node);
	line_release(line, node);
}

int line_mend_link(struct line *line, int left)
{
	int err;

	line_delete(line, left, "r");
	line_delete(line, left + 1, "l");
	err = line_connect(line, left);
	line_leave(line);
	return err || line_mend_ports(line, left) ||
	       line_mend_ports(line, left + 1) ? -1 : 0;
}

/* Devices of the neighbours go with the node's namespace, but some time later. */
int line_mend_node(struct line *line, int node)
{
	int err;

	line_release(line, node);
	if (node > 0)
		line_delete(line, node - 1, "r");
	if (node < line->n - 1)
		line_delete(line, node + 1, "l");
	err = line_make_node(line, node) ||
	      (node > 0 && line_connect(line, node - 1)) ||
	      (node < line->n - 1 && line_connect(line, node)) ||
	      line_member(line, node) ||
	      (node > 0 && line_mend_ports(line, node - 1)) ||
	      (node < line->n - 1 && line_mend_ports(line, node + 1));
	line_leave(line);
	return err ? -1 : 0;
}

int line_del_identity(struct line *line, int node)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_DELADDR, NLM_F_REQUEST);
	const struct in_addr id = line_identity(line, node);
	struct ifaddrmsg ifa = {
		.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1,
	};
	int err;

	nlmsg_append(msg, &ifa, sizeof(ifa), NLMSG_ALIGNTO);
	nla_put(msg, IFA_LOCAL, sizeof(id), &id);
	line_enter(line, node);
	err = line_request(&msg, 1);
	line_leave(line);
	return err;
}
