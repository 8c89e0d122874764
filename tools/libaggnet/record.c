// SPDX-License-Identifier: GPL-2.0
/* Writing and reading of records. */
#include <string.h>

#include "record.h"

unsigned int record_value_size(int64_t value)
{
	unsigned int size = 0;

	if (!value)
		return 0;
	for (size = 1; size < 8; size++) {
		int64_t limit = INT64_C(1) << (8 * size - 1);

		if (value >= -limit && value < limit)
			break;
	}
	return size;
}

size_t record_write(uint8_t *buf, const void *key, size_t klen,
		    const void *value, size_t vlen)
{
	buf[0] = klen;
	buf[1] = vlen;
	memcpy(buf + 2, key, klen);
	memcpy(buf + 2 + klen, value, vlen);
	return 2 + klen + vlen;
}

size_t record_put(uint8_t *buf, const void *key, size_t klen, int64_t value)
{
	unsigned int i, size = record_value_size(value);

	buf[0] = klen;
	buf[1] = size;
	memcpy(buf + 2, key, klen);
	for (i = 0; i < size; i++)
		buf[2 + klen + i] = (uint64_t)value >> (8 * i);
	return 2 + klen + size;
}

size_t record_get(const uint8_t *buf, size_t len, struct record *rec)
{
	if (len < 2)
		return 0;
	rec->klen = buf[0];
	rec->vlen = buf[1];
	if (!rec->klen || rec->vlen > AGGNET_VALUE_MAX ||
	    2 + rec->klen + rec->vlen > len)
		return 0;
	rec->key = buf + 2;
	rec->value = rec->key + rec->klen;
	return 2 + rec->klen + rec->vlen;
}

int record_compare(const void *a, size_t alen, const void *b, size_t blen)
{
	int diff = memcmp(a, b, alen < blen ? alen : blen);

	return diff ? diff : (int)alen - (int)blen;
}
