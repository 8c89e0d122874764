// SPDX-License-Identifier: GPL-2.0
/* Hosts, their ports and subnets, and the description that they make. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "aggtree.h"
#include "host/describe.h"
#include "host/net.h"
#include "info.h"

/* --- subnets --------------------------------------------------------------- */

static int contradicts(const struct net *net, const struct port *a,
		       const struct port *b)
{
	char first[INET_ADDRSTRLEN + 4];

	strcpy(first, net_text(a));
	if (a->address.s_addr == b->address.s_addr)
		err("describe: %s is the address of %s of %s and of %s of %s",
		    addr_text(a->address), a->device, net_name(net, a),
		    b->device, net_name(net, b));
	else if (a->length != b->length)
		err("describe: subnet %s of %s of %s and %s of %s of %s overlap: use one length",
		    first, a->device, net_name(net, a), net_text(b),
		    b->device, net_name(net, b));
	else if (a->host == b->host)
		err("describe: %s and %s of %s are both in %s: use one of them",
		    a->device, b->device, net_name(net, a), first);
	else if (a->mtu != b->mtu)
		err("describe: in %s the MTU is %lld at %s of %s and %lld at %s of %s: use one",
		    first, a->mtu, a->device, net_name(net, a), b->mtu,
		    b->device, net_name(net, b));
	else if (a->gateway.s_addr && b->gateway.s_addr &&
		 a->gateway.s_addr != b->gateway.s_addr)
		err("describe: in %s, %s and %s have different gateways: use one",
		    first, net_name(net, a), net_name(net, b));
	else
		return 0;
	return -1;
}

