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
/* Descriptors beside one for each switch. */
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

/* Leaves the process in the new namespace. */
static int make_switch(uint32_t sw, int *fd)
{
	const char *name = addressing_switch_name(sw);
	struct rtnl *r;
	int ret;

	*fd = netns_create(name);
	if (*fd < 0 || set_sysctls(name, quiet_sysctls,
				   ARRAY_SIZE(quiet_sysctls)))
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

static int add_neighbours(const struct testbed *tb, struct rtnl *r,
			  aggt_node server, unsigned int level)
{
	unsigned int digit;
	aggt_node other;
	uint8_t mac[6];

	for (digit = 0; digit < aggt_topo_radix(tb->topo, level); digit++) {
		other = aggt_topo_with_digit(tb->topo, server, level, digit);
		if (other == server || !tb_has_port(tb, other, level))
			continue;
		addressing_server_mac(other, level, mac);
		if (rtnl_add(r, rtnl_msg_neigh(tb_server_port(level),
					       addressing_port_addr(tb->topo, other, level),
					       mac),
			     "neighbour v%u", other))
			return -1;
	}
	return 0;
}

static int add_port(const struct testbed *tb, struct rtnl *r, aggt_node server,
		    unsigned int level, const int *switch_fds)
{
	uint32_t sw = aggt_topo_switch(tb->topo, server, level);
	unsigned int digit = aggt_topo_digit(tb->topo, server, level);
	char name[ADDRESSING_NAME_LEN], peer_name[ADDRESSING_NAME_LEN];
	struct rtnl_link_req link = {
		.name = name,
		.index = tb_server_port(level),
		.mtu = tb->mtu,
	};
	struct rtnl_link_req peer = {
		.name = peer_name,
		.index = tb_switch_port(digit),
		.mtu = tb->mtu,
	};

	snprintf(name, sizeof(name), "eth%u", level);
	snprintf(peer_name, sizeof(peer_name), "p%u", digit);
	addressing_server_mac(server, level, link.mac);
	addressing_switch_mac(sw, digit, peer.mac);
	if (rtnl_add(r, rtnl_msg_veth(&link, &peer,
				      switch_fds[tb_switch_index(tb, sw)]),
		     "link eth%u", level) ||
	    rtnl_add(r, rtnl_msg_addr(link.index,
				      addressing_port_addr(tb->topo, server, level),
				      addressing_prefixlen(tb->topo)),
		     "address of eth%u", level) ||
	    tb_shape(tb, r, link.index))
		return -1;
	return add_neighbours(tb, r, server, level);
}

/* Leaves the process in the new namespace. */
static int make_server(const struct testbed *tb, aggt_node server,
		       const int *switch_fds)
{
	const char *name = addressing_server_name(server);
	unsigned int level;
	struct rtnl *r;
	int fd, ret;

	fd = netns_create(name);
	if (fd < 0)
		return -1;
	close(fd);
	if (set_sysctls(name, quiet_sysctls, ARRAY_SIZE(quiet_sysctls)) ||
	    set_sysctls(name, server_sysctls, ARRAY_SIZE(server_sysctls)))
		return -1;
	r = rtnl_open(name);
	if (!r)
		return -1;
	ret = rtnl_add(r, rtnl_msg_up(LO_INDEX), "lo", 0) ||
	      rtnl_add(r, rtnl_msg_addr(LO_INDEX, addressing_identity(server), 32),
		       "identity", 0);
	for (level = 0; !ret && level < aggt_topo_dims(tb->topo); level++)
		ret = tb_has_port(tb, server, level) &&
		      add_port(tb, r, server, level, switch_fds);
	ret = ret || tb_routes(tb, r, server) || rtnl_commit(r);
	rtnl_close(r);
	return ret ? -1 : 0;
}

/* The servers have made the ports; join them to the bridge. */
static int join_ports(const struct testbed *tb, uint32_t sw, int fd)
{
	unsigned int level = aggt_topo_switch_level(tb->topo, sw);
	const char *name = addressing_switch_name(sw);
	unsigned int digit;
	struct rtnl *r;
	uint8_t mac[6];
	int ret = 0;

	if (netns_enter_fd(fd, name))
		return -1;
	r = rtnl_open(name);
	if (!r)
		return -1;
	for (digit = 0; digit < aggt_topo_radix(tb->topo, level); digit++) {
		aggt_node server = aggt_topo_switch_server(tb->topo, sw, digit);
		int port = tb_switch_port(digit);

		if (!tb_has_port(tb, server, level))
			continue;
		addressing_server_mac(server, level, mac);
		ret = rtnl_add(r, rtnl_msg_up(port), "port p%u", digit) ||
		      rtnl_add(r, rtnl_msg_enslave(port, TB_BRIDGE_INDEX),
			       "bridge port p%u", digit) ||
		      rtnl_add(r, rtnl_msg_fdb(port, mac),
			       "bridge entry of p%u", digit) ||
		      tb_shape(tb, r, port);
		if (ret)
			break;
	}
	ret = ret || rtnl_commit(r);
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
		if (wait_carrier(addressing_server_name(tb_server(tb, i))))
			return -1;
	for (i = 0; i < tb_switches(tb); i++)
		if (wait_carrier(addressing_switch_name(tb_switch(tb, i))))
			return -1;
	return 0;
}

static int allow_fds(uint32_t switches)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		goto bad;
	if (lim.rlim_cur >= switches + SPARE_FDS)
		return 0;
	lim.rlim_cur = switches + SPARE_FDS;
	if (lim.rlim_max < lim.rlim_cur)
		lim.rlim_max = lim.rlim_cur;
	if (!setrlimit(RLIMIT_NOFILE, &lim))
		return 0;
bad:
	err("%u open files: %s", switches + SPARE_FDS, strerror(errno));
	return -1;
}

