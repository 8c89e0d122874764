// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the checksum without a key and the tag with a key: each changes
 * with every bit of packet and key.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/unaligned.h>

#include "core/crc.h"
#include "core/tag.h"
#include "packet.h"

#include "../uapi/harness.h"

#define SEED	0x636f6463

static const struct aggnet_secret unkeyed = { .keyed = false };
static const u8 key_bytes[16] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
};
static struct aggnet_secret keyed;

static void __attribute__((constructor)) set_key(void)
{
	aggnet_secret_set(&keyed, key_bytes);
}

/* Tag a DATA packet of a few records. */
static size_t make_tagged(struct packet *p, const struct aggnet_secret *key)
{
	size_t len;

	make(p, AGGNET_DATA);
	get_random_bytes(&p->hdr.incast_id, 48);
	get_random_bytes(p->bytes + 16, 61);
	p->hdr.length = cpu_to_be16(16 + 61);
	p->hdr.flags = cpu_to_be16(key->keyed ? AGGNET_F_TAG : 0);
	len = be16_to_cpu(p->hdr.length);
	p->hdr.tag = cpu_to_be64(aggnet_tag(key, &p->hdr,
					    aggnet_digest(key, p->bytes, len)));
	return sizeof(p->hdr) + len;
}

TEST(digest__known_values)
{
	siphash_key_t sip = aggnet_secret_sip(&keyed);
	u8 msg[48];
	int i;

	for (i = 0; i < 48; i++)
		msg[i] = i;
	/* The example of the SipHash paper, appendix A. */
	EXPECT_EQ(0xa129ca6149be45e5, siphash(msg, 15, &sip));
	/* test_uhash compares more bodies with the definition. */
	EXPECT_EQ(0x15600d4fe393e1cd, aggnet_digest(&keyed, msg, 48));
	EXPECT_EQ(0xe3069283, aggnet_digest(&unkeyed, "123456789", 9));
}

TEST(tag__is_as_the_wire_abi_says)
{
	struct packet p;
	siphash_key_t sip = { {
		get_unaligned_le64(key_bytes),
		get_unaligned_le64(key_bytes + 8),
	} };
	u8 in[80];
	u64 digest;
	size_t len;

	shim_random_seed(SEED);
	len = make_tagged(&p, &unkeyed) - 72;
	memcpy(in, &p.hdr, 72);
	in[2] = 0;
	memset(in + 64, 0, 8);
	digest = aggnet_crc32c(p.bytes, len);
	put_unaligned_be32(digest, in + 72);
	EXPECT_EQ(aggnet_crc32c(in, 76), be64_to_cpu(p.hdr.tag));

	len = make_tagged(&p, &keyed) - 72;
	memcpy(in, &p.hdr, 72);
	in[2] = 0;
	put_unaligned_be64(aggnet_digest(&keyed, p.bytes, len), in + 64);
	EXPECT_EQ(siphash(in, 72, &sip), be64_to_cpu(p.hdr.tag));
}

TEST(tag_ok__any_flipped_bit_but_those_of_the_way)
{
	const struct aggnet_secret *keys[] = { &unkeyed, &keyed };
	struct packet p;
	size_t bit, len;
	int k;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (k = 0; k < 2; k++) {
		u8 *bytes = (u8 *)&p;

		len = make_tagged(&p, keys[k]);
		ASSERT_TRUE(aggnet_tag_ok(keys[k], &p.hdr));
		for (bit = 0; bit < 8 * len; bit++) {
			/*
			 * The tag is checked after parsing: a changed length is
			 * found before.
			 */
			if (bit / 8 == 3 || bit / 8 == 6 || bit / 8 == 7)
				continue;
			bytes[bit / 8] ^= 1 << bit % 8;
			/* Nodes on the way change hop and fallback. */
			EXPECT_EQ(bit / 8 == 2 || bit / 8 == 60,
				  aggnet_tag_ok(keys[k], &p.hdr))
				TH_LOG("key %d, bit %zu", k, bit);
			bytes[bit / 8] ^= 1 << bit % 8;
		}
		EXPECT_TRUE(aggnet_tag_ok(keys[k], &p.hdr));
	}
}

