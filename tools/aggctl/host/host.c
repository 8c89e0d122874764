// SPDX-License-Identifier: GPL-2.0
/* What this host lacks of a described network, and the commands that provide it. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "host/firewall.h"
#include "host/host.h"
#include "info.h"
#include "neighbour.h"
#include "route.h"

#define CONF4		"/proc/sys/net/ipv4/"
#define RP_STRICT	1

/* --- which server this host is --------------------------------------------- */

/* The device with this address, NULL if none has it. */
static const char *device_of(const struct host *host, struct in_addr addr)
{
	const struct ifaddrs *i;

	for (i = host->ifaddrs; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
		    ((const struct sockaddr_in *)(const void *)
		     i->ifa_addr)->sin_addr.s_addr == addr.s_addr)
			return i->ifa_name;
	return NULL;
}

static bool is_set_up(const struct host *host, const char *device)
{
	const struct ifaddrs *i;

	for (i = host->ifaddrs; i; i = i->ifa_next)
		if (!strcmp(i->ifa_name, device))
			return i->ifa_flags & IFF_UP;
	return false;
}

static bool has_address_of(const struct host *host, aggt_node server)
{
	unsigned int level, ports = aggt_topo_ports(host->plan.topo, server);

	if (device_of(host, plan_identity(&host->plan, server)))
		return true;
	for (level = 0; level < ports; level++)
		if (plan_knows_port(&host->plan, server, level) &&
		    device_of(host, plan_port_addr(&host->plan, server, level)))
			return true;
	return false;
}

static bool is_called(const struct host *host, aggt_node server,
		      const char *name)
{
	return !strcmp(plan_server_name(&host->plan, server), name);
}

static int find_named(struct host *host, const char *name)
{
	uint32_t n = aggt_topo_servers(host->plan.topo);

	for (host->server = 0; host->server < n; host->server++)
		if (is_called(host, host->server, name))
			return 0;
	return -1;
}

static int find_addressed(struct host *host)
{
	uint32_t n = aggt_topo_servers(host->plan.topo), server, found = 0;

	for (server = 0; server < n; server++) {
		if (!has_address_of(host, server))
			continue;
		host->server = server;
		found++;
	}
	return found == 1 ? 0 : -1;
}

/* Return: an exit status */
static int find_self(struct host *host, const char *network)
{
	char name[256] = "";

	if (!find_addressed(host))
		return ST_DONE;
	gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".")] = '\0';
	if (!find_named(host, name))
		return ST_DONE;
	return fail("host: no server of %s has an address or the name of this host ('%s'); name it with --host",
		    network, name);
}

/* All servers need one: each has routes to the others. */
static int check_identities(const struct host *host, const char *network)
{
	const struct aggt_topo *topo = host->plan.topo;
	uint32_t server, n = aggt_topo_servers(topo);
	char part[AGGT_PART];

	for (server = 0; server < n; server++)
		if (aggt_topo_server_ok(topo, server) &&
		    plan_lacks_address(&host->plan, server, AGGT_NONE, part))
			return fail("host init: %s: no line 'address %s A.B.C.D': each server needs an identity",
				    host->file ? host->file : network, part);
	return ST_DONE;
}

int host_open(struct host *host, const char *network, const char *name)
{
	*host = (struct host){
		.missing = json_array(), .advice = json_array(),
		.file = network[0] == '@' ? network + 1 : NULL,
	};
	/* What is in a file is not an argument. */
	if (plan_topology(&host->plan, "host init", network))
		return network[0] == '@' ? ST_FAILED : ST_USAGE;
	if (check_identities(host, network))
		return ST_FAILED;
	if (getifaddrs(&host->ifaddrs))
		return fail("host: addresses of this host: %s", strerror(errno));
	if (!name)
		return find_self(host, network);
	return find_named(host, name) ?
	       usage("host init: --host: %s has no server '%s'", network, name) :
	       ST_DONE;
}

void host_close(struct host *host)
{
	if (host->ifaddrs)
		freeifaddrs(host->ifaddrs);
	json_decref(host->missing);
	json_decref(host->advice);
	plan_clear(&host->plan);
}

/* --- settings --------------------------------------------------------------- */

/* Note a setting; if it is missing, with the command that provides it. */
__printf(3, 4)
static void setting(struct host *host, bool there, const char *fmt, ...)
{
	char command[FIREWALL_FIX_MAX];
	va_list ap;

	host->checked++;
	if (there)
		return;
	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	json_array_append_new(host->missing, json_string(command));
}

