// SPDX-License-Identifier: GPL-2.0
/* The one form that error lines have, and the statuses that go with them. */
#include <stdarg.h>
#include <stdio.h>

#include "aggctl.h"

static void vout(const char *fmt, va_list ap)
{
	fputs("aggctl: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/**
 * err() - print an error line
 * @fmt: printf format, without the newline
 */
void err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vout(fmt, ap);
	va_end(ap);
}

/**
 * fail() - print an error line for something refused or failed
 * @fmt: printf format, without the newline
 *
 * Return: ST_FAILED.
 */
int fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vout(fmt, ap);
	va_end(ap);
	return ST_FAILED;
}

/**
 * usage() - print an error line for a wrong command line
 * @fmt: printf format, without the newline
 *
 * Return: ST_USAGE.
 */
int usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vout(fmt, ap);
	va_end(ap);
	return ST_USAGE;
}
