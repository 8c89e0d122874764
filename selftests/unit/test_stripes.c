// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libaggnet's handles of several trees, with nodes that the test
 * provides: the split, replay of one tree, and the end.
 */
#include "fake_node.h"

#include <signal.h>

#include "core/crc.h"

#define PLAN	0x5a	/* first byte of the plan's ID */

FIXTURE(stripes) {
	struct aggnet_source *s;
	struct aggnet_sink *k;
	struct in_addr receiver;
	struct aggnet_options opt;
	int fds;
};

/* A job of @n trees, of which each takes everything. */
static void job_of(unsigned int n)
{
	memset(fake_nodes, 0, sizeof(fake_nodes));
	for (fake_tree = n; fake_tree--; ) {
		node.stripes = n;
		node.plan = PLAN;
		node.room = SIZE_MAX;
		node.done = true;
	}
	fake_tree = 0;
}

FIXTURE_SETUP(stripes)
{
	job_of(2);
	self->s = NULL;
	self->k = NULL;
	self->receiver.s_addr = htonl(0x0a000001);
	memset(&self->opt, 0, sizeof(self->opt));
	self->fds = open_fds();
}

FIXTURE_TEARDOWN(stripes)
{
	aggnet_source_close(self->s);
	aggnet_sink_close(self->k);
	EXPECT_EQ(self->fds, open_fds());
}

static int open_source(FIXTURE_DATA(stripes) *self, unsigned int flags)
{
	self->opt.flags = flags;
	return aggnet_source_open(&self->s, self->receiver, FAKE_JOB,
				  &self->opt);
}

static int open_sink(FIXTURE_DATA(stripes) *self)
{
	self->opt.flags = AGGNET_OPT_NONBLOCK;
	return aggnet_sink_open(&self->k, self->receiver, FAKE_JOB,
				&self->opt);
}

static size_t key_of(char *key, unsigned int number)
{
	return sprintf(key, "%08u", number);
}

/* The tree of a key, by the formula that is documented. */
static unsigned int tree_of(const char *key, size_t len)
{
	return (uint64_t)aggnet_crc32c(key, len) * fake_nodes[0].stripes >> 32;
}

static int add_numbered(struct aggnet_source *s, unsigned int from,
			unsigned int to)
{
	char key[16];
	int err = 0;

	for (; !err && from < to; from++)
		err = aggnet_source_add(s, key, key_of(key, from), from);
	return err;
}

/* The streams of all trees hold the keys 0..n-1 at their places, once, in order. */
static bool streams_hold(unsigned int n)
{
	size_t off[FAKE_TREES] = {}, len;
	struct record rec;
	unsigned int i;
	char key[16];

	for (i = 0; i < n; i++) {
		len = key_of(key, i);
		fake_tree = tree_of(key, len);
		len = record_get(node.stream + off[fake_tree],
				 node.len - off[fake_tree], &rec);
		off[fake_tree] += len;
		if (!len || memcmp(rec.key, key, rec.klen))
			return false;
	}
	for (fake_tree = 0; fake_tree < fake_nodes[0].stripes; fake_tree++)
		if (off[fake_tree] != node.len || !node.shut)
			return false;
	return true;
}

/* --- source --------------------------------------------------------------- */

TEST_F(stripes, source__splits_by_the_hash_of_the_key)
{
	unsigned int n;

	for (n = 2; n <= FAKE_TREES; n++) {
		job_of(n);
		ASSERT_EQ(0, open_source(self, 0));
		ASSERT_EQ(0, add_numbered(self->s, 0, 30000));
		ASSERT_EQ(0, aggnet_source_finish(self->s));
		EXPECT_EQ(30000, aggnet_source_records(self->s));
		EXPECT_TRUE(streams_hold(30000));
		aggnet_source_close(self->s);
		self->s = NULL;
	}
}

/* Blocks of the whole vector go to the trees in turn, renumbered. */
TEST_F(stripes, source__splits_a_vector_by_blocks)
{
	const unsigned int block = AGGNET_BLOCK_ELEMENTS;
	const unsigned int elements = 7 * block - 3;
	unsigned int i, at[2] = {};
	struct record rec;
	size_t off = 0;

	for (fake_tree = 0; fake_tree < 2; fake_tree++) {
		node.shape.layout = AGGNET_LAYOUT_DENSE;
		node.shape.elements = fake_tree ? 3 * block : 4 * block - 3;
	}
	ASSERT_EQ(0, open_source(self, 0));
	for (i = 0; i < elements; i++)
		ASSERT_EQ(0, aggnet_source_add_element(self->s,
						       1 + i / block));
	EXPECT_EQ(-ERANGE, aggnet_source_add_element(self->s, 0));
	EXPECT_STREQ("the vector has no more than 88 elements",
		     aggnet_source_error(self->s));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	for (i = 0; i < 7; i++) {
		fake_tree = i % 2;
		off = record_get(node.stream + at[fake_tree],
				 node.len - at[fake_tree], &rec);
		ASSERT_LT(0, off);
		at[fake_tree] += off;
		EXPECT_EQ(i / 2, rec.key[0]);
		EXPECT_EQ(1 + i, rec.value[0]);
	}
}

