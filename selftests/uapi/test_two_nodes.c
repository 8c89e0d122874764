// SPDX-License-Identifier: GPL-2.0
/* The socket on two nodes with a link between them: outcomes and back-pressure
 * reach the other node. Needs root and the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#include "two_nodes.h"

FIXTURE(link) {
	struct two_nodes on;
	struct message m;
};

FIXTURE_SETUP(link)
{
	ASSERT_EQ(0, two_nodes_up(&self->on));
}

FIXTURE_TEARDOWN(link)
{
	two_nodes_down(&self->on);
}

static int add_pair(struct aggnet_ctl *a, struct aggnet_ctl *b)
{
	struct aggnet_tree_info e = entry(0);
	int err;

	e.has |= AGGNET_HAS(AGGNET_A_TREE_GIVE_UP);
	e.give_up = 20000;
	err = add_entry(a, &e, false);
	if (err)
		return err;
	e.writers = 1;
	return add_entry(b, &e, false);
}

TEST_F(link, transfer__whole)
{
	struct aggnet_status st;
	socklen_t len = sizeof(st);
	int r, w;

	ASSERT_EQ(0, add_pair(self->on.a, self->on.b));
	w = writer();
	ASSERT_LE(0, w);
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	r = reader();
	ASSERT_LE(0, r);
	ASSERT_EQ(0, send_record(w, "key", 3));
	ASSERT_EQ(0, send_record(w, "key", 4));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(7, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_ERRNO(EAGAIN, receive(w, &self->m, MSG_DONTWAIT));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(2, self->m.end.records);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	ASSERT_EQ(0, getsockopt(w, SOL_AGGNET, AGGNET_SO_STATUS, &st, &len));
	EXPECT_EQ(AGGNET_TREE_DONE, st.state);
	close(w);
	close(r);
}

static int add_keyed(struct aggnet_ctl *ctl, uint32_t instance, uint32_t writers)
{
	struct aggnet_tree_info e = entry(writers);

	e.has |= AGGNET_HAS(AGGNET_A_TREE_KEY);
	memset(e.key, (int)instance, sizeof(e.key));
	e.instance = instance;
	return add_entry(ctl, &e, instance > 1);
}

/*
 * The receiver's transfer is replaced, with another key; the source keeps the
 * old entry.
 */
TEST_F(link, source_is_left_out_of_a_new_plan)
{
	uint32_t origin;
	int w;

	ASSERT_EQ(0, add_keyed(self->on.a, 1, 0));
	ASSERT_EQ(0, add_keyed(self->on.b, 1, 1));
	ASSERT_EQ(0, add_keyed(self->on.a, 2, 0));
	w = writer();
	ASSERT_LE(0, w);
	EXPECT_ERRNO(ESTALE, receive(w, &self->m, 0));
	EXPECT_EQ(AGGNET_R_STALE, reason(w, &origin));
	EXPECT_EQ(inet_addr(NODE_A), origin);
	close(w);
}

static int detach(struct aggnet_ctl *ctl, const char *device)
{
	return aggnet_port_del(ctl, if_nametoindex(device));
}

/*
 * Without its port nothing leaves by the planned link: plain IP takes the
 * packets.
 */
TEST_F(link, port_deleted_under_an_entry)
{
	struct aggnet_tree_info e = entry(0);
	int r, w;

	ASSERT_EQ(0, add_entry(self->on.a, &e, false));
	ASSERT_EQ(0, attach(self->on.b, "vb", true));
	e.has |= AGGNET_HAS(AGGNET_A_TREE_SCHEME) |
		 AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX) |
		 AGGNET_HAS(AGGNET_A_TREE_LINK_NEIGHBOUR);
	e.writers = 1;
	e.scheme = AGGNET_SCHEME_EXACT;
	e.link_ifindex = if_nametoindex("vb");
	e.link_neighbour = ip("10.16.0.1");
	ASSERT_EQ(0, add_entry(self->on.b, &e, false));
	ASSERT_EQ(0, detach(self->on.b, "vb"));
	w = writer();
	ASSERT_LE(0, w);
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	r = reader();
	ASSERT_LE(0, r);
	ASSERT_EQ(0, send_record(w, "key", 3));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(3, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	EXPECT_NE(0, counter(self->on.b, "drop_link"));
	close(w);
	close(r);
}

