/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libaggnet, data part: contribute records to an aggregated transfer, or
 * receive its result; send or receive a broadcast. It hides encoding, epochs, replay and
 * the last merge.
 *
 * A source:
 *
 *	struct aggnet_source *s;
 *	int err = aggnet_source_open(&s, receiver, job, NULL);
 *
 *	while (!err && next_pair(&key, &klen, &value))
 *		err = aggnet_source_add(s, key, klen, value);
 *	if (!err)
 *		err = aggnet_source_finish(s);	// 0: the receiver has it all
 *	if (err)
 *		fprintf(stderr, "%s\n", aggnet_source_error(s));
 *	aggnet_source_close(s);
 *
 * The receiver:
 *
 *	err = aggnet_sink_open(&k, any, job, NULL);
 *	if (!err)
 *		err = aggnet_sink_run(k);	// 0: complete and checked
 *	while (!err && aggnet_sink_next(k, &entry))
 *		store(entry.key, entry.klen, entry.value);
 *	if (!err)
 *		err = aggnet_sink_commit(k);	// now the sources get DONE
 *
 * The root of a broadcast:
 *
 *	err = aggnet_cast_root(&c, job, NULL);
 *	while (!err && read_some(buf, &len))
 *		for (done = 0; !err && done < len; done += n > 0 ? n : 0) {
 *			n = aggnet_cast_write(c, buf + done, len - done);
 *			err = n < 0 && n != -EINTR ? n : 0;
 *		}
 *	if (!err)
 *		err = aggnet_cast_finish(c);	// 0: every member has everything
 *
 * A member; nothing is repaired, so an error is final:
 *
 *	err = aggnet_cast_join(&c, root, job, NULL);
 *	for (n = 1; !err && n; err = n < 0 && n != -EINTR ? n : 0) {
 *		n = aggnet_cast_read(c, buf, sizeof(buf));
 *		if (n > 0)
 *			store(buf, n);
 *	}
 *	if (!err)
 *		err = aggnet_cast_commit(c);	// now the root may get DONE
 *
 * Functions that can fail return 0 or a negative errno; the message that goes
 * with it stays in the handle. Nothing exits, prints, or keeps global state.
 * Handles are independent of each other; one handle belongs to one thread at a
 * time. SIGPIPE is never raised. -EINTR (a signal), -EAGAIN (nonblocking) and
 * -ENOMEM leave everything as it was: make the same call again, which returns
 * -ENOMEM again if there is no memory for the keys of the result. After an epoch that was
 * lost a handle joins newer ones of the same plan and the same function, type
 * and layout only; if the transfer was planned anew, calls return
 * -ECANCELED.
 */
#ifndef AGGNET_DATA_H
#define AGGNET_DATA_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/aggnet.h>
#include <linux/aggnet_packet.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Calls return -EAGAIN instead of waiting; poll() the handle's descriptor. */
#define AGGNET_OPT_NONBLOCK	0x0001
/* Source: no spool. add() or finish() returns -ESTALE when the handle has
 * joined a new epoch: add everything again from the start. If a job of several
 * trees gets other records then, the transfer ends with -EINVAL.
 */
#define AGGNET_OPT_REPLAY	0x0002
/* Source: no spool, and nothing is sent again: once records have left the
 * handle's buffer, a new epoch ends the transfer for this source.
 */
#define AGGNET_OPT_NO_REPLAY	0x0004

/* Maximum of a spool in bytes, unless @spool_max of the options sets another. */
#define AGGNET_SPOOL_MAX_DEFAULT	(4ULL << 30)

/**
 * struct aggnet_options - options of a source or a sink; zero is the default
 * @flags: AGGNET_OPT_*
 * @timeout_ms: calls fail with -ETIMEDOUT this long after open(), in any state
 *	of the transfer. A source that has sent its end leaves the transfer
 *	running, which may succeed. 0: only the entry's give_up limits it
 * @repair_ms: an abort that a newer epoch may repair (a member timed out, was
 *	reset, left, withdrew, or is already in a newer epoch) is final only if
 *	no newer epoch comes within this time; if a newer epoch is in force
 *	elsewhere, the error is then -ETIMEDOUT, never -ESTALE. 0: 5000 if a
 *	newer epoch is known to be coming, else none
 * @spool_dir: source: directory of the unlinked file for replays; NULL: $TMPDIR
 *	or /var/tmp
 * @spool_max: source: maximum size of that file; with more records add()
 *	returns -EFBIG; 0: AGGNET_SPOOL_MAX_DEFAULT. A job of several trees has a
 *	file for each
 */
