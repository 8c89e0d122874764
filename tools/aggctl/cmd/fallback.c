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
	  "aggctl --version and aggctl host check on all nodes", false },
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

static const struct {
	bool note;
	const char *cause;
	const char *fix;
} causes[__AGGNET_FALLBACK_MAX] = {
	[AGGNET_FALLBACK_LINK] = {
		false, "the planned link had no carrier, neighbour or route",
		"aggctl host check" },
	[AGGNET_FALLBACK_BLOOM] = {
		false, "no Bloom table or filter names a link for them",
		"aggctl apply PLAN.json on this node" },
	[AGGNET_FALLBACK_POLICY] = {
		true, "an IPsec policy applies to them", "ip xfrm policy" },
	[AGGNET_FALLBACK_ROUND] = {
		true, "the node that merges them is not on the planned way",
		"aggctl host check on the parent" },
};

/* One row for each cause that there was; @fix: of all of them, or NULL. */
static json_t *rows_of(const uint32_t packets[__AGGNET_FALLBACK_MAX],
		       const char *fix)
{
	json_t *rows = json_array();
	size_t i;

	for (i = AGGNET_FALLBACK_LINK; i < __AGGNET_FALLBACK_MAX; i++)
		if (packets[i])
			json_array_append_new(rows, json_pack(
				"{s:I, s:s, s:s, s:b}", "count",
				(json_int_t)packets[i], "cause", causes[i].cause,
				"fix", fix ? fix : causes[i].fix, "note",
				causes[i].note));
	return rows;
}

/**
 * fallback_of() - packets of an entry's node that left by plain IP, by cause
 * @tree: the entry
 * @packets: set to their numbers, by enum aggnet_fallback
 */
void fallback_of(const struct aggnet_tree_info *tree,
		 uint32_t packets[__AGGNET_FALLBACK_MAX])
{
	packets[AGGNET_FALLBACK_NONE] = 0;
	packets[AGGNET_FALLBACK_LINK] = tree->fallback_link;
	packets[AGGNET_FALLBACK_BLOOM] = tree->fallback_bloom;
	packets[AGGNET_FALLBACK_POLICY] = tree->fallback_policy;
	packets[AGGNET_FALLBACK_ROUND] = tree->fallback_round;
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
	uint32_t packets[__AGGNET_FALLBACK_MAX];

	fallback_of(tree, packets);
	return rows_of(packets, NULL);
}

/**
 * fallback_ask_hosts() - the command that names nodes and causes
 * @tree: the entry
 * @fix: set to it
 */
void fallback_ask_hosts(const struct aggnet_tree_info *tree, char fix[FALLBACK_FIX])
{
	/* The job that the user has planned is that of the first stripe. */
	snprintf(fix, FALLBACK_FIX, "aggctl why %u --hosts FILE",
		 aggnet_incast_job(tree->incast_id) - tree->stripe);
}

/**
 * fallback_below_json() - packets of nodes below that left by plain IP
 * @tree: the entry of a node, which knows what the ends of flows told
 *
 * Return: as of fallback_tree_json(); the fix is the command that names the nodes
 */
json_t *fallback_below_json(const struct aggnet_tree_info *tree)
{
	char fix[FALLBACK_FIX];

	fallback_ask_hosts(tree, fix);
	return rows_of(tree->below, fix);
}

/**
 * fallback_counts() - numbers of packets as an object with a member for each cause
 * @packets: by enum aggnet_fallback
 */
json_t *fallback_counts(const uint32_t packets[__AGGNET_FALLBACK_MAX])
{
	json_t *object = json_object();
	size_t i;

	for (i = AGGNET_FALLBACK_LINK; i < __AGGNET_FALLBACK_MAX; i++)
		json_object_set_new(object, aggnet_fallback_names[i],
				    json_integer(packets[i]));
	return object;
}

/**
 * fallback_any_below() - did packets of nodes below leave by plain IP?
 * @tree: the entry
 */
bool fallback_any_below(const struct aggnet_tree_info *tree)
{
	size_t i;

	for (i = AGGNET_FALLBACK_LINK; i < __AGGNET_FALLBACK_MAX; i++)
		if (tree->below[i])
			return true;
	return false;
}
