// SPDX-License-Identifier: GPL-2.0
/* Tags: CRC32C, or hashes with the key of a tree, over a packet. */
#include <asm/byteorder.h>
#include <linux/string.h>

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

void aggnet_secret_set(struct aggnet_secret *secret, const void *bytes)
{
	siphash_key_t sip;

	secret->keyed = true;
	memcpy(secret->bytes, bytes, sizeof(secret->bytes));
	sip = aggnet_secret_sip(secret);
	aggnet_uhash_init(&secret->digest, &sip);
	memzero_explicit(&sip, sizeof(sip));
}

u64 aggnet_digest(const struct aggnet_secret *key, const void *body, size_t len)
{
	return key->keyed ? aggnet_uhash(&key->digest, body, len) :
			    aggnet_crc32c(body, len);
}

u64 aggnet_tag(const struct aggnet_secret *key, const struct aggnet_hdr *hdr,
	       u64 digest)
{
	struct {
		struct aggnet_hdr hdr;
		__be32 crc;
	} in = { .hdr = *hdr };
	siphash_key_t secret;

	in.hdr.hop = 0;
	in.hdr.fallback = AGGNET_FALLBACK_NONE;
	if (key->keyed) {
		in.hdr.tag = cpu_to_be64(digest);
		secret = aggnet_secret_sip(key);
		return siphash(&in.hdr, sizeof(in.hdr), &secret);
	}
	in.hdr.tag = 0;
	in.crc = cpu_to_be32((u32)digest);
	return aggnet_crc32c(&in, sizeof(in.hdr) + sizeof(in.crc));
}

bool aggnet_tag_check(const struct aggnet_secret *key,
		      const struct aggnet_hdr *hdr, u64 *digest)
{
	size_t length = be16_to_cpu(hdr->length);

	length -= hdr->filter * AGGNET_FILTER_UNIT;
	if (!!(hdr->flags & cpu_to_be16(AGGNET_F_TAG)) != key->keyed)
		return false;
	*digest = aggnet_digest(key, aggnet_body(hdr), length);
	return be64_to_cpu(hdr->tag) == aggnet_tag(key, hdr, *digest);
}
