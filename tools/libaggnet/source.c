// SPDX-License-Identifier: GPL-2.0
/*
 * Source: the records that a local writer gives to one tree, kept so that they can be
 * replayed.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aggnet_data.h"
#include "conn.h"
#include "core/float_sum.h"
#include "core/vector.h"
#include "fingerprint.h"
#include "record.h"
#include "source.h"
#include "word.h"

#define BATCH	AGGNET_SEND_MAX

/**
 * struct source - a writer and the stream of its records
 * @conn: the socket
 * @spool: unlinked file with the stream's first @base bytes; -1: none
 * @spool_dir: its directory, NULL: the default; the caller's may be gone when it is made
 * @base: bytes of the stream before @batch
 * @filled: bytes in @batch
 * @sent: bytes of the stream that this epoch has taken
 * @records: taken from the caller
 * @resent: bytes that epochs which were lost had taken
 * @fingerprint: of what this epoch has taken
 * @shut: the end of the stream has been told
 * @round: that was the end of a round that another one follows
 * @done: the receiving application has the result
 * @last: key of the last record, if the transfer is sorted
 * @llen: its bytes, 0: there was none
 * @given: elements of a dense vector that the caller gave
 * @partial: blocks of the vector may be missing
 * @pending: of them, in @element: no record yet
 * @element: the next block, in the vector's type or as integers
 * @tried: length of the stream when sending was last tried
 * @replay: a piece read back from the spool
 * @room: size of @batch
 * @batch: the stream's end, not in the spool yet
 */
struct source {
	struct conn conn;
	int spool;
	char *spool_dir;
	uint64_t base;
	size_t filled;
	uint64_t sent;
	uint64_t records;
	uint64_t resent;
	struct fingerprint fingerprint;
	bool shut;
	bool round;
	bool done;
	uint8_t last[AGGNET_KEY_MAX];
	size_t llen;
	uint64_t given;
	bool partial;
	uint32_t pending;
	uint64_t element[AGGNET_BLOCK_ELEMENTS];
	uint64_t tried;
	uint8_t replay[BATCH];
	size_t room;
	uint8_t batch[];
};

/* An epoch has been joined: begin its fingerprint. */
static void source_measure(struct source *s)
{
	const struct aggnet_shape shape = conn_shape(&s->conn);

	if (s->conn.fd >= 0)
		fingerprint_begin(&s->fingerprint, s->conn.fd, &shape);
}

int source_open(struct source **source, struct in_addr receiver, uint32_t job,
		const struct aggnet_options *opt, size_t room)
{
	struct source *s = calloc(1, sizeof(*s) + BATCH + room);
	int err;

	*source = s;
	if (s && opt && opt->spool_dir) {
		s->spool_dir = strdup(opt->spool_dir);
		if (!s->spool_dir) {
			free(s);
			*source = s = NULL;
		}
	}
	if (!s)
		return -ENOMEM;
	s->spool = -1;
	s->room = BATCH + room;
	err = conn_open(&s->conn, false, receiver, job, opt);
	source_measure(s);
	return err;
}

/* --- spool ---------------------------------------------------------------- */

static int spool_fail(struct source *s, const char *what)
{
	int err = errno ? -errno : -EIO;

	conn_fail(&s->conn, err, "%s the spool of replays: %s", what,
		  strerror(-err));
	return conn_end(&s->conn, err);
}

static int spool_open(struct source *s)
{
	const char *dir = s->spool_dir;
	char *path;

	if (!dir)
		dir = getenv("TMPDIR");
	if (!dir)
		dir = "/var/tmp";
	s->spool = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->spool >= 0)
		return 0;
	/* Not every file system has unnamed files. */
	if (asprintf(&path, "%s/aggnet.XXXXXX", dir) < 0)
		return spool_fail(s, "making");
	s->spool = mkostemp(path, O_CLOEXEC);
	if (s->spool >= 0)
		unlink(path);
	free(path);
	return s->spool < 0 ? spool_fail(s, "making") : 0;
}

