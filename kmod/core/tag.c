// SPDX-License-Identifier: GPL-2.0
/* Tags: CRC32C, or SipHash with the key of a tree, over a packet. */
#include <asm/byteorder.h>

#include "core/crc.h"
#include "core/packet.h"
#include "core/tag.h"
#include "compat.h"

siphash_key_t aggnet_secret_sip(const struct aggnet_secret *key)
{
	return (siphash_key_t) { {
		get_unaligned_le64(key->bytes),
		get_unaligned_le64(key->bytes + 8),
	} };
}

u64 aggnet_digest(const struct aggnet_secret *key, const void *body, size_t len)
{
	siphash_key_t secret;

	if (!key->keyed)
		return aggnet_crc32c(body, len);
	secret = aggnet_secret_sip(key);
	return siphash(body, len, &secret);
}

u64 aggnet_tag(const struct aggnet_secret *key, const struct aggnet_hdr *hdr,
	       u64 digest)
{
	struct {
		struct aggnet_hdr hdr;
		union {
			__be32 crc;
			__be64 sip;
		};
	} in = { .hdr = *hdr };
	siphash_key_t secret;

	in.hdr.hop = 0;
	in.hdr.tag = 0;
	if (!key->keyed) {
		in.crc = cpu_to_be32((u32)digest);
		return aggnet_crc32c(&in, sizeof(in.hdr) + sizeof(in.crc));
	}
	in.sip = cpu_to_be64(digest);
	secret = aggnet_secret_sip(key);
	return siphash(&in, sizeof(in), &secret);
}

bool aggnet_tag_ok(const struct aggnet_secret *key,
		   const struct aggnet_hdr *hdr)
{
	size_t length = be16_to_cpu(hdr->length);
	u64 digest;

	length -= hdr->filter * AGGNET_FILTER_UNIT;
	if (!!(hdr->flags & cpu_to_be16(AGGNET_F_TAG)) != key->keyed)
		return false;
	digest = aggnet_digest(key, aggnet_body(hdr), length);
	return be64_to_cpu(hdr->tag) == aggnet_tag(key, hdr, digest);
}
