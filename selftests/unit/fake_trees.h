/* SPDX-License-Identifier: GPL-2.0 */
/* The two trees under the groups of libaggnet, simulated by the test: the files of the
 * library, included here, make their socket calls to them. Each rank is a thread, and
 * calls wait for those of other ranks as they do on a node.
 */
#ifndef FAKE_TREES_H
#define FAKE_TREES_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "core/fingerprint.h"
#include "core/vector.h"
#include "open_fds.h"
#include "table_feed.h"

#define FAKE_UP		7u	/* job IDs */
#define FAKE_DOWN	8u
#define FAKE_BYTES	(1 << 20)
#define FAKE_FDS	256

/**
 * struct fake_tree - one of the trees
 * @shape: of its values
 * @down: its direction
 * @once: it is not persistent
 * @stripes: trees of the job
 * @sources: that the plan has
 * @limit: up: bytes that wait for the reader; down: that wait for the slowest reader
 * @gate: up: records after which sources wait for something that goes down, 0: none
 * @flip: invert a bit of the next piece that is read
 * @lost: errno of the next send(), once
 * @reason: it is aborted for this
 * @round: number of the present round
 * @last: it is the last one
 * @done: and it is done
 * @ended: up: sources that have ended the round; down: the root has
 * @taken: down: members that have taken the end mark
 * @joined: members
 * @root: the root has joined
 * @table: up: what the reader has not read
 * @waits: bytes that were sent for it
 * @records: up: that were sent in the round
 * @bytes: down: of the round
 * @len: how many
 * @check: of the round
 */
struct fake_tree {
	struct aggnet_shape shape;
	bool down;
	bool once;
	unsigned int stripes;
	unsigned int sources;
	size_t limit;
	uint64_t gate;
	bool flip;
	int lost;
	uint32_t reason;
	uint32_t round;
	bool last;
	bool done;
	unsigned int ended;
	unsigned int taken;
	unsigned int joined;
	bool root;
	struct aggnet_table table;
	size_t waits;
	uint64_t records;
	uint8_t bytes[FAKE_BYTES];
	size_t len;
	uint64_t check;
};

/**
 * struct fake_sock - a socket
 * @tree: that it has joined; NULL: none
 * @root: it is that of the root
 * @shut: it has shut down; a member: it has taken the last end mark
 * @rounds: that it has ended, or whose end mark it has taken
 * @told: whose outcome it has
 * @at: down: bytes of the round that it has read
 * @after: up: it gives nothing before this one has read so many bytes, and twice as many
 *	have been sent
 * @bytes: how many
 */
struct fake_sock {
	struct fake_tree *tree;
	bool root;
	bool shut;
	uint32_t rounds;
	uint32_t told;
	size_t at;
	const struct fake_sock *after;
	size_t bytes;
};

static struct fake_tree fake_tree[2];	/* up, down */
static struct fake_sock fake_sock[FAKE_FDS];
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fake_moved = PTHREAD_COND_INITIALIZER;

static int fake_fail(int err)
{
	errno = err;
	return -1;
}

static int fake_errno(uint32_t reason);

/* --- rounds ----------------------------------------------------------------------- */

static void fake_abort(struct fake_tree *t, uint32_t reason)
{
	if (!t->done && !t->reason)
		t->reason = reason;
}

static void fake_next_round(struct fake_tree *t)
{
	t->round++;
	t->done = t->last;
	t->ended = 0;
	t->taken = 0;
	t->records = 0;
	t->check = 0;
	t->len = 0;
}

static size_t fake_slowest(const struct fake_tree *t)
{
	size_t least = t->len;
	unsigned int i;

	for (i = 0; i < FAKE_FDS; i++)
		if (fake_sock[i].tree == t && !fake_sock[i].root &&
		    fake_sock[i].at < least)
			least = fake_sock[i].at;
	return t->joined < t->sources ? 0 : least;
}

static size_t fake_room(const struct fake_tree *t)
{
	size_t waits = t->down ? t->len - fake_slowest(t) : t->waits;

	return waits < t->limit ? t->limit - waits : 0;
}

static bool fake_has_outcome(const struct fake_sock *s)
{
	return s->told < s->rounds && s->told < s->tree->round;
}

/* Does it wait for what goes down? */
static bool fake_is_gated(const struct fake_sock *s)
{
	const struct fake_tree *t = s->tree;

	return (s->after && (s->after->at <= s->bytes ||
			     fake_tree[1].len < 2 * s->bytes)) ||
	       (t->gate && t->records >= t->gate && !fake_tree[1].len);
}

static bool fake_may_send(const struct fake_sock *s)
{
	return s->rounds == s->tree->round && fake_room(s->tree) &&
	       !fake_is_gated(s);
}