struct aggnet_options {
	unsigned int flags;
	unsigned int timeout_ms;
	unsigned int repair_ms;
	const char *spool_dir;
	uint64_t spool_max;
};

/* --- source -------------------------------------------------------------- */

/** struct aggnet_source - a source of a transfer; the library allocates it. */
struct aggnet_source;

/**
 * aggnet_source_open() - join a transfer as one of its local writers
 * @s: set to the handle, also on failure (NULL on -ENOMEM); the caller closes
 *	it
 * @receiver: identity of the receiver
 * @job: job ID; of a job of several trees that of the first one. The handle joins
 *	all of them
 * @opt: NULL for the defaults; copied
 *
 * Return: 0, -ENETUNREACH (no entry for this transfer on this node), -EACCES
 * (the entry does not permit this user), -EADDRNOTAVAIL (this node is not one
 * of its sources), -EUSERS (all its writers have joined already), -EALREADY
 * (the transfer is over), -ESOCKTNOSUPPORT (module not loaded), -EINVAL (@job is
 * that of a later tree), -EPROTOTYPE (several trees, and sorted), -ECANCELED (the
 * trees are not those of one plan, or their number has changed) or another negative
 * errno
 */
int aggnet_source_open(struct aggnet_source **s, struct in_addr receiver,
		       uint32_t job, const struct aggnet_options *opt);

/**
 * aggnet_source_add() - contribute one record
 * @s: the source
 * @key: its bytes
 * @klen: 1..AGGNET_KEY_MAX
 * @value: ignored by the function "count"
 *
 * Records are buffered and sent in batches; the call waits when the node has no
 * room.
 *
 * Return: 0, or a negative errno, and the record was not taken; -EPROTOTYPE:
 * the transfer's values are not integers; -ERANGE: the value exceeds their
 * type; -EILSEQ: the transfer is sorted, and the key sorts before the previous
 * one, by bytes, a prefix before the longer key
 */
int aggnet_source_add(struct aggnet_source *s, const void *key, size_t klen,
		      int64_t value);

/* The same for reals; -ERANGE: the value is finite, but not as a float32. */
int aggnet_source_add_real(struct aggnet_source *s, const void *key,
			   size_t klen, double value);

/* The same for functions that keep the best values with their IDs. */
int aggnet_source_add_pair(struct aggnet_source *s, const void *key,
			   size_t klen, int64_t value, uint64_t id);
int aggnet_source_add_pair_real(struct aggnet_source *s, const void *key,
				size_t klen, double value, uint64_t id);

/**
 * aggnet_source_add_element() - contribute the next element of a dense vector
 * @s: the source
 * @value: of the element after the previous one, beginning with the first
 *
 * All elements must be given before aggnet_source_finish().
 *
 * Return: as aggnet_source_add(); -ERANGE: the vector has no more elements
 */
int aggnet_source_add_element(struct aggnet_source *s, int64_t value);
int aggnet_source_add_element_real(struct aggnet_source *s, double value);

/**
 * aggnet_source_finish() - send the remaining records and wait for the receiver
 * @s: the source
 *
 * Return: 0 when the receiving application has the whole result, so that the
 * input may be deleted; or a negative errno, of several trees that of one that
 * failed; -EINVAL: elements of the vector are missing
 */
int aggnet_source_finish(struct aggnet_source *s);

/**
 * aggnet_source_round() - end a round of a persistent tree, and wait for the
 * receiver
 * @s: the source
 *
 * What is added next belongs to the next round; aggnet_source_finish() ends the
 * last one. After the first round a newer epoch is not joined: its rounds begin
 * with 0, so the applications agree on the one with which they begin again.
 *
 * Return: 0 when the receiving application has the whole result of the round;
 * -EOPNOTSUPP: the tree is not persistent; -EPIPE: another source has ended the
 * last round; or as aggnet_source_finish()
 */
int aggnet_source_round(struct aggnet_source *s);

/* End the transfer with an error at every member: AGGNET_R_USER or
 * AGGNET_R_SENDER (the input is bad); other reasons are refused with -EINVAL.
 * While the handle waits for a repair, only this handle ends: it joins no newer
 * epoch.
 */