static long sysctl_of(const char *device, const char *name)
{
	char path[128];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), CONF4 "%s%s%s%s", device ? "conf/" : "",
		 device ? device : "", device ? "/" : "", name);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ld", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

static bool has_several_ports(const struct host *host)
{
	return aggt_topo_ports(host->plan.topo, host->server) > 1;
}

static const char *port_device(const struct host *host, unsigned int level)
{
	return device_of(host, plan_port_addr(&host->plan, host->server, level));
}

bool host_device_is_plain(const char *device)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@";

	return *device && !device[strspn(device, plain)];
}

static int check_name(const char *device)
{
	if (host_device_is_plain(device))
		return 0;
	err("host: device '%s': a shell would interpret this name; rename it",
	    device);
	return -1;
}

/* In place of a line that is missing, a port would have the identity as its address. */
static int check_port_lines(const struct host *host)
{
	unsigned int level, n = aggt_topo_ports(host->plan.topo, host->server);
	char part[AGGT_PART];

	for (level = 0; level < n; level++) {
		if (!plan_lacks_address(&host->plan, host->server, level, part))
			continue;
		err("host init: %s: no line 'address %s A.B.C.D': each port of this server needs its address",
		    host->file ? host->file : "--topology", part);
		return -1;
	}
	return 0;
}

/* An identity may stand for the address of an only port. */
static int refuse_port(const struct host *host, unsigned int level)
{
	const struct aggt_topo *topo = host->plan.topo;
	const bool line = aggt_topo_port_address(topo, host->server, level);
	char name[AGGT_PART];

	if (line || aggt_topo_digits(topo))
		aggt_port_name(topo, host->server, level, name);
	else
		snprintf(name, sizeof(name), "%s",
			 plan_server_name(&host->plan, host->server));
	err("host init: no device of this host has %s, the address of %s: assign it%s",
	    addr_text(plan_port_addr(&host->plan, host->server, level)), name,
	    !host->file ? "" : line || !aggt_topo_digits(topo) ?
	    ", or correct its line 'address'" : ", or add its line 'address'");
	return -1;
}

static int look_at_devices(struct host *host)
{
	unsigned int level, n = aggt_topo_ports(host->plan.topo, host->server);
	const char *device;

	if (check_port_lines(host))
		return -1;
	for (level = 0; level < n; level++) {
		device = port_device(host, level);
		if (!device)
			return refuse_port(host, level);
		if (check_name(device))
			return -1;
	}
	return 0;
}

/* The larger value of the device and of all devices is in force; 2 is loose. */
static bool is_strict(const char *device)
{
	long all = sysctl_of("all", "rp_filter");
	long own = sysctl_of(device, "rp_filter");

	return (all > own ? all : own) == RP_STRICT;
}

static void look_at_ip(struct host *host)
{
	unsigned int level, n = aggt_topo_ports(host->plan.topo, host->server);
	struct in_addr self = plan_identity(&host->plan, host->server);
	const char *device;

	/* Routes and ports need the devices. */
	for (level = 0; level < n; level++) {
		device = port_device(host, level);
		setting(host, is_set_up(host, device), "ip link set %s up", device);
	}
	setting(host, device_of(host, self), "ip address add %s/32 dev lo",
		addr_text(self));
	/* A neighbour sends by this server what this server may not merge. */
	setting(host, sysctl_of(NULL, "ip_forward") == 1,
		"sysctl -w net.ipv4.ip_forward=1");
	for (level = 0; level < n; level++) {
		device = port_device(host, level);
		setting(host, !is_strict(device),
			"sysctl -w net/ipv4/conf/%s/rp_filter=2", device);
		setting(host, device_mtu(device) >= MTU_EXPECTED,
			"ip link set %s mtu %d", device, MTU_EXPECTED);
	}
}

/* The gateway to a server: the next one on a shortest path. */
static struct in_addr gateway(const struct host *host, aggt_node to)
{
	const struct aggt_topo *topo = host->plan.topo;
	aggt_node next = aggt_topo_next_hop(topo, host->server, to);

	return plan_next_addr(&host->plan, host->server, next,
			      aggt_topo_link_dim(topo, next, host->server));
}

static bool leaves_by_port(const struct host *host,
			   const struct route *route)
{
	unsigned int level, n = aggt_topo_ports(host->plan.topo, host->server);

	for (level = 0; level < n; level++)
		if (if_nametoindex(port_device(host, level)) == route->ifindex)
			return true;
	return false;
}

/*
 * A route that "host init" has made for an earlier description: to one host, from the
 * identity, and by a gateway that is no longer the next one.
 */
