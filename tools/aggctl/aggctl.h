/* SPDX-License-Identifier: GPL-2.0 */
/*
 * aggctl: what all folders share: the exit statuses, the error line and the
 * parsers of option values.
 */
#ifndef AGGCTL_H
#define AGGCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define __printf(f, a)	__attribute__((__format__(__printf__, f, a)))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* How long send and recv wait for a new attempt. */
#define REPAIR_DEFAULT_MS	5000

/* Exit statuses, part of the command's interface. */
enum status {
	ST_DONE = 0,
	ST_FAILED = 1,
	ST_USAGE = 2,
	ST_WRONG = 3,	/* why: something is not as planned */
};

/**
 * struct aggctl - the options that all commands share
 * @json: print JSON instead of text
 * @netns: name or path of the network namespace to work in, or NULL
 * @given: options of the verb that are on the command line, one bit each
 */
struct aggctl {
	bool json;
	const char *netns;
	uint64_t given;
};

enum opt_type {
	OPT_FLAG,	/* bool */
	OPT_STRING,	/* const char * */
	OPT_U32,	/* uint32_t */
	OPT_U64,	/* uint64_t */
	OPT_JOB,	/* uint64_t, below 2^32; larger: not given */
	OPT_REAL,	/* double */
	OPT_SIZE,	/* uint64_t, bytes; suffixes K M G */
	OPT_RATE,	/* uint64_t, bit/s; suffixes bit kbit mbit gbit */
	OPT_TIME,	/* uint64_t, ns; suffixes s ms us ns, default s */
	OPT_WAIT,	/* uint32_t, ms, rounded up; the same suffixes */
	OPT_PERCENT,	/* double, 0..100; an optional % sign */
	OPT_SWITCHES,	/* bool; 'aggnet' is true, 'dumb' is false */
};

/* error.c */
void put_safe(FILE *f, const char *text);
void err(const char *fmt, ...) __printf(1, 2);
int fail(const char *fmt, ...) __printf(1, 2);
int usage(const char *fmt, ...) __printf(1, 2);
bool line_is_read(int fd);
void err_names(char *(*add)(const char *text));
void err_never_wait(void);
void err_keep(void);
void err_tell(bool print);

/* value.c */
bool value_parse(enum opt_type type, const char *text, void *dest);
const char *value_kind(enum opt_type type);

#endif
