// SPDX-License-Identifier: GPL-2.0
/* aggctl recv: receive a transfer and print the merged lines. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggnet_data.h"
#include "cmd/bcast.h"
#include "cmd/cmd.h"
#include "cmd/rewind.h"
#include "cmd/sync.h"
#include "cmd/text_record.h"
#include "cmd/transfer_stats.h"
#include "info.h"
#include "names.h"
#include "output.h"

static uint64_t job = UINT64_MAX;
static const char *receiver;
static uint32_t timeout;
static uint32_t repair = REPAIR_DEFAULT_MS;
static uint32_t top;
static bool stream;
static bool to_disk;
static const struct verb verbs[];
static bool show_stats;
static struct transfer_stats stats;
static bool told;	/* what fell back to plain IP */

#define STREAM_LOOK_MS	100	/* interval of checking a time limit */

static int take_back(off_t start)
{
	if (start < 0)
		return fail("recv: a new attempt has begun: discard what was printed");
	if (rewind_to(start))
		return fail("recv: standard output: %s", strerror(errno));
	/* Packets of the new attempt leave by other links. */
	told = false;
	return ST_DONE;
}

static struct text_form form_of(struct aggnet_sink *sink)
{
	struct aggnet_status status = {};

	aggnet_sink_status(sink, &status);
	if (status.function == AGGNET_FN_COUNT)
		status.vtype = AGGNET_VTYPE_INT64;
	if (status.function == AGGNET_FN_AVERAGE &&
	    status.vtype != AGGNET_VTYPE_FLOAT32)
		status.vtype = AGGNET_VTYPE_FLOAT64;
	return text_form(&status);
}

static void print_key(FILE *f, const struct text_form *form,
		      const struct aggnet_entry *entry, bool ascii)
{
	if (form->dense)
		fprintf(f, "%llu", (unsigned long long)entry->offset);
	else
		text_record_print_key(f, entry->key, entry->klen, ascii);
}

static void print_line(const struct text_form *form,
		       const struct aggnet_entry *entry)
{
	size_t i;

	for (i = 0; form->pairs && i < entry->n; i++) {
		print_key(stdout, form, entry, false);
		putchar('\t');
		text_record_print_value(stdout, form, entry->best[i].value,
					entry->best[i].real);
		printf("\t%llu\n", (unsigned long long)entry->best[i].id);
	}
	if (form->pairs)
		return;
	print_key(stdout, form, entry, false);
	putchar('\t');
	text_record_print_value(stdout, form, entry->value, entry->real);
	putchar('\n');
}

static void print_lines(struct aggnet_sink *sink)
{
	const struct text_form form = form_of(sink);
	struct aggnet_entry entry;

	while (aggnet_sink_next(sink, &entry))
		print_line(&form, &entry);
}

/* What is printed as a JSON string; NULL: it is not UTF-8, or no memory. */
static json_t *key_text(const struct text_form *form,
			const struct aggnet_entry *entry, bool ascii)
{
	char *text = NULL;
	json_t *value;
	size_t len;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		return NULL;
	print_key(f, form, entry, ascii);
	fclose(f);
	value = json_stringn(text, len);
	free(text);
	return value;
}

/* The text that a line would have; JSON has UTF-8 only, other bytes are escaped. */
static json_t *key_json(const struct text_form *form,
			const struct aggnet_entry *entry)
{
	json_t *key = key_text(form, entry, false);

	return key ? key : key_text(form, entry, true);
}

/* Whether a JSON number, which readers make a double, has all digits. */
static bool double_holds(int64_t value)
{
	return (long double)(double)value == (long double)value;
}

static json_t *value_text(const struct text_form *form, int64_t value,
			  double real)
{
	char *text = NULL;
	json_t *string;
	size_t len;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		return NULL;
	text_record_print_value(f, form, value, real);
	fclose(f);
	string = json_stringn(text, len);
	free(text);
	return string;
}

/* Numbers that JSON does not have are texts: nan, inf, -inf, and all digits. */
static json_t *number_json(const struct text_form *form, int64_t value,
			   double real)
{
	if (form->vtype == AGGNET_VTYPE_INT64 ||
	    form->vtype == AGGNET_VTYPE_INT32)
		return json_integer((json_int_t)value);
	if (form->vtype == AGGNET_VTYPE_FIXED && !double_holds(value))
		return value_text(form, value, real);
	return isfinite(real) ? json_real(real) : json_sprintf("%g", real);
}

