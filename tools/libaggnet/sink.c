// SPDX-License-Identifier: GPL-2.0
/* Sink: reads the partial aggregates of one tree, and merges and checks them. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/vector.h"
#include "aggnet_data.h"
#include "conn.h"
#include "fingerprint.h"
#include "merge.h"
#include "record.h"
#include "result.h"
#include "sink.h"
#include "stream.h"

#define KEY_SHOWN	40	/* bytes of a key in a sentence, at most */

/**
 * struct sink - the receiver of a transfer
 * @conn: the socket
 * @merge: what has been read, merged
 * @stream: what has been read of a sorted transfer that is streamed
 * @lines: of it that have been handed out
 * @stale: lines that are void, and the caller does not know
 * @partial: blocks of a vector may be missing
 * @wraps: values may not fit their type
 * @best: what the last line has kept
 * @fingerprint: of what a streamed transfer has handed out
 * @begun: it has begun
 * @whole: the end mark has been seen, the result is complete and fits
 * @checked: and has the fingerprint of what the sources gave
 * @committed: the end mark has been taken
 * @result: of the end mark
 * @absent: sources that it names as left out
 * @named: how many
 * @message: as read
 */
struct sink {
	struct conn conn;
	struct merge merge;
	struct stream stream;
	uint64_t lines;
	bool stale;
	bool partial;
	bool wraps;
	struct aggnet_best best[AGGNET_K_MAX];
	struct fingerprint fingerprint;
	bool begun;
	bool whole;
	bool checked;
	bool committed;
	struct aggnet_result result;
	struct in_addr absent[AGGNET_ABSENT_MAX];
	size_t named;
	uint8_t message[65536];
};

int sink_open(struct sink **sink, struct in_addr receiver,
		     uint32_t job, const struct aggnet_options *opt)
{
	struct sink *k = calloc(1, sizeof(*k));

	*sink = k;
	if (!k)
		return -ENOMEM;
	return conn_open(&k->conn, true, receiver, job, opt);
}

/* Drop what was read: it belongs to an epoch that is over. */
static void sink_reset(struct sink *k)
{
	merge_free(&k->merge);
	stream_free(&k->stream);
	k->stale |= k->lines > 0;
	k->lines = 0;
	memset(&k->result, 0, sizeof(k->result));
	k->begun = false;
	k->whole = false;
	k->checked = false;
}

/* --- messages ------------------------------------------------------------- */

static int sink_malformed(struct sink *k, const char *what)
{
	conn_fail(&k->conn, -EBADMSG, "malformed message: %s", what);
	return conn_end(&k->conn, -EBADMSG);
}

static int sink_unmerged(struct sink *k, int err)
{
	if (err == -EBADMSG)
		return sink_malformed(k, "a value");
	if (err == -ENOMEM)
		conn_fail(&k->conn, err, "no memory for %zu keys", k->merge.n);
	else
		conn_fail(&k->conn, err, "cannot merge: %s", strerror(-err));
	return conn_end(&k->conn, err);
}

static int sink_merge(struct sink *k, const uint8_t *data, size_t len,
		      uint32_t records)
{
	struct record rec;
	size_t size;
	int err;

	k->merge.shape = conn_shape(&k->conn);
	for (; len; data += size, len -= size, records--) {
		size = record_get(data, len, &rec);
		if (!size || !records)
			return sink_malformed(k, "its records");
		err = merge_add(&k->merge, rec.key, rec.klen, rec.value,
				rec.vlen);
		if (err)
			return sink_unmerged(k, err);
	}
	return records ? sink_malformed(k, "too few records") : 0;
}

/*
 * A message with records, or one that voids earlier ones. @stream: they are
 * merged later.
 */
static int sink_message(struct sink *k, size_t len, bool stream)
{
	const struct aggnet_shape shape = conn_shape(&k->conn);
	const uint8_t *data = k->message + sizeof(struct aggnet_msg);
	struct aggnet_msg head;

	if (len < sizeof(head))
		return sink_malformed(k, "too short");
	memcpy(&head, k->message, sizeof(head));
	switch (head.type) {
	case AGGNET_MSG_RECORDS:
		len -= sizeof(head);
		if (!stream)
			return sink_merge(k, data, len, head.records);
		stream_feed(&k->stream, &shape, data, len, head.records);
		return 0;
	case AGGNET_MSG_RESET:
		sink_reset(k);
		return 0;
	}
	return sink_malformed(k, "unexpected type");
}