static int spool_check(struct source *s, size_t len)
{
	uint64_t max = s->conn.opt.spool_max ?: AGGNET_SPOOL_MAX_DEFAULT;

	if (s->base + len <= max)
		return 0;
	conn_fail(&s->conn, -EFBIG,
		  "the input is longer than the spool of replays may be, %llu bytes (spool_max)",
		  (unsigned long long)max);
	return conn_end(&s->conn, -EFBIG);
}

static int spool_write(struct source *s, size_t len)
{
	size_t done = 0;

	if (spool_check(s, len) || (s->spool < 0 && spool_open(s)))
		return s->conn.final;
	while (done < len) {
		ssize_t n = pwrite(s->spool, s->batch + done, len - done,
				   s->base + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return spool_fail(s, "writing");
		done += n;
	}
	return 0;
}

/* Make room in the batch: what has been sent of it goes to the spool. */
static int spool_batch(struct source *s)
{
	size_t len = s->sent > s->base ? s->sent - s->base : 0;
	int err = 0;

	if (len && !(s->conn.opt.flags & (AGGNET_OPT_REPLAY |
					  AGGNET_OPT_NO_REPLAY)))
		err = spool_write(s, len);
	if (err)
		return err;
	s->base += len;
	s->filled -= len;
	memmove(s->batch, s->batch + len, s->filled);
	return 0;
}

/* The part of the stream that follows what was sent. NULL: the end. */
static const uint8_t *spool_next(struct source *s, size_t *len)
{
	uint64_t left = s->base - s->sent;
	ssize_t n;

	if (s->sent >= s->base) {
		*len = s->base + s->filled - s->sent;
		return s->batch + (s->sent - s->base);
	}
	do {
		n = pread(s->spool, s->replay, left < BATCH ? left : BATCH,
			  s->sent);
	} while (n < 0 && errno == EINTR);
	if (n <= 0) {
		if (!n)
			errno = EIO;
		spool_fail(s, "reading");
		return NULL;
	}
	*len = n;
	return s->replay;
}

/* --- sending -------------------------------------------------------------- */

/* What the lost epoch has taken is not here any more. */
static int source_spent(struct source *s)
{
	int err = s->conn.broken;

	if (err == -ESTALE)
		err = conn_fail(&s->conn, -ECANCELED,
				"a newer epoch has begun, and the records are not kept (no replay)");
	return conn_end(&s->conn, err);
}

/* Join an epoch; what the last one had taken must be sent again. */
static int source_join(struct source *s)
{
	int err;

	if (s->conn.final || s->conn.fd >= 0)
		return s->conn.final;
	if (s->conn.opt.flags & AGGNET_OPT_NO_REPLAY && s->base)
		return source_spent(s);
	err = conn_join(&s->conn);
	if (err)
		return err;
	source_measure(s);
	s->resent += s->sent;
	s->sent = 0;
	s->shut = false;
	if (!(s->conn.opt.flags & AGGNET_OPT_REPLAY))
		return 0;
	s->base = 0;
	s->filled = 0;
	s->records = 0;
	s->llen = 0;
	s->given = 0;
	s->pending = 0;
	s->tried = 0;
	return conn_fail(&s->conn, -ESTALE,
			 "a newer epoch has begun: start over");
}

/* A call on the socket failed. Return: 0: try again */
static int source_trouble(struct source *s, int err, short events)
{
	if (conn_may_retry(err))
		return conn_retry(&s->conn, err, events);
	err = conn_lost(&s->conn, err);
	return err ? err : source_join(s);
}

/* Have the epoch take all of the stream so far. */
static int source_flush(struct source *s)
{
	const uint8_t *data;
	size_t len;
	ssize_t n;
	int err;

	err = source_join(s);
	s->tried = s->base + s->filled;
	while (!err && s->sent < s->base + s->filled) {
		if (conn_in_time(&s->conn))
			return s->conn.final;
		data = spool_next(s, &len);
		if (!data)
			return s->conn.final;
		n = send(s->conn.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0) {
			err = source_trouble(s, -errno, POLLOUT);
			continue;
		}
		fingerprint_records(&s->fingerprint, data, n);
		s->sent += n;
	}
	return err;
}

uint64_t source_pending(const struct source *s)
{
	return s->base + s->filled - s->sent;
}

bool source_is_due(const struct source *s)
{
	return s->base + s->filled - s->tried >= BATCH;
}

int source_push(struct source *s)
{
	int err = source_flush(s);

	return err == -EAGAIN ? 0 : err;
}

/* Have room for a record of any size. */
static int source_make_room(struct source *s)
{
	int err, flushed;

	if (s->filled + AGGNET_RECORD_MAX <= s->room)
		return 0;
	flushed = source_flush(s);
	if (flushed && flushed != -EAGAIN)
		return flushed;
	err = spool_batch(s);
	if (err)
		return err;
	return s->filled + AGGNET_RECORD_MAX <= s->room ? 0 : flushed;
}

/* In a sorted transfer no key sorts before the one that was given last. */
static int source_order(struct source *s, const void *key, size_t klen)
{
	if (s->conn.status.layout != AGGNET_LAYOUT_SORTED)
		return 0;
	if (s->llen && record_compare(key, klen, s->last, s->llen) < 0)
		return conn_fail(&s->conn, -EILSEQ,
				 "record %llu is out of order: its key sorts before the last one's",
				 (unsigned long long)s->records + 1);
	memcpy(s->last, key, klen);
	s->llen = klen;
	return 0;
}

/* Check whether a record may follow, and make room for it. */
static int source_begin(struct source *s, const void *key, size_t klen)
{
	int err = s->conn.final;

	if (err)
		return err;
	if (!klen || klen > AGGNET_KEY_MAX)
		return conn_fail(&s->conn, -EINVAL,
				 "a key of %zu bytes: 1 to %d are allowed",
				 klen, AGGNET_KEY_MAX);
	if (s->shut || s->done)
		return conn_fail(&s->conn, -EPIPE, "the source is finished");
	err = source_make_room(s);
	return err ? err : source_order(s, key, klen);
}

static int source_wrote(struct source *s, size_t size)
{
	s->filled += size;
	s->records++;
	return 0;
}

/* The transfer takes other values; while it is repaired that is unknown. */
static int source_takes(struct source *s, bool real, bool pairs,
			bool dense)
{
	const struct aggnet_status *st = &s->conn.status;
	bool keeps = st->function == AGGNET_FN_TOPK ||
		     st->function == AGGNET_FN_NEAREST;

	if (aggnet_vtype_float(st->vtype) != real)
		return conn_fail(&s->conn, -EPROTOTYPE,
				 "the values of this transfer are %s",
				 real ? "integers" : "reals");
	if (keeps != pairs)
		return conn_fail(&s->conn, -EPROTOTYPE,
				 "the values of this transfer have %s id",
				 pairs ? "no" : "an");
	if ((st->layout == AGGNET_LAYOUT_DENSE) != dense)
		return conn_fail(&s->conn, -EPROTOTYPE,
				 "this transfer is of %s", dense ?
				 "keys and values" : "a vector's elements");
	return 0;
}

static int source_range(struct source *s, int64_t value)
{
	if (s->conn.status.vtype != AGGNET_VTYPE_INT32 ||
	    value == (int32_t)value)
		return 0;
	return conn_fail(&s->conn, -ERANGE, "value %lld does not fit 32 bits",
			 (long long)value);
}

/* Narrowed to a float it must not become infinite. */
static int source_real_range(struct source *s, double value)
{
	if (s->conn.status.vtype != AGGNET_VTYPE_FLOAT32 || !isfinite(value) ||
	    isfinite((float)value))
		return 0;
	return conn_fail(&s->conn, -ERANGE, "value %g does not fit float32",
			 value);
}

static uint64_t real_bits(const struct source *s, double value)
{
	float single = (float)value;
	uint32_t bits32;
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	memcpy(&bits32, &single, sizeof(bits32));
	return s->conn.status.vtype == AGGNET_VTYPE_FLOAT64 ? bits : bits32;
}

int source_add(struct source *s, const void *key, size_t klen,
		      int64_t value)
{
	int err = source_takes(s, false, false, false);

	if (!err)
		err = source_range(s, value);
	if (!err)
		err = source_begin(s, key, klen);
	if (err)
		return err;
	return source_wrote(s, record_put(s->batch + s->filled, key, klen,
					  value));
}

int source_add_real(struct source *s, const void *key,
			   size_t klen, double value)
{
	size_t size = aggnet_float_bytes(s->conn.status.vtype);
	int err = source_takes(s, true, false, false);
	uint8_t buf[8];

	if (!err)
		err = source_real_range(s, value);
	if (!err)
		err = source_begin(s, key, klen);
	if (err)
		return err;
	word_put(buf, real_bits(s, value), size);
	return source_wrote(s, record_write(s->batch + s->filled, key, klen,
					    buf, size));
}

/* Bytes of each element of the pending block. */
static size_t block_width(const struct source *s)
{
	size_t size, width = 0;
	uint32_t i;

	if (aggnet_vtype_float(s->conn.status.vtype))
		return aggnet_float_bytes(s->conn.status.vtype);
	for (i = 0; i < s->pending; i++) {
		size = record_value_size((int64_t)s->element[i]);
		width = size > width ? size : width;
	}
	return width;
}

/* The pending elements become a record; behind the vector's end are zeros. */
static int source_block(struct source *s)
{
	const struct aggnet_shape shape = conn_shape(&s->conn);
	uint32_t i, klen, block = aggnet_vector_block(&shape);
	uint8_t key[4], value[AGGNET_VALUE_MAX] = { 0 };
	size_t width = block_width(s);
	int err = source_begin(s, "", 1);

	if (err)
		return err;
	klen = aggnet_vector_key_put(&shape, (s->given - 1) / block, key);
	for (i = 0; i < s->pending; i++)
		word_put(value + i * width, s->element[i], width);
	s->pending = 0;
	return source_wrote(s, record_write(s->batch + s->filled, key, klen,
					    value, block * width));
}

static int source_element(struct source *s, uint64_t bits)
{
	const struct aggnet_shape shape = conn_shape(&s->conn);
	int err = source_begin(s, "", 1);

	if (err)
		return err;
	if (s->given == shape.elements)
		return conn_fail(&s->conn, -ERANGE,
				 "the vector has no more than %llu elements",
				 (unsigned long long)s->given);
	if (s->pending == aggnet_vector_block(&shape))
		err = source_block(s);
	if (err)
		return err;
	s->element[s->pending++] = bits;
	s->given++;
	return 0;
}

int source_add_element(struct source *s, int64_t value)
{
	return source_takes(s, false, false, true) ?:
	       source_range(s, value) ?: source_element(s, (uint64_t)value);
}

int source_add_element_real(struct source *s, double value)
{
	return source_takes(s, true, false, true) ?:
	       source_real_range(s, value) ?:
	       source_element(s, real_bits(s, value));
}

/* The end of the stream: of a vector nothing may be missing. */
static int source_last(struct source *s, bool last)
{
	const struct aggnet_status *st = &s->conn.status;

	if (last && s->conn.rounds && !s->given)
		return s->conn.final;
	if (st->layout != AGGNET_LAYOUT_DENSE || s->conn.final || s->shut)
		return s->conn.final;
	if (!s->partial && s->given != st->elements)
		return conn_fail(&s->conn, -EINVAL,
				 "only %llu of the vector's %llu elements were given",
				 (unsigned long long)s->given,
				 (unsigned long long)st->elements);
	return s->pending ? source_block(s) : 0;
}

void source_may_skip(struct source *s)
{
	s->partial = true;
}

int source_skip(struct source *s, uint64_t element)
{
	int err = s->conn.final;

	if (!err && s->pending)
		err = source_block(s);
	if (!err)
		s->given = element;
	return err;
}

static int source_pair(struct source *s, const void *key, size_t klen,
		       uint64_t value, uint64_t id)
{
	int err = source_begin(s, key, klen);
	uint8_t buf[16];

	if (err)
		return err;
	word_put(buf, value, 8);
	word_put(buf + 8, id, 8);
	return source_wrote(s, record_write(s->batch + s->filled, key, klen,
					    buf, sizeof(buf)));
}

int source_add_pair(struct source *s, const void *key,
			   size_t klen, int64_t value, uint64_t id)
{
	return source_takes(s, false, true, false) ?:
	       source_pair(s, key, klen, (uint64_t)value, id);
}

int source_add_pair_real(struct source *s, const void *key,
				size_t klen, double value, uint64_t id)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return source_takes(s, true, true, false) ?:
	       source_pair(s, key, klen, bits, id);
}

