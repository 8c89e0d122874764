// SPDX-License-Identifier: GPL-2.0
/* Unit tests of packets: every malformed header, filter and body is refused for
 * its own reason.
 */
#include <dirent.h>
#include <limits.h>
#include <linux/kernel.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/tag.h"
#include "packet.h"

#include "../uapi/harness.h"

static enum aggnet_parse parse(const struct packet *p, size_t len)
{
	struct aggnet_pkt pkt;

	return aggnet_parse_header(p, len, &pkt);
}

TEST(wire__sizes_are_fixed)
{
	EXPECT_EQ(72, sizeof(struct aggnet_hdr));
	EXPECT_EQ(8, offsetof(struct aggnet_hdr, incast_id));
	EXPECT_EQ(32, offsetof(struct aggnet_hdr, src_nonce));
	EXPECT_EQ(64, offsetof(struct aggnet_hdr, tag));
	EXPECT_EQ(24, sizeof(struct aggnet_open));
	EXPECT_EQ(8, sizeof(struct aggnet_accept));
	EXPECT_EQ(16, sizeof(struct aggnet_data));
	EXPECT_EQ(48, sizeof(struct aggnet_ack));
	EXPECT_EQ(48, sizeof(struct aggnet_fin));
	EXPECT_EQ(8, sizeof(struct aggnet_done));
	EXPECT_EQ(16, sizeof(struct aggnet_abort));
	EXPECT_EQ(16, sizeof(struct aggnet_rst));
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

TEST(parse_header__caps_the_hop_field)
{
	struct aggnet_hdr *hdr;
	struct aggnet_pkt pkt;
	struct packet p;
	size_t len = make(&p, AGGNET_PROBE);

	hdr = (struct aggnet_hdr *)&p;
	hdr->hop = AGGNET_HOP_MAX;
	ASSERT_EQ(AGGNET_PARSE_OK, aggnet_parse_header(hdr, len, &pkt));
	EXPECT_EQ(AGGNET_HOP_MAX, pkt.hop);
	hdr->hop = 255;
	ASSERT_EQ(AGGNET_PARSE_OK, aggnet_parse_header(hdr, len, &pkt));
	EXPECT_EQ(AGGNET_HOP_MAX, pkt.hop);
}

/* Behind the IP and UDP headers a packet starts at 4 modulo 8. */
TEST(parse_header__at_a_multiple_of_four_bytes)
{
	static const struct aggnet_secret unkeyed;
	struct {
		u8 before[4];
		u8 at[sizeof(struct packet)];
	} __aligned(8) room;
	const struct aggnet_hdr *hdr = (const void *)room.at;
	struct aggnet_pkt pkt;
	struct packet p;
	size_t len;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++) {
		len = make(&p, type);
		p.hdr.tag = cpu_to_be64(aggnet_tag(&unkeyed, &p.hdr,
					aggnet_digest(&unkeyed, p.bytes,
						      body_len[type])));
		memcpy(room.at, &p, len);
		ASSERT_EQ(AGGNET_PARSE_OK, aggnet_parse_header(hdr, len, &pkt));
		EXPECT_TRUE(aggnet_tag_ok(&unkeyed, hdr));
		EXPECT_EQ(room.at + sizeof(*hdr), pkt.body);
	}
}

