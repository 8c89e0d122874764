// SPDX-License-Identifier: GPL-2.0
/* What this node did for a transfer of "aggctl send" or "recv". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/transfer_stats.h"
#include "info.h"
#include "names.h"
#include "output.h"

static double seconds_since(const struct timespec *began)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - began->tv_sec) +
	       (double)(now.tv_nsec - began->tv_nsec) / 1e9;
}

static void refused(struct transfer_stats *s, const struct aggnet_ctl *ctl)
{
	snprintf(s->why, sizeof(s->why), "%s", aggnet_ctl_error(ctl));
}

/* A user without CAP_NET_ADMIN may not read the node, only its own transfers. */
static struct aggnet_ctl *node_open(struct transfer_stats *s)
{
	struct aggnet_ctl *ctl;

	s->why[0] = '\0';
	if (!aggnet_ctl_open(&ctl))
		return ctl;
	refused(s, ctl);
	aggnet_ctl_close(ctl);
	return NULL;
}

static bool read_counters(struct transfer_stats *s, struct aggnet_ctl *ctl,
			  struct counters *counters)
{
	free(counters->list);
	*counters = (struct counters){};
	if (!aggnet_stats_list(ctl, &counters->list, &counters->n))
		return true;
	refused(s, ctl);
	return false;
}

/* Add the counters of another tree of the job. */
static void add_stripe(struct aggnet_tree_info *sum,
		       const struct aggnet_tree_info *tree)
{
	size_t i;

	sum->contributors += transfer_stats_planned(tree);
	sum->channels += tree->channels;
	sum->unplanned += tree->unplanned;
	sum->records_in += tree->records_in;
	sum->records_out += tree->records_out;
	sum->packets_in += tree->packets_in;
	sum->packets_out += tree->packets_out;
	sum->bytes_in += tree->bytes_in;
	sum->bytes_out += tree->bytes_out;
	sum->rexmits += tree->rexmits;
	sum->fallback_link += tree->fallback_link;
	sum->fallback_bloom += tree->fallback_bloom;
	sum->fallback_policy += tree->fallback_policy;
	sum->fallback_round += tree->fallback_round;
	for (i = 0; i < ARRAY_SIZE(sum->below); i++)
		if (__builtin_add_overflow(sum->below[i], tree->below[i],
					   &sum->below[i]))
			sum->below[i] = UINT32_MAX;
	if (sum->acceptor.s_addr != tree->acceptor.s_addr)
		sum->acceptor.s_addr = 0;
}

/* Name each node once; without memory the names are left out. */
static void add_unbound(struct aggnet_addrs *all,
			const struct aggnet_addrs *more)
{
	struct in_addr *addr;
	size_t i;

	if (!more->n)
		return;
	addr = realloc(all->addr, (all->n + more->n) * sizeof(*addr));
	if (!addr)
		return;
	all->addr = addr;
	for (i = 0; i < more->n; i++)
		if (!addrs_has(all, more->addr[i]))
			all->addr[all->n++] = more->addr[i];
}

/* What the kernel tells the user of a transfer; the list of children is not in it. */
static struct aggnet_tree_info info_of(uint64_t id,
				       const struct aggnet_status *st)
{
	struct aggnet_tree_info tree = {
		.has = AGGNET_HAS(AGGNET_A_TREE_STATE),
		.incast_id = id, .state = (uint8_t)st->state,
		.layout = (uint8_t)st->layout,
		.direction = (uint8_t)st->direction,
		.stripe = (uint8_t)st->stripe, .stripes = (uint8_t)st->stripes,
		.contributors = st->contributors, .writers = st->writers,
		.channels = st->channels, .unplanned = st->unplanned,
		.acceptor.s_addr = st->acceptor, .records_in = st->records_in,
		.records_out = st->records_out, .packets_in = st->packets_in,
		.packets_out = st->packets_out, .bytes_in = st->bytes_in,
		.bytes_out = st->bytes_out, .rexmits = st->rexmits,
		.fallback_link = st->fallback_link,
		.fallback_bloom = st->fallback_bloom,
		.fallback_policy = st->fallback_policy,
		.fallback_round = st->fallback_round,
		.partials = st->partials,
	};

	memcpy(tree.below, st->below, sizeof(tree.below));
	return tree;
}

