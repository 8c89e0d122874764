// SPDX-License-Identifier: GPL-2.0
/*
 * Fingerprint: the sum of hash(key) * value over records. It is linear: the
 * fingerprints of all sources add up to that of the result. If a record is lost,
 * doubled or changed on the way, they do not, but for a chance of 2^-60 or so.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "core/accum.h"
#include "core/fingerprint.h"
#include "core/vector.h"
#include "fingerprint.h"
#include "merge.h"
#include "record.h"

typedef unsigned __int128 u128;

#define P	AGGNET_FP_PRIME

/* Odd constants, that keep words of a key apart. */
#define MIX_1	0x9e3779b97f4a7c15ull
#define MIX_2	0xd1b54a32d192ed03ull

/* Return: false: the module has none. */
static bool fp_get_check(int fd, struct aggnet_check *check)
{
	socklen_t len = sizeof(*check);

	return !getsockopt(fd, SOL_AGGNET, AGGNET_SO_CHECK, check, &len) &&
	       len == sizeof(*check);
}

void fingerprint_begin(struct fingerprint *f, int fd,
		       const struct aggnet_shape *shape)
{
	struct aggnet_check check;

	*f = (struct fingerprint){ .shape = *shape };
	if (!fp_get_check(fd, &check))
		return;
	f->kind = check.kind;
	f->integers = shape->function == AGGNET_FN_SUM &&
		      aggnet_shape_kind(shape) == AGGNET_KIND_PLAIN;
	memcpy(f->key, check.key, sizeof(f->key));
}

int fingerprint_give(const struct fingerprint *f, int fd)
{
	if (f->kind == AGGNET_FP_NONE)
		return 0;
	return setsockopt(fd, SOL_AGGNET, AGGNET_SO_CHECK, &f->value,
			  sizeof(f->value)) ? -errno : 0;
}

bool fingerprint_holds(const struct fingerprint *f, int fd)
{
	struct aggnet_check check;

	return f->kind == AGGNET_FP_NONE || !fp_get_check(fd, &check) ||
	       !check.whole || check.value == f->value;
}

/* --- numbers modulo P ----------------------------------------------------- */

/* Of a product: less than 2^62. */
static inline uint64_t fp_fold(u128 x)
{
	return ((uint64_t)x & P) + (uint64_t)(x >> 61);
}

/* 2^64 is 8, modulo P; so the sign takes 8 away. Less than 2^62 */
static inline uint64_t fp_of_int64(int64_t v)
{
	return ((uint64_t)v & P) + ((uint64_t)v >> 61) + (v < 0 ? P - 8 : 0);
}

static uint64_t fp_of_value(const struct aggnet_value *v)
{
	return aggnet_fp_sum(fp_fold((u128)fp_of_int64((int64_t)v->hi) * 8),
			     (v->lo & P) + (v->lo >> 61));
}

/* x 2^n: a rotation of 61 bits. @x: less than P */
static uint64_t fp_shift(uint64_t x, unsigned int n)
{
	n %= 61;
	return (x << n & P) | x >> (61 - n);
}

/* --- the hash ------------------------------------------------------------- */

static inline uint64_t fp_mix(uint64_t a, uint64_t b)
{
	u128 x = (u128)a * b;

	return (uint64_t)x ^ (uint64_t)(x >> 64);
}

static inline uint64_t fp_load(const uint8_t *at)
{
	uint64_t w;

	memcpy(&w, at, sizeof(w));
	return le64toh(w);
}

/* The same on each host. @n: 1 to 8 bytes */
static inline uint64_t fp_word(const uint8_t *at, size_t n)
{
	uint64_t w = 0;

	memcpy(&w, at, n);
	return le64toh(w);
}

/*
 * A hash, of a word that fp_mix() gave. Its sign is for the fast paths: compilers
 * multiply two signed numbers in one instruction.
 */
static inline int64_t fp_signed(uint64_t word)
{
	return (int64_t)word >> 3;
}

/*
 * Not linear in the bytes of the key: records whose keys have exchanged a part
 * would have the same sum. Return: modulo P
 */
static inline uint64_t fp_hash(const struct fingerprint *f, const uint8_t *key,
			    size_t klen)
{
	uint64_t h = f->key[0] ^ klen * MIX_1;
	int64_t number;

	for (; klen >= 8; klen -= 8, key += 8)
		h = fp_mix(h ^ fp_word(key, 8), f->key[1] | 1);
	if (klen)
		h = fp_mix(h ^ fp_word(key, klen), f->key[1] | 1);
	number = fp_signed(fp_mix(h, f->key[0] ^ f->key[1]));
	return (uint64_t)number + (number < 0 ? P : 0);
}

/* The same of keys of 8 bytes: what does not depend on the key comes first. */
struct hash_8 {
	uint64_t begin;
	uint64_t middle;
	uint64_t end;
};

static inline struct hash_8 fp_begin_8(const struct fingerprint *f)
{
	return (struct hash_8){
		.begin = f->key[0] ^ 8 * MIX_1, .middle = f->key[1] | 1,
		.end = f->key[0] ^ f->key[1],
	};
}

