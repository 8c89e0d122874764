/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records as lines of text: key, TAB, value. In keys \t \n \\ \xHH stand for
 * bytes that a line cannot show.
 */
#ifndef AGGCTL_LINE_H
#define AGGCTL_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../libaggnet/aggnet.h"

#define LINE_WHY	96

/**
 * struct record - a record
 * @key: bytes of the key
 * @klen: how many
 * @value: its value
 */
struct record {
	uint8_t key[AGGNET_KEY_MAX];
	size_t klen;
	int64_t value;
};

bool line_parse(const char *line, size_t len, struct record *record,
		char why[LINE_WHY]);
void line_print_key(FILE *f, const uint8_t *key, size_t klen);

#endif
