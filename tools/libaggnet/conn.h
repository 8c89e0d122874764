/* SPDX-License-Identifier: GPL-2.0 */
/* Connection: the common part of a source and a sink: a socket that has joined
 * an epoch of the transfer, and joins the next one after a failure.
 */
#ifndef AGGNET_CONN_H
#define AGGNET_CONN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/shape.h"
#include "aggnet_data.h"

/**
 * struct conn - the state of a handle in the transfer
 * @fd: the socket; -1 between two epochs
 * @timer: ticks between two attempts to join; -1 until the first
 * @owner: the process that opened the handle
 * @reader: it is the receiver
 * @joined: an epoch was joined
 * @waits: events that the last call would have to wait for
 * @rounds: rounds of a persistent tree that are done; then no newer epoch is
 *	joined, because its rounds begin with 0. Of a broadcast: 1, as its stream
 *	would begin anew
 * @final: negative errno with which the transfer ended here, 0: it runs
 * @replays: epochs that were joined after the first
 * @addr: the transfer
 * @opt: as given
 * @deadline: of the transfer, milliseconds of the monotonic clock, 0: none
 * @mend_by: stop waiting for the next epoch at this time
 * @broken: errno that ended the last epoch
 * @status: of the transfer when it ended
 * @why: message on the end of the last epoch, while the handle waits for the
 *	next
 * @error: message on the last failure
 */
struct conn {
	int fd;
	int timer;
	pid_t owner;
	bool reader;
	bool joined;
	short waits;
	uint32_t rounds;
	int final;
	unsigned int replays;
	struct sockaddr_aggnet addr;
	struct aggnet_options opt;
	int64_t deadline;
	int64_t mend_by;
	int broken;
	struct aggnet_status status;
	char why[AGGNET_TEXT_MAX];
	char error[AGGNET_TEXT_MAX];
};

/* As conn_open(), in two steps: with nothing joined in between. */
void conn_init(struct conn *c, bool reader, struct in_addr receiver,
	       uint32_t job, const struct aggnet_options *opt);
int conn_begin(struct conn *c);
int conn_open(struct conn *c, bool reader, struct in_addr receiver,
	      uint32_t job, const struct aggnet_options *opt);

/**
 * conn_refusal() - find out, without joining, whether an entry can be joined
 * @st: of the entry, from aggnet_lookup()
 * @opt: of the handle
 *
 * Return: 0: it runs, or conn_open() would wait for its repair; or the error with
 * which conn_open() would fail because the transfer has ended
 */
int conn_refusal(const struct aggnet_status *st,
		 const struct aggnet_options *opt);

/**
 * conn_close() - leave the transfer
 * @c: the connection
 * @why: abort the transfer for this reason; AGGNET_R_NONE: do not abort
 *
 * close() alone aborts only if no child of fork() holds the socket. Such a
 * child leaves the transfer to the process that opened the handle.
 */
void conn_close(struct conn *c, enum aggnet_reason why);

/* Store a message. Return: @err, a negative errno. conn_end() also ends the
 * transfer: each later call returns the same error.
 */
int conn_fail(struct conn *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int conn_end(struct conn *c, int err);

/**
 * conn_in_time() - check whether the transfer may continue
 * @c: the connection
 *
 * For calls that need not wait.
 *
 * Return: 0, or the final error
 */
int conn_in_time(struct conn *c);

/**
 * conn_wait() - wait until the socket is ready
 * @c: the connection
 * @events: POLLIN or POLLOUT
 *
 * Return: 0: try again, -EAGAIN (nonblocking), -EINTR, or the final error
 */
int conn_wait(struct conn *c, short events);

/**
 * conn_may_retry() - does an error of the socket leave everything as it was?
 * @err: negative errno
 */
bool conn_may_retry(int err);

/**
 * conn_retry() - wait, or let the caller call again
 * @c: the connection
 * @err: for which conn_may_retry() is true
 * @events: POLLIN or POLLOUT
 *
 * Return: 0: try again, @err, or the final error
 */
int conn_retry(struct conn *c, int err, short events);

/**
 * conn_lost() - handle an error of the socket that ends the epoch
 * @c: the connection
 * @err: negative errno
 *
 * Return: 0: a newer epoch may repair it, and conn_join() waits for it; or the
 * final error
 */
int conn_lost(struct conn *c, int err);

/**
 * conn_join() - join an epoch, if none is joined
 * @c: the connection
 *
 * After a lost epoch only one of the same plan and shape is joined: all that
 * the caller has given, or read, belongs to that transfer. A handle that was
 * opened on an aborted entry joins any instance of the same shape and number of
 * stripes.
 *
 * Return: 0, -EAGAIN (nonblocking), -EINTR, or the final error
 */
int conn_join(struct conn *c);

/* Begin the time limit anew, now. */
void conn_restart(struct conn *c);

/* Milliseconds to the time limit, as poll() takes them. */
int conn_left_ms(const struct conn *c);

int conn_abort(struct conn *c, enum aggnet_reason why);
int conn_fd(const struct conn *c);
int conn_status(struct conn *c, struct aggnet_status *st);

/* Shape of the values of a transfer. */
struct aggnet_shape status_shape(const struct aggnet_status *st);

/* Number of trees of the job; and whether this one is tree @stripe of @stripes. */
uint32_t status_stripes(const struct aggnet_status *st);
bool status_is_stripe(const struct aggnet_status *st, uint32_t stripe,
		      uint32_t stripes);

/* Shape of the values; the same in all epochs. */
struct aggnet_shape conn_shape(const struct conn *c);

#endif /* AGGNET_CONN_H */
