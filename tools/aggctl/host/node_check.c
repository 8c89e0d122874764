// SPDX-License-Identifier: GPL-2.0
/* The checks of "aggctl host check", one row each. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aggctl.h"
#include "aggnet.h"
#include "neighbour.h"
#include "host/firewall.h"
#include "host/host.h"
#include "host/node_check.h"
#include "info.h"
#include "names.h"
#include "release.h"
#include "route.h"

#define CONF4		"/proc/sys/net/ipv4/conf/"
#define RP_STRICT	1
/* Packets of other nodes may be as long as this. */
#define ECHO_SMALL	64	/* bytes; any MTU is larger */

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

__printf(4, 5)
static void add(struct checks *c, bool ok, const char *what, const char *fmt,
		...)
{
	char finding[FIREWALL_FIX_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(finding, sizeof(finding), fmt, ap);
	va_end(ap);
	json_array_append_new(c->rows, json_pack("{s:b, s:s, s:s, s:n}", "ok", ok,
						 "what", what, "finding",
						 finding, "fix"));
	c->good &= ok;
}

/* The command that mends what the last row has found. */
__printf(2, 3)
static void fix(struct checks *c, const char *fmt, ...)
{
	json_t *row = json_array_get(c->rows, json_array_size(c->rows) - 1);
	char command[FIREWALL_FIX_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	json_object_set_new(row, "fix", json_string(command));
}

/* Results of many hosts are read together. */
static void name_self(struct checks *c, const char *label)
{
	const char *self = names_self(label);
	json_t *row;
	size_t i;

	json_array_foreach(c->rows, i, row)
		json_object_set_new(row, "host", json_string(self));
}

/* Returns -1 if it cannot be read. */
static long read_sysctl(const char *path)
{
	FILE *f = fopen(path, "r");
	long value = -1;

	if (f && fscanf(f, "%ld", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

static void check_forward(struct checks *c)
{
	long on = read_sysctl("/proc/sys/net/ipv4/ip_forward");

	add(c, on == 1, "ip_forward", on == 1 ?
	    "packets without an entry here are forwarded" :
	    "off: packets without an entry here are lost");
	if (on != 1)
		fix(c, "sysctl -w net.ipv4.ip_forward=1");
}

static void add_drops(struct checks *c, const struct firewall *firewall)
{
	const struct firewall_drop *d;

	for (d = firewall->drop; d < firewall->drop + firewall->n; d++) {
		add(c, !d->fault, "firewall", "%s", d->finding);
		if (d->fault && d->fix[0])
			fix(c, "%s", d->fix);
	}
	if (firewall->unread[0])
		add(c, false, "firewall", "%s", firewall->unread);
	if (firewall->unread[0] && firewall->unread_fix[0])
		fix(c, "%s", firewall->unread_fix);
	if (!firewall->unread[0] && !firewall->n)
		add(c, true, "firewall", "no chain of FORWARD, INPUT or OUTPUT drops UDP to port %u",
		    c->port);
}

static void check_firewall(struct checks *c)
{
	const char **device = calloc(c->n_attached + 1, sizeof(*device));
	struct firewall_packet packet = {
		.port = c->port, .identity = c->member,
		.n_identities = c->n_members, .self = c->identity,
		.device = device,
	};
	struct firewall firewall;
	size_t i;

	for (i = 0; device && i < c->n_attached; i++)
		device[packet.n_devices++] = c->attached[i].ifname;
	firewall_look(&firewall, &packet);
	add_drops(c, &firewall);
	firewall_free(&firewall);
	free(device);
}

static void check_rp_filter(struct checks *c, const char *device)
{
	long all = read_sysctl(CONF4 "all/rp_filter");
	char path[128];
	long own;

	snprintf(path, sizeof(path), CONF4 "%s/rp_filter", device);
	own = read_sysctl(path);
	if (all > own)
		own = all;
	add(c, own != RP_STRICT, "rp_filter", own == RP_STRICT ?
	    "%s: strict: packets that arrive on another device than the one back are lost" :
	    "%s: not strict", device);
	/* With slashes: a device may have a full stop in its name. */
	if (own == RP_STRICT && host_device_is_plain(device))
		fix(c, "sysctl -w net/ipv4/conf/%s/rp_filter=2", device);
}

static void check_up(struct checks *c, const char *device)
{
	bool up = device_up(device);

	add(c, up, "port", up ? "%s: it is up" : "%s: it is down or has no cable",
	    device);
	if (!up && host_device_is_plain(device))
		fix(c, "ip link set %s up", device);
}

static void check_mtu(struct checks *c, const char *device)
{
	int mtu = device_mtu(device);

	if (mtu < 0)
		add(c, false, "MTU", "%s: %s", device, strerror(-mtu));
	else
		add(c, mtu >= MTU_EXPECTED, "MTU",
		    mtu >= MTU_EXPECTED ? "%s: %d" :
		    "%s: %d: packets of nodes with a larger one are dropped here",
		    device, mtu);
	if (mtu >= 0 && mtu < MTU_EXPECTED && host_device_is_plain(device))
		fix(c, "ip link set %s mtu %d", device, MTU_EXPECTED);
}

static bool bind_to(struct in_addr addr)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr = addr };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool done = fd >= 0 && !bind(fd, (struct sockaddr *)&sa, sizeof(sa));

	if (fd >= 0)
		close(fd);
	return done;
}

static void check_identity(struct checks *c, const struct aggnet_node_info *node)
{
	if (node->role == AGGNET_ROLE_SWITCH)
		return;
	if (!node->address.s_addr) {
		add(c, false, "identity", "none");
		fix(c, "%s", names_init("aggctl node set address A"));
	} else if (bind_to(node->address)) {
		add(c, true, "identity", "%s", addr_text(node->address));
	} else {
		add(c, false, "identity",
		    "%s: it is not an address of this host any more",
		    addr_text(node->address));
		fix(c, "ip address add %s/32 dev lo", addr_text(node->address));
	}
}

static void check_ports(struct checks *c, struct aggnet_ctl *ctl)
{
	size_t i;

	if (aggnet_port_list(ctl, &c->attached, &c->n_attached)) {
		add(c, false, "ports", "%s", aggnet_ctl_error(ctl));
		return;
	}
	if (!c->n_attached) {
		add(c, false, "ports", "none is attached");
		fix(c, "%s", names_init("aggctl port add DEVICE"));
	}
	for (i = 0; i < c->n_attached; i++) {
		check_up(c, c->attached[i].ifname);
		check_rp_filter(c, c->attached[i].ifname);
		check_mtu(c, c->attached[i].ifname);
	}
}

static bool is_attached(const struct checks *c, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < c->n_attached; i++)
		if (c->attached[i].ifindex == ifindex)
			return true;
	return false;
}

/* Packets leave only by attached devices. */
static void check_attached(struct checks *c, uint32_t ifindex)
{
	char device[IF_NAMESIZE], command[64];

	if (is_attached(c, ifindex) || !if_indextoname(ifindex, device))
		return;
	add(c, false, "port", "%s: a planned link leaves by it, and it is not attached",
	    device);
	snprintf(command, sizeof(command), "aggctl port add %s", device);
	fix(c, "%s", names_init(command));
}

static void check_route(struct checks *c, const char *what,
			struct in_addr addr)
{
	char to[INET_ADDRSTRLEN];
	struct route route;
	bool hides;

	strcpy(to, addr_text(addr));
	if (route_to(addr, 0, &route))
		route.found = false;
	hides = c->identity.s_addr && is_attached(c, route.ifindex) &&
		route_hides(&route, c->identity);
	if (hides)
		add(c, false, "route", "%s %s: programs send from %s, not from the identity: other servers may have no route back",
		    what, to, addr_text(route.source));
	else
		add(c, route.found, "route", "%s %s: %s", what, to,
		    route.found ? "there is one" : "there is none");
	if (hides || !route.found)
		fix(c, "%s", names_init("aggctl host init --topology @FILE --run"));
}

/* A switch takes no commands of a server. A route to one host may be by another host. */
static bool is_router(const struct checks *c, struct in_addr to)
{
	struct route route;
	size_t i;

	for (i = 0; i < c->n_members; i++)
		if (!route_to(c->member[i], 0, &route) && route.prefix < 32 &&
		    route.gateway.s_addr == to.s_addr)
			return true;
	return names_switch(to);
}

/* What is wrong is not on this host: if it is on another one, the command finds it there. */
static void name_loss(struct checks *c, const char *device, struct in_addr to,
		      int mtu, int err)
{
	if (!neighbour_ask(device, to, ECHO_SMALL))
		add(c, false, "neighbour",
		    "%s: packets of %d bytes do not pass whole on %s, short ones do: use one MTU on all servers and switches",
		    addr_text(to), mtu, device);
	else
		add(c, false, "neighbour",
		    "%s: no answer on %s (%s): it is down, at another switch, has another address, or drops ICMP",
		    addr_text(to), device, strerror(-err));
	if (!is_router(c, to))
		fix(c, "ssh %s aggctl host check", names_host(to));
}

/* It may answer an echo request all the same. */
static bool check_on_link(struct checks *c, uint32_t ifindex, struct in_addr to)
{
	struct in_addr gateway = route_gateway(to, ifindex);
	char addr[INET_ADDRSTRLEN], via[INET_ADDRSTRLEN];

	if (!gateway.s_addr)
		return true;
	strcpy(addr, addr_text(to));
	strcpy(via, addr_text(gateway));
	add(c, false, "neighbour",
	    "%s: it is behind gateway %s, so packets of the plan leave by plain IP, and no node on the way merges them: %s",
	    addr, via, names_router(to, gateway));
	return false;
}

/* A packet of full size goes to the planned neighbour, and back. */
static void check_neighbour(struct checks *c, uint32_t ifindex,
			    struct in_addr to)
{
	char device[IF_NAMESIZE], addr[INET_ADDRSTRLEN];
	int mtu, err;

	strcpy(addr, addr_text(to));
	if (!if_indextoname(ifindex, device) || !device_up(device)) {
		add(c, false, "neighbour", "%s: its device %s is down or has no cable",
		    addr, if_indextoname(ifindex, device) ? device : "");
		if (if_indextoname(ifindex, device) &&
		    host_device_is_plain(device))
			fix(c, "ip link set %s up", device);
		return;
	}
	if (!check_on_link(c, ifindex, to))
		return;
	mtu = device_mtu(device);
	err = mtu < 0 ? mtu : neighbour_ask(device, to, (size_t)mtu);
	if (!err)
		add(c, true, "neighbour", "%s: answers on %s with packets of %d bytes",
		    addr, device, mtu);
	else if (err == -EPERM)
		add(c, false, "neighbour", "%s: asking it needs CAP_NET_RAW",
		    addr);
	else
		name_loss(c, device, to, mtu, err);
}

static bool same_link(const struct aggnet_tree_info *a,
		      const struct aggnet_tree_info *b)
{
	return a->link_ifindex == b->link_ifindex &&
	       a->link_neighbour.s_addr == b->link_neighbour.s_addr;
}

/* Entries have few different neighbours: each is asked once. */
static void check_links(struct checks *c, const struct aggnet_tree_info *list,
			size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		if (!list[i].link_ifindex || !list[i].link_neighbour.s_addr)
			continue;
		for (k = 0; k < i && !same_link(&list[k], &list[i]); k++)
			;
		if (k < i)
			continue;
		check_attached(c, list[i].link_ifindex);
		check_neighbour(c, list[i].link_ifindex,
				list[i].link_neighbour);
	}
}

/* Each once. */
static void add_member(struct checks *c, struct in_addr addr)
{
	struct in_addr *more;
	size_t i;

	for (i = 0; i < c->n_members; i++)
		if (c->member[i].s_addr == addr.s_addr)
			return;
	more = !addr.s_addr ? NULL :
	       reallocarray(c->member, c->n_members + 1, sizeof(*more));
	if (!more)
		return;
	c->member = more;
	more[c->n_members++] = addr;
}

static void add_members(struct checks *c, const struct aggnet_tree_info *tree)
{
	size_t i;

	add_member(c, aggnet_incast_receiver(tree->incast_id));
	for (i = 0; i < tree->children.n; i++)
		add_member(c, tree->children.addr[i]);
}

/* By plain IP, packets go to the receiver and answers to the children. */
static void check_trees(struct checks *c, struct aggnet_ctl *ctl)
{
	struct aggnet_tree_info *list;
	size_t i, k, n;

	if (aggnet_tree_list(ctl, &list, &n)) {
		add(c, false, "trees", "%s", aggnet_ctl_error(ctl));
		return;
	}
	for (i = 0; i < n; i++)
		add_members(c, &list[i]);
	/* A device that is down has no routes: it has to be mended first. */
	check_links(c, list, n);
	for (i = 0; i < n; i++) {
		check_route(c, "to the receiver",
			    aggnet_incast_receiver(list[i].incast_id));
		for (k = 0; k < list[i].children.n; k++)
			check_route(c, "to the child",
				    list[i].children.addr[k]);
	}
	aggnet_tree_list_free(list, n);
}

/* A package that was upgraded leaves the old module loaded. */
static void check_release(struct checks *c)
{
	char loaded[RELEASE_LEN];

	if (!release_differs(AGGNET_LIBRARY_VERSION, loaded)) {
		add(c, true, "module", "it is loaded");
		return;
	}
	add(c, false, "module", "release %s is loaded, and aggctl is of release %s",
	    loaded, AGGNET_LIBRARY_VERSION);
	fix(c, "rmmod aggnet; modprobe aggnet");
}

static void check_module(struct checks *c, struct aggnet_ctl *ctl,
			 struct aggnet_node_info *node)
{
	check_release(c);
	if (aggnet_node_get(ctl, node)) {
		add(c, false, "node", "%s", aggnet_ctl_error(ctl));
	} else {
		if (node->port)
			c->port = node->port;
		c->identity = node->address;
		add_member(c, node->address);
		check_identity(c, node);
	}
	check_ports(c, ctl);
	check_trees(c, ctl);
}

/**
 * node_check() - check this host, in the current namespace
 * @good: no check failed
 *
 * Return: array of rows with ok, what, finding, fix (a command, or null), and host:
 * the name of this one.
 */
json_t *node_check(bool *good)
{
	struct checks c = {
		.rows = json_array(), .good = true, .port = AGGNET_UDP_PORT,
	};
	struct aggnet_node_info node = {};
	struct aggnet_ctl *ctl;

	if (aggnet_ctl_open(&ctl)) {
		add(&c, false, "module", "%s", aggnet_ctl_error(ctl));
		fix(&c, "modprobe aggnet");
	} else {
		check_module(&c, ctl, &node);
	}
	aggnet_ctl_close(ctl);
	check_forward(&c);
	check_firewall(&c);
	name_self(&c, node.label);
	free(c.attached);
	free(c.member);
	*good = c.good;
	return c.rows;
}
