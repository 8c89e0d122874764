// SPDX-License-Identifier: GPL-2.0
/* Hosts, their ports and subnets, and the description that they make. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "host/describe.h"
#include "info.h"

/**
 * struct port - a device of a host in a subnet
 * @host: index of the host
 * @device: its name
 * @address: its address
 * @length: of the subnet's prefix
 * @mtu: bytes
 * @rate: bit/s, 0: unknown
 * @gateway: of the subnet, 0: unknown
 * @subnet: index of the subnet
 */
struct port {
	size_t host;
	const char *device;
	struct in_addr address;
	unsigned int length;
	long long mtu;
	long long rate;
	struct in_addr gateway;
	size_t subnet;
};

/**
 * struct subnet - what becomes a switch
 * @first: its first port
 * @hosts: how many hosts have one
 * @routed: it is joined to others by its gateway
 */
struct subnet {
	const struct port *first;
	size_t hosts;
	bool routed;
};

/**
 * struct host_row - a host
 * @name: its name
 * @identity: 0: none yet
 * @ports: how many of its ports are described
 * @group: hosts of one number reach each other
 */
struct host_row {
	const char *name;
	struct in_addr identity;
	size_t ports;
	size_t group;
};

struct net {
	struct host_row *host;
	size_t n_hosts;
	struct port *port;
	size_t n_ports;
	struct subnet *subnet;
	size_t n_subnets;
};

static uint32_t mask_of(unsigned int length)
{
	return length ? ~0U << (32 - length) : 0;
}

static uint32_t network_of(const struct port *p)
{
	return ntohl(p->address.s_addr) & mask_of(p->length);
}

static const char *name_of(const struct net *net, const struct port *p)
{
	return net->host[p->host].name;
}

/* "192.168.10.0/24", in a buffer that the next call overwrites. */
static const char *subnet_text(const struct port *p)
{
	static char text[INET_ADDRSTRLEN + 4];
	const struct in_addr network = { htonl(network_of(p)) };

	snprintf(text, sizeof(text), "%s/%u", addr_text(network), p->length);
	return text;
}

/* --- reports --------------------------------------------------------------- */

static bool take_addr(const json_t *object, const char *name,
		      struct in_addr *addr)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text && inet_pton(AF_INET, text, addr) == 1;
}

static bool overlap(const struct port *a, const struct port *b)
{
	unsigned int least = a->length < b->length ? a->length : b->length;

	return !((network_of(a) ^ network_of(b)) & mask_of(least));
}

/* A further address of a device in the same subnet. */
static bool is_further(const struct net *net, const struct port *p)
{
	size_t i;

	for (i = 0; i < net->n_ports; i++)
		if (net->port[i].host == p->host &&
		    !strcmp(net->port[i].device, p->device) &&
		    overlap(&net->port[i], p))
			return true;
	return false;
}

static int take_port(struct net *net, size_t host, const json_t *device)
{
	struct port *p = &net->port[net->n_ports];
	json_int_t length = json_integer_value(json_object_get(device,
							       "prefixlen"));

	*p = (struct port){
		.host = host,
		.device = json_string_value(json_object_get(device, "name")),
		.mtu = json_integer_value(json_object_get(device, "mtu")),
		.rate = json_integer_value(json_object_get(device, "rate")),
	};
	if (!p->device || !take_addr(device, "address", &p->address) ||
	    length < 1 || length > 32) {
		err("describe: the report of %s has a device without name, address or prefixlen",
		    net->host[host].name);
		return -1;
	}
	p->length = (unsigned int)length;
	take_addr(device, "gateway", &p->gateway);
	/* A /32 is an identity, not a network. */
	net->n_ports += length < 31 && !is_further(net, p);
	return 0;
}

