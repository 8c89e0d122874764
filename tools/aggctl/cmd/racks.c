// SPDX-License-Identifier: GPL-2.0
/* Racks from measured round trips and rates, and their description. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "cmd/racks.h"

/* Round trips of one network differ by less than this factor. */
#define GAP	2

uint32_t racks_add(struct racks *racks, const char *name, struct in_addr addr)
{
	struct racks_member *m;
	uint32_t i;

	for (i = 0; i < racks->n_members; i++) {
		if (strcmp(racks->member[i].name, name))
			continue;
		if (racks->member[i].addr.s_addr == addr.s_addr)
			return i;
		err("probe: member '%s' has two addresses", name);
		return RACKS_MEMBERS;
	}
	if (i == RACKS_MEMBERS) {
		err("probe: member '%s': no more than %u are possible", name, i);
		return RACKS_MEMBERS;
	}
	m = realloc(racks->member, (i + 1) * sizeof(*m));
	if (!m) {
		err("probe: out of memory");
		return RACKS_MEMBERS;
	}
	racks->member = m;
	m[i] = (struct racks_member){ .addr = addr, .rack = i };
	snprintf(m[i].name, sizeof(m[i].name), "%s", name);
	return racks->n_members++;
}

int racks_measured(struct racks *racks, const struct racks_pair *pair)
{
	uint32_t n = racks->n_pairs;
	struct racks_pair *more = racks->pair;

	/* The array doubles when it is full. */
	if (!(n & (n - 1))) {
		more = realloc(more, (n ? 2 * n : 1) * sizeof(*more));
		if (!more)
			return -1;
		racks->pair = more;
	}
	more[racks->n_pairs++] = *pair;
	return 0;
}

static int by_rtt(const void *a, const void *b)
{
	const struct racks_pair *x = a, *y = b;

	return x->rtt < y->rtt ? -1 : x->rtt > y->rtt;
}

/* The round trip below the largest gap; all of them if no gap is large. */
static uint64_t find_gap(const struct racks *racks)
{
	uint64_t within = UINT64_MAX;
	double most = GAP, ratio;
	uint32_t i;

	for (i = 1; i < racks->n_pairs; i++) {
		const struct racks_pair *p = &racks->pair[i];

		ratio = (double)p->rtt / (double)(p[-1].rtt ? p[-1].rtt : 1);
		if (ratio >= most) {
			most = ratio;
			within = p[-1].rtt;
		}
	}
	return within;
}

static void join(struct racks *racks, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = 0; i < racks->n_members; i++)
		if (racks->member[i].rack == from)
			racks->member[i].rack = to;
}

/* Number the racks in the order of their first members. */
static void number(struct racks *racks)
{
	struct racks_member *m = racks->member;
	uint32_t i, j;

	racks->n_racks = 0;
	for (i = 0; i < racks->n_members; i++) {
		for (j = 0; j < i && m[j].rack != m[i].rack; j++)
			;
		if (j < i)
			continue;
		/* Numbers above those of members, until all are given. */
		join(racks, m[i].rack, RACKS_MEMBERS + racks->n_racks++);
	}
	for (i = 0; i < racks->n_members; i++)
		m[i].rack -= RACKS_MEMBERS;
}

static int check_measured(const struct racks *racks)
{
	bool *seen = calloc(racks->n_members + 1, sizeof(*seen));
	uint32_t i;

	if (!seen) {
		err("out of memory");
		return -1;
	}
	for (i = 0; i < racks->n_pairs; i++)
		seen[racks->pair[i].a] = seen[racks->pair[i].b] = true;
	for (i = 0; i < racks->n_members && seen[i]; i++)
		;
	free(seen);
	if (i < racks->n_members) {
		err("probe: nothing was measured with '%s': run 'aggctl probe measure' there",
		    racks->member[i].name);
		return -1;
	}
	return 0;
}

int racks_find(struct racks *racks)
{
	uint32_t i;

	if (!racks->n_pairs) {
		err("probe: nothing was measured: give files that 'aggctl probe measure' wrote");
		return -1;
	}
	if (check_measured(racks))
		return -1;
	qsort(racks->pair, racks->n_pairs, sizeof(*racks->pair), by_rtt);
	if (!racks->within)
		racks->within = find_gap(racks);
	for (i = 0; i < racks->n_pairs; i++) {
		const struct racks_pair *p = &racks->pair[i];
		struct racks_member *a = &racks->member[p->a];
		struct racks_member *b = &racks->member[p->b];

		if (p->rtt <= racks->within && a->rack != b->rack)
			join(racks, a->rack, b->rack);
		a->rate = p->rate > a->rate ? p->rate : a->rate;
		b->rate = p->rate > b->rate ? p->rate : b->rate;
	}
	number(racks);
	return 0;
}

/* What left or entered a rack: the most of its members' pairs; 0: unknown. */
static uint64_t uplink_rate(const struct racks *racks, uint32_t rack)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < racks->n_pairs; i++) {
		const struct racks_pair *p = &racks->pair[i];
		uint32_t a = racks->member[p->a].rack;
		uint32_t b = racks->member[p->b].rack;

		if (a != b && (a == rack || b == rack) && p->rate > most)
			most = p->rate;
	}
	return most;
}

static void describe_link(FILE *out, const char *a, const char *b, uint32_t rack,
			  uint64_t rate)
{
	fprintf(out, "link %s %s-%u", a, b, rack + 1);
	if (rate)
		fprintf(out, " %" PRIu64, rate);
	fputc('\n', out);
}

void racks_describe(const struct racks *racks, FILE *out)
{
	char addr[INET_ADDRSTRLEN];
	uint32_t i;

	fputs("topology graph\n", out);
	for (i = 0; i < racks->n_members; i++)
		fprintf(out, "host %s\n", racks->member[i].name);
	for (i = 0; i < racks->n_racks; i++)
		fprintf(out, "switch rack-%u\n", i + 1);
	if (racks->n_racks > 1)
		fputs("switch core\n", out);
	for (i = 0; i < racks->n_members; i++)
		describe_link(out, racks->member[i].name, "rack",
			      racks->member[i].rack, racks->member[i].rate);
	for (i = 0; racks->n_racks > 1 && i < racks->n_racks; i++)
		describe_link(out, "core", "rack", i, uplink_rate(racks, i));
	for (i = 0; i < racks->n_members; i++)
		fprintf(out, "address %s %s\n", racks->member[i].name,
			inet_ntop(AF_INET, &racks->member[i].addr, addr,
				  sizeof(addr)));
}

void racks_free(struct racks *racks)
{
	free(racks->member);
	free(racks->pair);
}
