// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the packet codec: everything that is refused, one by one. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include "codec.h"
#include "crc.h"
#include "filter.h"

#include "kselftest_harness.h"

#define SEED	0x636f6463

static const struct aggnet_shape plain = { .function = AGGNET_FN_SUM };

#define s128 __int128
#define u128 unsigned __int128

static const struct aggnet_key unkeyed = { .keyed = false };
static const struct aggnet_key keyed = {
	.keyed = true,
	.bytes = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
};

/* What follows the header, by type; DATA: with its smallest record. */
static const size_t body_len[__AGGNET_TYPE_MAX] = {
	0, 16, 8, 16 + 3, 40, 24, 8, 16, 16, 0,
};

/* Room for a packet, aligned as skb data is. */
struct packet {
	struct aggnet_hdr hdr;
	union {
		struct aggnet_open open;
		struct aggnet_accept accept;
		struct aggnet_data data;
		struct aggnet_ack ack;
		struct aggnet_fin fin;
		struct aggnet_done done;
		struct aggnet_abort abort;
		struct aggnet_rst rst;
		u8 bytes[1400];
	};
};

static s128 wide(struct aggnet_value v)
{
	return (s128)((u128)v.hi << 64 | v.lo);
}

static struct aggnet_value value(s128 x)
{
	return (struct aggnet_value){ .lo = (u64)x, .hi = (u64)((u128)x >> 64) };
}

/* A packet that is accepted. */
static size_t make(struct packet *p, u8 type)
{
	struct aggnet_pkt pkt = {
		.type = type, .hop = 5, .length = body_len[type],
	};

	memset(p, 0, sizeof(*p));
	aggnet_put_header(&p->hdr, &pkt);
	switch (type) {
	case AGGNET_DATA:
		p->data.records = cpu_to_be16(1);
		p->data.represents = cpu_to_be64(1);
		p->bytes[sizeof(p->data)] = 1;
		break;
	case AGGNET_ABORT:
		p->abort.reason = cpu_to_be32(AGGNET_R_USER);
		break;
	case AGGNET_RST:
		p->rst.reason = cpu_to_be32(AGGNET_RST_NONCE);
		break;
	}
	return sizeof(p->hdr) + body_len[type];
}

static enum aggnet_parse parse(const struct packet *p, size_t len)
{
	struct aggnet_pkt pkt;

	return aggnet_parse_header(p, len, &pkt);
}

TEST(wire__sizes_are_fixed)
{
	EXPECT_EQ(64, sizeof(struct aggnet_hdr));
	EXPECT_EQ(8, offsetof(struct aggnet_hdr, incast_id));
	EXPECT_EQ(32, offsetof(struct aggnet_hdr, src_nonce));
	EXPECT_EQ(56, offsetof(struct aggnet_hdr, tag));
	EXPECT_EQ(16, sizeof(struct aggnet_open));
	EXPECT_EQ(8, sizeof(struct aggnet_accept));
	EXPECT_EQ(16, sizeof(struct aggnet_data));
	EXPECT_EQ(40, sizeof(struct aggnet_ack));
	EXPECT_EQ(24, sizeof(struct aggnet_fin));
	EXPECT_EQ(8, sizeof(struct aggnet_done));
	EXPECT_EQ(16, sizeof(struct aggnet_abort));
	EXPECT_EQ(16, sizeof(struct aggnet_rst));
}

TEST(value_get__every_length_and_key)
{
	unsigned int klen, vlen, i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (klen = 1; klen <= AGGNET_KEY_MAX; klen++)
		for (vlen = 0; vlen <= AGGNET_PLAIN_MAX; vlen++) {
			u8 *rec = malloc(2 + klen + vlen);
			struct aggnet_record got;
			u128 want = 0;

			get_random_bytes(rec, 2 + klen + vlen);
			rec[0] = klen;
			rec[1] = vlen;
			for (i = 0; i < vlen; i++)
				want |= (u128)rec[2 + klen + i] << (8 * i);
			if (vlen && vlen < 16 && want >> (8 * vlen - 1))
				want |= (u128)-1 << (8 * vlen);
			ASSERT_EQ(2 + klen + vlen, aggnet_record_get(rec, &got));
			ASSERT_EQ(klen, got.klen);
			ASSERT_TRUE(got.key == rec + 2);
			ASSERT_TRUE(wide(got.value) == (s128)want)
				TH_LOG("key %u, value %u bytes", klen, vlen);
			free(rec);
		}
}

