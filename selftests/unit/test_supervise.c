// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the supervision part of libaggnet: what signs of failure mean.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

static bool no_memory;

static void *test_realloc(void *old, size_t size)
{
	return no_memory ? NULL : realloc(old, size);
}

#define realloc	test_realloc
#include "../../tools/libaggnet/reason.c"
#include "../../tools/libaggnet/supervise.c"
#undef realloc

#define TREE	((uint64_t)1 << 32 | 0x0a000001)
#define OTHER	((uint64_t)1 << 32 | 0x0a000004)

/*
 * v0 receives what v2 and v3 send; v1 is on the way. All are at the switches
 * w0 and w1.
 */
FIXTURE(watch) {
	struct aggnet_watch *w;
	struct aggnet_finding f;
};

FIXTURE_VARIANT(watch) {
	bool allow_missing;
};

FIXTURE_VARIANT_ADD(watch, strict) {
	.allow_missing = false,
};

FIXTURE_VARIANT_ADD(watch, allow_missing) {
	.allow_missing = true,
};

static struct in_addr identity(unsigned int server)
{
	return (struct in_addr){ htonl(0x0a000001 + server) };
}

FIXTURE_SETUP(watch)
{
	static const unsigned int parts[] = {
		AGGNET_WATCH_RECEIVER, 0, AGGNET_WATCH_SOURCE,
		AGGNET_WATCH_SOURCE,
	};
	char name[8], port[8];
	unsigned int i;

	self->w = aggnet_watch_new(variant->allow_missing);
	ASSERT_NE(NULL, self->w);
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		aggnet_watch_server(self->w, name, identity(i), parts[i]);
	}
	aggnet_watch_switch(self->w, "w0");
	aggnet_watch_switch(self->w, "w1");
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		snprintf(port, sizeof(port), "p%u", i);
		aggnet_watch_link(self->w, name, "eth0", "w0", port);
		aggnet_watch_link(self->w, name, "eth1", "w1", port);
	}
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, "v0"));
}

FIXTURE_TEARDOWN(watch)
{
	aggnet_watch_free(self->w);
}

static enum aggnet_verdict judge(struct aggnet_watch *w, int64_t now,
				 struct aggnet_finding *f)
{
	return aggnet_watch_judge(w, now + AGGNET_WATCH_SETTLE_MS, f);
}

/* The plan is repaired by this change alone. */
#define EXPECT_CHANGE(text) do {					\
	ASSERT_EQ(AGGNET_WATCH_REPAIR, judge(self->w, 0, &self->f));	\
	ASSERT_EQ(1, self->f.n_changes);				\
	EXPECT_STREQ(text, self->f.change[0]);				\
} while (0)

#define EXPECT_JUDGED(verdict) \
	EXPECT_EQ(AGGNET_WATCH_##verdict, judge(self->w, 0, &self->f))

static void event(struct aggnet_watch *w, const char *node, uint8_t kind,
		  uint32_t attempt, uint8_t reason, int origin, int about)
{
	struct aggnet_event_info e = {
		.kind = kind, .incast_id = TREE, .instance = 9,
		.attempt = attempt, .reason = reason,
		.origin = identity(origin), .missing = 1,
	};

	if (about >= 0)
		e.about = identity(about);
	aggnet_watch_event(w, node, &e, 0);
}

/* The receiver has its result in this attempt. */
static void done(struct aggnet_watch *w, uint32_t attempt)
{
	event(w, "v0", AGGNET_EVENT_TREE_DONE, attempt, 0, 0, -1);
}

static void timed_out(struct aggnet_watch *w, const char *node,
		      uint32_t attempt, int origin, int about)
{
	event(w, node, AGGNET_EVENT_TREE_ABORTED, attempt, AGGNET_R_TIMEOUT,
	      origin, about);
}

static void aborted(struct aggnet_watch *w, uint8_t reason, int origin,
		    int about)
{
	event(w, "v2", AGGNET_EVENT_TREE_ABORTED, 0, reason, origin, about);
	event(w, "v0", AGGNET_EVENT_TREE_ABORTED, 0, reason, origin, about);
}

TEST_F(watch, silence__waits)
{
	EXPECT_JUDGED(WAIT);
	EXPECT_EQ(-1, self->f.wait_ms);
}

TEST_F(watch, done__at_the_receiver_only)
{
	event(self->w, "v2", AGGNET_EVENT_TREE_DONE, 0, 0, 0, -1);
	EXPECT_JUDGED(WAIT);
	EXPECT_FALSE(aggnet_watch_is_done(self->w, TREE));
	done(self->w, 0);
	EXPECT_JUDGED(DONE);
	EXPECT_TRUE(aggnet_watch_is_done(self->w, TREE));
}

/* It is heard when the next one is in force, in which no source sends any more. */
TEST_F(watch, done__in_the_attempt_before)
{
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 1, NULL));
	timed_out(self->w, "v0", 0, 0, 1);
	EXPECT_JUDGED(WAIT);
	done(self->w, 2);
	EXPECT_JUDGED(WAIT);
	done(self->w, 0);
	EXPECT_JUDGED(DONE);
}