static int check_names(const struct testbed *tb)
{
	const char *name;
	uint32_t i;

	for (i = 0; i < tb_servers(tb); i++) {
		name = addressing_server_name(tb_server(tb, i));
		if (netns_exists(name))
			goto taken;
	}
	for (i = 0; i < tb_switches(tb); i++) {
		name = addressing_switch_name(tb_switch(tb, i));
		if (netns_exists(name))
			goto taken;
	}
	return 0;
taken:
	err("namespace %s exists already, and no testbed made it",
	    name);
	return -1;
}

static int build(const struct testbed *tb, int *switch_fds)
{
	uint32_t i;

	for (i = 0; i < tb_switches(tb); i++)
		if (make_switch(tb_switch(tb, i), &switch_fds[i]))
			return -1;
	for (i = 0; i < tb_servers(tb); i++)
		if (make_server(tb, tb_server(tb, i), switch_fds))
			return -1;
	for (i = 0; i < tb_switches(tb); i++)
		if (join_ports(tb, tb_switch(tb, i), switch_fds[i]))
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
int tb_up(const struct testbed *tb)
{
	uint32_t switches = tb_switches(tb);
	int *switch_fds;
	uint32_t i;
	int ret;

	if (check_names(tb) || allow_fds(switches) || netns_prepare())
		return -1;
	switch_fds = malloc(switches * sizeof(*switch_fds));
	if (!switch_fds) {
		err("out of memory");
		return -1;
	}
	for (i = 0; i < switches; i++)
		switch_fds[i] = -1;
	/*
	 * Saved first: then 'down' can undo the rest, even if this process is
	 * killed.
	 */
	ret = tb_state_save(tb, false);
	if (!ret) {
		ret = build(tb, switch_fds) || tb_state_save(tb, true);
		if (ret)
			tb_down(tb);
	}
	for (i = 0; i < switches; i++)
		if (switch_fds[i] >= 0)
			close(switch_fds[i]);
	free(switch_fds);
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
		bad |= netns_delete(addressing_server_name(tb_server(tb, i)));
	for (i = 0; i < tb_switches(tb); i++)
		bad |= netns_delete(addressing_switch_name(tb_switch(tb, i)));
	return bad ? -1 : tb_state_remove();
}
