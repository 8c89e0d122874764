/* SPDX-License-Identifier: GPL-2.0 */
/* Packets: write a header; check and read header, filter and body. Pure. */
#ifndef _AGGNET_PACKET_H
#define _AGGNET_PACKET_H

#include <linux/types.h>

#include <linux/aggnet.h>
#include <linux/aggnet_packet.h>

struct aggnet_secret;

/**
 * struct aggnet_pkt - a parsed header, in host order except @src and @dst
 * @type: enum aggnet_type
 * @hop: hop field as received, at most AGGNET_HOP_MAX
 * @fallback: why a node on the way has sent it by plain IP; no key protects this
 * @flags: AGGNET_F_*
 * @length: bytes of the body
 * @incast_id: job . receiver
 * @instance: epoch, high half
 * @attempt: epoch, low half
 * @src: identity of the sender
 * @dst: identity of the destination
 * @src_nonce: nonce of the sender
 * @dst_nonce: nonce of the destination
 * @stamp: clock of the sender
 * @echo: clock of this node, returned by the sender
 * @round: round of a persistent tree
 * @body: the @length bytes behind header and filter
 * @filter: filter, checked by aggnet_filter_ok(); NULL: the packet has none
 * @filter_size: bytes of the filter
 * @key: key of the tag; NULL: the key of the tree
 * @digest: of the body, as aggnet_tag_check() has found it
 * @records: DATA: what aggnet_parse_lengths() returned for its records
 * @lengths: DATA: lengths of each of them, as it has set them
 *
 * @body and @filter point into the packet.
 */
struct aggnet_pkt {
	u8 type;
	u8 hop;
	u8 fallback;
	u16 flags;
	u16 length;
	u64 incast_id;
	u32 instance;
	u32 attempt;
	__be32 src;
	__be32 dst;
	u64 src_nonce;
	u64 dst_nonce;
	u32 stamp;
	u32 echo;
	u32 round;
	const u8 *body;
	const struct aggnet_filter *filter;
	u32 filter_size;
	const struct aggnet_secret *key;
	u64 digest;
	int records;
	u32 lengths;
};

/**
 * enum aggnet_parse - verdict on a header or a body
 * (each value has a drop counter of the same name)
 */
enum aggnet_parse {
	AGGNET_PARSE_OK,
	AGGNET_PARSE_TRUNCATED,
	AGGNET_PARSE_LENGTH,
	AGGNET_PARSE_VERSION,
	AGGNET_PARSE_TYPE,
	AGGNET_PARSE_FLAGS,
	AGGNET_PARSE_BODY,
	AGGNET_PARSE_FILTER,
};

/* Bytes that aggnet_parse_header() reads: header, filter, longest fixed body. */
#define AGGNET_PARSE_BYTES	(sizeof(struct aggnet_hdr) + AGGNET_FILTER_MAX + \
				 sizeof(struct aggnet_ack))

/**
 * aggnet_parse_header() - check and read a header
 * @data: the UDP payload
 * @len: its length according to IP and UDP
 * @pkt: filled on AGGNET_PARSE_OK; @pkt->body is aggnet_body(@data)
 *
 * Checks version, type, flags, that length equals @len less the header, the
 * filter, and that the remaining bytes fit the fixed body of the type (DATA: body
 * and at least one record). It does not read beyond these.
 */
enum aggnet_parse aggnet_parse_header(const void *data, size_t len,
				      struct aggnet_pkt *pkt);

/* The body: the bytes behind the header and the filter. */
static inline const void *aggnet_body(const struct aggnet_hdr *hdr)
{
	return (const u8 *)(hdr + 1) + hdr->filter * AGGNET_FILTER_UNIT;
}

/* Write a header in wire format. The tag is zero, @pkt->hop is not changed. */
void aggnet_put_header(struct aggnet_hdr *hdr, const struct aggnet_pkt *pkt);

#endif /* _AGGNET_PACKET_H */
