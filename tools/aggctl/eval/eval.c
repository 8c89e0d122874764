// SPDX-License-Identifier: GPL-2.0
/* The experiments: each a figure or table of a paper, with its own settings. */
#include <stdio.h>

#include "aggctl.h"
#include "eval/eval.h"

static void set(struct eval_setting *s, double x, uint32_t senders,
		uint32_t receivers, double delta)
{
	s->x = x;
	s->senders = senders;
	s->receivers = receivers;
	s->delta = delta;
	s->managed = false;
}

static size_t by_k(struct eval_setting *s, size_t room, unsigned int last,
		   uint32_t senders, uint32_t receivers)
{
	unsigned int k;
	size_t n = 0;

	for (k = 2; k <= last && n < room; k++, n++) {
		set(&s[n], k, senders, receivers, 0);
		snprintf(s[n].topology, sizeof(s[n].topology), "bcube:6,%u", k);
	}
	return n;
}

static size_t by_size(struct eval_setting *s, size_t room, const char *topology,
		      const uint32_t *size, size_t n, bool shuffle)
{
	size_t i;

	for (i = 0; i < n && i < room; i++) {
		set(&s[i], shuffle ? 2 * size[i] : size[i], size[i],
		    shuffle ? size[i] : 1, 0);
		snprintf(s[i].topology, sizeof(s[i].topology), "%s", topology);
	}
	return i;
}

/* Six values of delta: their mean by the trapezoid rule is a uniform one's. */
static size_t by_delta(struct eval_setting *s, size_t room, uint32_t senders,
		       uint32_t receivers)
{
	size_t i;

	for (i = 0; i < 6 && i < room; i++) {
		set(&s[i], i * 0.2, senders, receivers, i * 0.2);
		snprintf(s[i].topology, sizeof(s[i].topology), "bcube:8,5");
	}
	return i;
}

static size_t by_receivers(struct eval_setting *s, size_t room, bool managed)
{
	static const uint32_t receivers[] = { 1, 6, 12, 18, 24, 30 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(receivers) && i < room; i++) {
		set(&s[i], receivers[i], 500, receivers[i], 0);
		s[i].managed = managed;
		snprintf(s[i].topology, sizeof(s[i].topology), "bcube:8,5");
	}
	return i;
}

static size_t fig4_000(struct eval_setting *s, size_t room)
{
	return by_k(s, room, 8, 60, 60);
}

static size_t fig5_000(struct eval_setting *s, size_t room)
{
	static const uint32_t size[] = { 50, 100, 200, 400, 700, 1000, 1500 };

	return by_size(s, room, "bcube:8,5", size, ARRAY_SIZE(size), true);
}

static size_t fig6a_000(struct eval_setting *s, size_t room)
{
	return by_delta(s, room, 250, 250);
}

static size_t fig6b_000(struct eval_setting *s, size_t room)
{
	return by_delta(s, room, 1000, 1000);
}

static size_t fig5_001(struct eval_setting *s, size_t room)
{
	return by_k(s, room, 8, 120, 1);
}

static const uint32_t incast_size[] = {
	100, 300, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000
};

static size_t fig6_001(struct eval_setting *s, size_t room)
{
	return by_size(s, room, "bcube:4,8", incast_size,
		       ARRAY_SIZE(incast_size), false);
}

static size_t fig5_004(struct eval_setting *s, size_t room)
{
	return by_k(s, room, 9, 120, 1);
}

static size_t fig6_004(struct eval_setting *s, size_t room)
{
	return by_size(s, room, "bcube:8,5", incast_size,
		       ARRAY_SIZE(incast_size), false);
}

static size_t fig7a_004(struct eval_setting *s, size_t room)
{
	return by_delta(s, room, 500, 1);
}

static size_t fig7b_004(struct eval_setting *s, size_t room)
{
	return by_delta(s, room, 4000, 1);
}

static size_t fig8a_004(struct eval_setting *s, size_t room)
{
	return by_receivers(s, room, false);
}