TEST(parse_header__reads_what_put_header_wrote)
{
	struct aggnet_pkt in = {
		.type = AGGNET_PROBE, .hop = 0x24,
		.flags = AGGNET_F_TAG | AGGNET_F_ACK,
		.incast_id = 0x0102030405060708, .instance = 0x11121314,
		.attempt = 0x21222324, .src = cpu_to_be32(0x0a000001),
		.dst = cpu_to_be32(0x0a000002),
		.src_nonce = 0x3132333435363738, .dst_nonce = 0x4142434445464748,
		.stamp = 0x51525354, .echo = 0x61626364,
		.round = 0x71727374,
	};
	static const u8 wire[72] = {
		4, AGGNET_PROBE, 0x24, 0, 0x02, 0x04, 0, 0,
		1, 2, 3, 4, 5, 6, 7, 8,
		0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
		10, 0, 0, 1, 10, 0, 0, 2,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
		0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
		0x51, 0x52, 0x53, 0x54, 0x61, 0x62, 0x63, 0x64,
		0x71, 0x72, 0x73, 0x74,
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
	EXPECT_EQ(in.round, out.round);
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
			/*
			 * Allocate the exact size: the sanitizer reports reads
			 * behind the end.
			 */
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
		EXPECT_EQ(version == AGGNET_VERSION ? AGGNET_PARSE_OK :
						      AGGNET_PARSE_VERSION,
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

/* Only DATA, ACK and FIN are of a stream, which has bytes and no records. */
TEST(parse_header__down_a_tree)
{
	struct packet p;
	size_t len;
	u8 type;

	for (type = 1; type <= AGGNET_PROBE; type++) {
		len = make(&p, type);
		p.hdr.flags = cpu_to_be16(AGGNET_F_DOWN);
		if (type == AGGNET_DATA || type == AGGNET_FIN)
			memset(&p.data, 0, sizeof(p.fin));
		EXPECT_EQ(type == AGGNET_DATA || type == AGGNET_ACK ||
			  type == AGGNET_FIN ? AGGNET_PARSE_OK :
					       AGGNET_PARSE_FLAGS,
			  parse(&p, len));
	}
	len = make(&p, AGGNET_DATA);
	p.hdr.flags = cpu_to_be16(AGGNET_F_DOWN);
	EXPECT_EQ(AGGNET_PARSE_BODY, parse(&p, len));
	p.data.records = 0;
	EXPECT_EQ(AGGNET_PARSE_OK, parse(&p, len));
	p.data.weight = cpu_to_be16(1);
	EXPECT_EQ(AGGNET_PARSE_BODY, parse(&p, len));
	/* A tree that leads down does not count packets by plain IP. */
	for (type = 0; type < AGGNET_FALLBACKS; type++) {
		len = make(&p, AGGNET_FIN);
		p.hdr.flags = cpu_to_be16(AGGNET_F_DOWN);
		EXPECT_EQ(AGGNET_PARSE_OK, parse(&p, len));
		p.fin.by_plain_ip[type] = cpu_to_be32(1);
		EXPECT_EQ(AGGNET_PARSE_BODY, parse(&p, len));
	}
}

/* Of a later revision: what they mean is not known. */
TEST(parse_header__reserved_in_the_header)
{
	struct packet p;
	size_t len, at;
	int bit;

	for (at = offsetof(struct aggnet_hdr, reserved);
	     at < offsetof(struct aggnet_hdr, tag); at++)
		for (bit = 0; bit < 8; bit++) {
			len = make(&p, AGGNET_PROBE);
			((u8 *)&p)[at] = 1 << bit;
			EXPECT_EQ(AGGNET_PARSE_FLAGS, parse(&p, len));
		}
}

/* A node on the way tells why it sent the packet by plain IP. */
TEST(parse_header__fallback)
{
	struct aggnet_pkt pkt;
	struct packet p;
	size_t len = make(&p, AGGNET_PROBE);
	u8 why;

	for (why = 0; why < __AGGNET_FALLBACK_MAX; why++) {
		p.hdr.fallback = why;
		EXPECT_EQ(AGGNET_PARSE_OK, aggnet_parse_header(&p, len, &pkt));
		EXPECT_EQ(why, pkt.fallback);
	}
	p.hdr.fallback = why;
	EXPECT_EQ(AGGNET_PARSE_FLAGS, parse(&p, len));
}

/* Channels open in the first round, and an RST tells of none. */
TEST(parse_header__rounds)
{
	struct packet p;
	size_t len;
	bool none;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++) {
		len = make(&p, type);
		p.hdr.round = cpu_to_be32(1);
		none = type == AGGNET_OPEN || type == AGGNET_ACCEPT ||
		       type == AGGNET_RST;
		EXPECT_EQ(none ? AGGNET_PARSE_FLAGS : AGGNET_PARSE_OK,
			  parse(&p, len))
			TH_LOG("type %u", type);
	}
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
		/* Without a filter the bytes are a PROBE's padding. */
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

/*
 * Flip each bit of each body: the packet is refused exactly if the bit is
 * reserved.
 */
TEST(parse_header__reserved_in_bodies)
{
	static const struct {
		u8 type, from, to;
	} reserved[] = {
		{ AGGNET_OPEN, 16, 24 }, { AGGNET_ACCEPT, 6, 8 },
		{ AGGNET_ACK, 40, 48 }, { AGGNET_RST, 12, 16 },
	};
	struct packet p;
	size_t i, bit;
	u8 type;

	for (type = 1; type < __AGGNET_TYPE_MAX; type++)
		for (bit = 0; bit < 8 * body_len[type]; bit++) {
			enum aggnet_parse want = AGGNET_PARSE_OK;
			size_t len = make(&p, type);

			/* Other tests cover these bytes. */
			if ((type == AGGNET_DATA && bit / 8 >= 4) ||
			    (type == AGGNET_OPEN &&
			     (bit / 8 == 6 || bit / 8 == 7)) ||
			    (type == AGGNET_ACCEPT && bit / 8 == 5) ||
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

TEST(parse_header__every_direction)
{
	struct packet p;
	int direction;
	size_t len;

	for (direction = 0; direction < 256; direction++) {
		enum aggnet_parse want = direction < 3 ? AGGNET_PARSE_OK :
							 AGGNET_PARSE_BODY;

		len = make(&p, AGGNET_OPEN);
		p.open.direction = direction;
		EXPECT_EQ(want, parse(&p, len));
		len = make(&p, AGGNET_ACCEPT);
		p.accept.direction = direction;
		EXPECT_EQ(want, parse(&p, len));
	}
}

TEST(parse_header__persistent_or_not)
{
	struct packet p;
	int persist;
	size_t len;

	for (persist = 0; persist < 256; persist++) {
		len = make(&p, AGGNET_OPEN);
		p.open.persist = persist;
		EXPECT_EQ(persist < 2 ? AGGNET_PARSE_OK : AGGNET_PARSE_BODY,
			  parse(&p, len));
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
		EXPECT_EQ(reason >= 1 && reason <= AGGNET_R_GONE ?
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

/* The fuzzer's seeds, except for "records", which have no header. */
TEST(seeds__are_packets)
{
	struct dirent *entry;
	char file[PATH_MAX];
	unsigned int n = 0;
	union {
		struct packet p;
		u8 bytes[2048];	/* longest PROBE */
	} u;
	size_t len;
	FILE *f;
	DIR *dir;

	dir = opendir(SEEDS);
	ASSERT_NE(NULL, dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "records"))
			continue;
		snprintf(file, sizeof(file), SEEDS "/%s", entry->d_name);
		f = fopen(file, "r");
		ASSERT_NE(NULL, f);
		len = fread(&u, 1, sizeof(u), f);
		fclose(f);
		n++;
		EXPECT_EQ(AGGNET_PARSE_OK, parse(&u.p, len))
			TH_LOG("seed %s", entry->d_name);
	}
	closedir(dir);
	EXPECT_LT(20, n);
}

TEST_HARNESS_MAIN