static bool is_stale(const struct host *host, const struct route *route,
		     aggt_node to)
{
	return has_several_ports(host) && route->prefix == 32 && !route->kept &&
	       route->source.s_addr ==
	       plan_identity(&host->plan, host->server).s_addr &&
	       route->gateway.s_addr &&
	       route->gateway.s_addr != gateway(host, to).s_addr;
}

/*
 * A default route leads out of the network, unless it leaves by the only port. Programs
 * use the identity as their source, or the answers would have no route.
 */
static bool is_good(const struct host *host, const struct route *route,
		    aggt_node to)
{
	bool by_port = route->found && leaves_by_port(host, route);

	if (!route->found ||
	    (!route->prefix && (has_several_ports(host) || !by_port)))
		return false;
	if (!by_port)
		return true;
	return !is_stale(host, route, to) &&
	       !route_hides(route, plan_identity(&host->plan, host->server));
}

static int look_at_route(struct host *host, aggt_node to)
{
	struct in_addr self = plan_identity(&host->plan, host->server);
	struct in_addr addr = plan_identity(&host->plan, to);
	struct route route;
	char text[INET_ADDRSTRLEN], via[INET_ADDRSTRLEN];
	int error = route_to(addr, 0, &route);

	if (error) {
		err("host: route to %s: %s", addr_text(addr), strerror(-error));
		return -1;
	}
	strcpy(text, addr_text(addr));
	strcpy(via, addr_text(gateway(host, to)));
	setting(host, is_good(host, &route, to),
		"ip route replace %s/32 via %s src %s", text, via,
		addr_text(self));
	return 0;
}

static int look_at_routes(struct host *host)
{
	const struct aggt_topo *topo = host->plan.topo;
	uint32_t to, n = aggt_topo_servers(topo);

	for (to = 0; to < n; to++)
		if (to != host->server && aggt_topo_server_ok(topo, to) &&
		    look_at_route(host, to))
			return -1;
	return 0;
}

/* --- the module ------------------------------------------------------------- */

static const struct aggnet_port_info *
find_port(const struct aggnet_port_info *list, size_t n, const char *device)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].ifname, device))
			return &list[i];
	return NULL;
}

/*
 * What the module has is not known: nothing can be said of it. @what: ports or links, and
 * the command that shows them. Return: -1
 */
static int no_list(const char *what, struct aggnet_ctl *ctl)
{
	err("host init: %ss of this node: %s: repeat this when 'aggctl %s show' prints them",
	    what, aggnet_ctl_error(ctl), what);
	return -1;
}

/* Return: 0, or -1 with an error line printed. */
static int look_at_ports(struct host *host, struct aggnet_ctl *ctl)
{
	unsigned int level, ports = aggt_topo_ports(host->plan.topo, host->server);
	struct aggnet_port_info *list = NULL;
	const struct aggnet_port_info *port;
	const char *device;
	size_t n = 0;
	bool wrong;

	if (ctl && aggnet_port_list(ctl, &list, &n))
		return no_list("port", ctl);
	for (level = 0; level < ports; level++) {
		device = port_device(host, level);
		port = find_port(list, n, device);
		wrong = port && port->level != level;
		if (wrong) {
			setting(host, false, "aggctl port del %s", device);
			host->moved |= UINT64_C(1) << level;
		}
		setting(host, port && !wrong, "aggctl port add %s level %u",
			device, level);
	}
	free(list);
	return 0;
}

static void advise(struct host *host, const char *finding, const char *command)
{
	json_array_append_new(host->advice, json_pack("{s:s, s:s}", "finding",
						      finding, "command",
						      command));
}

/*
 * Names of links belong to the network, and plans of scheme packet need them on servers
 * that have no entry. A topology without digits, or with more values of one than a link
 * holds, has no such plans.
 */
static json_t *named_links(const struct host *host)
{
	const struct aggt_topo *topo = host->plan.topo;
	unsigned int dim, dims = aggt_topo_dims(topo);
	json_t *links = json_array();

	if (!aggt_topo_digits(topo) || aggt_topo_agents(topo))
		return links;
	for (dim = 0; dim < dims; dim++)
		if (aggt_topo_radix(topo, dim) > AGGT_LINK_DIGITS)
			return links;
	plan_name_server(&host->plan, host->server, links);
	return links;
}

static bool has_name(const struct aggnet_link_info *link)
{
	return link->has & AGGNET_HAS(AGGNET_A_LINK_NAME);
}

/**
 * struct links - links of this node
 * @list: of them
 * @n: how many
 */
struct links {
	struct aggnet_link_info *list;
	size_t n;
};

