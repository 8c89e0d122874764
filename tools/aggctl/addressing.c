// SPDX-License-Identifier: GPL-2.0
/* Names and addresses of nodes that follow from the topology, described or not. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "addressing.h"
#include "aggctl.h"

#define MAX_RADIX		253
/* Addresses of ports, 10.16.0.0 to 10.255.255.255. */
#define PORTS			(240U << 16)

/**
 * addressing_server_name() - name of a server's namespace
 * @server: number of the server
 *
 * Return: a buffer that the next call overwrites.
 */
const char *addressing_server_name(aggt_node server)
{
	static char name[ADDRESSING_NAME_LEN];

	snprintf(name, sizeof(name), "v%u", server);
	return name;
}

/**
 * addressing_switch_name() - name of a switch's namespace
 * @sw: number of the switch
 *
 * Return: a buffer that the next call overwrites.
 */
const char *addressing_switch_name(uint32_t sw)
{
	static char name[ADDRESSING_NAME_LEN];

	snprintf(name, sizeof(name), "w%u", sw);
	return name;
}

/**
 * addressing_identity() - a server's identity, 10.0.a.b
 * @server: number of the server, a * 256 + b - 1
 */
struct in_addr addressing_identity(aggt_node server)
{
	return (struct in_addr){ htonl(10U << 24 | (server + 1)) };
}

/* Servers of an agent are numbered in order. */
static unsigned int per_switch(const struct aggt_topo *topo)
{
	return aggt_topo_servers(topo) / aggt_topo_switches(topo);
}

static bool too_many(const struct aggt_topo *topo)
{
	return aggt_topo_servers(topo) > ADDRESSING_SERVERS ||
	       aggt_topo_switches(topo) > ADDRESSING_SERVERS;
}

/* Bits of an address below the number of the switch. */
static unsigned int digit_bits(const struct aggt_topo *topo)
{
	unsigned int dim, bits = 2;

	if (!too_many(topo) || !aggt_topo_digits(topo))
		return 8;
	/* From d + 1 = 1 to 2^bits - 2. */
	for (dim = 0; dim < aggt_topo_dims(topo); dim++)
		while (aggt_topo_radix(topo, dim) + 2 > 1U << bits)
			bits++;
	return bits;
}

/**
 * addressing_port_addr() - a server's port, 10.(16 + w / 256).w.(d + 1)
 * @topo: the topology; in a large one d has fewer than 8 bits
 * @server: the server, which has digit d at the switch w, its agent perhaps
 * @level: the port
 */
struct in_addr addressing_port_addr(const struct aggt_topo *topo,
				    aggt_node server, unsigned int level)
{
	uint32_t sw = aggt_topo_switch(topo, server, level);
	uint32_t digit = aggt_topo_agents(topo) ? server % per_switch(topo) :
			 aggt_topo_digit(topo, server, level);

	return (struct in_addr){ htonl((10U << 24 | 16U << 16) +
				       (sw << digit_bits(topo)) + digit + 1) };
}

/** addressing_prefixlen() - prefix of the addresses of a switch's ports. */
unsigned int addressing_prefixlen(const struct aggt_topo *topo)
{
	return 32 - digit_bits(topo);
}

static struct in_addr described(const char *text, struct in_addr other)
{
	struct in_addr addr;

	return text && inet_pton(AF_INET, text, &addr) == 1 ? addr : other;
}

/**
 * addressing_name_server() - what a server is called
 * @topo: the topology
 * @server: the server
 *
 * Return: the name in the description, or a buffer that the next call
 * overwrites.
 */
const char *addressing_name_server(const struct aggt_topo *topo,
				   aggt_node server)
{
	const char *name = aggt_topo_server_name(topo, server);

	return name ? name : addressing_server_name(server);
}

/** addressing_name_switch() - what a switch is called, likewise */
const char *addressing_name_switch(const struct aggt_topo *topo, uint32_t sw)
{
	const char *name = aggt_topo_switch_name(topo, sw);

	return name ? name : addressing_switch_name(sw);
}

/** addressing_of_server() - identity of a server, the described one if any */
struct in_addr addressing_of_server(const struct aggt_topo *topo,
				    aggt_node server)
{
	return described(aggt_topo_address(topo, server),
			 addressing_identity(server));
}

/**
 * addressing_of_port() - address of a server's port, the described one if any
 * @topo: the topology
 * @server: the server
 * @level: the port
 *
 * In a graph it is the identity: packets for a server have its identity as their
 * next hop, by whatever port it gets them.
 */
