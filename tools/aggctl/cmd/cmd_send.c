// SPDX-License-Identifier: GPL-2.0
/* aggctl send: contribute the lines of a file or a pipe to a transfer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "aggnet_data.h"
#include "cmd/bcast.h"
#include "cmd/cmd.h"
#include "cmd/text_record.h"
#include "cmd/transfer_stats.h"
#include "info.h"
#include "names.h"
#include "output.h"

static uint64_t job = UINT64_MAX;
static const char *receiver;
static uint32_t timeout;
static uint32_t repair = REPAIR_DEFAULT_MS;
static bool no_replay;
static const struct verb verbs[];
static bool show_stats;
static const char *spool_dir;
static uint64_t spool_max;

/**
 * struct input - the input's lines
 * @f: its stream
 * @name: its name
 * @again: it can be read more than once
 * @line: the current line
 * @room: allocated for it
 * @number: its number
 * @form: format of its value
 * @last: key of the previous line
 * @llen: its bytes, 0: there is no such line
 */
struct input {
	FILE *f;
	const char *name;
	bool again;
	char *line;
	size_t room;
	uint64_t number;
	struct text_form form;
	uint8_t last[AGGNET_KEY_MAX];
	size_t llen;
};

static int open_input(struct input *in, const char *path)
{
	struct stat st;

	memset(in, 0, sizeof(*in));
	in->name = path && strcmp(path, "-") ? path : "standard input";
	in->f = in->name == path ? fopen(path, "r") : stdin;
	if (!in->f || fstat(fileno(in->f), &st))
		return fail("send: %s: %s", in->name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail("send: %s: %s", in->name, strerror(EISDIR));
	/* Part of a file may have been read before aggctl got it. */
	in->again = S_ISREG(st.st_mode) && !ftell(in->f);
	return ST_DONE;
}

static void close_input(struct input *in)
{
	if (in->f && in->f != stdin)
		fclose(in->f);
	free(in->line);
}

/* The next record; ST_DONE with @got false at the end. */
static int next_record(struct input *in, struct text_record *record, bool *got)
{
	char why[TEXT_RECORD_WHY];
	ssize_t len;

	*got = false;
	len = getline(&in->line, &in->room, in->f);
	/*
	 * getline() returns -1 without memory, and sets neither end nor error.
	 */
	if (len < 0 && !feof(in->f))
		return fail("send: %s: %s", in->name, strerror(errno));
	if (len < 0)
		return ST_DONE;
	in->number++;
	if (!text_record_parse(in->line, (size_t)len, &in->form, record, why))
		return fail("send: %s: line %llu: %s", in->name,
			    (unsigned long long)in->number, why);
	if (in->form.dense && !text_record_key_is(record, in->number - 1))
		return fail("send: %s: line %llu: element %llu is next",
			    in->name, (unsigned long long)in->number,
			    (unsigned long long)in->number - 1);
	if (in->form.sorted && !text_record_sorts(record, in->last, in->llen))
		return fail("send: %s: line %llu: its key sorts before the previous line's key",
			    in->name, (unsigned long long)in->number);
	memcpy(in->last, record->key, record->klen);
	in->llen = record->klen;
	*got = true;
	return ST_DONE;
}

static int start_over(struct input *in)
{
	in->number = 0;
	in->llen = 0;
	if (!fseek(in->f, 0, SEEK_SET))
		return ST_DONE;
	return fail("send: %s: %s", in->name, strerror(errno));
}

/*
 * Check a file before joining the transfer, so that a bad line does no harm; in
 * a pipe it ends the transfer.
 */
static int check_input(struct input *in)
{
	struct text_record record;
	int st = ST_DONE;
	bool got = true;

	if (!in->again)
		return ST_DONE;
	while (!st && got)
		st = next_record(in, &record, &got);
	return st ? st : start_over(in);
}

static int add_record(struct aggnet_source *source,
		      const struct text_form *form, const struct text_record *r)
{
	if (form->dense)
		return text_form_float(form) ?
		       aggnet_source_add_element_real(source, r->real) :
		       aggnet_source_add_element(source, r->value);
	if (text_form_float(form))
		return form->pairs ?
		       aggnet_source_add_pair_real(source, r->key, r->klen,
						   r->real, r->id) :
		       aggnet_source_add_real(source, r->key, r->klen, r->real);
	return form->pairs ?
	       aggnet_source_add_pair(source, r->key, r->klen, r->value,
				      r->id) :
	       aggnet_source_add(source, r->key, r->klen, r->value);
}

/* -ESTALE: a new epoch wants all of it again. */
static int add_all(struct aggnet_source *source, struct input *in, int *error)
{
	struct text_record record;
	bool got = true;
	int st;

	for (*error = 0; !*error;) {
		st = next_record(in, &record, &got);
		if (st) {
			aggnet_source_abort(source, AGGNET_R_SENDER);
			return st;
		}
		if (!got)
			break;
		do
			*error = add_record(source, &in->form, &record);
		while (*error == -EINTR);
	}
	return ST_DONE;
}

static int refused(const struct aggnet_source *source, int error)
{
	if (error == -EFBIG)
		return fail("send: %s: raise --spool-max, or give --no-replay",
			    aggnet_source_error(source));
	return transfer_failed("send", aggnet_source_error(source),
			       error == -ETIMEDOUT, (uint32_t)job);
}

/* It may be what the user wants, and it may be the wrong file. */
static int tell_empty(const struct aggnet_source *source,
		      const struct input *in)
{
	if (!aggnet_source_records(source))
		err("send: %s has no records: this source contributes none",
		    in->name);
	return ST_DONE;
}

static int contribute(struct aggnet_source *source, struct input *in)
{
	int error, st;

	do {
		st = add_all(source, in, &error);
		while (!st && (!error || error == -EINTR)) {
			error = aggnet_source_finish(source);
			if (!error)
				return tell_empty(source, in);
		}
		if (!st && error == -ESTALE && in->again)
			st = start_over(in);
		else if (!st)
			st = refused(source, error);
	} while (!st);
	return st;
}

static void print_stats(json_t *stats)
{
	transfer_stats_print(stats);
	json_decref(stats);
}

static int show_done(const struct aggctl *ctl, struct aggnet_source *source,
		     json_t *stats)
{
	struct aggnet_status status = {};

	if (!ctl->json && stats)
		print_stats(stats);
	if (!ctl->json)
		return ST_DONE;
	aggnet_source_status(source, &status);
	return out_json(json_pack("{s:I, s:o, s:I, s:i, s:I, s:o*}", "instance",
				  (json_int_t)status.instance, "plan",
				  info_bytes(status.plan, sizeof(status.plan)),
				  "records",
				  (json_int_t)aggnet_source_records(source),
				  "replays",
				  (int)aggnet_source_replays(source), "resent",
				  (json_int_t)aggnet_source_resent(source),
				  "stats", stats));
}

/* Return: what the node did, NULL: not asked for */
static json_t *stats_json(struct transfer_stats *node,
			  const struct aggnet_source *source)
{
	json_t *stats;

	if (!show_stats)
		return NULL;
	stats = transfer_stats_json(node, NULL);
	json_object_set_new(stats, "sent",
			    json_integer((json_int_t)aggnet_source_records(source)));
	return stats;
}

static int transfer(const struct aggctl *ctl, struct in_addr to,
		    struct input *in)
{
	struct aggnet_options options = {
		.flags = no_replay ? AGGNET_OPT_NO_REPLAY :
			 in->again ? AGGNET_OPT_REPLAY : 0,
		.timeout_ms = timeout,
		.repair_ms = repair,
		.spool_dir = spool_dir,
		.spool_max = spool_max,
	};
	struct transfer_stats node = {};
	struct aggnet_source *source;
	struct aggnet_status status;
	int st;

	transfer_stats_begin(&node, to, (uint32_t)job, show_stats);
	if (aggnet_source_open(&source, to, (uint32_t)job, &options)) {
		st = fail("send: %s", aggnet_source_error(source));
	} else {
		/*
		 * The entry may have been added or changed after the look-up.
		 */
		aggnet_source_status(source, &status);
		in->form = text_form(&status);
		st = contribute(source, in);
		/* Fallbacks are told in any case. */
		transfer_stats_end(&node);
		transfer_stats_tell(&node, "send");
	}
	if (!st)
		st = show_done(ctl, source, stats_json(&node, source));
	transfer_stats_clear(&node);
	aggnet_source_close(source);
	return st;
}

/*
 * At the root the job's receiver is this node, whose own entry bcast_send() finds by the
 * job alone. The transfer of a stream is not repaired.
 */
static int check_stream(const struct aggctl *ctl)
{
	static const char *const other[] = { "stats", "spool", "spool-max",
					     "no-replay", "repair" };
	struct aggnet_status status;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other); i++)
		if (options_has(ctl, verbs, other[i]))
			return usage("send: --%s is not for broadcasts",
				     other[i]);
	if (aggnet_lookup((struct in_addr){ INADDR_ANY }, (uint32_t)job,
			  &status) || status.direction != AGGNET_DIR_DOWN)
		return fail("send: %s is the root of the broadcast, and only the root sends: run the command there",
			    receiver);
	return ST_DONE;
}

