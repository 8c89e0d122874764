/* SPDX-License-Identifier: GPL-2.0 */
/* Records and packets, shared by the benchmark's child and the programs
 * compared.
 */
#ifndef PERF_WIRE_H
#define PERF_WIRE_H

#include <arpa/inet.h>
#include <asm/byteorder.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "shape.h"
#include "core/crc.h"
#include "core/packet.h"
#include "core/tag.h"
#include "core/window.h"

#define PERF_CHILDREN	64	/* at most; their identities are consecutive */
#define PERF_BATCH	32	/* packets of one system call */

static inline void perf_die(const char *what)
{
	perror(what);
	exit(1);
}

static inline __be32 perf_addr(const char *text)
{
	struct in_addr addr;

	if (inet_pton(AF_INET, text, &addr) != 1) {
		fprintf(stderr, "%s: not an IPv4 address\n", text);
		exit(2);
	}
	return addr.s_addr;
}

/* "-" for no key, else 32 hex digits. */
static inline struct aggnet_secret perf_key(const char *text)
{
	struct aggnet_secret key = {};
	u8 bytes[sizeof(key.bytes)];
	unsigned int i, byte;

	for (i = 0; *text != '-' && i < sizeof(bytes); i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1) {
			fprintf(stderr, "%s: not a key\n", text);
			exit(2);
		}
		bytes[i] = (u8)byte;
	}
	if (i)
		aggnet_secret_set(&key, bytes);
	return key;
}

/* Finish a packet: write the header of a body that stands behind it. */
static inline void perf_seal(const struct aggnet_secret *key,
			     struct aggnet_hdr *hdr, struct aggnet_pkt *pkt)
{
	if (key->keyed)
		pkt->flags |= AGGNET_F_TAG;
	aggnet_put_header(hdr, pkt);
	hdr->tag = cpu_to_be64(aggnet_tag(key, hdr,
					  aggnet_digest(key, aggnet_body(hdr),
							pkt->length)));
}

#endif
