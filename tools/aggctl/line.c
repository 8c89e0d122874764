// SPDX-License-Identifier: GPL-2.0
/* Parsing and printing of records as lines. */
#include <string.h>

#include "line.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Bytes of an escape from its backslash on, 0 if it is none. */
static size_t parse_escape(const char *s, size_t len, uint8_t *byte)
{
	int high, low;

	if (len < 2)
		return 0;
	switch (s[1]) {
	case 't':
		*byte = '\t';
		return 2;
	case 'n':
		*byte = '\n';
		return 2;
	case '\\':
		*byte = '\\';
		return 2;
	case 'x':
		high = len < 4 ? -1 : hex_digit(s[2]);
		low = len < 4 ? -1 : hex_digit(s[3]);
		if (high < 0 || low < 0)
			return 0;
		*byte = (uint8_t)(high << 4 | low);
		return 4;
	}
	return 0;
}

static bool parse_key(const char *s, size_t len, struct record *record,
		      char *why)
{
	size_t used, i;
	uint8_t byte;

	record->klen = 0;
	for (i = 0; i < len; i += used) {
		byte = (uint8_t)s[i];
		used = s[i] == '\\' ? parse_escape(s + i, len - i, &byte) : 1;
		if (!used) {
			snprintf(why, LINE_WHY,
				 "column %zu: only \\t, \\n, \\\\ and \\xHH are escapes",
				 i + 1);
			return false;
		}
		if (record->klen == AGGNET_KEY_MAX) {
			snprintf(why, LINE_WHY, "key is longer than %d bytes",
				 AGGNET_KEY_MAX);
			return false;
		}
		record->key[record->klen++] = byte;
	}
	if (!record->klen)
		snprintf(why, LINE_WHY, "key is empty");
	return record->klen;
}

/* The digits as a magnitude of at most @max. */
static bool parse_digits(const char *s, size_t len, uint64_t max,
			 uint64_t *value, char *why)
{
	size_t i;

	*value = 0;
	for (i = 0; i < len; i++) {
		uint64_t digit = (uint64_t)(s[i] - '0');

		if (s[i] < '0' || s[i] > '9') {
			snprintf(why, LINE_WHY, "value is not a whole number");
			return false;
		}
		if (*value > (max - digit) / 10) {
			snprintf(why, LINE_WHY,
				 "value does not fit 64 bits with sign");
			return false;
		}
		*value = *value * 10 + digit;
	}
	if (!len)
		snprintf(why, LINE_WHY, "value is missing");
	return len;
}

static bool parse_value(const char *s, size_t len, int64_t *value, char *why)
{
	bool minus = len && *s == '-';
	uint64_t digits;

	if (minus) {
		s++;
		len--;
	}
	if (!parse_digits(s, len, (uint64_t)INT64_MAX + minus, &digits, why))
		return false;
	*value = (int64_t)(minus ? -digits : digits);
	return true;
}

/**
 * line_parse() - parse a line
 * @line: the line; a newline at its end does not count
 * @len: its length
 * @record: the result
 * @why: what is wrong with it
 *
 * Return: whether it is a record.
 */
bool line_parse(const char *line, size_t len, struct record *record,
		char why[LINE_WHY])
{
	const char *tab;
	size_t klen;

	if (len && line[len - 1] == '\n')
		len--;
	tab = memchr(line, '\t', len);
	if (!tab) {
		snprintf(why, LINE_WHY, "there is no TAB between key and value");
		return false;
	}
	klen = (size_t)(tab - line);
	return parse_key(line, klen, record, why) &&
	       parse_value(tab + 1, len - klen - 1, &record->value, why);
}

/**
 * line_print_key() - print a key so that line_parse() takes it
 * @f: where to
 * @key: its bytes
 * @klen: how many
 */
void line_print_key(FILE *f, const uint8_t *key, size_t klen)
{
	size_t i;

	for (i = 0; i < klen; i++) {
		if (key[i] == '\t')
			fputs("\\t", f);
		else if (key[i] == '\n')
			fputs("\\n", f);
		else if (key[i] == '\\')
			fputs("\\\\", f);
		else if (key[i] < ' ' || key[i] == 0x7f)
			fprintf(f, "\\x%02x", key[i]);
		else
			putc_unlocked(key[i], f);
	}
}
