// SPDX-License-Identifier: GPL-2.0
/* The socket of a source or a sink through the epochs of its transfer. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"
#include "not_loaded.h"

#define MEND_DEFAULT_MS	5000
#define MEND_TICK_MS	20

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int conn_fail(struct conn *c, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->error, sizeof(c->error), fmt, ap);
	va_end(ap);
	return err;
}

int conn_end(struct conn *c, int err)
{
	c->final = err;
	return err;
}

/* Set the message from errno. */
static int conn_errno(struct conn *c, const char *what)
{
	int err = -errno;

	conn_fail(c, err, "%s: %s", what, strerror(-err));
	return conn_end(c, err);
}

/* --- joining -------------------------------------------------------------- */

static void conn_address(struct conn *c, struct in_addr receiver, uint32_t job)
{
	c->addr = (struct sockaddr_aggnet){
		.sag_family = AF_INET,
		.sag_receiver = receiver.s_addr,
		.sag_job = job,
	};
}

static const char *conn_transfer(const struct conn *c, char *buf, size_t size)
{
	struct in_addr receiver = { c->addr.sag_receiver };
	char text[INET_ADDRSTRLEN];

	if (receiver.s_addr == htonl(INADDR_ANY))
		snprintf(buf, size, "job %u", c->addr.sag_job);
	else
		snprintf(buf, size, "job %u of receiver %s", c->addr.sag_job,
			 inet_ntop(AF_INET, &receiver, text, sizeof(text)));
	return buf;
}

/* The sentence for a bind() or connect() that was refused. */
static int conn_refused(struct conn *c, int err)
{
	char name[64];

	conn_transfer(c, name, sizeof(name));
	if (c->status.reason != AGGNET_R_NONE) {
		aggnet_status_text(&c->status, c->error, sizeof(c->error));
		return err;
	}
	switch (err) {
	case -ENETUNREACH:
		return conn_fail(c, err,
				 "no entry for %s on this node: apply its plan here",
				 name);
	case -EACCES:
		return conn_fail(c, err,
				 "the entry for %s does not permit this user: plan it with --uid or --gid of this user",
				 name);
	case -EUSERS:
		return conn_fail(c, err, "all writers of %s are here already",
				 name);
	case -EALREADY:
		return conn_fail(c, err,
				 "%s is over on this node: make a new plan, or a persistent one, for another transfer",
				 name);
	case -EADDRINUSE:
		return conn_fail(c, err,
				 "%s has a receiving socket already: 'aggctl host sockets' names its process",
				 name);
	case -EADDRNOTAVAIL:
		return conn_fail(c, err, "this node is not %s of %s",
				 c->reader ? "the receiver" : "a source", name);
	}
	return conn_fail(c, err, "cannot join %s: %s", name, strerror(-err));
}

static void conn_read_status(struct conn *c, int fd)
{
	socklen_t len = sizeof(c->status);

	/* What an older module does not report is 0. */
	memset(&c->status, 0, sizeof(c->status));
	(void)getsockopt(fd, SOL_AGGNET, AGGNET_SO_STATUS, &c->status, &len);
}

static int conn_look(const struct conn *c, int fd, struct aggnet_status *st)
{
	struct aggnet_lookup look = { .addr = c->addr };
	socklen_t len = sizeof(look);

	if (getsockopt(fd, SOL_AGGNET, AGGNET_SO_LOOKUP, &look, &len))
		return -errno;
	*st = look.status;
	return 0;
}

struct aggnet_shape status_shape(const struct aggnet_status *st)
{
	return (struct aggnet_shape){
		.function = st->function, .vtype = st->vtype,
		.layout = st->layout, .scale = st->scale, .k = st->k,
		.elements = st->elements,
	};
}

uint32_t status_stripes(const struct aggnet_status *st)
{
	return st->stripes ?: 1;
}

bool status_is_stripe(const struct aggnet_status *st, uint32_t stripe,
		      uint32_t stripes)
{
	return st->stripe == stripe && status_stripes(st) == stripes;
}

/*
 * A handle that never joined has given and read nothing of @lost. Two plans that
 * were made at once may have one instance.
 */
static bool conn_same_plan(const struct conn *c,
			   const struct aggnet_status *lost,
			   const struct aggnet_status *now)
{
	return !c->joined ||
	       (now->instance == lost->instance &&
		!memcmp(now->plan, lost->plan, sizeof(now->plan)));
}

