// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libaggnet's sink with a node that the test provides: receiving,
 * the end mark, and refusals.
 */
#include "fake_node.h"

#define PLAN	0x5a	/* first byte of the plan's ID */

FIXTURE(sink) {
	struct aggnet_sink *k;
	struct in_addr any;
	struct aggnet_options opt;
	int fds;
};

FIXTURE_SETUP(sink)
{
	memset(&node, 0, sizeof(node));
	node.plan = PLAN;
	memset(&self->any, 0, sizeof(self->any));
	memset(&self->opt, 0, sizeof(self->opt));
	self->opt.flags = AGGNET_OPT_NONBLOCK;
	self->k = NULL;
	self->fds = open_fds();
	ASSERT_EQ(0, aggnet_sink_open(&self->k, self->any, 7, &self->opt));
}

FIXTURE_TEARDOWN(sink)
{
	aggnet_sink_close(self->k);
	EXPECT_EQ(self->fds, open_fds());
}

static void put_message(uint32_t type, uint32_t records, const void *body,
			size_t len)
{
	struct aggnet_msg head = { .type = type, .records = records };
	uint8_t *bytes = node.message[node.nmessages].bytes;

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, len);
	node.message[node.nmessages++].len = sizeof(head) + len;
}

static void put_records(const char *key, int64_t value, const char *key2,
			int64_t value2)
{
	uint8_t buf[2 * AGGNET_RECORD_MAX];
	size_t len = record_put(buf, key, strlen(key), value);

	len += record_put(buf + len, key2, strlen(key2), value2);
	put_message(AGGNET_MSG_RECORDS, 2, buf, len);
}

/* The identities after the end mark are 10.1.0.0, 10.1.0.1, ... */
static void put_end_without(uint32_t sources, uint32_t of, uint32_t absent,
			    uint32_t named)
{
	struct {
		struct aggnet_end end;
		__be32 id[AGGNET_ABSENT_MAX];
	} end = {
		.end = {
			.sources = sources, .of = of, .partials = 1,
			.absent = absent, .records = 4,
		},
	};
	uint32_t i;

	for (i = 0; i < named; i++)
		end.id[i] = htonl(0x0a010000 + i);
	put_message(AGGNET_MSG_END, 0, &end,
		    sizeof(end.end) + named * sizeof(end.id[0]));
}

static void put_end(uint32_t sources, uint32_t of)
{
	put_end_without(sources, of, 0, 0);
}

TEST_F(sink, run__merges_and_leaves_the_end_mark)
{
	struct aggnet_entry e;

	put_records("b", 1, "a", 2);
	put_records("a", 3, "c", -4);
	EXPECT_EQ(-EAGAIN, aggnet_sink_run(self->k));
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(-EINVAL, aggnet_sink_commit(self->k));
	put_end(3, 3);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_FALSE(node.taken);
	EXPECT_EQ(3, aggnet_sink_result(self->k)->sources);
	EXPECT_EQ(1, aggnet_sink_result(self->k)->partials);
	EXPECT_EQ(3, aggnet_sink_result(self->k)->keys);
	EXPECT_EQ(PLAN, aggnet_sink_result(self->k)->plan[0]);
	aggnet_sink_sort(self->k);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ('a', *(const char *)e.key);
	EXPECT_EQ(5, e.value);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(1, e.value);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(-4, e.value);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	ASSERT_EQ(0, aggnet_sink_commit(self->k));
	EXPECT_TRUE(node.taken);
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
}

/* The others of the result do not come back. */
TEST_F(sink, top__then_by_keys)
{
	struct aggnet_entry e;

	put_records("b", 9, "a", 2);
	put_records("d", 3, "c", 7);
	put_end(4, 4);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	aggnet_sink_top(self->k, 2);
	aggnet_sink_sort(self->k);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ('b', *(const char *)e.key);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ('c', *(const char *)e.key);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(4, aggnet_sink_result(self->k)->keys);
}

/* What sources would have given, of two records. */
static void expect_check(const char *key, int64_t value, const char *key2,
			 int64_t value2)
{
	const struct aggnet_check check = fake_check();
	struct fingerprint f = {
		.shape = node.shape, .kind = check.kind,
		.key = { check.key[0], check.key[1] },
	};
	uint8_t buf[AGGNET_RECORD_MAX];

	fingerprint_records(&f, buf, record_put(buf, key, strlen(key), value));
	fingerprint_records(&f, buf, record_put(buf, key2, strlen(key2),
						value2));
	node.check.value = f.value;
	node.check.whole = 1;
}

