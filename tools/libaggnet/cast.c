// SPDX-License-Identifier: GPL-2.0
/* Cast: the handles of a stream that goes down a tree: the root, which writes it, and a
 * member, which reads it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cast.h"
#include "conn.h"
#include "crc32c.h"

/**
 * struct aggnet_cast - a handle
 * @conn: the socket
 * @root: it writes
 * @crc: of the stream so far, or of the round
 * @bytes: of the stream so far, or of the round
 * @round: the root has ended a round, and does not know its outcome
 * @ended: the root has ended the stream; a member has seen the end mark
 * @last: that was the end of the stream; else another round follows
 * @taken: the member has taken the end mark
 * @message: a message that is read
 */
struct aggnet_cast {
	struct conn conn;
	bool root;
	uint32_t crc;
	uint64_t bytes;
	bool round;
	bool ended;
	bool last;
	bool taken;
	struct {
		struct aggnet_msg head;
		uint8_t bytes[AGGNET_SEND_MAX];
	} message;
};

/* Count bytes of the stream. */
static void cast_count(struct aggnet_cast *c, const void *data, size_t len)
{
	c->crc = crc32c_add(c->crc, data, len);
	c->bytes += len;
}

static int cast_not_down(struct aggnet_cast *c, uint32_t job)
{
	conn_fail(&c->conn, -EPROTOTYPE,
		  "job %u is no broadcast: its tree does not lead down", job);
	return conn_end(&c->conn, -EPROTOTYPE);
}

/*
 * A socket that has joined a reduce would abort it when it is closed, so the direction is
 * looked at before. No other epoch is joined: its stream would begin anew.
 */
static int cast_join(struct aggnet_cast *c, struct in_addr addr, uint32_t job,
		     const struct aggnet_options *opt)
{
	struct aggnet_status status;
	int err;

	conn_init(&c->conn, c->root, addr, job, opt);
	c->conn.rounds = 1;
	if (!aggnet_lookup(addr, job, &status) &&
	    status.direction != AGGNET_DIR_DOWN)
		return cast_not_down(c, job);
	err = conn_begin(&c->conn);
	if (!err && c->conn.status.direction != AGGNET_DIR_DOWN)
		return cast_not_down(c, job);
	return err;
}

static int cast_open(struct aggnet_cast **cast, bool root, struct in_addr addr,
		     uint32_t job, const struct aggnet_options *opt)
{
	struct aggnet_cast *c = calloc(1, sizeof(*c));

	*cast = c;
	if (!c)
		return -ENOMEM;
	c->root = root;
	return cast_join(c, addr, job, opt);
}

int aggnet_cast_root(struct aggnet_cast **c, uint32_t job,
		     const struct aggnet_options *opt)
{
	return cast_open(c, true, (struct in_addr){ INADDR_ANY }, job, opt);
}

int aggnet_cast_join(struct aggnet_cast **c, struct in_addr root, uint32_t job,
		     const struct aggnet_options *opt)
{
	return cast_open(c, false, root, job, opt);
}

void aggnet_cast_close(struct aggnet_cast *c)
{
	bool over = c && (c->root ? c->ended : c->taken && c->last);

	if (!c)
		return;
	conn_close(&c->conn, over ? AGGNET_R_NONE :
		   c->root ? AGGNET_R_SENDER : AGGNET_R_RECEIVER);
	free(c);
}

/* A call of the socket has failed. Return: 0: try again, or an errno */
static int cast_trouble(struct aggnet_cast *c, int err, short events)
{
	if (conn_may_retry(err))
		return conn_retry(&c->conn, err, events);
	err = conn_lost(&c->conn, err);
	return err ? err : c->conn.final;
}

ssize_t aggnet_cast_write(struct aggnet_cast *c, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	size_t done = 0;
	ssize_t n;
	int err = c->conn.final;

	if (!err && (!c->root || c->ended || c->round))
		return conn_fail(&c->conn, -EINVAL, "write: %s", !c->root ?
				 "only the root writes" : c->round ?
				 "the outcome of the round is not known" :
				 "the stream has ended");
	while (!err && done < len) {
		err = conn_in_time(&c->conn);
		if (err)
			break;
		n = send(c->conn.fd, bytes + done, len - done,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			cast_count(c, bytes + done, (size_t)n);
			done += (size_t)n;
			continue;
		}
		err = cast_trouble(c, -errno, POLLOUT);
	}
	return done ? (ssize_t)done : err;
}

/* Tell the end of the stream, or of a round that another one follows. */
static int cast_end(struct aggnet_cast *c, bool last)
{
	uint64_t check = c->crc;

	if (last ? c->ended : c->round)
		return 0;
	if (setsockopt(c->conn.fd, SOL_AGGNET, AGGNET_SO_CHECK, &check,
		       sizeof(check)))
		return -errno;
	if (last ? shutdown(c->conn.fd, SHUT_WR) :
		   send(c->conn.fd, NULL, 0, MSG_EOR | MSG_DONTWAIT | MSG_NOSIGNAL))
		return -errno;
	c->ended = last;
	c->round = !last;
	return 0;
}

/* End the stream, or a round, and wait for the outcome. */
static int cast_complete(struct aggnet_cast *c, bool last)
{
	int err = c->conn.final;
	char byte;

	while (!err) {
		err = cast_end(c, last);
		if (!err && recv(c->conn.fd, &byte, 1, MSG_DONTWAIT) >= 0)
			return 0;
		err = cast_trouble(c, err ? err : -errno, POLLIN);
	}
	return err;
}