struct in_addr addressing_of_port(const struct aggt_topo *topo,
				  aggt_node server, unsigned int level)
{
	return described(aggt_topo_port_address(topo, server, level),
			 aggt_topo_digits(topo) ?
			 addressing_port_addr(topo, server, level) :
			 addressing_of_server(topo, server));
}

static void set_mac(uint8_t *mac, unsigned int kind, unsigned int port,
		    uint32_t node)
{
	mac[0] = 0x02;
	mac[1] = 0xa6;
	mac[2] = (uint8_t)(kind | node >> 16 << 1);
	mac[3] = (uint8_t)port;
	mac[4] = (uint8_t)(node >> 8);
	mac[5] = (uint8_t)node;
}

/**
 * addressing_server_mac() - hardware address of a server's port
 * @server: the server
 * @level: the port
 * @mac: six bytes
 */
void addressing_server_mac(aggt_node server, unsigned int level, uint8_t *mac)
{
	set_mac(mac, 0, level, server);
}

/** addressing_of_mac() - the same, or the described one */
void addressing_of_mac(const struct aggt_topo *topo, aggt_node server,
		       unsigned int level, uint8_t *mac)
{
	const char *text = aggt_topo_port_lladdr(topo, server, level);

	if (!text || sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", mac,
			    mac + 1, mac + 2, mac + 3, mac + 4, mac + 5) != 6)
		addressing_server_mac(server, level, mac);
}

/**
 * addressing_switch_mac() - hardware address of a switch's port
 * @sw: the switch
 * @digit: the port
 * @mac: six bytes
 */
void addressing_switch_mac(uint32_t sw, unsigned int digit, uint8_t *mac)
{
	set_mac(mac, 1, digit, sw);
}

/* A level whose switches have more ports than addresses; -1 is none. */
static int wide_level(const struct aggt_topo *topo)
{
	unsigned int dim;

	if (aggt_topo_agents(topo))
		return per_switch(topo) > MAX_RADIX ? 0 : -1;
	for (dim = 0; dim < aggt_topo_dims(topo); dim++)
		if (aggt_topo_radix(topo, dim) > MAX_RADIX)
			return (int)dim;
	return -1;
}

/**
 * addressing_fits() - whether the addressing has room for a topology
 * @topo: the topology
 */
bool addressing_fits(const struct aggt_topo *topo)
{
	return aggt_topo_digits(topo) && wide_level(topo) < 0 &&
	       aggt_topo_servers(topo) <= ADDRESSING_IDENTITIES &&
	       aggt_topo_switches(topo) <= PORTS >> digit_bits(topo);
}

/* Switches of one level each, and servers with a port at each level. */
static int check_levels(const struct aggt_topo *topo, bool part)
{
	const char *name = aggt_topo_name(topo);
	int level = wide_level(topo);

	if (addressing_fits(topo) && (part || !too_many(topo)))
		return 0;
	if (!part && too_many(topo))
		err("%s: %u servers and %u switches; a testbed has at most %u of each; 'testbed up --of PLAN' makes those of a plan",
		    name, aggt_topo_servers(topo),
		    aggt_topo_switches(topo), ADDRESSING_SERVERS);
	else if (level < 0)
		err("%s: %u servers and %u switches are more than the addresses allow",
		    name, aggt_topo_servers(topo), aggt_topo_switches(topo));
	else
		err("%s: switches of level %d have %u ports; the addresses allow %u",
		    name, level,
		    aggt_topo_radix(topo, (unsigned int)level), MAX_RADIX);
	return -1;
}

/* Ports have numbers in their hardware addresses; bridges do not route. */
static int check_switches(const struct aggt_topo *topo)
{
	uint32_t i, n = aggt_topo_switches(topo);

	for (i = 0; i < n; i++) {
		const char *name = addressing_name_switch(topo, i);

		if (aggt_topo_switch_address(topo, i)) {
			err("%s: switch %s routes, as its line 'address %s %s' says; the switches of a testbed are bridges: leave the line out",
			    aggt_topo_name(topo), name, name,
			    aggt_topo_switch_address(topo, i));
			return -1;
		}
		if (aggt_topo_switch_ports(topo, i) > MAX_RADIX) {
			err("%s: switch %s has %u ports; the addresses allow %u",
			    aggt_topo_name(topo), name,
			    aggt_topo_switch_ports(topo, i), MAX_RADIX);
			return -1;
		}
	}
	return 0;
}

/* Return: -1 */
static int no_address(const struct aggt_topo *topo, const char *name)
{
	err("%s: no line 'address %s A.B.C.D': in a testbed either all hosts have described addresses or none has one",
	    aggt_topo_name(topo), name);
	return -1;
}

/**
 * addressing_check_server() - refuse a server without address beside others with one
 * @topo: the topology
 * @server: the server
 *
 * Its own one would follow from its number, and may be another's in the description.
 *
 * Return: 0, or -1 with an error line printed.
 */