/* Each length of value at its limits: 2^b - 1, 2^b, -2^b, -2^b - 1. */
TEST(value_len__is_minimal)
{
	s128 at[4];
	int bit, i;

	EXPECT_EQ(0, aggnet_value_len(&(struct aggnet_value){ 0, 0 }));
	for (bit = 0; bit < 127; bit++) {
		at[0] = ((s128)1 << bit) - 1;
		at[1] = (s128)1 << bit;
		at[2] = -((s128)1 << bit);
		at[3] = -((s128)1 << bit) - 1;
		for (i = 0; i < 4; i++) {
			struct aggnet_value v = value(at[i]);
			u32 len = aggnet_value_len(&v);
			s128 short_of = len < 2 ? 0 :
				(s128)((u128)at[i] << (136 - 8 * len)) >>
				(136 - 8 * len);

			ASSERT_LE(len, 16);
			ASSERT_EQ(at[i] == 0, len == 0);
			if (len < 16)
				ASSERT_TRUE((at[i] >> (8 * len - !!len)) ==
					    (at[i] < 0 ? -1 : 0));
			if (len)
				ASSERT_TRUE(short_of != at[i]);
		}
	}
}

TEST(parse_header__accepts_each_type)
{
	struct packet p;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++) {
		size_t len = make(&p, type);

		EXPECT_EQ(AGGNET_PARSE_OK, parse(&p, len))
			TH_LOG("type %u", type);
	}
}

TEST(parse_header__reads_what_put_header_wrote)
{
	struct aggnet_pkt in = {
		.type = AGGNET_PROBE, .hop = 0x42,
		.flags = AGGNET_F_TAG | AGGNET_F_ACK,
		.incast_id = 0x0102030405060708, .instance = 0x11121314,
		.attempt = 0x21222324, .src = cpu_to_be32(0x0a000001),
		.dst = cpu_to_be32(0x0a000002),
		.src_nonce = 0x3132333435363738, .dst_nonce = 0x4142434445464748,
		.stamp = 0x51525354, .echo = 0x61626364,
	};
	static const u8 wire[64] = {
		1, AGGNET_PROBE, 0x42, 0, 0x02, 0x04, 0, 0,
		1, 2, 3, 4, 5, 6, 7, 8,
		0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
		10, 0, 0, 1, 10, 0, 0, 2,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
		0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
		0x51, 0x52, 0x53, 0x54, 0x61, 0x62, 0x63, 0x64,
	};
	struct aggnet_hdr hdr;
	struct aggnet_pkt out;

	memset(&hdr, 0xff, sizeof(hdr));
	aggnet_put_header(&hdr, &in);
	EXPECT_EQ(0, memcmp(&hdr, wire, sizeof(wire)));
	ASSERT_EQ(AGGNET_PARSE_OK,
		  aggnet_parse_header(&hdr, sizeof(hdr), &out));
	EXPECT_EQ(in.type, out.type);
	EXPECT_EQ(in.hop, out.hop);
	EXPECT_EQ(in.flags, out.flags);
	EXPECT_EQ(in.length, out.length);
	EXPECT_EQ(in.incast_id, out.incast_id);
	EXPECT_EQ(in.instance, out.instance);
	EXPECT_EQ(in.attempt, out.attempt);
	EXPECT_EQ(in.src, out.src);
	EXPECT_EQ(in.dst, out.dst);
	EXPECT_EQ(in.src_nonce, out.src_nonce);
	EXPECT_EQ(in.dst_nonce, out.dst_nonce);
	EXPECT_EQ(in.stamp, out.stamp);
	EXPECT_EQ(in.echo, out.echo);
	EXPECT_TRUE(out.body == (u8 *)(&hdr + 1));
}

