// SPDX-License-Identifier: GPL-2.0
/* Transfers between two nodes while each allocation fails once, those of the
 * receive path included: the result is exact, or everybody gets an error. Needs
 * a kernel with fault injection; skipped on others.
 */
#include "member.h"
#include "fault.h"

#define MOST	600	/* allocations that a script makes */
#define LONG	1200	/* seconds: a debug kernel on a busy machine */
#define WAIT	60000	/* ms for anything that must come */

/*
 *	A 10.0.0.1 --- va 10.16.0.1/24 ==== vb 10.16.0.2/24 --- 10.0.0.2 B
 *	receiver                                               source
 */
FIXTURE(nomem) {
	bool able;
	struct aggnet_ctl *a;
	struct aggnet_ctl *b;
	int ns_a;
	int ns_b;
	int r;
	int w;
	struct message m;
};

static int configure(const char *commands)
{
	FILE *pipe = popen("ip -batch -", "w");

	if (!pipe)
		return -1;
	fputs(commands, pipe);
	return pclose(pipe);
}

static int attach(struct aggnet_ctl *ctl, const char *device)
{
	struct aggnet_port_info port = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX),
		.ifindex = if_nametoindex(device),
	};

	return aggnet_port_add(ctl, &port);
}

FIXTURE_SETUP(nomem)
{
	char text[512];

	self->able = fault_module.able() && fault_thread.able();
	self->b = make_node(NODE_B);
	ASSERT_NE(NULL, self->b);
	self->ns_b = open("/proc/self/ns/net", O_RDONLY);
	self->a = make_node(NODE_A);
	ASSERT_NE(NULL, self->a);
	self->ns_a = open("/proc/self/ns/net", O_RDONLY);
	snprintf(text, sizeof(text),
		 "link add name va type veth peer name vb netns /proc/%d/fd/%d\n"
		 "address add 10.16.0.1/24 dev va\n"
		 "link set va up\n"
		 "route add " NODE_B " via 10.16.0.2 dev va src " NODE_A "\n",
		 getpid(), self->ns_b);
	ASSERT_EQ(0, configure(text));
	ASSERT_EQ(0, attach(self->a, "va"));
	ASSERT_EQ(0, setns(self->ns_b, CLONE_NEWNET));
	ASSERT_EQ(0, configure("address add 10.16.0.2/24 dev vb\n"
			       "link set vb up\n"
			       "route add " NODE_A
			       " via 10.16.0.1 dev vb src " NODE_B "\n"));
	ASSERT_EQ(0, attach(self->b, "vb"));
	self->r = -1;
	self->w = -1;
}

FIXTURE_TEARDOWN(nomem)
{
	aggnet_ctl_close(self->a);
	aggnet_ctl_close(self->b);
	close(self->ns_a);
	close(self->ns_b);
}

/* --- the script: what fails for want of memory is tried once more ---------- */