static size_t fig8b_004(struct eval_setting *s, size_t room)
{
	return by_receivers(s, room, true);
}

#define EXISTING	{ "existing", "existing", 0 }
#define UNICAST(paper)	{ "unicast", "unicast:random", paper }
#define UNJOINED	{ "unjoined", "unjoined", 0 }
#define GETPARENT	{ "getParent", "unicast", 0 }
#define BEST		{ "best sequence", "rs:best", 0 }
#define AUTO		{ "auto", "auto", 0 }

const struct eval evals[] = {
	{
		.name = "000-fig4",
		.title = "000 Fig. 4 and Table 1: size of the data centre",
		.definition = "BCube(6,k), 60 senders, 60 receivers, delta 0; unicast follows the tree where it meets it",
		.xlabel = "k", .rounds = 10, .settings = fig4_000,
		.method = { EXISTING, UNICAST(17.64),
			    { "Steiner", "steiner", 28.76 },
			    { "incast", "irs", 32.69 }, { "SRS", "srs", 32.87 },
			    { "SRS, safe rule", "srs:safe", 0 }, GETPARENT,
			    BEST },
		.panel = { EVAL_COST, EVAL_LINKS, EVAL_AGGREGATING,
			   EVAL_INPUT },
		.note = "The Steiner curve does not reproduce: the construction that the paper describes saves more than IRS, by much longer ways.",
	},
	{
		.name = "000-fig5",
		.title = "000 Fig. 5: size of the shuffle",
		.definition = "BCube(8,5), m = n, delta 0; the paper has 30 sizes up to 1500",
		.xlabel = "members", .rounds = 1, .settings = fig5_000,
		.method = { EXISTING, UNICAST(34.46),
			    { "Steiner", "steiner", 44.89 },
			    { "incast", "irs", 55.29 }, { "SRS", "srs", 55.33 },
			    GETPARENT, BEST },
		.panel = { EVAL_COST, EVAL_LINKS, EVAL_AGGREGATING },
		.note = "The paper's means are near those of the summed traffic, not of the settings. The Steiner curve does not reproduce.",
	},
	{
		.name = "000-fig6a",
		.title = "000 Fig. 6(a): aggregation ratio, m = n = 250",
		.definition = "BCube(8,5), delta uniform in 0..1",
		.xlabel = "delta", .rounds = 1, .settings = fig6a_000,
		.method = { EXISTING, UNICAST(0), { "SRS", "srs", 28.78 },
			    GETPARENT, BEST },
		.note = "Does not reproduce: flows grow as they merge, and the paper's saving needs flows whose sizes are reset at each server.",
	},
	{
		.name = "000-fig6b",
		.title = "000 Fig. 6(b): aggregation ratio, m = n = 1000",
		.definition = "BCube(8,5), delta uniform in 0..1",
		.xlabel = "delta", .rounds = 1, .settings = fig6b_000,
		.method = { EXISTING, UNICAST(0), { "SRS", "srs", 45.05 },
			    GETPARENT, BEST },
		.note = "Does not reproduce, as Fig. 6(a).",
	},
	{
		.name = "001-fig5",
		.title = "001 Fig. 5: size of the data centre",
		.definition = "BCube(6,k), 120 senders, delta 0; the paper says that M2 costs 3 % less than IRS on average",
		.xlabel = "k", .rounds = 20, .settings = fig5_001,
		.method = { EXISTING, UNICAST(0), { "IRS", "irs", 0 },
			    { "MIB", "mib", 0 }, { "MC", "mc", 0 },
			    { "M2", "m2", 0 }, GETPARENT, BEST, AUTO },
		.panel = { EVAL_COST, EVAL_AGGREGATING, EVAL_ADDED, EVAL_LINKS,
			   EVAL_INPUT },
		.versus = { "M2 over IRS", { "m2", "irs" }, 3 },
		.note = "M2 is not better than IRS everywhere: it costs more in BCube(6,3).",
	},
	{
		.name = "001-fig6",
		.title = "001 Fig. 6: number of senders",
		.definition = "BCube(4,8), delta 0; the paper says that M2 costs 19 % less than IRS on average",
		.xlabel = "senders", .rounds = 2, .settings = fig6_001,
		.method = { EXISTING, UNICAST(0), { "IRS", "irs", 0 },
			    { "MIB", "mib", 0 }, { "MC", "mc", 0 },
			    { "M2", "m2", 0 }, GETPARENT, BEST, AUTO },
		.panel = { EVAL_COST, EVAL_LINKS },
		.versus = { "M2 over IRS", { "m2", "irs" }, 19 },
		.note = "From 500 senders on, MC alone costs less than M2.",
	},
	{
		.name = "004-fig5",
		.title = "004 Fig. 5: size of the data centre",
		.definition = "BCube(6,k), 120 senders, delta 0; unjoined flows merge only if they go on to the same server",
		.xlabel = "k", .rounds = 20, .settings = fig5_004,
		.method = { EXISTING, UNICAST(18), UNJOINED, GETPARENT,
			    { "ARS", "ars", 39 }, BEST, AUTO },
		.panel = { EVAL_COST, EVAL_LINKS, EVAL_AGGREGATING,
			   EVAL_INPUT },
		.note = "The paper's 18 % of unicast is near that of unjoined flows. Hops within a stage bring ARS below the best sequence without them.",
	},
	{
		.name = "004-fig6",
		.title = "004 Fig. 6: number of senders",
		.definition = "BCube(8,5), delta 0; the paper's 27 % of unicast is of unjoined flows",
		.xlabel = "senders", .rounds = 2, .settings = fig6_004,
		.method = { EXISTING, UNICAST(27), UNJOINED, GETPARENT,
			    { "ARS", "ars", 59 }, BEST, AUTO },
		.panel = { EVAL_COST, EVAL_LINKS },
		.note = "getParent corrects digits in one order for all, so its flows meet far more often than flows that draw their ways. The paper's mean of ARS is near that of the summed traffic.",
	},
	{
		.name = "004-fig7a",
		.title = "004 Fig. 7(a): aggregation ratio, 500 senders",
		.definition = "BCube(8,5), delta uniform in 0..1",
		.xlabel = "delta", .rounds = 5, .settings = fig7a_004,
		.method = { EXISTING, UNICAST(0), GETPARENT,
			    { "ARS", "ars", 24 }, BEST, AUTO },
	},
	{
		.name = "004-fig7b",
		.title = "004 Fig. 7(b): aggregation ratio, 4000 senders",
		.definition = "BCube(8,5), delta uniform in 0..1",
		.xlabel = "delta", .rounds = 2, .settings = fig7b_004,
		.method = { EXISTING, UNICAST(0), GETPARENT,
			    { "ARS", "ars", 40 }, BEST, AUTO },
		.note = "The paper's 40 % does not reproduce: flows grow as they merge.",
	},
	{
		.name = "004-fig8a",
		.title = "004 Fig. 8(a): members at random places",
		.definition = "BCube(8,5), 500 senders, 1 to 30 receivers, delta 0",
		.xlabel = "receivers", .rounds = 3, .settings = fig8a_004,
		.method = { EXISTING, UNICAST(0), GETPARENT,
			    { "ARS", "ars", 24 }, BEST },
		.note = "The paper's 24 % does not reproduce; it is the figure of its Fig. 7(a).",
	},
	{
		.name = "004-fig8b",
		.title = "004 Fig. 8(b): members in the smallest sub-network",
		.definition = "BCube(8,5), 500 senders, 1 to 30 receivers, delta 0, all in a BCube(8,2)",
		.xlabel = "receivers", .rounds = 3, .settings = fig8b_004,
		.method = { EXISTING, UNICAST(0), GETPARENT,
			    { "ARS", "ars", 62 }, BEST },
	},
};

const size_t n_evals = ARRAY_SIZE(evals);
