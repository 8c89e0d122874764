/* SPDX-License-Identifier: GPL-2.0 */
/* Valid packets of each type, which tests then change. */
#ifndef PACKET_H
#define PACKET_H

#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/filter.h"
#include "core/packet.h"

/* The body's length by type; a DATA has its smallest record. */
static const size_t body_len[__AGGNET_TYPE_MAX] = {
	0, 24, 8, 16 + 3, 48, 48, 8, 16, 16, 0,
};

/* A packet's buffer, aligned as skb data is. */
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

/* Make a valid packet. */
static inline size_t make(struct packet *p, u8 type)
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

/* Make a packet with a filter of @bits; valid if its type may have one. */
static inline size_t make_filter(struct packet *p, u8 type, u32 bits)
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

#endif
