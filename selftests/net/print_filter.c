// SPDX-License-Identifier: GPL-2.0
/* Prints the filter of a path with these link names in hex, as packets carry
 * it.
 * Usage: print_filter JOB RECEIVER BITS HASHES SALT DIGITS NAME...   (DIGITS: 1,0,2 or -)
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/filter.h"

static uint8_t bytes[AGGNET_FILTER_MAX]
	__attribute__((aligned(__alignof__(struct aggnet_filter))));

static void name_link(struct aggnet_filter *f, u64 key, u64 name)
{
	struct aggnet_filter_walk w = aggnet_filter_start(key, name);
	unsigned int n;

	for (n = aggnet_filter_hashes(f); n; n--) {
		u32 bit = aggnet_filter_next(&w, aggnet_filter_bits(f));

		bytes[sizeof(*f) + bit / 8] |= (uint8_t)(1 << bit % 8);
	}
}

/* Return: the number of digits */
static unsigned int put_digits(uint8_t *at, char *text)
{
	unsigned int n = 0;
	char *digit;

	for (digit = strtok(text, ",-"); digit; digit = strtok(NULL, ",-"))
		at[n++] = (uint8_t)atoi(digit);
	return n;
}

int main(int argc, char **argv)
{
	struct aggnet_filter *f = (struct aggnet_filter *)bytes;
	u64 incast_id, key;
	size_t i, bits;
	int arg;

	if (argc < 7 || atoi(argv[3]) > AGGNET_FILTER_BITS_MAX / 2) {
		fputs("usage: print_filter JOB RECEIVER BITS HASHES SALT DIGITS NAME...\n",
		      stderr);
		return 2;
	}
	incast_id = strtoull(argv[1], NULL, 0) << 32 |
		    ntohl(inet_addr(argv[2]));
	bits = strtoul(argv[3], NULL, 0);
	f->bits = htons((uint16_t)bits);
	f->hashes_digits = (uint8_t)atoi(argv[4]);
	f->salt = (uint8_t)atoi(argv[5]);
	key = aggnet_filter_key(incast_id, f->salt);
	for (arg = 7; arg < argc; arg++)
		name_link(f, key, strtoull(argv[arg], NULL, 0));
	f->hashes_digits |= (uint8_t)(put_digits(bytes + sizeof(*f) +
						 (bits + 7) / 8,
						 argv[6]) << 4);
	for (i = 0; i < aggnet_filter_size((u32)bits, aggnet_filter_digits(f));
	     i++)
		printf("%02x", bytes[i]);
	putchar('\n');
	return 0;
}