TEST_F(watch, done__only_when_all_trees_are)
{
	ASSERT_EQ(0, aggnet_watch_tree(self->w, OTHER, 9, 0, "v3"));
	done(self->w, 0);
	EXPECT_JUDGED(WAIT);
	/* A repair of the other tree leaves this one done. */
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 1, "v0"));
	EXPECT_TRUE(aggnet_watch_is_done(self->w, TREE));
}

/* A transfer that was planned anew has no result yet. */
TEST_F(watch, done__not_in_another_instance)
{
	done(self->w, 0);
	ASSERT_TRUE(aggnet_watch_is_done(self->w, TREE));
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 10, 0, "v0"));
	EXPECT_FALSE(aggnet_watch_is_done(self->w, TREE));
	EXPECT_JUDGED(WAIT);
}

/* It is not watched as if the word of any node counted. */
TEST_F(watch, tree__at_an_unknown_node)
{
	EXPECT_EQ(-ENOENT, aggnet_watch_tree(self->w, OTHER, 9, 0, "v9"));
	EXPECT_EQ(-ENOENT, aggnet_watch_tree(self->w, TREE, 9, 1, "v9"));
	done(self->w, 0);
	EXPECT_JUDGED(DONE);
}

TEST_F(watch, settles__before_it_judges)
{
	aggnet_watch_gone(self->w, "v1", 1000);
	EXPECT_EQ(AGGNET_WATCH_WAIT,
		  aggnet_watch_judge(self->w, 1010, &self->f));
	EXPECT_EQ(AGGNET_WATCH_SETTLE_MS - 10, self->f.wait_ms);
	EXPECT_EQ(AGGNET_WATCH_REPAIR, judge(self->w, 1000, &self->f));
	EXPECT_EQ(1000, self->f.heard_ms);
}

TEST_F(watch, gone__a_server_on_the_way_once)
{
	aggnet_watch_gone(self->w, "v1", 0);
	EXPECT_CHANGE("failed:v1");
	EXPECT_EQ(0, self->f.n_renew);
	EXPECT_STREQ("v1 is gone", self->f.text);
	aggnet_watch_gone(self->w, "v1", 0);
	EXPECT_JUDGED(WAIT);
}

TEST_F(watch, gone__the_receiver)
{
	aggnet_watch_gone(self->w, "v0", 0);
	EXPECT_JUDGED(FAILED);
	EXPECT_STREQ("receiver v0 is gone", self->f.text);
}

/* v0 has its result, and is on the way to v3, if it is anything. */
static void done_at_v0(struct aggnet_watch *w)
{
	aggnet_watch_tree(w, OTHER, 9, 0, "v3");
	done(w, 0);
}

TEST_F(watch, gone__a_receiver_that_is_done)
{
	done_at_v0(self->w);
	aggnet_watch_gone(self->w, "v0", 0);
	EXPECT_CHANGE("failed:v0");
	EXPECT_EQ(0, self->f.n_renew);
}