static bool conn_same_shape(const struct aggnet_status *lost,
			    const struct aggnet_status *now)
{
	const struct aggnet_shape x = status_shape(lost), y = status_shape(now);

	return aggnet_shape_equal(&x, &y);
}

/*
 * Values were checked for the shape of @lost, and keys divided by its number of
 * stripes, joined or not.
 */
static bool conn_same(const struct conn *c, const struct aggnet_status *lost,
		      const struct aggnet_status *now)
{
	return conn_same_plan(c, lost, now) && conn_same_shape(lost, now) &&
	       status_is_stripe(now, lost->stripe, status_stripes(lost));
}

/*
 * The entry belongs to another transfer; what was given or read belongs to the
 * one that is over. -ESTALE would make callers start again.
 */
static int conn_other(struct conn *c, const struct aggnet_status *lost,
		      const struct aggnet_status *now)
{
	char name[64];

	conn_transfer(c, name, sizeof(name));
	if (conn_same_plan(c, lost, now) && conn_same_shape(lost, now))
		conn_fail(c, -ECANCELED,
			  "%s is stripe %u of %u now, and was %u of %u: open it again",
			  name, now->stripe + 1, status_stripes(now),
			  lost->stripe + 1, status_stripes(lost));
	else if (conn_same_plan(c, lost, now))
		conn_fail(c, -ECANCELED,
			  "%s has another function or type of values now",
			  name);
	else if (now->instance == lost->instance)
		conn_fail(c, -ECANCELED,
			  "%s was planned anew: another plan of instance %u",
			  name, now->instance);
	else
		conn_fail(c, -ECANCELED,
			  "%s was planned anew: instance %u in place of %u",
			  name, now->instance, lost->instance);
	return conn_end(c, -ECANCELED);
}

static int conn_socket(struct conn *c)
{
	int err, fd = socket(AF_INET, SOCK_RDM | SOCK_CLOEXEC, IPPROTO_AGGNET);

	if (fd >= 0)
		return fd;
	err = -errno;
	if (err == -ESOCKTNOSUPPORT || err == -EPROTONOSUPPORT)
		return conn_fail(c, err, NOT_LOADED);
	return conn_fail(c, err, "socket: %s", strerror(-err));
}

/*
 * A socket that has joined is a member: closing it aborts the transfer. So read
 * the epoch before joining, and let the socket join only this one.
 */
static int conn_follow(struct conn *c, int fd, const struct aggnet_status *lost)
{
	struct aggnet_status now;
	struct aggnet_epoch only;
	int err = conn_look(c, fd, &now);

	if (err) {
		memset(&c->status, 0, sizeof(c->status));
		return conn_refused(c, err);
	}
	if (!conn_same(c, lost, &now))
		return conn_other(c, lost, &now);
	only = (struct aggnet_epoch){ now.instance, now.attempt };
	if (setsockopt(fd, SOL_AGGNET, AGGNET_SO_EPOCH, &only, sizeof(only)))
		return conn_errno(c, "naming the epoch");
	return 0;
}

static int conn_join_fd(struct conn *c, int fd,
			const struct aggnet_status *lost)
{
	const struct sockaddr *addr = (const struct sockaddr *)&c->addr;
	int err = lost ? conn_follow(c, fd, lost) : 0;

	if (err)
		return err;
	if (c->reader)
		err = bind(fd, addr, sizeof(c->addr)) ? -errno : 0;
	else
		err = connect(fd, addr, sizeof(c->addr)) ? -errno : 0;
	conn_read_status(c, fd);
	return err ? conn_refused(c, err) : 0;
}

/* @lost: status of the epoch before, or of an aborted entry; NULL: none */
static int conn_try(struct conn *c, const struct aggnet_status *lost)
{
	int err, fd = conn_socket(c);

	if (fd < 0)
		return fd;
	err = conn_join_fd(c, fd, lost);
	if (err) {
		close(fd);
		return err;
	}
	c->fd = fd;
	c->replays += c->joined;
	c->joined = true;
	c->waits = c->reader ? POLLIN : POLLOUT;
	return 0;
}

