// SPDX-License-Identifier: GPL-2.0
/* The root's and the members' handles of a broadcast, on a simulated node. */
#include "fake_node.h"

FIXTURE(cast)
{
	struct aggnet_cast *c;
	struct aggnet_options opt;
	struct in_addr root;
	unsigned int fds;
};

FIXTURE_SETUP(cast)
{
	memset(fake_nodes, 0, sizeof(fake_nodes));
	fake_tree = 0;
	node.down = true;
	node.room = SIZE_MAX;
	node.done = true;
	self->c = NULL;
	self->root.s_addr = htonl(0x0a000001);
	memset(&self->opt, 0, sizeof(self->opt));
	self->fds = open_fds();
}

FIXTURE_TEARDOWN(cast)
{
	aggnet_cast_close(self->c);
	EXPECT_EQ(self->fds, open_fds());
}

static void put_message(uint8_t type, const void *bytes, size_t len)
{
	const struct aggnet_msg head = { .type = type };
	uint8_t *to = node.message[node.nmessages].bytes;

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), bytes, len);
	node.message[node.nmessages++].len = sizeof(head) + len;
}

/* The stream or round is "abc", and the root's library gave this number. */
static void put_round(uint64_t check, bool last)
{
	const struct aggnet_end end = { .records = 3, .last = last };

	put_message(AGGNET_MSG_BYTES, "abc", 3);
	put_message(AGGNET_MSG_END, &end, sizeof(end));
	node.check.whole = 1;
	node.check.value = check;
}

static void put_stream(uint64_t check)
{
	put_round(check, true);
}

#define CRC_OF_ABC	0x364b3fb7u

TEST_F(cast, root__sends_all_and_its_check)
{
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, NULL));
	EXPECT_EQ(3, aggnet_cast_write(self->c, "abc", 3));
	EXPECT_EQ(0, aggnet_cast_finish(self->c));
	EXPECT_EQ(3, node.len);
	EXPECT_EQ(CRC_OF_ABC, node.given);
	EXPECT_EQ(-EINVAL, aggnet_cast_write(self->c, "d", 1));
	EXPECT_EQ(-EINVAL, aggnet_cast_commit(self->c));
	aggnet_cast_close(self->c);
	self->c = NULL;
	EXPECT_EQ(0, node.aborted);
}

TEST_F(cast, root__that_leaves_aborts)
{
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, NULL));
	EXPECT_EQ(1, aggnet_cast_write(self->c, "a", 1));
	aggnet_cast_close(self->c);
	self->c = NULL;
	EXPECT_EQ(AGGNET_R_SENDER, node.aborted);
}

/* Each call of send() needs memory in the kernel; nothing is lost without it. */
TEST_F(cast, root__without_memory_in_the_kernel)
{
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, NULL));
	node.lost = ENOMEM;
	EXPECT_EQ(-ENOMEM, aggnet_cast_write(self->c, "abc", 3));
	EXPECT_EQ(3, aggnet_cast_write(self->c, "abc", 3));
	EXPECT_EQ(0, aggnet_cast_finish(self->c));
}

TEST_F(cast, root__that_must_not_wait)
{
	self->opt.flags = AGGNET_OPT_NONBLOCK;
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, &self->opt));
	node.room = 2;
	EXPECT_EQ(2, aggnet_cast_write(self->c, "abc", 3));
	EXPECT_EQ(-EAGAIN, aggnet_cast_write(self->c, "c", 1));
	node.room = 1;
	EXPECT_EQ(1, aggnet_cast_write(self->c, "c", 1));
	node.done = false;
	EXPECT_EQ(-EAGAIN, aggnet_cast_finish(self->c));
	node.done = true;
	EXPECT_EQ(0, aggnet_cast_finish(self->c));
	EXPECT_EQ(1, node.gave);
}