static void add_status_unbound(struct aggnet_addrs *all,
			       const struct aggnet_status *st)
{
	struct in_addr addr[AGGNET_NAMES_MAX];
	struct aggnet_addrs more = { .addr = addr };

	while (more.n < st->nunbound && more.n < AGGNET_NAMES_MAX) {
		addr[more.n].s_addr = st->unbound[more.n];
		more.n++;
	}
	add_unbound(all, &more);
}

/*
 * Read the entry of a tree of the job, by netlink or, if @ctl is NULL, as its user;
 * the names of those that are not here are added to @s->unbound.
 */
static bool read_entry(struct transfer_stats *s, struct aggnet_ctl *ctl,
		       uint64_t id, struct aggnet_tree_info *tree)
{
	struct aggnet_status st;

	if (!ctl) {
		if (aggnet_lookup(aggnet_incast_receiver(id),
				  aggnet_incast_job(id), &st))
			return false;
		*tree = info_of(id, &st);
		add_status_unbound(&s->unbound, &st);
		return true;
	}
	if (aggnet_tree_get(ctl, id, tree)) {
		refused(s, ctl);
		return false;
	}
	add_unbound(&s->unbound, &tree->unbound);
	return true;
}

static void read_stripes(struct transfer_stats *s, struct aggnet_ctl *ctl,
			 uint64_t id)
{
	struct in_addr to = aggnet_incast_receiver(id);
	struct aggnet_tree_info tree;
	uint32_t i;

	for (i = 1; s->found && i < s->tree.stripes; i++) {
		s->found = read_entry(s, ctl, aggnet_incast_id(
				      aggnet_incast_job(id) + i, to), &tree);
		if (s->found) {
			add_stripe(&s->tree, &tree);
			aggnet_tree_clear(&tree);
		} else {
			aggnet_tree_clear(&s->tree);
		}
	}
}

static void read_tree(struct transfer_stats *s, struct aggnet_ctl *ctl)
{
	struct aggnet_node_info node = {};
	uint64_t id = s->incast_id;

	if (ctl && !(uint32_t)id && !aggnet_node_get(ctl, &node))
		id = aggnet_incast_id(aggnet_incast_job(id), node.address);
	s->found = read_entry(s, ctl, id, &s->tree);
	if (s->found)
		read_stripes(s, ctl, id);
}

static void clear_tree(struct transfer_stats *s)
{
	if (s->found)
		aggnet_tree_clear(&s->tree);
	s->found = false;
	free(s->unbound.addr);
	s->unbound = (struct aggnet_addrs){};
}

/**
 * transfer_stats_begin() - remember the node as it is before a transfer
 * @s: filled; transfer_stats_clear() frees its memory
 * @receiver: of the transfer; 0: this node
 * @job: of the transfer
 * @count: read the counters, too
 *
 * If the node cannot be read, @s->why has the reason.
 */
void transfer_stats_begin(struct transfer_stats *s, struct in_addr receiver,
			  uint32_t job, bool count)
{
	struct aggnet_ctl *ctl;

	*s = (struct transfer_stats){
		.incast_id = aggnet_incast_id(job, receiver),
	};
	clock_gettime(CLOCK_MONOTONIC, &s->began);
	ctl = count ? node_open(s) : NULL;
	s->counted = ctl && read_counters(s, ctl, &s->before);
	aggnet_ctl_close(ctl);
}

/**
 * transfer_stats_end() - read the node after a transfer
 * @s: begun. A second call, for a new attempt, replaces what the first one read
 */
void transfer_stats_end(struct transfer_stats *s)
{
	struct aggnet_ctl *ctl = node_open(s);

	s->seconds = seconds_since(&s->began);
	clear_tree(s);
	if (ctl && s->counted)
		s->counted = read_counters(s, ctl, &s->after);
	if (ctl)
		read_tree(s, ctl);
	aggnet_ctl_close(ctl);
	if (!s->found)
		read_tree(s, NULL);
}

/**
 * transfer_stats_forwards() - does the node only forward the packets of a transfer?
 * @tree: the node's entry
 *
 * A switch, and a server that one flow passes: the kernel keeps no state of a flow there.
 */
bool transfer_stats_forwards(const struct aggnet_tree_info *tree)
{
	return !(tree->has & AGGNET_HAS(AGGNET_A_TREE_STATE));
}

/**
 * transfer_stats_planned() - number of flows that the plan leads to a node, to merge them
 * @tree: the node's entry
 *
 * The node's own processes are one of its contributors, and not a flow.
 */
uint32_t transfer_stats_planned(const struct aggnet_tree_info *tree)
{
	if (transfer_stats_forwards(tree))
		return 0;
	return tree->contributors - (tree->writers && tree->contributors);
}