TEST_F(stripes, source__elements_are_missing)
{
	for (fake_tree = 0; fake_tree < 2; fake_tree++) {
		node.shape.layout = AGGNET_LAYOUT_DENSE;
		node.shape.elements = 13;
	}
	ASSERT_EQ(0, open_source(self, 0));
	EXPECT_EQ(0, aggnet_source_add_element(self->s, 0));
	EXPECT_EQ(-EINVAL, aggnet_source_finish(self->s));
	EXPECT_STREQ("only 1 of the vector's 26 elements were given",
		     aggnet_source_error(self->s));
	/* No tree has an end: the rest can be given. */
	EXPECT_FALSE(fake_nodes[0].shut);
}

/* A tree that takes nothing lets the others go on for 256 KiB of its records. */
TEST_F(stripes, source__a_slow_tree_delays_the_others_late)
{
	unsigned int i = 0;
	char key[16];
	int err = 0;

	fake_nodes[1].room = 0;
	ASSERT_EQ(0, open_source(self, AGGNET_OPT_NONBLOCK));
	while (!err && i < 1000000) {
		err = aggnet_source_add(self->s, key, key_of(key, i), i);
		i += !err;
	}
	EXPECT_EQ(-EAGAIN, err);
	EXPECT_EQ(POLLIN, aggnet_source_events(self->s));
	EXPECT_LE(256u << 10, source_pending(self->s->part[1].tree));
	EXPECT_GE((256u << 10) + AGGNET_SEND_MAX,
		  source_pending(self->s->part[1].tree));
	EXPECT_LE(128u << 10, fake_nodes[0].len);
	fake_nodes[1].room = SIZE_MAX;
	ASSERT_EQ(0, add_numbered(self->s, i, 100000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(streams_hold(100000));
}

/* The socket is not writable: an event counter with the greatest value is not. */
static ssize_t fill_socket(int fd)
{
	const uint64_t more = UINT64_MAX - 2;

	return write(fd, &more, sizeof(more));
}

TEST_F(stripes, source__a_full_tree_is_waited_for)
{
	struct pollfd pfd;
	unsigned int i;
	char key[16];
	int err = 0;

	fake_nodes[1].room = 0;
	ASSERT_EQ(0, open_source(self, AGGNET_OPT_NONBLOCK));
	ASSERT_EQ(8, fill_socket(conn_fd(self->s->stripes.conn[1])));
	for (i = 0; !err; i += !err)
		err = aggnet_source_add(self->s, key, key_of(key, i), i);
	ASSERT_EQ(-EAGAIN, err);
	/* The other tree has no reason to wake the caller. */
	EXPECT_EQ(0, source_pending(self->s->part[0].tree));
	pfd = (struct pollfd){ .fd = aggnet_source_fd(self->s),
			       .events = aggnet_source_events(self->s) };
	EXPECT_EQ(0, poll(&pfd, 1, 0));
}

TEST_F(stripes, source__only_the_lost_tree_is_sent_again)
{
	ASSERT_EQ(0, open_source(self, 0));
	fake_nodes[1].lost = ESTALE;
	fake_nodes[1].lose_at = 200000;
	ASSERT_EQ(0, add_numbered(self->s, 0, 50000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_EQ(1, aggnet_source_replays(self->s));
	EXPECT_EQ(1, fake_nodes[0].epoch);
	EXPECT_EQ(2, fake_nodes[1].epoch);
	EXPECT_LE(200000, aggnet_source_resent(self->s));
	EXPECT_TRUE(streams_hold(50000));
}

/* The caller gives all again; the other tree does not get it again. */
TEST_F(stripes, source__callers_own_replay_is_of_one_tree)
{
	unsigned int passes = 0;
	int err;

	ASSERT_EQ(0, open_source(self, AGGNET_OPT_REPLAY));
	fake_nodes[0].lost = ESTALE;
	fake_nodes[0].lose_at = 100000;
	do {
		err = add_numbered(self->s, 0, 50000);
		if (!err)
			err = aggnet_source_finish(self->s);
		/* The other one, when it has shut down. */
		if (!passes++) {
			fake_nodes[1].lost = ESTALE;
			fake_nodes[1].lose_at = 0;
		} else if (fake_nodes[1].epoch == 2) {
			fake_nodes[1].lost = 0;
		}
	} while (err == -ESTALE && passes < 10);
	EXPECT_EQ(0, err);
	EXPECT_EQ(3, passes);
	EXPECT_EQ(2, fake_nodes[0].epoch);
	EXPECT_EQ(2, fake_nodes[1].epoch);
	EXPECT_TRUE(streams_hold(50000));
}

/* No byte of it is read. */
TEST_F(stripes, source__a_key_of_no_length)
{
	ASSERT_EQ(0, open_source(self, 0));
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, "k", SIZE_MAX, 1));
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, "k", 0, 1));
	EXPECT_STREQ("a key of 0 bytes: 1 to 255 are allowed",
		     aggnet_source_error(self->s));
}

