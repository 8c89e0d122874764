// SPDX-License-Identifier: GPL-2.0
/* Nanoseconds that the pure cores take for a record on this host: to check the form
 * of a packet, to merge its records, and for each of the two digests. Other programs
 * disturb these, so each figure is the least of several passes. Usage: native
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/aggtable.h"
#include "core/record.h"
#include "core/tag.h"
#include "wire.h"
#include "workload.h"

#define PASSES		7
#define PACKETS		28000	/* enough for nearly all of 2^20 keys */

struct packet {
	u8 bytes[PERF_PAYLOAD];
	u32 len;
	u32 records;
};

struct bench {
	struct perf_load load;
	struct aggnet_secret none;
	struct aggnet_secret key;
	struct aggnet_table table;
	struct packet *packet;
	u64 records;
};

/* The compiler must compute it. */
static void use(u64 value)
{
	__asm__ __volatile__("" : : "r"(value));
}

static void check_form(struct bench *b, struct packet *p)
{
	use(aggnet_parse_records(&b->load.shape, false, p->bytes, p->len,
				 p->records));
}

static void merge(struct bench *b, struct packet *p)
{
	aggnet_table_merge(&b->table, p->bytes, p->records, p->records, false);
}

static void digest_crc(struct bench *b, struct packet *p)
{
	use(aggnet_digest(&b->none, p->bytes, p->len));
}

static void digest_key(struct bench *b, struct packet *p)
{
	use(aggnet_digest(&b->key, p->bytes, p->len));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Return: least nanoseconds a record */
static double least(struct bench *b, void (*step)(struct bench *b,
						  struct packet *p))
{
	double best = 1e9, start, ns;
	u32 i, pass;

	for (pass = 0; pass < PASSES; pass++) {
		start = now();
		for (i = 0; i < PACKETS; i++)
			step(b, &b->packet[i]);
		ns = (now() - start) / b->records;
		best = ns < best ? ns : best;
	}
	return best;
}

static void make_packets(struct bench *b)
{
	u64 *seen = calloc(b->load.keys / 64 + 1, sizeof(*seen));
	struct perf_result result = {};
	struct perf_feed feed = {
		.load = &b->load,
		.result = &result,
		.seen = seen,
		.random = 1,
	};
	u32 i;

	b->packet = calloc(PACKETS, sizeof(*b->packet));
	if (!b->packet || !seen)
		perf_die("memory for the packets");
	for (i = 0; i < PACKETS; i++) {
		struct packet *p = &b->packet[i];

		p->len = perf_fill(&feed, p->bytes, PERF_PAYLOAD, &p->records);
	}
	b->records = result.records;
	free(seen);
}

/* A slot of such a key has 40 bytes. */
static void make_table(struct bench *b)
{
	u32 chunks = b->load.keys / (AGGNET_CHUNK / 40) + 16, i;
	static u64 seed[AGGNET_SEED_WORDS];

	for (i = 0; i < AGGNET_SEED_WORDS; i++)
		seed[i] = (i + 1) * 0x9e3779b97f4a7c15ULL;
	if (aggnet_table_init(&b->table, &b->load.shape,
			      (u64)chunks * AGGNET_CHUNK, seed))
		perf_die("table");
	while (chunks--)
		aggnet_table_grow(&b->table, aggnet_chunk_alloc());
}

static void row(const char *name, const char *load)
{
	struct bench b = {
		.load = perf_load(load),
		.key = perf_key("000102030405060708090a0b0c0d0e0f"),
	};
	double form, merged;

	make_packets(&b);
	make_table(&b);
	form = least(&b, check_form);
	merged = least(&b, merge);
	printf("  %s keys: form %.1f, merge %.1f, CRC32C %.1f, with key %.1f\n",
	       name, form, merged, least(&b, digest_crc),
	       least(&b, digest_key));
	aggnet_table_free(&b.table);
	free(b.packet);
}

int main(void)
{
	printf("Pure cores on this host, nanoseconds a record (8+8 bytes), least of %d passes:\n",
	       PASSES);
	row("4096", "keyed:int64:8:4096");
	row("65536", "keyed:int64:8:65536");
	row("1048576", "keyed:int64:8:1048576");
	return 0;
}