static inline int64_t fp_hash_8(const struct hash_8 *h, uint64_t key)
{
	return fp_signed(fp_mix(fp_mix(h->begin ^ key, h->middle), h->end));
}

/* Another one, of the count in an average. */
static inline uint64_t fp_hash_count(uint64_t h)
{
	return fp_mix(h ^ MIX_1, MIX_2) & P;
}

/* --- sums ----------------------------------------------------------------- */

/* @x: less than 2^62 */
static inline void fp_add(struct fingerprint *f, uint64_t h, uint64_t x)
{
	uint64_t sum = f->value + fp_fold((u128)h * x);

	sum = (sum & P) + (sum >> 61);
	f->value = sum >= P ? sum - P : sum;
}

/* Of polynomials over GF(2), modulo x^64 + x^4 + x^3 + x + 1; linear in both. */
static uint64_t fp_xor_product(uint64_t a, uint64_t b)
{
	uint64_t sum = 0;

	for (; b; b >>= 1) {
		sum ^= b & 1 ? a : 0;
		a = a << 1 ^ (a >> 63 ? 0x1b : 0);
	}
	return sum;
}

/* Less than 2^62; @x: its magnitude is less than 2^127 */
static uint64_t fp_of_int128(__int128 x)
{
	const struct aggnet_value v = {
		.lo = (uint64_t)x, .hi = (uint64_t)(x >> 64),
	};

	return fp_of_value(&v);
}

/* Of products of less than 2^123: their sum is less than 2^127. */
#define FP_BATCH	15

/**
 * struct batch - integers under keys of 8 bytes
 * @key: their keys
 * @value: the integers
 * @n: how many
 */
struct batch {
	uint64_t key[FP_BATCH];
	int64_t value[FP_BATCH];
	size_t n;
};

/* The usual records: they share what does not depend on them. */
static inline void fp_add_batch(struct fingerprint *f, const struct batch *b)
{
	const struct hash_8 h = fp_begin_8(f);
	__int128 sum = 0;
	size_t i;

	for (i = 0; i < b->n; i++)
		sum += (__int128)fp_hash_8(&h, b->key[i]) * b->value[i];
	f->value = aggnet_fp_sum(f->value, fp_of_int128(sum));
}

static inline void fp_add_value(struct fingerprint *f, uint64_t h,
			     const struct aggnet_value *v)
{
	if (f->kind == AGGNET_FP_XOR)
		f->value ^= fp_xor_product(h, v->lo);
	else if (aggnet_value_fits(v))
		fp_add(f, h, fp_of_int64((int64_t)v->lo));
	else
		fp_add(f, h, fp_of_value(v));
}

/* An integer times 2^-1074, or 2^-149; NaN and infinities are left out. */
static void fp_add_real(struct fingerprint *f, uint64_t h, uint64_t bits)
{
	const bool wide = f->shape.vtype == AGGNET_VTYPE_FLOAT64;
	const unsigned int digits = wide ? 52 : 23, places = wide ? 11 : 8;
	uint64_t x = bits & ((1ull << digits) - 1);
	unsigned int e = bits >> digits & ((1u << places) - 1);

	if (e == (1u << places) - 1)
		return;
	x = e ? fp_shift(x | 1ull << digits, e - 1) : x;
	fp_add(f, h, bits >> (digits + places) ? P - x : x);
}

static void fp_add_sum(struct fingerprint *f, uint64_t h,
		    const struct aggnet_float_sum *sum)
{
	uint32_t i, n = aggnet_float_sum_words(f->shape.vtype);
	uint64_t x = 0;

	for (i = 0; i < n; i++)
		x = aggnet_fp_sum(x, fp_shift(aggnet_fp_sum(sum->word[i], 0),
					   3 * i));
	/* Two's complement. */
	if (sum->word[n - 1] >> 63)
		x = aggnet_fp_sum(x, P - fp_shift(1, 3 * n));
	fp_add(f, h, x);
	if (f->shape.function == AGGNET_FN_AVERAGE)
		fp_add(f, fp_hash_count(h), aggnet_fp_sum(sum->count, 0));
}

static void fp_add_mean(struct fingerprint *f, uint64_t h,
			const struct aggnet_mean *mean)
{
	fp_add_value(f, h, &mean->sum);
	fp_add(f, fp_hash_count(h), aggnet_fp_sum(mean->count, 0));
}

/* Of a dense vector the key is the number of the element. */
static uint64_t fp_hash_element(const struct fingerprint *f, uint64_t number)
{
	const uint64_t key = htole64(number);

	return fp_hash(f, (const uint8_t *)&key, sizeof(key));
}

static uint64_t fp_first_element(const struct fingerprint *f,
				 const uint8_t *key, size_t klen)
{
	return (uint64_t)aggnet_vector_key_get(key, klen) *
	       aggnet_vector_block(&f->shape);
}

