/* SPDX-License-Identifier: GPL-2.0 */
/* Text record: a record as a line of text, key, TAB, value; where functions keep
 * pairs a TAB and an id follow. In keys \t \n \\ \xHH stand for bytes that a line
 * cannot show.
 */
#ifndef AGGCTL_TEXT_RECORD_H
#define AGGCTL_TEXT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "aggnet.h"

#define TEXT_RECORD_WHY	96

/**
 * struct text_form - the format of values in lines
 * @vtype: enum aggnet_vtype
 * @scale: fraction bits of fixed-point values
 * @pairs: an ID follows
 * @dense: keys are indices of elements, 0 and so on, in this order
 * @sorted: keys are in the order of their bytes
 */
struct text_form {
	unsigned int vtype;
	unsigned int scale;
	bool pairs;
	bool dense;
	bool sorted;
};

/**
 * struct text_record - a record
 * @key: bytes of the key
 * @klen: how many
 * @value: its value; a fixed-point one times 2^scale
 * @real: its value, if it is a real
 * @id: its ID
 */
struct text_record {
	uint8_t key[AGGNET_KEY_MAX];
	size_t klen;
	int64_t value;
	double real;
	uint64_t id;
};

struct aggnet_status;

struct text_form text_form(const struct aggnet_status *status);
bool text_form_float(const struct text_form *form);
bool text_record_key_is(const struct text_record *record, uint64_t number);
bool text_record_sorts(const struct text_record *record, const uint8_t *last,
		       size_t len);
bool text_record_parse(const char *line, size_t len,
		       const struct text_form *form,
		       struct text_record *record, char why[TEXT_RECORD_WHY]);
void text_record_print_key(FILE *f, const uint8_t *key, size_t klen,
			   bool ascii);
void text_record_print_value(FILE *f, const struct text_form *form,
			     int64_t value, double real);

#endif
