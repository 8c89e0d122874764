// SPDX-License-Identifier: GPL-2.0
/* Thousands of random changes of plans: every changed plan is valid. */
#include "tree_broken.h"

static void random_change(const struct aggt_topo *t,
			  const struct aggt_plan *plan, char *text, size_t len)
{
	const struct aggt_job *job = aggt_plan_job(plan);
	uint32_t n = aggt_topo_servers(t);

	switch (rnd(6)) {
	case 0:
		snprintf(text, len, "join:v%u", rnd(n));
		break;
	case 1:
		snprintf(text, len, "leave:v%u",
			 job->senders[rnd(job->n_senders)]);
		break;
	case 2:
		snprintf(text, len, "receiver:v%u=v%u",
			 job->receivers[rnd(job->n_receivers)], rnd(n));
		break;
	case 3:
		snprintf(text, len, "failed:v%u", rnd(n));
		break;
	case 4:
		snprintf(text, len, "failed:w%u", rnd(aggt_topo_switches(t)));
		break;
	default:
		n = rnd(n);
		if (aggt_topo_agents(t) && rnd(2))
			snprintf(text, len, "failed:w%u-w%u", random_hop(t, n),
				 aggt_topo_switch(t, n, 0));
		else
			snprintf(text, len, "failed:v%u-w%u", n,
				 aggt_topo_switch(t, n,
						  rnd(aggt_topo_dims(t))));
	}
}

static bool same_entry(const struct aggt_entry *a, const struct aggt_entry *b)
{
	return a->receiver == b->receiver && a->flags == b->flags &&
	       a->contributors == b->contributors && a->links == b->links &&
	       a->sources == b->sources && a->parent == b->parent &&
	       a->parent_end == b->parent_end &&
	       a->n_children == b->n_children &&
	       (!a->n_children || !memcmp(a->children, b->children,
					  a->n_children * sizeof(aggt_node)));
}

/*
 * Do the differences, and not a part of them, turn the old entries into the new
 * ones?
 */
static const char *check_diff(const struct aggt_plan *from,
			      const struct aggt_plan *to)
{
	size_t n_from, n_to, n, i, j = 0, k = 0;
	const struct aggt_entry *a = aggt_plan_entries(from, &n_from);
	const struct aggt_entry *b = aggt_plan_entries(to, &n_to);
	struct aggt_diff *diff;
	const char *why = NULL;

	if (aggt_plan_diff(from, to, &diff, &n))
		return "no memory";
	for (i = 0; i <= n && !why; i++) {
		while (j < n_from && (i == n || &a[j] != diff[i].from) &&
		       k < n_to && (i == n || &b[k] != diff[i].to))
			if (!same_entry(&a[j++], &b[k++]))
				why = "an entry changed unseen";
		if (i == n)
			break;
		if (diff[i].from && diff[i].to &&
		    same_entry(diff[i].from, diff[i].to))
			why = "an entry that stays is named";
		j += diff[i].from == &a[j];
		k += diff[i].to == &b[k];
	}
	if (!why && (j != n_from || k != n_to))
		why = "entries are missing";
	free(diff);
	return why;
}

static const char *check_switch_diff(const struct aggt_plan *from,
				     const struct aggt_plan *to)
{
	struct aggt_switch_diff *diff;
	size_t n, n_from, n_to, i;
	long added = 0;

	aggt_plan_switch_entries(from, &n_from);
	aggt_plan_switch_entries(to, &n_to);
	if (aggt_plan_switch_diff(from, to, &diff, &n))
		return "no memory";
	for (i = 0; i < n; i++)
		added += diff[i].to ? 1 : -1;
	for (i = 1; i < n; i++)
		if (diff[i].from && diff[i - 1].to &&
		    diff[i].from->sw == diff[i - 1].to->sw &&
		    diff[i].from->receiver == diff[i - 1].to->receiver &&
		    diff[i].from->server == diff[i - 1].to->server)
			added = -9999;
	free(diff);
	return (long)n_from + added == (long)n_to ? NULL : "switch entries";
}

/*
 * Return: what is wrong with @to, the result of changing @from; NULL: nothing
 */
static const char *check_update(const struct aggt_topo *t,
				const struct aggt_plan *from,
				const struct aggt_plan *to)
{
	const char *why = check_diff(from, to);

	if (!why)
		why = check_switch_diff(from, to);
	if (!why)
		why = check_hops(t, to);
	return why ? why : verify_plan(t, aggt_plan_job(to), to, true);
}

/*
 * Make one random change. A refusal leaves the plan unchanged; its text is
 * empty if no part of the network is left. Return: what is wrong or NULL
 */
static const char *change_plan(struct aggt_topo *t, struct aggt_plan **plan,
			       char *text, size_t len)
{
	struct aggt_change c;
	struct aggt_plan *next;
	const char *why;

	random_change(t, *plan, text, len);
	if (aggt_change_parse(t, text, &c, NULL))
		return "no change";
	next = aggt_plan_update(t, *plan, &c, 1, NULL);
	if (!next) {
		if (c.kind == AGGT_FAILED)
			*text = 0;
		return NULL;
	}
	if (c.kind == AGGT_FAILED)
		note_failure(c.part);
	why = check_update(t, *plan, next);
	aggt_plan_free(*plan);
	*plan = next;
	return why;
}

/* Every plan in the sequence is valid; a refusal keeps the previous one. */
TEST_F_TIMEOUT(instance, random_changes, 100)
{
	static const char *const topology[] = { "bcube:4,2", "ghc:3,5,4",
						"bcube:2,5", "bcube:8,1",
						"fbfly:3,4,2", "hyperx:4,4:3" };
	static const char *const method[] = { "ars", "irs", "m2", "steiner",
					      "unicast", "srs", "existing" };
	unsigned int round, k, taken = 0;

	for (round = 0; round < 420; round++) {
		struct aggt_plan *plan, *was;
		char text[64] = "?";

		draw(self, topology[round % 6], 12, 2);
		self->job.method = method[round % 7];
		self->job.delta = rnd(3) * 0.5;
		plan = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, plan);
		n_broken = 0;
		for (k = 0; k < 10 && *text; k++) {
			const char *why;

			was = plan;
			why = change_plan(self->topo, &plan, text,
					  sizeof(text));
			ASSERT_EQ(NULL, why) {
				TH_LOG("round %u %s %s: %s", round,
				       self->job.method, text, why);
			}
			taken += plan != was;
		}
		aggt_plan_free(plan);
		discard(self);
	}
	EXPECT_LT(1500, taken);
}

TEST_HARNESS_MAIN