static int join_subnet(struct net *net, struct port *p)
{
	struct subnet *s;
	size_t i;

	for (i = 0; i < (size_t)(p - net->port); i++)
		if (net_overlap(&net->port[i], p) &&
		    contradicts(net, &net->port[i], p))
			return -1;
	for (i = 0; i < net->n_subnets; i++)
		if (net_of(net->subnet[i].first) == net_of(p))
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
		if (p->subnet == subnet && net_has_gateway(p))
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

/*
 * Subnets with gateways are joined, also if their hosts share another subnet: that may be
 * a slow one for management.
 */
static void join_routed(struct net *net)
{
	size_t i, n = 0, first = 0;

	for (i = 0; i < net->n_subnets; i++)
		if (router_of(net, i) && !n++)
			first = i;
	for (i = first; n > 1 && i < net->n_subnets; i++) {
		if (!router_of(net, i))
			continue;
		net->subnet[i].routed = true;
		merge_groups(net, net->subnet[first].first->host,
			     net->subnet[i].first->host);
	}
}

/* Hosts reach each other in their subnets, and by the gateways of these. */
static int connect_hosts(struct net *net)
{
	size_t i;

	for (i = 0; i < net->n_hosts; i++)
		net->host[i].group = i;
	for (i = 0; i < net->n_ports; i++)
		merge_groups(net, net->subnet[net->port[i].subnet].first->host,
			     net->port[i].host);
	join_routed(net);
	i = find_apart(net);
	if (!i)
		return 0;
	err("describe: no way from %s to %s: they share no subnet, and not both have a gateway",
	    net->host[0].name, net->host[i].name);
	return -1;
}

/* --- identities ------------------------------------------------------------ */

static const char *owner(const struct net *net, struct in_addr addr,
			 size_t but)
{
	size_t i;

	for (i = 0; i < net->n_ports; i++)
		if (net->port[i].address.s_addr == addr.s_addr &&
		    (net->port[i].host != but || net->host[but].ports > 1))
			return net_name(net, &net->port[i]);
	for (i = 0; i < net->n_hosts; i++)
		if (i != but && net->host[i].identity.s_addr == addr.s_addr)
			return net->host[i].name;
	return NULL;
}

int describe_range(const char *text, struct describe_range *range)
{
	const char *slash = strchr(text, '/');
	char address[INET_ADDRSTRLEN] = "";
	struct in_addr addr;
	uint32_t length;

	if (slash && slash - text < INET_ADDRSTRLEN)
		memcpy(address, text, (size_t)(slash - text));
	if (!slash || inet_pton(AF_INET, address, &addr) != 1 ||
	    !value_parse(OPT_U32, slash + 1, &length) || length < 8 ||
	    length > 30 || ntohl(addr.s_addr) & ~net_mask(length)) {
		err("describe: --identities: '%s' is not a subnet such as 10.0.0.0/24",
		    text);
		return -1;
	}
	range->next = ntohl(addr.s_addr) + 1;
	range->last = ntohl(addr.s_addr) | ~net_mask(length);
	return 0;
}

/* An address of a subnet may be that of a machine that has not reported. */
static int check_range(const struct net *net, const struct describe_range *range)
{
	const struct port *p = net->port;
	uint32_t first;

	for (; range->last && p < net->port + net->n_ports; p++) {
		first = net_of(p);
		if (range->next > (first | ~net_mask(p->length)) ||
		    range->last < first)
			continue;
		err("describe: --identities: it has addresses of %s, the subnet of %s of %s: use a subnet that no NIC is in",
		    net_text(p), p->device, net_name(net, p));
		return -1;
	}
	return 0;
}

/* With one port its address is the identity. */
static void take_port_address(struct net *net, size_t host)
{
	const struct port *p = net->port;

	for (; p < net->port + net->n_ports; p++)
		if (p->host == host && net_is_described(net, p))
			net->host[host].identity = p->address;
}

static int give_identity(struct net *net, size_t i,
			 struct describe_range *range)
{
	struct host_row *host = &net->host[i];

	if (host->ports == 1)
		take_port_address(net, i);
	while (!host->identity.s_addr && range->next < range->last) {
		const struct in_addr addr = { htonl(range->next++) };

		if (!owner(net, addr, i))
			host->identity = addr;
	}
	if (host->identity.s_addr)
		return 0;
	err(range->last ? "describe: --identities has no address left for %s" :
	    "describe: %s has several ports and no identity: --identities SUBNET gives it one",
	    host->name);
	return -1;
}

static int give_identities(struct net *net, struct describe_range range)
{
	const char *other;
	size_t i;

	for (i = 0; i < net->n_ports; i++)
		net->host[net->port[i].host].ports +=
			net_is_described(net, &net->port[i]);
	for (i = 0; i < net->n_hosts; i++) {
		if (give_identity(net, i, &range))
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
		if (net_is_described(net, net->subnet[i].first))
			fprintf(out, "switch switch%zu	# %s\n", i + 1,
				net_text(net->subnet[i].first));
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
		if (!net_is_described(net, p)) {
			fprintf(out, "# no other host is in %s, the subnet of %s of %s\n",
				net_text(p), p->device, net_name(net, p));
			continue;
		}
		fprintf(out, "link %s switch%zu", net_name(net, p),
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
		if (net_is_described(net, p) && net->host[p->host].ports > 1)
			fprintf(out, "address %s-switch%zu %s\n",
				net_name(net, p), p->subnet + 1,
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

/* What is wrong with a description that the user does not see, without its line; or NULL */
static const char *fault_of(const char *text, struct aggt_err *why)
{
	struct aggt_topo *topo = aggt_topo_describe(text, why);
	const char *fault;

	if (topo) {
		aggt_topo_free(topo);
		return NULL;
	}
	fault = strncmp(why->text, "line ", 5) ? NULL : strstr(why->text, ": ");
	return fault ? fault + 2 : why->text;
}

/* What was written must be a description: a name may be one that none has. */
static int check_all(const char *text)
{
	struct aggt_err why;
	const char *fault = fault_of(text, &why);

	if (fault)
		err("describe: the reports make no description: %s", fault);
	return fault ? -1 : 0;
}

int describe_name(const char *name, bool given)
{
	const char *option = given ? "--name: " : "";
	const char *next = given ? "" : ": give --name";
	const char *other = strcmp(name, "a") ? "a" : "b", *fault;
	struct aggt_err why;
	char text[256];

	if (!net_is_name(name))
		return usage("host report: %sa host cannot be called '%s'%s",
			     option, name, next);
	snprintf(text, sizeof(text), "topology graph\nhost %s\nhost %s\nlink %s %s\n",
		 name, other, name, other);
	fault = fault_of(text, &why);
	return fault ? usage("host report: %s%s%s", option, fault, next) : ST_DONE;
}

static int write_checked(FILE *out, const struct net *net)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int ret = -1;

	if (f) {
		write_all(f, net);
		ret = fclose(f);
	}
	if (ret)
		err("out of memory");
	else
		ret = check_all(text);
	if (!ret)
		fputs(text, out);
	free(text);
	return ret;
}

static int describe_net(FILE *out, struct net *net, struct describe_range identities)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < net->n_ports; i++)
		ret = join_subnet(net, &net->port[i]);
	if (!ret && net->n_hosts < 2) {
		err("describe: a network has two hosts or more, and the reports are of %zu: run 'aggctl host report' on the other hosts, too",
		    net->n_hosts);
		ret = -1;
	}
	if (!ret) {
		net_warn_gateways(net);
		ret = connect_hosts(net);
	}
	if (!ret)
		ret = check_range(net, &identities);
	if (!ret)
		ret = give_identities(net, identities);
	if (!ret)
		ret = write_checked(out, net);
	if (!ret)
		net_warn(net);
	return ret;
}

int describe(FILE *out, const json_t *reports,
	     struct describe_range identities, const char *without)
{
	struct net net;
	int st = net_take(&net, reports, without);

	if (!st && describe_net(out, &net, identities))
		st = ST_FAILED;
	net_free(&net);
	return st;
}
