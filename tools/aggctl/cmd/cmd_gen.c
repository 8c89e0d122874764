// SPDX-License-Identifier: GPL-2.0
/* aggctl gen: make the inputs of sources, with an exact aggregation ratio. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/load.h"
#include "output.h"

static struct {
	uint32_t senders;
	uint32_t records;
	uint64_t bytes;
	double delta;
	uint32_t words;
	uint32_t key_bytes;
	bool sorted;
	uint64_t seed;
	const char *out;
	uint32_t source;
} opt = {
	.key_bytes = LOAD_KEY_BYTES,
	.seed = 1,
};

static const struct verb verbs[];

static bool given(const struct aggctl *ctl, const char *name)
{
	return options_has(ctl, verbs, name);
}

/* Options of which one is needed, or of which both are too many. */
static int check_pairs(const struct aggctl *ctl)
{
	static const char * const apart[][2] = {
		{ "bytes", "records" }, { "delta", "dict" },
		{ "sorted", "dict" }, { "source", "out" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(apart); i++)
		if (given(ctl, apart[i][0]) && given(ctl, apart[i][1]))
			return usage("gen: --%s: cannot be combined with --%s",
				     apart[i][0], apart[i][1]);
	if (!given(ctl, "senders"))
		return usage("gen: needs --senders");
	if (!given(ctl, "records") && !given(ctl, "bytes"))
		return usage("gen: needs --records or --bytes");
	if (!given(ctl, "delta") && !given(ctl, "dict"))
		return usage("gen: needs --delta or --dict");
	if (ctl->json && given(ctl, "source"))
		return usage("gen: --source: prints lines; it cannot be combined with --json");
	return ST_DONE;
}

static int check_numbers(const struct aggctl *ctl)
{
	if (!opt.senders)
		return usage("gen: --senders: must be more than 0");
	if (given(ctl, "records") && !opt.records)
		return usage("gen: --records: must be more than 0");
	if (opt.delta > 1)
		return usage("gen: --delta: %g is not in 0..1", opt.delta);
	if (given(ctl, "dict") && !opt.words)
		return usage("gen: --dict: must be more than 0");
	if (!opt.key_bytes || opt.key_bytes > AGGNET_KEY_MAX)
		return usage("gen: --key-bytes: %u is not in 1..%d",
			     opt.key_bytes, AGGNET_KEY_MAX);
	if (given(ctl, "source") && opt.source >= opt.senders)
		return usage("gen: --source: %u is not in 0..%u", opt.source,
			     opt.senders - 1);
	return ST_DONE;
}

/* The number of records, from the bytes of all. */
static int count_records(const struct aggctl *ctl, struct load *load)
{
	uint32_t one = load_record_bytes(load);
	uint64_t records;

	load->records = opt.records;
	if (!given(ctl, "bytes"))
		return ST_DONE;
	records = opt.bytes / one + (opt.bytes % one >= (one + 1) / 2);
	if (opt.bytes < one)
		return usage("gen: --bytes: a record has %u bytes", one);
	if (records > UINT32_MAX)
		return usage("gen: --bytes: %llu records are too many; the most is %u",
			     (unsigned long long)records, UINT32_MAX);
	load->records = (uint32_t)records;
	return ST_DONE;
}

static int make_load(const struct aggctl *ctl, struct load *load)
{
	int st;

	*load = (struct load){
		.seed = opt.seed, .senders = opt.senders, .words = opt.words,
		.klen = opt.key_bytes, .sorted = opt.sorted,
	};
	st = count_records(ctl, load);
	if (st)
		return st;
	load->own = load_own(load->records, opt.delta);
	if (load->klen < load_key_least(load))
		return usage("gen: --key-bytes: different keys need at least %u",
			     load_key_least(load));
	return ST_DONE;
}

/* Return: false: writing failed, and errno tells why */
static bool write_source(const struct load *load, uint32_t source, FILE *f)
{
	char line[LOAD_LINE_MAX];
	uint32_t i;
	size_t len;

	for (i = 0; i < load->records; i++) {
		len = load_line(load, source, i, line);
		if (fwrite(line, 1, len, f) != len)
			return false;
	}
	return true;
}

static int write_file(const struct load *load, uint32_t source)
{
	int error = 0, st = ST_DONE;
	char *name;
	FILE *f;

	if (asprintf(&name, "%s/source.%u", opt.out, source) < 0)
		return fail("out of memory");
	f = fopen(name, "w");
	if (!f || !write_source(load, source, f))
		error = errno;
	/* Closing writes the rest; the first error counts. */
	if (f && fclose(f) && !error)
		error = errno;
	if (error)
		st = fail("gen: %s: %s", name, strerror(error));
	free(name);
	return st;
}

static int write_files(const struct load *load)
{
	uint32_t source;
	int st = ST_DONE;

	if (mkdir(opt.out, 0777) && errno != EEXIST)
		return fail("gen: %s: %s", opt.out, strerror(errno));
	for (source = 0; !st && source < load->senders; source++)
		st = write_file(load, source);
	return st;
}

static double own_delta(const struct load *load)
{
	return (double)load->own / load->records;
}

/* One source alone has the ratio that its keys were chosen for, but no words'. */
static json_t *ratio_json(const struct load *load, const struct load_size *size)
{
	if (!load->words)
		return json_real(own_delta(load));
	return load->senders > 1 ? json_real(load_delta(size)) : json_null();
}

static json_t *size_json(const struct load *load, const struct load_size *size)
{
	uint64_t in = (uint64_t)load->senders * load->records;
	uint64_t bytes = (uint64_t)load->records * load_record_bytes(load);
	bool exact = !load->words;
	json_t *json;

	json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:o}",
			 "senders", (json_int_t)load->senders,
			 "records", (json_int_t)load->records,
			 "bytes", (json_int_t)bytes,
			 "key_bytes", (json_int_t)load->klen,
			 "union", (json_int_t)size->all,
			 "out_in", (double)size->all / (double)in,
			 "delta", ratio_json(load, size));
	if (json && exact)
		json_object_update_new(json, json_pack(
			"{s:I, s:I, s:f, s:b}",
			"common", (json_int_t)(load->records - load->own),
			"own", (json_int_t)load->own, "asked", opt.delta,
			"rounded", own_delta(load) != opt.delta));
	else if (json)
		json_object_set_new(json, "words",
				    json_integer(load->words));
	return json;
}