TEST_F(watch, aborted__because_of_a_receiver_that_is_done)
{
	static const uint8_t reason[] = {
		AGGNET_R_TIMEOUT, AGGNET_R_WITHDRAWN,
	};
	struct aggnet_event_info e = {
		.kind = AGGNET_EVENT_TREE_ABORTED, .incast_id = OTHER,
		.instance = 9, .origin = identity(0), .about = identity(0),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reason); i++) {
		struct aggnet_watch *w = self->w;

		done_at_v0(w);
		e.reason = reason[i];
		aggnet_watch_event(w, "v1", &e, 0);
		ASSERT_EQ(AGGNET_WATCH_REPAIR, judge(w, 0, &self->f));
		ASSERT_EQ(1 - i, self->f.n_changes);
		ASSERT_EQ(1, self->f.n_renew);
		EXPECT_EQ(OTHER, self->f.renew[0]);
	}
}

/* It has no part in that one any more. */
TEST_F(watch, dropped__it_is_not_waited_for)
{
	ASSERT_EQ(0, aggnet_watch_tree(self->w, OTHER, 9, 0, "v0"));
	aggnet_watch_drop(self->w, TREE);
	aggnet_watch_drop(self->w, TREE);
	done(self->w, 0);
	EXPECT_JUDGED(WAIT);
	aggnet_watch_drop(self->w, OTHER);
	EXPECT_JUDGED(DONE);
}

TEST_F(watch, gone__a_source)
{
	aggnet_watch_gone(self->w, "v2", 0);
	if (variant->allow_missing) {
		EXPECT_CHANGE("failed:v2");
		return;
	}
	/* Others may have all of it: the tree will say. */
	EXPECT_JUDGED(WAIT);
	aborted(self->w, AGGNET_R_TIMEOUT, 1, 2);
	EXPECT_JUDGED(FAILED);
	EXPECT_STREQ("source v2 timed out", self->f.text);
}

TEST_F(watch, port__one_link)
{
	aggnet_watch_port(self->w, "v1", "eth0", false, 0);
	aggnet_watch_port(self->w, "w0", "p1", false, 0);
	EXPECT_CHANGE("failed:v1-w0");
	EXPECT_STREQ("link v1-w0 is down", self->f.text);
	EXPECT_JUDGED(WAIT);
}

TEST_F(watch, port__that_comes_back_at_once)
{
	aggnet_watch_port(self->w, "v1", "eth0", false, 0);
	aggnet_watch_port(self->w, "v1", "eth0", true, 0);
	EXPECT_JUDGED(WAIT);
	aggnet_watch_port(self->w, "v1", "eth7", false, 0);
	aggnet_watch_port(self->w, "v9", "eth0", false, 0);
	EXPECT_JUDGED(WAIT);
}

TEST_F(watch, port__all_of_a_server)
{
	aggnet_watch_port(self->w, "v1", "eth0", false, 0);
	aggnet_watch_port(self->w, "w1", "p1", false, 0);
	EXPECT_CHANGE("failed:v1");
}

TEST_F(watch, port__all_of_a_switch)
{
	static const char * const name[] = { "v0", "v1", "v2", "v3" };
	unsigned int i;

	for (i = 0; i < 4; i++)
		aggnet_watch_port(self->w, name[i], "eth1", false, 0);
	EXPECT_CHANGE("failed:w1");
}

TEST_F(watch, aborted__silence_of_a_server_on_the_way)
{
	aborted(self->w, AGGNET_R_TIMEOUT, 0, 1);
	EXPECT_CHANGE("failed:v1");
	ASSERT_EQ(1, self->f.n_renew);
	EXPECT_EQ(TREE, self->f.renew[0]);
	EXPECT_STREQ("v1 timed out", self->f.text);
}

