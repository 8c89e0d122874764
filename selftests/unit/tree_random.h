/* SPDX-License-Identifier: GPL-2.0 */
/* Random instances of jobs, and the cost of verified plans for them. */
#ifndef TREE_RANDOM_H
#define TREE_RANDOM_H

#include "tree_verify.h"
#include "../uapi/harness.h"

static const char *const topologies[] = {
	"bcube:4,1", "bcube:2,5", "bcube:3,3", "ghc:2,5,3", "bcube:6,2",
	"ghc:7", "bcube:9,2", "bcube:4,2", "bcube:2,7",
};

static const char *const methods[] = {
	"existing", "unicast", "unicast:random", "unicast:rotate", "ars",
	"irs", "steiner", "mib", "mc", "m2", "srs", "srs:safe",
};

#define N(array) (sizeof(array) / sizeof(*(array)))

static uint64_t state;

static uint32_t rnd(uint32_t bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % bound;
}

FIXTURE(instance)
{
	struct aggt_topo *topo;
	struct aggt_list senders;
	struct aggt_list receivers;
	struct aggt_job job;
	double sizes[4096];
};

FIXTURE_SETUP(instance)
{
	state = 20240229;
	TH_LOG("seed %llu", (unsigned long long)state);
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(instance)
{
}

/* Return: are there that many servers that work? */
static bool draw_members(FIXTURE_DATA(instance) *self, uint32_t senders,
			 uint32_t receivers)
{
	char text[32];
	int error;

	memset(&self->job, 0, sizeof(self->job));
	snprintf(text, sizeof(text), "random:%u", senders);
	error = aggt_list_parse(self->topo, text, state, &self->senders, NULL);
	snprintf(text, sizeof(text), "random:%u", receivers);
	error |= aggt_list_parse(self->topo, text, ~state, &self->receivers,
				 NULL);
	self->job.senders = self->senders.node;
	self->job.n_senders = self->senders.n;
	self->job.receivers = self->receivers.node;
	self->job.n_receivers = self->receivers.n;
	self->job.seed = state;
	return !error;
}

static inline void draw(FIXTURE_DATA(instance) *self, const char *topology,
			uint32_t senders, uint32_t receivers)
{
	size_t i;

	self->topo = aggt_topo_parse(topology, NULL);
	if (senders > aggt_topo_servers(self->topo))
		senders = aggt_topo_servers(self->topo);
	draw_members(self, senders, receivers);
	for (i = 0; i < self->senders.n; i++)
		self->sizes[i] = rnd(5) * 0.5;
}

static void discard(FIXTURE_DATA(instance) *self)
{
	aggt_list_clear(&self->senders);
	aggt_list_clear(&self->receivers);
	aggt_topo_free(self->topo);
}

/*
 * Return: the cost of a verified plan, -1 if it is wrong or exceeds the depth
 * bound
 */
static inline double cost(FIXTURE_DATA(instance) *self, const char *method, bool each)
{
	struct aggt_err err = { "" };
	struct aggt_plan *plan;
	const char *why;
	double sum;

	self->job.method = method;
	plan = aggt_plan_build(self->topo, &self->job, &err);
	if (!plan) {
		if (!strstr(err.text, "hops deep"))
			printf("# %s: %s\n", method, err.text);
		return -1;
	}
	why = verify_plan(self->topo, &self->job, plan, each);
	sum = aggt_plan_metrics(plan)->cost;
	if (!strcmp(method, "srs") &&
	    sum > aggt_plan_predicted(plan) * (1 + 1e-9))
		why = "dearer than by formula (1)";
	if (why)
		printf("# %s %s: %s\n", aggt_topo_name(self->topo), method,
		       why);
	aggt_plan_free(plan);
	return why ? -1 : sum;
}

/* Draw a routing sequence, with commas. */
static inline const char *draw_sequence(const struct aggt_topo *topo)
{
	unsigned int symbol[AGGT_MAX_DIMS], i, k, n = 0;
	static char text[128];

	for (i = 0; i < aggt_topo_dims(topo); i++) {
		k = rnd(i + 1);
		symbol[i] = symbol[k];
		symbol[k] = i;
	}
	for (i = 0; i < aggt_topo_dims(topo); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%u",
			      i ? "," : "rs:", symbol[i]);
	return text;
}

/* Draw sizes over several orders of magnitude; some are 0, some equal. */
static inline void draw_sizes(FIXTURE_DATA(instance) *self)
{
	size_t i;

	for (i = 0; i < self->senders.n; i++)
		self->sizes[i] = rnd(8) ? pow(10, rnd(13) / 4.0) : 0;
	self->job.sizes = self->sizes;
}

/* Does @method, within the depth bound, cost at least as much as @best? */
static inline bool wins(FIXTURE_DATA(instance) *self, double best,
			const char *method)
{
	double other = cost(self, method, false);

	if (other < 0 || best <= other * (1 + 1e-9) + 1e-9)
		return true;
	printf("# %s: %g, auto %g\n", method, other, best);
	return false;
}

/* Does every other method cost at least as much as auto? */
static inline bool auto_wins(FIXTURE_DATA(instance) *self)
{
	double best = cost(self, "auto", true);
	size_t k;

	if (best < 0)
		return false;
	for (k = 0; k < N(methods); k++)
		if (!wins(self, best, methods[k]))
			return false;
	return wins(self, best, draw_sequence(self->topo));
}

#endif /* TREE_RANDOM_H */
