// SPDX-License-Identifier: GPL-2.0
/* Filters that the packets of a plan carry, and the names of links in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "plan/plan.h"

#define SALTS	256

/* What JSON and command line call enum aggt_filter_rule. */
const char * const plan_rule_names[] = {
	[AGGT_FILTER_GENERAL] = "general",
	[AGGT_FILTER_PAPER] = "paper",
	NULL,
};

/**
 * plan_has_filters() - do the packets of a plan carry filters?
 * @plan: the plan
 */
bool plan_has_filters(const struct plan *plan)
{
	return plan->conf.scheme == AGGNET_SCHEME_PACKET &&
	       aggt_plan_aggregates(plan->trees);
}

static json_t *hex(const struct aggt_filter *filter)
{
	char text[2 * sizeof(filter->bytes) + 1];
	size_t i;

	for (i = 0; i < filter->size; i++)
		sprintf(text + 2 * i, "%02x", filter->bytes[i]);
	return json_string(text);
}

/* Of an end; @unsalted: what it would name by mistake with the first salt. */
static int make_one(const struct plan *plan, const struct plan_filters *all,
		    const struct aggt_entry *e, struct aggt_filter *filter,
		    uint32_t *unsalted)
{
	struct in_addr to = plan_identity(plan, e->receiver);
	uint64_t incast_id = aggnet_incast_id(plan_job(plan, e->tree), to);
	struct aggt_filter_conf conf = all->conf;
	struct aggt_err why;

	conf.salts = 1;
	if (aggt_filter_make(plan->trees, &conf, &all->size, e, incast_id,
			     filter, &why) && !filter->lost)
		goto bad;
	*unsalted = filter->false_links;
	if (!aggt_filter_make(plan->trees, &all->conf, &all->size, e,
			      incast_id, filter, &why))
		return 0;
bad:
	err("plan: %s", why.text);
	return -1;
}

/**
 * plan_filters() - make the filters of a plan
 * @plan: the plan, plan_has_filters()
 * @all: filled in; plan_filters_clear() is due in any case
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_filters(const struct plan *plan, struct plan_filters *all)
{
	const struct aggt_entry *e;
	struct aggt_filter filter;
	struct aggt_err why;
	uint32_t unsalted;
	size_t i, n;

	*all = (struct plan_filters){ .conf = plan->conf.filter };
	all->conf.switches = plan->conf.aggnet_switches;
	all->conf.salts = SALTS;
	if (aggt_filter_measure(plan->trees, &all->conf, &all->size, &why)) {
		err("plan: %s", why.text);
		return -1;
	}
	e = aggt_plan_entries(plan->trees, &n);
	all->hex = json_array();
	for (i = 0; i < n; i++) {
		if (!(e[i].flags & AGGT_END) || e[i].parent == AGGT_NONE) {
			json_array_append_new(all->hex, json_null());
			continue;
		}
		if (make_one(plan, all, &e[i], &filter, &unsalted))
			return -1;
		json_array_append_new(all->hex, hex(&filter));
		all->n++;
		all->false_links += filter.false_links;
		all->unsalted += unsalted;
	}
	return 0;
}

void plan_filters_clear(struct plan_filters *all)
{
	json_decref(all->hex);
}

/**
 * plan_filters_json() - what a plan tells of its filters
 * @all: the filters
 */
json_t *plan_filters_json(const struct plan_filters *all)
{
	const struct aggt_filter_size *size = &all->size;
	const struct aggt_filter_conf *conf = &all->conf;

	return json_pack("{s:s s:I s:f s:I s:I s:I s:I s:I s:I s:I s:f s:I s:I s:I}",
			 "rule", plan_rule_names[conf->rule],
			 "asked_bits", (json_int_t)conf->bits,
			 "rate", conf->rate,
			 "bits", (json_int_t)size->bits,
			 "hashes", (json_int_t)size->hashes,
			 "bytes", (json_int_t)size->bytes,
			 "paper_bits", (json_int_t)size->paper_bits,
			 "general_bits", (json_int_t)size->general_bits,
			 "links", (json_int_t)size->links,
			 "looked_up", (json_int_t)size->wrong,
			 "expected_false", size->expected,
			 "filters", (json_int_t)all->n,
			 "false_links", (json_int_t)all->false_links,
			 "unsalted_false_links", (json_int_t)all->unsalted);
}