/* The network knows of it before the names of its parts do, or after. */
TEST_F(watch, aborted__because_of_who_is_gone)
{
	aggnet_watch_gone(self->w, "v1", 0);
	aborted(self->w, AGGNET_R_TIMEOUT, 0, 1);
	EXPECT_CHANGE("failed:v1");
	EXPECT_EQ(1, self->f.n_renew);
}

TEST_F(watch, aborted__a_source)
{
	static const uint8_t reason[] = {
		AGGNET_R_SENDER, AGGNET_R_TIMEOUT,
	};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		aborted(self->w, reason[i], 2 + i, 2 + i);
		if (!variant->allow_missing) {
			EXPECT_JUDGED(FAILED);
			return;
		}
		EXPECT_CHANGE(i ? "leave:v3" : "leave:v2");
		EXPECT_EQ(1, self->f.n_renew);
		ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, "v0"));
	}
}

static void aborted_other(struct aggnet_watch *w, uint32_t attempt,
			  uint8_t reason, int origin, int about)
{
	struct aggnet_event_info e = {
		.kind = AGGNET_EVENT_TREE_ABORTED, .incast_id = OTHER,
		.instance = 9, .attempt = attempt, .reason = reason,
		.origin = identity(origin), .about = identity(about),
	};

	aggnet_watch_event(w, "v3", &e, 0);
}

/* Nothing comes by it either: what others send takes another way. */
TEST_F(watch, aborted__a_source_of_two_trees)
{
	ASSERT_EQ(0, aggnet_watch_tree(self->w, OTHER, 9, 0, "v3"));
	aborted(self->w, AGGNET_R_TIMEOUT, 0, 2);
	aborted_other(self->w, 0, AGGNET_R_TIMEOUT, 3, 2);
	if (!variant->allow_missing) {
		EXPECT_JUDGED(FAILED);
		return;
	}
	EXPECT_CHANGE("failed:v2");
	EXPECT_EQ(2, self->f.n_renew);
}

/* One sentence, also if a source has a part in many stripes. */
TEST_F(watch, aborted__a_source_closes_two_trees)
{
	ASSERT_EQ(0, aggnet_watch_tree(self->w, OTHER, 9, 0, "v3"));
	aborted(self->w, AGGNET_R_SENDER, 2, 2);
	aborted_other(self->w, 0, AGGNET_R_SENDER, 2, 2);
	EXPECT_EQ(variant->allow_missing ? AGGNET_WATCH_REPAIR :
					   AGGNET_WATCH_FAILED,
		  judge(self->w, 0, &self->f));
	EXPECT_STREQ("source v2 closed before it was finished", self->f.text);
}

TEST_F(watch, aborted__lost_records)
{
	aborted(self->w, AGGNET_R_RESET, 2, 1);
	ASSERT_EQ(AGGNET_WATCH_REPAIR, judge(self->w, 0, &self->f));
	EXPECT_EQ(0, self->f.n_changes);
	ASSERT_EQ(1, self->f.n_renew);
	EXPECT_STREQ("a node that held records lost them at 10.0.0.3, because of 10.0.0.2: 1 source missing",
		     self->f.text);
}

TEST_F(watch, aborted__nothing_mends_it)
{
	static const uint8_t reason[] = {
		AGGNET_R_MISMATCH, AGGNET_R_OVERFLOW, AGGNET_R_RECEIVER,
		AGGNET_R_WITHDRAWN, AGGNET_R_PROTOCOL, AGGNET_R_USER,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reason); i++) {
		ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, "v0"));
		aborted(self->w, reason[i], 0, 0);
		EXPECT_JUDGED(FAILED);
		EXPECT_NE(NULL, strstr(self->f.text,
				       aggnet_reason_text(reason[i])));
	}
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, "v0"));
	event(self->w, "v0", AGGNET_EVENT_TREE_DELETED, 0, 0, 0, -1);
	EXPECT_JUDGED(FAILED);
}

