// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies: hypercubes of servers with a switch for every line, hypercubes
 * of switches that have servers. Parsing, labels, neighbours, numbers.
 */
#include <ctype.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define MAX_SERVERS 0x40000000
#define MAX_AGENTS 0x100000

/* Read numbers separated by commas up to the end or, with @end, a colon. */
static int parse_numbers(const char *text, uint32_t *number, unsigned int room,
			 const char **end)
{
	unsigned int n = 0;
	char *stop;

	for (;;) {
		unsigned long value;

		if (!isdigit((unsigned char)*text) || n == room)
			return -1;
		value = strtoul(text, &stop, 10);
		if (value > UINT32_MAX)
			return -1;
		number[n++] = value;
		if (*stop != ',')
			break;
		text = stop + 1;
	}
	if (end)
		*end = stop;
	else if (*stop)
		return -1;
	return n;
}

static unsigned int bits_for(uint32_t radix)
{
	unsigned int bits = 1;

	while (1ull << bits < radix)
		bits++;
	return bits;
}

/* Strides and label fields of the points from the radices. */
static int lay_points(struct aggt_topo *topo, struct aggt_err *err)
{
	unsigned int d, shift = 0;
	uint64_t points = 1;

	for (d = 0; d < topo->dims; d++) {
		if (topo->radix[d] < 2) {
			aggt_err_set(err, "%s: dimension %u has %u places, needs 2",
				     topo->name, d, topo->radix[d]);
			return -1;
		}
		topo->stride[d] = points;
		points *= topo->radix[d];
		if (points * topo->per_point > MAX_SERVERS ||
		    (topo->agents && points > MAX_AGENTS)) {
			aggt_err_set(err, "%s: more than %u servers or %u switches with servers",
				     topo->name, MAX_SERVERS, MAX_AGENTS);
			return -1;
		}
		topo->shift[d] = shift;
		topo->mask[d] = ((1ull << bits_for(topo->radix[d])) - 1) << shift;
		shift += bits_for(topo->radix[d]);
		topo->high |= 1ull << (shift - 1);
		topo->low |= topo->mask[d] & ~topo->high;
	}
	topo->points = points;
	topo->servers = points * topo->per_point;
	return 0;
}

static int lay_out(struct aggt_topo *topo, struct aggt_err *err)
{
	uint64_t switches = 0;
	unsigned int d;

	if (lay_points(topo, err))
		return -1;
	for (d = 0; d < topo->dims; d++) {
		topo->switch_base[d] = switches;
		switches += topo->points / topo->radix[d];
		if (switches >= AGGT_NONE) {
			aggt_err_set(err, "%s: too many switches", topo->name);
			return -1;
		}
	}
	topo->switch_base[d] = switches;
	topo->switches = topo->agents ? topo->points : switches;
	return 0;
}

static int parse_bcube(struct aggt_topo *topo, const char *args,
		       struct aggt_err *err)
{
	uint32_t number[2];
	unsigned int d;

	if (parse_numbers(args, number, 2, NULL) != 2) {
		aggt_err_set(err, "bcube:%s: expected bcube:N,K", args);
		return -1;
	}
	if (number[1] >= AGGT_MAX_DIMS) {
		aggt_err_set(err, "bcube:%s: K is at most %u", args,
			     AGGT_MAX_DIMS - 1);
		return -1;
	}
	topo->dims = number[1] + 1;
	for (d = 0; d < topo->dims; d++)
		topo->radix[d] = number[0];
	snprintf(topo->name, sizeof(topo->name), "bcube:%u,%u", number[0],
		 number[1]);
	return 0;
}

static void write_name(struct aggt_topo *topo, const char *kind)
{
	int len = snprintf(topo->name, sizeof(topo->name), "%s", kind);
	unsigned int d;

	for (d = 0; d < topo->dims && len < (int)sizeof(topo->name); d++)
		len += snprintf(topo->name + len, sizeof(topo->name) - len,
				"%c%u", d ? ',' : ':', topo->radix[d]);
}

