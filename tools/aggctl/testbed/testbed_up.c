// SPDX-License-Identifier: GPL-2.0
/* Building of a testbed: switches, then servers with their links. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "aggctl.h"
#include "netns.h"
#include "testbed/testbed.h"

#define LO_INDEX	1
/* Descriptors beside one for each node. */
#define SPARE_FDS	64
/* How long links may take to find their carrier. */
#define CARRIER_TRIES	5000
#define CARRIER_WAIT_NS	1000000

struct sysctl {
	const char *path;
	const char *value;
	bool optional;
};

#define CONF4		"/proc/sys/net/ipv4/conf/"
#define CONF6		"/proc/sys/net/ipv6/conf/"

/* No traffic of their own: no IPv6 (a kernel may lack it), no redirects. */
static const struct sysctl quiet_sysctls[] = {
	{ CONF6 "all/disable_ipv6", "1", true },
	{ CONF6 "default/disable_ipv6", "1", true },
};

static const struct sysctl server_sysctls[] = {
	{ "/proc/sys/net/ipv4/ip_forward", "1", false },
	{ CONF4 "all/rp_filter", "0", false },
	{ CONF4 "default/rp_filter", "0", false },
	{ CONF4 "all/send_redirects", "0", false },
	{ CONF4 "default/send_redirects", "0", false },
};

static int set_sysctls(const char *where, const struct sysctl *s, size_t n)
{
	ssize_t len;
	int fd;

	for (; n--; s++) {
		fd = open(s->path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && s->optional)
			continue;
		len = fd < 0 ? -1 : write(fd, s->value, strlen(s->value));
		if (len < 0)
			err("%s: %s: %s", where, s->path, strerror(errno));
		if (fd >= 0)
			close(fd);
		if (len < 0)
			return -1;
	}
	return 0;
}

/* Leaves the process in the namespace. */
static int make_switch(const char *name, int fd)
{
	struct rtnl *r;
	int ret;

	if (netns_enter_fd(fd, name) ||
	    set_sysctls(name, quiet_sysctls, ARRAY_SIZE(quiet_sysctls)))
		return -1;
	r = rtnl_open(name);
	if (!r)
		return -1;
	ret = rtnl_add(r, rtnl_msg_bridge(TB_BRIDGE, TB_BRIDGE_INDEX),
		       "bridge " TB_BRIDGE, 0);
	ret = ret || rtnl_commit(r);
	rtnl_close(r);
	return ret ? -1 : 0;
}

/**
 * struct nodes - descriptors of the namespaces that are in the making
 * @fd: by index, switches before servers; -1: not made yet
 * @n: how many
 * @switches: how many of them are switches
 */
struct nodes {
	int *fd;
	uint32_t n;
	uint32_t switches;
};

static int node_fd(const struct testbed *tb, const struct nodes *nodes,
		   bool is_switch, uint32_t node)
{
	uint32_t index = tb_index(tb, is_switch, node);

	return nodes->fd[is_switch ? index : nodes->switches + index];
}

/* The link of a port, up at this end. */
static int add_link(const struct testbed *tb, struct rtnl *r,
		    const struct tb_port *port, const struct nodes *nodes)
{
	char name[ADDRESSING_NAME_LEN], peer_name[ADDRESSING_NAME_LEN];
	const struct tb_port far = tb_far_port(port);
	struct rtnl_link_req link = {
		.name = tb_port_name(port, name),
		.index = tb_port_index(port),
		.mtu = tb->mtu,
	};
	struct rtnl_link_req peer = {
		.name = tb_port_name(&far, peer_name),
		.index = tb_port_index(&far),
		.mtu = tb->mtu,
	};

	tb_port_mac(tb, port, link.mac);
	tb_port_mac(tb, &far, peer.mac);
	return rtnl_add(r, rtnl_msg_veth(&link, &peer,
					 node_fd(tb, nodes, far.of_switch,
						 far.node)),
			port->of_switch ? "link p%u" : "link eth%u",
			port->number);
}

/* A port whose link this node or the other end makes, with its shape. */
static int add_port(const struct testbed *tb, struct rtnl *r,
		    const struct tb_port *port, const struct nodes *nodes)
{
	int index = tb_port_index(port);

	if (tb_port_makes(port) ? add_link(tb, r, port, nodes) :
	    rtnl_add(r, rtnl_msg_up(index), port->of_switch ? "port p%u" :
		     "port eth%u", port->number))
		return -1;
	return tb_shape(tb, r, port);
}

/* A port whose address is the identity has none beside. */
static int add_address(const struct testbed *tb, struct rtnl *r,
		       const struct tb_port *port)
{
	struct in_addr addr = addressing_of_port(tb->topo, port->node,
						 port->number);

	if (addr.s_addr == addressing_of_server(tb->topo, port->node).s_addr)
		return 0;
	return rtnl_add(r, rtnl_msg_addr(tb_port_index(port), addr,
					 (int)tb_prefixlen(tb)),
			"address of eth%u", port->number);
}