static int take_host(struct net *net, const json_t *report)
{
	struct host_row *host = &net->host[net->n_hosts];
	json_t *devices = json_object_get(report, "devices"), *device;
	size_t i;

	host->name = json_string_value(json_object_get(report, "name"));
	if (!host->name || !host->name[0] || !json_is_array(devices)) {
		err("describe: report %zu has no name or no devices: is it of 'aggctl host report'?",
		    net->n_hosts + 1);
		return -1;
	}
	for (i = 0; i < net->n_hosts; i++) {
		if (strcmp(net->host[i].name, host->name))
			continue;
		err("describe: reports %zu and %zu are both of a host %s: 'aggctl host report --name' gives another name",
		    i + 1, net->n_hosts + 1, host->name);
		return -1;
	}
	take_addr(report, "identity", &host->identity);
	json_array_foreach(devices, i, device)
		if (take_port(net, net->n_hosts, device))
			return -1;
	net->n_hosts++;
	return 0;
}

static int take_reports(struct net *net, const json_t *reports)
{
	size_t i, ports = 1, n = json_array_size(reports);
	json_t *report;

	json_array_foreach((json_t *)reports, i, report)
		ports += json_array_size(json_object_get(report, "devices"));
	net->host = calloc(n + 1, sizeof(*net->host));
	net->port = calloc(ports, sizeof(*net->port));
	net->subnet = calloc(ports, sizeof(*net->subnet));
	if (!net->host || !net->port || !net->subnet) {
		err("out of memory");
		return -1;
	}
	json_array_foreach((json_t *)reports, i, report)
		if (take_host(net, report))
			return -1;
	return 0;
}

/* --- subnets --------------------------------------------------------------- */

static int contradicts(const struct net *net, const struct port *a,
		       const struct port *b)
{
	char first[INET_ADDRSTRLEN + 4];

	strcpy(first, subnet_text(a));
	if (a->address.s_addr == b->address.s_addr)
		err("describe: %s is the address of %s of %s and of %s of %s",
		    addr_text(a->address), a->device, name_of(net, a),
		    b->device, name_of(net, b));
	else if (a->length != b->length)
		err("describe: subnet %s of %s of %s and %s of %s of %s overlap: use one length",
		    first, a->device, name_of(net, a), subnet_text(b),
		    b->device, name_of(net, b));
	else if (a->host == b->host)
		err("describe: %s and %s of %s are both in %s: use one of them",
		    a->device, b->device, name_of(net, a), first);
	else if (a->mtu != b->mtu)
		err("describe: in %s the MTU is %lld at %s of %s and %lld at %s of %s: use one",
		    first, a->mtu, a->device, name_of(net, a), b->mtu,
		    b->device, name_of(net, b));
	else if (a->gateway.s_addr && b->gateway.s_addr &&
		 a->gateway.s_addr != b->gateway.s_addr)
		err("describe: in %s, %s and %s have different gateways: use one",
		    first, name_of(net, a), name_of(net, b));
	else
		return 0;
	return -1;
}

static int join_subnet(struct net *net, struct port *p)
{
	struct subnet *s;
	size_t i;

	for (i = 0; i < (size_t)(p - net->port); i++)
		if (overlap(&net->port[i], p) &&
		    contradicts(net, &net->port[i], p))
			return -1;
	for (i = 0; i < net->n_subnets; i++)
		if (network_of(net->subnet[i].first) == network_of(p))
			break;
	s = &net->subnet[i];
	if (i == net->n_subnets) {
		s->first = p;
		net->n_subnets++;
	}
	s->hosts++;
	p->subnet = i;
	return 0;
}

/* A port of the subnet that knows the gateway, NULL: none does. */
static const struct port *router_of(const struct net *net, size_t subnet)
{
	const struct port *p = net->port;

	for (; p < net->port + net->n_ports; p++)
		if (p->subnet == subnet && p->gateway.s_addr &&
		    !((ntohl(p->gateway.s_addr) ^ network_of(p)) &
		      mask_of(p->length)))
			return p;
	return NULL;
}