/* How long a newer epoch may take to repair an abort; 0: none will come. */
static unsigned int conn_patience(const struct conn *c, int err)
{
	if (c->rounds)
		return 0;
	if (err == -ESTALE)
		return c->opt.repair_ms ? c->opt.repair_ms : MEND_DEFAULT_MS;
	if (err == -ETIMEDOUT || err == -ECONNRESET || err == -ECONNABORTED)
		return c->opt.repair_ms;
	/* A host that shuts down in order withdraws its entries. */
	if (c->status.reason == AGGNET_R_WITHDRAWN)
		return c->opt.repair_ms;
	return 0;
}

int conn_refusal(const struct aggnet_status *st,
		 const struct aggnet_options *opt)
{
	const struct conn c = { .opt = *opt, .status = *st };
	int err = st->state == AGGNET_TREE_DONE ? -EALREADY :
		  aggnet_reason_errno(st->reason);

	return conn_patience(&c, err) ? 0 : err;
}

static int conn_tick(struct conn *c)
{
	const struct itimerspec tick = {
		.it_value.tv_nsec = MEND_TICK_MS * 1000000L,
		.it_interval.tv_nsec = MEND_TICK_MS * 1000000L,
	};

	if (c->timer < 0)
		c->timer = timerfd_create(CLOCK_MONOTONIC,
					  TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->timer < 0 || timerfd_settime(c->timer, 0, &tick, NULL))
		return conn_errno(c, "timer");
	return 0;
}

/* The epoch is lost: conn_join() waits for the next one. */
static int conn_mend(struct conn *c, int err)
{
	c->broken = err;
	c->waits = POLLIN;
	memcpy(c->why, c->error, sizeof(c->why));
	c->mend_by = now_ms() + conn_patience(c, err);
	return conn_tick(c);
}

void conn_restart(struct conn *c)
{
	if (c->opt.timeout_ms)
		c->deadline = now_ms() + c->opt.timeout_ms;
}

void conn_init(struct conn *c, bool reader, struct in_addr receiver,
	       uint32_t job, const struct aggnet_options *opt)
{
	memset(c, 0, sizeof(*c));
	c->fd = -1;
	c->timer = -1;
	c->owner = getpid();
	c->reader = reader;
	if (opt)
		c->opt = *opt;
	conn_address(c, receiver, job);
	conn_restart(c);
}

int conn_begin(struct conn *c)
{
	int err = conn_try(c, NULL);

	if (!err)
		return 0;
	if (c->status.reason != AGGNET_R_NONE && conn_patience(c, err))
		return conn_mend(c, err);
	return conn_end(c, err == -ESTALE && c->rounds ? -ECANCELED : err);
}

int conn_open(struct conn *c, bool reader, struct in_addr receiver,
	      uint32_t job, const struct aggnet_options *opt)
{
	conn_init(c, reader, receiver, job, opt);
	return conn_begin(c);
}

static int conn_raise(const struct conn *c, enum aggnet_reason why)
{
	uint32_t reason = why;

	return setsockopt(c->fd, SOL_AGGNET, AGGNET_SO_ABORT, &reason,
			  sizeof(reason)) ? -errno : 0;
}

void conn_close(struct conn *c, enum aggnet_reason why)
{
	if (c->fd >= 0 && why != AGGNET_R_NONE && c->owner == getpid())
		conn_raise(c, why);
	if (c->fd >= 0)
		close(c->fd);
	if (c->timer >= 0)
		close(c->timer);
	c->fd = -1;
	c->timer = -1;
}

/* --- waiting -------------------------------------------------------------- */

int conn_fd(const struct conn *c)
{
	return c->fd >= 0 ? c->fd : c->timer;
}

static int conn_late(struct conn *c)
{
	conn_fail(c, -ETIMEDOUT, "not over after %g s on this node",
		  c->opt.timeout_ms / 1000.0);
	return conn_end(c, -ETIMEDOUT);
}

int conn_in_time(struct conn *c)
{
	return c->deadline && now_ms() >= c->deadline ? conn_late(c) : 0;
}

