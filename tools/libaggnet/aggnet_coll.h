/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libaggnet, collectives: operations in which all processes of a group take part, on
 * vectors of one element type.
 *
 *	struct aggnet_group_conf conf = {
 *		.root = root, .up = 7, .down = 8, .rank = rank, .ranks = 7,
 *		.function = AGGNET_FN_SUM, .vtype = AGGNET_VTYPE_INT64,
 *	};
 *	int err = aggnet_group_open(&g, &conf);
 *
 *	while (!err && next_step(mine))
 *		err = aggnet_allreduce(g, mine, total, 1000);
 *	if (!err)
 *		err = aggnet_group_finish(g);
 *	if (err)
 *		fprintf(stderr, "%s\n", aggnet_group_error(g));
 *	aggnet_group_close(g);
 *
 * A group has two persistent trees: one of a dense vector, up to the root, whose
 * function merges what the ranks give, and one of bytes, down from it. Each collective
 * is one round of both. Rank 0 is the process at the root; it is the only rank on its
 * server, and one of the sources of the tree up. Other servers may have several ranks.
 *
 * All ranks make the same calls in the same order. Each call compares its kind, root,
 * number of elements and place in the order; if they differ, it fails at every rank
 * with -EPROTO, and aggnet_group_error() tells the difference.
 *
 * Functions that can fail return 0 or a negative errno. -EINVAL, -EMSGSIZE and -EBUSY
 * of a collective refuse the call: nothing was sent, and the group goes on. Any other
 * error ends the group at all ranks, and later calls return -ENOTCONN. So does each
 * error of aggnet_group_open(), after which the handle is only good for its sentence.
 * A handle belongs to one thread at a time. Nothing exits, prints, or keeps global
 * state, and SIGPIPE is never raised.
 */
#ifndef AGGNET_COLL_H
#define AGGNET_COLL_H

#include <poll.h>

#include "aggnet_data.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** struct aggnet_group - a rank's handle; the library allocates it. */
struct aggnet_group;

/** struct aggnet_coll - a collective that was started; it belongs to the group. */
struct aggnet_coll;

/**
 * enum aggnet_group_flags - what else a group may do
 * @AGGNET_GROUP_WRAP: a sum that does not fit its type is not an error. Of integers it is
 *	taken modulo 2^32 or 2^64, as the C of most machines adds, and of finite reals it is
 *	infinite
 */
enum aggnet_group_flags {
	AGGNET_GROUP_WRAP = 1 << 0,
};

/**
 * struct aggnet_group_conf - of a group; the same at all ranks apart from @rank
 * @root: identity of the node of rank 0
 * @up: job ID of the tree up
 * @down: job ID of the tree down
 * @rank: of the caller, from 0 on
 * @ranks: number of ranks: at most 17458 that add float, 33025 that add int32_t. A
 *	group of one rank has no trees, and ignores @root, @up and @down
 * @function: enum aggnet_function of the tree up: sum, min or max
 * @vtype: enum aggnet_vtype of the elements: int32_t, int64_t (also for
 *	AGGNET_VTYPE_FIXED), float or double
 * @timeout_ms: a collective fails with -ETIMEDOUT this long after its call; 0: it
 *	waits for ranks that have not made the call yet. Nodes that are lost end the
 *	group after the entry's give_up in any case, and so do ranks that have not opened
 *	the group so long after the first one
 * @flags: of enum aggnet_group_flags, by which rank 0 makes the result
 * @reserved: 0
 */
struct aggnet_group_conf {
	struct in_addr root;
	uint32_t up;
	uint32_t down;
	uint32_t rank;
	uint32_t ranks;
	uint32_t function;
	uint32_t vtype;
	uint32_t timeout_ms;
	uint32_t flags;
	uint32_t reserved[6];
};

/**
 * enum aggnet_coll_kind - what a collective does
 * @AGGNET_COLL_BARRIER: nothing; no rank returns before each one has called
 * @AGGNET_COLL_BROADCAST: every rank gets @recv of the root
 * @AGGNET_COLL_SCATTER: rank r gets part r of the root's @send
 * @AGGNET_COLL_GATHER: the root gets the @send of each rank, in the order of ranks
 * @AGGNET_COLL_ALLGATHER: each rank gets them
 * @AGGNET_COLL_REDUCE: the root gets all @send, merged element by element
 * @AGGNET_COLL_REDUCE_SCATTER: rank r gets part r of them
 * @AGGNET_COLL_ALLREDUCE: each rank gets them
 */