/* With room for the names that follow the end mark. */
struct end_mark {
	struct aggnet_msg head;
	struct aggnet_end end;
	struct in_addr absent[AGGNET_ABSENT_MAX];
	uint8_t rest[AGGNET_RECORD_MAX];
};

/* The plan has left out more sources than an end mark can name. */
TEST_F(link, end__tells_the_absent)
{
	enum { ABSENT = AGGNET_ABSENT_MAX + 5 };
	struct in_addr absent[ABSENT];
	struct aggnet_tree_info e = entry(0);
	struct end_mark m;
	int i, r, w;

	for (i = 0; i < ABSENT; i++)
		absent[i].s_addr = htonl(0x0a020000 + i);
	e.has |= AGGNET_HAS(AGGNET_A_TREE_ABSENT);
	e.absent = (struct aggnet_addrs){ absent, ABSENT };
	ASSERT_EQ(0, add_entry(self->on.a, &e, false));
	ASSERT_EQ(0, add_writers(self->on.b, 1));
	w = writer();
	ASSERT_LE(0, w);
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	r = reader();
	ASSERT_EQ(sizeof(m.head) + sizeof(m.end) + sizeof(m.absent),
		  recv(r, &m, sizeof(m), 0));
	EXPECT_EQ(AGGNET_MSG_END, m.head.type);
	EXPECT_EQ(1, m.end.sources);
	EXPECT_EQ(1 + ABSENT, m.end.of);
	EXPECT_EQ(ABSENT, m.end.absent);
	EXPECT_EQ(0, memcmp(absent, m.absent, sizeof(m.absent)));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(w);
	close(r);
}

TEST_F(link, close__of_the_source_is_told_to_the_receiver)
{
	uint32_t origin;
	int r, w;

	ASSERT_EQ(0, add_pair(self->on.a, self->on.b));
	w = writer();
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	r = reader();
	ASSERT_LE(0, r);
	ASSERT_EQ(0, send_record(w, "key", 3));
	close(w);
	EXPECT_ERRNO(ECONNABORTED, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_R_SENDER, reason(r, &origin));
	EXPECT_EQ(inet_addr(NODE_B), origin);
	close(r);
}

TEST_F(link, close__of_the_receiver_is_told_to_the_source)
{
	uint32_t origin;
	int r, w;

	ASSERT_EQ(0, add_pair(self->on.a, self->on.b));
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 3));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	r = reader();
	EXPECT_EQ(3, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_LT(0, receive(r, &self->m, MSG_PEEK));
	close(r);
	EXPECT_ERRNO(EPIPE, receive(w, &self->m, 0));
	EXPECT_EQ(AGGNET_R_RECEIVER, reason(w, &origin));
	EXPECT_EQ(inet_addr(NODE_A), origin);
	close(w);
}

/* No program reads the complete result: the source gives up. */
TEST_F(link, give_up__a_receiver_that_never_reads)
{
	struct aggnet_tree_info e = entry(0);
	uint32_t origin;
	int w;

	e.has |= AGGNET_HAS(AGGNET_A_TREE_GIVE_UP);
	e.give_up = 5000;
	ASSERT_EQ(0, add_entry(self->on.a, &e, false));
	e.writers = 1;
	ASSERT_EQ(0, add_entry(self->on.b, &e, false));
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 3));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(ETIMEDOUT, receive(w, &self->m, 0));
	EXPECT_EQ(AGGNET_R_TIMEOUT, reason(w, &origin));
	close(w);
}

