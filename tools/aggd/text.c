// SPDX-License-Identifier: GPL-2.0
/* Sentences, the log, and the clocks. */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "aggd.h"

void text_clean(char *s)
{
	for (; *s; s++)
		if ((signed char)*s < ' ' || *s == 0x7f)
			*s = '?';
}

int text_set(struct text *text, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text->s, sizeof(text->s), fmt, ap);
	va_end(ap);
	text_clean(text->s);
	return -1;
}

void note(const char *fmt, ...)
{
	char line[2 * TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fputs("aggd: ", stderr);
	put_safe(stderr, line);
	fputc('\n', stderr);
}

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t now_date(void)
{
	return (int64_t)time(NULL);
}
