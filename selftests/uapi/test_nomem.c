// SPDX-License-Identifier: GPL-2.0
/* Each allocation of a transfer between two nodes fails once, including those
 * of the receive path, of an abort, of a reset and of each socket call: the
 * result is exact, or every application gets an error. Needs a kernel with
 * fault injection; skipped on others.
 */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#include "two_nodes.h"
#include "fault.h"

#define MOST	600	/* no script makes more allocations */
#define WAIT	60000	/* ms until whatever is awaited */

FIXTURE(nomem) {
	bool able;
	struct two_nodes on;
	struct message m;
};

FIXTURE_SETUP(nomem)
{
	self->able = fault_module.able() && fault_thread.able();
	ASSERT_EQ(0, two_nodes_up(&self->on));
	ASSERT_EQ(0, attach(self->on.b, "vb", true));
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	ASSERT_EQ(0, attach(self->on.a, "va", true));
}

FIXTURE_TEARDOWN(nomem)
{
	two_nodes_down(&self->on);
}

/*
 * --- steps of a script; a step without memory is repeated once
 * ----------------
 */

static bool no_memory(int err)
{
	/* socket() turns ENOMEM into ENFILE. */
	return err == -ENOMEM || err == -ENOBUFS || err == -ENFILE;
}

static int added(struct aggnet_ctl *ctl, uint32_t writers)
{
	struct aggnet_tree_info e = entry(writers);
	int err;

	e.has |= AGGNET_HAS(AGGNET_A_TREE_GIVE_UP);
	e.give_up = 30000;
	err = aggnet_tree_add(ctl, &e, false);
	if (no_memory(err))
		err = aggnet_tree_add(ctl, &e, false);
	/* The entry was added, and only the answer failed. */
	return err == -EEXIST ? 0 : err;
}

static int deleted(struct aggnet_ctl *ctl)
{
	uint64_t id = aggnet_incast_id(JOB, ip(NODE_A));
	int err = aggnet_tree_del(ctl, id);

	if (no_memory(err))
		err = aggnet_tree_del(ctl, id);
	return err == -ENOENT ? 0 : err;
}

static int member(int ns, bool reads)
{
	int fd;

	if (setns(ns, CLONE_NEWNET))
		return -1;
	fd = joined(reads);
	return fd < 0 && no_memory(-errno) ? joined(reads) : fd;
}

/* Does poll() return the events within WAIT? */
static bool ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, WAIT) == 1;
}

static int sent(int fd)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (!ready(fd, POLLOUT))
			return -ETIMEDOUT;
		if (!send_record(fd, "key", 7))
			return 0;
		if (errno != EAGAIN && !no_memory(-errno))
			return -errno;
	}
	return -errno;
}

/* Wait for the next message. Return: its length, 0: DONE, or -errno */
static ssize_t got(int fd, struct message *m)
{
	ssize_t len;
	int i;

	for (i = 0; i < 3; i++) {
		if (!ready(fd, POLLIN))
			return -ETIMEDOUT;
		len = receive(fd, m, MSG_DONTWAIT);
		if (len >= 0)
			return len;
		if (errno != EAGAIN && !no_memory(-errno))
			return -errno;
	}
	return -errno;
}

static uint64_t held(struct aggnet_ctl *ctl)
{
	struct aggnet_node_info node;

	return aggnet_node_get(ctl, &node) ? ~0ULL : node.memory_used;
}

