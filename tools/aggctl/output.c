// SPDX-License-Identifier: GPL-2.0
/* Printing of JSON values, as JSON and as aligned text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

/* Text of a value; the caller frees it. Lists of words become "a,b,c". */
static char *cell_text(const json_t *value)
{
	char *text = NULL;
	size_t len, i;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		return NULL;
	if (!value || json_is_null(value))
		fputc('-', f);
	else if (json_is_string(value))
		put_safe(f, json_string_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", f);
	else if (json_is_real(value))
		fprintf(f, "%.6g", json_real_value(value));
	else if (json_is_array(value) && !json_array_size(value))
		fputc('-', f);
	for (i = 0; i < json_array_size(value); i++) {
		char *item = cell_text(json_array_get(value, i));

		fprintf(f, "%s%s", i ? "," : "", item ? item : "?");
		free(item);
	}
	if (json_is_integer(value))
		fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_object(value))
		json_dumpf(value, f, JSON_COMPACT);
	fclose(f);
	return text;
}

#define CLEAR	"\033[H\033[J"	/* of a terminal */

/** out_clear() - clear the screen, if standard output is one */
void out_clear(void)
{
	if (isatty(STDOUT_FILENO))
		fputs(CLEAR, stdout);
}

/**
 * out_json() - print a value as JSON and release it
 * @value: the value, its reference is taken; NULL is an allocation failure
 *
 * Return: an exit status.
 */
int out_json(json_t *value)
{
	int bad;

	if (!value)
		return fail("out of memory");
	bad = json_dumpf(value, stdout, JSON_INDENT(2));
	json_decref(value);
	/* Errors of standard output are reported at the end. */
	if (bad)
		return ferror(stdout) ? ST_FAILED :
		       fail("the result cannot be written as JSON");
	putchar('\n');
	return ST_DONE;
}

/**
 * out_fields_to() - print members of an object as text, one a line
 * @f: the stream
 * @cols: the members
 * @ncols: how many
 * @object: the object; members that it lacks are left out
 */
void out_fields_to(FILE *f, const struct column *cols, size_t ncols,
		   const json_t *object)
{
	size_t i, width = 0;
	char *text;

	for (i = 0; i < ncols; i++)
		if (cols[i].head && strlen(cols[i].head) > width)
			width = strlen(cols[i].head);
	for (i = 0; i < ncols; i++) {
		const json_t *value = json_object_get(object, cols[i].key);

		if (!cols[i].head || !value)
			continue;
		text = cell_text(value);
		fprintf(f, "%-*s  %s\n", (int)width, cols[i].head,
			text ? text : "?");
		free(text);
	}
}

/**
 * out_fields() - print members of an object on standard output, one a line
 * @cols: the members
 * @ncols: how many
 * @object: the object; members that it lacks are left out
 */
void out_fields(const struct column *cols, size_t ncols, const json_t *object)
{
	out_fields_to(stdout, cols, ncols, object);
}

static void print_line(char **cells, const size_t *widths,
		       const bool *right, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const char *text = cells[i] ? cells[i] : "?";

		if (right[i])
			printf("%*s", (int)widths[i], text);
		else if (i + 1 < n)
			printf("%-*s", (int)widths[i], text);
		else
			fputs(text, stdout);
		if (i + 1 < n)
			fputs("  ", stdout);
	}
	putchar('\n');
}

/**
 * out_rows() - print an array of objects as an aligned text table
 * @cols: the columns
 * @ncols: how many
 * @rows: the array
 *
 * Return: an exit status.
 */
int out_rows(const struct column *cols, size_t ncols, const json_t *rows)
{
	size_t nrows = json_array_size(rows), r, c, n = 0;
	bool right[ncols];
	size_t width[ncols];
	const struct column *shown[ncols];
	char **cells;

	for (c = 0; c < ncols; c++)
		if (cols[c].head)
			shown[n++] = &cols[c];
	cells = calloc((nrows + 1) * n, sizeof(*cells));
	if (!cells)
		return fail("out of memory");
	for (c = 0; c < n; c++) {
		right[c] = nrows;
		cells[c] = strdup(shown[c]->head);
		width[c] = strlen(shown[c]->head);
		for (r = 0; r < nrows; r++) {
			const json_t *v = json_object_get(json_array_get(rows, r),
							  shown[c]->key);
			char *text = cell_text(v);

			cells[(r + 1) * n + c] = text;
			if (text && strlen(text) > width[c])
				width[c] = strlen(text);
			right[c] &= !v || json_is_null(v) || json_is_number(v);
		}
	}
	for (r = 0; r <= nrows; r++)
		print_line(&cells[r * n], width, right, n);
	for (r = 0; r < (nrows + 1) * n; r++)
		free(cells[r]);
	free(cells);
	return ST_DONE;
}

/**
 * out_table() - print an array of objects and release it
 * @ctl: whether JSON is requested
 * @cols: the columns of the text
 * @ncols: how many
 * @rows: the array, its reference is taken; NULL is an allocation failure
 *
 * Return: an exit status.
 */
int out_table(const struct aggctl *ctl, const struct column *cols,
	      size_t ncols, json_t *rows)
{
	int st;

	if (ctl->json || !rows)
		return out_json(rows);
	st = out_rows(cols, ncols, rows);
	json_decref(rows);
	return st;
}