static bool no_memory(int err)
{
	/* ENFILE is what socket() makes of it. */
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
	/* It was the answer that could not be made. */
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

/* Does it become so within WAIT? */
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

/* The next message, waited for; its length, 0: DONE, or -errno. */
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

/* A whole transfer. Return: 0 if it was exact, or -errno */
static int transfer_exact(struct aggnet_ctl *a, struct aggnet_ctl *b, int ns_a,
			  int ns_b, struct message *m)
{
	int r, w, err;
	ssize_t len;

	err = added(a, 0);
	err = err ? err : added(b, 1);
	if (err) {
		deleted(a);
		return err;
	}
	w = member(ns_b, false);
	r = member(ns_a, true);
	err = w < 0 || r < 0 ? -errno : sent(w);
	if (!err && shutdown(w, SHUT_WR))
		err = -errno;
	len = err ? err : got(r, m);
	if (len > 0 && only_value(m, len) != 7)
		err = -EBADMSG;
	else if (len > 0)
		len = got(r, m);
	if (!err && (len < 0 || m->head.type != AGGNET_MSG_END))
		err = len < 0 ? len : -EBADMSG;
	if (!err)
		err = got(w, m);
	close(r);
	close(w);
	len = deleted(a);
	return err ? err : len ? len : deleted(b);
}

static uint64_t held(struct aggnet_ctl *ctl)
{
	struct aggnet_node_info node;

	return aggnet_node_get(ctl, &node) ? ~0ULL : node.memory_used;
}

/* Trees give their memory back a while after they have gone. */
static bool all_given_back(struct aggnet_ctl *a, struct aggnet_ctl *b)
{
	int i;

	for (i = 0; i < WAIT / 10; i++) {
		if (!held(a) && !held(b))
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

TEST_F_TIMEOUT(nomem, transfer__is_exact, LONG)
{
	bool struck = true;
	int nth, err;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	for (nth = 1; nth < MOST && struck; nth++) {
		fault_module.arm(nth);
		err = transfer_exact(self->a, self->b, self->ns_a, self->ns_b,
				     &self->m);
		struck = fault_module.struck();
		fault_module.arm(0);
		EXPECT_EQ(0, err) {
			TH_LOG("allocation %d: %s", nth, strerror(-err));
		}
		ASSERT_TRUE(all_given_back(self->a, self->b));
	}
	EXPECT_FALSE(struck);
	TH_LOG("%d allocations", nth - 2);
}

/* The source goes without an end: both learn of it, whatever is lost. */
TEST_F_TIMEOUT(nomem, abort__is_told, LONG)
{
	bool struck = true;
	int nth;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	for (nth = 1; nth < MOST && struck; nth++) {
		ASSERT_EQ(0, added(self->a, 0));
		ASSERT_EQ(0, added(self->b, 1));
		self->w = member(self->ns_b, false);
		self->r = member(self->ns_a, true);
		ASSERT_LE(0, self->w);
		ASSERT_LE(0, self->r);
		fault_module.arm(nth);
		EXPECT_EQ(0, sent(self->w));
		close(self->w);
		EXPECT_EQ(-ECONNABORTED, got(self->r, &self->m));
		struck = fault_module.struck();
		fault_module.arm(0);
		close(self->r);
		ASSERT_EQ(0, deleted(self->a));
		ASSERT_EQ(0, deleted(self->b));
		ASSERT_TRUE(all_given_back(self->a, self->b));
	}
	EXPECT_FALSE(struck);
	TH_LOG("%d allocations", nth - 2);
}

/* The receiver's entry goes and comes: RST, and an error for the source. */
TEST_F_TIMEOUT(nomem, reset__is_told, LONG)
{
	bool struck = true;
	int nth;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	for (nth = 1; nth < MOST && struck; nth++) {
		ASSERT_EQ(0, added(self->a, 0));
		ASSERT_EQ(0, added(self->b, 1));
		self->w = member(self->ns_b, false);
		self->r = member(self->ns_a, true);
		ASSERT_EQ(0, sent(self->w));
		fault_module.arm(nth);
		ASSERT_EQ(0, deleted(self->a));
		ASSERT_EQ(0, added(self->a, 0));
		EXPECT_GT(0, got(self->w, &self->m));
		struck = fault_module.struck();
		fault_module.arm(0);
		close(self->r);
		close(self->w);
		ASSERT_EQ(0, deleted(self->a));
		ASSERT_EQ(0, deleted(self->b));
		ASSERT_TRUE(all_given_back(self->a, self->b));
	}
	EXPECT_FALSE(struck);
	TH_LOG("%d allocations", nth - 2);
}

/* --- each call, the kernel's own allocations for it included ---------------- */

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
	/* Closed without an end, it has aborted the transfer for the others. */
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
	int nth, err;
	bool struck;
	size_t i;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	ASSERT_EQ(0, added(self->b, 1));
	self->w = member(self->ns_b, false);
	ASSERT_LE(0, self->w);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		/* No page of its own is to be missing later. */
		ASSERT_EQ(0, calls[i](self->w));
		for (nth = 1, struck = true; nth < MOST && struck; nth++) {
			fault_thread.arm(nth);
			err = calls[i](self->w);
			struck = fault_thread.struck();
			fault_thread.arm(0);
			EXPECT_TRUE(!err || (struck && no_memory(err))) {
				TH_LOG("call %zu, allocation %d: %s", i, nth,
				       strerror(-err));
			}
		}
		EXPECT_FALSE(struck);
		/* It did no harm that lasts. */
		ASSERT_EQ(0, calls[i](self->w));
	}
	close(self->w);
	ASSERT_EQ(0, deleted(self->b));
	ASSERT_TRUE(all_given_back(self->b, self->b));
}

TEST_HARNESS_MAIN
