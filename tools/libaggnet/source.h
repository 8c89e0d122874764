/* SPDX-License-Identifier: GPL-2.0 */
/* Source: a local writer's records for one tree. The functions are those of
 * aggnet_data.h, for one tree.
 */
#ifndef AGGNET_SOURCE_H
#define AGGNET_SOURCE_H

#include "aggnet_data.h"

struct conn;
struct source;

/**
 * source_open() - join a tree
 * @s: set to the source, also on failure (NULL on -ENOMEM)
 * @receiver: identity of the receiver
 * @job: job ID of the tree
 * @opt: NULL for the defaults; copied
 * @room: with AGGNET_OPT_NONBLOCK so many bytes wait here, beside one batch, before
 *	source_add() returns -EAGAIN
 *
 * Return: as aggnet_source_open()
 */
int source_open(struct source **s, struct in_addr receiver, uint32_t job,
		const struct aggnet_options *opt, size_t room);
int source_add(struct source *s, const void *key, size_t klen, int64_t value);
int source_add_real(struct source *s, const void *key, size_t klen,
		    double value);
int source_add_pair(struct source *s, const void *key, size_t klen,
		    int64_t value, uint64_t id);
int source_add_pair_real(struct source *s, const void *key, size_t klen,
			 double value, uint64_t id);
int source_add_element(struct source *s, int64_t value);
int source_add_element_real(struct source *s, double value);

/* Blocks of a dense vector may be left out. */
void source_may_skip(struct source *s);

/**
 * source_skip() - leave out elements
 * @s: the source, after source_may_skip()
 * @element: the next one to be added: the first one of a block behind all that were
 *
 * The block of those that were added last is filled up with zeros.
 *
 * Return: as source_add_element()
 */
int source_skip(struct source *s, uint64_t element);
int source_round(struct source *s);
int source_finish(struct source *s);
void source_close(struct source *s);

/* Bytes that wait to be sent. */
uint64_t source_pending(const struct source *s);

/* A batch has been added since sending was last tried. */
bool source_is_due(const struct source *s);

/* Send what can be sent now. Return: 0, also if bytes are left, or -errno */
int source_push(struct source *s);

/* The end of the stream has been sent in this epoch. */
bool source_is_shut(const struct source *s);

/* The receiving application has the result of this tree. */
bool source_is_done(const struct source *s);

struct conn *source_conn(struct source *s);
uint64_t source_records(const struct source *s);
uint64_t source_resent(const struct source *s);

#endif /* AGGNET_SOURCE_H */
