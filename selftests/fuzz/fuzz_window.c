// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: any history of sequences, samples and losses, compared with a
 * plain list.
 */
#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "core/window.h"
#include "compat.h"

#define CHECK(cond) do { if (!(cond)) __builtin_trap(); } while (0)
#define SPAN	65536	/* size of the plain list */

/* The window, compared with a plain list; a step has three bytes. */
static void check_rxwin(const u8 *data, size_t size, u32 first)
{
	static bool seen[SPAN + 2 * AGGNET_WINDOW];
	struct aggnet_rxwin w;
	struct aggnet_ack ack;
	u32 cum = 0, n, d;

	memset(seen, 0, sizeof(seen));
	aggnet_rxwin_init(&w, first);
	for (; size >= 2 && cum < SPAN; size -= 2, data += 2) {
		n = cum + get_unaligned_le16(data) % (AGGNET_WINDOW + 64);
		if (data[0] & 0x80 && n >= cum + 300 && cum > 64)
			n -= AGGNET_WINDOW + 64;
		d = n - cum;
		if ((s32)d >= AGGNET_WINDOW) {
			CHECK(aggnet_rxwin_test(&w, first + n) ==
			      AGGNET_SEQ_OUTSIDE);
			continue;
		}
		if (seen[n]) {
			CHECK(aggnet_rxwin_test(&w, first + n) ==
			      AGGNET_SEQ_DUP);
			continue;
		}
		CHECK(aggnet_rxwin_test(&w, first + n) == AGGNET_SEQ_NEW);
		aggnet_rxwin_mark(&w, first + n);
		seen[n] = true;
		while (seen[cum])
			cum++;
		CHECK(w.cum == first + cum);
	}
	aggnet_rxwin_ack(&w, &ack);
	for (d = 0; d < cum + AGGNET_WINDOW; d++)
		CHECK(aggnet_ack_covers(&ack, first + d) == seen[d]);
}

/* A step has five bytes: an event and a number. */
static void check_control(const u8 *data, size_t size, u32 max, u32 nxt)
{
	struct aggnet_cwnd c;
	struct aggnet_rtt r;

	aggnet_rtt_init(&r);
	aggnet_cwnd_init(&c, max, nxt);
	for (; size >= 5; size -= 5, data += 5) {
		u32 arg = get_unaligned_le32(data + 1);
		u32 was = c.cwnd;

		switch (data[0] % 4) {
		case 0:
			aggnet_rtt_sample(&r, arg);
			break;
		case 1:
			aggnet_rtt_backoff(&r);
			break;
		case 2:
			aggnet_cwnd_acked(&c, arg % (2 * AGGNET_WINDOW));
			CHECK(c.cwnd >= was);
			break;
		default:
			nxt += arg >> 16;
			aggnet_cwnd_lost(&c, nxt - 1 - arg % AGGNET_WINDOW, nxt);
			CHECK(c.cwnd == was || c.cwnd == max_t(u32, was / 2, 2));
		}
		CHECK(aggnet_rtt_rto(&r) >= AGGNET_RTO_MIN_US);
		CHECK(aggnet_rtt_rto(&r) <= AGGNET_RTO_MAX_US);
		CHECK(c.cwnd >= 2 && c.cwnd <= c.max && c.max <= AGGNET_WINDOW);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (size < 6)
		return 0;
	check_rxwin(data + 6, size - 6, get_unaligned_le32(data));
	check_control(data + 6, size - 6, get_unaligned_le16(data + 4),
		      get_unaligned_le32(data));
	return 0;
}