/* Far more records than the window, the credit and both nodes' memory hold. */
TEST_F(link, back_pressure__reaches_the_source)
{
	enum { RECORDS = 20000 };
	struct sender s = { .records = RECORDS };
	struct aggnet_tree_info e = entry(0);
	uint64_t got = 0;
	int r;

	e.memory = 2 * AGGNET_MEMORY_MIN;
	ASSERT_EQ(0, add_entry(self->on.a, &e, false));
	e.writers = 1;
	ASSERT_EQ(0, add_entry(self->on.b, &e, false));
	s.fd = writer();
	ASSERT_LE(0, s.fd);
	ASSERT_EQ(0, pthread_create(&s.thread, NULL, send_many, &s));
	ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
	r = reader();
	do {
		ASSERT_LT(0, receive(r, &self->m, 0));
		got += self->m.head.records;
	} while (self->m.head.type != AGGNET_MSG_END);
	EXPECT_EQ(RECORDS, got);
	EXPECT_EQ(RECORDS, self->m.end.records);
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(0, s.failed);
	close(r);
	close(s.fd);
}

/*
 * --- a source that gets no more memory -------------------------------------
 */

#define JOBS		8
#define SHORT_KEYS	13000	/* at most 2^16: keys have two bytes */
#define SHORT_RECORD	5

static struct aggnet_tree_info entry_of(uint32_t job, uint32_t writers)
{
	struct aggnet_tree_info e = entry(writers);

	e.incast_id = aggnet_incast_id(job, ip(NODE_A));
	return e;
}

/* Leave the node with the memory that it uses. Return: 0 or -errno */
static int freeze_memory(struct aggnet_ctl *ctl)
{
	struct aggnet_node_info node;
	int err = aggnet_node_get(ctl, &node);

	node.has = AGGNET_HAS(AGGNET_A_NODE_MEMORY);
	node.memory = node.memory_used;
	return err ?: aggnet_node_set(ctl, &node);
}

/*
 * A blocking send of distinct keys. The records are so short that one slice of
 * them fills a buffer before the writer learns that it cannot grow.
 */
static void *send_short(void *arg)
{
	static uint8_t buf[SHORT_KEYS * SHORT_RECORD];
	struct sender *s = arg;
	size_t done;
	ssize_t n;

	for (s->records = 0; s->records < SHORT_KEYS; s->records++)
		memcpy(buf + s->records * SHORT_RECORD,
		       (uint8_t []){ 2, 1, s->records, s->records >> 8, 1 },
		       SHORT_RECORD);
	for (done = 0; done < sizeof(buf); done += n) {
		n = send(s->fd, buf + done, sizeof(buf) - done, 0);
		if (n <= 0)
			goto fail;
	}
	if (!shutdown(s->fd, SHUT_WR) && !recv(s->fd, buf, 1, 0))
		return NULL;
fail:
	s->failed = errno ?: EIO;
	return NULL;
}

/* Return: the number of records, or -1 */
static int64_t receive_all(int r, struct message *m)
{
	int64_t got = 0;

	do {
		if (receive(r, m, 0) <= 0)
			return -1;
		got += m->head.records;
	} while (m->head.type != AGGNET_MSG_END);
	return got;
}

TEST_F(link, back_pressure__a_source_cannot_grow)
{
	struct sender s = {};
	uint32_t job;
	int r;

	for (job = 0; job < JOBS; job++) {
		struct aggnet_tree_info a = entry_of(job, 0);
		struct aggnet_tree_info b = entry_of(job, 1);

		ASSERT_EQ(0, add_entry(self->on.a, &a, false));
		ASSERT_EQ(0, add_entry(self->on.b, &b, false));
	}
	ASSERT_EQ(0, freeze_memory(self->on.b));
	for (job = 0; job < JOBS; job++) {
		ASSERT_EQ(0, setns(self->on.ns_b, CLONE_NEWNET));
		s.fd = new_socket();
		ASSERT_EQ(0, join(s.fd, NODE_A, job, false));
		ASSERT_EQ(0, pthread_create(&s.thread, NULL, send_short, &s));
		ASSERT_EQ(0, setns(self->on.ns_a, CLONE_NEWNET));
		r = new_socket();
		ASSERT_EQ(0, join(r, NODE_A, job, true));
		EXPECT_EQ(SHORT_KEYS, receive_all(r, &self->m));
		ASSERT_EQ(0, pthread_join(s.thread, NULL));
		EXPECT_EQ(0, s.failed);
		close(r);
		close(s.fd);
	}
}

TEST_HARNESS_MAIN
