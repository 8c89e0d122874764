/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network as its hosts report it: net.c takes reports, describe.c finds subnets, and
 * net_warn.c doubts them.
 */
#ifndef AGGCTL_NET_H
#define AGGCTL_NET_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct port - a device of a host in a subnet
 * @host: index of the host
 * @device: its name
 * @address: its address
 * @length: of the subnet's prefix
 * @mtu: bytes
 * @rate: bit/s, 0: unknown
 * @gateway: as the host has it by this device, 0: unknown
 * @down: it is not up, or has no carrier
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
	bool down;
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

/**
 * struct net - hosts, their ports, and the subnets that these are in
 * @host: array, in the order of the reports; the names are those of the JSON
 * @n_hosts: its length
 * @port: array, in the order of the hosts
 * @n_ports: its length
 * @left_out: addresses of devices that do not count
 * @subnet: array with room for one for each port
 * @n_subnets: how many there are
 */
struct net {
	struct host_row *host;
	size_t n_hosts;
	struct port *port;
	size_t n_ports;
	size_t left_out;
	struct subnet *subnet;
	size_t n_subnets;
};

/**
 * net_take() - check reports, in which anything may be, and take hosts and ports
 * @net: cleared first; net_free() in any case
 * @reports: objects of host_report(), which live as long as @net
 * @without: names of devices that do not count, with commas between them; or NULL
 *
 * Return: an exit status, ST_DONE or with an error line printed that names the host and the
 * fault; ST_USAGE: no host has a device of @without
 */
int net_take(struct net *net, const json_t *reports, const char *without);
void net_free(struct net *net);

/* The bits of a prefix, and the network of a port, in host order. */
uint32_t net_mask(unsigned int length);
uint32_t net_of(const struct port *p);
bool net_overlap(const struct port *a, const struct port *b);

/*
 * Can a line of the description have this name, and is it not the name of a switch that
 * describe makes?
 */
bool net_is_name(const char *name);

/* The name of a port's host. */
const char *net_name(const struct net *net, const struct port *p);

/* "192.168.10.0/24", in a buffer that the next call overwrites. */
const char *net_text(const struct port *p);

/* Has the port a gateway in its subnet? */
bool net_has_gateway(const struct port *p);

/* Is the port in the description? Its subnets were found. */
bool net_is_described(const struct net *net, const struct port *p);

/* Print gateways that are not used because they are outside of their subnets. */
void net_warn_gateways(const struct net *net);

/*
 * Print which ports are in the description although they are down, or by far slower
 * than others, or are not in it although they are faster, and which MTUs differ.
 */
void net_warn(const struct net *net);

#endif
