// SPDX-License-Identifier: GPL-2.0
/* Takes hosts and ports from reports, which may be of any program. */
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "host/net.h"
#include "info.h"

#define NAME_ROOM	64
#define MTU_LEAST	68	/* of IPv4 */
#define MBIT		1000000LL
#define RATE_MOST	(100000000 * MBIT)

uint32_t net_mask(unsigned int length)
{
	return length ? ~0U << (32 - length) : 0;
}

uint32_t net_of(const struct port *p)
{
	return ntohl(p->address.s_addr) & net_mask(p->length);
}

bool net_overlap(const struct port *a, const struct port *b)
{
	unsigned int least = a->length < b->length ? a->length : b->length;

	return !((net_of(a) ^ net_of(b)) & net_mask(least));
}

const char *net_name(const struct net *net, const struct port *p)
{
	return net->host[p->host].name;
}

const char *net_text(const struct port *p)
{
	static char text[INET_ADDRSTRLEN + 4];
	const struct in_addr network = { htonl(net_of(p)) };

	snprintf(text, sizeof(text), "%s/%u", addr_text(network), p->length);
	return text;
}

bool net_has_gateway(const struct port *p)
{
	return p->gateway.s_addr &&
	       !((ntohl(p->gateway.s_addr) ^ net_of(p)) & net_mask(p->length));
}

bool net_is_described(const struct net *net, const struct port *p)
{
	const struct subnet *s = &net->subnet[p->subnet];

	return s->hosts > 1 || s->routed;
}

/* A description has names as words, and comments. */
static bool is_word(const char *text, size_t room)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (!isgraph((unsigned char)text[i]) || text[i] == '#')
			return false;
	return i && i < room;
}

/* The description calls switches so. */
static bool is_taken(const char *name)
{
	const char *number = name + strlen("switch");

	return !strcmp(name, "routers") ||
	       (!strncmp(name, "switch", strlen("switch")) && *number &&
		!number[strspn(number, "0123456789")]);
}

bool net_is_name(const char *name)
{
	return is_word(name, NAME_ROOM) && !is_taken(name);
}

static int take_name(struct net *net, struct host_row *host,
		     const json_t *report)
{
	size_t i;

	host->name = json_string_value(json_object_get(report, "name"));
	if (!host->name || !json_is_array(json_object_get(report, "devices"))) {
		err("describe: report %zu has no name or no devices: is it of 'aggctl host report'?",
		    net->n_hosts + 1);
		return -1;
	}
	if (!net_is_name(host->name)) {
		err("describe: report %zu: a host cannot be called '%.64s': 'aggctl host report --name' gives another name",
		    net->n_hosts + 1, host->name);
		return -1;
	}
	for (i = 0; i < net->n_hosts; i++) {
		if (strcmp(net->host[i].name, host->name))
			continue;
		err("describe: reports %zu and %zu are both of a host %s: 'aggctl host report --name' gives another name",
		    i + 1, net->n_hosts + 1, host->name);
		return -1;
	}
	return 0;
}

static bool take_addr(const json_t *object, const char *name,
		      struct in_addr *addr)
{
	const char *text = json_string_value(json_object_get(object, name));
	unsigned int first;

	if (!text || inet_pton(AF_INET, text, addr) != 1)
		return false;
	first = ntohl(addr->s_addr) >> 24;
	return first && first != IN_LOOPBACKNET && first < 224;
}

/* Absent: 0. */
static bool take_other(const json_t *object, const char *name,
		       struct in_addr *addr)
{
	return !json_object_get(object, name) || take_addr(object, name, addr);
}

/* Neither the subnet's own address nor that of all its hosts. */
static bool is_host_addr(const struct port *p)
{
	uint32_t host = ntohl(p->address.s_addr) & ~net_mask(p->length);

	return p->length >= 31 || (host && host != ~net_mask(p->length));
}

