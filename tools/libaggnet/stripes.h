/* SPDX-License-Identifier: GPL-2.0 */
/* Stripes: the trees of one job, with consecutive job IDs. Each record belongs to
 * one of them: by a hash of its key, or by the number of its block of a vector.
 */
#ifndef AGGNET_STRIPES_H
#define AGGNET_STRIPES_H

#include "aggnet_data.h"
#include "conn.h"
#include "core/vector.h"

#define STRIPES_IDLE	(-1)	/* stripes_wait(): do not wait for this stripe */

/**
 * struct stripes - the trees of a job
 * @n: how many; 1 of a job that is not split
 * @receiver: of the job
 * @job: ID of the first tree
 * @opt: of the handle; those of a tree of several are nonblocking
 * @shape: of the values; @elements of the whole vector
 * @conn: of each tree; NULL: not opened
 * @final: negative errno with which opening failed, and @n counts the trees that were
 *	opened; or with which the handle itself ended the transfer; 0: neither
 * @epoll: descriptor of a nonblocking handle of several trees, or -1
 * @error: message on the last failure; empty: conn[0] has it
 */
struct stripes {
	unsigned int n;
	struct in_addr receiver;
	uint32_t job;
	struct aggnet_options opt;
	struct aggnet_shape shape;
	struct conn *conn[AGGNET_STRIPES_MAX];
	int final;
	int epoll;
	char error[AGGNET_TEXT_MAX];
};

/**
 * stripes_find() - look how many trees a job has on this node
 * @s: filled
 * @receiver: of the job
 * @job: its ID
 * @opt: NULL for the defaults; copied
 *
 * If the first entry cannot be found, one tree is assumed, and opening it reports
 * the cause; stripes_agree() then finds out if an entry has come meanwhile.
 *
 * Return: 0; -EINVAL: @job is not the ID of the first tree; -EPROTOTYPE: the job is
 * sorted; -ECANCELED: the entries are not those of one plan and shape; what aggnet_lookup()
 * returned; or the error of a tree that has ended and is not waited for
 */
int stripes_find(struct stripes *s, struct in_addr receiver, uint32_t job,
		 const struct aggnet_options *opt);
void stripes_close(struct stripes *s);

/* Options of each tree. */
struct aggnet_options stripes_options(const struct stripes *s);

/**
 * stripes_agree() - check that all trees, and no others, are in epochs of one plan, and
 * have values of one shape
 * @s: the stripes, all open
 *
 * Return: 0 or -ECANCELED
 */
int stripes_agree(struct stripes *s);

/**
 * stripes_wait() - wait until one of the trees is ready
 * @s: more than one
 * @events: of each tree: POLLIN, POLLOUT, 0 for errors only, or STRIPES_IDLE
 *
 * Return: 0, -EAGAIN (nonblocking), -EINTR or another negative errno
 */
int stripes_wait(struct stripes *s, const short *events);

/* Store a message, or that of a tree. Return: @err, a negative errno */
int stripes_fail(struct stripes *s, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int stripes_failed(struct stripes *s, unsigned int i, int err);

/* Return: descriptor to poll() */
int stripes_fd(const struct stripes *s);
const char *stripes_error(const struct stripes *s);

/* Of the tree that has failed, else of the first one. */
int stripes_status(struct stripes *s, struct aggnet_status *st);
int stripes_abort(struct stripes *s, enum aggnet_reason why);
unsigned int stripes_replays(const struct stripes *s);

/* Number of the tree that a key belongs to: CRC32C(key) * n / 2^32. */
uint32_t stripes_hash(const void *key, size_t klen);
unsigned int stripes_of_hash(const struct stripes *s, uint32_t hash);

/* The same of an element of a vector, by the number of its block. */
unsigned int stripes_of_element(const struct stripes *s, uint64_t element);

/* Elements of a vector that belong to a tree: blocks go to the trees in turn. */
static inline uint64_t stripe_elements(const struct aggnet_shape *whole,
				       unsigned int stripe, unsigned int stripes)
{
	uint32_t block = aggnet_vector_block(whole);
	uint64_t all = whole->elements / block, rest = whole->elements % block;

	return (all / stripes + (stripe < all % stripes)) * block +
	       (stripe == all % stripes ? rest : 0);
}

#endif /* AGGNET_STRIPES_H */