TEST_F(sink, fingerprint__is_that_of_the_sources)
{
	put_records("b", 1, "a", 2);
	put_records("a", 3, "b", -4);
	put_end(3, 3);
	expect_check("a", 5, "b", -3);
	EXPECT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
	EXPECT_EQ(AGGNET_R_NONE, node.aborted);
}

TEST_F(sink, fingerprint__is_another)
{
	struct aggnet_entry e;

	put_records("b", 1, "a", 2);
	put_end(3, 3);
	expect_check("a", 2, "b", 2);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_EQ(AGGNET_R_MISMATCH, node.aborted);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(-EBADMSG, aggnet_sink_commit(self->k));
	EXPECT_FALSE(node.taken);
}

/* A source that does not use the library gave none. */
TEST_F(sink, fingerprint__is_not_of_all_sources)
{
	put_records("b", 1, "a", 2);
	put_end(3, 3);
	expect_check("a", 2, "b", 2);
	node.check.whole = 0;
	EXPECT_EQ(0, aggnet_sink_run(self->k));
}

/* A block of equal elements, as a packet carries it. */
static void put_block(uint8_t block, int8_t value)
{
	uint8_t buf[3 + 13] = { 1, 13, block };

	memset(buf + 3, value, 13);
	put_message(AGGNET_MSG_RECORDS, 1, buf, sizeof(buf));
}

static void of_vector(struct aggnet_sink *k, uint64_t elements)
{
	k->tree[0]->conn.status.layout = AGGNET_LAYOUT_DENSE;
	k->tree[0]->conn.status.elements = elements;
}

TEST_F(sink, vector__elements_in_order)
{
	struct aggnet_entry e;
	unsigned int i;

	of_vector(self->k, 20);
	put_block(1, 7);
	put_block(0, -3);
	put_block(1, 2);
	put_end(2, 2);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(20, aggnet_sink_result(self->k)->keys);
	aggnet_sink_sort(self->k);
	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(aggnet_sink_next(self->k, &e));
		EXPECT_EQ(i, e.offset);
		EXPECT_EQ(0, e.klen);
		EXPECT_EQ(i < 13 ? -3 : 9, e.value);
	}
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
}

TEST_F(sink, vector__a_block_is_missing)
{
	of_vector(self->k, 40);
	put_block(0, 1);
	put_block(3, 1);
	put_block(2, 1);
	put_end(2, 2);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_STREQ("only 3 of the vector's 4 blocks came",
		     aggnet_sink_error(self->k));
}

TEST_F(sink, vector__no_block_of_it)
{
	of_vector(self->k, 26);
	put_block(2, 1);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
}

/*
 * --- lines in a stream ------------------------------------------------------
 */

static void of_sorted(struct aggnet_sink *k)
{
	node.shape.layout = AGGNET_LAYOUT_SORTED;
	node.status.layout = AGGNET_LAYOUT_SORTED;
	k->tree[0]->conn.status.layout = AGGNET_LAYOUT_SORTED;
}

/* Is the next line this one? Its key is one letter. */
static bool line_is(struct aggnet_sink *k, char key, int64_t value)
{
	struct aggnet_entry e;

	return aggnet_sink_stream(k, &e) == 1 && e.klen == 1 &&
	       *(const char *)e.key == key && e.value == value;
}