/**
 * transfer_stats_absent() - number of planned children that have not bound
 * @tree: the node's entry
 *
 * The kernel names AGGNET_NAMES_MAX of them; the flows tell how many there are.
 */
size_t transfer_stats_absent(const struct aggnet_tree_info *tree)
{
	const uint32_t planned = transfer_stats_planned(tree);
	const uint32_t here = tree->channels - tree->unplanned;
	const size_t named = tree->unbound.n;

	if (named < AGGNET_NAMES_MAX || planned < here + named)
		return named;
	return planned - here;
}

/**
 * transfer_stats_saved() - bytes of records that need not leave a node, as it merges
 * @tree: the node's entry
 *
 * Only bytes that come in packets are counted: where the node's own processes contribute,
 * this is an estimate, with the mean size of the records that leave.
 */
uint64_t transfer_stats_saved(const struct aggnet_tree_info *tree)
{
	const uint64_t in = tree->bytes_in, out = tree->bytes_out;

	if (!tree->writers)
		return in > out ? in - out : 0;
	/* A vector is as long from each contributor as it leaves. */
	if (tree->layout == AGGNET_LAYOUT_DENSE)
		return in;
	if (!tree->records_out || tree->records_in <= tree->records_out)
		return 0;
	return (uint64_t)((double)(tree->records_in - tree->records_out) *
			  (double)out / (double)tree->records_out);
}

/**
 * transfer_stats_missed() - did flows arrive otherwise than planned?
 * @s: ended
 *
 * Return: true: a planned flow has not arrived at this node, or an unplanned one
 * has; false also if the node cannot be read
 */
bool transfer_stats_missed(const struct transfer_stats *s)
{
	return s->found && (s->tree.unplanned ||
			    s->tree.channels != transfer_stats_planned(&s->tree));
}

/**
 * transfer_stats_arrived() - the planned children whose flows have arrived
 * @tree: the node's entry
 *
 * The kernel names AGGNET_NAMES_MAX children that have not bound, of which there may be
 * more.
 *
 * Return: an array of identities; null if they are not known
 */
json_t *transfer_stats_arrived(const struct aggnet_tree_info *tree)
{
	json_t *list;
	size_t i;

	if (tree->unbound.n >= AGGNET_NAMES_MAX ||
	    (transfer_stats_planned(tree) && !tree->children.n))
		return json_null();
	list = json_array();
	for (i = 0; i < tree->children.n; i++)
		if (!addrs_has(&tree->unbound, tree->children.addr[i]))
			json_array_append_new(list,
					      addr_json(tree->children.addr[i]));
	return list;
}

/**
 * transfer_stats_by_plain_ip() - packets of an entry that left by plain IP, by cause
 * @tree: the entry
 *
 * Return: an object
 */
json_t *transfer_stats_by_plain_ip(const struct aggnet_tree_info *tree)
{
	uint32_t packets[__AGGNET_FALLBACK_MAX];

	fallback_of(tree, packets);
	return fallback_counts(packets);
}

static void put_tree(json_t *stats, const struct aggnet_tree_info *tree)
{
	json_t *more;

	more = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:b, s:o}",
			 "flows", (json_int_t)tree->channels,
			 "flows_planned",
			 (json_int_t)transfer_stats_planned(tree),
			 "flows_unplanned", (json_int_t)tree->unplanned,
			 "records_in", (json_int_t)tree->records_in,
			 "records_out", (json_int_t)tree->records_out,
			 "packets_in", (json_int_t)tree->packets_in,
			 "packets_out", (json_int_t)tree->packets_out,
			 "bytes_in", (json_int_t)tree->bytes_in,
			 "bytes_out", (json_int_t)tree->bytes_out,
			 "retransmissions", (json_int_t)tree->rexmits,
			 "by_plain_ip", transfer_stats_by_plain_ip(tree),
			 "by_plain_ip_below", fallback_any_below(tree),
			 "by_plain_ip_of_nodes_below",
			 fallback_counts(tree->below));
	json_object_update(stats, more);
	json_decref(more);
	if (tree->acceptor.s_addr)
		json_object_set_new(stats, "acceptor", addr_json(tree->acceptor));
	/* Each stripe has children of its own. */
	if (tree->stripes < 2)
		json_object_set_new(stats, "arrived",
				    transfer_stats_arrived(tree));
}

