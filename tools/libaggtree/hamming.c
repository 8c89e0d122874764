// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies whose labels have digits: hypercubes of servers with a switch for
 * every line, hypercubes of switches that have servers.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define MAX_SERVERS 0x40000000
#define MAX_AGENTS 0x100000

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

	if (aggt_parse_numbers(args, number, 2, NULL) != 2) {
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
	return lay_out(topo, err);
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
	int n = aggt_parse_numbers(args, topo->radix, AGGT_MAX_DIMS, NULL);

	if (n < 1) {
		aggt_err_set(err, "ghc:%s: expected ghc:N0,N1,... with at most %u numbers",
			     args, AGGT_MAX_DIMS);
		return -1;
	}
	topo->dims = n;
	write_name(topo, "ghc");
	return lay_out(topo, err);
}

static int parse_fbfly(struct aggt_topo *topo, const char *args,
		       struct aggt_err *err)
{
	uint32_t number[3];
	unsigned int d;

	if (aggt_parse_numbers(args, number, 3, NULL) != 3 || number[1] < 2 ||
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
	return lay_out(topo, err);
}

static int parse_hyperx(struct aggt_topo *topo, const char *args,
			struct aggt_err *err)
{
	const char *end;
	size_t len;
	int n;

	n = aggt_parse_numbers(args, topo->radix, AGGT_MAX_DIMS, &end);
	if (n < 1 || *end != ':' ||
	    aggt_parse_numbers(end + 1, &topo->per_point, 1, NULL) != 1 ||
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
	return lay_out(topo, err);
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

static aggt_code encode(const struct aggt_topo *topo, aggt_node server)
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

static uint32_t decode(const struct aggt_topo *topo, aggt_code code)
{
	uint32_t point = 0;
	unsigned int d;

	for (d = 0; d < topo->dims; d++)
		point += ((code & topo->mask[d]) >> topo->shift[d]) *
			 topo->stride[d];
	return point;
}

static uint32_t neighbours(const struct aggt_topo *topo, aggt_code at,
			   aggt_code *list)
{
	uint32_t digit, n = 0;
	unsigned int d;

	for (d = 0; d < topo->dims; d++) {
		for (digit = 0; digit < topo->radix[d]; digit++) {
			aggt_code next = (at & ~topo->mask[d]) |
					 (aggt_code)digit << topo->shift[d];

			if (next == at)
				continue;
			if (list)
				list[n] = next;
			n++;
		}
	}
	return n;
}

static uint32_t distance(const struct aggt_topo *topo, aggt_code from,
			 aggt_code to)
{
	return aggt_weight(topo, from ^ to);
}

/* The highest digit that differs is corrected first. */
static aggt_code next_hop(const struct aggt_topo *topo, aggt_code from,
			  aggt_code to)
{
	unsigned int d = topo->dims;

	while (d--)
		if ((from ^ to) & topo->mask[d])
			return from ^ ((from ^ to) & topo->mask[d]);
	return to;
}

static uint32_t port(const struct aggt_topo *topo, aggt_code from, aggt_code to)
{
	aggt_code diff = from ^ to;
	unsigned int d;

	for (d = 0; d < topo->dims; d++)
		if (diff & topo->mask[d])
			return diff & ~topo->mask[d] ? AGGT_NONE : d;
	return AGGT_NONE;
}

/* A line of servers has a switch, one of switches direct links. */
static uint32_t links_per_hop(const struct aggt_topo *topo)
{
	return topo->agents ? 1 : 2;
}

static uint32_t hop_links(const struct aggt_topo *topo, aggt_code from,
			  aggt_code to)
{
	return distance(topo, from, to) == 1 ? links_per_hop(topo) : 0;
}

static uint32_t path_links(const struct aggt_topo *topo, aggt_code from,
			   aggt_code to)
{
	return distance(topo, from, to) * links_per_hop(topo);
}

/*
 * A server has one link a dimension, so (label, dimension) names the link. A
 * hop goes up to the switch and back down.
 */
static uint64_t hop_link(const struct aggt_topo *topo, aggt_code from,
			 aggt_code to, uint32_t i, bool *back)
{
	if (back)
		*back = topo->agents ? from > to : i;
	if (topo->agents)
		return aggt_trunk(topo, decode(topo, from), decode(topo, to));
	return aggt_tag(i ? to : from, port(topo, from, to));
}

static uint32_t switch_between(const struct aggt_topo *topo, aggt_code from,
			       aggt_code to, uint32_t i)
{
	uint32_t dim = port(topo, from, to);

	if (topo->agents || i || dim == AGGT_NONE)
		return AGGT_NONE;
	return aggt_topo_switch(topo, decode(topo, from), dim);
}

#define DIGITS						\
	.encode = encode,				\
	.decode = decode,				\
	.neighbours = neighbours,			\
	.distance = distance,				\
	.path_links = path_links,				\
	.next_hop = next_hop,				\
	.hop_links = hop_links,				\
	.hop_link = hop_link,				\
	.switch_between = switch_between,		\
	.port = port

const struct aggt_topo_ops aggt_bcube_ops = {
	.kind = "bcube", .form = "bcube:N,K", .parse = parse_bcube, DIGITS
};

const struct aggt_topo_ops aggt_ghc_ops = {
	.kind = "ghc", .form = "ghc:N0,N1,...", .parse = parse_ghc, DIGITS
};

const struct aggt_topo_ops aggt_fbfly_ops = {
	.kind = "fbfly", .form = "fbfly:K,N,C", .parse = parse_fbfly, DIGITS
};

const struct aggt_topo_ops aggt_hyperx_ops = {
	.kind = "hyperx", .form = "hyperx:S0,S1,...:T", .parse = parse_hyperx,
	DIGITS
};
