// SPDX-License-Identifier: GPL-2.0
/* Rounds of a broadcast: what the calls of the root and of a member on another node
 * take and give. Needs root and the module.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#include "two_nodes.h"

FIXTURE(down) {
	struct two_nodes on;
	struct message m;
	int root;
	int member;
};

/* A is the root, B the member. */
static int add_down(struct two_nodes *on)
{
	struct aggnet_tree_info e = entry(0);
	struct in_addr child = ip(NODE_B);
	int err;

	e.has &= ~AGGNET_HAS(AGGNET_A_TREE_FUNCTION);
	e.has |= AGGNET_HAS(AGGNET_A_TREE_DIRECTION) |
		 AGGNET_HAS(AGGNET_A_TREE_LAYOUT) |
		 AGGNET_HAS(AGGNET_A_TREE_PERSIST);
	e.persist = 1;
	e.direction = AGGNET_DIR_DOWN;
	e.layout = AGGNET_LAYOUT_BYTES;
	e.writers = 1;
	err = add_entry(on->b, &e, false);
	if (err)
		return err;
	e.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
	e.children = (struct aggnet_addrs){ &child, 1 };
	e.writers = 0;
	return add_entry(on->a, &e, false);
}

FIXTURE_SETUP(down)
{
	ASSERT_EQ(0, two_nodes_up(&self->on));
	ASSERT_EQ(0, add_down(&self->on));
	self->member = writer();
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	self->root = reader();
	ASSERT_LE(0, self->member);
	ASSERT_LE(0, self->root);
}

FIXTURE_TEARDOWN(down)
{
	close(self->root);
	close(self->member);
	two_nodes_down(&self->on);
}

static ssize_t end_round(int fd, int flags)
{
	return send(fd, NULL, 0, MSG_EOR | MSG_NOSIGNAL | flags);
}

static ssize_t end_with(int fd, const char *bytes)
{
	return send(fd, bytes, strlen(bytes), MSG_EOR | MSG_NOSIGNAL);
}

/* Read as many bytes, in one message or more. Return: are they these? */
static bool reads(struct message *m, int fd, const char *bytes)
{
	ssize_t len;

	for (; *bytes; bytes += len) {
		len = receive(fd, m, 0) - (ssize_t)sizeof(m->head);
		if (len <= 0 || m->head.type != AGGNET_MSG_BYTES ||
		    len > (ssize_t)strlen(bytes) ||
		    memcmp(m->records, bytes, len))
			return false;
	}
	return true;
}

/* Read the end mark of a round. Return: is it that? */
static bool read_end(struct message *m, int fd, uint32_t round, uint32_t last)
{
	return receive(fd, m, 0) == (ssize_t)(sizeof(m->head) + sizeof(m->end)) &&
	       m->head.type == AGGNET_MSG_END && m->end.round == round &&
	       m->end.last == last;
}

/* The check of the round that the member reads; 0: there is none */
static uint64_t check_at(int fd)
{
	struct aggnet_check check = {};
	socklen_t len = sizeof(check);

	if (getsockopt(fd, SOL_AGGNET, AGGNET_SO_CHECK, &check, &len))
		return 1;
	return check.whole ? check.value : 0;
}

static int give_check(int fd, uint64_t check)
{
	return setsockopt(fd, SOL_AGGNET, AGGNET_SO_CHECK, &check,
			  sizeof(check));
}

