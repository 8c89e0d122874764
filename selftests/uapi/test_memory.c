// SPDX-License-Identifier: GPL-2.0
/* Memory of an entry: it grows when memory is available. It is freed at the end
 * of the transfer and with the entry, even if sockets are open.
 */
#include "one_node.h"

#define FULL		(3u << 20)	/* least size of a full default entry */
#define LITTLE		(256u << 10)	/* an entry that has ended keeps less */
#define ROOM		(16u << 20)	/* memory of the node that has JOBS */
#define JOBS		6		/* default entries: more than fit */
#define KEY		25		/* bytes of a key */
#define RECORD		(2 + KEY + 8)
#define BATCH		64		/* records of a send() */
#define WAIT		60000		/* ms until whatever is awaited */
#define REFUSED		500		/* ms in which growth is refused */

static uint64_t held(struct aggnet_ctl *ctl)
{
	struct aggnet_node_info node;

	return aggnet_node_get(ctl, &node) ? ~0ULL : node.memory_used;
}

static bool comes_down_to(struct aggnet_ctl *ctl, uint64_t bytes)
{
	int i;

	for (i = 0; i < WAIT / 10 && held(ctl) > bytes; i++)
		poll(NULL, 0, 10);
	return held(ctl) <= bytes;
}

static int set_memory(struct aggnet_ctl *ctl, uint64_t limit)
{
	struct aggnet_node_info node = {
		.has = AGGNET_HAS(AGGNET_A_NODE_MEMORY),
		.memory = limit,
	};

	return aggnet_node_set(ctl, &node);
}

/* An entry of the default size; the receiver may be another node. */
static struct aggnet_tree_info large(const char *receiver, uint32_t job)
{
	struct aggnet_tree_info e = entry(1);

	e.incast_id = aggnet_incast_id(job, ip(receiver));
	e.memory = 4 << 20;
	e.has |= AGGNET_HAS(AGGNET_A_TREE_GIVE_UP);
	e.give_up = 10 * WAIT;
	return e;
}

static int add_job(struct aggnet_ctl *ctl, const char *receiver, uint32_t job)
{
	struct aggnet_tree_info e = large(receiver, job);

	return add_entry(ctl, &e, false);
}

static int join_job(const char *receiver, uint32_t job)
{
	int fd = new_socket();

	return join(fd, receiver, job, false) ? -1 : fd;
}