static json_t *id_json(uint64_t id)
{
	return id <= INT64_MAX ? json_integer((json_int_t)id) :
	       json_sprintf("%llu", (unsigned long long)id);
}

static json_t *value_json(const struct text_form *form,
			  const struct aggnet_entry *entry)
{
	json_t *list;
	size_t i;

	if (!form->pairs)
		return number_json(form, entry->value, entry->real);
	list = json_array();
	for (i = 0; i < entry->n; i++) {
		const struct aggnet_best *best = &entry->best[i];
		json_t *number = number_json(form, best->value, best->real);

		json_array_append_new(list, json_pack("[o, o]", number,
						      id_json(best->id)));
	}
	return list;
}

static json_t *absent_json(const struct aggnet_sink *sink)
{
	struct aggnet_addrs list;

	list.addr = (struct in_addr *)aggnet_sink_absent(sink, &list.n);
	return addrs_json(&list);
}

static void tell_absent(const struct aggnet_sink *sink,
			const struct aggnet_result *result)
{
	const struct in_addr *addr;
	size_t i, n;

	addr = aggnet_sink_absent(sink, &n);
	err("recv: complete without %u of %u sources, which the plan left out",
	    result->absent, result->of);
	for (i = 0; i < n; i++)
		err("recv: absent: %s", addr_text(addr[i]));
}

static int print_json(struct aggnet_sink *sink,
		      const struct aggnet_result *result)
{
	const struct text_form form = form_of(sink);
	json_t *lines = json_array();
	struct aggnet_entry entry;
	json_t *key;

	while (aggnet_sink_next(sink, &entry)) {
		key = key_json(&form, &entry);
		if (!key) {
			json_decref(lines);
			return fail("recv: out of memory");
		}
		json_array_append_new(lines,
				      json_pack("[o, o]", key,
						value_json(&form, &entry)));
	}
	return out_json(json_pack("{s:I, s:I, s:o, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o*}",
				  "instance", (json_int_t)result->instance,
				  "attempt", (json_int_t)result->attempt,
				  "plan", info_bytes(result->plan,
						     sizeof(result->plan)),
				  "sources", (json_int_t)result->sources,
				  "of", (json_int_t)result->of,
				  "partials", (json_int_t)result->partials,
				  "absent", absent_json(sink),
				  "records", (json_int_t)result->records,
				  "keys", (json_int_t)result->keys,
				  "lines", lines, "stats",
				  show_stats ?
				  transfer_stats_json(&stats, result) :
				  NULL));
}

/*
 * Planned nodes that have not bound here, if the node can be read. A node that is
 * missing in several stripes counts once, so only those with a name are counted.
 */
static void tell_unbound(void)
{
	size_t total = stats.unbound.n;
	char names[256];

	if (!stats.found || !stats.unbound.n)
		return;
	if (stats.tree.stripes < 2)
		total = transfer_stats_absent(&stats.tree);
	addrs_text(&stats.unbound, total, names, sizeof(names));
	err("recv: planned, and not here: %s", names);
}

/* Other flows than planned have arrived: some missed a planned merge. */
static void tell_missed(void)
{
	const struct aggnet_tree_info *tree = &stats.tree;

	if (!transfer_stats_missed(&stats))
		return;
	err("recv: not merged as planned: %u of %u planned flows arrived here, and %u unplanned; 'aggctl why %llu --hosts FILE' names the cause and its host",
	    tree->channels - tree->unplanned, transfer_stats_planned(tree),
	    tree->unplanned, (unsigned long long)job);
	tell_unbound();
}

static void tell_partial(const struct aggnet_sink *sink,
			 const struct aggnet_result *result)
{
	transfer_stats_end(&stats);
	if (result->partials)
		err(result->partials == 1 ?
		    "recv: complete, but %u node did not wait for all its contributors: 'aggctl why %llu --hosts FILE' names it" :
		    "recv: complete, but %u nodes did not wait for all their contributors: 'aggctl why %llu --hosts FILE' names them",
		    result->partials, (unsigned long long)job);
	if (result->absent)
		tell_absent(sink, result);
	tell_missed();
	transfer_stats_tell(&stats, "recv");
	told = true;
}