/* Return: 0, or -1 with an error line printed. */
static int wanted_links(const struct host *host, struct links *wanted)
{
	json_t *named = named_links(host), *object;
	struct aggnet_link_info *link;
	json_int_t name, digit;
	const char *port, *to;
	unsigned int level;
	size_t i;

	wanted->n = 0;
	wanted->list = calloc(json_array_size(named) + 1, sizeof(*wanted->list));
	link = wanted->list;
	if (!link) {
		err("host init: out of memory");
		json_decref(named);
		return -1;
	}
	json_array_foreach(named, i, object) {
		if (json_unpack(object, "{s:s, s:s, s:I, s:I}", "port", &port,
				"neighbour", &to, "name", &name, "digit", &digit) ||
		    sscanf(port, "eth%u", &level) != 1 ||
		    inet_pton(AF_INET, to, &link->neighbour) != 1)
			continue;
		link->ifindex = if_nametoindex(port_device(host, level));
		link->name = (uint64_t)name;
		link->digit = (uint8_t)digit;
		link++;
		wanted->n++;
	}
	json_decref(named);
	return 0;
}

/*
 * The links of a port go with it, if it has another level. @ctl: NULL if the module is not
 * loaded. Return: 0, or -1 with an error line printed.
 */
static int present_links(const struct host *host, struct aggnet_ctl *ctl,
			 struct links *now)
{
	unsigned int level, ports = aggt_topo_ports(host->plan.topo, host->server);
	size_t i, n = 0;

	*now = (struct links){};
	if (ctl && aggnet_link_list(ctl, &now->list, &n))
		return no_list("link", ctl);
	for (i = 0; i < n; i++) {
		for (level = 0; level < ports; level++)
			if (host->moved & UINT64_C(1) << level &&
			    if_nametoindex(port_device(host, level)) ==
			    now->list[i].ifindex)
				break;
		if (level == ports)
			now->list[now->n++] = now->list[i];
	}
	return 0;
}

static bool has_same_name(const struct aggnet_link_info *now,
			  const struct aggnet_link_info *link)
{
	return has_name(now) && now->name == link->name &&
	       now->digit == link->digit;
}

/*
 * Is it in the place of a wanted link, or has its neighbour had another address? With two
 * links of one name each packet is sent twice.
 */
static bool is_old(const struct aggnet_link_info *now, const struct links *wanted)
{
	const struct aggnet_link_info *link;
	size_t i;

	link = info_find_link(wanted->list, wanted->n, now);
	if (link)
		return !has_same_name(now, link);
	for (i = 0; i < wanted->n; i++)
		if (wanted->list[i].ifindex == now->ifindex &&
		    has_same_name(now, &wanted->list[i]))
			return true;
	return false;
}

/* The wanted link with the name of this one; NULL: the description does not give it. */
static const struct aggnet_link_info *
with_name_of(const struct aggnet_link_info *now, const struct links *wanted)
{
	size_t i;

	for (i = 0; i < wanted->n; i++)
		if (has_same_name(now, &wanted->list[i]))
			return &wanted->list[i];
	return NULL;
}

/* A link that trees leave by cannot be deleted; one without a name goes with them. */
static void advise_link(struct host *host, const char *device,
			const struct aggnet_link_info *now,
			const struct links *wanted)
{
	const struct aggnet_link_info *other = with_name_of(now, wanted);
	char text[256], to[INET_ADDRSTRLEN];

	strcpy(to, addr_text(now->neighbour));
	if (other)
		snprintf(text, sizeof(text),
			 "the link %s to %s has a name that the description gives to %s, and trees leave by it: packets by names are sent twice until the plan is withdrawn",
			 device, to, addr_text(other->neighbour));
	else
		snprintf(text, sizeof(text),
			 "the link %s to %s has a name of another description, and trees leave by it",
			 device, to);
	if (has_name(now))
		advise(host, text, "aggctl withdraw PLAN.json");
}

static void look_for_old(struct host *host, const struct aggnet_link_info *now,
			 const struct links *wanted)
{
	char device[IF_NAMESIZE];

	if (!if_indextoname(now->ifindex, device))
		return;
	if (now->trees)
		advise_link(host, device, now, wanted);
	else
		setting(host, false, "aggctl link del %s neighbour %s", device,
			addr_text(now->neighbour));
}