/*
 * The end of the stream, of the @last round or of another, with its fingerprint.
 * Return: 0 or -errno
 */
static int source_shut(struct source *s, bool last)
{
	int err = fingerprint_give(&s->fingerprint, s->conn.fd);

	if (!err && last && shutdown(s->conn.fd, SHUT_WR))
		err = -errno;
	if (!err && !last && send(s->conn.fd, NULL, 0, MSG_EOR | MSG_DONTWAIT |
						       MSG_NOSIGNAL))
		err = -errno;
	s->shut = !err;
	s->round = !err && !last;
	return err;
}

/* Send the rest of the stream and wait for the receiver. */
static int source_complete(struct source *s, bool last)
{
	char byte;
	int err;

	while (!s->done) {
		err = source_last(s, last) ?: source_flush(s);
		if (err)
			return err;
		if (!s->shut)
			err = source_shut(s, last);
		if (!err) {
			s->done = recv(s->conn.fd, &byte, 1,
				       MSG_DONTWAIT) >= 0;
			if (s->done)
				break;
			err = -errno;
		}
		err = source_trouble(s, err, POLLIN);
		if (err)
			return err;
	}
	return 0;
}

/* Begin the stream of the next round; the last one is not needed any more. */
static void source_next_round(struct source *s)
{
	s->conn.rounds++;
	s->base = 0;
	s->filled = 0;
	s->sent = 0;
	s->given = 0;
	s->shut = false;
	s->round = false;
	s->done = false;
	source_measure(s);
}