/* A key in a message; bytes that cannot be printed are escaped. */
static const char *key_text(const struct merge_entry *e, char *buf)
{
	size_t i, len = 0;

	for (i = 0; i < e->klen && i < KEY_SHOWN; i++) {
		if (isprint(e->key[i]) && e->key[i] != '\\')
			buf[len++] = e->key[i];
		else
			len += sprintf(buf + len, "\\x%02x", e->key[i]);
	}
	strcpy(buf + len, i < e->klen ? "..." : "");
	return buf;
}

/* Index in the whole vector of a block's first element. */
static uint64_t sink_offset(const struct sink *k, const struct merge_entry *e)
{
	const struct aggnet_status *st = &k->conn.status;
	uint64_t offset = result_offset(&k->merge, e);

	if (!st->stripes)
		return offset;
	return offset * st->stripes +
	       st->stripe * aggnet_vector_block(&k->merge.shape);
}

static int sink_overflow(struct sink *k, const struct merge_entry *e)
{
	char key[4 * KEY_SHOWN + 4];

	conn_abort(&k->conn, AGGNET_R_OVERFLOW);
	if (merge_dense(&k->merge))
		conn_fail(&k->conn, -EOVERFLOW,
			  "the value of element %llu or close behind it does not fit its type",
			  (unsigned long long)sink_offset(k, e));
	else
		conn_fail(&k->conn, -EOVERFLOW,
			  "the value of key '%s' does not fit its type",
			  key_text(e, key));
	return conn_end(&k->conn, -EOVERFLOW);
}

/* The absent sources are named behind the end mark. */
static int sink_read_absent(struct sink *k, const struct aggnet_end *end,
		       size_t len)
{
	size_t named = end->absent;

	if (named > AGGNET_ABSENT_MAX)
		named = AGGNET_ABSENT_MAX;
	if (len != named * sizeof(k->absent[0]))
		return sink_malformed(k, "absent sources");
	memcpy(k->absent, k->message + sizeof(struct aggnet_msg) +
	       sizeof(*end), len);
	k->named = named;
	return 0;
}

/*
 * A dense vector must have all of its blocks. Sources that end between two rounds give
 * the last one nothing.
 */
static int sink_vector(struct sink *k, const struct aggnet_end *end)
{
	uint32_t blocks;

	k->merge.shape = conn_shape(&k->conn);
	if (!merge_dense(&k->merge))
		return 0;
	blocks = aggnet_vector_blocks(&k->merge.shape);
	if (k->partial || k->merge.n == blocks ||
	    (end->round && end->last && !end->records && !k->merge.n))
		return 0;
	conn_fail(&k->conn, -EBADMSG, "only %zu of the vector's %u blocks came",
		  k->merge.n, blocks);
	return conn_end(&k->conn, -EBADMSG);
}

/* The end mark is next: is the result fit to be handed out? */
static int sink_whole(struct sink *k, size_t len)
{
	const struct merge_entry *e;
	struct aggnet_end end;
	struct aggnet_msg head;

	if (len < sizeof(head) + sizeof(end))
		return sink_malformed(k, "short end mark");
	memcpy(&head, k->message, sizeof(head));
	if (head.type != AGGNET_MSG_END)
		return sink_malformed(k, "unexpected type");
	memcpy(&end, k->message + sizeof(head), sizeof(end));
	if (sink_read_absent(k, &end, len - sizeof(head) - sizeof(end)))
		return k->conn.final;
	if (end.sources + (uint64_t)end.absent != end.of) {
		conn_fail(&k->conn, -EBADMSG, "only %u of %u sources came",
			  end.sources, end.of);
		return conn_end(&k->conn, -EBADMSG);
	}
	if (sink_vector(k, &end))
		return k->conn.final;
	e = k->wraps ? NULL : result_overflow(&k->merge);
	if (e)
		return sink_overflow(k, e);
	k->result = (struct aggnet_result){
		.sources = end.sources, .of = end.of,
		.partials = end.partials, .absent = end.absent,
		.records = end.records,
		.instance = end.instance, .attempt = end.attempt,
		.round = end.round, .last = end.last,
		.keys = merge_dense(&k->merge) && k->merge.n ?
						 k->merge.shape.elements :
						 k->merge.n + k->stream.keys,
	};
	memcpy(k->result.plan, k->conn.status.plan, sizeof(k->result.plan));
	k->whole = true;
	return 0;
}