static const char *take_fields(struct port *p, const json_t *device)
{
	json_int_t length = json_integer_value(json_object_get(device,
							       "prefixlen"));

	p->device = json_string_value(json_object_get(device, "name"));
	p->mtu = json_integer_value(json_object_get(device, "mtu"));
	p->rate = json_integer_value(json_object_get(device, "rate"));
	p->down = json_is_false(json_object_get(device, "up"));
	if (!p->device || !is_word(p->device, IF_NAMESIZE))
		return "without the name of a device";
	if (length < 1 || length > 32)
		return "without prefixlen of 1 to 32";
	p->length = (unsigned int)length;
	if (!take_addr(device, "address", &p->address) || !is_host_addr(p))
		return "without an address that a host can have";
	if (!take_other(device, "gateway", &p->gateway))
		return "with a gateway that is no address of a host";
	if (p->mtu < MTU_LEAST || p->mtu > INT32_MAX)
		return "without an MTU of IPv4";
	if (p->rate && (p->rate < MBIT || p->rate > RATE_MOST))
		return "with a rate that is not 1 Mbit/s to 100 Tbit/s";
	return NULL;
}

/* A further address of a device in the same subnet. */
static bool is_further(const struct net *net, const struct port *p)
{
	size_t i;

	for (i = net->n_ports; i-- > 0 && net->port[i].host == p->host; )
		if (!strcmp(net->port[i].device, p->device) &&
		    net_overlap(&net->port[i], p))
			return true;
	return false;
}

static bool is_listed(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (; list; list = strchr(list, ','), list += !!list)
		if (!strncmp(list, word, len) &&
		    (!list[len] || list[len] == ','))
			return true;
	return false;
}

static int take_port(struct net *net, size_t number, const json_t *device,
		     const char *without)
{
	struct port *p = &net->port[net->n_ports];
	const char *wrong;

	*p = (struct port){ .host = net->n_hosts };
	wrong = take_fields(p, device);
	if (wrong) {
		err("describe: the report of %s has a device, number %zu, %s",
		    net->host[p->host].name, number, wrong);
		return -1;
	}
	/* A /32 is an identity, not a network. */
	if (is_listed(without, p->device))
		net->left_out++;
	else
		net->n_ports += p->length < 32 && !is_further(net, p);
	return 0;
}

static int take_host(struct net *net, const json_t *report,
		     const char *without)
{
	struct host_row *host = &net->host[net->n_hosts];
	json_t *device;
	size_t i;

	if (take_name(net, host, report))
		return -1;
	if (!take_other(report, "identity", &host->identity)) {
		err("describe: the report of %s has an identity that is no address of a host",
		    host->name);
		return -1;
	}
	if (!json_array_size(json_object_get(report, "devices"))) {
		err("describe: the report of %s has no device: 'aggctl host report --all > FILE' on it also reports bridges and tunnels",
		    host->name);
		return -1;
	}
	json_array_foreach(json_object_get(report, "devices"), i, device)
		if (take_port(net, i + 1, device, without))
			return -1;
	net->n_hosts++;
	return 0;
}

int net_take(struct net *net, const json_t *reports, const char *without)
{
	size_t i, ports = 1, n = json_array_size(reports);
	json_t *report;

	*net = (struct net){};
	json_array_foreach((json_t *)reports, i, report)
		ports += json_array_size(json_object_get(report, "devices"));
	net->host = calloc(n + 1, sizeof(*net->host));
	net->port = calloc(ports, sizeof(*net->port));
	net->subnet = calloc(ports, sizeof(*net->subnet));
	if (!net->host || !net->port || !net->subnet)
		return fail("out of memory");
	json_array_foreach((json_t *)reports, i, report)
		if (take_host(net, report, without))
			return ST_FAILED;
	if (!without || net->left_out)
		return ST_DONE;
	return usage("describe: --not: no host has a device %s", without);
}

void net_free(struct net *net)
{
	free(net->host);
	free(net->port);
	free(net->subnet);
}