static int printed(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return ST_DONE;
	return fail("recv: standard output: %s", strerror(errno));
}

static int print_result(const struct aggctl *ctl, struct aggnet_sink *sink)
{
	const struct aggnet_result *result = aggnet_sink_result(sink);
	int st = ST_DONE;

	tell_partial(sink, result);
	if (top && form_of(sink).dense)
		return fail("recv: --top: a vector has no keys to leave out");
	if (top)
		aggnet_sink_top(sink, top);
	else
		aggnet_sink_sort(sink);
	if (ctl->json)
		st = print_json(sink, result);
	else
		print_lines(sink);
	return st ? st : printed();
}

/* @error: what the call has returned; -ETIMEDOUT also if --timeout has passed */
static int refused(struct aggnet_sink *sink, int error)
{
	struct aggnet_status status = {};

	/* Without memory there is no handle. */
	if (sink)
		aggnet_sink_status(sink, &status);
	if (error == -ETIMEDOUT && status.reason != AGGNET_R_TIMEOUT) {
		transfer_stats_end(&stats);
		tell_unbound();
	}
	return transfer_failed("recv", aggnet_sink_error(sink),
			       error == -ETIMEDOUT ||
			       status.reason == AGGNET_R_TIMEOUT, (uint32_t)job);
}

static int receive_whole(const struct aggctl *ctl, struct aggnet_sink *sink)
{
	int error;

	do
		error = aggnet_sink_run(sink);
	while (error == -EINTR);
	return error ? refused(sink, error) : print_result(ctl, sink);
}

/* Print the available lines before waiting. */
static int await_lines(struct aggnet_sink *sink)
{
	struct pollfd pfd = { .fd = aggnet_sink_fd(sink), .events = POLLIN };

	int st = printed();

	if (!st)
		poll(&pfd, 1, timeout ? STREAM_LOOK_MS : -1);
	return st;
}

/* Print lines as they come; start again if a new attempt begins. */
static int receive_lines(struct aggnet_sink *sink, off_t start)
{
	struct aggnet_entry entry;
	struct text_form form;
	int got, st = ST_DONE;
	bool first = true;

	while (!st) {
		got = aggnet_sink_stream(sink, &entry);
		if (got > 0) {
			if (first)
				form = form_of(sink);
			first = false;
			print_line(&form, &entry);
		} else if (got == -EAGAIN) {
			st = await_lines(sink);
		} else if (got == -ESTALE) {
			st = take_back(start);
			first = true;
		} else if (!got) {
			tell_partial(sink, aggnet_sink_result(sink));
			return printed();
		} else if (got != -EINTR) {
			st = refused(sink, got);
		}
	}
	return st;
}

static int written(int dir)
{
	if (!to_disk || !sync_output(dir))
		return ST_DONE;
	return fail("recv: --sync: standard output: %s", strerror(errno));
}

/* Commit the result only after it has been written. */
static int receive(const struct aggctl *ctl, struct aggnet_sink *sink, int dir)
{
	off_t start = rewind_start();
	int error, st;

	for (;;) {
		st = stream ? receive_lines(sink, start) :
			      receive_whole(ctl, sink);
		if (!st && !aggnet_sink_result(sink)->last)
			st = fail("recv: this is one round of a persistent tree, and others follow: read them with aggnet_sink_round(), see libaggnet(3)");
		if (!st)
			st = written(dir);
		if (st)
			return st;
		do
			error = aggnet_sink_commit(sink);
		while (error == -EINTR);
		if (!error)
			return ST_DONE;
		if (error != -ESTALE)
			return refused(sink, error);
		st = take_back(start);
		if (st)
			return st;
	}
}

static void print_stats(const struct aggnet_sink *sink)
{
	json_t *object = transfer_stats_json(&stats, aggnet_sink_result(sink));

	transfer_stats_print(object);
	json_decref(object);
}