/* Deleted trees free their memory a while later. */
static bool all_given_back(const struct two_nodes *on)
{
	int i;

	for (i = 0; i < WAIT / 10; i++) {
		if (!held(on->a) && !held(on->b))
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

/*
 * --- scenarios: the N-th allocation fails, see sweep()
 * --------------------------
 */

/* A transfer before its start: W sends, R receives. */
struct both {
	const struct two_nodes *on;
	int r;
	int w;
	struct message *m;
};

static int begin(struct both *x)
{
	int err = added(x->on->a, 0);

	if (!err)
		err = added(x->on->b, 1);
	if (err)
		return err;
	x->w = member(x->on->ns_b, false);
	x->r = x->w < 0 ? -1 : member(x->on->ns_a, true);
	return x->r < 0 ? -errno : 0;
}

/* Remove sockets and entries. Return: ERR, or the error of removing them */
static int over(struct both *x, int err)
{
	int a, b;

	if (x->r >= 0)
		close(x->r);
	if (x->w >= 0)
		close(x->w);
	a = deleted(x->on->a);
	b = deleted(x->on->b);
	return err ? err : a ? a : b;
}

static int exact_end(struct both *x)
{
	ssize_t len;

	if (shutdown(x->w, SHUT_WR))
		return -errno;
	len = got(x->r, x->m);
	if (len < 0)
		return len;
	if (only_value(x->m, len) != 7)
		return -EBADMSG;
	len = got(x->r, x->m);
	if (len < 0)
		return len;
	return x->m->head.type == AGGNET_MSG_END ? got(x->w, x->m) : -EBADMSG;
}

/* The result is exact although an allocation fails. */
static int transfer_is_exact(struct both *x, int nth)
{
	int err;

	fault_module.arm(nth);
	err = begin(x);
	if (!err)
		err = sent(x->w);
	return err ? err : exact_end(x);
}

/* The source closes without an end: the receiver gets an error. */
static int abort_is_told(struct both *x, int nth)
{
	int err = begin(x);

	if (err)
		return err;
	fault_module.arm(nth);
	err = sent(x->w);
	close(x->w);
	x->w = -1;
	if (err)
		return err;
	err = got(x->r, x->m);
	return err == -ECONNABORTED ? 0 : err < 0 ? err : -EBADMSG;
}

/* How many sources got an RST in a sweep. */
static unsigned int resets;

/*
 * The receiver's entry is deleted and added: the source gets an ABORT, or an
 * RST if the ABORT is lost.
 */
static int reset_is_told(struct both *x, int nth)
{
	int err = begin(x);

	if (!err)
		err = sent(x->w);
	if (err)
		return err;
	fault_module.arm(nth);
	err = deleted(x->on->a);
	if (!err)
		err = added(x->on->a, 0);
	if (err)
		return err;
	err = got(x->w, x->m);
	resets += err == -ECONNRESET;
	return err == -ECONNRESET || err == -ECANCELED ? 0 : err ?: -EBADMSG;
}

/* Run a scenario with its first allocation failing, then its second, ... until
 * it makes no more. Return: how many it makes, or -1
 */
static int sweep(const struct two_nodes *on, struct message *m,
		 int (*scenario)(struct both *x, int nth))
{
	bool struck = true;
	int nth, err;

	for (nth = 1; nth < MOST && struck; nth++) {
		struct both x = { .on = on, .r = -1, .w = -1, .m = m };

		err = over(&x, scenario(&x, nth));
		struck = fault_module.struck();
		fault_module.arm(0);
		if (err || !all_given_back(on)) {
			printf("# allocation %d: %s\n", nth,
			       err ? strerror(-err) : "memory is kept");
			return -1;
		}
	}
	return struck ? -1 : nth - 2;
}

TEST_F_TIMEOUT(nomem, receive_path, LONG)
{
	static int (*const scenarios[])(struct both *x, int nth) = {
		transfer_is_exact, abort_is_told, reset_is_told,
	};
	size_t i;
	int n;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	for (i = 0; i < ARRAY_SIZE(scenarios); i++) {
		n = sweep(&self->on, &self->m, scenarios[i]);
		EXPECT_LT(0, n) {
			TH_LOG("scenario %zu", i);
		}
		TH_LOG("scenario %zu: %d allocations", i, n);
	}
	/* The ABORT was lost at least once, and an RST replaced it. */
	EXPECT_LT(0, resets);
}

/*
 * --- a node between them, which forwards with its Bloom table
 * -----------------
 */

FIXTURE(between) {
	bool able;
	struct two_nodes on;
	struct message m;
};

static int forwards(struct aggnet_ctl *t)
{
	const struct in_addr a = ip("10.16.0.1");
	struct aggnet_link_info link = {
		.has = AGGNET_HAS(AGGNET_A_LINK_IFINDEX) |
		       AGGNET_HAS(AGGNET_A_LINK_NEIGHBOUR),
		.ifindex = if_nametoindex("ta"),
		.neighbour = a,
	};
	struct aggnet_tree_info e = {
		.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID) |
		       AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
		       AGGNET_HAS(AGGNET_A_TREE_SCHEME) |
		       AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX) |
		       AGGNET_HAS(AGGNET_A_TREE_LINK_NEIGHBOUR),
		.incast_id = aggnet_incast_id(JOB, ip(NODE_A)),
		.instance = 1,
		.scheme = AGGNET_SCHEME_BLOOM,
		.link_ifindex = link.ifindex,
		.link_neighbour = a,
	};
	int err = attach(t, "ta", true);

	err = err ? err : attach(t, "tb", true);
	err = err ? err : aggnet_link_add(t, &link);
	return err ? err : aggnet_tree_add(t, &e, false);
}

