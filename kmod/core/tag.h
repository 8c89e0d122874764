/* SPDX-License-Identifier: GPL-2.0 */
/* Tags: CRC32C, or hashes with the key of a tree, over a packet. Pure. */
#ifndef _AGGNET_TAG_H
#define _AGGNET_TAG_H

#include <linux/siphash.h>
#include <linux/types.h>

#include <linux/aggnet_packet.h>
#include "core/uhash.h"

/**
 * struct aggnet_secret - secret of a tree
 * @keyed: false: CRC32C only, and the other members are zero
 * @bytes: SipHash key
 * @digest: key of the digests, derived from @bytes
 */
struct aggnet_secret {
	bool keyed;
	u8 bytes[16];
	struct aggnet_uhash_key digest;
};

/**
 * aggnet_secret_set() - give a tree a key
 * @secret: set; the owner frees it with aggnet_free_secret()
 * @bytes: 16 bytes
 */
void aggnet_secret_set(struct aggnet_secret *secret, const void *bytes);

/* The key of SipHash, as tags, digests and fingerprints use it. */
siphash_key_t aggnet_secret_sip(const struct aggnet_secret *key);

/* Digest of a body, computed where the body is encoded. A keyed one is secret. */
u64 aggnet_digest(const struct aggnet_secret *key, const void *body,
		  size_t len);

/* Tag over a header (with hop and tag set to zero) and the digest of the body. */
u64 aggnet_tag(const struct aggnet_secret *key, const struct aggnet_hdr *hdr,
	       u64 digest);

/**
 * aggnet_tag_check() - check the tag of a whole packet
 * @key: of the tree; a keyed tree refuses unkeyed packets, and the reverse
 * @hdr: the header and the bytes behind it, checked by aggnet_parse_header()
 * @digest: set to the digest of the body
 *
 * Return: the tag is right
 */
bool aggnet_tag_check(const struct aggnet_secret *key,
		      const struct aggnet_hdr *hdr, u64 *digest);

static inline bool aggnet_tag_ok(const struct aggnet_secret *key,
				 const struct aggnet_hdr *hdr)
{
	u64 digest;

	return aggnet_tag_check(key, hdr, &digest);
}

#endif /* _AGGNET_TAG_H */