static int add_server_ports(const struct testbed *tb, struct rtnl *r,
			    aggt_node server, const struct nodes *nodes)
{
	unsigned int i, n = tb_ports(tb, false, server);
	struct tb_port port;

	for (i = 0; i < n; i++)
		if (tb_port(tb, false, server, i, &port) &&
		    (add_port(tb, r, &port, nodes) ||
		     add_address(tb, r, &port)))
			return -1;
	return tb_neighbours(tb, r, server);
}

/* Leaves the process in the namespace. */
static int make_server(const struct testbed *tb, aggt_node server,
		       const struct nodes *nodes)
{
	const char *name = tb_node_name(tb, false, server);
	struct rtnl *r;
	int ret;

	if (netns_enter_fd(node_fd(tb, nodes, false, server), name) ||
	    set_sysctls(name, quiet_sysctls, ARRAY_SIZE(quiet_sysctls)) ||
	    set_sysctls(name, server_sysctls, ARRAY_SIZE(server_sysctls)))
		return -1;
	r = rtnl_open(name);
	if (!r)
		return -1;
	ret = rtnl_add(r, rtnl_msg_up(LO_INDEX), "lo", 0) ||
	      rtnl_add(r, rtnl_msg_addr(LO_INDEX,
					addressing_of_server(tb->topo, server),
					32), "identity", 0) ||
	      add_server_ports(tb, r, server, nodes) ||
	      tb_routes(tb, r, server) || rtnl_commit(r);
	rtnl_close(r);
	return ret ? -1 : 0;
}

/* A switch sends the frames for this port of a server by that port of its own. */
static int add_fdb(const struct testbed *tb, struct rtnl *r, uint32_t sw,
		   const struct tb_port *server, unsigned int number)
{
	struct tb_port port;
	uint8_t mac[6];

	if (!tb_port(tb, true, sw, number, &port))
		return 0;
	tb_port_mac(tb, server, mac);
	return rtnl_add(r, rtnl_msg_fdb(tb_port_index(&port), mac),
			"bridge entry of p%u", number);
}

/* The ways to all servers that can be reached over switches. */
static int add_ways(const struct testbed *tb, struct rtnl *r, uint32_t sw)
{
	struct tb_port port;
	unsigned int k, n;
	uint32_t i, out;

	for (i = 0; i < tb_servers(tb); i++) {
		n = tb_ports(tb, false, tb_server(tb, i));
		for (k = 0; k < n; k++) {
			if (!tb_port(tb, false, tb_server(tb, i), k, &port) ||
			    !port.far.is_switch)
				continue;
			out = aggt_topo_forward(tb->topo, sw, port.node, k);
			if (out != AGGT_NONE &&
			    add_fdb(tb, r, sw, &port, out))
				return -1;
		}
	}
	return 0;
}

static int join_port(const struct testbed *tb, struct rtnl *r,
		     const struct tb_port *port, bool core,
		     const struct nodes *nodes)
{
	const struct tb_port far = tb_far_port(port);
	int index = tb_port_index(port);

	if (add_port(tb, r, port, nodes) ||
	    rtnl_add(r, rtnl_msg_enslave(index, TB_BRIDGE_INDEX),
		     "bridge port p%u", port->number))
		return -1;
	if (core)
		return rtnl_add(r, rtnl_msg_fixed_port(index),
				"fixed entries of p%u", port->number);
	return far.of_switch ? 0 : add_fdb(tb, r, port->node, &far, port->number);
}

/*
 * The servers have made their ports; join them to the bridge. Switches with links
 * to each other are in cycles, where bridges would flood frames for ever. They
 * forward by fixed entries alone, with one path for each port of a server:
 * servers know the hardware addresses of all neighbours, so nothing needs to be
 * flooded or learned. Routers would do, too, but then a hop of a plan, which
 * crosses any number of switches, would be several of IP, and a neighbour in an
 * entry would not be the next server.
 */
static int join_ports(const struct testbed *tb, uint32_t sw, bool core,
		      const struct nodes *nodes)
{
	const char *name = tb_node_name(tb, true, sw);
	unsigned int i, n = tb_ports(tb, true, sw);
	struct tb_port port;
	struct rtnl *r;
	int ret = 0;

	if (netns_enter_fd(node_fd(tb, nodes, true, sw), name))
		return -1;
	r = rtnl_open(name);
	if (!r)
		return -1;
	for (i = 0; !ret && i < n; i++)
		ret = tb_port(tb, true, sw, i, &port) &&
		      join_port(tb, r, &port, core, nodes);
	ret = ret || (core && add_ways(tb, r, sw)) || rtnl_commit(r);
	rtnl_close(r);
	return ret ? -1 : 0;
}

