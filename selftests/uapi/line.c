// SPDX-License-Identifier: GPL-2.0
/* See line.h. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../net/device.h"
#include "line.h"
#include "member.h"
#include "rtnl.h"

#define LEFT	10	/* index of device l */
#define RIGHT	11	/* of r */

const char *line_identity(int node)
{
	static const char * const text[NODES] = {
		"10.0.0.4", "10.0.0.3", "10.0.0.2", "10.0.0.1",
	};

	return text[node];
}

int64_t line_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void line_enter(const struct line *line, int node)
{
	if (setns(line->ns[node], CLONE_NEWNET))
		perror("# setns");
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

static int line_forwarding(void)
{
	int fd = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY);
	int ok = write(fd, "1", 1) == 1;

	close(fd);
	return ok ? 0 : -1;
}

static struct in_addr line_address(int left, bool right)
{
	return (struct in_addr){ htonl(10u << 24 | 16 << 16 | left << 8 |
				       (right ? 2 : 1)) };
}

static struct rtnl_link_req line_device(int node, bool right)
{
	return (struct rtnl_link_req){
		.name = right ? "r" : "l",
		.index = right ? RIGHT : LEFT,
		.mac = { 2, 0xa6, 0, 0, node, right },
		.mtu = MTU,
	};
}

/*
 * Add routes through the link on the right, or the left, to all nodes on that
 * side.
 */
static int line_routes(int node, bool right)
{
	int to = right ? node + 1 : 0, until = right ? NODES : node, n = 0;
	struct nl_msg *msg[NODES];

	for (; to < until; to++)
		msg[n++] = rtnl_msg_route(ip(line_identity(to)),
					  line_address(right ? node : node - 1,
						       right),
					  right ? RIGHT : LEFT,
					  ip(line_identity(node)));
	return line_request(msg, n);
}

static struct nl_msg *line_neighbour(int node, bool right)
{
	struct rtnl_link_req other = line_device(right ? node + 1 : node - 1,
						 !right);

	return rtnl_msg_neigh(right ? RIGHT : LEFT,
			      line_address(right ? node : node - 1, right),
			      other.mac);
}

/* Set the address of a device and the neighbour on its link. */
static int line_addresses(int node, bool right)
{
	int index = right ? RIGHT : LEFT, left = right ? node : node - 1;
	struct nl_msg *msg[] = {
		rtnl_msg_up(index),
		rtnl_msg_addr(index, line_address(left, !right), 24),
		line_neighbour(node, right),
	};

	return line_request(msg, 3);
}

/*
 * Wait for both ends of the link on the right of @left. The last one's
 * namespace is entered.
 */
static int line_ready(const struct line *line, int left)
{
	line_enter(line, left + 1);
	if (device_wait("l"))
		return -1;
	line_enter(line, left);
	return device_wait("r");
}

/* Connect @left to its right neighbour; both must exist. */
static int line_connect(struct line *line, int left)
{
	struct rtnl_link_req device = line_device(left, true);
	struct rtnl_link_req peer = line_device(left + 1, false);
	struct nl_msg *veth = rtnl_msg_veth(&device, &peer, line->ns[left + 1]);

	line_enter(line, left);
	if (line_request(&veth, 1) || line_addresses(left, true))
		return -1;
	line_enter(line, left + 1);
	if (line_addresses(left + 1, false) ||
	    attach(line->ctl[left + 1], "l", true) ||
	    line_routes(left + 1, false))
		return -1;
	line_enter(line, left);
	if (attach(line->ctl[left], "r", true) || line_routes(left, true))
		return -1;
	return line_ready(line, left);
}

/* A device that goes down loses its neighbours and routes: set them again. */
int line_reconnect(struct line *line, int left)
{
	struct nl_msg *msg[] = {
		rtnl_msg_up(RIGHT),
		line_neighbour(left, true),
	};

	line_enter(line, left);
	if (line_request(msg, 2) || line_routes(left, true))
		return -1;
	return line_ready(line, left);
}

static int line_make_node(struct line *line, int node)
{
	line->ctl[node] = make_node(line_identity(node));
	line->ns[node] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return line->ctl[node] && line->ns[node] >= 0 ? line_forwarding() : -1;
}

int line_up(struct line *line)
{
	int i;

	line->home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < NODES; i++)
		if (line_make_node(line, i))
			return -1;
	for (i = 0; i < NODES - 1; i++)
		if (line_connect(line, i))
			return -1;
	return 0;
}

/*
 * Cut the node off. Its namespace stays as long as a socket or process uses it.
 */
void line_cut(struct line *line, int node)
{
	line_enter(line, node);
	device_delete("l");
	device_delete("r");
}

void line_destroy(struct line *line, int node)
{
	line_cut(line, node);
	setns(line->home, CLONE_NEWNET);
	aggnet_ctl_close(line->ctl[node]);
	close(line->ns[node]);
	line->ctl[node] = NULL;
	line->ns[node] = -1;
}

int line_restore(struct line *line, int node)
{
	if (line_make_node(line, node))
		return -1;
	if (node > 0 && line_connect(line, node - 1))
		return -1;
	return node < NODES - 1 && line_connect(line, node) ? -1 : 0;
}

void line_down(struct line *line)
{
	int i;

	setns(line->home, CLONE_NEWNET);
	for (i = 0; i < NODES; i++) {
		aggnet_ctl_close(line->ctl[i]);
		if (line->ns[i] >= 0)
			close(line->ns[i]);
	}
	close(line->home);
}
