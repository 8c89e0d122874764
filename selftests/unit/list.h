/* SPDX-License-Identifier: GPL-2.0 */
/* Records in a list, the expected result of merging them in order, and reading
 * what runs emit.
 */
#ifndef LIST_H
#define LIST_H

#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <stdlib.h>

#include "core/accum.h"
#include "core/record.h"
#include "core/runs.h"

#include "../uapi/harness.h"

#define SEED	0x736f7274
#define PAYLOAD	1384
#define FIRST	AGGNET_SEQ_FIRST

static const struct aggnet_shape sorted_sums = {
	.function = AGGNET_FN_SUM, .layout = AGGNET_LAYOUT_SORTED,
};

static const struct aggnet_shape *const sum = &sorted_sums;

static inline u32 below(u32 n)
{
	return get_random_u32() % n;
}

/* --- records --------------------------------------------------------------- */

/**
 * struct list - records, back to back
 * @data: allocated with their exact size
 * @len: bytes
 * @n: how many
 */
struct list {
	u8 *data;
	u32 len;
	u32 n;
};

static inline u32 record_bytes(const u8 *record)
{
	return 2 + record[0] + record[1];
}

static inline u8 *list_add(struct list *l, const u8 *record)
{
	u32 size = record_bytes(record);

	l->data = realloc(l->data, l->len + size);
	memcpy(l->data + l->len, record, size);
	l->len += size;
	l->n++;
	return l->data + l->len - size;
}

static inline void list_free(struct list *l)
{
	free(l->data);
	*l = (struct list){ 0 };
}

/* The order of keys, implemented again: by bytes, then by length. */
static inline int order(const u8 *a, const u8 *b)
{
	u32 i;

	for (i = 0; i < a[0] && i < b[0]; i++)
		if (a[2 + i] != b[2 + i])
			return a[2 + i] < b[2 + i] ? -1 : 1;
	return (int)a[0] - (int)b[0];
}

static inline int by_key(const void *a, const void *b)
{
	return order(*(const u8 *const *)a, *(const u8 *const *)b);
}

static inline const u8 **list_sorted(const struct list *l)
{
	const u8 **at = malloc((l->n + 1) * sizeof(*at)), *record = l->data;
	u32 i;

	for (i = 0; i < l->n; i++, record += record_bytes(record))
		at[i] = record;
	qsort(at, l->n, sizeof(*at), by_key);
	return at;
}

static inline void list_sort(struct list *l)
{
	const u8 **at = list_sorted(l);
	struct list sorted = { 0 };
	u32 i;

	for (i = 0; i < l->n; i++)
		list_add(&sorted, at[i]);
	free(at);
	list_free(l);
	*l = sorted;
}

/* Keys of all lengths that begin alike and may end in zero bytes. */
static inline void random_key(u8 *record, u32 variety)
{
	static const u8 letters[] = { 0, 0, 'a', 'b', 0xff };
	u32 pick = below(variety), i;

	record[0] = pick % 16 ? 1 + pick % 14 : 1 + pick % 255;
	for (i = 0; i < record[0]; i++)
		record[2 + i] = letters[(pick >> (i % 7)) % 5];
}

static inline void random_record(const struct aggnet_shape *shape, u8 *record,
			  u32 variety)
{
	u8 *value;

	random_key(record, variety);
	value = record + 2 + record[0];
	record[1] = aggnet_shape_kind(shape) == AGGNET_KIND_PAIRS ? 16 : 8;
	get_random_bytes(value, record[1]);
	/* Reals are finite, with exponents over a range of hundreds. */
	if (shape->vtype == AGGNET_VTYPE_FLOAT64)
		value[7] = value[7] & 0x80 ? 0xbf - below(20) : 0x3f + below(20);
}

/*
 * --- the expected result
 * ------------------------------------------------------
 */

/*
 * Merge the records of the first key into one state. Return: the next record's
 * offset
 */
static inline u32 reduce(const struct aggnet_shape *shape, const u8 **at, u32 i, u32 n,
		  bool source, void *state)
{
	const u8 *first = at[i];

	aggnet_accum_init(shape, state);
	for (; i < n && !order(first, at[i]); i++)
		aggnet_accum_merge(shape, state, at[i] + 2 + at[i][0],
				   at[i][1], source);
	return i;
}

/*
 * Is the output, in its order, the reduced input? @distinct: and does each key
 * occur only once?
 */
static inline bool same(const struct aggnet_shape *shape, const struct list *in,
		 const struct list *out, bool distinct)
{
	u32 size = aggnet_accum_size(shape), i = 0, k = 0, n = 0, was = 0;
	const u8 **given = list_sorted(in), **got;
	void *a = calloc(1, size), *b = calloc(1, size);
	const u8 *record = out->data;
	bool ok = true;

	got = malloc((out->n + 1) * sizeof(*got));
	for (; n < out->n; n++, record += record_bytes(record)) {
		got[n] = record;
		ok &= !n || order(got[n - 1], record) <= 0;
	}
	while (ok && i < in->n && k < n) {
		const u8 *key = given[i];

		was = k;
		i = reduce(shape, given, i, in->n, true, a);
		k = reduce(shape, got, k, n, false, b);
		ok = !order(key, got[was]) && !memcmp(a, b, size) &&
		     (!distinct || k == was + 1);
	}
	free(a);
	free(b);
	free(given);
	free(got);
	return ok && i == in->n && k == n;
}

/*
 * --- reading the output
 * -------------------------------------------------------
 */

static inline void start(struct aggnet_runs *r, const struct aggnet_shape *shape,
		  u32 max, u32 slots)
{
	memset(r, 0, sizeof(*r));
	if (aggnet_runs_init(r, shape, max, slots, PAYLOAD))
		abort();
	r->budget = S32_MAX;
}

/* Take a packet of the records that are ready. Return: its bytes */
static inline u32 take(struct aggnet_runs *r, u8 *to, struct list *out, u64 *units)
{
	u32 room = below(3) ? PAYLOAD : AGGNET_RECORD_MAX;
	u32 max = below(3) ? U32_MAX : 1 + below(4);
	u8 *buf = malloc(room), *at;
	u32 len, n;
	u64 represents;

	len = aggnet_runs_pack(r, buf, room, max, &n, &represents);
	if (len > room || n > max || represents > r->n * (u64)U32_MAX ||
	    aggnet_parse_records(&r->shape, false, buf, len, n) != (int)n)
		abort();
	for (at = buf; out && at < buf + len; at += record_bytes(at))
		list_add(out, at);
	if (to)
		memcpy(to, buf, len);
	*units += represents;
	free(buf);
	return len;
}

static inline void take_all(struct aggnet_runs *r, struct list *out, u64 *units)
{
	while (r->ready)
		if (!take(r, NULL, out, units))
			abort();
}

#endif