static int parse_ghc(struct aggt_topo *topo, const char *args,
		     struct aggt_err *err)
{
	int n = parse_numbers(args, topo->radix, AGGT_MAX_DIMS, NULL);

	if (n < 1) {
		aggt_err_set(err, "ghc:%s: expected ghc:N0,N1,... with at most %u numbers",
			     args, AGGT_MAX_DIMS);
		return -1;
	}
	topo->dims = n;
	write_name(topo, "ghc");
	return 0;
}

static int parse_fbfly(struct aggt_topo *topo, const char *args,
		       struct aggt_err *err)
{
	uint32_t number[3];
	unsigned int d;

	if (parse_numbers(args, number, 3, NULL) != 3 || number[1] < 2 ||
	    number[1] > AGGT_MAX_DIMS + 1 || !number[2]) {
		aggt_err_set(err, "fbfly:%s: expected fbfly:K,N,C, K-ary N-flat (N at least 2) with C servers a switch",
			     args);
		return -1;
	}
	topo->agents = true;
	topo->per_point = number[2];
	topo->dims = number[1] - 1;
	for (d = 0; d < topo->dims; d++)
		topo->radix[d] = number[0];
	snprintf(topo->name, sizeof(topo->name), "fbfly:%u,%u,%u", number[0],
		 number[1], number[2]);
	return 0;
}

static int parse_hyperx(struct aggt_topo *topo, const char *args,
			struct aggt_err *err)
{
	const char *end;
	size_t len;
	int n;

	n = parse_numbers(args, topo->radix, AGGT_MAX_DIMS, &end);
	if (n < 1 || *end != ':' ||
	    parse_numbers(end + 1, &topo->per_point, 1, NULL) != 1 ||
	    !topo->per_point) {
		aggt_err_set(err, "hyperx:%s: expected hyperx:S0,S1,...:T with T servers a switch",
			     args);
		return -1;
	}
	topo->agents = true;
	topo->dims = n;
	write_name(topo, "hyperx");
	len = strlen(topo->name);
	snprintf(topo->name + len, sizeof(topo->name) - len, ":%u",
		 topo->per_point);
	return 0;
}

static const struct {
	const char *prefix;
	int (*parse)(struct aggt_topo *topo, const char *args,
		     struct aggt_err *err);
} kinds[] = {
	{ "bcube:", parse_bcube },
	{ "ghc:", parse_ghc },
	{ "fbfly:", parse_fbfly },
	{ "hyperx:", parse_hyperx },
};

struct aggt_topo *aggt_topo_parse(const char *text, struct aggt_err *err)
{
	struct aggt_topo *topo;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		len = strlen(kinds[i].prefix);
		if (!strncmp(text, kinds[i].prefix, len))
			break;
	}
	if (i == ARRAY_SIZE(kinds)) {
		aggt_err_set(err, "topology %.64s: expected bcube:N,K, ghc:N0,N1,..., fbfly:K,N,C or hyperx:S0,S1,...:T",
			     text);
		return NULL;
	}
	topo = calloc(1, sizeof(*topo));
	if (!topo) {
		aggt_err_nomem(err);
		return NULL;
	}
	topo->per_point = 1;
	if (kinds[i].parse(topo, text + len, err) || lay_out(topo, err)) {
		free(topo);
		return NULL;
	}
	if (aggt_map_init(&topo->fault, 0) ||
	    aggt_map_init(&topo->address, 0)) {
		aggt_err_nomem(err);
		aggt_topo_free(topo);
		return NULL;
	}
	return topo;
}

void aggt_topo_free(struct aggt_topo *topo)
{
	if (!topo)
		return;
	aggt_map_free(&topo->fault);
	aggt_map_free(&topo->address);
	free(topo->text);
	free(topo);
}

const char *aggt_topo_name(const struct aggt_topo *topo)
{
	return topo->name;
}

