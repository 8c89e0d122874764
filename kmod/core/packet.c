// SPDX-License-Identifier: GPL-2.0
/* Packets: write a header; check and read header, filter and body. */
#include <asm/byteorder.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/filter.h"
#include "core/packet.h"
#include "core/record.h"

/* The structures have no padding, and IP aligns them to 4 bytes. */
#define WIRE_LAYOUT(name, size)						\
	static_assert(sizeof(struct name) == (size) &&			\
		      __alignof__(struct name) == 4)

WIRE_LAYOUT(aggnet_hdr, 72);
WIRE_LAYOUT(aggnet_filter, 4);
WIRE_LAYOUT(aggnet_open, 24);
WIRE_LAYOUT(aggnet_accept, 8);
WIRE_LAYOUT(aggnet_data, 16);
WIRE_LAYOUT(aggnet_ack, 16 + AGGNET_WINDOW / 8);
WIRE_LAYOUT(aggnet_fin, 48);
WIRE_LAYOUT(aggnet_probe, 8);
WIRE_LAYOUT(aggnet_done, 8);
WIRE_LAYOUT(aggnet_abort, 16);
WIRE_LAYOUT(aggnet_rst, 16);
static_assert(offsetof(struct aggnet_hdr, incast_id) == 8);
static_assert(offsetof(struct aggnet_hdr, src_nonce) == 32);
static_assert(offsetof(struct aggnet_hdr, tag) == 64);

/* Length of the body, or of its fixed part before records or names. */
static const u8 body_size[__AGGNET_TYPE_MAX] = {
	[AGGNET_OPEN]	= sizeof(struct aggnet_open),
	[AGGNET_ACCEPT]	= sizeof(struct aggnet_accept),
	[AGGNET_DATA]	= sizeof(struct aggnet_data),
	[AGGNET_ACK]	= sizeof(struct aggnet_ack),
	[AGGNET_FIN]	= sizeof(struct aggnet_fin),
	[AGGNET_DONE]	= sizeof(struct aggnet_done),
	[AGGNET_ABORT]	= sizeof(struct aggnet_abort),
	[AGGNET_RST]	= sizeof(struct aggnet_rst),
	[AGGNET_PROBE]	= 0,
};

/*
 * Up to AGGNET_NAMES_MAX names may follow a FIN and an ABORT, but not the FIN of a
 * stream.
 */
static bool length_ok(u8 type, bool down, size_t length)
{
	size_t fixed = body_size[type];

	switch (type) {
	case AGGNET_DATA:
		return length >= fixed + (down ? 1 : AGGNET_RECORD_MIN);
	case AGGNET_FIN:
		if (down)
			return length == fixed;
		fallthrough;
	case AGGNET_ABORT:
		return length >= fixed && !((length - fixed) % sizeof(__be32)) &&
		       length <= fixed + AGGNET_NAMES_MAX * sizeof(__be32);
	case AGGNET_PROBE:
		return true;	/* padding, to test the path */
	default:
		return length == fixed;
	}
}

static bool data_ok(const struct aggnet_data *data, bool down, size_t len)
{
	u16 records = be16_to_cpu(data->records);

	if (down)
		return !data->records && !data->weight;
	return records &&
	       len >= sizeof(*data) + records * AGGNET_RECORD_MIN;
}

static bool reason_ok(__be32 reason, u32 max)
{
	return reason && be32_to_cpu(reason) < max;
}

/* Check the fixed fields of a body; length_ok() has checked @len. */
static bool body_ok(u8 type, bool down, const void *body, size_t len)
{
	const struct aggnet_accept *accept = body;
	const struct aggnet_abort *abort = body;
	const struct aggnet_open *open = body;
	const struct aggnet_ack *ack = body;
	const struct aggnet_rst *rst = body;
	const struct aggnet_fin *fin = body;

	switch (type) {
	case AGGNET_OPEN:
		return open->direction < __AGGNET_DIR_MAX &&
		       open->persist <= 1 && !open->have;
	case AGGNET_ACCEPT:
		return accept->direction < __AGGNET_DIR_MAX &&
		       !(accept->reserved[0] | accept->reserved[1]);
	case AGGNET_DATA:
		return data_ok(body, down, len);
	case AGGNET_FIN:
		return !down || !(fin->weight | fin->partials | fin->members |
				  fin->by_plain_ip[0] | fin->by_plain_ip[1] |
				  fin->by_plain_ip[2] | fin->by_plain_ip[3]);
	case AGGNET_ACK:
		return !ack->below && !ack->done;
	case AGGNET_ABORT:
		return reason_ok(abort->reason, __AGGNET_R_MAX);
	case AGGNET_RST:
		return !rst->reserved &&
		       reason_ok(rst->reason, __AGGNET_RST_MAX);
	default:
		return true;
	}
}

/* Only packets that go up a tree may have a filter of the links of their path. */
static bool filter_ok(const struct aggnet_hdr *hdr, size_t length)
{
	static const u16 up = BIT(AGGNET_OPEN) | BIT(AGGNET_DATA) |
			      BIT(AGGNET_FIN) | BIT(AGGNET_PROBE) |
			      BIT(AGGNET_ABORT);
	size_t size = hdr->filter * AGGNET_FILTER_UNIT;

	if (!size)
		return true;
	return size <= AGGNET_FILTER_MAX && size <= length &&
	       up & BIT(hdr->type) &&
	       aggnet_filter_ok((const struct aggnet_filter *)(hdr + 1), size);
}

