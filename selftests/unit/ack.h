/* SPDX-License-Identifier: GPL-2.0 */
/* ACKs that a test writes, and a check for functions that are not tests. */
#ifndef ACK_H
#define ACK_H

#include <stdio.h>
#include <stdlib.h>
#include <asm/byteorder.h>

#include <linux/aggnet_packet.h>

/* It ends the test, which then fails. */
#define MUST(cond) do { \
	if (!(cond)) { \
		printf("# %s:%d: not true: %s\n", __func__, __LINE__, #cond); \
		fflush(stdout); \
		abort(); \
	} \
} while (0)

static inline struct aggnet_ack ack_of(u32 cum, u32 credit)
{
	return (struct aggnet_ack){
		.cum = cpu_to_be32(cum), .credit = cpu_to_be32(credit),
	};
}

/* Bit b of word w is cum + 1 + 64 w + b. */
static inline void ack_set(struct aggnet_ack *ack, u32 seq)
{
	u32 bit = seq - be32_to_cpu(ack->cum) - 1;

	ack->sack[bit / 64] |= cpu_to_be64(1ULL << bit % 64);
}

#endif /* ACK_H */