/* Give the keys @from..@to-1, and end. */
static int give_all(struct aggnet_source *s, unsigned int from, unsigned int to)
{
	return add_numbered(s, from, to) ?: aggnet_source_finish(s);
}

/* Records of two inputs: one stripe would have them twice, and another one never. */
TEST_F(stripes, source__the_input_changes_before_the_replay)
{
	static const struct {
		unsigned int from, to;	/* keys of the second pass */
		size_t lose_at;		/* in the first; 0: at its end */
	} pass[] = {
		{ 10, 50000, 100000 }, { 0, 100, 100000 },
		{ 0, 49990, 0 }, { 0, 50010, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(pass) / sizeof(pass[0]); i++) {
		job_of(2);
		fake_nodes[1].lost = ESTALE;
		fake_nodes[1].lose_at = pass[i].lose_at;
		ASSERT_EQ(0, open_source(self, AGGNET_OPT_REPLAY));
		ASSERT_EQ(-ESTALE, give_all(self->s, 0, 50000));
		fake_nodes[1].lost = 0;
		EXPECT_EQ(-EINVAL, give_all(self->s, pass[i].from, pass[i].to));
		EXPECT_STREQ("stripe 1 of 2 (job 7): the input has changed since it was first given: plan the job again",
			     aggnet_source_error(self->s));
		EXPECT_EQ(AGGNET_R_SENDER, fake_nodes[0].aborted);
		EXPECT_EQ(AGGNET_R_SENDER, fake_nodes[1].aborted);
		EXPECT_EQ(-EINVAL, aggnet_source_finish(self->s));
		aggnet_source_close(self->s);
	}
	self->s = NULL;
}

/* The same keys with other values. */
TEST_F(stripes, source__the_values_change_before_the_replay)
{
	ASSERT_EQ(0, open_source(self, AGGNET_OPT_REPLAY));
	fake_nodes[1].lost = ESTALE;
	ASSERT_EQ(0, tree_of("j", 1));
	ASSERT_EQ(0, aggnet_source_add(self->s, "j", 1, 1));
	ASSERT_EQ(-ESTALE, aggnet_source_finish(self->s));
	fake_nodes[1].lost = 0;
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, "j", 1, 2));
}

/* What is added to the input is sent, unless a tree has its end. */
TEST_F(stripes, source__the_input_grows_before_the_replay)
{
	ASSERT_EQ(0, open_source(self, AGGNET_OPT_REPLAY));
	fake_nodes[1].lost = ESTALE;
	fake_nodes[1].lose_at = 100000;
	ASSERT_EQ(-ESTALE, give_all(self->s, 0, 50000));
	EXPECT_EQ(0, give_all(self->s, 0, 50010));
	EXPECT_TRUE(streams_hold(50010));
}

TEST_F(stripes, source__callers_own_replay_of_a_vector)
{
	unsigned int i, passes = 0, elements = 20 * AGGNET_BLOCK_ELEMENTS + 1;
	int err;

	for (fake_tree = 0; fake_tree < 2; fake_tree++) {
		node.shape.layout = AGGNET_LAYOUT_DENSE;
		node.shape.elements = 10 * AGGNET_BLOCK_ELEMENTS + !fake_tree;
	}
	fake_nodes[1].lost = ESTALE;
	ASSERT_EQ(0, open_source(self, AGGNET_OPT_REPLAY));
	do {
		err = 0;
		for (i = 0; !err && i < elements; i++)
			err = aggnet_source_add_element(self->s, i);
		if (!err)
			err = aggnet_source_finish(self->s);
		fake_nodes[1].lost = 0;
	} while (err == -ESTALE && !passes++);
	EXPECT_EQ(0, err);
	EXPECT_EQ(1, passes);
	EXPECT_EQ(1, fake_nodes[0].epoch);
	EXPECT_EQ(2, fake_nodes[1].epoch);
}

