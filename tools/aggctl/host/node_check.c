// SPDX-License-Identifier: GPL-2.0
/* The checks of "aggctl host check", one row each. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "aggnet.h"
#include "neighbour.h"
#include "host/checks.h"
#include "host/firewall.h"
#include "host/host.h"
#include "host/node_check.h"
#include "info.h"
#include "names.h"
#include "release.h"
#include "route.h"

#define CONF4		"/proc/sys/net/ipv4/conf/"
#define RP_STRICT	1

void checks_add(struct checks *c, bool ok, const char *what, const char *fmt,
		...)
{
	char finding[FIREWALL_FIX_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(finding, sizeof(finding), fmt, ap);
	va_end(ap);
	json_array_append_new(c->rows, json_pack("{s:b, s:s, s:o, s:n}", "ok", ok,
						 "what", what, "finding",
						 info_text(finding), "fix"));
	c->good &= ok;
}

static json_t *last_row(const struct checks *c)
{
	return json_array_get(c->rows, json_array_size(c->rows) - 1);
}

void checks_note(struct checks *c, const char *what, const char *fmt, ...)
{
	char finding[FIREWALL_FIX_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(finding, sizeof(finding), fmt, ap);
	va_end(ap);
	checks_add(c, true, what, "%s", finding);
	json_object_set_new(last_row(c), "note", json_true());
}

void checks_fix(struct checks *c, const char *fmt, ...)
{
	char command[FIREWALL_FIX_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	json_object_set_new(last_row(c), "fix", json_string(command));
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

	checks_add(c, on == 1, "ip_forward", on == 1 ?
		   "packets without an entry here are forwarded" :
		   "off: packets without an entry here are lost");
	if (on != 1)
		checks_fix(c, "sysctl -w net.ipv4.ip_forward=1");
}

static void add_drops(struct checks *c, const struct firewall *firewall)
{
	const struct firewall_drop *d;

	for (d = firewall->drop; d < firewall->drop + firewall->n; d++) {
		checks_add(c, !d->fault, "firewall", "%s", d->finding);
		if (d->fault && d->fix[0])
			checks_fix(c, "%s", d->fix);
	}
	if (firewall->unread[0])
		checks_add(c, false, "firewall", "%s", firewall->unread);
	if (firewall->unread[0] && firewall->unread_fix[0])
		checks_fix(c, "%s", firewall->unread_fix);
	if (!firewall->unread[0] && !firewall->n)
		checks_add(c, true, "firewall", "no chain of FORWARD, INPUT or OUTPUT drops UDP to port %u",
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
	checks_add(c, own != RP_STRICT, "rp_filter", own == RP_STRICT ?
		   "%s: strict: packets that arrive on another device than the one back are lost" :
		   "%s: not strict", device);
	/* With slashes: a device may have a full stop in its name. */
	if (own == RP_STRICT && host_device_is_plain(device))
		checks_fix(c, "sysctl -w net/ipv4/conf/%s/rp_filter=2", device);
}

static void check_up(struct checks *c, const char *device)
{
	bool up = device_up(device);

	checks_add(c, up, "port",
		   up ? "%s: it is up" : "%s: it is down or has no cable",
		   device);
	if (!up && host_device_is_plain(device))
		checks_fix(c, "ip link set %s up", device);
}

static void check_mtu(struct checks *c, const char *device)
{
	int mtu = device_mtu(device);

	if (mtu < 0)
		checks_add(c, false, "MTU", "%s: %s", device, strerror(-mtu));
	else
		checks_add(c, mtu >= MTU_EXPECTED, "MTU",
			   mtu >= MTU_EXPECTED ? "%s: %d" :
			   "%s: %d: packets of nodes with a larger one are dropped here",
			   device, mtu);
	if (mtu >= 0 && mtu < MTU_EXPECTED && host_device_is_plain(device))
		checks_fix(c, "ip link set %s mtu %d", device, MTU_EXPECTED);
}

bool checks_own(struct in_addr addr)
{
	struct ifaddrs *list;
	bool own;

	if (getifaddrs(&list))
		return false;
	own = addr_is_own(list, addr);
	freeifaddrs(list);
	return own;
}

static void check_identity(struct checks *c, const struct aggnet_node_info *node)
{
	if (node->role == AGGNET_ROLE_SWITCH)
		return;
	if (!node->address.s_addr) {
		checks_add(c, false, "identity", "it has no identity");
		checks_fix(c, "%s", names_init("aggctl node set address A"));
	} else if (checks_own(node->address)) {
		checks_add(c, true, "identity", "%s", addr_text(node->address));
	} else {
		checks_add(c, false, "identity",
			   "%s: it is not an address of this host any more",
			   addr_text(node->address));
		checks_fix(c, "ip address add %s/32 dev lo", addr_text(node->address));
	}
}

static void check_ports(struct checks *c, struct aggnet_ctl *ctl)
{
	size_t i;

	if (aggnet_port_list(ctl, &c->attached, &c->n_attached)) {
		checks_add(c, false, "ports", "%s", aggnet_ctl_error(ctl));
		return;
	}
	if (!c->n_attached) {
		checks_add(c, false, "ports", "none is attached");
		checks_fix(c, "%s", names_init("aggctl port add DEVICE"));
	}
	for (i = 0; i < c->n_attached; i++) {
		check_up(c, c->attached[i].ifname);
		check_rp_filter(c, c->attached[i].ifname);
		check_mtu(c, c->attached[i].ifname);
	}
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
	hides = c->identity.s_addr && checks_attached(c, route.ifindex) &&
		route_hides(&route, c->identity);
	if (hides)
		checks_add(c, false, "route", "%s %s: programs send from %s, not from the identity: other servers may have no route back",
			   what, to, addr_text(route.source));
	else
		checks_add(c, route.found, "route", "%s %s: %s", what, to,
			   route.found ? "there is one" : "there is none");
	if (hides || !route.found)
		checks_fix(c, "%s", names_init("aggctl host init --topology @FILE --run"));
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
		checks_add(c, false, "trees", "%s", aggnet_ctl_error(ctl));
		return;
	}
	for (i = 0; i < n; i++)
		add_members(c, &list[i]);
	/* A device that is down has no routes: it has to be mended first. */
	checks_reach(c, ctl, list, n);
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
		checks_add(c, true, "module", "it is loaded");
		return;
	}
	checks_add(c, false, "module", "release %s is loaded, and aggctl is of release %s",
		   loaded, AGGNET_LIBRARY_VERSION);
	checks_fix(c, "rmmod aggnet; modprobe aggnet");
}

static void check_module(struct checks *c, struct aggnet_ctl *ctl,
			 struct aggnet_node_info *node)
{
	check_release(c);
	if (aggnet_node_get(ctl, node)) {
		checks_add(c, false, "node", "%s", aggnet_ctl_error(ctl));
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
 * Return: array of rows with ok (null: a note), what, finding, fix (a command, or null),
 * and host: the name of this one.
 */
json_t *node_check(bool *good)
{
	struct checks c = {
		.rows = json_array(), .good = true, .port = AGGNET_UDP_PORT,
	};
	struct aggnet_node_info node = {};
	struct aggnet_ctl *ctl;

	if (aggnet_ctl_open(&ctl)) {
		checks_add(&c, false, "module", "%s", aggnet_ctl_error(ctl));
		checks_fix(&c, "modprobe aggnet");
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
