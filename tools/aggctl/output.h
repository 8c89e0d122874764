/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What commands print: JSON as it is, or text made from the same values by
 * a table of columns.
 */
#ifndef AGGCTL_OUTPUT_H
#define AGGCTL_OUTPUT_H

#include <jansson.h>

#include "aggctl.h"

/**
 * struct column - one member of an object, as text shows it
 * @key: the member's name in JSON
 * @head: the title of its column; NULL keeps it out of text
 */
struct column {
	const char *key;
	const char *head;
};

void out_clear(void);
int out_json(json_t *value);
void out_fields(const struct column *cols, size_t ncols, const json_t *object);
void out_fields_to(FILE *f, const struct column *cols, size_t ncols,
		   const json_t *object);
int out_rows(const struct column *cols, size_t ncols, const json_t *rows);
int out_table(const struct aggctl *ctl, const struct column *cols,
	      size_t ncols, json_t *rows);

#endif
