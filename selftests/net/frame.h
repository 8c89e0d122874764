/* SPDX-License-Identifier: GPL-2.0 */
/* Ethernet frames with an aggnet packet, and random changes of them. */
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
 * enum verdict - what must happen to a changed packet
 * @REFUSED: aggnet drops it and counts the reason
 * @HARMLESS: it equals a packet that a member might send: no effect
 * @BAD_IP: IP drops and counts it before aggnet sees it
 * @AGAIN: this change does not apply to the packet
 */
enum verdict { REFUSED, HARMLESS, BAD_IP, AGAIN, VERDICTS };

void seed(uint64_t number);
uint64_t draw(void);

/* Is it a whole datagram to aggnet's port, without IP options? */
bool frame_ours(const struct frame *f);

/*
 * Make an OPEN from a child to a receiver; @keyed: with a tag that is made up.
 */
void frame_open(struct frame *f, uint32_t child, uint32_t receiver,
		uint32_t job, uint32_t instance, bool keyed);

/* Update lengths and checksums of IP and UDP to the packet. */
void frame_settle(struct frame *f);

/*
 * Change a packet in a random way. @second: gets a frame to send after it, if
 * any.
 */
enum verdict mutate(struct frame *f, struct frame *second, bool keyed);

#endif