int conn_left_ms(const struct conn *c)
{
	int64_t left = c->deadline - now_ms();

	if (!c->deadline)
		return -1;
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

int conn_wait(struct conn *c, short events)
{
	struct pollfd pfd = { .fd = conn_fd(c), .events = events };
	int left = conn_left_ms(c);

	c->waits = events;
	if (!left)
		return conn_late(c);
	if (c->opt.flags & AGGNET_OPT_NONBLOCK)
		return conn_fail(c, -EAGAIN, "would have to wait");
	if (poll(&pfd, 1, left) >= 0)
		return 0;
	if (errno != EINTR)
		return conn_errno(c, "poll");
	return conn_fail(c, -EINTR, "interrupted");
}

int conn_retry(struct conn *c, int err, short events)
{
	if (err == -EINTR)
		return conn_fail(c, err, "interrupted");
	if (err == -ENOMEM)
		return conn_fail(c, err,
				 "the kernel has no memory for this call: try again");
	return conn_wait(c, events);
}

bool conn_may_retry(int err)
{
	return err == -EINTR || err == -EAGAIN || err == -ENOMEM;
}

/* --- epochs --------------------------------------------------------------- */

int conn_lost(struct conn *c, int err)
{
	conn_read_status(c, c->fd);
	if (c->status.reason != AGGNET_R_NONE)
		aggnet_status_text(&c->status, c->error, sizeof(c->error));
	else
		conn_fail(c, err, "%s", strerror(-err));
	/* -ESTALE would make callers start again, but rounds are done. */
	if (!conn_patience(c, err))
		return conn_end(c, err == -ESTALE ? -ECANCELED : err);
	close(c->fd);
	c->fd = -1;
	return conn_mend(c, err);
}

/* Refusals that will not change with the next epoch. */
static bool conn_hopeless(int err)
{
	return err == -EACCES || err == -ESOCKTNOSUPPORT ||
	       err == -EPROTONOSUPPORT || err == -EMFILE || err == -ENFILE;
}

int conn_join(struct conn *c)
{
	struct aggnet_status lost = c->status;
	uint64_t ticks;
	int err;

	while (c->fd < 0) {
		err = conn_try(c, &lost);
		if (!err)
			break;
		if (c->final || conn_hopeless(err))
			return conn_end(c, err);
		/* Report the reason for which the epoch ended. */
		c->status = lost;
		memcpy(c->error, c->why, sizeof(c->error));
		/*
		 * -ESTALE would tell callers to start again, but this is the
		 * end.
		 */
		if (now_ms() >= c->mend_by)
			return conn_end(c, c->broken == -ESTALE ? -ETIMEDOUT :
							  c->broken);
		if (read(c->timer, &ticks, sizeof(ticks)) < 0 &&
		    errno != EAGAIN)
			return conn_errno(c, "timer");
		err = conn_wait(c, POLLIN);
		if (err)
			return err;
	}
	return 0;
}

/* --- the rest ------------------------------------------------------------- */

/* The kernel's rule; while waiting for a repair there is no socket to ask. */
static bool conn_may_abort(const struct conn *c, enum aggnet_reason why)
{
	if (c->reader)
		return why == AGGNET_R_USER || why == AGGNET_R_RECEIVER ||
		       why == AGGNET_R_OVERFLOW || why == AGGNET_R_MISMATCH;
	return why == AGGNET_R_USER || why == AGGNET_R_SENDER;
}

int conn_abort(struct conn *c, enum aggnet_reason why)
{
	int err;

	if (c->final)
		return c->final;
	if (!conn_may_abort(c, why))
		return conn_fail(c, -EINVAL, "abort: a %s gives no reason %u",
				 c->reader ? "receiver" : "source", why);
	/* Between two epochs there is no other member to notify. */
	if (c->fd >= 0) {
		err = conn_raise(c, why);
		if (err)
			return conn_fail(c, err, "abort: %s", strerror(-err));
		conn_read_status(c, c->fd);
	}
	conn_fail(c, -ECANCELED, "aborted here: %s", aggnet_reason_text(why));
	conn_end(c, aggnet_reason_errno(why));
	return 0;
}

int conn_status(struct conn *c, struct aggnet_status *st)
{
	if (c->fd >= 0)
		conn_read_status(c, c->fd);
	*st = c->status;
	return st->state || st->instance || st->reason ? 0 : -ENOTCONN;
}

int aggnet_lookup(struct in_addr receiver, uint32_t job,
		  struct aggnet_status *st)
{
	struct conn c = {};
	int fd, err;

	conn_address(&c, receiver, job);
	memset(st, 0, sizeof(*st));
	fd = conn_socket(&c);
	if (fd < 0)
		return fd;
	err = conn_look(&c, fd, st);
	close(fd);
	return err;
}

struct aggnet_shape conn_shape(const struct conn *c)
{
	return status_shape(&c->status);
}