int aggnet_source_abort(struct aggnet_source *s, enum aggnet_reason why);

/* Closing before finish() has sent the end aborts the transfer, also if a child
 * of fork() holds the socket; in such a child closing only frees the handle. @s
 * may be NULL.
 */
void aggnet_source_close(struct aggnet_source *s);

/* For poll(); both may change with each call. */
int aggnet_source_fd(const struct aggnet_source *s);
short aggnet_source_events(const struct aggnet_source *s);

/* The last error, e.g. "timed out at 10.0.0.3: 2 sources missing". @s may be
 * NULL, for a handle that could not be allocated.
 */
const char *aggnet_source_error(const struct aggnet_source *s);

/*
 * The state of the transfer; after a failure, which node raised which reason.
 */
int aggnet_source_status(struct aggnet_source *s, struct aggnet_status *st);

/* Records that were taken; epochs that were joined after the first. */
uint64_t aggnet_source_records(const struct aggnet_source *s);
unsigned int aggnet_source_replays(const struct aggnet_source *s);

/* Bytes of records in lost epochs, which were sent again. */
uint64_t aggnet_source_resent(const struct aggnet_source *s);

/* --- sink ---------------------------------------------------------------- */

/** struct aggnet_sink - the receiver of a transfer; the library allocates it. */
struct aggnet_sink;

/**
 * struct aggnet_result - the end mark, and the size of the result
 * @sources: sources in the result
 * @of: sources of the tree: equal to @sources, apart from sources that the plan
 *	left out
 * @partials: nodes that did not wait for all of their children
 * @absent: sources that the plan left out
 * @records: original records that the result stands for
 * @keys: distinct keys, or a dense vector's elements
 * @instance: epoch of the transfer, the same in all its attempts
 * @attempt: the attempt that gave the result; of several trees the latest
 * @plan: ID of the plan, the same in all its attempts and at all members: with
 *	the job the key under which a result is stored once. 0 for an entry that
 *	was added without a plan. An instance is not a key, because two plans
 *	may have the same
 * @round: of a persistent tree, from 0 on, else 0
 * @last: 1: no round follows
 */
struct aggnet_result {
	uint32_t sources;
	uint32_t of;
	uint32_t partials;
	uint32_t absent;
	uint64_t records;
	uint64_t keys;
	uint32_t instance;
	uint32_t attempt;
	uint8_t plan[AGGNET_PLAN_ID_LEN];
	uint32_t round;
	uint32_t last;
};

/**
 * struct aggnet_best - one of the values that a function kept
 * @value: the value
 * @real: as a real; for fixed-point values @value 2^-scale
 * @id: its ID
 */
struct aggnet_best {
	int64_t value;
	double real;
	uint64_t id;
};

/**
 * struct aggnet_entry - one line of the result
 * @key: its bytes, valid until the next run() or close(); not terminated
 * @klen: how many
 * @value: merged over all sources; the integer part of an average
 * @real: the same as a real: for real types the nearest to the exact result,
 *	for an average the nearest to the quotient of the exact sum and the
 *	count, for fixed-point values @value 2^-scale
 * @count: average: number of values
 * @best: topk, nearest: the best first; valid until the next aggnet_sink_next()
 * @n: how many of them
 * @offset: dense vector: index of the element, from 0; @key is then unset
 */
struct aggnet_entry {
	const void *key;
	size_t klen;
	int64_t value;
	double real;
	uint64_t count;
	const struct aggnet_best *best;
	size_t n;
	uint64_t offset;
};

/**
 * aggnet_sink_open() - become the receiver of a transfer
 * @k: set to the handle, also on failure (NULL on -ENOMEM); the caller closes
 *	it
 * @receiver: identity of this node; INADDR_ANY stands for it
 * @job: job ID
 * @opt: NULL for the defaults; copied
 *
 * Return: 0, or a negative errno as for aggnet_source_open(); -EADDRINUSE:
 * another socket receives it; -EADDRNOTAVAIL: this node is not its receiver
 */
int aggnet_sink_open(struct aggnet_sink **k, struct in_addr receiver,
		     uint32_t job, const struct aggnet_options *opt);

/**
 * aggnet_sink_run() - read and merge until the result is complete
 * @k: the sink
 *
 * In a new epoch it starts again. A value that does not fit its type ends the
 * transfer at every member with -EOVERFLOW; the message names the key.
 *
 * Return: 0: aggnet_sink_next() returns the result; or a negative errno
 */
