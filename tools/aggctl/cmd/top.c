// SPDX-License-Identifier: GPL-2.0
/* Rates of entries, from two samples. */
#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/top.h"
#include "cmd/transfer_stats.h"
#include "info.h"
#include "names.h"

static const struct aggnet_tree_info *
find(const struct top_sample *sample, const struct aggnet_tree_info *tree)
{
	const struct aggnet_tree_info *t = sample->list;
	size_t i;

	for (i = 0; i < sample->n; i++, t++)
		if (t->incast_id == tree->incast_id &&
		    t->instance == tree->instance && t->attempt == tree->attempt)
			return t;
	return NULL;
}

json_t *top_bound(const struct aggnet_tree_info *tree)
{
	return json_sprintf("%u/%u", tree->channels,
			    transfer_stats_planned(tree));
}

json_int_t top_fallbacks(const struct aggnet_tree_info *tree)
{
	return (json_int_t)tree->fallback_link + tree->fallback_bloom +
	       tree->fallback_policy + tree->fallback_round;
}

/* Three digits after the point are enough for a reader. */
static void set_rate(json_t *row, const char *name, uint64_t now,
		     uint64_t before, double factor)
{
	double rate = now > before ? (double)(now - before) * factor : 0;

	json_object_set_new(row, name, json_real(round(rate * 1000) / 1000));
}

/* Records that came in and do not leave: an aggregator's work. */
static json_t *merged_percent(const struct aggnet_tree_info *tree)
{
	if (!tree->records_in || tree->records_out > tree->records_in)
		return json_null();
	return json_real(round(1000 - 1000.0 * (double)tree->records_out /
				      (double)tree->records_in) / 10);
}

static json_t *row_of(const struct aggnet_tree_info *tree,
		      const struct aggnet_tree_info *before, double seconds)
{
	json_t *row = json_pack("{s:I, s:s, s:s, s:b, s:o, s:o, s:I, s:I}",
				"job", (json_int_t)aggnet_incast_job(tree->incast_id),
				"receiver",
				addr_text(aggnet_incast_receiver(tree->incast_id)),
				"state", info_name(aggnet_state_names, tree->state),
				"forwards", transfer_stats_forwards(tree),
				"bound", top_bound(tree),
				"merged_percent", merged_percent(tree),
				"fallbacks", top_fallbacks(tree),
				"memory_used", (json_int_t)tree->memory_used);

	if (!before || seconds <= 0)
		return row;
	set_rate(row, "records_in_s", tree->records_in, before->records_in,
		 1 / seconds);
	set_rate(row, "records_out_s", tree->records_out, before->records_out,
		 1 / seconds);
	set_rate(row, "mbit_in_s", tree->bytes_in, before->bytes_in,
		 8e-6 / seconds);
	set_rate(row, "mbit_out_s", tree->bytes_out, before->bytes_out,
		 8e-6 / seconds);
	return row;
}

static double traffic(const json_t *row)
{
	return json_real_value(json_object_get(row, "mbit_in_s")) +
	       json_real_value(json_object_get(row, "mbit_out_s"));
}

/* Rows of equal traffic stay in the order of the node. */
static size_t place(const json_t *rows, double mbit)
{
	size_t i = json_array_size(rows);

	while (i && traffic(json_array_get(rows, i - 1)) < mbit)
		i--;
	return i;
}

json_t *top_rows(const struct top_sample *now, const struct top_sample *before)
{
	double seconds = (double)(now->ns - before->ns) / 1e9;
	json_t *rows = json_array(), *row;
	size_t i;

	for (i = 0; i < now->n; i++) {
		row = row_of(&now->list[i], find(before, &now->list[i]),
			     seconds);
		json_array_insert_new(rows, place(rows, traffic(row)), row);
	}
	return rows;
}

void top_name(json_t *row)
{
	const char *text = json_string_value(json_object_get(row, "receiver"));
	struct in_addr addr;
	const char *name;

	if (!text || inet_pton(AF_INET, text, &addr) != 1)
		return;
	name = names_host(addr);
	if (strlen(name) < INET_ADDRSTRLEN)
		json_object_set_new(row, "receiver", json_string(name));
}

void top_text(json_t *row)
{
	top_name(row);
	if (json_is_true(json_object_get(row, "forwards")))
		json_object_set_new(row, "state", json_string("forwards"));
}