/* One tree has failed: the source has failed, with its message. */
TEST_F(stripes, source__one_tree_fails)
{
	fake_nodes[1].lost = ETIMEDOUT;
	ASSERT_EQ(0, open_source(self, 0));
	ASSERT_EQ(0, add_numbered(self->s, 0, 100));
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
	EXPECT_STREQ("stripe 2 of 2 (job 8): timed out at 10.0.0.3: 2 sources missing",
		     aggnet_source_error(self->s));
	EXPECT_TRUE(fake_nodes[0].shut);
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
}

/* The call that meets it returns it, and so do those that follow, for any tree. */
TEST_F(stripes, source__one_tree_fails_between_records)
{
	char key[16];

	ASSERT_EQ(0, open_source(self, 0));
	fake_nodes[1].lost = ETIMEDOUT;
	fake_nodes[1].lose_at = 100000;
	ASSERT_EQ(-ETIMEDOUT, add_numbered(self->s, 0, 50000));
	EXPECT_EQ(0, tree_of(key, key_of(key, 2)));
	EXPECT_EQ(-ETIMEDOUT, add_numbered(self->s, 2, 3));
	EXPECT_STREQ("stripe 2 of 2 (job 8): timed out at 10.0.0.3: 2 sources missing",
		     aggnet_source_error(self->s));
}

TEST_F(stripes, source__one_tree_is_not_done)
{
	fake_nodes[1].done = false;
	ASSERT_EQ(0, open_source(self, AGGNET_OPT_NONBLOCK));
	ASSERT_EQ(0, add_numbered(self->s, 0, 100));
	EXPECT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	fake_nodes[1].done = true;
	EXPECT_EQ(0, aggnet_source_finish(self->s));
}

/* --- opening -------------------------------------------------------------- */

TEST_F(stripes, open__not_the_first_one)
{
	ASSERT_EQ(-EINVAL, aggnet_source_open(&self->s, self->receiver,
					      FAKE_JOB + 1, NULL));
	EXPECT_STREQ("job 8 is stripe 2 of job 7: give that job",
		     aggnet_source_error(self->s));
	EXPECT_EQ(0, fake_nodes[1].joined);
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-EINVAL, aggnet_source_finish(self->s));
	EXPECT_EQ(-1, aggnet_source_fd(self->s));
}

TEST_F(stripes, open__one_is_missing)
{
	fake_nodes[1].hidden = ENETUNREACH;
	EXPECT_EQ(-ENETUNREACH, open_sink(self));
	EXPECT_STREQ("stripe 2 of 2: no entry for job 8 can be used here: Network is unreachable: apply the whole plan again on this node",
		     aggnet_sink_error(self->k));
	EXPECT_EQ(0, fake_nodes[0].joined);
	EXPECT_EQ(-ENETUNREACH, aggnet_sink_run(self->k));
	EXPECT_EQ(-ENETUNREACH, aggnet_sink_commit(self->k));
}

TEST_F(stripes, open__of_different_plans)
{
	fake_nodes[1].plan++;
	EXPECT_EQ(-ECANCELED, open_sink(self));
	EXPECT_STREQ("job 7 and job 8 are not stripes of one plan: apply the whole plan again on this node",
		     aggnet_sink_error(self->k));
	aggnet_sink_close(self->k);
	self->k = NULL;
	fake_nodes[1].plan--;
	fake_nodes[1].instance = 5;
	EXPECT_EQ(-ECANCELED, open_source(self, 0));
	EXPECT_EQ(0, fake_nodes[0].joined);
	EXPECT_EQ(0, fake_nodes[1].joined);
}

/* Entries without a plan; an accumulator would be taken as a value. */
TEST_F(stripes, open__of_different_functions)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		job_of(2);
		fake_nodes[0].plan = 0;
		fake_nodes[1].plan = 0;
		fake_nodes[i].shape.function = AGGNET_FN_AVERAGE;
		EXPECT_EQ(-ECANCELED, open_sink(self));
		EXPECT_STREQ("stripe 2 of 2 (job 8) has another function, type or number of values than the rest: apply the whole plan again on this node",
			     aggnet_sink_error(self->k));
		aggnet_sink_close(self->k);
		EXPECT_EQ(0, fake_nodes[0].joined);
	}
	self->k = NULL;
}

