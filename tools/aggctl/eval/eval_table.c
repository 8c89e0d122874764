// SPDX-License-Identifier: GPL-2.0
/* Tables of JSON objects, a row each: as text, and for the documentation. */
#include <stdio.h>

#include "eval/eval.h"

static void cell(FILE *f, const struct eval_column *column, int width,
		 const json_t *row)
{
	const json_t *value = json_object_get(row, column->key);

	if (json_is_string(value))
		fprintf(f, "%*s", width, json_string_value(value));
	else
		fprintf(f, "%*.*f", width, column->digits,
			json_number_value(value));
}

void eval_table_print(const struct eval_table *table, const json_t *rows)
{
	const struct eval_column *column;
	const json_t *row;
	size_t i, k;

	for (i = 0; i < table->columns; i++) {
		column = &table->column[i];
		printf("%*s", column->width, column->title);
	}
	json_array_foreach(rows, k, row) {
		putchar('\n');
		for (i = 0; i < table->columns; i++) {
			column = &table->column[i];
			cell(stdout, column, column->width, row);
		}
	}
	puts("\n");
}

void eval_table_rst(const struct eval_table *table, FILE *f,
		    const json_t *rows)
{
	const json_t *row;
	size_t i, k;

	for (i = 0; i < table->columns; i++)
		fprintf(f, "   %c - %s\n", i ? ' ' : '*',
			table->column[i].title);
	json_array_foreach(rows, k, row) {
		for (i = 0; i < table->columns; i++) {
			fprintf(f, "   %c - ", i ? ' ' : '*');
			cell(f, &table->column[i], 0, row);
			putc('\n', f);
		}
	}
}