/* A host that goes down in good order withdraws its entries. */
TEST_F(watch, withdrawn__on_the_way)
{
	aborted(self->w, AGGNET_R_WITHDRAWN, 1, -1);
	EXPECT_CHANGE("failed:v1");
	EXPECT_EQ(1, self->f.n_renew);
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, "v0"));
	event(self->w, "v2", AGGNET_EVENT_TREE_DELETED, 0, 0, 0, -1);
	EXPECT_EQ(variant->allow_missing ? AGGNET_WATCH_REPAIR :
					   AGGNET_WATCH_FAILED,
		  judge(self->w, 0, &self->f));
	EXPECT_STREQ("source v2 withdrew its entry", self->f.text);
}

/* "aggctl withdraw" begins at the sources, and ends at the receiver. */
TEST_F(watch, withdrawn__as_a_whole)
{
	static const char * const name[] = { "v3", "v2", "v1", "v0" };
	unsigned int i;

	aborted(self->w, AGGNET_R_WITHDRAWN, 3, -1);
	for (i = 0; i < ARRAY_SIZE(name); i++)
		event(self->w, name[i], AGGNET_EVENT_TREE_DELETED, 0, 0, 0, -1);
	EXPECT_JUDGED(FAILED);
	EXPECT_STREQ("the entry was withdrawn at 10.0.0.1: 1 source missing",
		     self->f.text);
}

TEST_F(watch, aborted__nobody_knows_because_of_whom)
{
	aborted(self->w, AGGNET_R_TIMEOUT, 0, -1);
	EXPECT_JUDGED(FAILED);
	EXPECT_STREQ("timed out at 10.0.0.1: 1 source missing", self->f.text);
}

/* An end that found no acceptor says so before the receiver names it. */
TEST_F(watch, aborted__the_receiver_knows_more)
{
	timed_out(self->w, "v1", 0, 1, -1);
	timed_out(self->w, "v0", 0, 0, 1);
	EXPECT_CHANGE("failed:v1");
	EXPECT_STREQ("v1 timed out", self->f.text);
	EXPECT_EQ(1, self->f.n_renew);
}

/* The word on a node stays when an end comes later that knows of none. */
TEST_F(watch, aborted__the_receiver_knew_more)
{
	timed_out(self->w, "v0", 0, 0, 1);
	timed_out(self->w, "v1", 0, 1, -1);
	ASSERT_EQ(AGGNET_WATCH_REPAIR, judge(self->w, 0, &self->f));
	EXPECT_STREQ("v1 timed out", self->f.text);
}

#define GIVE_UP		500
#define NAMED_BY	(9 * GIVE_UP / 4 + 2000)

/* v1 has not found its acceptor, at 1040; v3 has lost a link at 1000. */
static struct aggnet_event_info no_acceptor(struct aggnet_watch *w)
{
	struct aggnet_event_info e = {
		.kind = AGGNET_EVENT_TREE_ABORTED, .incast_id = TREE,
		.instance = 9, .reason = AGGNET_R_TIMEOUT,
		.origin = identity(1),
	};

	aggnet_watch_give_up(w, GIVE_UP);
	aggnet_watch_port(w, "v3", "eth0", false, 1000);
	aggnet_watch_event(w, "v1", &e, 1040);
	e.origin = identity(0);
	return e;
}

TEST_F(watch, settles__after_an_end_that_names_no_node)
{
	struct aggnet_event_info e = no_acceptor(self->w);

	EXPECT_EQ(AGGNET_WATCH_WAIT,
		  aggnet_watch_judge(self->w, 1060, &self->f));
	EXPECT_EQ(NAMED_BY - 20, self->f.wait_ms);
	EXPECT_EQ(AGGNET_WATCH_WAIT,
		  aggnet_watch_judge(self->w, 1039 + NAMED_BY, &self->f));
	e.about = identity(1);
	aggnet_watch_event(self->w, "v0", &e, 1039 + NAMED_BY);
	ASSERT_EQ(AGGNET_WATCH_REPAIR,
		  aggnet_watch_judge(self->w, 1039 + NAMED_BY, &self->f));
	EXPECT_EQ(1000, self->f.heard_ms);
	ASSERT_EQ(2, self->f.n_changes);
	EXPECT_STREQ("failed:v3-w0", self->f.change[0]);
	EXPECT_STREQ("failed:v1", self->f.change[1]);
}