/* Changed between the look-up and the join. */
TEST_F(stripes, open__values_become_different)
{
	ASSERT_EQ(0, open_source(self, 0));
	self->s->stripes.conn[1]->status.elements = 3;
	EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
}

TEST_F(stripes, open__too_many_of_them)
{
	fake_nodes[0].stripes = 99;
	EXPECT_EQ(-EINVAL, open_source(self, 0));
	EXPECT_STREQ("job 7 has 99 stripes, and 64 are possible: plan it again",
		     aggnet_source_error(self->s));
}

TEST_F(stripes, open__another_number_of_them)
{
	fake_nodes[1].stripes = 3;
	EXPECT_EQ(-ECANCELED, open_source(self, 0));
}

TEST_F(stripes, open__parts_of_another_vector)
{
	for (fake_tree = 0; fake_tree < 2; fake_tree++) {
		node.shape.layout = AGGNET_LAYOUT_DENSE;
		node.shape.elements = 13 + fake_tree;
	}
	EXPECT_EQ(-ECANCELED, open_source(self, 0));
	EXPECT_STREQ("stripe 1 of 2: job 7 has 13 elements of a vector of 27: apply the whole plan again on this node",
		     aggnet_source_error(self->s));
}

TEST_F(stripes, open__sorted)
{
	fake_nodes[0].shape.layout = AGGNET_LAYOUT_SORTED;
	EXPECT_EQ(-EPROTOTYPE, open_source(self, 0));
	EXPECT_STREQ("records in order cannot be split over stripes: plan the job without --sorted",
		     aggnet_source_error(self->s));
}

TEST_F(stripes, open__one_refuses)
{
	fake_nodes[1].errors[0] = EUSERS;
	EXPECT_EQ(-EUSERS, open_source(self, 0));
	EXPECT_STREQ("stripe 2 of 2 (job 8): all writers of job 8 of receiver 10.0.0.1 are here already",
		     aggnet_source_error(self->s));
}

/* An aborted entry, which a handle with @repair_ms waits to see replaced. */
static void abort_tree(unsigned int tree)
{
	fake_tree = tree;
	node.errors[0] = ETIMEDOUT;
	node.status = fake_entry();
	node.status.reason = AGGNET_R_TIMEOUT;
	node.status.origin = htonl(0x0a000003);
	node.status.missing = 2;
}

/* A tree that was joined would be aborted when the handle is closed. */
TEST_F(stripes, open__one_has_ended)
{
	abort_tree(1);
	EXPECT_EQ(-ETIMEDOUT, open_source(self, 0));
	EXPECT_STREQ("stripe 2 of 2 (job 8): timed out at 10.0.0.3: 2 sources missing",
		     aggnet_source_error(self->s));
	EXPECT_EQ(-ETIMEDOUT, open_sink(self));
	fake_nodes[1].status = (struct aggnet_status){
		.state = AGGNET_TREE_DONE, .instance = 1, .plan = { PLAN },
		.stripes = 2, .stripe = 1,
	};
	aggnet_source_close(self->s);
	EXPECT_EQ(-EALREADY, open_source(self, 0));
	EXPECT_STREQ("stripe 2 of 2 (job 8): it is over on this node",
		     aggnet_source_error(self->s));
	EXPECT_EQ(0, fake_nodes[0].joined);
	EXPECT_EQ(0, fake_nodes[1].joined);
}