/* Do records leave that are not complete? */
static bool fake_drains(const struct fake_tree *t)
{
	return t->ended == t->sources || !fake_room(t);
}

static bool fake_may_read(const struct fake_sock *s)
{
	const struct fake_tree *t = s->tree;

	if (!t->down)
		return t->table.keys ? fake_drains(t) ||
				       aggnet_table_ripe(&t->table, 1) :
				       t->ended == t->sources;
	return s->rounds == t->round && (s->at < t->len || t->ended);
}

static bool fake_ready(const struct fake_sock *s, short events)
{
	bool reads = s->root != s->tree->down;

	if (s->tree->reason)
		return true;
	if (reads)
		return events & POLLIN && fake_may_read(s);
	return (events & POLLIN && fake_has_outcome(s)) ||
	       (events & POLLOUT && fake_may_send(s));
}

/* --- calls -------------------------------------------------------------------------- */

static int fake_socket(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	(void)protocol;
	return eventfd(0, EFD_CLOEXEC);
}

static int fake_join(int fd, const struct sockaddr *addr, bool root)
{
	const struct sockaddr_aggnet *to = (const void *)addr;
	struct fake_tree *t;
	int err = 0;

	if (to->sag_job - FAKE_UP > 1)
		return fake_fail(ENETUNREACH);
	t = &fake_tree[to->sag_job - FAKE_UP];
	pthread_mutex_lock(&fake_lock);
	if (t->reason)
		err = fake_errno(t->reason);
	else if (root && t->root)
		err = EADDRINUSE;
	else if (!root && t->joined == t->sources)
		err = EUSERS;
	if (!err) {
		fake_sock[fd] = (struct fake_sock){ .tree = t, .root = root };
		t->root |= root;
		t->joined += !root;
	}
	pthread_mutex_unlock(&fake_lock);
	return err ? fake_fail(err) : 0;
}

static int fake_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)len;
	return fake_join(fd, addr, true);
}

static int fake_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)len;
	return fake_join(fd, addr, false);
}

static void fake_end(struct fake_sock *s)
{
	struct fake_tree *t = s->tree;

	s->rounds++;
	t->ended++;
	t->last |= s->shut;
}

static ssize_t fake_send_records(struct fake_tree *t, const uint8_t *data,
				 size_t len)
{
	size_t used = 0, room = fake_room(t);
	unsigned int n = 0;

	for (; used < len && used < room && n < 40; n++)
		used += 2 + data[used] + data[used + 1];
	take(&t->table, data, used, n, n, true);
	t->waits += used;
	t->records += n;
	return used;
}

static ssize_t fake_send_bytes(struct fake_tree *t, const void *data, size_t len)
{
	size_t room = fake_room(t);

	if (len > room)
		len = room;
	if (t->len + len > FAKE_BYTES)
		abort();
	memcpy(t->bytes + t->len, data, len);
	t->len += len;
	return len;
}

/* Return: bytes or -errno */
static ssize_t fake_put(struct fake_sock *s, const void *data, size_t len,
			int flags)
{
	struct fake_tree *t = s->tree;
	int lost = t->lost;

	if (t->reason)
		return -fake_errno(t->reason);
	if (t->done || s->shut)
		return -EPIPE;
	if (lost) {
		t->lost = 0;
		return -lost;
	}
	if (s->rounds != t->round)
		return -EAGAIN;
	if (!(flags & MSG_NOSIGNAL) || (flags & MSG_EOR && t->once))
		abort();
	if (flags & MSG_EOR) {
		fake_end(s);
		return 0;
	}
	if (!fake_room(t) || fake_is_gated(s))
		return -EAGAIN;
	return t->down ? fake_send_bytes(t, data, len) :
			 fake_send_records(t, data, len);
}

static ssize_t fake_leave_lock(ssize_t ret)
{
	pthread_cond_broadcast(&fake_moved);
	pthread_mutex_unlock(&fake_lock);
	return ret < 0 ? fake_fail((int)-ret) : ret;
}

static ssize_t fake_send(int fd, const void *data, size_t len, int flags)
{
	pthread_mutex_lock(&fake_lock);
	return fake_leave_lock(fake_put(&fake_sock[fd], data, len, flags));
}

static int fake_shutdown(int fd, int how)
{
	struct fake_sock *s = &fake_sock[fd];
	int err = how == SHUT_WR ? 0 : EINVAL;

	pthread_mutex_lock(&fake_lock);
	if (s->tree->reason)
		err = fake_errno(s->tree->reason);
	if (!err && !s->shut) {
		s->shut = true;
		fake_end(s);
	}
	return (int)fake_leave_lock(-err);
}