int aggnet_sink_run(struct aggnet_sink *k);

/**
 * aggnet_sink_stream() - the next line of a sorted transfer, as soon as it is
 * final
 * @k: the sink; aggnet_sink_run() must not be called
 * @entry: filled; its key is valid until the next call
 *
 * Lines come in the order of their keys, each key once, while the transfer
 * runs. The handle keeps no lines, so the result may be larger than memory.
 * Only a return of 0 shows that the result is complete and checked.
 *
 * Return: 1: a line; 0: the end, aggnet_sink_commit() is next; -ESTALE: a newer
 * epoch began, so discard all lines: they come again from the first;
 * -EPROTOTYPE: the transfer is not sorted; or another negative errno
 */
int aggnet_sink_stream(struct aggnet_sink *k, struct aggnet_entry *entry);

/*
 * Next line of the result, in the order of first arrival. Return: false: no
 * more
 */
bool aggnet_sink_next(struct aggnet_sink *k, struct aggnet_entry *entry);

/* Sort the lines by key bytes, and start at the first. */
void aggnet_sink_sort(struct aggnet_sink *k);

/**
 * aggnet_sink_top() - keep the lines with the best values
 * @k: the sink
 * @n: how many
 *
 * Lines are in descending order of values, those with equal values in the order
 * of keys. A NaN is greater than all other reals, as for the function "max",
 * and -0 is less than 0. A line of pairs ranks by its best pair: for "topk" the
 * line with the greatest value comes first, for "nearest" the line with the
 * least. The best sums, counts and averages are selected here, because only
 * here they are complete. A dense vector is not changed.
 */
void aggnet_sink_top(struct aggnet_sink *k, size_t n);

/* The end mark; after run(). */
const struct aggnet_result *aggnet_sink_result(const struct aggnet_sink *k);

/**
 * aggnet_sink_absent() - identities of the sources that were left out
 * @k: the sink, after run()
 * @n: how many are named, at most AGGNET_ABSENT_MAX; @absent of the result
 *	counts all of them
 */
const struct in_addr *aggnet_sink_absent(const struct aggnet_sink *k,
					 size_t *n);

/**
 * aggnet_sink_commit() - take the end mark: the result is safely stored
 * @k: the sink, after aggnet_sink_run() returned 0
 *
 * finish() of the sources returns 0 only after this. A crash before it ends the
 * transfer with an error at all of them. Sources may get an error although this
 * returned 0, if a member fails before it gets DONE: @plan of the result
 * identifies a result that is stored already; aggnet(7) has a table of these
 * cases.
 *
 * Of several trees one end mark is taken after the other, when all of them are
 * there. A receiver that dies between two leaves the sources with an error.
 *
 * Return: 0; -ESTALE: a new epoch began before, so discard the result and call
 * aggnet_sink_run() again; -EAGAIN, -EINTR: the result is unchanged, call this
 * again; or another negative errno
 */
int aggnet_sink_commit(struct aggnet_sink *k);

/**
 * aggnet_sink_round() - begin to read the next round of a persistent tree
 * @k: the sink, after aggnet_sink_commit() returned 0
 *
 * Drops the result. aggnet_sink_run() is next.
 *
 * Return: 0; -EPIPE: @last of the result is 1, so no round follows; -EINVAL: the
 * result is not committed; or another negative errno
 */
int aggnet_sink_round(struct aggnet_sink *k);

/*
 * As aggnet_source_abort(): AGGNET_R_USER, AGGNET_R_RECEIVER or
 * AGGNET_R_OVERFLOW.
 */
int aggnet_sink_abort(struct aggnet_sink *k, enum aggnet_reason why);

/* Closing before commit() returned 0 aborts the transfer; with fork() as for a
 * source. @k may be NULL.
 */
void aggnet_sink_close(struct aggnet_sink *k);

/* As for a source; poll() the descriptor for POLLIN. */
int aggnet_sink_fd(const struct aggnet_sink *k);
const char *aggnet_sink_error(const struct aggnet_sink *k);
int aggnet_sink_status(struct aggnet_sink *k, struct aggnet_status *st);
unsigned int aggnet_sink_replays(const struct aggnet_sink *k);

/* --- broadcast ------------------------------------------------------------- */

