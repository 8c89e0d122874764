// SPDX-License-Identifier: GPL-2.0
/* Supervision of a running plan, from the first look to its end. */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "info.h"
#include "monotonic.h"
#include "plan/plan.h"
#include "supervise/presence.h"
#include "supervise/supervise.h"
#include "testbed/testbed.h"

/**
 * supervise_now() - the clock of supervision, in milliseconds
 */
int64_t supervise_now(void)
{
	return monotonic_ms();
}

/* --- what there is -------------------------------------------------------- */

static unsigned int parts_of(const struct plan *plan, aggt_node server)
{
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	unsigned int parts = 0;
	size_t i;

	for (i = 0; i < job->n_senders; i++)
		if (job->senders[i] == server)
			parts |= AGGNET_WATCH_SOURCE;
	for (i = 0; i < job->n_receivers; i++)
		if (job->receivers[i] == server)
			parts |= AGGNET_WATCH_RECEIVER;
	return parts;
}

static int add_links(struct supervise *s, const struct aggt_topo *topo,
		     aggt_node server)
{
	char name[AGGNET_WATCH_NAME], port[IF_NAMESIZE], sw_port[IF_NAMESIZE];
	unsigned int level;
	uint32_t sw;

	snprintf(name, sizeof(name), "%s", addressing_server_name(server));
	for (level = 0; level < aggt_topo_dims(topo); level++) {
		sw = aggt_topo_switch(topo, server, level);
		snprintf(port, sizeof(port), "eth%u", level);
		snprintf(sw_port, sizeof(sw_port), "p%u",
			 aggt_topo_digit(topo, server, level));
		if (aggnet_watch_link(s->watch, name, port, addressing_switch_name(sw),
				      sw_port))
			return -1;
	}
	return 0;
}

/* In a graph a host without an address is in no plan, and not heard of. */
static bool is_heard_of(const struct plan *plan, aggt_node server)
{
	return aggt_topo_digits(plan->topo) ||
	       aggt_topo_address(plan->topo, server);
}

/* Switches of a graph forward by themselves: they are not nodes. */
static uint32_t switches_of(const struct plan *plan)
{
	return aggt_topo_digits(plan->topo) ? aggt_topo_switches(plan->topo) :
					      0;
}

static int add_parts(struct supervise *s, const struct plan *plan)
{
	uint32_t i;

	for (i = 0; i < aggt_topo_servers(plan->topo); i++)
		if (is_heard_of(plan, i) &&
		    aggnet_watch_server(s->watch, plan_server_name(plan, i),
					plan_identity(plan, i),
					parts_of(plan, i)))
			return -1;
	for (i = 0; i < switches_of(plan); i++)
		if (aggnet_watch_switch(s->watch, addressing_switch_name(i)))
			return -1;
	/* One host hears of links by what they do to transfers. */
	for (i = 0; !s->only && i < aggt_topo_servers(plan->topo); i++)
		if (aggt_topo_digits(plan->topo) &&
		    add_links(s, plan->topo, i))
			return -1;
	return 0;
}

static int add_trees(struct supervise *s, const struct plan *plan)
{
	size_t i;

	if (supervise_trees(s, plan))
		return -1;
	for (i = 0; i < s->n_trees; i++)
		if (supervise_watch(s, s->json, i, plan->attempt[i]))
			return -1;
	return 0;
}

static void add_post(struct supervise *s, const char *name)
{
	struct post *post = &s->post[s->n_posts++];

	snprintf(post->name, sizeof(post->name), "%s", name);
}

static int add_posts(struct supervise *s, const struct plan *plan)
{
	uint32_t i, servers = aggt_topo_servers(plan->topo);

	s->post = calloc(servers + switches_of(plan), sizeof(*s->post));
	if (!s->post)
		return -1;
	if (s->only) {
		add_post(s, s->only);
		return 0;
	}
	for (i = 0; i < servers; i++)
		if (is_heard_of(plan, i))
			add_post(s, plan_server_name(plan, i));
	for (i = 0; i < switches_of(plan); i++)
		add_post(s, addressing_switch_name(i));
	return 0;
}

