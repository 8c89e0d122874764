// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: any bytes as records, for the library and for the module. The
 * library accepts what the module accepts, and both read the same values.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "core/record.h"
#include "record.h"

#define PLAIN_MAX	16u	/* longest plain value */
#define CHECK(cond) do { if (!(cond)) __builtin_trap(); } while (0)

static const struct aggnet_shape plain = { .function = AGGNET_FN_SUM };

/* The value of these bytes, read one by one. */
static struct aggnet_value value_of(const struct record *rec)
{
	bool negative = rec->vlen && rec->value[rec->vlen - 1] & 0x80;
	u8 bytes[PLAIN_MAX];

	memset(bytes, negative ? 0xff : 0, sizeof(bytes));
	memcpy(bytes, rec->value, rec->vlen);
	return (struct aggnet_value) {
		get_unaligned_le64(bytes), get_unaligned_le64(bytes + 8),
	};
}

/* The library writes what the module writes. */
static void check_write(const struct record *rec)
{
	struct aggnet_value was = value_of(rec);
	struct aggnet_value value = aggnet_value_s64((s64)was.lo);
	u8 ours[AGGNET_RECORD_MAX], theirs[AGGNET_RECORD_MAX];
	size_t size;

	if (was.hi != value.hi)
		return;
	size = record_put(ours, rec->key, rec->klen, (s64)was.lo);
	CHECK(size == aggnet_record_put(theirs, rec->key, rec->klen, &value));
	CHECK(!memcmp(ours, theirs, size));
}

/*
 * The library's merge, not its reader, checks whether values fit the function.
 */
static void check_read(const u8 *data, size_t len)
{
	int n = aggnet_parse_records(&plain, false, data, len, len);
	struct aggnet_record theirs;
	struct aggnet_value value;
	bool fits = true;
	struct record rec;
	int count = 0;
	size_t size;

	for (; len; data += size, len -= size, count++) {
		size = record_get(data, len, &rec);
		if (!size)
			break;
		CHECK(rec.value + rec.vlen == data + size && size <= len);
		fits &= rec.vlen <= PLAIN_MAX;
		if (!fits)
			continue;
		check_write(&rec);
		if (n < 0)
			continue;
		CHECK(aggnet_record_get(data, &theirs) == size);
		CHECK(theirs.key == rec.key && theirs.klen == rec.klen);
		value = value_of(&rec);
		CHECK(theirs.value.lo == value.lo && theirs.value.hi == value.hi);
	}
	CHECK(n < 0 ? len || !fits : !len && count == n);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	/*
	 * Allocate the exact size, so that the sanitizer reports reads behind
	 * the end.
	 */
	u8 *copy = memcpy(malloc(size ? size : 1), data, size);

	check_read(copy, size);
	free(copy);
	return 0;
}