static void merge_groups(struct net *net, size_t a, size_t b)
{
	size_t from = net->host[b].group, to = net->host[a].group, i;

	for (i = 0; i < net->n_hosts; i++)
		if (net->host[i].group == from)
			net->host[i].group = to;
}

/* A host that does not reach the first one, 0: all do. */
static size_t find_apart(const struct net *net)
{
	size_t i;

	for (i = 1; i < net->n_hosts; i++)
		if (net->host[i].group != net->host[0].group)
			return i;
	return 0;
}

/* Hosts reach each other in their subnets; else by the gateways of these. */
static int connect_hosts(struct net *net)
{
	const struct port *router = NULL;
	size_t i;

	for (i = 0; i < net->n_hosts; i++)
		net->host[i].group = i;
	for (i = 0; i < net->n_ports; i++)
		merge_groups(net, net->subnet[net->port[i].subnet].first->host,
			     net->port[i].host);
	if (!find_apart(net))
		return 0;
	for (i = 0; i < net->n_subnets; i++) {
		if (!router_of(net, i))
			continue;
		net->subnet[i].routed = true;
		if (router)
			merge_groups(net, router->host,
				     net->subnet[i].first->host);
		else
			router = net->subnet[i].first;
	}
	i = find_apart(net);
	if (!i)
		return 0;
	err("describe: no way from %s to %s: they share no subnet, and not both have a gateway",
	    net->host[0].name, net->host[i].name);
	return -1;
}

static bool is_described(const struct net *net, const struct port *p)
{
	const struct subnet *s = &net->subnet[p->subnet];

	return s->hosts > 1 || s->routed;
}

/* --- identities ------------------------------------------------------------ */

static const char *owner(const struct net *net, struct in_addr addr,
			 size_t but)
{
	size_t i;

	for (i = 0; i < net->n_ports; i++)
		if (net->port[i].address.s_addr == addr.s_addr &&
		    (net->port[i].host != but || net->host[but].ports > 1))
			return name_of(net, &net->port[i]);
	for (i = 0; i < net->n_hosts; i++)
		if (i != but && net->host[i].identity.s_addr == addr.s_addr)
			return net->host[i].name;
	return NULL;
}

static int parse_range(const char *text, uint32_t *next, uint32_t *last)
{
	const char *slash = strchr(text, '/');
	char address[INET_ADDRSTRLEN] = "";
	struct in_addr addr;
	uint32_t length;

	if (slash && slash - text < INET_ADDRSTRLEN)
		memcpy(address, text, (size_t)(slash - text));
	if (!slash || inet_pton(AF_INET, address, &addr) != 1 ||
	    !value_parse(OPT_U32, slash + 1, &length) || length < 8 ||
	    length > 30 || ntohl(addr.s_addr) & ~mask_of(length)) {
		err("describe: --identities: '%s' is not a subnet such as 10.0.0.0/24",
		    text);
		return -1;
	}
	*next = ntohl(addr.s_addr) + 1;
	*last = ntohl(addr.s_addr) | ~mask_of(length);
	return 0;
}

/* With one port its address is the identity. */
static void take_port_address(struct net *net, size_t host)
{
	const struct port *p = net->port;

	for (; p < net->port + net->n_ports; p++)
		if (p->host == host && is_described(net, p))
			net->host[host].identity = p->address;
}

static int give_identity(struct net *net, size_t i, uint32_t *next,
			 uint32_t last)
{
	struct host_row *host = &net->host[i];

	if (host->ports == 1)
		take_port_address(net, i);
	while (!host->identity.s_addr && *next < last) {
		const struct in_addr addr = { htonl((*next)++) };

		if (!owner(net, addr, i))
			host->identity = addr;
	}
	if (host->identity.s_addr)
		return 0;
	err(last ? "describe: --identities has no address left for %s" :
	    "describe: %s has several ports and no identity: --identities SUBNET gives it one",
	    host->name);
	return -1;
}

