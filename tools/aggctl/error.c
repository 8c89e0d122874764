// SPDX-License-Identifier: GPL-2.0
/* The one form that error lines have, and the statuses that go with them. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aggctl.h"

static bool never_wait;

/**
 * put_safe() - print text that must not steer a terminal
 * @f: where to
 * @text: names out of files, or of devices that other users made. What would
 *	steer a terminal, or begin a line of its own, is shown as \xHH. The second
 *	byte of a control character in UTF-8 is 0x80 to 0x9f after 0xc2.
 */
void put_safe(FILE *f, const char *text)
{
	const unsigned char *c;

	for (c = (const unsigned char *)text; *c; c++) {
		if (*c < ' ' || *c == 0x7f)
			fprintf(f, "\\x%02x", *c);
		else if (*c == 0xc2 && (c[1] & 0xe0) == 0x80)
			fprintf(f, "\\xc2\\x%02x", *++c);
		else
			fputc(*c, f);
	}
}

/**
 * line_is_read() - whether a line can be printed without waiting for its reader
 * @fd: where to
 *
 * A pipe that can be written takes PIPE_BUF bytes, which is more than a line.
 *
 * Return: whether it can; also not if the reader has gone.
 */
bool line_is_read(int fd)
{
	struct pollfd out = { .fd = fd, .events = POLLOUT };

	return poll(&out, 1, 0) > 0 && !(out.revents & POLLERR);
}

/**
 * err_never_wait() - from now on drop error lines for which there is no room
 *
 * For a process that has more to do than to print.
 */
void err_never_wait(void)
{
	never_wait = true;
}

static void vout(const char *fmt, va_list ap)
{
	char *text = NULL;

	if (never_wait && !line_is_read(STDERR_FILENO))
		return;
	fputs("aggctl: ", stderr);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	put_safe(stderr, text ? text : "out of memory");
	fputc('\n', stderr);
	free(text);
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
