// SPDX-License-Identifier: GPL-2.0
/* Parsing and printing of records as lines. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggnet_data.h"
#include "cmd/text_record.h"

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

/* Bytes of an escape from its backslash on, 0 if it is not valid. */
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

static bool parse_key(const char *s, size_t len, struct text_record *record,
		      char *why)
{
	size_t used, i;
	uint8_t byte;

	record->klen = 0;
	for (i = 0; i < len; i += used) {
		byte = (uint8_t)s[i];
		used = s[i] == '\\' ? parse_escape(s + i, len - i, &byte) : 1;
		if (!used) {
			snprintf(why, TEXT_RECORD_WHY,
				 "column %zu: only \\t, \\n, \\\\ and \\xHH are escapes",
				 i + 1);
			return false;
		}
		if (record->klen == AGGNET_KEY_MAX) {
			snprintf(why, TEXT_RECORD_WHY,
				 "key is longer than %d bytes", AGGNET_KEY_MAX);
			return false;
		}
		record->key[record->klen++] = byte;
	}
	if (!record->klen)
		snprintf(why, TEXT_RECORD_WHY, "key is empty");
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
			snprintf(why, TEXT_RECORD_WHY,
				 "value is not a whole number");
			return false;
		}
		if (*value > (max - digit) / 10) {
			snprintf(why, TEXT_RECORD_WHY,
				 "value does not fit 64 bits with sign");
			return false;
		}
		*value = *value * 10 + digit;
	}
	if (!len)
		snprintf(why, TEXT_RECORD_WHY, "value is missing");
	return len;
}

static bool parse_integer(const char *s, size_t len, int64_t *value, char *why)
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

static bool parse_id(const char *s, size_t len, uint64_t *id, char *why)
{
	if (parse_digits(s, len, UINT64_MAX, id, why))
		return true;
	snprintf(why, TEXT_RECORD_WHY, "id is not a number below 2^64");
	return false;
}

/* As strtold() takes it, but neither hexadecimal nor with blanks before it. */
static bool parse_number(const char *s, size_t len, long double *number,
			 char *why)
{
	char text[64], *end;

	if (len && len < sizeof(text) && !isspace((unsigned char)*s)) {
		memcpy(text, s, len);
		text[len] = '\0';
		*number = strtold(text, &end);
		if (end == text + len && !strpbrk(text, "xX"))
			return true;
	}
	snprintf(why, TEXT_RECORD_WHY, len ? "value is not a number" :
		 "value is missing");
	return false;
}

static bool parse_fixed(const char *s, size_t len, unsigned int scale,
			int64_t *value, char *why)
{
	long double number;

	if (!parse_number(s, len, &number, why))
		return false;
	number = rintl(ldexpl(number, (int)scale));
	if (!(number >= -0x1p63L && number < 0x1p63L)) {
		snprintf(why, TEXT_RECORD_WHY, "value does not fit 64 bits");
		return false;
	}
	*value = (int64_t)number;
	return true;
}

/* Straight to the type: of two roundings the first could decide a tie. */
static bool parse_real(const char *s, size_t len, unsigned int vtype,
		       double *real, char *why)
{
	long double number;
	char text[64];

	if (!parse_number(s, len, &number, why))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	errno = 0;
	*real = vtype == AGGNET_VTYPE_FLOAT32 ? strtof(text, NULL) :
						strtod(text, NULL);
	/*
	 * A number that is too small is accepted, and so is an explicit
	 * infinity.
	 */
	if (errno == ERANGE && isinf(*real)) {
		snprintf(why, TEXT_RECORD_WHY, "value does not fit its type");
		return false;
	}
	return true;
}

static bool parse_value(const char *s, size_t len,
			const struct text_form *form, struct text_record *record,
			char *why)
{
	switch (form->vtype) {
	case AGGNET_VTYPE_FIXED:
		return parse_fixed(s, len, form->scale, &record->value, why);
	case AGGNET_VTYPE_FLOAT32:
	case AGGNET_VTYPE_FLOAT64:
		return parse_real(s, len, form->vtype, &record->real, why);
	}
	if (!parse_integer(s, len, &record->value, why))
		return false;
	if (form->vtype == AGGNET_VTYPE_INT32 &&
	    record->value != (int32_t)record->value) {
		snprintf(why, TEXT_RECORD_WHY,
			 "value does not fit 32 bits with sign");
		return false;
	}
	return true;
}

