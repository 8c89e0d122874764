/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A description of a network from the reports of its hosts. Hosts in one subnet are at
 * one switch; subnets that have gateways are joined by these.
 */
#ifndef AGGCTL_DESCRIBE_H
#define AGGCTL_DESCRIBE_H

#include <jansson.h>
#include <stdio.h>

/**
 * describe() - write a description that "--topology @FILE" reads
 * @out: where to
 * @reports: objects of host_report(), in the order of the hosts
 * @identities: "ADDRESS/LENGTH", from which hosts with several ports and without an
 *	identity get one, in their order; or NULL
 * @without: names of devices that do not count, with commas between them; or NULL
 *
 * Nothing is written if there is an error. Warnings tell what an administrator may not
 * expect.
 *
 * Return: 0, or -1 with an error line printed that names the hosts that contradict
 * each other
 */
int describe(FILE *out, const json_t *reports, const char *identities,
	     const char *without);

#endif