static int run_send(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_status status;
	struct in_addr to;
	struct input in;
	int st;

	if (job > UINT32_MAX || !receiver)
		return usage("send: needs --job and --receiver");
	if (!names_parse(receiver, &to))
		return usage("send: --receiver: '%s' is %s", receiver, names_no_host());
	if (!aggnet_lookup(to, (uint32_t)job, &status) &&
	    status.direction == AGGNET_DIR_DOWN)
		return check_stream(ctl) ?:
		       bcast_send("send", (uint32_t)job, argc ? argv[0] : NULL,
				  timeout);
	st = open_input(&in, argc ? argv[0] : NULL);
	/* If there is no such transfer, joining reports the cause. */
	if (!st && !aggnet_lookup(to, (uint32_t)job, &status))
		in.form = text_form(&status);
	if (!st)
		st = check_input(&in);
	if (!st)
		st = transfer(ctl, to, &in);
	close_input(&in);
	return st;
}

static const struct opt opts[] = {
	{ "job", OPT_JOB, &job, "J", "job ID" },
	{ "receiver", OPT_STRING, &receiver, "A",
	  "the receiver, by name or identity" },
	{ "stats", OPT_FLAG, &show_stats, NULL,
	  "at the end, print what this node merged and sent to standard error" },
	{ "timeout", OPT_WAIT, &timeout, "S",
	  "give up after so many seconds, even if the transfer progresses (no limit)" },
	{ "repair", OPT_WAIT, &repair, "S",
	  "seconds to wait for a new attempt when the transfer is lost (5)" },
	{ "spool", OPT_STRING, &spool_dir, "DIR",
	  "keep the lines of a pipe here for a new attempt ($TMPDIR or /var/tmp)" },
	{ "spool-max", OPT_SIZE, &spool_max, "BYTES",
	  "limit of these lines; a longer input fails (4G)" },
	{ "no-replay", OPT_FLAG, &no_replay, NULL,
	  "keep no file: an input longer than 64 KiB is not sent again" },
};

static const struct verb verbs[] = {
	{
		.args = "[FILE]",
		.help = "contribute 'key TAB value' lines; done when the receiver has the result",
		.max_args = 1,
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_send,
	},
};

const struct command cmd_send = {
	.name = "send",
	.help = "contribute lines to a transfer",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