FIXTURE_SETUP(between)
{
	self->able = fault_module.able() && fault_thread.able();
	ASSERT_EQ(0, two_nodes_apart(&self->on));
	ASSERT_EQ(0, forwards(self->on.t)) {
		TH_LOG("%s", aggnet_ctl_error(self->on.t));
	}
}

FIXTURE_TEARDOWN(between)
{
	two_nodes_down(&self->on);
}

static uint64_t forwarded(struct aggnet_ctl *t)
{
	struct aggnet_port_info *port;
	uint64_t sum = 0;
	size_t i, n;

	if (aggnet_port_list(t, &port, &n))
		return 0;
	for (i = 0; i < n; i++)
		sum += port[i].forwarded;
	free(port);
	return sum;
}

TEST_F_TIMEOUT(between, forwarding, LONG)
{
	int n;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	n = sweep(&self->on, &self->m, transfer_is_exact);
	EXPECT_LT(0, n);
	EXPECT_LT(n, forwarded(self->on.t));
	TH_LOG("%d allocations, %llu packets forwarded", n,
	       (unsigned long long)forwarded(self->on.t));
}

/*
 * --- each call, including the kernel's own allocations for it ---------------
 */

static int call_socket(int fd)
{
	int new = new_socket();

	(void)fd;
	return new < 0 ? -errno : close(new);
}

static int call_connect(int fd)
{
	int new = new_socket();
	int err = -ENOMEM;

	(void)fd;
	if (new >= 0)
		err = join(new, NODE_A, JOB, false) ? -errno : 0;
	close(new);
	/*
	 * The failed socket closed without an end and has aborted the transfer.
	 */
	return err == -EUSERS ? 0 : err;
}

static int call_send(int fd)
{
	return send_record(fd, "key", 7) && errno != EAGAIN ? -errno : 0;
}

static int call_recv(int fd)
{
	static struct message m;

	return receive(fd, &m, MSG_DONTWAIT) < 0 && errno != EAGAIN ? -errno : 0;
}

static int call_status(int fd)
{
	struct aggnet_status st;
	socklen_t len = sizeof(st);

	return getsockopt(fd, SOL_AGGNET, AGGNET_SO_STATUS, &st, &len) ?
	       -errno : 0;
}

static int call_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : 0;
}

static int call_shutdown(int fd)
{
	return shutdown(fd, SHUT_WR) ? -errno : 0;
}

TEST_F_TIMEOUT(nomem, calls, LONG)
{
	static int (*const calls[])(int fd) = {
		call_socket, call_connect, call_send, call_recv, call_status,
		call_poll, call_shutdown,
	};
	int nth, err, w;
	bool struck;
	size_t i;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	ASSERT_EQ(0, added(self->on.b, 1));
	w = member(self->on.ns_b, false);
	ASSERT_LE(0, w);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		/*
		 * The first call allocates what the kernel keeps, such as
		 * pages.
		 */
		ASSERT_EQ(0, calls[i](w));
		for (nth = 1, struck = true; nth < MOST && struck; nth++) {
			fault_thread.arm(nth);
			err = calls[i](w);
			struck = fault_thread.struck();
			fault_thread.arm(0);
			EXPECT_TRUE(!err || (struck && no_memory(err))) {
				TH_LOG("call %zu, allocation %d: %s", i, nth,
				       strerror(-err));
			}
		}
		EXPECT_FALSE(struck);
		/* The call works again. */
		ASSERT_EQ(0, calls[i](w));
	}
	close(w);
	ASSERT_EQ(0, deleted(self->on.b));
	ASSERT_TRUE(all_given_back(&self->on));
}

TEST_HARNESS_MAIN
