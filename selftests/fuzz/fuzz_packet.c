// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: a datagram from any sender, parsed as the receive path does. An
 * accepted datagram is unchanged after it is written and read again.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "core/filter.h"
#include "core/packet.h"
#include "core/record.h"
#include "core/tag.h"

#define CHECK(cond) do { if (!(cond)) __builtin_trap(); } while (0)

static const struct aggnet_shape plain = { .function = AGGNET_FN_SUM };

static struct aggnet_secret keys[2];	/* none, and one */

/* Accepted records are equal after they are written and read again. */
static void check_records(const u8 *data, size_t len, unsigned int max)
{
	int n = aggnet_parse_records(&plain, false, data, len, max);
	const u8 *end = data + len;

	if (n < 0)
		return;
	CHECK((unsigned int)n <= max);
	for (; n; n--) {
		struct aggnet_record rec, again;
		u8 buf[AGGNET_RECORD_MAX];
		size_t size;

		data += aggnet_record_get(data, &rec);
		CHECK(data <= end && rec.klen && rec.key + rec.klen <= end);
		size = aggnet_record_put(buf, rec.key, rec.klen, &rec.value);
		CHECK(size == aggnet_record_size(rec.klen, &rec.value));
		CHECK(aggnet_parse_records(&plain, false, buf, size, 1) == 1);
		CHECK(aggnet_record_get(buf, &again) == size);
		CHECK(again.klen == rec.klen &&
		      !memcmp(again.key, rec.key, rec.klen) &&
		      again.value.lo == rec.value.lo &&
		      again.value.hi == rec.value.hi);
	}
	CHECK(data == end);
}

/* Any link of any level; a spent filter matches none. */
static void check_filter(const struct aggnet_pkt *pkt)
{
	const struct aggnet_filter *f = pkt->filter;
	u64 name;

	if (!f)
		return;
	CHECK(aggnet_filter_size(aggnet_filter_bits(f),
				 aggnet_filter_digits(f)) == pkt->filter_size);
	for (name = 1; name < 256; name++) {
		bool found = aggnet_filter_test(f, pkt->incast_id, name);

		CHECK(!found || !aggnet_filter_spent(f));
		CHECK(aggnet_filter_digit(f, name) < 256);
	}
}

static void check_packet(u8 *data, size_t len)
{
	struct aggnet_hdr *hdr = (struct aggnet_hdr *)data;
	const struct aggnet_data *body;
	struct aggnet_hdr again;
	struct aggnet_pkt pkt;
	size_t k;

	if (aggnet_parse_header(data, len, &pkt) != AGGNET_PARSE_OK)
		return;
	CHECK(pkt.body == data + sizeof(*hdr) + pkt.filter_size);
	CHECK(pkt.length == len - sizeof(*hdr) - pkt.filter_size);
	CHECK(!pkt.filter == !pkt.filter_size);
	check_filter(&pkt);
	aggnet_put_header(&again, &pkt);
	/* A larger hop field than allowed is read as the maximum. */
	CHECK(again.hop == min_t(u8, hdr->hop, AGGNET_HOP_MAX));
	again.hop = hdr->hop;
	CHECK(!memcmp(&again, hdr, offsetof(struct aggnet_hdr, tag)));

	for (k = 0; k < ARRAY_SIZE(keys); k++) {
		u64 digest = aggnet_digest(&keys[k], pkt.body, pkt.length);
		bool fits = keys[k].keyed == !!(pkt.flags & AGGNET_F_TAG);
		__be64 tag = hdr->tag;

		hdr->tag = cpu_to_be64(aggnet_tag(&keys[k], hdr, digest));
		CHECK(aggnet_tag_ok(&keys[k], hdr) == fits);
		hdr->tag ^= cpu_to_be64(1ULL << len % 64);
		CHECK(!aggnet_tag_ok(&keys[k], hdr));
		hdr->tag = tag;
	}

	if (pkt.type == AGGNET_DATA) {
		body = (const struct aggnet_data *)pkt.body;
		check_records((const u8 *)(body + 1),
			      pkt.length - sizeof(*body),
			      be16_to_cpu(body->records));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	/*
	 * Allocate the exact size, so that the sanitizer reports reads behind
	 * the end.
	 */
	u8 *copy = memcpy(malloc(size ? size : 1), data, size);

	if (!keys[1].keyed)
		aggnet_secret_set(&keys[1], "0123456789abcdef");
	check_packet(copy, size);
	check_records(copy, size, size);
	free(copy);
	return 0;
}