/* @now: what is there, or NULL */
static void look_at_link(struct host *host, const struct aggnet_link_info *link,
			 const struct aggnet_link_info *now)
{
	bool same = now && has_same_name(now, link);
	char device[IF_NAMESIZE];

	if (now && now->trees && !same)
		return;
	if (if_indextoname(link->ifindex, device))
		setting(host, same,
			"aggctl link add %s neighbour %s bits 8 hashes 1 capacity 1 name %" PRIu64 " digit %u",
			device, addr_text(link->neighbour), link->name, link->digit);
}

/*
 * A neighbour may have an address that another one has had. Delete first: a later delete
 * could remove a link that was just added. Return: 0, or -1 with an error line printed.
 */
static int look_at_links(struct host *host, struct aggnet_ctl *ctl)
{
	struct links wanted, now;
	size_t i;
	int ret;

	if (wanted_links(host, &wanted))
		return -1;
	ret = present_links(host, ctl, &now);
	for (i = 0; i < now.n; i++)
		if (is_old(&now.list[i], &wanted))
			look_for_old(host, &now.list[i], &wanted);
	for (i = 0; !ret && i < wanted.n; i++)
		look_at_link(host, &wanted.list[i],
			     info_find_link(now.list, now.n, &wanted.list[i]));
	free(wanted.list);
	free(now.list);
	return ret;
}

/*
 * Packets that this server may not merge are forwarded to the next one: that is a setting
 * of the network. What else a firewall lets pass is the user's decision.
 */
static void take_firewall(struct host *host, const struct firewall *firewall)
{
	const struct firewall_drop *d;

	host->checked++;
	if (firewall->forward)
		json_array_append_new(host->missing,
				      json_string(firewall->forward));
	for (d = firewall->drop; d < firewall->drop + firewall->n; d++)
		if (d->hook != FIREWALL_FORWARD || !d->fault || !d->fix[0])
			advise(host, d->finding, d->fix);
	if (firewall->unread[0])
		advise(host, firewall->unread, firewall->unread_fix);
}

static size_t identities_of(const struct host *host, struct in_addr *identity)
{
	const struct aggt_topo *topo = host->plan.topo;
	uint32_t server, servers = aggt_topo_servers(topo);
	size_t n = 0;

	for (server = 0; server < servers; server++)
		if (aggt_topo_server_ok(topo, server))
			identity[n++] = plan_identity(&host->plan, server);
	return n;
}

static void look_at_firewall(struct host *host, uint16_t port)
{
	unsigned int level, n = aggt_topo_ports(host->plan.topo, host->server);
	const char **device = calloc(n + 1, sizeof(*device));
	struct in_addr *identity = calloc(aggt_topo_servers(host->plan.topo),
					  sizeof(*identity));
	struct firewall_packet packet = {
		.port = port, .device = device, .identity = identity,
		.self = plan_identity(&host->plan, host->server),
		.n_identities = identity ? identities_of(host, identity) : 0,
	};
	struct firewall firewall;

	for (level = 0; device && level < n; level++)
		device[packet.n_devices++] = port_device(host, level);
	firewall_look(&firewall, &packet);
	take_firewall(host, &firewall);
	firewall_free(&firewall);
	free(identity);
	free(device);
}

static int look_at_module(struct host *host, uint16_t *port)
{
	struct in_addr self = plan_identity(&host->plan, host->server);
	struct aggnet_node_info node = {};
	struct aggnet_ctl *ctl = NULL;
	bool loaded = !aggnet_ctl_open(&ctl);
	int ret = 0;

	setting(host, loaded, "modprobe aggnet");
	if (loaded && aggnet_node_get(ctl, &node)) {
		err("host init: node: %s", aggnet_ctl_error(ctl));
		ret = -1;
	} else {
		setting(host, node.address.s_addr == self.s_addr,
			"aggctl node set address %s", addr_text(self));
		ret = look_at_ports(host, loaded ? ctl : NULL) ||
		      look_at_links(host, loaded ? ctl : NULL) ? -1 : 0;
	}
	*port = node.port ? node.port : AGGNET_UDP_PORT;
	aggnet_ctl_close(ctl);
	return ret;
}

/* Messages have names, and a boot provides the settings again. */
static void look_at_description(struct host *host)
{
	char *command;

	if (!host->file)
		return;
	host->checked++;
	command = host_description_missing(host->file, host->plan.description);
	if (command)
		json_array_append_new(host->missing, json_string(command));
	free(command);
}

/* A route fails without its device, a firewall's rule for many reasons: these come last. */
int host_look(struct host *host)
{
	uint16_t port;

	if (look_at_devices(host))
		return -1;
	look_at_ip(host);
	if (look_at_module(host, &port) || look_at_routes(host))
		return -1;
	look_at_firewall(host, port);
	look_at_description(host);
	return 0;
}