static uint64_t fp_hash_key(const struct fingerprint *f, const uint8_t *key,
			 size_t klen)
{
	return f->shape.layout == AGGNET_LAYOUT_DENSE ?
	       fp_hash_element(f, fp_first_element(f, key, klen)) :
	       fp_hash(f, key, klen);
}

/* --- records of a source -------------------------------------------------- */

static void fp_add_block(struct fingerprint *f, const struct record *rec)
{
	uint64_t first = fp_first_element(f, rec->key, rec->klen);
	size_t i, width = rec->vlen / AGGNET_BLOCK_ELEMENTS;
	struct aggnet_value v;

	for (i = 0; width && i < AGGNET_BLOCK_ELEMENTS; i++) {
		v = aggnet_source_get(&f->shape, rec->value + i * width, width);
		fp_add_value(f, fp_hash_element(f, first + i), &v);
	}
}

static uint64_t fp_bits(const struct record *rec)
{
	uint64_t bits = 0;
	size_t i;

	for (i = rec->vlen; i--; )
		bits = bits << 8 | rec->value[i];
	return bits;
}

static void fp_add_record(struct fingerprint *f, const struct record *rec)
{
	enum aggnet_kind kind = aggnet_shape_kind(&f->shape);
	struct aggnet_value v;
	uint64_t h;

	if (kind == AGGNET_KIND_BLOCK) {
		fp_add_block(f, rec);
		return;
	}
	h = fp_hash_key(f, rec->key, rec->klen);
	if (kind == AGGNET_KIND_FLOAT_SUM) {
		fp_add_real(f, h, fp_bits(rec));
	} else {
		v = aggnet_source_get(&f->shape, rec->value, rec->vlen);
		fp_add_value(f, h, &v);
	}
	if (f->shape.function == AGGNET_FN_AVERAGE)
		fp_add(f, fp_hash_count(h), 1);
}

/* Integers under keys of 8 bytes. Return: their bytes */
static size_t fp_add_integers(struct fingerprint *f, const uint8_t *data,
			      size_t len)
{
	const uint8_t *at = data, *end = data + len;
	struct batch b;
	uint32_t vlen;

	b.n = 0;
	while (b.n < FP_BATCH && end - at >= 18) {
		vlen = at[1];
		if (at[0] != 8 || vlen - 1 >= 8)
			break;
		b.key[b.n] = fp_load(at + 2);
		at += 10 + vlen;
		b.value[b.n++] = (int64_t)fp_load(at - 8) >> (-8 * vlen & 63);
	}
	fp_add_batch(f, &b);
	return at - data;
}

void fingerprint_records(struct fingerprint *f, const uint8_t *data, size_t len)
{
	struct record rec;
	size_t size;

	if (f->kind == AGGNET_FP_NONE)
		return;
	while (len) {
		size = f->integers ? fp_add_integers(f, data, len) : 0;
		if (!size) {
			size = record_get(data, len, &rec);
			if (!size)
				return;
			fp_add_record(f, &rec);
		}
		data += size;
		len -= size;
	}
}

/* --- what was read -------------------------------------------------------- */

static void fp_add_elements(struct fingerprint *f, const uint8_t *key,
			    size_t klen, const struct aggnet_value *value)
{
	uint64_t first = fp_first_element(f, key, klen);
	size_t i;

	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++)
		fp_add_value(f, fp_hash_element(f, first + i), &value[i]);
}

/* Integers under keys of 8 bytes. Return: entries */
static size_t fp_add_sums(struct fingerprint *f, const struct merge_entry *e,
			  size_t left)
{
	struct batch b;

	b.n = 0;
	for (; b.n < FP_BATCH && b.n < left; e++) {
		if (e->klen != 8 || !aggnet_value_fits(&e->value))
			break;
		b.key[b.n] = fp_load(e->key);
		b.value[b.n++] = (int64_t)e->value.lo;
	}
	fp_add_batch(f, &b);
	return b.n;
}

void fingerprint_result(struct fingerprint *f, const struct merge *m)
{
	const struct merge_entry *e = m->entry;
	size_t n, left = m->n;

	for (; left; left -= n, e += n) {
		n = f->integers ? fp_add_sums(f, e, left) : 0;
		if (n)
			continue;
		fingerprint_accum(f, e->key, e->klen, merge_plain(m) ?
				  (const void *)&e->value : e->accum);
		n = 1;
	}
}

void fingerprint_accum(struct fingerprint *f, const void *key, size_t klen,
		       const void *accum)
{
	enum aggnet_kind kind = aggnet_shape_kind(&f->shape);
	uint64_t h;

	if (f->kind == AGGNET_FP_NONE)
		return;
	if (kind == AGGNET_KIND_BLOCK) {
		fp_add_elements(f, key, klen, accum);
		return;
	}
	h = fp_hash_key(f, key, klen);
	if (kind == AGGNET_KIND_FLOAT_SUM)
		fp_add_sum(f, h, accum);
	else if (kind == AGGNET_KIND_MEAN)
		fp_add_mean(f, h, accum);
	else
		fp_add_value(f, h, accum);
}