/**
 * text_form() - the format of a transfer's lines
 * @status: of the transfer
 */
struct text_form text_form(const struct aggnet_status *status)
{
	return (struct text_form){
		.vtype = status->vtype,
		.scale = status->scale,
		.pairs = status->function == AGGNET_FN_TOPK ||
			 status->function == AGGNET_FN_NEAREST,
		.dense = status->layout == AGGNET_LAYOUT_DENSE,
		.sorted = status->layout == AGGNET_LAYOUT_SORTED,
	};
}

bool text_form_float(const struct text_form *form)
{
	return form->vtype == AGGNET_VTYPE_FLOAT32 ||
	       form->vtype == AGGNET_VTYPE_FLOAT64;
}

/**
 * text_record_sorts() - does the key sort with or behind another?
 * @record: it
 * @last: the other key
 * @len: its bytes; 0: there is none
 */
bool text_record_sorts(const struct text_record *record, const uint8_t *last,
		       size_t len)
{
	size_t common = record->klen < len ? record->klen : len;
	int diff = memcmp(record->key, last, common);

	return diff ? diff > 0 : record->klen >= len;
}

/**
 * text_record_key_is() - is the key this number, in digits?
 * @record: it
 * @number: of the element that is next
 */
bool text_record_key_is(const struct text_record *record, uint64_t number)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu",
			   (unsigned long long)number);

	return record->klen == (size_t)len && !memcmp(record->key, text, len);
}

/**
 * text_record_parse() - parse a line
 * @line: the line; a newline at its end does not count
 * @len: its length
 * @form: what its value is
 * @record: the result
 * @why: what is wrong with it
 *
 * Return: whether it is a record.
 */
bool text_record_parse(const char *line, size_t len,
		       const struct text_form *form,
		       struct text_record *record, char why[TEXT_RECORD_WHY])
{
	const char *tab, *value, *end;

	if (len && line[len - 1] == '\n')
		len--;
	end = line + len;
	tab = memchr(line, '\t', len);
	if (!tab) {
		snprintf(why, TEXT_RECORD_WHY,
			 "there is no TAB between key and value");
		return false;
	}
	if (!parse_key(line, (size_t)(tab - line), record, why))
		return false;
	value = tab + 1;
	if (form->pairs) {
		tab = memchr(value, '\t', (size_t)(end - value));
		if (!tab) {
			snprintf(why, TEXT_RECORD_WHY,
				 "there is no TAB between value and id");
			return false;
		}
		if (!parse_id(tab + 1, (size_t)(end - tab - 1), &record->id,
			      why))
			return false;
		end = tab;
	}
	return parse_value(value, (size_t)(end - value), form, record, why);
}

/**
 * text_record_print_value() - print a value with all the digits that it has
 * @f: where to
 * @form: what it is
 * @value: an integer, of fixed-point values times 2^scale
 * @real: a real
 */
void text_record_print_value(FILE *f, const struct text_form *form,
			     int64_t value, double real)
{
	if (form->vtype == AGGNET_VTYPE_FIXED)
		fprintf(f, "%.21Lg", ldexpl((long double)value,
					    -(int)form->scale));
	else if (form->vtype == AGGNET_VTYPE_FLOAT32)
		fprintf(f, "%.9g", real);
	else if (form->vtype == AGGNET_VTYPE_FLOAT64)
		fprintf(f, "%.17g", real);
	else
		fprintf(f, "%lld", (long long)value);
}

/**
 * text_record_print_key() - print a key so that text_record_parse() takes it
 * @f: where to
 * @key: its bytes
 * @klen: how many
 * @ascii: escape all bytes beyond ASCII, too
 */
void text_record_print_key(FILE *f, const uint8_t *key, size_t klen, bool ascii)
{
	size_t i;

	for (i = 0; i < klen; i++) {
		if (key[i] == '\t')
			fputs("\\t", f);
		else if (key[i] == '\n')
			fputs("\\n", f);
		else if (key[i] == '\\')
			fputs("\\\\", f);
		else if (key[i] < ' ' || key[i] == 0x7f ||
			 (ascii && key[i] > 0x7f))
			fprintf(f, "\\x%02x", key[i]);
		else
			putc_unlocked(key[i], f);
	}
}
