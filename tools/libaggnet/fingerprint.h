/* SPDX-License-Identifier: GPL-2.0 */
/* The fingerprint of records that are sent, and of a result that was read. */
#ifndef AGGNET_LIB_FINGERPRINT_H
#define AGGNET_LIB_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/aggnet.h>

#include "core/shape.h"

struct merge;

/**
 * struct fingerprint - of records so far
 * @shape: of the values
 * @kind: how it adds up; AGGNET_FP_NONE: there is none
 * @integers: they are sums of integers by key, the most common ones
 * @key: of the hash
 * @value: the sum
 */
struct fingerprint {
	struct aggnet_shape shape;
	enum aggnet_fingerprint kind;
	bool integers;
	uint64_t key[2];
	uint64_t value;
};

/**
 * fingerprint_begin() - begin the fingerprint of an epoch
 * @f: filled
 * @fd: a socket that has joined it
 * @shape: of the transfer
 *
 * If the module gives no key, nothing is computed.
 */
void fingerprint_begin(struct fingerprint *f, int fd,
		       const struct aggnet_shape *shape);

/**
 * fingerprint_records() - add records of a source
 * @f: the sum
 * @data: whole records, as they are sent
 * @len: bytes of them
 */
void fingerprint_records(struct fingerprint *f, const uint8_t *data, size_t len);

/**
 * fingerprint_accum() - add what has been merged under a key
 * @f: the sum
 * @key: its bytes
 * @klen: 1..AGGNET_KEY_MAX
 * @accum: the accumulator, as the shape says
 */
void fingerprint_accum(struct fingerprint *f, const void *key, size_t klen,
		       const void *accum);

/**
 * fingerprint_give() - tell the module the fingerprint of a source
 * @f: of all its records
 * @fd: its socket, before it shuts down
 *
 * Return: 0 or -errno
 */
int fingerprint_give(const struct fingerprint *f, int fd);

/**
 * fingerprint_holds() - is the fingerprint of a result that of its sources?
 * @f: of the result
 * @fd: the receiver's socket; the end mark is next
 *
 * Return: false: it is not; true also if one of the sources has told none
 */
bool fingerprint_holds(const struct fingerprint *f, int fd);

/* The same of all entries of a table. */
void fingerprint_result(struct fingerprint *f, const struct merge *m);

#endif /* AGGNET_LIB_FINGERPRINT_H */