/* A filter's bits may change in transit, but not the length that it states. */
TEST(tag_ok__any_flipped_bit_of_a_filter)
{
	struct packet p;
	size_t bit, len;

	len = make_filter(&p, AGGNET_OPEN, 64);
	p.hdr.flags = cpu_to_be16(AGGNET_F_TAG);
	p.hdr.tag = cpu_to_be64(aggnet_tag(&keyed, &p.hdr,
				aggnet_digest(&keyed, aggnet_body(&p.hdr),
					      body_len[AGGNET_OPEN])));
	ASSERT_EQ(sizeof(p.hdr) + 16 + body_len[AGGNET_OPEN], len);
	ASSERT_TRUE(aggnet_tag_ok(&keyed, &p.hdr));
	for (bit = 0; bit < 8 * (len - sizeof(p.hdr)); bit++) {
		p.bytes[bit / 8] ^= 1 << bit % 8;
		EXPECT_EQ(bit / 8 < 16, aggnet_tag_ok(&keyed, &p.hdr))
			TH_LOG("bit %zu", bit);
		p.bytes[bit / 8] ^= 1 << bit % 8;
	}
	p.hdr.filter = 1;
	EXPECT_FALSE(aggnet_tag_ok(&keyed, &p.hdr));
	p.hdr.filter = 0;
	EXPECT_FALSE(aggnet_tag_ok(&keyed, &p.hdr));
}

TEST(tag_ok__every_other_length)
{
	const struct aggnet_secret *keys[] = { &unkeyed, &keyed };
	struct packet p;
	size_t len, other;
	int k;

	shim_random_seed(SEED);
	for (k = 0; k < 2; k++) {
		len = make_tagged(&p, keys[k]) - sizeof(p.hdr);
		for (other = 0; other <= 200; other++) {
			p.hdr.length = cpu_to_be16(other);
			EXPECT_EQ(other == len, aggnet_tag_ok(keys[k], &p.hdr));
		}
	}
}

TEST(tag_ok__keyed_and_unkeyed_do_not_mix)
{
	struct packet p;

	shim_random_seed(SEED);
	make_tagged(&p, &unkeyed);
	EXPECT_FALSE(aggnet_tag_ok(&keyed, &p.hdr));
	make_tagged(&p, &keyed);
	EXPECT_FALSE(aggnet_tag_ok(&unkeyed, &p.hdr));

	/* The tag of the other kind is refused even if it is right. */
	p.hdr.tag = cpu_to_be64(aggnet_tag(&unkeyed, &p.hdr,
				aggnet_digest(&unkeyed, p.bytes, 77)));
	EXPECT_FALSE(aggnet_tag_ok(&unkeyed, &p.hdr));
	make_tagged(&p, &unkeyed);
	p.hdr.tag = cpu_to_be64(aggnet_tag(&keyed, &p.hdr,
				aggnet_digest(&keyed, p.bytes, 77)));
	EXPECT_FALSE(aggnet_tag_ok(&keyed, &p.hdr));
}

TEST(tag_ok__every_bit_of_the_key_counts)
{
	struct aggnet_secret other;
	u8 bytes[16];
	struct packet p;
	u64 digest;
	int bit;

	shim_random_seed(SEED);
	make_tagged(&p, &keyed);
	digest = aggnet_digest(&keyed, p.bytes, 77);
	memcpy(bytes, key_bytes, sizeof(bytes));
	for (bit = 0; bit < 128; bit++) {
		bytes[bit / 8] ^= 1 << bit % 8;
		aggnet_secret_set(&other, bytes);
		EXPECT_FALSE(aggnet_tag_ok(&other, &p.hdr));
		EXPECT_NE(digest, aggnet_digest(&other, p.bytes, 77));
		bytes[bit / 8] ^= 1 << bit % 8;
	}
	aggnet_secret_set(&other, bytes);
	EXPECT_TRUE(aggnet_tag_ok(&other, &p.hdr));
}

TEST_HARNESS_MAIN
