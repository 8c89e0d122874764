/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A description of a network from the reports of its hosts. Hosts in one subnet are at
 * one switch; subnets that have gateways are joined by these.
 */
#ifndef AGGCTL_DESCRIBE_H
#define AGGCTL_DESCRIBE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct describe_range - addresses that hosts may get
 * @next: the first one, in host order
 * @last: behind the last one
 */
struct describe_range {
	uint32_t next;
	uint32_t last;
};

/**
 * describe_range() - parse the addresses of a subnet
 * @text: "ADDRESS/LENGTH"
 * @range: filled
 *
 * Return: 0, or -1 with an error line printed
 */
int describe_range(const char *text, struct describe_range *range);

/**
 * describe() - write a description that "--topology @FILE" reads
 * @out: where to
 * @reports: objects of host_report(), in the order of the hosts
 * @identities: hosts with several ports and without an identity get one of these, in
 *	their order; empty: none
 * @without: names of devices that do not count, with commas between them; or NULL
 *
 * Nothing is written if there is an error. Warnings tell what an administrator may not
 * expect.
 *
 * Return: an exit status, ST_DONE or with an error line printed that names the hosts that
 * contradict each other, or that names a device of @without that no host has
 */
int describe(FILE *out, const json_t *reports,
	     struct describe_range identities, const char *without);

/**
 * describe_name() - check the name of a host before it reports
 * @name: the value of --name, or the name of this host
 * @given: it is that of --name
 *
 * Return: ST_DONE or ST_USAGE, then an error line is out
 */
int describe_name(const char *name, bool given);

#endif