TEST_F(cast, root__ends_rounds)
{
	node.persist = true;
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, NULL));
	EXPECT_EQ(1, aggnet_cast_write(self->c, "x", 1));
	EXPECT_EQ(0, aggnet_cast_round(self->c));
	EXPECT_EQ(3, aggnet_cast_write(self->c, "abc", 3));
	EXPECT_EQ(0, aggnet_cast_round(self->c));
	EXPECT_EQ(CRC_OF_ABC, node.given);
	EXPECT_EQ(2, node.rounds);
	EXPECT_EQ(4, node.len);
	EXPECT_FALSE(node.shut);
	EXPECT_EQ(0, aggnet_cast_finish(self->c));
	EXPECT_EQ(0, node.given);
	EXPECT_TRUE(node.shut);
	EXPECT_EQ(-EPIPE, aggnet_cast_round(self->c));
}

/* A round whose outcome is not known: no byte of the next one is taken. */
TEST_F(cast, root__that_must_not_wait_for_a_round)
{
	node.persist = true;
	node.done = false;
	self->opt.flags = AGGNET_OPT_NONBLOCK;
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, &self->opt));
	EXPECT_EQ(-EAGAIN, aggnet_cast_round(self->c));
	EXPECT_EQ(-EINVAL, aggnet_cast_write(self->c, "a", 1));
	EXPECT_STREQ("write: the outcome of the round is not known",
		     aggnet_cast_error(self->c));
	EXPECT_EQ(-EAGAIN, aggnet_cast_finish(self->c));
	EXPECT_FALSE(node.shut);
	node.done = true;
	EXPECT_EQ(0, aggnet_cast_finish(self->c));
	EXPECT_EQ(1, node.rounds);
	EXPECT_TRUE(node.shut);
}

/* A root that leaves between two rounds leaves in the middle. */
TEST_F(cast, root__that_leaves_after_a_round)
{
	node.persist = true;
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, NULL));
	EXPECT_EQ(0, aggnet_cast_round(self->c));
	aggnet_cast_close(self->c);
	self->c = NULL;
	EXPECT_EQ(AGGNET_R_SENDER, node.aborted);
}

TEST_F(cast, round__of_a_tree_without_rounds)
{
	ASSERT_EQ(0, aggnet_cast_root(&self->c, FAKE_JOB, NULL));
	EXPECT_EQ(-EOPNOTSUPP, aggnet_cast_round(self->c));
	EXPECT_EQ(0, node.rounds);
}

TEST_F(cast, member__reads_rounds)
{
	char buf[AGGNET_RECORD_MAX];
	unsigned int i;

	node.persist = true;
	ASSERT_EQ(0, aggnet_cast_join(&self->c, self->root, FAKE_JOB, NULL));
	for (i = 0; i < 3; i++) {
		put_round(CRC_OF_ABC, i == 2);
		EXPECT_EQ(-EINVAL, aggnet_cast_round(self->c));
		ASSERT_EQ(3, aggnet_cast_read(self->c, buf, sizeof(buf)));
		EXPECT_EQ(0, aggnet_cast_read(self->c, buf, sizeof(buf)));
		EXPECT_EQ(0, aggnet_cast_commit(self->c));
		EXPECT_EQ(i == 2 ? -EPIPE : 0, aggnet_cast_round(self->c));
	}
	aggnet_cast_close(self->c);
	self->c = NULL;
	EXPECT_EQ(0, node.aborted);
}

TEST_F(cast, member__that_leaves_after_a_round)
{
	char buf[AGGNET_RECORD_MAX];

	node.persist = true;
	ASSERT_EQ(0, aggnet_cast_join(&self->c, self->root, FAKE_JOB, NULL));
	put_round(CRC_OF_ABC, false);
	ASSERT_EQ(3, aggnet_cast_read(self->c, buf, sizeof(buf)));
	EXPECT_EQ(0, aggnet_cast_read(self->c, buf, sizeof(buf)));
	EXPECT_EQ(0, aggnet_cast_commit(self->c));
	aggnet_cast_close(self->c);
	self->c = NULL;
	EXPECT_EQ(AGGNET_R_RECEIVER, node.aborted);
}