/* Begin to count the next round. */
static void cast_next_round(struct aggnet_cast *c)
{
	c->crc = 0;
	c->bytes = 0;
	c->round = false;
	c->ended = false;
	c->taken = false;
}

static int cast_root_round(struct aggnet_cast *c)
{
	int err;

	if (c->ended)
		return conn_fail(&c->conn, -EPIPE,
				 "the stream has ended: no round follows");
	err = cast_complete(c, false);
	if (!err)
		cast_next_round(c);
	return err;
}

static int cast_member_round(struct aggnet_cast *c)
{
	if (!c->taken)
		return conn_fail(&c->conn, -EINVAL,
				 "the round before is not committed");
	if (c->last)
		return conn_fail(&c->conn, -EPIPE, "no round follows");
	cast_next_round(c);
	return 0;
}

int aggnet_cast_round(struct aggnet_cast *c)
{
	if (c->conn.final)
		return c->conn.final;
	if (!c->conn.status.persist)
		return conn_fail(&c->conn, -EOPNOTSUPP,
				 "this broadcast has no rounds: plan it with --persist");
	return c->root ? cast_root_round(c) : cast_member_round(c);
}

int aggnet_cast_finish(struct aggnet_cast *c)
{
	int err = c->conn.final;

	if (!err && !c->root)
		return conn_fail(&c->conn, -EINVAL,
				 "finish: only the root ends the stream");
	/* A round whose outcome a caller did not wait for comes first. */
	if (!err && c->round)
		err = cast_root_round(c);
	return err ? err : cast_complete(c, true);
}

/* Compare with the number that the root's library gave. */
static int cast_check(struct aggnet_cast *c)
{
	uint32_t why = AGGNET_R_MISMATCH;
	struct aggnet_check check = {};
	struct aggnet_end end;
	socklen_t len = sizeof(check);

	memcpy(&end, c->message.bytes, sizeof(end));
	(void)getsockopt(c->conn.fd, SOL_AGGNET, AGGNET_SO_CHECK, &check, &len);
	if (end.records == c->bytes && (!check.whole || check.value == c->crc)) {
		c->ended = true;
		c->last = end.last;
		return 0;
	}
	(void)setsockopt(c->conn.fd, SOL_AGGNET, AGGNET_SO_ABORT, &why,
			 sizeof(why));
	conn_fail(&c->conn, -EBADMSG, "the stream differs from the root's");
	return conn_end(&c->conn, -EBADMSG);
}

/* Get a message, or only look at it. Return: bytes behind its head, or an errno */
static ssize_t cast_get(struct aggnet_cast *c, size_t len, int flags)
{
	ssize_t n;

	if (len > sizeof(c->message.bytes))
		len = sizeof(c->message.bytes);
	if (len < AGGNET_RECORD_MAX)
		len = AGGNET_RECORD_MAX;
	n = recv(c->conn.fd, &c->message, sizeof(c->message.head) + len,
		 MSG_DONTWAIT | flags);
	return n < 0 ? -errno : n - (ssize_t)sizeof(c->message.head);
}

ssize_t aggnet_cast_read(struct aggnet_cast *c, void *buf, size_t len)
{
	int err = c->conn.final;
	ssize_t n;

	if (!err && (c->root || len < AGGNET_RECORD_MAX))
		return conn_fail(&c->conn, -EINVAL, "read: %s", c->root ?
				 "the root has the stream" :
				 "the buffer is too short");
	while (!err && !c->ended) {
		err = conn_in_time(&c->conn);
		if (err)
			break;
		n = cast_get(c, 0, MSG_PEEK);
		if (n >= 0 && c->message.head.type == AGGNET_MSG_END) {
			err = cast_check(c);
			continue;
		}
		if (n >= 0)
			n = cast_get(c, len, 0);
		if (n > 0) {
			cast_count(c, c->message.bytes, (size_t)n);
			memcpy(buf, c->message.bytes, (size_t)n);
			return n;
		}
		err = cast_trouble(c, (int)n, POLLIN);
	}
	return err;
}

int aggnet_cast_commit(struct aggnet_cast *c)
{
	int err = c->conn.final;
	ssize_t n;

	if (!err && (c->root || !c->ended))
		return conn_fail(&c->conn, -EINVAL, "commit: %s", c->root ?
				 "the root has nothing to commit" :
				 "the stream has not ended");
	while (!err && !c->taken) {
		n = cast_get(c, 0, 0);
		if (n >= 0)
			c->taken = true;
		else
			err = cast_trouble(c, (int)n, POLLIN);
	}
	return err;
}

int aggnet_cast_fd(const struct aggnet_cast *c)
{
	return conn_fd(&c->conn);
}

int aggnet_cast_status(struct aggnet_cast *c, struct aggnet_status *st)
{
	return conn_status(&c->conn, st);
}

const char *aggnet_cast_error(const struct aggnet_cast *c)
{
	return c ? c->conn.error : strerror(ENOMEM);
}

struct conn *cast_conn(struct aggnet_cast *c)
{
	return &c->conn;
}

bool cast_is_last(const struct aggnet_cast *c)
{
	return c->last;
}