static int give_identities(struct net *net, const char *identities)
{
	uint32_t next = 0, last = 0;
	const char *other;
	size_t i;

	if (identities && parse_range(identities, &next, &last))
		return -1;
	for (i = 0; i < net->n_ports; i++)
		net->host[net->port[i].host].ports +=
			is_described(net, &net->port[i]);
	for (i = 0; i < net->n_hosts; i++) {
		if (give_identity(net, i, &next, last))
			return -1;
	}
	for (i = 0; i < net->n_hosts; i++) {
		other = owner(net, net->host[i].identity, i);
		if (!other)
			continue;
		err("describe: %s, the identity of %s, is an address of %s, too",
		    addr_text(net->host[i].identity), net->host[i].name, other);
		return -1;
	}
	return 0;
}

/* --- the description ------------------------------------------------------- */

static void write_switches(FILE *out, const struct net *net)
{
	size_t i;

	for (i = 0; i < net->n_subnets; i++)
		if (is_described(net, net->subnet[i].first))
			fprintf(out, "switch switch%zu	# %s\n", i + 1,
				subnet_text(net->subnet[i].first));
	for (i = 0; i < net->n_subnets; i++)
		if (net->subnet[i].routed) {
			fputs("switch routers\n", out);
			return;
		}
}

static void write_links(FILE *out, const struct net *net)
{
	const struct port *p = net->port;
	size_t i;

	for (; p < net->port + net->n_ports; p++) {
		if (!is_described(net, p)) {
			fprintf(out, "# no other host is in %s, the subnet of %s of %s\n",
				subnet_text(p), p->device, name_of(net, p));
			continue;
		}
		fprintf(out, "link %s switch%zu", name_of(net, p),
			p->subnet + 1);
		if (p->rate)
			fprintf(out, " %lldM", p->rate / 1000000);
		fprintf(out, "	# %s\n", p->device);
	}
	for (i = 0; i < net->n_subnets; i++)
		if (net->subnet[i].routed)
			fprintf(out, "link switch%zu routers\n", i + 1);
}

static void write_addresses(FILE *out, const struct net *net)
{
	const struct port *p = net->port;
	size_t i;

	for (i = 0; i < net->n_hosts; i++)
		fprintf(out, "address %s %s\n", net->host[i].name,
			addr_text(net->host[i].identity));
	for (; p < net->port + net->n_ports; p++)
		if (is_described(net, p) && net->host[p->host].ports > 1)
			fprintf(out, "address %s-switch%zu %s\n",
				name_of(net, p), p->subnet + 1,
				addr_text(p->address));
	for (i = 0; i < net->n_subnets; i++)
		if (net->subnet[i].routed)
			fprintf(out, "address switch%zu %s\n", i + 1,
				addr_text(router_of(net, i)->gateway));
}

static void write_all(FILE *out, const struct net *net)
{
	size_t i;

	fprintf(out, "# from the reports of %zu hosts, by aggctl describe\n",
		net->n_hosts);
	fputs("topology graph\n", out);
	for (i = 0; i < net->n_hosts; i++)
		fprintf(out, "host %s\n", net->host[i].name);
	write_switches(out, net);
	write_links(out, net);
	write_addresses(out, net);
}

int describe(FILE *out, const json_t *reports, const char *identities)
{
	struct net net = {};
	int ret = take_reports(&net, reports);
	size_t i;

	for (i = 0; !ret && i < net.n_ports; i++)
		ret = join_subnet(&net, &net.port[i]);
	if (!ret && net.n_hosts < 2) {
		err("describe: a network has two hosts or more, and there is a report of %zu",
		    net.n_hosts);
		ret = -1;
	}
	if (!ret)
		ret = connect_hosts(&net);
	if (!ret)
		ret = give_identities(&net, identities);
	if (!ret)
		write_all(out, &net);
	free(net.host);
	free(net.port);
	free(net.subnet);
	return ret;
}
