/* SPDX-License-Identifier: GPL-2.0 */
/* aggd: what all its files share: limits, sentences and the log. */
#ifndef AGGD_H
#define AGGD_H

#include <stdint.h>

#include "aggctl.h"

#define REQUEST_MAX	65536	/* bytes of a request, with its newline */
#define TEXT_MAX	512	/* of a sentence */

/**
 * struct text - a sentence about a fault
 * @s: the sentence, without a newline
 */
struct text {
	char s[TEXT_MAX];
};

/* Write a sentence. Return: -1 */
int text_set(struct text *text, const char *fmt, ...) __printf(2, 3);

/* Replace what is not printable ASCII: answers are UTF-8, and a sentence may be cut. */
void text_clean(char *s);

/* Print a line to standard error, where the journal reads it. */
void note(const char *fmt, ...) __printf(1, 2);

/* Milliseconds of CLOCK_MONOTONIC, and seconds of the time of day. */
int64_t now_ms(void);
int64_t now_date(void);

#endif