TEST(parse_header__every_shorter_packet)
{
	struct packet p;
	size_t len, cut;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++) {
		len = make(&p, type);
		for (cut = 0; cut < len; cut++) {
			/* Of this size exactly: the sanitizer guards the end. */
			void *part = memcpy(malloc(cut + 1), &p, cut);
			struct aggnet_pkt pkt;

			part = realloc(part, cut ? cut : 1);
			EXPECT_EQ(AGGNET_PARSE_TRUNCATED,
				  aggnet_parse_header(part, cut, &pkt));
			free(part);
		}
	}
}

TEST(parse_header__longer_than_it_says)
{
	struct packet p;
	size_t len;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++) {
		len = make(&p, type);
		EXPECT_EQ(AGGNET_PARSE_LENGTH, parse(&p, len + 1));
	}
}

/* Names may follow the bodies of FIN and ABORT. */
static bool length_fits(u8 type, size_t len)
{
	size_t fixed = body_len[type];

	/* The body of a PROBE is padding. */
	if (type == AGGNET_DATA || type == AGGNET_PROBE)
		return len >= fixed;
	if (type == AGGNET_FIN || type == AGGNET_ABORT)
		return len >= fixed && len % 4 == 0 && len - fixed <= 4 * 16;
	return len == fixed;
}

TEST(parse_header__every_length_of_body)
{
	struct packet p;
	size_t len;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++)
		for (len = 0; len <= sizeof(p.bytes); len++) {
			bool fits = length_fits(type, len);

			make(&p, type);
			p.hdr.length = cpu_to_be16(len);
			ASSERT_EQ(fits ? AGGNET_PARSE_OK : AGGNET_PARSE_BODY,
				  parse(&p, sizeof(p.hdr) + len))
				TH_LOG("type %u, %zu bytes", type, len);
		}
}

TEST(parse_header__every_version)
{
	struct packet p;
	int version;

	for (version = 0; version < 256; version++) {
		size_t len = make(&p, AGGNET_ACK);

		p.hdr.version = version;
		EXPECT_EQ(version == 1 ? AGGNET_PARSE_OK : AGGNET_PARSE_VERSION,
			  parse(&p, len));
	}
}

TEST(parse_header__every_type)
{
	struct packet p;
	int type;

	for (type = 0; type < 256; type++) {
		size_t len = make(&p, AGGNET_PROBE);
		enum aggnet_parse want = AGGNET_PARSE_BODY;

		p.hdr.type = type;
		if (type == 0 || type > 9)
			want = AGGNET_PARSE_TYPE;
		else if (type == AGGNET_PROBE)
			want = AGGNET_PARSE_OK;
		EXPECT_EQ(want, parse(&p, len));
	}
}

TEST(parse_header__every_flag)
{
	struct packet p;
	int bit;

	for (bit = 0; bit < 16; bit++) {
		size_t len = make(&p, AGGNET_PROBE);

		p.hdr.flags = cpu_to_be16(1 << bit);
		EXPECT_EQ(bit < 12 ? AGGNET_PARSE_OK : AGGNET_PARSE_FLAGS,
			  parse(&p, len))
			TH_LOG("bit %d", bit);
	}
}

/* A packet that is accepted, if its type may have a filter of so many bits. */
static size_t make_filter(struct packet *p, u8 type, u32 bits)
{
	size_t len = make(p, type), size = aggnet_filter_size(bits, 0);
	struct aggnet_filter *f = (void *)p->bytes;

	memmove(p->bytes + size, p->bytes, len - sizeof(p->hdr));
	memset(p->bytes, 0, size);
	f->bits = cpu_to_be16(bits);
	f->hashes_digits = 3;
	f->salt = 5;
	p->hdr.filter = size / AGGNET_FILTER_UNIT;
	p->hdr.length = cpu_to_be16(size + body_len[type]);
	return len + size;
}