/* The receiver knows no more, says nothing, or is gone; or v1 counts alone. */
TEST_F(watch, settles__for_an_end_that_nothing_names)
{
	struct aggnet_event_info e = no_acceptor(self->w);

	aggnet_watch_event(self->w, "v0", &e, 1200);
	EXPECT_EQ(AGGNET_WATCH_FAILED,
		  aggnet_watch_judge(self->w, 1200, &self->f));
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, "v0"));
	e = no_acceptor(self->w);
	EXPECT_EQ(AGGNET_WATCH_FAILED,
		  aggnet_watch_judge(self->w, 1040 + NAMED_BY, &self->f));
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, NULL));
	e = no_acceptor(self->w);
	EXPECT_EQ(AGGNET_WATCH_FAILED, judge(self->w, 1040, &self->f));
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 0, "v0"));
	e = no_acceptor(self->w);
	aggnet_watch_gone(self->w, "v0", 1040);
	EXPECT_EQ(AGGNET_WATCH_FAILED, judge(self->w, 1040, &self->f));
}

TEST_F(watch, epochs__others_are_not_heard)
{
	timed_out(self->w, "v0", 1, 0, 1);
	EXPECT_JUDGED(WAIT);
	ASSERT_EQ(0, aggnet_watch_tree(self->w, TREE, 9, 1, "v0"));
	aborted(self->w, AGGNET_R_TIMEOUT, 0, 1);
	EXPECT_JUDGED(WAIT);
	/* What a replaced attempt says of itself. */
	event(self->w, "v0", AGGNET_EVENT_TREE_ABORTED, 1, AGGNET_R_STALE, 0,
	      0);
	EXPECT_JUDGED(WAIT);
}

TEST_F(watch, link__of_an_unknown_node)
{
	EXPECT_EQ(-ENOENT, aggnet_watch_link(self->w, "v9", "eth0", "w0",
					     "p9"));
	EXPECT_EQ(-ENOENT, aggnet_watch_link(self->w, "v0", "eth0", "w9",
					     "p0"));
}

#define SERVERS	16384
#define RADIX	128

/* A network of @SERVERS servers, each at a switch of two levels. */
static struct aggnet_watch *large_network(void)
{
	struct aggnet_watch *w = aggnet_watch_new(false);
	char name[16], sw[16], port[16], sw_port[16];
	unsigned int i, level, number;

	for (i = 0; i < SERVERS; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		aggnet_watch_server(w, name, (struct in_addr){
				    htonl(0x0a000001 + i) }, 0);
	}
	for (i = 0; i < 2 * RADIX; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		aggnet_watch_switch(w, name);
	}
	for (i = 0; i < 2 * SERVERS; i++) {
		level = i % 2;
		number = level ? RADIX + i / 2 % RADIX : i / 2 / RADIX;
		snprintf(name, sizeof(name), "v%u", i / 2);
		snprintf(port, sizeof(port), "eth%u", level);
		snprintf(sw, sizeof(sw), "w%u", number);
		snprintf(sw_port, sizeof(sw_port), "p%u",
			 level ? i / 2 / RADIX : i / 2 % RADIX);
		if (aggnet_watch_link(w, name, port, sw, sw_port))
			abort();
	}
	aggnet_watch_tree(w, TREE, 9, 0, "v0");
	return w;
}

