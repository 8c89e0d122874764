// SPDX-License-Identifier: GPL-2.0
/* The one form that error lines have, and the statuses that go with them. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aggctl.h"

static bool never_wait;
static FILE *kept;	/* or NULL: lines are printed at once */
static char *kept_text;
static size_t kept_len;
static char *(*named)(const char *text);

/**
 * put_safe() - print text that must not control a terminal
 * @f: the stream
 * @text: names from files, or of devices that other users made. Bytes that
 *	would control a terminal, or begin a new line, are printed as \xHH. The
 *	second byte of a control character in UTF-8 is 0x80 to 0x9f after 0xc2.
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
 * line_is_read() - can a line be printed without waiting for its reader?
 * @fd: the descriptor
 *
 * A pipe that is writable takes PIPE_BUF bytes, which is more than a line.
 *
 * Return: true if it can; false also if the reader has closed it.
 */
bool line_is_read(int fd)
{
	struct pollfd out = { .fd = fd, .events = POLLOUT };

	return poll(&out, 1, 0) > 0 && !(out.revents & POLLERR);
}

/**
 * err_never_wait() - from now on drop error lines that would have to wait
 *
 * For a process that must not stop when its output is not read.
 */
void err_never_wait(void)
{
	never_wait = true;
}

/**
 * err_names() - have names written into error lines
 * @add: makes a copy of a line that has them, as names_add() does; NULL: lines stay
 */
void err_names(char *(*add)(const char *text))
{
	named = add;
}

/**
 * err_keep() - do not print error lines until err_tell()
 *
 * For an attempt whose failure does not matter if another one succeeds. Without memory
 * they are printed at once.
 */
void err_keep(void)
{
	kept = open_memstream(&kept_text, &kept_len);
}

/**
 * err_tell() - end err_keep()
 * @print: print the lines that were kept
 */
void err_tell(bool print)
{
	if (!kept)
		return;
	fclose(kept);
	kept = NULL;
	if (print && (!never_wait || line_is_read(STDERR_FILENO)))
		fputs(kept_text, stderr);
	free(kept_text);
}

static void vout(const char *fmt, va_list ap)
{
	FILE *out = kept ? kept : stderr;
	char *text = NULL, *line;

	if (!kept && never_wait && !line_is_read(STDERR_FILENO))
		return;
	fputs("aggctl: ", out);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	line = text && named ? named(text) : NULL;
	put_safe(out, line ? line : text ? text : "out of memory");
	fputc('\n', out);
	free(line);
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