int addressing_check_server(const struct aggt_topo *topo, aggt_node server)
{
	if (!aggt_topo_addressed(topo) || aggt_topo_address(topo, server))
		return 0;
	return no_address(topo, addressing_name_server(topo, server));
}

/**
 * addressing_check_port() - refuse a port without address beside others with one
 * @topo: the topology
 * @server: its server
 * @level: its level
 *
 * In a graph a port without a described address has that of its server.
 *
 * Return: 0, or -1 with an error line printed.
 */
int addressing_check_port(const struct aggt_topo *topo, aggt_node server,
			  unsigned int level)
{
	char name[AGGT_PART];

	if (!aggt_topo_addressed(topo) || !aggt_topo_digits(topo) ||
	    aggt_topo_port_address(topo, server, level))
		return 0;
	aggt_port_name(topo, server, level, name);
	return no_address(topo, name);
}

static int check_servers(const struct aggt_topo *topo)
{
	aggt_node i, n = aggt_topo_servers(topo);
	unsigned int level;

	for (i = 0; i < n; i++) {
		if (addressing_check_server(topo, i))
			return -1;
		for (level = 0; level < aggt_topo_ports(topo, i); level++)
			if (addressing_check_port(topo, i, level))
				return -1;
	}
	return 0;
}

/* The same identities, addresses and hardware addresses of ports? */
static bool same_addresses(const struct aggt_topo *a, const struct aggt_topo *b)
{
	aggt_node i, n = aggt_topo_servers(a);
	uint8_t mac[2][6];
	unsigned int d;

	if (!aggt_topo_addressed(a) && !aggt_topo_addressed(b))
		return true;
	for (i = 0; i < n; i++) {
		if (addressing_of_server(a, i).s_addr !=
		    addressing_of_server(b, i).s_addr)
			return false;
		for (d = 0; d < aggt_topo_ports(a, i); d++) {
			addressing_of_mac(a, i, d, mac[0]);
			addressing_of_mac(b, i, d, mac[1]);
			if (memcmp(mac[0], mac[1], sizeof(mac[0])) ||
			    addressing_of_port(a, i, d).s_addr !=
			    addressing_of_port(b, i, d).s_addr)
				return false;
		}
	}
	return true;
}

/**
 * addressing_same() - have two descriptions the same nodes with the same addresses?
 * @name: the topology of both; all graphs have the same name
 * @a: one description, NULL: there is only the name
 * @b: the other one, likewise
 *
 * They may differ in what has failed, but for those of a graph.
 */
bool addressing_same(const char *name, const char *a, const char *b)
{
	struct aggt_topo *x, *y;
	struct aggt_err why;
	bool same;

	if (a == b || (a && b && !strcmp(a, b)))
		return true;
	if (!strcmp(name, "graph"))
		return false;
	x = a ? aggt_topo_describe(a, &why) : aggt_topo_parse(name, &why);
	y = b ? aggt_topo_describe(b, &why) : aggt_topo_parse(name, &why);
	same = x && y && !strcmp(aggt_topo_name(x), aggt_topo_name(y)) &&
	       same_addresses(x, y);
	aggt_topo_free(x);
	aggt_topo_free(y);
	return same;
}

/**
 * addressing_check() - refuse a topology that a testbed has no room for
 * @topo: the topology
 * @part: only a part of it gets nodes, which addressing_check_server() and
 *	addressing_check_port() check
 *
 * Return: 0, or -1 with an error line printed.
 */
int addressing_check(const struct aggt_topo *topo, bool part)
{
	uint32_t servers = aggt_topo_servers(topo);
	uint32_t switches = aggt_topo_switches(topo);

	if (aggt_topo_digits(topo) && !aggt_topo_agents(topo))
		return check_levels(topo, part) ||
		       (!part && check_servers(topo)) ? -1 : 0;
	if (part && aggt_topo_agents(topo)) {
		err("%s: the hops of its plans are between switches, not servers: 'testbed up %s' makes all its nodes",
		    aggt_topo_name(topo), aggt_topo_name(topo));
		return -1;
	}
	if (!part && (servers > ADDRESSING_MESH || switches > ADDRESSING_MESH)) {
		err("%s: %u servers and %u switches; a testbed of such a network has at most %u of each%s",
		    aggt_topo_name(topo), servers, switches, ADDRESSING_MESH,
		    aggt_topo_agents(topo) ? "" :
		    "; 'testbed up --of PLAN' makes those of a plan");
		return -1;
	}
	return check_switches(topo) || (!part && check_servers(topo)) ? -1 : 0;
}