int source_round(struct source *s)
{
	int err = s->conn.final;

	if (err)
		return err;
	if (!s->conn.status.persist)
		return conn_fail(&s->conn, -EOPNOTSUPP,
				 "this transfer has no rounds: plan it with --persist");
	if (s->shut && !s->round)
		return conn_fail(&s->conn, -EPIPE,
				 "the last round has ended: no round follows");
	err = source_complete(s, false);
	if (!err)
		source_next_round(s);
	return err;
}

int source_finish(struct source *s)
{
	/* A round whose outcome a caller did not wait for comes first. */
	int err = s->round ? source_round(s) : 0;

	return err ?: source_complete(s, true);
}

/* --- the rest ------------------------------------------------------------- */

void source_close(struct source *s)
{
	bool over = s && s->shut && !s->round;

	if (!s)
		return;
	conn_close(&s->conn, over ? AGGNET_R_NONE : AGGNET_R_SENDER);
	if (s->spool >= 0)
		close(s->spool);
	free(s->spool_dir);
	free(s);
}

struct conn *source_conn(struct source *s)
{
	return &s->conn;
}

bool source_is_shut(const struct source *s)
{
	return s->shut;
}

bool source_is_done(const struct source *s)
{
	return s->done;
}

uint64_t source_records(const struct source *s)
{
	return s->records;
}

uint64_t source_resent(const struct source *s)
{
	return s->resent;
}