TEST(parse_header__a_filter_only_on_the_way_up)
{
	static const bool up[__AGGNET_TYPE_MAX] = {
		[AGGNET_OPEN] = true, [AGGNET_DATA] = true,
		[AGGNET_FIN] = true, [AGGNET_PROBE] = true,
		[AGGNET_ABORT] = true,
	};
	struct aggnet_pkt pkt;
	struct packet p;
	u32 bits;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++)
		for (bits = 8; bits <= AGGNET_FILTER_BITS_MAX; bits += 41) {
			size_t size = aggnet_filter_size(bits, 0);
			size_t len = make_filter(&p, type, bits);

			ASSERT_EQ(up[type] ? AGGNET_PARSE_OK :
					     AGGNET_PARSE_FILTER,
				  aggnet_parse_header(&p, len, &pkt))
				TH_LOG("type %u, %u bits", type, bits);
			if (!up[type])
				continue;
			ASSERT_TRUE((void *)pkt.filter == p.bytes);
			ASSERT_EQ(size, pkt.filter_size);
			ASSERT_TRUE(pkt.body == p.bytes + size);
			ASSERT_EQ(body_len[type], pkt.length);
		}
	make(&p, AGGNET_PROBE);
	aggnet_parse_header(&p, sizeof(p.hdr), &pkt);
	EXPECT_EQ(NULL, pkt.filter);
	EXPECT_EQ(0, pkt.filter_size);
}

TEST(parse_header__every_size_of_filter)
{
	struct packet p;
	size_t len;
	int units;

	for (units = 0; units < 256; units++) {
		len = make_filter(&p, AGGNET_PROBE, 200);
		p.hdr.filter = units;
		/* Without one the bytes are a PROBE's padding. */
		EXPECT_EQ(!units || units == 4 ? AGGNET_PARSE_OK :
						 AGGNET_PARSE_FILTER,
			  parse(&p, len))
			TH_LOG("%d units", units);
	}
	for (units = 1; units < 4; units++) {
		make_filter(&p, AGGNET_PROBE, 200);
		p.hdr.length = cpu_to_be16(units * AGGNET_FILTER_UNIT);
		EXPECT_EQ(AGGNET_PARSE_FILTER,
			  parse(&p, sizeof(p.hdr) +
				units * AGGNET_FILTER_UNIT));
	}
}

TEST(parse_header__a_malformed_filter)
{
	struct packet p;
	size_t len;

	len = make_filter(&p, AGGNET_DATA, 42);
	p.bytes[sizeof(struct aggnet_filter) + 5] = 4;
	EXPECT_EQ(AGGNET_PARSE_FILTER, parse(&p, len));
	p.bytes[sizeof(struct aggnet_filter) + 5] = 3;
	EXPECT_EQ(AGGNET_PARSE_OK, parse(&p, len));
}

TEST(parse_header__the_body_behind_a_filter)
{
	struct packet p;
	size_t len;

	len = make_filter(&p, AGGNET_OPEN, 42);
	p.hdr.length = cpu_to_be16(body_len[AGGNET_OPEN]);
	EXPECT_EQ(AGGNET_PARSE_BODY,
		  parse(&p, sizeof(p.hdr) + body_len[AGGNET_OPEN]));
	len = make_filter(&p, AGGNET_DATA, 42);
	memset(p.bytes + aggnet_filter_size(42, 0), 0,
	       sizeof(struct aggnet_data));
	EXPECT_EQ(AGGNET_PARSE_BODY, parse(&p, len));
}

/* Flip each bit of each body: refused exactly if it is a reserved one. */
TEST(parse_header__reserved_in_bodies)
{
	static const struct {
		u8 type, from, to;
	} reserved[] = {
		{ AGGNET_OPEN, 6, 8 }, { AGGNET_ACCEPT, 5, 8 },
		{ AGGNET_RST, 12, 16 },
	};
	struct packet p;
	size_t i, bit;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++)
		for (bit = 0; bit < 8 * body_len[type]; bit++) {
			enum aggnet_parse want = AGGNET_PARSE_OK;
			size_t len = make(&p, type);

			/* These bytes have tests of their own. */
			if ((type == AGGNET_DATA && bit / 8 >= 4) ||
			    (type == AGGNET_ABORT && bit < 32) ||
			    (type == AGGNET_RST && bit < 32))
				continue;
			for (i = 0; i < ARRAY_SIZE(reserved); i++)
				if (type == reserved[i].type &&
				    bit / 8 >= reserved[i].from &&
				    bit / 8 < reserved[i].to)
					want = AGGNET_PARSE_BODY;
			p.bytes[bit / 8] ^= 1 << bit % 8;
			EXPECT_EQ(want, parse(&p, len))
				TH_LOG("type %u, bit %zu", type, bit);
		}
}

