/* SPDX-License-Identifier: GPL-2.0 */
/* Records: what the body of a DATA holds; check, read and write them. Pure. */
#ifndef _AGGNET_RECORD_H
#define _AGGNET_RECORD_H

#include <linux/types.h>

#include <linux/aggnet_packet.h>
#include "core/shape.h"
#include "core/value.h"

#define AGGNET_RECORD_MIN	3u	/* two lengths and one byte of key */
#define AGGNET_LENGTHS(klen, vlen)	((klen) | (vlen) << 8)

/**
 * struct aggnet_record - one record, pointing into the packet
 * @key: its bytes
 * @klen: 1..255
 * @value: sign extended
 */
struct aggnet_record {
	const u8 *key;
	u8 klen;
	struct aggnet_value value;
};

/**
 * aggnet_parse_records() - check that records fill a buffer exactly
 * @shape: shape of the values
 * @source: a source wrote the records
 * @data: first record
 * @len: bytes of all records
 * @max: maximum number of records
 *
 * Return: number of records (0 for an empty buffer); -EBADMSG: malformed; -ERANGE:
 * the type of the tree does not allow the value of a source
 */
int aggnet_parse_records(const struct aggnet_shape *shape, bool source,
			 const u8 *data, size_t len, unsigned int max);

/*
 * As aggnet_parse_records(). On success @all is set to AGGNET_LENGTHS() of each of the
 * records, for aggnet_table_merge_equal(), or to 0: they differ, or it is not known.
 */
int aggnet_parse_lengths(const struct aggnet_shape *shape, bool source,
			 const u8 *data, size_t len, unsigned int max,
			 u32 *all);

/**
 * aggnet_record_get() - read a record whose value is plain
 * @data: the record, checked by aggnet_parse_records()
 * @rec: filled
 *
 * Return: the record's length in bytes
 */
size_t aggnet_record_get(const u8 *data, struct aggnet_record *rec);

/* Bytes of a record (2 + klen + minimal value length). */
static inline size_t aggnet_record_size(u8 klen,
					const struct aggnet_value *value)
{
	return 2 + klen + aggnet_value_len(value);
}

/* Write a record; the caller has checked the room. Return: its length. */
size_t aggnet_record_put(u8 *data, const u8 *key, u8 klen,
			 const struct aggnet_value *value);

#endif /* _AGGNET_RECORD_H */
