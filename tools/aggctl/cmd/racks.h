/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Racks: members between which packets take less time than between others, from
 * measured round trips and rates.
 */
#ifndef AGGCTL_RACKS_H
#define AGGCTL_RACKS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Longest name of a member, as in descriptions. */
#define RACKS_NAME	47
#define RACKS_MEMBERS	1024

/**
 * struct racks_member - a member of the network
 * @name: its name in the description
 * @addr: its identity
 * @rack: number of its rack, set by racks_find()
 * @rate: most bit/s that were measured with any other member; 0: none
 */
struct racks_member {
	char name[RACKS_NAME + 1];
	struct in_addr addr;
	uint32_t rack;
	uint64_t rate;
};

/**
 * struct racks_pair - what was measured between two members
 * @a: index of one
 * @b: index of the other
 * @rtt: shortest round trip, ns
 * @rate: bit/s; 0: not measured
 */
struct racks_pair {
	uint32_t a;
	uint32_t b;
	uint64_t rtt;
	uint64_t rate;
};

/**
 * struct racks - members, and what was measured between them
 * @member: the members
 * @n_members: how many
 * @pair: measurements, in any order
 * @n_pairs: how many
 * @n_racks: set by racks_find()
 * @within: longest round trip that counts as one within a rack, ns; 0: racks_find()
 *	sets it at the largest gap between measured round trips
 */
struct racks {
	struct racks_member *member;
	uint32_t n_members;
	struct racks_pair *pair;
	uint32_t n_pairs;
	uint32_t n_racks;
	uint64_t within;
};

/*
 * Add a member, or find it by its name. Return: its index, or RACKS_MEMBERS with an
 * error line printed.
 */
uint32_t racks_add(struct racks *racks, const char *name, struct in_addr addr);

/* Return: 0 or -1 without memory. */
int racks_measured(struct racks *racks, const struct racks_pair *pair);

/* Return: 0, or -1 with an error line printed if members were not measured. */
int racks_find(struct racks *racks);

/* Write them as the description of a topology. */
void racks_describe(const struct racks *racks, FILE *out);

void racks_free(struct racks *racks);

#endif