/* A handle of a stream of bytes that goes down a tree: of the root, or of a member. */
struct aggnet_cast;

/**
 * aggnet_cast_root() - become the root of a broadcast
 * @c: set to the handle, also on failure (NULL on -ENOMEM); the caller closes it
 * @job: job ID
 * @opt: NULL for the defaults; copied. repair_ms, spool_dir and spool_max mean
 *	nothing here
 *
 * Return: 0, or a negative errno as for aggnet_sink_open(); -EPROTOTYPE: the
 * transfer is no broadcast
 */
int aggnet_cast_root(struct aggnet_cast **c, uint32_t job,
		     const struct aggnet_options *opt);

/* Become a member. Return: as aggnet_cast_root(), or as aggnet_source_open() */
int aggnet_cast_join(struct aggnet_cast **c, struct in_addr root, uint32_t job,
		     const struct aggnet_options *opt);

/**
 * aggnet_cast_write() - send bytes as the root
 * @c: the root's handle
 * @data: the bytes
 * @len: their number
 *
 * Waits while the rings are full, because a reader is slow.
 *
 * Return: bytes that were taken, all unless a signal came or the handle does not
 * block; or a negative errno
 */
ssize_t aggnet_cast_write(struct aggnet_cast *c, const void *data, size_t len);

/**
 * aggnet_cast_finish() - end the stream, and wait for all members
 * @c: the root's handle
 *
 * Return: 0: each member has committed; or a negative errno
 */
int aggnet_cast_finish(struct aggnet_cast *c);

/**
 * aggnet_cast_read() - read bytes as a member
 * @c: a member's handle
 * @buf: filled
 * @len: its size, AGGNET_RECORD_MAX at least
 *
 * Return: bytes; 0: the end, and the stream is the root's; or a negative errno
 * (-EBADMSG: it is not, and the transfer ends for all)
 */
ssize_t aggnet_cast_read(struct aggnet_cast *c, void *buf, size_t len);

/* The member has stored what it has read. Return: 0 or a negative errno */
int aggnet_cast_commit(struct aggnet_cast *c);

/**
 * aggnet_cast_round() - go on to the next round of a persistent broadcast
 * @c: the handle
 *
 * At the root: ends the round, and waits for all members; what is written next belongs
 * to the next round, and aggnet_cast_finish() ends the last one. At a member, after
 * aggnet_cast_commit() returned 0: aggnet_cast_read() is next.
 *
 * Return: 0; -EOPNOTSUPP: the broadcast is not persistent; -EPIPE: no round follows;
 * -EINVAL: the round is not committed; or another negative errno
 */
int aggnet_cast_round(struct aggnet_cast *c);

/*
 * Closing before the root has called finish(), or before a member's commit() of the
 * last round has returned 0, aborts the transfer. Once the root has ended the stream the members may complete
 * it without the root. @c may be NULL.
 */
void aggnet_cast_close(struct aggnet_cast *c);

/* As for a source. */
int aggnet_cast_fd(const struct aggnet_cast *c);
const char *aggnet_cast_error(const struct aggnet_cast *c);
int aggnet_cast_status(struct aggnet_cast *c, struct aggnet_status *st);

/* --- before joining ------------------------------------------------------- */

/**
 * aggnet_lookup() - the function, type and state of a transfer, without joining
 * it
 * @receiver: identity of the receiver
 * @job: job ID
 * @st: its function, type, state and counters on this node, see struct aggnet_status
 *
 * Return: 0, -ENETUNREACH, -EACCES, -ESOCKTNOSUPPORT or another negative errno
 */
int aggnet_lookup(struct in_addr receiver, uint32_t job,
		  struct aggnet_status *st);

/* --- texts ---------------------------------------------------------------- */

/*
 * A reason as a text ("timed out", "the merged records do not add up"), never
 * NULL, and as a negative errno.
 */
const char *aggnet_reason_text(unsigned int reason);
int aggnet_reason_errno(unsigned int reason);

/* Bytes of a buffer that any text of aggnet_status_text() fits in. */
#define AGGNET_TEXT_MAX	256

/**
 * aggnet_status_text() - describe an abort
 * @st: from a status call, or filled from an event
 * @buf: written, always terminated
 * @size: AGGNET_TEXT_MAX is enough
 *
 * Return: @buf
 */
char *aggnet_status_text(const struct aggnet_status *st, char *buf,
			 size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* AGGNET_DATA_H */
