// SPDX-License-Identifier: GPL-2.0
/* libaggnet's sources and sinks with the real socket. Needs root and the
 * module.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

#include "one_node.h"

struct contribution {
	struct aggnet_source *s;
	unsigned int records;
	int64_t value;
	int err;
	pthread_t thread;
};

static void *contribute(void *arg)
{
	struct contribution *c = arg;
	unsigned int i;
	char key[16];

	for (i = 0; !c->err && i < c->records; i++) {
		snprintf(key, sizeof(key), "%u", i % 1000);
		c->err = aggnet_source_add(c->s, key, strlen(key), c->value);
	}
	if (!c->err)
		c->err = aggnet_source_finish(c->s);
	return NULL;
}

TEST_F(node, functions)
{
	const struct {
		uint8_t function;
		int64_t expected;
	} cases[] = {
		{ AGGNET_FN_SUM, 20 * 3 + 20 * -1 }, { AGGNET_FN_MIN, -1 },
		{ AGGNET_FN_MAX, 3 }, { AGGNET_FN_COUNT, 40 },
	};
	unsigned int i, j, lines;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct contribution c[2] = {
			{ .records = 20000, .value = 3 },
			{ .records = 20000, .value = -1 },
		};
		struct aggnet_tree_info e = entry(2);
		struct aggnet_entry line;
		struct aggnet_sink *k;

		e.function = cases[i].function;
		e.instance = i + 1;
		ASSERT_EQ(0, add_entry(self->ctl, &e, i > 0));
		ASSERT_EQ(0, aggnet_sink_open(&k, ip("0.0.0.0"), JOB, NULL));
		for (j = 0; j < 2; j++) {
			ASSERT_EQ(0, aggnet_source_open(&c[j].s, ip(NODE_A),
							JOB, NULL));
			ASSERT_EQ(0, pthread_create(&c[j].thread, NULL,
						    contribute, &c[j]));
		}
		ASSERT_EQ(0, aggnet_sink_run(k)) {
			TH_LOG("%s", aggnet_sink_error(k));
		}
		for (lines = 0; aggnet_sink_next(k, &line); lines++)
			ASSERT_EQ(cases[i].expected, line.value);
		EXPECT_EQ(1000, lines);
		EXPECT_EQ(40000, aggnet_sink_result(k)->records);
		ASSERT_EQ(0, aggnet_sink_commit(k));
		for (j = 0; j < 2; j++) {
			ASSERT_EQ(0, pthread_join(c[j].thread, NULL));
			EXPECT_EQ(0, c[j].err);
			aggnet_source_close(c[j].s);
		}
		aggnet_sink_close(k);
	}
}

TEST_F(node, overflow_is_told_to_the_source)
{
	struct contribution c = { .records = 2000, .value = INT64_MAX };
	struct aggnet_sink *k;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	ASSERT_EQ(0, aggnet_sink_open(&k, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, aggnet_source_open(&c.s, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, pthread_create(&c.thread, NULL, contribute, &c));
	EXPECT_EQ(-EOVERFLOW, aggnet_sink_run(k));
	EXPECT_NE(NULL, strstr(aggnet_sink_error(k), "the value of key '"));
	ASSERT_EQ(0, pthread_join(c.thread, NULL));
	EXPECT_EQ(-EOVERFLOW, c.err);
	EXPECT_STREQ("a result does not fit its type at " NODE_A,
		     aggnet_source_error(c.s));
	aggnet_source_close(c.s);
	aggnet_sink_close(k);
}

TEST_F(node, replays_in_a_newer_epoch)
{
	struct contribution c = { .records = 50000, .value = 1 };
	struct aggnet_tree_info e = entry(1);
	struct aggnet_entry line;
	struct aggnet_sink *k;
	unsigned int lines;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	ASSERT_EQ(0, aggnet_sink_open(&k, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, aggnet_source_open(&c.s, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, pthread_create(&c.thread, NULL, contribute, &c));
	ASSERT_EQ(0, aggnet_sink_run(k));
	e.has |= AGGNET_HAS(AGGNET_A_TREE_ATTEMPT);
	e.attempt = 1;
	ASSERT_EQ(0, add_entry(self->ctl, &e, true));
	EXPECT_EQ(-ESTALE, aggnet_sink_commit(k));
	ASSERT_EQ(0, aggnet_sink_run(k)) {
		TH_LOG("%s", aggnet_sink_error(k));
	}
	for (lines = 0; aggnet_sink_next(k, &line); lines++)
		ASSERT_EQ(50, line.value);
	EXPECT_EQ(1000, lines);
	EXPECT_EQ(0, aggnet_sink_commit(k));
	ASSERT_EQ(0, pthread_join(c.thread, NULL));
	EXPECT_EQ(0, c.err);
	EXPECT_EQ(1, aggnet_source_replays(c.s));
	EXPECT_EQ(1, aggnet_sink_replays(k));
	aggnet_source_close(c.s);
	aggnet_sink_close(k);
}

/* Closing does not wait for a child process that holds a copy of the socket. */
TEST_F(node, close_aborts_while_a_child_has_the_socket)
{
	struct aggnet_source *s;
	struct aggnet_sink *k;
	int to_child[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	ASSERT_EQ(0, aggnet_sink_open(&k, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, aggnet_source_open(&s, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, pipe(to_child));
	child = fork();
	if (!child) {
		close(to_child[1]);
		_exit((int)read(to_child[0], &byte, 1));
	}
	ASSERT_LT(0, child);
	aggnet_source_close(s);
	EXPECT_EQ(-ECONNABORTED, aggnet_sink_run(k));
	aggnet_sink_close(k);
	close(to_child[1]);
	close(to_child[0]);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
}

/* A transfer is replaced by another instance: its source and receiver fail, and
 * the new entry is unchanged.
 */
TEST_F(node, another_instance_is_not_joined)
{
	struct contribution c = { .records = 1000, .value = 1 };
	struct aggnet_tree_info e = entry(1), now;
	struct aggnet_sink *k;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	ASSERT_EQ(0, aggnet_sink_open(&k, ip("0.0.0.0"), JOB, NULL));
	ASSERT_EQ(0, aggnet_source_open(&c.s, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, pthread_create(&c.thread, NULL, contribute, &c));
	ASSERT_EQ(0, aggnet_sink_run(k));
	e.instance = 2;
	e.function = AGGNET_FN_MAX;
	ASSERT_EQ(0, add_entry(self->ctl, &e, true));
	EXPECT_EQ(-ESTALE, aggnet_sink_commit(k));
	EXPECT_EQ(-ECANCELED, aggnet_sink_run(k));
	EXPECT_STREQ("job 7 was planned anew: instance 2 in place of 1",
		     aggnet_sink_error(k));
	ASSERT_EQ(0, pthread_join(c.thread, NULL));
	EXPECT_EQ(-ECANCELED, c.err);
	aggnet_source_close(c.s);
	aggnet_sink_close(k);
	ASSERT_EQ(0, aggnet_tree_get(self->ctl, e.incast_id, &now));
	EXPECT_EQ(AGGNET_TREE_IDLE, now.state);
	EXPECT_EQ(0, now.reason);
	EXPECT_EQ(0, now.records_in);
	aggnet_tree_clear(&now);
}

/*
 * The entry has an attribute of answers only: netlink refuses it before the
 * plan has it.
 */
/* The source has sent its end: the receiver gets a whole result. */
TEST_F(node, a_source_gives_up_after_its_end)
{
	const struct aggnet_options opt = { .flags = AGGNET_OPT_NONBLOCK };
	struct aggnet_entry line;
	struct aggnet_source *s;
	struct aggnet_sink *k;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	ASSERT_EQ(0, aggnet_sink_open(&k, ip(NODE_A), JOB, NULL));
	ASSERT_EQ(0, aggnet_source_open(&s, ip(NODE_A), JOB, &opt));
	ASSERT_EQ(0, aggnet_source_add(s, "a", 1, 7));
	/*
	 * The end is sent; DONE follows when the receiver reads the end mark.
	 */
	ASSERT_EQ(-EAGAIN, aggnet_source_finish(s));
	aggnet_source_close(s);
	ASSERT_EQ(0, aggnet_sink_run(k)) {
		TH_LOG("%s", aggnet_sink_error(k));
	}
	ASSERT_TRUE(aggnet_sink_next(k, &line));
	EXPECT_EQ(7, line.value);
	EXPECT_FALSE(aggnet_sink_next(k, &line));
	EXPECT_EQ(1, aggnet_sink_result(k)->sources);
	EXPECT_EQ(0, aggnet_sink_commit(k));
	aggnet_sink_close(k);
}

TEST_F(node, plan__lacks_a_step)
{
	struct aggnet_tree_info e = entry(1), odd = entry(1), *list;
	size_t n;

	ASSERT_EQ(0, aggnet_plan_begin(self->ctl));
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	odd.has |= AGGNET_HAS(AGGNET_A_TREE_STATE);
	EXPECT_GT(0, add_entry(self->ctl, &odd, false));
	EXPECT_EQ(-ECANCELED, aggnet_plan_commit(self->ctl));
	EXPECT_NE(NULL, strstr(aggnet_ctl_error(self->ctl), "(attribute steps)"));
	/* The next plan counts its steps from 0. */
	ASSERT_EQ(0, aggnet_plan_begin(self->ctl));
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	ASSERT_EQ(0, aggnet_plan_commit(self->ctl));
	ASSERT_EQ(0, aggnet_tree_list(self->ctl, &list, &n));
	EXPECT_EQ(1, n);
	aggnet_tree_list_free(list, n);
}

/* --- misuse --- */

TEST_F(node, events__before_they_are_joined)
{
	struct aggnet_event_info event;

	EXPECT_EQ(-ENOTCONN, aggnet_events_fd(self->ctl));
	EXPECT_EQ(-ENOTCONN, aggnet_events_next(self->ctl, &event));
	EXPECT_STREQ("the handle has not joined the events",
		     aggnet_ctl_error(self->ctl));
}

/* A list as long as an attribute comes whole, or not at all. */
/* Add and delete an entry until the queue of events overflows. */
static int overflow(struct aggnet_ctl *ctl, const struct aggnet_tree_info *e)
{
	const int little = 1;	/* the kernel sets its least size */
	int i, ret;

	ret = setsockopt(aggnet_events_fd(ctl), SOL_SOCKET, SO_RCVBUF, &little,
			 sizeof(little));
	for (i = 0; !ret && i < 100; i++)
		ret = add_entry(ctl, e, false) ?:
		      aggnet_tree_del(ctl, e->incast_id);
	return ret;
}

/* After an overflow is reported, new events come again. */
TEST_F(node, events__after_some_were_lost)
{
	struct aggnet_tree_info e = entry(1), *list;
	struct aggnet_event_info event = {};
	struct pollfd pfd = { .events = POLLIN };
	uint32_t instance;
	size_t n;

	ASSERT_EQ(0, aggnet_events_join(self->ctl));
	pfd.fd = aggnet_events_fd(self->ctl);
	ASSERT_EQ(0, overflow(self->ctl, &e));
	ASSERT_EQ(-ENOBUFS, aggnet_events_next(self->ctl, &event));
	ASSERT_EQ(0, aggnet_tree_list(self->ctl, &list, &n));
	EXPECT_EQ(0, n);
	aggnet_tree_list_free(list, n);
	e.instance = 1000;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	do {
		ASSERT_EQ(1, poll(&pfd, 1, 10000));
		ASSERT_EQ(0, aggnet_events_next(self->ctl, &event));
		instance = event.instance;
		aggnet_event_clear(&event);
	} while (instance != e.instance);
}

TEST_F(node, children__more_than_an_attribute_holds)
{
	static struct in_addr child[UINT16_MAX];
	struct aggnet_tree_info e = entry(1), now;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(child); i++)
		child[i].s_addr = htonl(0x0b000000 + i);
	e.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
	e.children.addr = child;
	for (i = AGGNET_ADDRS_MAX + 1; i < ARRAY_SIZE(child); i += 16383) {
		e.children.n = i;
		ASSERT_EQ(-EMSGSIZE, add_entry(self->ctl, &e, false));
		EXPECT_STREQ("children: more than 16382 addresses",
			     aggnet_ctl_error(self->ctl));
		ASSERT_EQ(-ENOENT, aggnet_tree_get(self->ctl, e.incast_id, &now));
	}
	/* The module checks their number: there are more than contributors. */
	e.children.n = AGGNET_ADDRS_MAX;
	EXPECT_GT(0, add_entry(self->ctl, &e, false));
	EXPECT_NE(NULL, strstr(aggnet_ctl_error(self->ctl), "children"));
}

TEST_HARNESS_MAIN