static int show_size(const struct aggctl *ctl, const struct load *load)
{
	static const struct column cols[] = {
		{ "senders", "senders" },
		{ "records", "records of each" },
		{ "bytes", "bytes of each" },
		{ "key_bytes", "bytes of a key" },
		{ "words", "words" },
		{ "common", "common keys" },
		{ "own", "own keys" },
		{ "union", "union" },
		{ "out_in", "out/in" },
		{ "delta", "delta" },
		{ "asked", "delta asked for" },
		{ "rounded", "rounded" },
	};
	struct load_size size;
	json_t *json;

	if (load_measure(load, &size))
		return fail("out of memory");
	json = size_json(load, &size);
	if (ctl->json || !json)
		return out_json(json);
	out_fields(cols, ARRAY_SIZE(cols), json);
	json_decref(json);
	return ST_DONE;
}

static int print_source(const struct load *load)
{
	if (!load->words && own_delta(load) != opt.delta)
		err("gen: --delta: %g is rounded to %u / %u", opt.delta,
		    load->own, load->records);
	/* Errors of standard output are reported at the end. */
	return write_source(load, opt.source, stdout) ? ST_DONE : ST_FAILED;
}

static int run_gen(const struct aggctl *ctl, int argc, char **argv)
{
	struct load load;
	int st = check_pairs(ctl);

	(void)argc;
	(void)argv;
	if (!st)
		st = check_numbers(ctl);
	if (!st)
		st = make_load(ctl, &load);
	if (!st && given(ctl, "source"))
		return print_source(&load);
	if (!st && opt.out)
		st = write_files(&load);
	return st ? st : show_size(ctl, &load);
}

static const struct opt opts[] = {
	{ "senders", OPT_U32, &opt.senders, "M", "number of sources" },
	{ "records", OPT_U32, &opt.records, "N", "records of each source" },
	{ "bytes", OPT_SIZE, &opt.bytes, "BYTES",
	  "instead: bytes of these records in packets" },
	{ "delta", OPT_REAL, &opt.delta, "D", "aggregation ratio 0..1" },
	{ "dict", OPT_U32, &opt.words, "N",
	  "instead: draw each record from N words" },
	{ "key-bytes", OPT_U32, &opt.key_bytes, "K", "length of the keys (16)" },
	{ "sorted", OPT_FLAG, &opt.sorted, NULL, "in the order of keys" },
	{ "seed", OPT_U64, &opt.seed, "N", "seed (1)" },
	{ "out", OPT_STRING, &opt.out, "DIR",
	  "write the files DIR/source.0, DIR/source.1, ..." },
	{ "source", OPT_U32, &opt.source, "I",
	  "print the input of source I, from 0" },
};

static const struct verb verbs[] = {
	{
		.args = "",
		.help = "make inputs of sources with an exact aggregation ratio",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_gen,
	},
};

const struct command cmd_gen = {
	.name = "gen",
	.help = "make the inputs of a transfer",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
