// SPDX-License-Identifier: GPL-2.0
/* Fingerprint: the key of its hash. */
#include <asm/byteorder.h>
#include <linux/siphash.h>
#include <linux/string.h>

#include "core/fingerprint.h"
#include "core/tag.h"

void aggnet_fp_key(const struct aggnet_secret *secret, u64 incast_id,
		   u32 instance, u32 attempt, u64 key[2])
{
	/* No header begins with this label, so no tag has the same input. */
	struct {
		u8 label[16];
		__be64 incast_id;
		__be32 instance;
		__be32 attempt;
		__be64 number;
	} in = {
		.label = "aggnet check",
		.incast_id = cpu_to_be64(incast_id),
		.instance = cpu_to_be32(instance),
		.attempt = cpu_to_be32(attempt),
	};
	siphash_key_t sip = { };
	u32 i;

	if (secret->keyed)
		sip = aggnet_secret_sip(secret);
	for (i = 0; i < 2; i++) {
		in.number = cpu_to_be64(i);
		key[i] = siphash(&in, sizeof(in), &sip);
	}
}