uint32_t aggt_topo_servers(const struct aggt_topo *topo)
{
	return topo->servers;
}

uint32_t aggt_topo_switches(const struct aggt_topo *topo)
{
	return topo->switches;
}

bool aggt_topo_agents(const struct aggt_topo *topo)
{
	return topo->agents;
}

unsigned int aggt_topo_dims(const struct aggt_topo *topo)
{
	return topo->dims;
}

unsigned int aggt_topo_radix(const struct aggt_topo *topo, unsigned int dim)
{
	return topo->radix[dim];
}

unsigned int aggt_topo_digit(const struct aggt_topo *topo, aggt_node server,
			     unsigned int dim)
{
	return server / topo->per_point / topo->stride[dim] % topo->radix[dim];
}

aggt_node aggt_topo_with_digit(const struct aggt_topo *topo, aggt_node server,
			       unsigned int dim, unsigned int digit)
{
	return server + (digit - aggt_topo_digit(topo, server, dim)) *
			topo->stride[dim] * topo->per_point;
}

unsigned int aggt_topo_distance(const struct aggt_topo *topo, aggt_node a,
				aggt_node b)
{
	return aggt_weight(topo, aggt_encode(topo, a) ^ aggt_encode(topo, b));
}

uint32_t aggt_topo_link_dim(const struct aggt_topo *topo, aggt_node a,
			    aggt_node b)
{
	aggt_code diff = aggt_encode(topo, a) ^ aggt_encode(topo, b);
	unsigned int d;

	for (d = 0; d < topo->dims; d++)
		if (diff & topo->mask[d])
			return diff & ~topo->mask[d] ? AGGT_NONE : d;
	return AGGT_NONE;
}

/* The label of a switch is the server's without the digit of its level. */
uint32_t aggt_topo_switch(const struct aggt_topo *topo, aggt_node server,
			  unsigned int dim)
{
	uint32_t below = server % topo->stride[dim];
	uint32_t above = server / topo->stride[dim] / topo->radix[dim];

	if (topo->agents)
		return server / topo->per_point;
	return topo->switch_base[dim] + above * topo->stride[dim] + below;
}

unsigned int aggt_topo_switch_level(const struct aggt_topo *topo, uint32_t sw)
{
	unsigned int d = 0;

	if (topo->agents)
		return 0;
	while (sw >= topo->switch_base[d + 1])
		d++;
	return d;
}

aggt_node aggt_topo_switch_server(const struct aggt_topo *topo, uint32_t sw,
				  unsigned int digit)
{
	unsigned int dim = aggt_topo_switch_level(topo, sw);
	uint32_t label = sw - topo->switch_base[dim];
	uint32_t below = label % topo->stride[dim];
	uint32_t above = label / topo->stride[dim];

	if (topo->agents)
		return sw * topo->per_point + digit;
	return (above * topo->radix[dim] + digit) * topo->stride[dim] + below;
}

aggt_node aggt_topo_next_hop(const struct aggt_topo *topo, aggt_node from,
			     aggt_node to)
{
	unsigned int d = topo->dims;

	while (d--) {
		unsigned int digit = aggt_topo_digit(topo, to, d);

		if (aggt_topo_digit(topo, from, d) != digit)
			return aggt_topo_with_digit(topo, from, d, digit);
	}
	return to;
}

aggt_code aggt_encode(const struct aggt_topo *topo, aggt_node server)
{
	aggt_code code = 0;
	unsigned int d;

	server /= topo->per_point;
	for (d = 0; d < topo->dims; d++) {
		code |= (aggt_code)(server % topo->radix[d]) << topo->shift[d];
		server /= topo->radix[d];
	}
	return code;
}

uint32_t aggt_decode(const struct aggt_topo *topo, aggt_code code)
{
	uint32_t point = 0;
	unsigned int d;

	for (d = 0; d < topo->dims; d++)
		point += ((code & topo->mask[d]) >> topo->shift[d]) *
			 topo->stride[d];
	return point;
}