/* Names in a description may be longer than those that are watched. */
static int check_names(const struct plan *plan)
{
	const char *name;
	uint32_t i;

	for (i = 0; i < aggt_topo_servers(plan->topo); i++) {
		name = plan_server_name(plan, i);
		if (!is_heard_of(plan, i) || strlen(name) < AGGNET_WATCH_NAME)
			continue;
		err("supervise: host %s: names of hosts that are watched have up to %d characters",
		    name, AGGNET_WATCH_NAME - 1);
		return -1;
	}
	return 0;
}

static int prepare(struct supervise *s)
{
	struct plan plan = {};
	int ret = -1;

	if (plan_restore(&plan, s->json, s->path ? s->path : "plan"))
		goto out;
	if (check_names(&plan))
		goto out;
	s->watch = aggnet_watch_new(plan.conf.allow_missing);
	s->changes = json_array();
	s->renew = json_array();
	s->over = json_array();
	if (s->watch && plan.conf.give_up)
		aggnet_watch_give_up(s->watch, plan.conf.give_up);
	if (!s->watch || add_parts(s, &plan) || add_trees(s, &plan) ||
	    add_posts(s, &plan))
		err("out of memory");
	else
		ret = 0;
out:
	plan_clear(&plan);
	return ret;
}

/* --- running -------------------------------------------------------------- */

/* Until something is to be judged, or to be tried again. */
static int wait_ms(const struct supervise *s, const struct aggnet_finding *f)
{
	int64_t left = s->retry_ms - supervise_now();

	if (!s->retry_ms)
		return f->wait_ms;
	left = left < 0 ? 0 : left;
	return f->wait_ms >= 0 && f->wait_ms < left ? f->wait_ms : (int)left;
}

static int supervise_step(struct supervise *s, enum aggnet_verdict verdict,
			  const struct aggnet_finding *f)
{
	if (verdict == AGGNET_WATCH_REPAIR)
		return supervise_repair(s, f);
	if (s->retry_ms && supervise_now() >= s->retry_ms)
		return supervise_retry(s);
	return supervise_hear(s, wait_ms(s, f));
}

/**
 * supervise_run() - supervise a plan until its transfers are over
 * @s: the plan, with json, path, store, only, in_testbed and what is to be called
 * @why: why it failed, if it is for the transfers
 * @size: of @why
 *
 * Takes s->json over and frees it. Afterwards s->unsaved tells whether the file
 * lacks what was in force at last.
 *
 * Return: 0 when every receiver has its result; 1 when a transfer has failed
 * for good; -1 with an error line printed.
 */
int supervise_run(struct supervise *s, char *why, size_t size)
{
	enum aggnet_verdict verdict = AGGNET_WATCH_WAIT;
	struct aggnet_finding f;
	int ret, present;

	s->names = -1;
	present = presence_open((uint32_t)json_integer_value(
				json_object_get(s->json, "job")));
	ret = prepare(s) || supervise_listen(s) || supervise_resume(s) ? -1 : 0;
	if (!ret)
		s->ready(s->arg, s->n_posts);
	while (!ret) {
		verdict = aggnet_watch_judge(s->watch, supervise_now(), &f);
		if (verdict == AGGNET_WATCH_DONE ||
		    verdict == AGGNET_WATCH_FAILED)
			break;
		ret = supervise_step(s, verdict, &f);
	}
	if (!ret && verdict == AGGNET_WATCH_FAILED) {
		snprintf(why, size, "%s", f.text);
		ret = 1;
	}
	if (s->unsaved)
		supervise_save(s, s->json);
	supervise_close(s);
	if (present >= 0)
		close(present);
	free(s->tree);
	aggnet_watch_free(s->watch);
	json_decref(s->changes);
	json_decref(s->renew);
	json_decref(s->over);
	json_decref(s->json);
	return ret;
}
