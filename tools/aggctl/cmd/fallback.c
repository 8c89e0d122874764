// SPDX-License-Identifier: GPL-2.0
/* The counters of a node that show why packets miss their planned way. */
#include <string.h>

#include "aggctl.h"
#include "cmd/fallback.h"

static const struct fallback fallbacks[] = {
	{ "drop_link", "a planned link has no carrier, neighbour or route",
	  "aggctl host check", false },
	{ "drop_bloom_miss", "no Bloom table or link has the packet's tree",
	  "aggctl apply PLAN.json on this node", false },
	{ "drop_no_tree", "packets are addressed to this node, which has no entry of their job",
	  "aggctl apply PLAN.json on this node", false },
	{ "drop_child", "a server sends here that the plan does not name as a child: it missed its own node, or has another plan",
	  "aggctl why on the senders", false },
	{ "drop_function", "another node has another function, type or layout",
	  "aggctl apply PLAN.json --hosts FILE", false },
	{ "drop_tag", "packets have another key or are corrupted",
	  "aggctl apply PLAN.json --hosts FILE", false },
	{ "drop_version", "another node has another version of aggnet",
	  "aggctl --version on all nodes", false },
	{ "drop_epoch_new", "another node has a newer plan",
	  "aggctl apply --replace PLAN.json on this node", false },
	{ "drop_identity", "an address on the way is translated, or is not the sender's identity",
	  "aggctl host check on the senders", false },
	{ "drop_memory", "the host has no memory for a packet",
	  "ps -eo rss,comm --sort=-rss", false },
	{ "passed_policy", "an IPsec policy applies to the packets",
	  "ip xfrm policy", true },
	{ "filter_spent", "the packet's filter names no usable link",
	  "aggctl link show", true },
	{ "drop_epoch_old", "another node has an older plan",
	  "aggctl apply --replace PLAN.json on the other nodes", true },
	{ "drop_mtu", "packets are longer than the MTU of the next link",
	  "aggctl host check", true },
	{ "misforwarded", "a false positive of a Bloom table made a copy",
	  "aggctl link show", true },
};

/**
 * counters_value() - a counter of a node by its name
 * @counters: may be NULL
 * @name: as "aggctl stats show" has it
 *
 * Return: 0 if there is no such counter
 */
uint64_t counters_value(const struct counters *counters, const char *name)
{
	size_t i;

	for (i = 0; counters && i < counters->n; i++)
		if (!strcmp(counters->list[i].name, name))
			return counters->list[i].value;
	return 0;
}

/**
 * fallback_json() - why packets missed their planned way
 * @now: the node's counters
 * @before: its counters at the beginning of the time in question; NULL: 0
 *
 * Return: an array of objects with counter, count, cause, fix and note, for each
 * counter that has grown
 */
json_t *fallback_json(const struct counters *now, const struct counters *before)
{
	json_t *rows = json_array();
	const struct fallback *f;
	uint64_t count, old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fallbacks); i++) {
		f = &fallbacks[i];
		count = counters_value(now, f->counter);
		old = counters_value(before, f->counter);
		if (count <= old)
			continue;
		json_array_append_new(rows,
				      json_pack("{s:s, s:I, s:s, s:s, s:b}",
						"counter", f->counter, "count",
						(json_int_t)(count - old),
						"cause", f->cause, "fix",
						f->fix, "note", f->note));
	}
	return rows;
}

/**
 * fallback_tree_json() - packets of an entry that left by plain IP
 * @tree: the entry
 *
 * Return: an array of objects with count, cause, fix and note, one for each cause that
 * there was
 */
json_t *fallback_tree_json(const struct aggnet_tree_info *tree)
{
	const struct {
		uint32_t packets;
		bool note;
		const char *cause;
		const char *fix;
	} causes[] = {
		{ tree->fallback_link, false,
		  "the planned link had no carrier, neighbour or route",
		  "aggctl host check" },
		{ tree->fallback_bloom, false,
		  "no Bloom table or filter names a link for them",
		  "aggctl apply PLAN.json on this node" },
		{ tree->fallback_policy, true, "an IPsec policy applies to them",
		  "ip xfrm policy" },
		{ tree->fallback_round, true,
		  "the node that merges them is not on the planned way",
		  "aggctl host check on the parent" },
	};
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(causes); i++)
		if (causes[i].packets)
			json_array_append_new(rows, json_pack(
				"{s:I, s:s, s:s, s:b}", "count",
				(json_int_t)causes[i].packets, "cause",
				causes[i].cause, "fix", causes[i].fix, "note",
				causes[i].note));
	return rows;
}