/* What merging on other nodes saved the receiver, with the mean size of what came. */
static void put_saved(json_t *stats, const struct aggnet_tree_info *tree,
		      const struct aggnet_result *result)
{
	uint64_t units = tree->records_in, merged = 0;

	/* An element of a vector is not a record. */
	if (tree->layout == AGGNET_LAYOUT_DENSE) {
		units = tree->channels;
		merged = result->sources > units ? result->sources - units : 0;
	} else if (result->records >= units) {
		merged = result->records - units;
		json_object_set_new(stats, "merged_on_the_way",
				    json_integer((json_int_t)merged));
	}
	/* Own records of the receiver are in no packet. */
	if (units && !tree->writers)
		json_object_set_new(stats, "bytes_saved", json_integer((json_int_t)
				    ((double)merged * (double)tree->bytes_in /
				     (double)units)));
}

static void put_result(json_t *stats, const struct transfer_stats *s,
		       const struct aggnet_result *result)
{
	json_object_set_new(stats, "sources",
			    json_integer((json_int_t)result->sources));
	json_object_set_new(stats, "of", json_integer((json_int_t)result->of));
	if (result->records)
		json_object_set_new(stats, "records",
				    json_integer((json_int_t)result->records));
	if (s->found)
		put_saved(stats, &s->tree, result);
}

/**
 * transfer_stats_json() - all numbers as an object
 * @s: ended
 * @result: at the receiver; NULL at a source
 *
 * Numbers that could not be read are missing, and "node" says why.
 */
json_t *transfer_stats_json(const struct transfer_stats *s,
			    const struct aggnet_result *result)
{
	json_t *stats = json_object();

	if (s->found)
		put_tree(stats, &s->tree);
	if (result)
		put_result(stats, s, result);
	else if (s->found)
		json_object_set_new(stats, "bytes_saved", json_integer((json_int_t)
				    transfer_stats_saved(&s->tree)));
	if (s->counted)
		json_object_set_new(stats, "fallbacks",
				    fallback_json(&s->after, &s->before));
	if (s->why[0])
		json_object_set_new(stats, "node", json_string(s->why));
	json_object_set_new(stats, "seconds", json_real(s->seconds));
	return stats;
}

static const struct column stats_cols[] = {
	{ "records", "records of the sources" },
	{ "sent", "records of this process" },
	{ "records_in", "records in" },
	{ "merged_on_the_way", "merged on the way" },
	{ "records_out", "records out" },
	{ "flows", "flows that arrived" },
	{ "flows_planned", "flows planned" },
	{ "packets_in", "packets in" },
	{ "packets_out", "packets out" },
	{ "bytes_in", "bytes of records in" },
	{ "bytes_out", "bytes of records out" },
	{ "retransmissions", "retransmissions" },
	{ "acceptor", "merged next at" },
	{ "node", "node counters unreadable" },
	{ "seconds", "seconds" },
};

#define LISTED	8	/* hosts that a line names at most */

static json_int_t number_of(const json_t *stats, const char *name)
{
	return json_integer_value(json_object_get(stats, name));
}

static void print_flows(const json_t *stats)
{
	const json_t *list = json_object_get(stats, "arrived");
	const json_int_t others = number_of(stats, "flows_unplanned");
	size_t i, n = json_array_size(list);

	fprintf(stderr, ", %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
		" planned flows", number_of(stats, "flows") - others,
		number_of(stats, "flows_planned"));
	for (i = 0; i < n && i < LISTED; i++)
		names_print(stderr, "%s%s", i ? ", " : " (",
			    json_string_value(json_array_get(list, i)));
	if (n > LISTED)
		fprintf(stderr, " and %zu more", n - LISTED);
	if (n)
		fputc(')', stderr);
	if (others)
		fprintf(stderr, " and %" JSON_INTEGER_FORMAT " others", others);
	fputs(" arrived", stderr);
}

static void print_saved(const json_t *stats)
{
	const char *next = json_string_value(json_object_get(stats, "acceptor"));

	if (json_object_get(stats, "bytes_saved"))
		fprintf(stderr, ", about %" JSON_INTEGER_FORMAT
			" bytes were saved %s", number_of(stats, "bytes_saved"),
			json_object_get(stats, "of") ? "on the way" : "here");
	if (next)
		names_print(stderr, ", merged next at %s", next);
}