static int transfer(const struct aggctl *ctl, struct in_addr self, int dir)
{
	const struct aggnet_options options = {
		.flags = stream ? AGGNET_OPT_NONBLOCK : 0,
		.timeout_ms = timeout,
		.repair_ms = repair,
	};
	struct aggnet_sink *sink;
	int st, error;

	told = false;
	transfer_stats_begin(&stats, self, (uint32_t)job, show_stats);
	error = aggnet_sink_open(&sink, self, (uint32_t)job, &options);
	if (error)
		st = refused(sink, error);
	else
		st = receive(ctl, sink, dir);
	if (st && !error && !told) {
		transfer_stats_end(&stats);
		transfer_stats_tell(&stats, "recv");
	}
	if (!st && show_stats && !ctl->json)
		print_stats(sink);
	transfer_stats_clear(&stats);
	aggnet_sink_close(sink);
	return st;
}

/*
 * Refuse a wrong option before joining: later it would fail all senders. If the
 * look-up fails, joining reports the cause.
 */
static int check_layout(struct in_addr self)
{
	struct aggnet_status status;

	if ((!top && !stream) || aggnet_lookup(self, (uint32_t)job, &status))
		return ST_DONE;
	if (top && status.layout == AGGNET_LAYOUT_DENSE)
		return fail("recv: --top: a vector has no keys to leave out");
	if (stream && status.layout != AGGNET_LAYOUT_SORTED)
		return fail("recv: --stream: the transfer is not sorted");
	return ST_DONE;
}

/* Of a broadcast the receiver is the root, and this node is a member. */
static bool leads_down(struct in_addr receiver_addr)
{
	struct aggnet_status status;

	return !aggnet_lookup(receiver_addr, (uint32_t)job, &status) &&
	       status.direction == AGGNET_DIR_DOWN;
}

/* A stream has bytes, not keys, and its transfer is not repaired. */
static int check_stream(const struct aggctl *ctl)
{
	static const char *const other[] = { "top", "stream", "stats", "repair" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other); i++)
		if (options_has(ctl, verbs, other[i]))
			return usage("recv: --%s is not for broadcasts",
				     other[i]);
	return ctl->json ? usage("recv: --json is not for broadcasts") : ST_DONE;
}

static int run_recv(const struct aggctl *ctl, int argc, char **argv)
{
	struct in_addr self = {};
	int st, dir = -1;

	(void)argc;
	(void)argv;
	if (job > UINT32_MAX)
		return usage("recv: needs --job");
	if (receiver && !names_parse(receiver, &self))
		return usage("recv: --receiver: '%s' is %s", receiver, names_no_host());
	if (stream && (top || ctl->json))
		return usage("recv: --stream: %s needs the whole result",
			     top ? "--top" : "JSON");
	if (to_disk)
		dir = sync_directory();
	if (to_disk && dir < 0)
		return fail("recv: --sync: standard output is not a file in a directory");
	if (leads_down(self)) {
		st = check_stream(ctl);
		if (!st)
			st = bcast_receive("recv", self, (uint32_t)job, timeout,
					   dir);
	} else {
		st = check_layout(self);
		if (!st)
			st = transfer(ctl, self, dir);
	}
	if (dir >= 0)
		close(dir);
	return st;
}

static const struct opt opts[] = {
	{ "job", OPT_JOB, &job, "J", "job ID" },
	{ "receiver", OPT_STRING, &receiver, "A",
	  "this node, by name or identity (the one that it has); of a broadcast: the root" },
	{ "top", OPT_U32, &top, "N",
	  "only the N greatest values, descending (topk, nearest: the N best keys)" },
	{ "stream", OPT_FLAG, &stream, NULL,
	  "print each line of a sorted transfer as soon as it is final" },
	{ "sync", OPT_FLAG, &to_disk, NULL,
	  "sync the file and its directory before the senders get DONE" },
	{ "stats", OPT_FLAG, &show_stats, NULL,
	  "at the end, print what was merged on the way to standard error" },
	{ "timeout", OPT_WAIT, &timeout, "S",
	  "give up after so many seconds, even if the transfer progresses (no limit)" },
	{ "repair", OPT_WAIT, &repair, "S",
	  "seconds to wait for a new attempt when the transfer is lost (5)" },
};

static const struct verb verbs[] = {
	{
		.args = "",
		.help = "receive a transfer; print 'key TAB value' lines, one a key",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_recv,
	},
};

const struct command cmd_recv = {
	.name = "recv",
	.help = "receive a transfer",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
