/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records as lines of text: key, TAB, value; where functions keep pairs a TAB and
 * an id follow. In keys \t \n \\ \xHH stand for
 * bytes that a line cannot show.
 */
#ifndef AGGCTL_LINE_H
#define AGGCTL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../libaggnet/aggnet.h"

#define LINE_WHY	96

/**
 * struct line_form - what the values of lines are
 * @vtype: enum aggnet_vtype
 * @scale: fraction bits of fixed-point values
 * @pairs: an id follows
 * @dense: keys are numbers of elements, 0 and so on, in this order
 * @sorted: keys are in the order of their bytes
 */
struct line_form {
	unsigned int vtype;
	unsigned int scale;
	bool pairs;
	bool dense;
	bool sorted;
};

/**
 * struct record - a record
 * @key: bytes of the key
 * @klen: how many
 * @value: its value, of fixed-point ones times 2^scale
 * @real: its value, if it is a real
 * @id: whose it is
 */
struct record {
	uint8_t key[AGGNET_KEY_MAX];
	size_t klen;
	int64_t value;
	double real;
	uint64_t id;
};

struct aggnet_status;

struct line_form line_form(const struct aggnet_status *status);
bool line_form_real(const struct line_form *form);
bool line_key_is(const struct record *record, uint64_t number);
bool line_key_sorts(const struct record *record, const uint8_t *last,
		    size_t len);
bool line_parse(const char *line, size_t len, const struct line_form *form,
		struct record *record, char why[LINE_WHY]);
void line_print_key(FILE *f, const uint8_t *key, size_t klen, bool ascii);
void line_print_value(FILE *f, const struct line_form *form, int64_t value,
		      double real);

#endif