TEST_F(stripes, open__one_is_being_repaired)
{
	abort_tree(1);
	self->opt.repair_ms = 5000;
	ASSERT_EQ(0, open_source(self, 0));
	ASSERT_EQ(0, add_numbered(self->s, 0, 1000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(streams_hold(1000));
	EXPECT_EQ(0, aggnet_source_replays(self->s));
}

/* The look-up found no entry; the join a moment later joins one of two trees. */
TEST_F(stripes, open__the_entry_comes_behind_the_look)
{
	fake_nodes[0].hidden = ENETUNREACH;
	EXPECT_EQ(-ECANCELED, open_source(self, 0));
	EXPECT_STREQ("job 7 is stripe 1 of 2 now, and was 1 of 1: open job 7 again",
		     aggnet_source_error(self->s));
	EXPECT_EQ(-ECANCELED, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
	aggnet_source_close(self->s);
	self->s = NULL;
	fake_nodes[0].joined = 0;
	EXPECT_EQ(-ECANCELED, open_sink(self));
	EXPECT_EQ(-ECANCELED, aggnet_sink_run(self->k));
}

/* The job is planned anew, with @n trees. */
static void plan_anew(unsigned int n)
{
	for (fake_tree = n; fake_tree--; ) {
		node.stripes = n;
		node.plan = PLAN + 1;
		node.instance = 9;
		node.room = SIZE_MAX;
		node.done = true;
	}
	fake_tree = 0;
}

/* Joining only the first one would give a part of the keys as the result. */
TEST_F(stripes, open__before_a_plan_of_more_stripes)
{
	unsigned int n;

	for (n = 1; n < 3; n++) {
		job_of(n);
		fake_nodes[0].stripes = n > 1 ? n : 0;
		for (fake_tree = 0; fake_tree < n; fake_tree++)
			abort_tree(fake_tree);
		self->opt.repair_ms = 5000;
		ASSERT_EQ(0, open_sink(self));
		plan_anew(n + 1);
		EXPECT_EQ(-ECANCELED, aggnet_sink_run(self->k));
		EXPECT_STREQ(n == 1 ? "job 7 of receiver 10.0.0.1 is stripe 1 of 2 now, and was 1 of 1: open it again" :
			     "stripe 1 of 2 (job 7): job 7 of receiver 10.0.0.1 is stripe 1 of 3 now, and was 1 of 2: open it again",
			     aggnet_sink_error(self->k));
		EXPECT_NE(0, aggnet_sink_commit(self->k));
		aggnet_sink_close(self->k);
		self->k = NULL;
		EXPECT_EQ(0, fake_nodes[0].epoch);
	}
}

TEST_F(stripes, open__before_a_plan_of_fewer_stripes)
{
	abort_tree(0);
	abort_tree(1);
	self->opt.repair_ms = 5000;
	ASSERT_EQ(0, open_source(self, 0));
	plan_anew(1);
	EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
	EXPECT_EQ(0, fake_nodes[0].epoch);
}

/* --- sink ----------------------------------------------------------------- */

static void put_message(unsigned int tree, uint32_t type, uint32_t records,
			const void *body, size_t len)
{
	struct aggnet_msg head = { .type = type, .records = records };
	uint8_t *bytes;

	fake_tree = tree;
	bytes = node.message[node.nmessages].bytes;
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, len);
	node.message[node.nmessages++].len = sizeof(head) + len;
}

static void put_record(unsigned int tree, const char *key, int64_t value)
{
	uint8_t buf[AGGNET_RECORD_MAX];

	put_message(tree, AGGNET_MSG_RECORDS, 1, buf,
		    record_put(buf, key, strlen(key), value));
}

static void put_block(unsigned int tree, uint8_t block, int8_t value)
{
	uint8_t buf[3 + AGGNET_BLOCK_ELEMENTS] = {
		1, AGGNET_BLOCK_ELEMENTS, block
	};

	memset(buf + 3, value, AGGNET_BLOCK_ELEMENTS);
	put_message(tree, AGGNET_MSG_RECORDS, 1, buf, sizeof(buf));
}

static void put_end(unsigned int tree, uint32_t sources, uint32_t attempt)
{
	struct aggnet_end end = {
		.sources = sources, .of = sources, .records = 2,
		.instance = 0, .attempt = attempt,
	};

	put_message(tree, AGGNET_MSG_END, 0, &end, sizeof(end));
}

static void put_loss(unsigned int tree, int err)
{
	fake_tree = tree;
	node.message[node.nmessages++].error = err;
}

TEST_F(stripes, sink__waits_for_all)
{
	struct aggnet_entry e;

	ASSERT_EQ(0, open_sink(self));
	put_record(0, "b", 1);
	put_record(1, "a", 2);
	put_record(1, "c", 3);
	put_end(1, 3, 0);
	EXPECT_EQ(-EAGAIN, aggnet_sink_run(self->k));
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(-EINVAL, aggnet_sink_commit(self->k));
	EXPECT_FALSE(fake_nodes[1].taken);
	put_record(0, "b", 4);
	put_end(0, 3, 0);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_FALSE(fake_nodes[0].taken || fake_nodes[1].taken);
	EXPECT_EQ(3, aggnet_sink_result(self->k)->sources);
	EXPECT_EQ(3, aggnet_sink_result(self->k)->keys);
	EXPECT_EQ(4, aggnet_sink_result(self->k)->records);
	aggnet_sink_sort(self->k);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ('a', *(const char *)e.key);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ('b', *(const char *)e.key);
	EXPECT_EQ(5, e.value);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	aggnet_sink_top(self->k, 2);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(5, e.value);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(3, e.value);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	ASSERT_EQ(0, aggnet_sink_commit(self->k));
	EXPECT_TRUE(fake_nodes[0].taken && fake_nodes[1].taken);
}

TEST_F(stripes, sink__a_vector_in_order)
{
	const unsigned int block = AGGNET_BLOCK_ELEMENTS;
	struct aggnet_entry e;
	unsigned int i;

	for (fake_tree = 0; fake_tree < 2; fake_tree++) {
		node.shape.layout = AGGNET_LAYOUT_DENSE;
		node.shape.elements = fake_tree ? block + 1 : 2 * block;
	}
	ASSERT_EQ(0, open_sink(self));
	put_block(0, 1, 2);
	put_block(0, 0, 0);
	put_block(1, 1, 3);
	put_block(1, 0, 1);
	put_end(0, 3, 0);
	put_end(1, 3, 0);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(3 * block + 1, aggnet_sink_result(self->k)->keys);
	aggnet_sink_sort(self->k);
	for (i = 0; i < 3 * block + 1; i++) {
		ASSERT_TRUE(aggnet_sink_next(self->k, &e));
		EXPECT_EQ(i, e.offset);
		EXPECT_EQ(i / block, e.value);
	}
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
}

TEST_F(stripes, sink__overflow_names_the_element)
{
	/* Block 1 of the stripe, with elements of five bytes; the first is 2^32. */
	static const uint8_t large[3 + 5 * AGGNET_BLOCK_ELEMENTS] = {
		1, 5 * AGGNET_BLOCK_ELEMENTS, 1, 0, 0, 0, 0, 1
	};

	for (fake_tree = 0; fake_tree < 2; fake_tree++) {
		node.shape.layout = AGGNET_LAYOUT_DENSE;
		node.shape.vtype = AGGNET_VTYPE_INT32;
		node.shape.elements = 2 * AGGNET_BLOCK_ELEMENTS;
	}
	ASSERT_EQ(0, open_sink(self));
	put_block(1, 0, 1);
	put_message(1, AGGNET_MSG_RECORDS, 1, large, sizeof(large));
	put_end(1, 3, 0);
	EXPECT_EQ(-EOVERFLOW, aggnet_sink_run(self->k));
	EXPECT_STREQ("stripe 2 of 2 (job 8): the value of element 39 or close behind it does not fit its type",
		     aggnet_sink_error(self->k));
	EXPECT_EQ(AGGNET_R_OVERFLOW, fake_nodes[1].aborted);
	aggnet_sink_close(self->k);
	self->k = NULL;
	EXPECT_EQ(AGGNET_R_RECEIVER, fake_nodes[0].aborted);
}

/* A tree that was whole is lost while the other one is not. */
TEST_F(stripes, sink__a_whole_tree_is_lost)
{
	struct aggnet_entry e;

	ASSERT_EQ(0, open_sink(self));
	put_record(1, "a", 2);
	put_end(1, 3, 0);
	EXPECT_EQ(-EAGAIN, aggnet_sink_run(self->k));
	/* In place of its end mark. */
	fake_nodes[1].nmessages--;
	put_loss(1, ESTALE);
	put_record(0, "b", 1);
	put_end(0, 3, 0);
	EXPECT_EQ(-EAGAIN, aggnet_sink_run(self->k));
	put_record(1, "c", 7);
	put_end(1, 3, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(1, aggnet_sink_replays(self->k));
	EXPECT_EQ(1, aggnet_sink_result(self->k)->attempt);
	EXPECT_EQ(2, aggnet_sink_result(self->k)->keys);
	aggnet_sink_sort(self->k);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ('b', *(const char *)e.key);
	ASSERT_EQ(0, aggnet_sink_commit(self->k));
}

/* The loss is seen before the end mark of any tree is taken. */
TEST_F(stripes, sink__lost_before_the_commit)
{
	struct aggnet_entry e;

	ASSERT_EQ(0, open_sink(self));
	put_record(0, "b", 1);
	put_end(0, 3, 0);
	put_record(1, "a", 2);
	put_end(1, 3, 0);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	fake_nodes[1].nmessages--;
	put_loss(1, ESTALE);
	EXPECT_EQ(-ESTALE, aggnet_sink_commit(self->k));
	EXPECT_FALSE(fake_nodes[0].taken);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	put_record(1, "a", 5);
	put_end(1, 3, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(2, aggnet_sink_result(self->k)->keys);
	ASSERT_EQ(0, aggnet_sink_commit(self->k));
	EXPECT_TRUE(fake_nodes[0].taken);
}

/* One result is of a fingerprint that its sources did not give: none is taken. */
TEST_F(stripes, sink__one_is_changed)
{
	ASSERT_EQ(0, open_sink(self));
	put_record(0, "b", 1);
	put_end(0, 3, 0);
	put_record(1, "a", 2);
	put_end(1, 3, 0);
	fake_nodes[1].check.whole = 1;
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_EQ(AGGNET_R_MISMATCH, fake_nodes[1].aborted);
	EXPECT_NE(0, aggnet_sink_commit(self->k));
	EXPECT_FALSE(fake_nodes[0].taken || fake_nodes[1].taken);
}

/* A source that left one of the trees: its records would be there in part. */
TEST_F(stripes, sink__of_other_sources)
{
	ASSERT_EQ(0, open_sink(self));
	put_record(0, "b", 1);
	put_end(0, 3, 0);
	put_record(1, "a", 2);
	put_end(1, 2, 0);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_STREQ("stripe 2 of 2 (job 8) has other sources than stripe 1",
		     aggnet_sink_error(self->k));
	EXPECT_NE(0, aggnet_sink_commit(self->k));
}

/* A handle that was opened on aborted entries joins any plan; here two. */
TEST_F(stripes, sink__joins_epochs_of_two_plans)
{
	ASSERT_EQ(0, open_sink(self));
	put_loss(0, ESTALE);
	fake_nodes[0].plan++;
	self->k->tree[0]->conn.joined = false;
	EXPECT_EQ(-EAGAIN, aggnet_sink_run(self->k));
	put_end(0, 3, 0);
	put_end(1, 3, 0);
	EXPECT_EQ(-ECANCELED, aggnet_sink_run(self->k));
}

static void ignore(int sig)
{
	(void)sig;
}

/* A signal comes while the end mark of a tree is waited for. */
TEST_F(stripes, sink__commit_is_interrupted)
{
	const struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	const struct sigaction act = { .sa_handler = ignore };
	struct sigevent event = { .sigev_signo = SIGUSR1 };
	uint64_t count;
	timer_t timer;

	ASSERT_EQ(0, open_sink(self));
	put_end(0, 3, 0);
	put_end(1, 3, 0);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	fake_nodes[0].next = 1;
	self->k->stripes.opt.flags = 0;
	ASSERT_EQ(8, read(conn_fd(self->k->stripes.conn[0]), &count, 8));
	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	ASSERT_EQ(0, timer_create(CLOCK_MONOTONIC, &event, &timer));
	ASSERT_EQ(0, timer_settime(timer, 0, &often, NULL));
	EXPECT_EQ(-EINTR, aggnet_sink_commit(self->k));
	timer_delete(timer);
	EXPECT_STREQ("interrupted", aggnet_sink_error(self->k));
	fake_nodes[0].next = 0;
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
}

TEST_F(stripes, sink__closed_early)
{
	ASSERT_EQ(0, open_sink(self));
	put_end(0, 3, 0);
	put_end(1, 3, 0);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	aggnet_sink_close(self->k);
	self->k = NULL;
	EXPECT_EQ(AGGNET_R_RECEIVER, fake_nodes[0].aborted);
	EXPECT_EQ(AGGNET_R_RECEIVER, fake_nodes[1].aborted);
}

TEST_F(stripes, abort__all_of_them)
{
	struct aggnet_status st;

	ASSERT_EQ(0, open_source(self, 0));
	EXPECT_EQ(0, aggnet_source_abort(self->s, AGGNET_R_USER));
	EXPECT_EQ(AGGNET_R_USER, fake_nodes[0].aborted);
	EXPECT_EQ(AGGNET_R_USER, fake_nodes[1].aborted);
	EXPECT_EQ(0, aggnet_source_status(self->s, &st));
}

/* The sentence is that of the abort, not of the call before. */
TEST_F(stripes, abort__while_it_waits)
{
	fake_nodes[0].done = false;
	ASSERT_EQ(0, open_source(self, AGGNET_OPT_NONBLOCK));
	ASSERT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	ASSERT_EQ(0, aggnet_source_abort(self->s, AGGNET_R_USER));
	EXPECT_STREQ("aborted here: an application asked to stop",
		     aggnet_source_error(self->s));
}

TEST_HARNESS_MAIN