static int wait_carrier(const char *name)
{
	const struct timespec wait = { .tv_nsec = CARRIER_WAIT_NS };
	struct rtnl *r;
	int tries, down = -1;

	if (netns_enter(name))
		return -1;
	r = rtnl_open(name);
	if (!r)
		return -1;
	for (tries = 0; tries < CARRIER_TRIES; tries++) {
		down = rtnl_links_down(r, TB_BRIDGE_INDEX);
		if (down <= 0)
			break;
		nanosleep(&wait, NULL);
	}
	rtnl_close(r);
	if (down > 0)
		err("%s: %d links found no carrier", name, down);
	return down ? -1 : 0;
}

/**
 * tb_settle() - wait until all links of a testbed carry packets
 * @tb: the testbed
 *
 * Leaves the process in some namespace.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_settle(const struct testbed *tb)
{
	uint32_t i;

	for (i = 0; i < tb_servers(tb); i++)
		if (wait_carrier(tb_node_name(tb, false, tb_server(tb, i))))
			return -1;
	for (i = 0; i < tb_switches(tb); i++)
		if (wait_carrier(tb_node_name(tb, true, tb_switch(tb, i))))
			return -1;
	return 0;
}

static int allow_fds(uint32_t nodes)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		goto bad;
	if (lim.rlim_cur >= nodes + SPARE_FDS)
		return 0;
	lim.rlim_cur = nodes + SPARE_FDS;
	if (lim.rlim_max < lim.rlim_cur)
		lim.rlim_max = lim.rlim_cur;
	if (!setrlimit(RLIMIT_NOFILE, &lim))
		return 0;
bad:
	err("%u open files: %s", nodes + SPARE_FDS, strerror(errno));
	return -1;
}

static int check_names(const struct testbed *tb)
{
	const char *name;
	uint32_t i;

	for (i = 0; i < tb_servers(tb); i++) {
		name = tb_node_name(tb, false, tb_server(tb, i));
		if (netns_exists(name))
			goto taken;
	}
	for (i = 0; i < tb_switches(tb); i++) {
		name = tb_node_name(tb, true, tb_switch(tb, i));
		if (netns_exists(name))
			goto taken;
	}
	return 0;
taken:
	err("namespace %s exists already, and no testbed made it",
	    name);
	return -1;
}

static int make_namespaces(const struct testbed *tb, struct nodes *nodes)
{
	uint32_t i;

	for (i = 0; i < nodes->n; i++) {
		bool is_switch = i < nodes->switches;
		uint32_t node = is_switch ? tb_switch(tb, i) :
				tb_server(tb, i - nodes->switches);

		nodes->fd[i] = netns_create(tb_node_name(tb, is_switch, node));
		if (nodes->fd[i] < 0)
			return -1;
	}
	return 0;
}

static int build(const struct testbed *tb, struct nodes *nodes)
{
	bool core = aggt_topo_core(tb->topo);
	uint32_t i;

	if (make_namespaces(tb, nodes))
		return -1;
	for (i = 0; i < tb_switches(tb); i++)
		if (make_switch(tb_node_name(tb, true, tb_switch(tb, i)),
				nodes->fd[i]))
			return -1;
	for (i = 0; i < tb_servers(tb); i++)
		if (make_server(tb, tb_server(tb, i), nodes))
			return -1;
	for (i = 0; i < tb_switches(tb); i++)
		if (join_ports(tb, tb_switch(tb, i), core, nodes))
			return -1;
	return tb_settle(tb);
}

/**
 * tb_up() - build a testbed
 * @tb: its description
 *
 * The process ends up in some namespace of it. After a failure everything is
 * removed again.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_up(struct testbed *tb)
{
	struct nodes nodes = {
		.n = tb_switches(tb) + tb_servers(tb),
		.switches = tb_switches(tb),
	};
	uint32_t i;
	int ret;

	if (check_names(tb) || allow_fds(nodes.n) || netns_prepare() ||
	    tb_find_routes(tb))
		return -1;
	nodes.fd = malloc(nodes.n * sizeof(*nodes.fd));
	if (!nodes.fd) {
		err("out of memory");
		return -1;
	}
	for (i = 0; i < nodes.n; i++)
		nodes.fd[i] = -1;
	/*
	 * Saved first: then 'down' can undo the rest, even if this process is
	 * killed.
	 */
	ret = tb_state_save(tb, false);
	if (!ret) {
		ret = build(tb, &nodes) || tb_state_save(tb, true);
		if (ret)
			tb_down(tb);
	}
	for (i = 0; i < nodes.n; i++)
		if (nodes.fd[i] >= 0)
			close(nodes.fd[i]);
	free(nodes.fd);
	return ret ? -1 : 0;
}

/**
 * tb_down() - remove a testbed, complete or not
 * @tb: its description
 *
 * Return: 0, or -1 with an error line printed; it continues after an error.
 */
int tb_down(const struct testbed *tb)
{
	int bad = 0;
	uint32_t i;

	for (i = 0; i < tb_servers(tb); i++)
		bad |= netns_delete(tb_node_name(tb, false, tb_server(tb, i)));
	for (i = 0; i < tb_switches(tb); i++)
		bad |= netns_delete(tb_node_name(tb, true, tb_switch(tb, i)));
	return bad ? -1 : tb_state_remove();
}