/* The packets of a stream, and those that answer them. */
static bool down_ok(u8 type, u16 flags)
{
	static const u16 down = BIT(AGGNET_DATA) | BIT(AGGNET_ACK) |
				BIT(AGGNET_FIN);

	return !(flags & AGGNET_F_DOWN) || down & BIT(type);
}

/* What a node on the way has written, and what none writes yet */
static bool way_ok(const struct aggnet_hdr *hdr)
{
	return hdr->fallback < __AGGNET_FALLBACK_MAX &&
	       !(hdr->reserved[0] | hdr->reserved[1] | hdr->reserved[2]);
}

/* Channels open in round 0, and an RST tells of no round. */
static bool round_ok(const struct aggnet_hdr *hdr)
{
	static const u16 none = BIT(AGGNET_OPEN) | BIT(AGGNET_ACCEPT) |
				BIT(AGGNET_RST);

	return !hdr->round || !(none & BIT(hdr->type));
}

/* Check and read filter and body; the header has been checked. */
static enum aggnet_parse parse_rest(const struct aggnet_hdr *hdr, size_t length,
				    struct aggnet_pkt *pkt)
{
	bool down = pkt->flags & AGGNET_F_DOWN;

	if (!filter_ok(hdr, length))
		return AGGNET_PARSE_FILTER;
	pkt->filter_size = hdr->filter * AGGNET_FILTER_UNIT;
	pkt->filter = pkt->filter_size ? (const void *)(hdr + 1) : NULL;
	pkt->body = aggnet_body(hdr);
	pkt->length = length - pkt->filter_size;
	if (!length_ok(hdr->type, down, pkt->length) ||
	    !body_ok(hdr->type, down, pkt->body, pkt->length))
		return AGGNET_PARSE_BODY;
	return AGGNET_PARSE_OK;
}

enum aggnet_parse aggnet_parse_header(const void *data, size_t len,
				      struct aggnet_pkt *pkt)
{
	const struct aggnet_hdr *hdr = data;
	enum aggnet_parse parse;
	size_t length;

	if (len < sizeof(*hdr))
		return AGGNET_PARSE_TRUNCATED;
	if (hdr->version != AGGNET_VERSION)
		return AGGNET_PARSE_VERSION;
	if (!hdr->type || hdr->type >= __AGGNET_TYPE_MAX)
		return AGGNET_PARSE_TYPE;
	pkt->flags = be16_to_cpu(hdr->flags);
	if (pkt->flags & ~(AGGNET_F_KNOWN | AGGNET_F_IGNORABLE) ||
	    !way_ok(hdr) || !round_ok(hdr) || !down_ok(hdr->type, pkt->flags))
		return AGGNET_PARSE_FLAGS;
	length = be16_to_cpu(hdr->length);
	if (length > len - sizeof(*hdr))
		return AGGNET_PARSE_TRUNCATED;
	if (length < len - sizeof(*hdr))
		return AGGNET_PARSE_LENGTH;
	parse = parse_rest(hdr, length, pkt);
	if (parse != AGGNET_PARSE_OK)
		return parse;

	pkt->type = hdr->type;
	pkt->hop = min_t(u8, hdr->hop, AGGNET_HOP_MAX);
	pkt->fallback = hdr->fallback;
	pkt->incast_id = be64_to_cpu(hdr->incast_id);
	pkt->instance = be32_to_cpu(hdr->instance);
	pkt->attempt = be32_to_cpu(hdr->attempt);
	pkt->src = hdr->src;
	pkt->dst = hdr->dst;
	pkt->src_nonce = be64_to_cpu(hdr->src_nonce);
	pkt->dst_nonce = be64_to_cpu(hdr->dst_nonce);
	pkt->stamp = be32_to_cpu(hdr->stamp);
	pkt->echo = be32_to_cpu(hdr->echo);
	pkt->round = be32_to_cpu(hdr->round);
	pkt->key = NULL;
	return AGGNET_PARSE_OK;
}

void aggnet_put_header(struct aggnet_hdr *hdr, const struct aggnet_pkt *pkt)
{
	*hdr = (struct aggnet_hdr) {
		.version = AGGNET_VERSION,
		.type = pkt->type,
		.hop = pkt->hop,
		.filter = pkt->filter_size / AGGNET_FILTER_UNIT,
		.flags = cpu_to_be16(pkt->flags),
		.length = cpu_to_be16(pkt->filter_size + pkt->length),
		.incast_id = cpu_to_be64(pkt->incast_id),
		.instance = cpu_to_be32(pkt->instance),
		.attempt = cpu_to_be32(pkt->attempt),
		.src = pkt->src,
		.dst = pkt->dst,
		.src_nonce = cpu_to_be64(pkt->src_nonce),
		.dst_nonce = cpu_to_be64(pkt->dst_nonce),
		.stamp = cpu_to_be32(pkt->stamp),
		.echo = cpu_to_be32(pkt->echo),
		.round = cpu_to_be32(pkt->round),
		.fallback = pkt->fallback,
	};
}