/* No judgement looks at each link for each node. */
TEST(large__judged_often)
{
	struct aggnet_watch *w = large_network();
	struct aggnet_finding f;
	char name[16], text[64];
	unsigned int i;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "v%u", 150 * i);
		snprintf(text, sizeof(text), "link v%u-w%u is down", 150 * i,
			 RADIX + 150 * i % RADIX);
		aggnet_watch_port(w, name, "eth1", false, 0);
		ASSERT_EQ(AGGNET_WATCH_REPAIR, judge(w, 0, &f));
		ASSERT_STREQ(text, f.text);
	}
	/* Now all links of that switch. */
	for (i = 0; i < RADIX; i++) {
		snprintf(name, sizeof(name), "v%u", 7 * RADIX + i);
		aggnet_watch_port(w, name, "eth0", false, 0);
	}
	ASSERT_EQ(AGGNET_WATCH_REPAIR, judge(w, 0, &f));
	EXPECT_NE(NULL, strstr(f.text, "w7 is gone"));
	aggnet_watch_free(w);
}

TEST_F(watch, state__of_a_dump)
{
	struct aggnet_tree_info t = {
		.incast_id = TREE, .instance = 9, .state = AGGNET_TREE_OPEN,
		.origin = identity(0), .about = identity(1),
	};

	aggnet_watch_state(self->w, "v0", &t, 0);
	EXPECT_JUDGED(WAIT);
	t.state = AGGNET_TREE_ABORTED;
	t.reason = AGGNET_R_TIMEOUT;
	aggnet_watch_state(self->w, "v0", &t, 0);
	ASSERT_EQ(AGGNET_WATCH_REPAIR, judge(self->w, 0, &self->f));
	EXPECT_STREQ("failed:v1", self->f.change[0]);
	t.state = AGGNET_TREE_DONE;
	t.reason = 0;
	aggnet_watch_state(self->w, "v0", &t, 0);
	EXPECT_JUDGED(DONE);
}

/* Unknown names are refused; nothing is looked up by them later. */
TEST_F(watch, link__between_unknown_nodes)
{
	struct aggnet_finding f;

	EXPECT_EQ(-ENOENT, aggnet_watch_link(self->w, "v9", "eth0", "w0", "p9"));
	EXPECT_EQ(-ENOENT, aggnet_watch_link(self->w, "v0", "eth2", "w9", "p0"));
	EXPECT_EQ(-ENOENT, aggnet_watch_link(self->w, NULL, "eth2", "w0", "p0"));
	EXPECT_EQ(AGGNET_WATCH_WAIT, aggnet_watch_judge(self->w, 0, &f));
	aggnet_watch_port(self->w, "w0", "p9", false, 0);
	EXPECT_EQ(AGGNET_WATCH_WAIT, aggnet_watch_judge(self->w, 1000, &f));
}

/* Both names of a link are told in full, or refused at the beginning. */
TEST_F(watch, names__long_ones)
{
	static const char server[] = "server-of-the-first-rack-no-0001";
	static const char sw[] = "switch-on-top-of-the-first-rack";

	EXPECT_EQ(-ENAMETOOLONG, aggnet_watch_server(self->w, server,
						     identity(4), 0));
	EXPECT_EQ(-ENAMETOOLONG, aggnet_watch_switch(self->w, server));
	ASSERT_EQ(0, aggnet_watch_server(self->w, server + 1, identity(4), 0));
	ASSERT_EQ(0, aggnet_watch_switch(self->w, sw));
	EXPECT_EQ(-ENAMETOOLONG,
		  aggnet_watch_link(self->w, server + 1, "sixteen-letters.",
				    sw, "p0"));
	ASSERT_EQ(0, aggnet_watch_link(self->w, server + 1, "fifteen-letters",
				       sw, "p0"));
	ASSERT_EQ(0, aggnet_watch_link(self->w, server + 1, "eth1", "w1",
				       "p4"));
	aggnet_watch_port(self->w, server + 1, "fifteen-letters", false, 0);
	EXPECT_CHANGE("failed:erver-of-the-first-rack-no-0001-switch-on-top-of-the-first-rack");
}

/* What was found and cannot be told is not passed over. */
TEST_F(watch, memory__there_is_none)
{
	aborted(self->w, AGGNET_R_RESET, 2, 1);
	no_memory = true;
	EXPECT_JUDGED(FAILED);
	no_memory = false;
	EXPECT_NE(NULL, strstr(self->f.text, "out of memory"));
}

TEST_HARNESS_MAIN