/* --- the fingerprint ------------------------------------------------------- */

static void sink_begin(struct sink *k)
{
	const struct aggnet_shape shape = conn_shape(&k->conn);

	if (!k->begun)
		fingerprint_begin(&k->fingerprint, k->conn.fd, &shape);
	k->begun = true;
}

/* All of the result has been seen: is it what the sources gave? */
static int sink_check(struct sink *k)
{
	if (k->checked)
		return 0;
	sink_begin(k);
	fingerprint_result(&k->fingerprint, &k->merge);
	k->checked = fingerprint_holds(&k->fingerprint, k->conn.fd);
	if (k->checked)
		return 0;
	k->whole = false;
	conn_abort(&k->conn, AGGNET_R_MISMATCH);
	conn_fail(&k->conn, -EBADMSG,
		  "the result does not have the fingerprint of what the sources gave: a record was lost, doubled or changed on the way");
	return conn_end(&k->conn, -EBADMSG);
}

/* --- running -------------------------------------------------------------- */

static ssize_t sink_recv(struct sink *k, int flags)
{
	ssize_t n = recv(k->conn.fd, k->message, sizeof(k->message),
			 MSG_DONTWAIT | flags);

	return n < 0 ? -errno : n;
}

/* A call on the socket failed. Return: 0: try again */
static int sink_trouble(struct sink *k, int err)
{
	if (conn_may_retry(err))
		return conn_retry(&k->conn, err, POLLIN);
	err = conn_lost(&k->conn, err);
	if (!err)
		sink_reset(k);
	return err;
}

/* The next message. */
static int sink_read(struct sink *k, bool stream)
{
	ssize_t n;
	int err;

	err = conn_in_time(&k->conn) ?: conn_join(&k->conn);
	if (err)
		return err;
	/* Only the end mark can be peeked at. */
	n = sink_recv(k, MSG_PEEK);
	if (n >= 0)
		return sink_whole(k, n);
	if (n == -EOPNOTSUPP)
		n = sink_recv(k, 0);
	return n < 0 ? sink_trouble(k, n) : sink_message(k, n, stream);
}

int sink_run(struct sink *k)
{
	int err = k->conn.final;

	while (!err && !k->whole)
		err = sink_read(k, false);
	return err ? err : sink_check(k);
}

int sink_turn(struct sink *k, unsigned int most)
{
	int err = k->conn.final;

	for (; !err && !k->whole && most; most--)
		err = sink_read(k, false);
	if (err)
		return err;
	/* What has come is there at once. */
	k->conn.waits = POLLIN;
	return k->whole ? sink_check(k) : -EAGAIN;
}

static int sink_line(struct sink *k, struct aggnet_entry *entry)
{
	const struct merge_entry *e = &k->stream.entry;

	k->merge.shape = k->stream.shape;
	if (!result_get(&k->merge, e, 0, k->best, entry))
		return sink_overflow(k, e);
	sink_begin(k);
	fingerprint_accum(&k->fingerprint, e->key, e->klen,
			  merge_plain(&k->merge) ? (const void *)&e->value :
						   e->accum);
	k->lines++;
	return 1;
}

/* What was handed out is void. */
static int sink_stale(struct sink *k)
{
	k->stale = false;
	return conn_fail(&k->conn, -ESTALE, "a newer epoch has begun");
}

