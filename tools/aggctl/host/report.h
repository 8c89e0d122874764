/* SPDX-License-Identifier: GPL-2.0 */
/* What this host tells of itself, so that a network can be described. */
#ifndef AGGCTL_REPORT_H
#define AGGCTL_REPORT_H

#include <jansson.h>
#include <stdbool.h>

/* The name of this host, without its domain, in a buffer that the next call overwrites. */
const char *host_own_name(void);

/**
 * host_report() - describe this host
 * @name: its name, which is UTF-8
 * @all: with devices that are not hardware, such as bridges and veth
 *
 * Needs no privilege; only the identity that the module has does.
 *
 * Return: an object with name, identity, module and devices, each with name, mac, mtu,
 * up, rate (bit/s), address, prefixlen and gateway where they are known, and what
 * report_net() adds; or NULL with an error line printed.
 */
json_t *host_report(const char *name, bool all);

/**
 * report_net() - add routes and neighbours to a report
 * @report: "routes" are those by gateways, of the main table, each with device, to,
 *	prefixlen and via; "neighbours" are those that have answered, each with device,
 *	address and mac. What cannot be read is not added
 * @devices: of these only
 */
void report_net(json_t *report, const json_t *devices);

#endif