/* Send new keys until there is no room. Return: how many were sent */
static unsigned int send_until_full(int fd, unsigned int *next)
{
	unsigned int first = *next, i;
	uint8_t buf[BATCH * RECORD];
	char key[KEY + 1];
	ssize_t done;

	do {
		for (i = 0; i < BATCH; i++) {
			snprintf(key, sizeof(key), "a key of its own %08u",
				 *next + i);
			put_record(buf + i * RECORD, key, 1);
		}
		done = send(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (done > 0)
			*next += done / RECORD;
	} while (done > 0);
	return *next - first;
}

/* Send until an entry has grown to @bytes, or nothing has moved for @ms. */
static bool grows_to(struct aggnet_ctl *ctl, int fd, unsigned int *next,
		     uint64_t bytes, unsigned int ms)
{
	unsigned int i;

	for (i = 0; i < ms / 10; i++) {
		if (send_until_full(fd, next))
			i = 0;
		if (held(ctl) >= bytes)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

TEST_F(node, growth__is_tried_again)
{
	unsigned int next = 0;
	int w;

	ASSERT_EQ(0, set_memory(self->ctl, 1 << 20));
	ASSERT_EQ(0, add_job(self->ctl, NODE_B, JOB));
	w = join_job(NODE_B, JOB);
	ASSERT_LE(0, w);
	EXPECT_FALSE(grows_to(self->ctl, w, &next, (1 << 20) + 1, REFUSED));
	ASSERT_EQ(0, set_memory(self->ctl, 64 << 20));
	EXPECT_TRUE(grows_to(self->ctl, w, &next, FULL, WAIT));
	close(w);
}

TEST_F_TIMEOUT(node, entries__withdrawn_keep_nothing, LONG)
{
	uint64_t id;
	uint32_t job;
	int w[JOBS];

	ASSERT_LT(ROOM, JOBS * FULL);
	ASSERT_EQ(0, set_memory(self->ctl, ROOM));
	for (job = 0; job < JOBS; job++) {
		unsigned int next = 0;

		ASSERT_EQ(0, add_job(self->ctl, NODE_B, job));
		w[job] = join_job(NODE_B, job);
		ASSERT_LE(0, w[job]);
		ASSERT_TRUE(grows_to(self->ctl, w[job], &next, FULL, WAIT)) {
			TH_LOG("job %u", job);
		}
		id = aggnet_incast_id(job, ip(NODE_B));
		ASSERT_EQ(0, aggnet_tree_del(self->ctl, id));
		ASSERT_TRUE(comes_down_to(self->ctl, LITTLE));
	}
	for (job = 0; job < JOBS; job++) {
		EXPECT_ERRNO(ECANCELED, recv(w[job], &self->m, BUF, 0));
		close(w[job]);
	}
}

TEST_F(node, transfer__aborted_keeps_little)
{
	uint32_t why = AGGNET_R_USER, origin;
	unsigned int next = 0;
	int w;

	ASSERT_EQ(0, add_job(self->ctl, NODE_B, JOB));
	w = join_job(NODE_B, JOB);
	ASSERT_LE(0, w);
	ASSERT_TRUE(grows_to(self->ctl, w, &next, FULL, WAIT));
	ASSERT_EQ(0, setsockopt(w, SOL_AGGNET, AGGNET_SO_ABORT, &why,
				sizeof(why)));
	EXPECT_TRUE(comes_down_to(self->ctl, LITTLE));
	/* The entry and the socket still report what happened. */
	EXPECT_ERRNO(ECANCELED, recv(w, &self->m, BUF, 0));
	EXPECT_EQ(AGGNET_R_USER, reason(w, &origin));
	EXPECT_EQ(ip(NODE_A).s_addr, origin);
	EXPECT_EQ(POLLERR | POLLHUP | POLLIN | POLLOUT, events(w));
	EXPECT_ERRNO(ECANCELED, send_record(w, "key", 1));
	close(w);
}

/* The runs are freed, and a writer that waits for room in its own returns. */
TEST_F(node, sorted__aborted_is_written_to)
{
	struct aggnet_tree_info e = large(NODE_B, JOB);
	uint32_t why = AGGNET_R_USER;
	unsigned int next = 0;
	int w;

	e.has |= AGGNET_HAS(AGGNET_A_TREE_LAYOUT);
	e.layout = AGGNET_LAYOUT_SORTED;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	w = join_job(NODE_B, JOB);
	ASSERT_LE(0, w);
	ASSERT_NE(0, send_until_full(w, &next));
	ASSERT_EQ(0, setsockopt(w, SOL_AGGNET, AGGNET_SO_ABORT, &why,
				sizeof(why)));
	ASSERT_TRUE(comes_down_to(self->ctl, LITTLE));
	EXPECT_ERRNO(ECANCELED, send_record(w, "key", 1));
	ASSERT_EQ(0, aggnet_tree_del(self->ctl, e.incast_id));
	EXPECT_ERRNO(ECANCELED, send_record(w, "key", 1));
	close(w);
}

/* Records that are not read stay available, although the transfer has ended. */
TEST_F_TIMEOUT(node, transfer__done_keeps_little, LONG)
{
	unsigned int next = 0;
	uint64_t records = 0;
	ssize_t len;
	int w, r;

	ASSERT_EQ(0, add_job(self->ctl, NODE_A, JOB));
	w = join_job(NODE_A, JOB);
	r = reader();
	ASSERT_LE(0, w);
	ASSERT_LE(0, r);
	while (held(self->ctl) < FULL) {
		send_until_full(w, &next);
		poll(NULL, 0, 1);
	}
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_LE(FULL, held(self->ctl));
	do {
		len = receive(r, &self->m, 0);
		ASSERT_LT(0, len);
		records += self->m.head.records;
	} while (self->m.head.type != AGGNET_MSG_END);
	EXPECT_EQ(next, records);
	EXPECT_EQ(next, self->m.end.records);
	EXPECT_TRUE(comes_down_to(self->ctl, LITTLE));
	EXPECT_EQ(0, recv(w, &self->m, BUF, 0));
	/* The end mark can be read again. */
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(next, self->m.end.records);
	close(w);
	close(r);
}

TEST_HARNESS_MAIN