TEST(parse_header__data_counts)
{
	struct packet p;
	u32 records, bytes;

	for (bytes = 3; bytes < 64; bytes++)
		for (records = 0; records < 32; records++) {
			bool fits = records && records * 3 <= bytes;

			make(&p, AGGNET_DATA);
			p.hdr.length = cpu_to_be16(16 + bytes);
			p.data.records = cpu_to_be16(records);
			p.data.represents = cpu_to_be64(records);
			ASSERT_EQ(fits ? AGGNET_PARSE_OK : AGGNET_PARSE_BODY,
				  parse(&p, sizeof(p.hdr) + 16 + bytes));
			p.data.represents = cpu_to_be64(1ULL << 63);
			ASSERT_EQ(fits ? AGGNET_PARSE_OK : AGGNET_PARSE_BODY,
				  parse(&p, sizeof(p.hdr) + 16 + bytes));
		}
}

TEST(parse_header__every_reason)
{
	struct packet p;
	u32 reason;
	size_t len;

	for (reason = 0; reason < 300; reason++) {
		len = make(&p, AGGNET_ABORT);
		p.abort.reason = cpu_to_be32(reason);
		EXPECT_EQ(reason >= 1 && reason <= AGGNET_R_ROOM ?
			  AGGNET_PARSE_OK : AGGNET_PARSE_BODY, parse(&p, len));
		len = make(&p, AGGNET_RST);
		p.rst.reason = cpu_to_be32(reason);
		EXPECT_EQ(reason >= 1 && reason <= AGGNET_RST_NONCE ?
			  AGGNET_PARSE_OK : AGGNET_PARSE_BODY, parse(&p, len));
	}
	make(&p, AGGNET_ABORT);
	p.abort.reason = cpu_to_be32(0x01000001);
	EXPECT_EQ(AGGNET_PARSE_BODY, parse(&p, sizeof(p.hdr) + 16));
}

TEST(parse_records__every_pair_of_lengths)
{
	u8 buf[2 + 255 + 255] = { 0 };
	unsigned int klen, vlen;

	for (klen = 0; klen < 256; klen++)
		for (vlen = 0; vlen < 256; vlen++) {
			int want = klen && vlen <= 16 ? 1 : -EBADMSG;
			int own = want == 1 && vlen > 8 ? -ERANGE : want;

			buf[0] = klen;
			buf[1] = vlen;
			ASSERT_EQ(want, aggnet_parse_records(&plain, false, buf,
							     2 + klen + vlen, 9))
				TH_LOG("key %u, value %u bytes", klen, vlen);
			ASSERT_EQ(own, aggnet_parse_records(&plain, true, buf,
							    2 + klen + vlen, 9))
				TH_LOG("key %u, value %u bytes", klen, vlen);
		}
}

TEST(parse_records__every_cut)
{
	struct aggnet_value v = aggnet_value_s64(-300);
	size_t starts[8], len = 0, cut;
	u8 buf[128], *part;
	int i, want;

	for (i = 0; i < 8; i++) {
		starts[i] = len;
		len += aggnet_record_put(buf + len, (u8 *)"abcdefgh", i + 1, &v);
	}
	for (cut = 0; cut <= len; cut++) {
		want = cut == len ? 8 : -EBADMSG;
		for (i = 0; i < 8; i++)
			if (cut == starts[i])
				want = i;
		part = malloc(cut ? cut : 1);
		memcpy(part, buf, cut);
		EXPECT_EQ(want, aggnet_parse_records(&plain, false, part, cut,
						     100))
			TH_LOG("cut at %zu", cut);
		free(part);
	}
}

TEST(parse_records__no_more_than_max)
{
	u8 buf[30];
	int i;

	for (i = 0; i < 30; i += 3)
		memcpy(buf + i, (u8 []){ 1, 0, 'k' }, 3);
	EXPECT_EQ(10, aggnet_parse_records(&plain, false, buf, 30, 10));
	EXPECT_EQ(-EBADMSG, aggnet_parse_records(&plain, false, buf, 30, 9));
	EXPECT_EQ(-EBADMSG, aggnet_parse_records(&plain, false, buf, 30, 0));
	EXPECT_EQ(0, aggnet_parse_records(&plain, false, buf, 0, 0));
}