/* The sum, and the causes that there were. @of: what follows the number */
static void print_causes(json_t *causes, const char *of)
{
	const char *cause, *sep = " (";
	json_int_t sum = 0;
	json_t *packets;

	json_object_foreach(causes, cause, packets)
		sum += json_integer_value(packets);
	fprintf(stderr, ", %" JSON_INTEGER_FORMAT " %s", sum, of);
	json_object_foreach(causes, cause, packets) {
		if (!json_integer_value(packets))
			continue;
		fprintf(stderr, "%s%" JSON_INTEGER_FORMAT " %s", sep,
			json_integer_value(packets), cause);
		sep = ", ";
	}
	if (sum)
		fputc(')', stderr);
}

static void print_by_plain_ip(const json_t *stats)
{
	print_causes(json_object_get(stats, "by_plain_ip"),
		     "packets of this node fell back to plain IP");
	/* A source has nodes below, too, if it merges: their receiver tells of them. */
	if (json_object_get(stats, "of"))
		print_causes(json_object_get(stats, "by_plain_ip_of_nodes_below"),
			     "of other nodes");
}

/* The table in one line. */
static void print_short(const json_t *stats)
{
	const char *unread = json_string_value(json_object_get(stats, "node"));

	fputs("in short: ", stderr);
	if (json_object_get(stats, "of"))
		fprintf(stderr, "%" JSON_INTEGER_FORMAT " of %"
			JSON_INTEGER_FORMAT " sources",
			number_of(stats, "sources"), number_of(stats, "of"));
	else
		fprintf(stderr, "%" JSON_INTEGER_FORMAT " records sent",
			number_of(stats, "sent"));
	if (json_object_get(stats, "flows")) {
		print_flows(stats);
		print_saved(stats);
		print_by_plain_ip(stats);
	} else if (unread) {
		fprintf(stderr, "; flows, saved bytes and packets by plain IP are not known: %s",
			unread);
	}
	fputc('\n', stderr);
}

/* With the name of the host. */
static json_t *table_of(const json_t *stats)
{
	json_t *table = json_copy((json_t *)stats);

	names_put(table, "acceptor");
	return table;
}

/**
 * transfer_stats_print() - print the numbers as a table on standard error
 * @stats: from transfer_stats_json()
 */
void transfer_stats_print(const json_t *stats)
{
	const json_t *list = json_object_get(stats, "fallbacks"), *row;
	json_t *table = table_of(stats);
	size_t i;

	out_fields_to(stderr, stats_cols, ARRAY_SIZE(stats_cols), table);
	json_decref(table);
	if (list && !json_array_size(list))
		fputs("off the planned way: no packet of this node\n", stderr);
	json_array_foreach(list, i, row)
		fprintf(stderr, "off the planned way: %" JSON_INTEGER_FORMAT
			" packets (%s): %s; %s\n",
			json_integer_value(json_object_get(row, "count")),
			json_string_value(json_object_get(row, "counter")),
			json_string_value(json_object_get(row, "cause")),
			json_string_value(json_object_get(row, "fix")));
	print_short(stats);
}

static void tell(const char *command, const char *of, json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		err("%s: %" JSON_INTEGER_FORMAT " packets of %s left by plain IP: %s. Next: %s",
		    command, json_integer_value(json_object_get(row, "count")), of,
		    json_string_value(json_object_get(row, "cause")),
		    json_string_value(json_object_get(row, "fix")));
	json_decref(rows);
}

/**
 * transfer_stats_tell() - print how many packets left by plain IP, and why
 * @s: ended; nothing is printed if the node could not be read
 * @command: send or recv
 */
void transfer_stats_tell(const struct transfer_stats *s, const char *command)
{
	if (!s->found)
		return;
	tell(command, "this node", fallback_tree_json(&s->tree));
	tell(command, "other nodes", fallback_below_json(&s->tree));
}

/**
 * transfer_failed() - print why a transfer failed, and the next command
 * @command: send or recv
 * @error: the library's sentence
 * @timed_out: nothing more has arrived; that has a cause on another node
 * @job: of the transfer
 *
 * Return: ST_FAILED.
 */
int transfer_failed(const char *command, const char *error, bool timed_out,
		    uint32_t job)
{
	err("%s: %s", command, error);
	if (timed_out)
		err("%s: 'aggctl why %u' names the cause, here or on the nodes that are named",
		    command, job);
	return ST_FAILED;
}

/**
 * transfer_stats_clear() - free what was read
 * @s: begun
 */
void transfer_stats_clear(struct transfer_stats *s)
{
	free(s->before.list);
	free(s->after.list);
	clear_tree(s);
	*s = (struct transfer_stats){};
}