TEST_F(down, rounds__one_round_after_the_other)
{
	int r = self->root, m = self->member;
	uint32_t i;

	EXPECT_ERRNO(ENOMSG, receive(r, &self->m, 0));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(POLLOUT, await(r, POLLOUT) & (POLLIN | POLLOUT));
		ASSERT_EQ(4, send(r, "some", 4, 0));
		ASSERT_EQ(0, give_check(r, 7 + i));
		ASSERT_EQ(5, end_with(r, " more"));
		EXPECT_EQ(0, events(r) & (POLLIN | POLLOUT));
		EXPECT_ERRNO(EAGAIN, end_round(r, MSG_DONTWAIT));
		EXPECT_ERRNO(EAGAIN, send(r, "next", 4, MSG_DONTWAIT));
		EXPECT_ERRNO(EAGAIN, give_check(r, 1));
		EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT));
		ASSERT_EQ(true, reads(&self->m, m, "some more"));
		ASSERT_LT(0, receive(m, &self->m, MSG_PEEK));
		EXPECT_EQ(7 + i, check_at(m));
		EXPECT_EQ(true, read_end(&self->m, m, i, 0));
		EXPECT_EQ(9, self->m.end.records);
		EXPECT_ERRNO(EAGAIN, receive(m, &self->m, MSG_DONTWAIT));
		await(r, POLLIN);
		EXPECT_EQ(POLLIN | POLLOUT, events(r) & (POLLIN | POLLOUT));
		EXPECT_EQ(0, receive(r, &self->m, 0));
		EXPECT_ERRNO(ENOMSG, receive(r, &self->m, 0));
	}
	ASSERT_EQ(0, end_round(r, 0));
	EXPECT_EQ(true, read_end(&self->m, m, 3, 0));
	EXPECT_EQ(0, self->m.end.records);
	EXPECT_EQ(0, receive(r, &self->m, 0));
	ASSERT_EQ(4, send(r, "last", 4, 0));
	ASSERT_EQ(0, shutdown(r, SHUT_WR));
	EXPECT_EQ(true, reads(&self->m, m, "last"));
	EXPECT_EQ(true, read_end(&self->m, m, 4, 1));
	EXPECT_EQ(0, check_at(m));
	EXPECT_EQ(0, receive(r, &self->m, 0));
	EXPECT_EQ(0, receive(r, &self->m, 0));
	EXPECT_ERRNO(EPIPE, end_round(r, 0));
}

/* A call that waits for the next round goes on when it begins. */
TEST_F(down, rounds__a_root_waits_for_the_next)
{
	struct waiter end = { .fd = self->member };

	ASSERT_EQ(0, end_round(self->root, 0));
	ASSERT_EQ(0, pthread_create(&end.thread, NULL, wait_in_recv, &end));
	ASSERT_EQ(3, end_with(self->root, "two"));
	pthread_join(end.thread, NULL);
	EXPECT_EQ(AGGNET_MSG_END, end.m.head.type);
	EXPECT_EQ(true, reads(&self->m, self->member, "two"));
	EXPECT_EQ(true, read_end(&self->m, self->member, 1, 0));
}

/* The next one is the last, and empty, also if the process ends at once. */
TEST_F(down, rounds__a_shutdown_between_rounds)
{
	int m = self->member;

	ASSERT_EQ(3, end_with(self->root, "one"));
	ASSERT_EQ(0, shutdown(self->root, SHUT_WR));
	EXPECT_ERRNO(EPIPE, end_round(self->root, 0));
	close(self->root);
	self->root = -1;
	EXPECT_EQ(true, reads(&self->m, m, "one"));
	EXPECT_EQ(true, read_end(&self->m, m, 0, 0));
	EXPECT_EQ(true, read_end(&self->m, m, 1, 1));
	EXPECT_EQ(true, read_end(&self->m, m, 1, 1));
}

TEST_F(down, rounds__the_root_closes_between_rounds)
{
	ASSERT_EQ(0, end_round(self->root, 0));
	EXPECT_EQ(true, read_end(&self->m, self->member, 0, 0));
	EXPECT_EQ(0, receive(self->root, &self->m, 0));
	close(self->root);
	self->root = -1;
	EXPECT_ERRNO(ECONNABORTED, receive(self->member, &self->m, 0));
}

/* The round that is done stays done. */
TEST_F(down, rounds__a_member_closes_between_rounds)
{
	ASSERT_EQ(0, end_round(self->root, 0));
	EXPECT_EQ(true, read_end(&self->m, self->member, 0, 0));
	EXPECT_EQ(POLLIN, await(self->root, POLLIN) & POLLIN);
	close(self->member);
	self->member = -1;
	EXPECT_EQ(0, receive(self->root, &self->m, 0));
	await(self->root, 0);
	EXPECT_ERRNO(EPIPE, receive(self->root, &self->m, 0));
	EXPECT_ERRNO(EPIPE, end_with(self->root, "next"));
}

TEST_HARNESS_MAIN