/**
 * plan_filters_restore() - what filters of an old plan were made for
 * @json: what plan_filters_json() made of them once
 * @conf: filled in
 *
 * New filters are not smaller: trees that do not change keep theirs.
 *
 * Return: whether that is what it is.
 */
bool plan_filters_restore(const json_t *json, struct aggt_filter_conf *conf)
{
	json_int_t asked, bits;
	const char *rule;
	int found;

	if (json_unpack((json_t *)json, "{s:s s:I s:F s:I}", "rule", &rule,
			"asked_bits", &asked, "rate", &conf->rate, "bits",
			&bits))
		return false;
	if (asked < 0 || asked > UINT32_MAX || bits < 0 || bits > UINT32_MAX)
		return false;
	found = aggnet_enum_find(plan_rule_names, rule);
	conf->rule = (enum aggt_filter_rule)found;
	conf->bits = (uint32_t)asked;
	conf->least = asked ? 0 : (uint32_t)bits;
	return found >= 0 && conf->rate > 0;
}

static json_t *named_link(const char *port, unsigned int number, uint64_t name,
			  unsigned int digit)
{
	return json_pack("{s:o s:i s:i s:i s:I s:I}", "port",
			 json_sprintf("%s%u", port, number),
			 "bits", 8, "hashes", 1, "capacity", 1, "name", (json_int_t)name,
			 "digit", (json_int_t)digit);
}

/* To each server behind a switch that only passes frames on. */
static void name_neighbours(const struct plan *plan, aggt_node server,
			    unsigned int level, json_t *links)
{
	unsigned int d, own = aggt_topo_digit(plan->topo, server, level);
	struct in_addr neighbour;
	aggt_node to;
	json_t *link;

	for (d = 0; d < aggt_topo_radix(plan->topo, level); d++) {
		to = aggt_topo_with_digit(plan->topo, server, level, d);
		if (d == own || !plan_knows_port(plan, to, level))
			continue;
		neighbour = plan_port_addr(plan, to, level);
		link = named_link("eth", level,
				  aggt_link_name(false, server, false, to), d);
		json_object_set_new(link, "neighbour", addr_json(neighbour));
		json_array_append_new(links, link);
	}
}

/**
 * plan_name_server() - names of all links of a server
 * @plan: the plan
 * @server: the server
 * @links: they are added here
 *
 * They belong to the network, not to a tree: Bloom tables are as small as can
 * be, and grow if there is a plan that has a use for them.
 */
void plan_name_server(const struct plan *plan, aggt_node server, json_t *links)
{
	unsigned int level, digit;
	uint64_t name;

	for (level = 0; level < aggt_topo_dims(plan->topo); level++) {
		if (!plan->conf.aggnet_switches) {
			name_neighbours(plan, server, level, links);
			continue;
		}
		digit = aggt_topo_digit(plan->topo, server, level);
		name = aggt_link_name(false, server, true,
				      aggt_topo_switch(plan->topo, server,
						       level));
		json_array_append_new(links,
				      named_link("eth", level, name, digit));
	}
}

/**
 * plan_name_switch() - names of all links of a switch
 * @plan: the plan
 * @sw: the switch
 * @links: they are added here
 */
void plan_name_switch(const struct plan *plan, uint32_t sw, json_t *links)
{
	unsigned int level = aggt_topo_switch_level(plan->topo, sw), d;
	aggt_node to;
	json_t *link;

	for (d = 0; d < aggt_topo_radix(plan->topo, level); d++) {
		to = aggt_topo_switch_server(plan->topo, sw, d);
		if (!plan_knows_port(plan, to, level))
			continue;
		link = named_link("p", d, aggt_link_name(true, sw, false, to),
				  d);
		json_object_set_new(link, "neighbour",
				    addr_json(plan_port_addr(plan, to, level)));
		json_object_set_new(link, "lladdr",
				    plan_port_lladdr(plan, to, level));
		json_array_append_new(links, link);
	}
}