TEST(record_put__comes_back)
{
	u8 key[AGGNET_KEY_MAX];
	int i, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 4000; round++) {
		s128 x = (s128)((u128)get_random_u64() << 64 |
				get_random_u64()) >> (round % 128);
		struct aggnet_value v = value(x);
		u8 klen = 1 + get_random_u32() % 255;
		struct aggnet_record rec;
		size_t len = aggnet_record_size(klen, &v);
		u8 *buf = malloc(len);

		for (i = 0; i < klen; i++)
			key[i] = get_random_u32();
		ASSERT_EQ(len, aggnet_record_put(buf, key, klen, &v));
		ASSERT_EQ(1, aggnet_parse_records(&plain, false, buf, len, 1));
		ASSERT_EQ(len, aggnet_record_get(buf, &rec));
		ASSERT_EQ(klen, rec.klen);
		ASSERT_EQ(0, memcmp(key, rec.key, klen));
		ASSERT_TRUE(wide(rec.value) == x);
		free(buf);
	}
}

/* Tag a DATA packet of a few records. */
static size_t make_tagged(struct packet *p, const struct aggnet_key *key)
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
	u8 msg[15];
	int i;

	for (i = 0; i < 15; i++)
		msg[i] = i;
	/* The example of the SipHash paper, appendix A. */
	EXPECT_EQ(0xa129ca6149be45e5, aggnet_digest(&keyed, msg, 15));
	EXPECT_EQ(0xe3069283, aggnet_digest(&unkeyed, "123456789", 9));
}

TEST(tag__is_as_the_wire_abi_says)
{
	struct packet p;
	siphash_key_t sip;
	u8 in[72];
	u64 digest;
	size_t len;

	shim_random_seed(SEED);
	len = make_tagged(&p, &unkeyed) - 64;
	memcpy(in, &p.hdr, 64);
	in[2] = 0;
	memset(in + 56, 0, 8);
	digest = aggnet_crc32c(p.bytes, len);
	put_unaligned_be32(digest, in + 64);
	EXPECT_EQ(aggnet_crc32c(in, 68), be64_to_cpu(p.hdr.tag));

	len = make_tagged(&p, &keyed) - 64;
	memcpy(&sip, keyed.bytes, 16);
	memcpy(in, &p.hdr, 64);
	in[2] = 0;
	memset(in + 56, 0, 8);
	digest = siphash(p.bytes, len, &sip);
	put_unaligned_be64(digest, in + 64);
	EXPECT_EQ(siphash(in, 72, &sip), be64_to_cpu(p.hdr.tag));
}

TEST(tag_ok__any_flipped_bit_but_the_hop)
{
	const struct aggnet_key *keys[] = { &unkeyed, &keyed };
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
			/* A length is believed only once it has been parsed. */
			if (bit / 8 == 3 || bit / 8 == 6 || bit / 8 == 7)
				continue;
			bytes[bit / 8] ^= 1 << bit % 8;
			EXPECT_EQ(bit / 8 == 2, aggnet_tag_ok(keys[k], &p.hdr))
				TH_LOG("key %d, bit %zu", k, bit);
			bytes[bit / 8] ^= 1 << bit % 8;
		}
		EXPECT_TRUE(aggnet_tag_ok(keys[k], &p.hdr));
	}
}

/* Where a packet goes is changed on its way, how long that is said is not. */
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
	const struct aggnet_key *keys[] = { &unkeyed, &keyed };
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

	/* Not even if the tag is what the other kind would compute. */
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
	struct aggnet_key other = keyed;
	struct packet p;
	int bit;

	shim_random_seed(SEED);
	make_tagged(&p, &keyed);
	for (bit = 0; bit < 128; bit++) {
		other.bytes[bit / 8] ^= 1 << bit % 8;
		EXPECT_FALSE(aggnet_tag_ok(&other, &p.hdr));
		other.bytes[bit / 8] ^= 1 << bit % 8;
	}
	EXPECT_TRUE(aggnet_tag_ok(&other, &p.hdr));
}

TEST_HARNESS_MAIN
