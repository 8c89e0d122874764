/* SPDX-License-Identifier: GPL-2.0 */
/* Records in the format of packets and of the socket's messages. */
#ifndef AGGNET_RECORD_H
#define AGGNET_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <linux/aggnet_packet.h>

/**
 * struct record - a record that was read, pointing into the buffer
 * @key: its bytes
 * @klen: 1..AGGNET_KEY_MAX
 * @value: its bytes; the tree's shape determines their format
 * @vlen: 0..AGGNET_VALUE_MAX
 */
struct record {
	const uint8_t *key;
	size_t klen;
	const uint8_t *value;
	size_t vlen;
};

/* Fewest bytes from which sign extension restores the value; 0 needs none. */
unsigned int record_value_size(int64_t value);

/* Write a record of a checked key and a value of any bytes. Return: its bytes */
size_t record_write(uint8_t *buf, const void *key, size_t klen,
		    const void *value, size_t vlen);

/* The same for an integer; AGGNET_RECORD_MAX bytes suffice for any. */
size_t record_put(uint8_t *buf, const void *key, size_t klen, int64_t value);

/*
 * Read the record at the front of a buffer. Return: its bytes, 0: no whole
 * record
 */
size_t record_get(const uint8_t *buf, size_t len, struct record *rec);

/* Compare keys by their bytes; a prefix comes before the longer key. */
int record_compare(const void *a, size_t alen, const void *b, size_t blen);

#endif /* AGGNET_RECORD_H */