TEST_F(cast, member__reads_and_commits)
{
	char buf[AGGNET_RECORD_MAX];

	ASSERT_EQ(0, aggnet_cast_join(&self->c, self->root, FAKE_JOB, NULL));
	put_stream(CRC_OF_ABC);
	EXPECT_EQ(-EINVAL, aggnet_cast_read(self->c, buf, 1));
	ASSERT_EQ(3, aggnet_cast_read(self->c, buf, sizeof(buf)));
	EXPECT_EQ(0, memcmp(buf, "abc", 3));
	EXPECT_EQ(-EINVAL, aggnet_cast_commit(self->c));
	EXPECT_EQ(0, aggnet_cast_read(self->c, buf, sizeof(buf)));
	EXPECT_FALSE(node.taken);
	EXPECT_EQ(0, aggnet_cast_commit(self->c));
	EXPECT_TRUE(node.taken);
	aggnet_cast_close(self->c);
	self->c = NULL;
	EXPECT_EQ(0, node.aborted);
}

TEST_F(cast, member__finds_a_wrong_byte)
{
	char buf[AGGNET_RECORD_MAX];

	ASSERT_EQ(0, aggnet_cast_join(&self->c, self->root, FAKE_JOB, NULL));
	put_stream(CRC_OF_ABC ^ 1);
	ASSERT_EQ(3, aggnet_cast_read(self->c, buf, sizeof(buf)));
	EXPECT_EQ(-EBADMSG, aggnet_cast_read(self->c, buf, sizeof(buf)));
	EXPECT_EQ(AGGNET_R_MISMATCH, node.aborted);
	EXPECT_EQ(-EBADMSG, aggnet_cast_commit(self->c));
}

TEST_F(cast, member__that_leaves_aborts)
{
	char buf[AGGNET_RECORD_MAX];

	ASSERT_EQ(0, aggnet_cast_join(&self->c, self->root, FAKE_JOB, NULL));
	put_stream(CRC_OF_ABC);
	ASSERT_EQ(3, aggnet_cast_read(self->c, buf, sizeof(buf)));
	EXPECT_EQ(0, aggnet_cast_read(self->c, buf, sizeof(buf)));
	aggnet_cast_close(self->c);
	self->c = NULL;
	EXPECT_EQ(AGGNET_R_RECEIVER, node.aborted);
}

/* A broadcast is not repaired: the reason of the abort is told at once. */
TEST_F(cast, open__of_one_that_was_aborted)
{
	node.status = (struct aggnet_status) {
		.state = AGGNET_TREE_ABORTED, .reason = AGGNET_R_TIMEOUT,
		.direction = AGGNET_DIR_DOWN,
	};
	node.errors[0] = ETIMEDOUT;
	self->opt.repair_ms = 5000;
	EXPECT_EQ(-ETIMEDOUT, aggnet_cast_root(&self->c, FAKE_JOB, &self->opt));
	EXPECT_EQ(-ETIMEDOUT, aggnet_cast_write(self->c, "a", 1));
	aggnet_cast_close(self->c);
	node.status.reason = AGGNET_R_STALE;
	node.joined = 0;
	node.errors[0] = ESTALE;
	EXPECT_EQ(-ECANCELED,
		  aggnet_cast_join(&self->c, self->root, FAKE_JOB, NULL));
}

/* A socket that joins a reduce and is closed aborts it. */
TEST_F(cast, open__does_not_join_a_reduce)
{
	node.down = false;
	EXPECT_EQ(-EPROTOTYPE, aggnet_cast_root(&self->c, FAKE_JOB, NULL));
	aggnet_cast_close(self->c);
	EXPECT_EQ(-EPROTOTYPE,
		  aggnet_cast_join(&self->c, self->root, FAKE_JOB, NULL));
	EXPECT_STREQ("job 7 is no broadcast: its tree does not lead down",
		     aggnet_cast_error(self->c));
	EXPECT_EQ(0, node.joined);
}

TEST_HARNESS_MAIN