static ssize_t fake_message(void *buf, uint32_t type, uint32_t n,
			    const void *data, size_t len)
{
	const struct aggnet_msg head = { .type = type, .records = n };

	memcpy(buf, &head, sizeof(head));
	memcpy((uint8_t *)buf + sizeof(head), data, len);
	return sizeof(head) + len;
}

static ssize_t fake_read_end(struct fake_sock *s, void *buf, bool peek)
{
	struct fake_tree *t = s->tree;
	const struct aggnet_end end = {
		.sources = t->sources, .of = t->sources,
		.records = t->down ? t->len : t->records, .round = t->round, .last = t->last,
		.instance = 1, .attempt = 1,
	};
	ssize_t n = fake_message(buf, AGGNET_MSG_END, 0, &end, sizeof(end));

	if (peek)
		return n;
	s->rounds++;
	s->at = 0;
	s->shut |= t->last;
	if (!t->down || ++t->taken == t->sources)
		fake_next_round(t);
	return n;
}

static ssize_t fake_read_records(struct fake_tree *t, void *buf)
{
	uint8_t data[PAYLOAD];
	u64 represents;
	u32 len, n;

	len = (fake_drains(t) ? aggnet_table_pack : aggnet_table_pack_ripe)
	      (&t->table, data, sizeof(data), 30, &n, &represents);
	if (t->flip)
		data[len - 1] ^= 1;
	t->flip = false;
	if (!t->table.keys)
		t->waits = 0;
	return fake_message(buf, AGGNET_MSG_RECORDS, n, data, len);
}

static ssize_t fake_read_bytes(struct fake_sock *s, void *buf, size_t len,
			       bool peek)
{
	struct fake_tree *t = s->tree;
	size_t n = t->len - s->at;
	ssize_t got;

	if (n > len - sizeof(struct aggnet_msg))
		n = len - sizeof(struct aggnet_msg);
	got = fake_message(buf, AGGNET_MSG_BYTES, 0, t->bytes + s->at, n);
	if (peek)
		return got;
	s->at += n;
	if (t->flip)
		((uint8_t *)buf)[got - 1] ^= 1;
	t->flip = false;
	return got;
}

/* Return: bytes or -errno */
static ssize_t fake_get(struct fake_sock *s, void *buf, size_t len, bool peek)
{
	struct fake_tree *t = s->tree;
	bool reads = s->root != t->down;

	if (!reads && fake_has_outcome(s)) {
		s->told += !peek;
		return 0;
	}
	if (t->reason)
		return -fake_errno(t->reason);
	if (!reads || !fake_may_read(s))
		return -EAGAIN;
	if (t->down ? s->at < t->len : t->table.keys) {
		if (!t->down && peek)
			return -EOPNOTSUPP;
		return t->down ? fake_read_bytes(s, buf, len, peek) :
				 fake_read_records(t, buf);
	}
	return fake_read_end(s, buf, peek);
}

static ssize_t fake_recv(int fd, void *buf, size_t len, int flags)
{
	pthread_mutex_lock(&fake_lock);
	return fake_leave_lock(fake_get(&fake_sock[fd], buf, len,
					flags & MSG_PEEK));
}

static struct aggnet_status fake_status(const struct fake_tree *t)
{
	return (struct aggnet_status){
		.function = t->shape.function, .vtype = t->shape.vtype,
		.layout = t->shape.layout, .scale = t->shape.scale,
		.elements = t->shape.elements, .instance = 1, .attempt = 1,
		.persist = !t->once, .stripes = t->stripes,
		.direction = t->down ? AGGNET_DIR_DOWN : AGGNET_DIR_UP,
		.reason = t->reason,
	};
}

static int fake_lookup(struct aggnet_lookup *look)
{
	if (look->addr.sag_job - FAKE_UP > 1)
		return fake_fail(ENETUNREACH);
	look->status = fake_status(&fake_tree[look->addr.sag_job - FAKE_UP]);
	return 0;
}

static int fake_getsockopt(int fd, int level, int name, void *val,
			   socklen_t *len)
{
	const struct fake_tree *t;
	struct aggnet_check check = { .key = { 3, 7 } };
	struct aggnet_status status;

	(void)level;
	(void)len;
	if (name == AGGNET_SO_LOOKUP)
		return fake_lookup(val);
	pthread_mutex_lock(&fake_lock);
	t = fake_sock[fd].tree;
	if (name == AGGNET_SO_CHECK) {
		check.kind = t->down ? AGGNET_FP_STREAM :
			     aggnet_fp_kind(&t->shape);
		check.value = t->check;
		check.whole = check.kind != AGGNET_FP_NONE;
		memcpy(val, &check, sizeof(check));
	} else if (t) {
		status = fake_status(t);
		memcpy(val, &status, sizeof(status));
	}
	return (int)fake_leave_lock(0);
}