/* Be in an epoch, of a sorted transfer. */
static int sink_join_sorted(struct sink *k)
{
	int err = conn_join(&k->conn);

	if (err)
		return err;
	if (conn_shape(&k->conn).layout != AGGNET_LAYOUT_SORTED)
		return conn_fail(&k->conn, -EPROTOTYPE,
				 "the keys of this transfer come in no order");
	return k->stale ? sink_stale(k) : 0;
}

int sink_stream(struct sink *k, struct aggnet_entry *entry)
{
	int got, err = k->conn.final;

	while (!err) {
		got = stream_next(&k->stream, k->whole);
		if (got == -EBADMSG)
			return sink_malformed(k, "its records");
		if (got)
			return got > 0 ? sink_line(k, entry) :
			       conn_fail(&k->conn, got, "no memory for a line");
		if (k->whole)
			return sink_check(k);
		err = sink_join_sorted(k);
		if (!err)
			err = sink_read(k, true);
	}
	return err;
}

void sink_may_skip(struct sink *k)
{
	k->partial = true;
}

void sink_may_wrap(struct sink *k)
{
	k->wraps = true;
}

bool sink_is_whole(const struct sink *k)
{
	return k->whole;
}

bool sink_is_committed(const struct sink *k)
{
	return k->committed;
}

int sink_look(struct sink *k)
{
	ssize_t n;

	if (!k->whole || k->committed || k->conn.final)
		return k->conn.final;
	n = sink_recv(k, MSG_PEEK);
	return n >= 0 || n == -EAGAIN ? 0 : sink_trouble(k, n);
}

struct merge *sink_merged(struct sink *k)
{
	return &k->merge;
}

const struct aggnet_result *sink_result(const struct sink *k)
{
	return &k->result;
}

const struct in_addr *sink_absent(const struct sink *k,
					 size_t *n)
{
	*n = k->named;
	return k->absent;
}

/* The end mark is taken: is it the one of the result? */
static int sink_end(struct sink *k, size_t len)
{
	struct aggnet_end end;

	if (len < sizeof(struct aggnet_msg) + sizeof(end))
		return sink_malformed(k, "short end mark");
	memcpy(&end, k->message + sizeof(struct aggnet_msg), sizeof(end));
	if (end.instance != k->result.instance ||
	    end.attempt != k->result.attempt || end.round != k->result.round)
		return sink_malformed(k, "end mark of another epoch or round");
	k->committed = true;
	return 0;
}

int sink_commit(struct sink *k)
{
	struct aggnet_msg head;
	ssize_t n;
	int err;

	if (k->committed || k->conn.final)
		return k->conn.final;
	/* A stream is complete before it is compared with its fingerprint. */
	if (!k->checked)
		return conn_fail(&k->conn, -EINVAL, "there is no result yet");
	while ((n = sink_recv(k, 0)) < 0) {
		err = sink_trouble(k, n);
		if (err)
			return err;
		/* After another error the epoch is lost. */
		if (!conn_may_retry(n))
			return sink_stale(k);
	}
	if ((size_t)n < sizeof(head))
		return sink_malformed(k, "too short");
	memcpy(&head, k->message, sizeof(head));
	if (head.type == AGGNET_MSG_RESET) {
		sink_reset(k);
		return sink_stale(k);
	}
	if (head.type != AGGNET_MSG_END)
		return sink_malformed(k, "unexpected type");
	return sink_end(k, n);
}

int sink_round(struct sink *k)
{
	if (k->conn.final)
		return k->conn.final;
	if (!k->committed)
		return conn_fail(&k->conn, -EINVAL,
				 "the round before is not committed");
	if (k->result.last)
		return conn_fail(&k->conn, -EPIPE, "no round follows");
	sink_reset(k);
	k->committed = false;
	k->conn.rounds++;
	return 0;
}

/* --- the rest ------------------------------------------------------------- */

void sink_close(struct sink *k)
{
	bool over = k && k->committed &&
		    (k->result.last || !k->conn.status.persist);

	if (!k)
		return;
	conn_close(&k->conn, over ? AGGNET_R_NONE : AGGNET_R_RECEIVER);
	merge_free(&k->merge);
	stream_free(&k->stream);
	free(k);
}

struct conn *sink_conn(struct sink *k)
{
	return &k->conn;
}