enum aggnet_coll_kind {
	AGGNET_COLL_BARRIER,
	AGGNET_COLL_BROADCAST,
	AGGNET_COLL_SCATTER,
	AGGNET_COLL_GATHER,
	AGGNET_COLL_ALLGATHER,
	AGGNET_COLL_REDUCE,
	AGGNET_COLL_REDUCE_SCATTER,
	AGGNET_COLL_ALLREDUCE,
};

/**
 * aggnet_group_open() - join a group, and wait for all of its ranks
 * @g: set to the handle, also on failure (NULL on -ENOMEM); the caller closes it
 * @conf: copied
 *
 * The first round compares @ranks, @function and @vtype of all ranks, the size of their
 * vector, and that each number from 0 to @ranks - 1 is there once; the latter only if
 * aggnet_group_max() of a gather is not 0. It does not compare @timeout_ms.
 *
 * Return: 0; -EPROTO: the ranks do not agree; -EINVAL: @conf has a wrong member;
 * -EOPNOTSUPP: the tree up has another function or type, or the trees are not those of
 * a group; an error as of aggnet_source_open() or aggnet_cast_join(); or another
 * negative errno
 */
int aggnet_group_open(struct aggnet_group **g,
		      const struct aggnet_group_conf *conf);

/* Value of @rank: that of the environment variable AGGNET_RANK. */
#define AGGNET_RANK_ENV	UINT32_MAX

/**
 * aggnet_group_create() - join the group that the environment names
 * @g: as of aggnet_group_open()
 * @conf: as of aggnet_group_open(), but for @root, @up, @down and @ranks: those are read
 *	from the environment variable AGGNET_GROUP, as "aggctl job submit" prints it. @rank
 *	may be AGGNET_RANK_ENV
 *
 * A program that calls it needs neither a plan nor a privilege. Words of AGGNET_GROUP
 * that this version does not know are ignored.
 *
 * Return: as of aggnet_group_open(); -EINVAL also if a variable is missing or wrong
 */
int aggnet_group_create(struct aggnet_group **g,
			const struct aggnet_group_conf *conf);

/**
 * aggnet_group_finish() - end a group after its last collective
 * @g: the group
 *
 * All ranks call it, in the place of a collective.
 *
 * Return: 0: every rank has called it, and may close; or a negative errno
 */
int aggnet_group_finish(struct aggnet_group *g);

/* Closing before aggnet_group_finish() returned 0 ends the group at all ranks with
 * -ECONNABORTED, unless rank 0 has already sent the end of the last call. @g may be NULL.
 */
void aggnet_group_close(struct aggnet_group *g);

/* The last error as a sentence; @g may be NULL, for a handle without memory. */
const char *aggnet_group_error(const struct aggnet_group *g);

/* The number of the caller, and how many ranks there are; 0 if @g is NULL. */
uint32_t aggnet_group_rank(const struct aggnet_group *g);
uint32_t aggnet_group_ranks(const struct aggnet_group *g);

/**
 * aggnet_group_max() - the most elements that a collective can have
 * @g: the group
 * @kind: of collective
 *
 * Return: the largest count of this kind; from SIZE_MAX / 8 on there is no limit. What
 * rank 0 broadcasts or scatters has none
 */
size_t aggnet_group_max(const struct aggnet_group *g,
			enum aggnet_coll_kind kind);

/*
 * The collectives. @count is the number of elements that one rank gives or gets: of a
 * scatter, a gather, an allgather and a reduce-scatter the longer vector has @ranks
 * times as many. @send and @recv may overlap. @recv of gather and reduce is used at
 * the root only, @send of scatter, too; both may be NULL elsewhere. After an error that
 * ends the group @recv may have been written.
 *
 * Reals are moved bit by bit. They are merged without rounding; a sum is rounded
 * once, to the nearest number. A NaN is greater than all other reals: max returns it,
 * and min only if there is nothing else.
 *
 * Return: 0; -EINVAL: no such root, or a buffer is NULL; -EMSGSIZE: @count exceeds
 * aggnet_group_max(); -EBUSY: a collective is outstanding; -ENOTCONN: the group has
 * ended; -EPROTO: the ranks make different calls; -EOVERFLOW: a sum does not fit its
 * type, also one of finite reals that would be infinite, without AGGNET_GROUP_WRAP;
 * -EBADMSG: a check found that the result is wrong; -ECONNABORTED: a rank has left;
 * -ETIMEDOUT: a node or a rank does not answer; or another negative errno
 */