static int fake_setsockopt(int fd, int level, int name, const void *val,
			   socklen_t len)
{
	struct fake_tree *t;
	uint32_t reason;
	uint64_t check;

	(void)level;
	(void)len;
	pthread_mutex_lock(&fake_lock);
	t = fake_sock[fd].tree;
	if (name == AGGNET_SO_ABORT) {
		memcpy(&reason, val, sizeof(reason));
		fake_abort(t, reason);
	} else if (name == AGGNET_SO_CHECK &&
		   fake_sock[fd].rounds != t->round) {
		return (int)fake_leave_lock(-EAGAIN);
	} else if (name == AGGNET_SO_CHECK) {
		memcpy(&check, val, sizeof(check));
		t->check = t->down ? check :
			   aggnet_fp_add(aggnet_fp_kind(&t->shape), t->check,
					 check);
	}
	return (int)fake_leave_lock(0);
}

static int fake_close(int fd)
{
	struct fake_sock *s = &fake_sock[fd];

	pthread_mutex_lock(&fake_lock);
	if (s->tree && !s->shut)
		fake_abort(s->tree, s->root == s->tree->down ?
			   AGGNET_R_SENDER : AGGNET_R_RECEIVER);
	*s = (struct fake_sock){};
	close(fd);
	return (int)fake_leave_lock(0);
}

/* Wait until one of them is ready; a test without time limits never has a time out. */
static int fake_poll(struct pollfd *fd, nfds_t n, int timeout)
{
	struct timespec end;
	int err = 0, ready = 0;
	nfds_t i;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += timeout / 1000;
	end.tv_nsec += timeout % 1000 * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&fake_lock);
	while (!ready && err != ETIMEDOUT) {
		for (i = 0; i < n; i++)
			ready += fake_ready(&fake_sock[fd[i].fd], fd[i].events);
		if (!ready && timeout < 0)
			pthread_cond_wait(&fake_moved, &fake_lock);
		else if (!ready)
			err = pthread_cond_timedwait(&fake_moved, &fake_lock,
						     &end);
	}
	pthread_mutex_unlock(&fake_lock);
	return ready;
}

/* --- set-up -------------------------------------------------------------------------- */

static void fake_trees_begin(uint8_t function, uint8_t vtype, uint64_t elements,
			     unsigned int ranks)
{
	struct fake_tree *up = &fake_tree[0], *down = &fake_tree[1];

	memset(fake_tree, 0, sizeof(fake_tree));
	memset(fake_sock, 0, sizeof(fake_sock));
	up->shape = (struct aggnet_shape){
		.function = function, .vtype = vtype, .elements = elements,
		.layout = AGGNET_LAYOUT_DENSE,
		.scale = vtype == AGGNET_VTYPE_FIXED ? 10 : 0,
	};
	up->sources = ranks;
	up->limit = 700;
	start(&up->table, &up->shape);
	up->table.expected = ranks;
	down->shape.layout = AGGNET_LAYOUT_BYTES;
	down->down = true;
	down->sources = ranks - 1;
	down->limit = 1000;
}

static void fake_trees_end(void)
{
	aggnet_table_free(&fake_tree[0].table);
}

#define socket		fake_socket
#define bind		fake_bind
#define connect		fake_connect
#define send		fake_send
#define recv		fake_recv
#define shutdown	fake_shutdown
#define getsockopt	fake_getsockopt
#define setsockopt	fake_setsockopt
#define poll(fd, n, ms)	fake_poll(fd, n, ms)
#define close		fake_close

#undef ARRAY_SIZE	/* the library has its own */
#include "../../tools/libaggnet/agree.c"
#include "../../tools/libaggnet/cast.c"
#include "../../tools/libaggnet/coll.c"
#include "../../tools/libaggnet/conn.c"
#include "../../tools/libaggnet/crc32c.c"
#include "../../tools/libaggnet/element.c"
#include "../../tools/libaggnet/fingerprint.c"
#include "../../tools/libaggnet/group.c"
#include "../../tools/libaggnet/group_down.c"
#include "../../tools/libaggnet/group_env.c"
#include "../../tools/libaggnet/group_parts.c"
#include "../../tools/libaggnet/group_up.c"
#include "../../tools/libaggnet/layout.c"
#include "../../tools/libaggnet/merge.c"
#include "../../tools/libaggnet/reason.c"
#include "../../tools/libaggnet/record.c"
#include "../../tools/libaggnet/result.c"
#include "../../tools/libaggnet/round.c"
#include "../../tools/libaggnet/sink.c"
#include "../../tools/libaggnet/source.c"
#include "../../tools/libaggnet/spec_gen.c"
#include "../../tools/libaggnet/stream.c"

static int fake_errno(uint32_t reason)
{
	return -aggnet_reason_errno(reason);
}

#endif /* FAKE_TREES_H */
