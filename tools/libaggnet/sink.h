/* SPDX-License-Identifier: GPL-2.0 */
/* Sink: receives and checks the result of one tree. The functions are those of
 * aggnet_data.h, for one tree.
 */
#ifndef AGGNET_SINK_H
#define AGGNET_SINK_H

#include "aggnet_data.h"

struct conn;
struct merge;
struct sink;

int sink_open(struct sink **k, struct in_addr receiver, uint32_t job,
	      const struct aggnet_options *opt);
int sink_run(struct sink *k);

/**
 * sink_turn() - read some messages of a result
 * @k: the sink, of a handle with AGGNET_OPT_NONBLOCK
 * @most: messages
 *
 * Return: as sink_run(); -EAGAIN: also if there are more
 */
int sink_turn(struct sink *k, unsigned int most);
int sink_stream(struct sink *k, struct aggnet_entry *entry);
const struct aggnet_result *sink_result(const struct sink *k);
const struct in_addr *sink_absent(const struct sink *k, size_t *n);
int sink_commit(struct sink *k);
int sink_round(struct sink *k);
void sink_close(struct sink *k);

/* Blocks of a dense vector may be missing in the result. */
void sink_may_skip(struct sink *k);

/* Values may not fit their type: the caller takes what result_get() writes then. */
void sink_may_wrap(struct sink *k);

/* The end mark has been seen, and the epoch of the result is not known to be lost. */
bool sink_is_whole(const struct sink *k);
bool sink_is_committed(const struct sink *k);

/**
 * sink_look() - look whether the epoch of a whole result is still in force
 * @k: the sink
 *
 * If it is not, the result is discarded, and sink_is_whole() is false.
 *
 * Return: 0, -EINTR, or the final error
 */
int sink_look(struct sink *k);

/* The merged entries; valid until the next call. */
struct merge *sink_merged(struct sink *k);

struct conn *sink_conn(struct sink *k);

#endif /* AGGNET_SINK_H */
