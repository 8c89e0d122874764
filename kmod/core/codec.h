/* SPDX-License-Identifier: GPL-2.0 */
/* Parsing, checking and writing of packets and records. Pure. */
#ifndef _AGGNET_CODEC_H
#define _AGGNET_CODEC_H

#include <linux/bitops.h>
#include <linux/types.h>

#include <linux/aggnet.h>
#include <linux/aggnet_packet.h>
#include "core/shape.h"
#include "core/value.h"
#include "compat.h"

#define AGGNET_RECORD_MIN	3u	/* lengths and one byte of key */

/**
 * struct aggnet_pkt - a parsed header, host order but for the identities
 * @type: enum aggnet_type
 * @hop: as it arrived, at most AGGNET_HOP_MAX
 * @flags: AGGNET_F_*
 * @length: bytes of the body
 * @incast_id: job . receiver
 * @instance: epoch, high half
 * @attempt: epoch, low half
 * @src: identity of the maker
 * @dst: identity it is for
 * @src_nonce: nonce of the maker
 * @dst_nonce: nonce of the addressee
 * @stamp: maker's clock
 * @echo: our clock, returned
 * @body: the @length bytes behind header and filter
 * @filter: what aggnet_filter_ok() has passed, NULL: there is none
 * @filter_size: its bytes
 * @key: that its tag is of, NULL: the tree's own
 *
 * It points into the packet: valid as long as the bytes are.
 */
struct aggnet_pkt {
	u8 type;
	u8 hop;
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
	const u8 *body;
	const struct aggnet_filter *filter;
	u32 filter_size;
	const struct aggnet_secret *key;
};

/**
 * struct aggnet_record - one record, pointing into the packet
 * @key: its bytes
 * @klen: 1..255
 * @value: sign extended
 */
struct aggnet_record {
	const u8 *key;
	u8 klen;
	struct aggnet_value value;
};

/**
 * struct aggnet_secret - secret of a tree
 * @keyed: false: CRC32C only
 * @bytes: SipHash key
 */
struct aggnet_secret {
	bool keyed;
	u8 bytes[16];
};

/**
 * enum aggnet_parse - verdict on a header or a body
 * (each maps to the drop counter of the same name)
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

/* All that aggnet_parse_header() reads: header, filter, longest fixed body. */
#define AGGNET_PARSE_BYTES	(sizeof(struct aggnet_hdr) + AGGNET_FILTER_MAX + \
				 sizeof(struct aggnet_ack))

/**
 * aggnet_parse_header() - check and read a header
 * @data: the UDP payload
 * @len: its length, exactly what IP and UDP say
 * @pkt: filled on AGGNET_PARSE_OK; @pkt->body is aggnet_body(@data)
 *
 * Checks version, type, flags, that length equals @len less the header, the
 * filter, and that what is left fits the type's fixed body (DATA: body and >= 1
 * record). It reads no further than that.
 */
enum aggnet_parse aggnet_parse_header(const void *data, size_t len,
				      struct aggnet_pkt *pkt);

/**
 * aggnet_parse_records() - check that records fill a buffer exactly
 * @shape: what their values are
 * @source: they are a source's
 * @data: first record
 * @len: bytes of all
 * @max: no more than these many records
 *
 * Return: how many there are (0 for an empty buffer), -EBADMSG, or -ERANGE: a
 * source's value is not what its type allows
 */
int aggnet_parse_records(const struct aggnet_shape *shape, bool source,
			 const u8 *data, size_t len, unsigned int max);

/**
 * aggnet_record_get() - read a record whose value is plain
 * @data: the record, which aggnet_parse_records() has passed
 * @rec: filled
 *
 * Return: the record's length in bytes
 */
size_t aggnet_record_get(const u8 *data, struct aggnet_record *rec);

/* Bytes that a record will take (2 + klen + minimal value length). */
static inline size_t aggnet_record_size(u8 klen,
					const struct aggnet_value *value)
{
	return 2 + klen + aggnet_value_len(value);
}

/* Write one; the caller has checked the room. Return: its length. */
size_t aggnet_record_put(u8 *data, const u8 *key, u8 klen,
			 const struct aggnet_value *value);

/* What stands behind the header and its filter. */
static inline const void *aggnet_body(const struct aggnet_hdr *hdr)
{
	return (const u8 *)(hdr + 1) + hdr->filter * AGGNET_FILTER_UNIT;
}

/* Write a header in wire form; tag left zero, hop as given. */
void aggnet_put_header(struct aggnet_hdr *hdr, const struct aggnet_pkt *pkt);

/* Digest of a body, computed where they are encoded. */
u64 aggnet_digest(const struct aggnet_secret *key, const void *body,
		  size_t len);

/* Tag over a header (its hop and tag taken as zero) and the body's digest. */
u64 aggnet_tag(const struct aggnet_secret *key, const struct aggnet_hdr *hdr,
	       u64 digest);

/**
 * aggnet_tag_ok() - does the tag of a whole packet hold?
 * @key: the tree's; a keyed tree refuses unkeyed packets and the reverse
 * @hdr: the header, with all that follows it (aggnet_parse_header() passed it)
 */
bool aggnet_tag_ok(const struct aggnet_secret *key,
		   const struct aggnet_hdr *hdr);

#endif /* _AGGNET_CODEC_H */
