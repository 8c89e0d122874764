/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fingerprint: a sum over records that the ends of a tree compute and compare.
 * Nodes add the fingerprints of flows, and compute none. Pure.
 */
#ifndef _AGGNET_FINGERPRINT_H
#define _AGGNET_FINGERPRINT_H

#include <linux/types.h>

#include <linux/aggnet.h>

#include "core/shape.h"

struct aggnet_secret;

#define AGGNET_FP_PRIME		((1ULL << 61) - 1)	/* of sums */

/* How the fingerprints of a function are added; AGGNET_FP_NONE: it has none. */
static inline enum aggnet_fingerprint
aggnet_fp_kind(const struct aggnet_shape *shape)
{
	switch (shape->function) {
	case AGGNET_FN_SUM:
	case AGGNET_FN_COUNT:
	case AGGNET_FN_AVERAGE:
		return AGGNET_FP_SUM;
	case AGGNET_FN_BXOR:
	case AGGNET_FN_LXOR:
		return AGGNET_FP_XOR;
	default:
		return AGGNET_FP_NONE;
	}
}

/* Sum of any two numbers modulo 2^61 - 1, fully reduced. */
static inline u64 aggnet_fp_sum(u64 a, u64 b)
{
	u64 sum = (a & AGGNET_FP_PRIME) + (a >> 61) +
		  (b & AGGNET_FP_PRIME) + (b >> 61);

	sum = (sum & AGGNET_FP_PRIME) + (sum >> 61);
	return sum >= AGGNET_FP_PRIME ? sum - AGGNET_FP_PRIME : sum;
}

/* Add the fingerprints of two flows. */
static inline u64 aggnet_fp_add(enum aggnet_fingerprint kind, u64 a, u64 b)
{
	return kind == AGGNET_FP_SUM ? aggnet_fp_sum(a, b) : a ^ b;
}

/**
 * aggnet_fp_key() - key of the hash that the ends of a tree use in an epoch
 * @secret: secret of the tree
 * @incast_id: ID of the tree
 * @instance: epoch, high half
 * @attempt: epoch, low half
 * @key: filled: two words
 *
 * Only members and nodes of a keyed tree can compute it. Without a key it follows
 * from the epoch: the fingerprint then detects faults, but not a forger.
 */
void aggnet_fp_key(const struct aggnet_secret *secret, u64 incast_id,
		   u32 instance, u32 attempt, u64 key[2]);

#endif /* _AGGNET_FINGERPRINT_H */
