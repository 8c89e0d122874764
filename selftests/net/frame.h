/* SPDX-License-Identifier: GPL-2.0 */
/* Frames with an aggnet packet in them, and what may be done to one. */
#ifndef NET_FRAME_H
#define NET_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/aggnet_packet.h>

#define FRAME_MAX	2048
#define FRAME_ETH	14
#define FRAME_IP	20
#define FRAME_UDP	8
#define FRAME_HEAD	(FRAME_ETH + FRAME_IP + FRAME_UDP)

struct frame {
	size_t len;
	uint8_t bytes[FRAME_MAX];
};

/**
 * enum verdict - what must become of a changed packet
 * @REFUSED: dropped, for a reason that is counted
 * @HARMLESS: it is one that was sent before, or might have been: no effect
 * @BAD_IP: never seen by aggnet, IP drops and counts it
 * @AGAIN: the change is not for this packet
 */
enum verdict { REFUSED, HARMLESS, BAD_IP, AGAIN, VERDICTS };

void seed(uint64_t number);
uint64_t draw(void);

/* Is it a whole datagram to our port, without IP options? */
bool frame_ours(const struct frame *f);

/* An OPEN from a child to a receiver; @keyed: with a tag that is made up. */
void frame_open(struct frame *f, uint32_t child, uint32_t receiver,
		uint32_t job, uint32_t instance, bool keyed);

/* Make all that is around the packet fit it. */
void frame_settle(struct frame *f);

/* Change a packet in one of many ways. @second: what is to follow it, if any. */
enum verdict mutate(struct frame *f, struct frame *second, bool keyed);

#endif
