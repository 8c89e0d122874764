// SPDX-License-Identifier: GPL-2.0
/* Names and addresses of nodes that follow from the topology alone. */
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

/**
 * addressing_check() - refuse a topology that the addressing has no room for
 * @topo: the topology
 * @part: only a part of it gets nodes
 *
 * Return: 0, or -1 with an error line printed.
 */
int addressing_check(const struct aggt_topo *topo, bool part)
{
	const char *name = aggt_topo_name(topo);
	int level = wide_level(topo);

	if (addressing_fits(topo) && !aggt_topo_agents(topo) &&
	    (part || !too_many(topo)))
		return 0;
	if (!aggt_topo_digits(topo))
		err("%s: a testbed is of bcube or ghc: its addresses follow from the digits of labels",
		    name);
	else if (aggt_topo_agents(topo))
		err("%s: a testbed is of bcube or ghc: it has no links between switches",
		    name);
	else if (!part && too_many(topo))
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
