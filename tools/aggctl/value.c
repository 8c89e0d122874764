// SPDX-License-Identifier: GPL-2.0
/* Parsers of option values: numbers, sizes, rates, times, percentages. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aggctl.h"

#define NS_PER_MS	1000000

struct unit {
	const char *suffix;
	double factor;
};

static const struct unit size_units[] = {
	{ "", 1 }, { "k", 1024 }, { "m", 1024 * 1024 },
	{ "g", 1024.0 * 1024 * 1024 },
};

static const struct unit rate_units[] = {
	{ "", 1 }, { "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 },
	{ "gbit", 1e9 },
};

static const struct unit time_units[] = {
	{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
};

static bool parse_unsigned(const char *text, uint64_t max, uint64_t *val)
{
	unsigned long long v;
	char *end;

	/* strtoull() takes "-1" and leading blanks; a count is neither. */
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	/* Base 0 would read 010 as octal. */
	v = strtoull(text, &end, strncasecmp(text, "0x", 2) ? 10 : 16);
	if (errno || *end || v > max)
		return false;
	*val = v;
	return true;
}

static bool parse_real(const char *text, double *val, const char **rest)
{
	char *end;

	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	errno = 0;
	*val = strtod(text, &end);
	if (errno || end == text || !isfinite(*val))
		return false;
	*rest = end;
	return true;
}

/* Digits alone: a link's name is a number that a double need not hold. */
static bool parse_digits(const char *text, uint64_t *val)
{
	char *end;

	errno = 0;
	*val = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno &&
	       *val <= INT64_MAX;
}

static bool parse_units(const char *text, const struct unit *units, size_t n,
			uint64_t *val)
{
	const char *suffix;
	double v;
	size_t i;

	if (!parse_real(text, &v, &suffix))
		return false;
	for (i = 0; i < n; i++)
		if (!strcasecmp(suffix, units[i].suffix))
			break;
	if (i == n)
		return false;
	v *= units[i].factor;
	if (v >= 0x1p63)
		return false;
	*val = (uint64_t)(v + 0.5);
	return true;
}

static bool parse_u32(const char *text, uint32_t *val)
{
	uint64_t v;

	if (!parse_unsigned(text, UINT32_MAX, &v))
		return false;
	*val = (uint32_t)v;
	return true;
}

static bool parse_wait(const char *text, uint32_t *ms)
{
	uint64_t ns, v;

	if (!parse_units(text, time_units, ARRAY_SIZE(time_units), &ns))
		return false;
	v = (ns + NS_PER_MS - 1) / NS_PER_MS;
	if (v > UINT32_MAX)
		return false;
	*ms = (uint32_t)v;
	return true;
}

static bool parse_switches(const char *text, bool *aggnet)
{
	*aggnet = !strcmp(text, "aggnet");
	return *aggnet || !strcmp(text, "dumb");
}

static bool parse_percent(const char *text, double *val)
{
	const char *rest;

	return parse_real(text, val, &rest) &&
	       (!*rest || !strcmp(rest, "%")) && *val <= 100;
}

/**
 * value_parse() - parse the value of an option
 * @type: what it is
 * @text: the argument
 * @dest: where it goes, of the type that @type says
 *
 * Return: whether @text is such a value.
 */
bool value_parse(enum opt_type type, const char *text, void *dest)
{
	const char *rest;

	switch (type) {
	case OPT_FLAG:
		*(bool *)dest = true;
		return true;
	case OPT_STRING:
		*(const char **)dest = text;
		return *text;
	case OPT_U32:
		return parse_u32(text, dest);
	case OPT_U64:
		return parse_unsigned(text, UINT64_MAX, dest);
	case OPT_JOB:
		return parse_unsigned(text, UINT32_MAX, dest);
	case OPT_REAL:
		return parse_real(text, dest, &rest) && !*rest;
	case OPT_SIZE:
		return parse_digits(text, dest) ||
		       parse_units(text, size_units, ARRAY_SIZE(size_units),
				   dest);
	case OPT_RATE:
		return parse_units(text, rate_units, ARRAY_SIZE(rate_units),
				   dest);
	case OPT_TIME:
		return parse_units(text, time_units, ARRAY_SIZE(time_units),
				   dest);
	case OPT_WAIT:
		return parse_wait(text, dest);
	case OPT_PERCENT:
		return parse_percent(text, dest);
	case OPT_SWITCHES:
		return parse_switches(text, dest);
	}
	return false;
}

/**
 * value_kind() - describe the values of a type, for error lines
 * @type: the type
 *
 * Return: a noun phrase.
 */
const char *value_kind(enum opt_type type)
{
	static const char * const kinds[] = {
		[OPT_FLAG] = "nothing",
		[OPT_STRING] = "a text that is not empty",
		[OPT_U32] = "a number below 2^32",
		[OPT_U64] = "a number below 2^64",
		[OPT_JOB] = "a number below 2^32",
		[OPT_REAL] = "a number",
		[OPT_SIZE] = "a size like 65536, 64K or 1M",
		[OPT_RATE] = "a rate like 10mbit or 1gbit",
		[OPT_TIME] = "a time like 2, 1.5s, 10ms or 50us",
		[OPT_WAIT] = "a time like 2, 1.5s or 10ms, at most 49 days",
		[OPT_PERCENT] = "a percentage from 0 to 100",
		[OPT_SWITCHES] = "'aggnet' or 'dumb'",
	};

	return kinds[type];
}