int aggnet_barrier(struct aggnet_group *g);
int aggnet_broadcast(struct aggnet_group *g, void *buf, size_t count,
		     uint32_t root);
int aggnet_scatter(struct aggnet_group *g, const void *send, void *recv,
		   size_t count, uint32_t root);
int aggnet_gather(struct aggnet_group *g, const void *send, void *recv,
		  size_t count, uint32_t root);
int aggnet_allgather(struct aggnet_group *g, const void *send, void *recv,
		     size_t count);
int aggnet_reduce(struct aggnet_group *g, const void *send, void *recv,
		  size_t count, uint32_t root);
int aggnet_reduce_scatter(struct aggnet_group *g, const void *send, void *recv,
			  size_t count);
int aggnet_allreduce(struct aggnet_group *g, const void *send, void *recv,
		     size_t count);

/**
 * aggnet_coll_start() - start a collective
 * @g: the group, which has one at a time
 * @kind: of collective
 * @send: what this rank gives; ignored by a barrier and a broadcast
 * @recv: what it gets, of a broadcast also what the root gives
 * @count: elements
 * @root: ignored by a collective without a root
 * @c: set to the collective, NULL on failure
 *
 * It sends nothing: the collective goes on within aggnet_coll_test() and
 * aggnet_coll_wait() only, and the other ranks wait for it. The buffers belong to the
 * library until one of them returns something else than -EAGAIN.
 *
 * Return: 0, or a negative errno as of the collectives
 */
int aggnet_coll_start(struct aggnet_group *g, enum aggnet_coll_kind kind,
		      const void *send, void *recv, size_t count, uint32_t root,
		      struct aggnet_coll **c);

/**
 * aggnet_group_open_start() - aggnet_group_open(), without waiting for the other ranks
 * @g: as of aggnet_group_open()
 * @conf: copied
 * @c: set to the first round, NULL on failure: it goes on as a collective does. Until it
 *	has ended with 0, the group has no other
 *
 * Return: 0, or a negative errno as of aggnet_group_open()
 */
int aggnet_group_open_start(struct aggnet_group **g,
			    const struct aggnet_group_conf *conf,
			    struct aggnet_coll **c);

/**
 * aggnet_group_finish_start() - aggnet_group_finish(), without waiting
 * @g: the group
 * @c: set to the last round, NULL on failure: it goes on as a collective does
 *
 * Return: 0, or a negative errno: -EBUSY, -ENOTCONN
 */
int aggnet_group_finish_start(struct aggnet_group *g, struct aggnet_coll **c);

/**
 * aggnet_coll_test() - go on with a collective, without waiting
 * @c: the collective
 *
 * Return: -EAGAIN: it is outstanding; else its result, and @c is not valid any more
 */
int aggnet_coll_test(struct aggnet_coll *c);

/* Wait for it, also across signals. Return: its result; @c is not valid any more */
int aggnet_coll_wait(struct aggnet_coll *c);

/* Descriptors that a collective of this version may wait for at once. */
#define AGGNET_COLL_FDS	3

/**
 * aggnet_coll_poll() - what to wait for before aggnet_coll_test()
 * @c: the collective, after aggnet_coll_test() returned -EAGAIN
 * @fd: filled, for poll()
 * @n: how many it has room for
 *
 * They differ after each test. poll() must not take longer than
 * aggnet_coll_timeout().
 *
 * Return: how many there are: more than @n, if @fd lacks some
 */
unsigned int aggnet_coll_poll(const struct aggnet_coll *c, struct pollfd *fd,
			      unsigned int n);

/**
 * aggnet_coll_timeout() - how long poll() may wait before aggnet_coll_test()
 * @c: the collective, after aggnet_coll_test() returned -EAGAIN
 *
 * Return: milliseconds that are left of @timeout_ms, 0: none, -1: there is no limit
 */
int aggnet_coll_timeout(const struct aggnet_coll *c);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* AGGNET_COLL_H */