TEST_F(sink, stream__a_line_once_nothing_can_be_added)
{
	struct aggnet_entry e;

	of_sorted(self->k);
	EXPECT_EQ(-EAGAIN, aggnet_sink_stream(self->k, &e));
	put_records("a", 1, "b", 2);
	EXPECT_TRUE(line_is(self->k, 'a', 1));
	EXPECT_EQ(-EAGAIN, aggnet_sink_stream(self->k, &e));
	put_records("b", 3, "c", 4);
	EXPECT_TRUE(line_is(self->k, 'b', 5));
	EXPECT_EQ(-EAGAIN, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(-EINVAL, aggnet_sink_commit(self->k));
	put_end(3, 3);
	EXPECT_TRUE(line_is(self->k, 'c', 4));
	EXPECT_EQ(0, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(0, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(3, aggnet_sink_result(self->k)->keys);
	EXPECT_FALSE(node.taken);
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
	EXPECT_TRUE(node.taken);
}

TEST_F(sink, stream__newer_epoch)
{
	struct aggnet_entry e;

	of_sorted(self->k);
	put_records("a", 1, "b", 2);
	EXPECT_TRUE(line_is(self->k, 'a', 1));
	node.message[node.nmessages++].error = ESTALE;
	EXPECT_EQ(-ESTALE, aggnet_sink_stream(self->k, &e));
	/* The caller has seen no line of this epoch. */
	node.message[node.nmessages++].error = ESTALE;
	put_records("a", 7, "a", 1);
	EXPECT_EQ(-EAGAIN, aggnet_sink_stream(self->k, &e));
	put_end(1, 1);
	EXPECT_TRUE(line_is(self->k, 'a', 8));
	/* The caller has seen the end mark but not taken it. */
	EXPECT_EQ(0, aggnet_sink_stream(self->k, &e));
	node.message[node.nmessages - 1].error = ESTALE;
	EXPECT_EQ(-ESTALE, aggnet_sink_commit(self->k));
	put_records("a", 2, "c", 3);
	put_end(1, 1);
	EXPECT_TRUE(line_is(self->k, 'a', 2));
	EXPECT_TRUE(line_is(self->k, 'c', 3));
	EXPECT_EQ(0, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(2, aggnet_sink_result(self->k)->keys);
}

TEST_F(sink, stream__has_another_fingerprint)
{
	struct aggnet_entry e;

	of_sorted(self->k);
	put_records("a", 1, "b", 2);
	put_end(3, 3);
	expect_check("a", 1, "b", 3);
	EXPECT_EQ(1, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(1, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(-EBADMSG, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(AGGNET_R_MISMATCH, node.aborted);
}

TEST_F(sink, stream__commit_before_the_check)
{
	struct aggnet_entry e;

	of_sorted(self->k);
	put_records("a", 1, "b", 2);
	put_end(3, 3);
	expect_check("a", 1, "b", 3);
	EXPECT_EQ(1, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(1, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(-EINVAL, aggnet_sink_commit(self->k));
	EXPECT_FALSE(node.taken);
}

TEST_F(sink, stream__of_pairs_in_parts)
{
	uint8_t buf[3 + 16] = { 1, 16, 'k' };
	struct aggnet_entry e;

	of_sorted(self->k);
	self->k->tree[0]->conn.status.function = AGGNET_FN_NEAREST;
	self->k->tree[0]->conn.status.k = 2;
	buf[3] = 9;
	put_message(AGGNET_MSG_RECORDS, 1, buf, sizeof(buf));
	buf[3] = 5;
	buf[11] = 1;
	put_message(AGGNET_MSG_RECORDS, 1, buf, sizeof(buf));
	put_end(1, 1);
	ASSERT_EQ(1, aggnet_sink_stream(self->k, &e));
	ASSERT_EQ(2, e.n);
	EXPECT_EQ(5, e.best[0].value);
	EXPECT_EQ(9, e.best[1].value);
	EXPECT_EQ(0, aggnet_sink_stream(self->k, &e));
}

TEST_F(sink, stream__out_of_order)
{
	struct aggnet_entry e;

	of_sorted(self->k);
	put_records("b", 1, "ab", 2);
	EXPECT_EQ(-EBADMSG, aggnet_sink_stream(self->k, &e));
}

TEST_F(sink, stream__is_for_sorted_ones)
{
	struct aggnet_entry e;

	put_records("a", 1, "b", 2);
	EXPECT_EQ(-EPROTOTYPE, aggnet_sink_stream(self->k, &e));
	put_end(1, 1);
	EXPECT_EQ(0, aggnet_sink_run(self->k));
}

TEST_F(sink, stream__a_value_that_does_not_fit)
{
	uint8_t buf[3 + 9] = { 1, 9, 'k', 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	struct aggnet_entry e;

	of_sorted(self->k);
	put_message(AGGNET_MSG_RECORDS, 1, buf, sizeof(buf));
	put_records("l", 1, "m", 2);
	EXPECT_EQ(-EOVERFLOW, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(AGGNET_R_OVERFLOW, node.aborted);
}

TEST_F(sink, reset__forgets)
{
	struct aggnet_entry e;

	put_records("a", 1, "b", 2);
	put_message(AGGNET_MSG_RESET, 0, "", 0);
	put_records("c", 3, "c", 4);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(7, e.value);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
}

/* Each call of recv() needs a buffer in the kernel; the epoch is not lost without it. */
TEST_F(sink, run__without_memory_in_the_kernel)
{
	struct aggnet_entry e;

	put_records("a", 1, "b", 2);
	node.message[node.nmessages++].error = ENOMEM;
	put_records("a", 3, "b", 4);
	put_end(1, 1);
	EXPECT_EQ(-ENOMEM, aggnet_sink_run(self->k));
	EXPECT_STREQ("the kernel has no memory for this call: try again",
		     aggnet_sink_error(self->k));
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(4, e.value);
	node.message[node.next].error = ENOMEM;
	EXPECT_EQ(-ENOMEM, aggnet_sink_commit(self->k));
	node.message[--node.next].error = 0;
	EXPECT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
}

TEST_F(sink, newer_epoch__while_reading)
{
	struct aggnet_entry e;

	put_records("a", 1, "b", 2);
	node.message[node.nmessages++].error = ESTALE;
	put_records("c", 3, "c", 4);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(1, aggnet_sink_replays(self->k));
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(7, e.value);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
}

TEST_F(sink, newer_epoch__before_commit)
{
	struct aggnet_entry e;

	put_records("a", 1, "a", 2);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	node.message[node.next].error = ESTALE;
	put_records("a", 3, "a", 4);
	put_end(1, 1);
	EXPECT_EQ(-ESTALE, aggnet_sink_commit(self->k));
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(7, e.value);
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
}

/*
 * Another process may have read from the socket: there is nothing to read now.
 */
TEST_F(sink, commit__has_to_wait)
{
	struct aggnet_entry e;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		aggnet_sink_close(self->k);
		memset(&node, 0, sizeof(node));
		self->opt.flags = i ? 0 : AGGNET_OPT_NONBLOCK;
		ASSERT_EQ(0, aggnet_sink_open(&self->k, self->any, 7,
					      &self->opt));
		put_records("a", 1, "a", 2);
		put_end(1, 1);
		ASSERT_EQ(0, aggnet_sink_run(self->k));
		node.message[node.next].error = EAGAIN;
		put_end(1, 1);
		if (!i)
			EXPECT_EQ(-EAGAIN, aggnet_sink_commit(self->k));
		EXPECT_EQ(0, aggnet_sink_commit(self->k));
		EXPECT_TRUE(node.taken);
		ASSERT_TRUE(aggnet_sink_next(self->k, &e));
		EXPECT_EQ(3, e.value);
	}
}

/* Change the end mark that was put last. */
static void end_is_of(uint32_t round, uint32_t last)
{
	struct aggnet_end *end =
		(void *)(node.message[node.nmessages - 1].bytes +
			 sizeof(struct aggnet_msg));

	end->round = round;
	end->last = last;
}

TEST_F(sink, round__after_round)
{
	struct aggnet_entry e;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		put_records("a", i, "a", 2);
		put_end(1, 1);
		end_is_of(i, i == 2);
		ASSERT_EQ(0, aggnet_sink_run(self->k));
		EXPECT_EQ(-EINVAL, aggnet_sink_round(self->k));
		EXPECT_EQ(i, aggnet_sink_result(self->k)->round);
		EXPECT_EQ(i == 2, aggnet_sink_result(self->k)->last);
		ASSERT_TRUE(aggnet_sink_next(self->k, &e));
		EXPECT_EQ(2 + i, e.value);
		EXPECT_FALSE(aggnet_sink_next(self->k, &e));
		ASSERT_EQ(0, aggnet_sink_commit(self->k));
		EXPECT_EQ(i == 2 ? -EPIPE : 0, aggnet_sink_round(self->k));
	}
}

/* Rounds that were handed out are not read again. */
TEST_F(sink, round__in_a_newer_epoch)
{
	put_records("a", 1, "a", 2);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	ASSERT_EQ(0, aggnet_sink_commit(self->k));
	ASSERT_EQ(0, aggnet_sink_round(self->k));
	put_records("a", 3, "a", 4);
	node.message[node.nmessages - 1].error = ESTALE;
	EXPECT_EQ(-ECANCELED, aggnet_sink_run(self->k));
	EXPECT_EQ(1, node.epoch);
}

/* Sources of a vector end after a round: the last one has nothing. */
TEST_F(sink, round__of_a_vector_that_is_left_out)
{
	const struct aggnet_end end = {
		.sources = 1, .of = 1, .round = 1, .last = 1,
	};
	struct aggnet_entry e;

	of_vector(self->k, 20);
	put_message(AGGNET_MSG_END, 0, &end, sizeof(end));
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(0, aggnet_sink_result(self->k)->keys);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
}

TEST_F(sink, commit__of_another_round)
{
	put_records("a", 1, "a", 2);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	end_is_of(1, 0);
	EXPECT_EQ(-EBADMSG, aggnet_sink_commit(self->k));
}

/* An end mark confirms the result of one epoch only. */
TEST_F(sink, commit__of_another_epoch)
{
	struct aggnet_end *end;

	put_records("a", 1, "a", 2);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	end = (void *)(node.message[node.next].bytes +
		       sizeof(struct aggnet_msg));
	end->attempt++;
	EXPECT_EQ(-EBADMSG, aggnet_sink_commit(self->k));
	EXPECT_STREQ("malformed message: end mark of another epoch or round",
		     aggnet_sink_error(self->k));
}

TEST_F(sink, commit__of_half_an_end_mark)
{
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	node.message[node.next].len--;
	EXPECT_EQ(-EBADMSG, aggnet_sink_commit(self->k));
}

/* Without random numbers the table of keys fails, and not with ENOMEM. */
TEST_F(sink, run__no_random_number)
{
	node.no_random = ENOSYS;
	put_records("a", 1, "b", 2);
	EXPECT_EQ(-ENOSYS, aggnet_sink_run(self->k));
	EXPECT_STREQ("cannot merge: Function not implemented",
		     aggnet_sink_error(self->k));
}

/*
 * The error is what ended the epoch, not what ended the wait for the next one.
 */
TEST_F(sink, newer_epoch__does_not_come)
{
	struct pollfd pfd = { .events = POLLIN };
	unsigned int i;
	int err;

	aggnet_sink_close(self->k);
	self->opt.repair_ms = 50;
	node.message[node.nmessages++].error = ETIMEDOUT;
	ASSERT_EQ(0, aggnet_sink_open(&self->k, self->any, 7, &self->opt));
	for (i = node.joined; i < ARRAY_SIZE(node.errors); i++)
		node.errors[i] = ENETUNREACH;
	while ((err = aggnet_sink_run(self->k)) == -EAGAIN) {
		ASSERT_GT(ARRAY_SIZE(node.errors), node.joined);
		pfd.fd = aggnet_sink_fd(self->k);
		poll(&pfd, 1, -1);
	}
	EXPECT_EQ(-ETIMEDOUT, err);
	EXPECT_STREQ("timed out at 10.0.0.3: 2 sources missing",
		     aggnet_sink_error(self->k));
}

/*
 * The timeout applies although records are always ready, so that recv() never
 * waits.
 */
TEST_F(sink, timeout__without_waiting)
{
	self->k->tree[0]->conn.deadline = 1;
	put_records("a", 1, "b", 2);
	put_end(1, 1);
	EXPECT_EQ(-ETIMEDOUT, aggnet_sink_run(self->k));
	EXPECT_EQ(0, node.next);
}

/* Lines of one transfer are never mixed with those of another. */
TEST_F(sink, another_transfer__is_not_joined)
{
	put_records("a", 1, "a", 2);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	node.message[node.next].error = ESTALE;
	node.instance = 2;
	put_records("a", 3, "a", 4);
	put_end(1, 1);
	EXPECT_EQ(-ESTALE, aggnet_sink_commit(self->k));
	EXPECT_EQ(-ECANCELED, aggnet_sink_run(self->k));
	EXPECT_STREQ("job 7 was planned anew: instance 2 in place of 1",
		     aggnet_sink_error(self->k));
	EXPECT_EQ(1, node.joined);
	EXPECT_EQ(-ECANCELED, aggnet_sink_commit(self->k));
	EXPECT_FALSE(node.taken);
}

TEST_F(sink, another_transfer__streamed)
{
	struct aggnet_entry e;

	of_sorted(self->k);
	put_records("a", 1, "b", 2);
	EXPECT_TRUE(line_is(self->k, 'a', 1));
	node.message[node.nmessages++].error = ESTALE;
	node.instance = 2;
	EXPECT_EQ(-ECANCELED, aggnet_sink_stream(self->k, &e));
	EXPECT_EQ(-ECANCELED, aggnet_sink_stream(self->k, &e));
}

TEST_F(sink, overflow__names_the_key_and_tells_the_others)
{
	put_records("fine", INT64_MAX, "o\nver", INT64_MIN);
	put_records("fine", 0, "o\nver", -1);
	put_end(1, 1);
	EXPECT_EQ(-EOVERFLOW, aggnet_sink_run(self->k));
	EXPECT_STREQ("the value of key 'o\\x0aver' does not fit its type",
		     aggnet_sink_error(self->k));
	EXPECT_EQ(AGGNET_R_OVERFLOW, node.aborted);
	EXPECT_FALSE(node.taken);
	EXPECT_EQ(-EOVERFLOW, aggnet_sink_commit(self->k));
}

TEST_F(sink, run__refuses_an_incomplete_result)
{
	put_records("a", 1, "b", 2);
	put_end(2, 3);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_STREQ("only 2 of 3 sources came", aggnet_sink_error(self->k));
	EXPECT_FALSE(node.taken);
}

TEST_F(sink, end__names_the_sources_left_out)
{
	const struct in_addr *absent;
	size_t n;

	put_end_without(3, 5, 2, 2);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(3, aggnet_sink_result(self->k)->sources);
	EXPECT_EQ(5, aggnet_sink_result(self->k)->of);
	EXPECT_EQ(2, aggnet_sink_result(self->k)->absent);
	absent = aggnet_sink_absent(self->k, &n);
	ASSERT_EQ(2, n);
	EXPECT_EQ(htonl(0x0a010000), absent[0].s_addr);
	EXPECT_EQ(htonl(0x0a010001), absent[1].s_addr);
}

TEST_F(sink, end__names_no_more_than_fit)
{
	const struct in_addr *absent;
	size_t n;

	put_end_without(1, 101, 100, AGGNET_ABSENT_MAX);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(100, aggnet_sink_result(self->k)->absent);
	absent = aggnet_sink_absent(self->k, &n);
	ASSERT_EQ(AGGNET_ABSENT_MAX, n);
	EXPECT_EQ(htonl(0x0a010000 + AGGNET_ABSENT_MAX - 1),
		  absent[n - 1].s_addr);
}

TEST_F(sink, end__with_a_source_neither_here_nor_absent)
{
	put_end_without(3, 5, 1, 1);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_STREQ("only 3 of 5 sources came", aggnet_sink_error(self->k));
}

TEST_F(sink, end__with_names_cut_off)
{
	put_end_without(3, 5, 2, 1);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
}

TEST_F(sink, run__refuses_malformed_messages)
{
	uint8_t record[AGGNET_RECORD_MAX];
	size_t len = record_put(record, "k", 1, 1000);
	const struct {
		uint32_t type;
		uint32_t records;
		size_t len;
	} cases[] = {
		{ AGGNET_MSG_RECORDS, 2, len },
		{ AGGNET_MSG_RECORDS, 0, len },
		{ AGGNET_MSG_RECORDS, 1, len - 1 },
		{ AGGNET_MSG_END, 0, 4 },
		{ 99, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		node.next = 0;
		node.nmessages = 0;
		put_message(cases[i].type, cases[i].records, record,
			    cases[i].len);
		EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
		self->k->tree[0]->conn.final = 0;
	}
}

/* Close aborts even if a child of fork() holds another descriptor. */
TEST_F(sink, close__before_commit_aborts)
{
	aggnet_sink_close(self->k);
	EXPECT_EQ(AGGNET_R_RECEIVER, node.aborted);
	node.aborted = 0;
	ASSERT_EQ(0, aggnet_sink_open(&self->k, self->any, 7, &self->opt));
	put_records("a", 1, "b", 2);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	ASSERT_EQ(0, aggnet_sink_commit(self->k));
	aggnet_sink_close(self->k);
	self->k = NULL;
	EXPECT_EQ(0, node.aborted);
}

TEST_F(sink, close__before_the_last_round_aborts)
{
	uint32_t last;

	for (last = 0; last < 2; last++) {
		aggnet_sink_close(self->k);
		memset(&node, 0, sizeof(node));
		node.persist = true;
		ASSERT_EQ(0, aggnet_sink_open(&self->k, self->any, 7,
					      &self->opt));
		put_records("a", 1, "b", 2);
		put_end(1, 1);
		end_is_of(0, last);
		ASSERT_EQ(0, aggnet_sink_run(self->k));
		ASSERT_EQ(0, aggnet_sink_commit(self->k));
		aggnet_sink_close(self->k);
		self->k = NULL;
		EXPECT_EQ(last ? 0 : AGGNET_R_RECEIVER, node.aborted);
	}
}

TEST_F(sink, abort__says_it_to_the_node)
{
	EXPECT_EQ(0, aggnet_sink_abort(self->k, AGGNET_R_USER));
	EXPECT_EQ(AGGNET_R_USER, node.aborted);
	EXPECT_EQ(-ECANCELED, aggnet_sink_run(self->k));
	EXPECT_STREQ("aborted here: an application asked to stop",
		     aggnet_sink_error(self->k));
}

TEST_HARNESS_MAIN
