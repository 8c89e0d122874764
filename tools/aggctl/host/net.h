/* SPDX-License-Identifier: GPL-2.0 */
/* A network as its hosts report it: net.c takes reports, describe.c finds subnets. */
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

/**
 * struct net - hosts, their ports, and the subnets that these are in
 * @host: array, in the order of the reports; the names are those of the JSON
 * @n_hosts: its length
 * @port: array, in the order of the hosts
 * @n_ports: its length
 * @subnet: array with room for one for each port
 * @n_subnets: how many there are
 */
struct net {
	struct host_row *host;
	size_t n_hosts;
	struct port *port;
	size_t n_ports;
	struct subnet *subnet;
	size_t n_subnets;
};

/**
 * net_take() - check reports, in which anything may be, and take hosts and ports
 * @net: cleared first; net_free() in any case
 * @reports: objects of host_report(), which live as long as @net
 *
 * Return: 0, or -1 with an error line printed that names the host and the fault
 */
int net_take(struct net *net, const json_t *reports);
void net_free(struct net *net);

/* The bits of a prefix, and the network of a port, in host order. */
uint32_t net_mask(unsigned int length);
uint32_t net_of(const struct port *p);
bool net_overlap(const struct port *a, const struct port *b);

#endif
