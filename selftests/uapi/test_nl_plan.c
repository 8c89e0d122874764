// SPDX-License-Identifier: GPL-2.0
/* Netlink: a plan comes into force as a whole or not at all. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"
#include "nl_node.h"

#define PLANS_MAX	1024	/* of a namespace */
#define PLANS_FULL							\
	"the open plans of this namespace hold 64 MiB: commit or drop one"

FIXTURE(plan) {
	struct nl nl;
	struct nl other;	/* a second administrator */
};

FIXTURE_SETUP(plan)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, nl_open(&self->other));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
}

FIXTURE_TEARDOWN(plan)
{
	nl_close(&self->nl);
	nl_close(&self->other);
}

TEST_F(plan, commit__puts_all_in_force)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	EXPECT_EQ(0, trees(nl));
	EXPECT_EQ(0, links(nl));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_EQ(2, trees(nl));
	EXPECT_EQ(1, links(nl));
	EXPECT_EQ(1, marks(nl, "p0", NEIGHBOUR));
	/* After its plan a socket's step is a plan of its own. */
	ASSERT_EQ(0, tree_add(nl, incast(3), 1, 0));
	EXPECT_EQ(3, trees(nl));
}

TEST_F(plan, commit__of_nothing)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	EXPECT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
}

TEST_F(plan, commit__withdraws_all)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	ASSERT_EQ(0, tree_del(nl, incast(2)));
	ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(2, trees(nl));
	EXPECT_EQ(1, links(nl));
	EXPECT_EQ(1, marks(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_EQ(0, trees(nl));
	EXPECT_EQ(0, links(nl));
}

static bool memory_is_free(struct nl *nl)
{
	return memory_used(nl) == 0;
}

TEST_F(plan, drop)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	/* The memory of a step is reserved when the step is staged. */
	EXPECT_NE(0, memory_used(nl));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_DROP));
	EXPECT_EQ(0, trees(nl));
	EXPECT_EQ(0, links(nl));
	EXPECT_TRUE(within(nl, memory_is_free));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ENOENT, 0,
		       "this socket has not begun a plan");
}

TEST_F(plan, drop__when_the_socket_is_closed)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_NE(0, memory_used(&self->other));
	nl_close(nl);
	EXPECT_TRUE(within(&self->other, memory_is_free));
	EXPECT_EQ(0, trees(&self->other));
	/* The port ID is free for a plan of the next socket. */
	ASSERT_EQ(0, nl_open(nl));
	EXPECT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
}

TEST_F(plan, out_of_turn)
{
	struct nl *nl = &self->nl;

	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ENOENT, 0,
		       "this socket has not begun a plan");
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_DROP), ENOENT, 0,
		       "this socket has not begun a plan");
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_BEGIN), EALREADY, 0,
		       "this socket has begun a plan: commit or drop it");
	/* Another socket may begin its own plan. */
	EXPECT_EQ(0, nl_do(&self->other, AGGNET_CMD_PLAN_BEGIN));
}

TEST_F(plan, step__refused_voids_the_plan)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_REFUSED(nl, tree_add(nl, incast(1), 2, 0), EEXIST,
		       AGGNET_A_TREE_INCAST_ID,
		       "this job and receiver have an entry: replace or delete it");
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ECANCELED, 0,
		       "a step was refused: the whole plan is dropped");
	EXPECT_EQ(0, trees(nl));
	EXPECT_TRUE(within(nl, memory_is_free));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ENOENT, 0,
		       "this socket has not begun a plan");
}

TEST_F(plan, step__malformed_voids_the_plan)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_TREE_ADD),
		       AGGNET_A_TREE_INCAST_ID);
	EXPECT_EQ(-ECANCELED, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_EQ(0, trees(nl));
}

/* Stage a valid step, and one that is refused: its key has 15 bytes. */
static int stage_one_of_two(struct nl *nl)
{
	static const char key[15];
	int err = nl_do(nl, AGGNET_CMD_PLAN_BEGIN);

	if (!err)
		err = tree_add(nl, incast(1), 1, 0);
	if (err)
		return err;
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(2));
	nl_put(nl, AGGNET_A_TREE_KEY, key, sizeof(key));
	return nl_talk(nl) ? 0 : -EPROTO;
}

static int commit_steps(struct nl *nl, uint32_t steps)
{
	nl_begin(nl, AGGNET_CMD_PLAN_COMMIT, 0);
	nl_u32(nl, AGGNET_A_PLAN_STEPS, steps);
	return nl_talk(nl);
}

TEST_F(plan, commit__of_so_many_steps)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, stage_one_of_two(nl));
	EXPECT_REFUSED(nl, commit_steps(nl, 2), ECANCELED, AGGNET_A_PLAN_STEPS,
		       "the plan has another number of steps: it is dropped");
	EXPECT_EQ(0, trees(nl));
	EXPECT_TRUE(within(nl, memory_is_free));
	EXPECT_REFUSED(nl, commit_steps(nl, 2), ENOENT, 0,
		       "this socket has not begun a plan");
	ASSERT_EQ(0, stage_one_of_two(nl));
	EXPECT_EQ(0, commit_steps(nl, 1));
	EXPECT_EQ(1, trees(nl));
}

/*
 * Begin plans, each on its own socket, until one is refused. Return: how many
 */
static int begin_many(struct nl *nl, int *fd, int max)
{
	int n;

	for (n = 0; n < max; n++) {
		if (nl_open(nl))
			return -1;
		fd[n] = nl->fd;
		if (nl_do(nl, AGGNET_CMD_PLAN_BEGIN))
			return n;
	}
	return n;
}

TEST_F(plan, begin__of_too_many)
{
	const struct rlimit files = { PLANS_MAX + 64, PLANS_MAX + 64 };
	static int fd[PLANS_MAX + 1];
	static struct nl nl;
	int i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_EQ(PLANS_MAX, begin_many(&nl, fd, PLANS_MAX + 1));
	EXPECT_REFUSED(&nl, nl_do(&nl, AGGNET_CMD_PLAN_BEGIN), EUSERS, 0,
		       "1024 plans are open in this namespace: commit or drop one");
	/* This socket has no plan: its step comes into force at once. */
	EXPECT_EQ(0, tree_add(&nl, incast(1), 1, 0));
	EXPECT_EQ(1, trees(&self->nl));
	/* The end of one plan makes room for another. */
	close(fd[0]);
	EXPECT_EQ(0, nl_do(&nl, AGGNET_CMD_PLAN_BEGIN));
	EXPECT_REFUSED(&self->nl, nl_do(&self->nl, AGGNET_CMD_PLAN_BEGIN),
		       EUSERS, 0,
		       "1024 plans are open in this namespace: commit or drop one");
	ASSERT_EQ(0, nl_do(&nl, AGGNET_CMD_PLAN_DROP));
	EXPECT_EQ(0, nl_do(&self->nl, AGGNET_CMD_PLAN_BEGIN));
	for (i = 1; i <= PLANS_MAX; i++)
		close(fd[i]);
}

/* Each open plan with a step holds a copy of the table of entries. */
TEST_F(plan, step__beyond_the_memory_of_plans)
{
	const struct rlimit files = { PLANS_MAX + 64, PLANS_MAX + 64 };
	static int fd[PLANS_MAX];
	struct nl *nl = &self->nl;
	static struct nl other;
	int i, n, begun;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	for (i = 0; i < 4096; i++)
		ASSERT_EQ(0, transit_add(nl, incast(2 + i), 1, 0, "p0",
					 NEIGHBOUR));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	for (begun = 0, n = 0; begun < PLANS_MAX - 1 && n == begun; begun++) {
		ASSERT_EQ(0, nl_open(&other));
		fd[begun] = other.fd;
		ASSERT_EQ(0, nl_do(&other, AGGNET_CMD_PLAN_BEGIN));
		n += !tree_del(&other, incast(2));
	}
	/* A table of 4096 entries takes 128 KiB. */
	ASSERT_EQ(begun, n + 1);
	EXPECT_LT(500, n);
	EXPECT_GT(512, n);
	EXPECT_STREQ(PLANS_FULL, other.text);
	EXPECT_REFUSED(&other, nl_do(&other, AGGNET_CMD_PLAN_COMMIT), ECANCELED,
		       0, "a step was refused: the whole plan is dropped");
	EXPECT_REFUSED(nl, tree_del(nl, incast(3)), ENOSPC, 0, PLANS_FULL);
	/* A request of its own changes the table for all open plans. */
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_DROP));
	EXPECT_EQ(0, tree_del(nl, incast(4)));
	/* The end of one plan makes room for another. */
	close(fd[0]);
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	EXPECT_EQ(0, tree_del(nl, incast(3)));
	EXPECT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_EQ(4094, trees(nl));
	for (i = 1; i < begun; i++)
		close(fd[i]);
}

/* A step is checked against the state that the steps before it leave. */
TEST_F(plan, step__sees_those_before_it)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	EXPECT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	EXPECT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_EQ(0, tree_add(nl, incast(1), 2, NLM_F_REPLACE));
	EXPECT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_EQ(1, trees(nl));
	EXPECT_EQ(0, links(nl));
}

TEST_F(plan, step__refused_by_those_before_it)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, link_add(nl, "p0", OTHER));
	EXPECT_REFUSED(nl, link_add(nl, "p0", OTHER), EEXIST,
		       AGGNET_A_LINK_NEIGHBOUR,
		       "this port has that link already");
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", OTHER));
	EXPECT_REFUSED(nl, link_del(nl, "p0", OTHER), EBUSY,
		       AGGNET_A_LINK_IFINDEX,
		       "trees leave by this link: delete them first");
	ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	EXPECT_REFUSED(nl, link_del(nl, "p0", NEIGHBOUR), ENOENT,
		       AGGNET_A_LINK_IFINDEX,
		       "this port has no link with that neighbour");
	EXPECT_REFUSED(nl, transit_add(nl, incast(2), 1, 0, "p0", NEIGHBOUR),
		       ENOENT, AGGNET_A_TREE_LINK_NEIGHBOUR,
		       "no link with that neighbour: add it first");
	EXPECT_REFUSED(nl, link_add(nl, "p0", NEIGHBOUR), EBUSY,
		       AGGNET_A_LINK_NEIGHBOUR,
		       "this plan deletes that link: add it in the next one");
	EXPECT_REFUSED(nl, tree_del(nl, incast(3)), ENOENT,
		       AGGNET_A_TREE_INCAST_ID, "no entry of that incast ID");
	EXPECT_EQ(1, links(nl));
}

/* Another socket changes the configuration under a staged plan. */
TEST_F(plan, other__takes_the_incast_id)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	ASSERT_EQ(0, tree_add(&self->other, incast(2), 7, 0));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), EEXIST, 0,
		       "this job and receiver have an entry: replace or delete it");
	EXPECT_EQ(1, trees(nl));
	EXPECT_EQ(0, links(nl));
}

TEST_F(plan, other__deletes_what_is_to_be_replaced)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(1), 2, NLM_F_REPLACE));
	ASSERT_EQ(0, tree_del(&self->other, incast(1)));
	/*
	 * The commit plans its steps anew: none refers to the entry that was
	 * deleted.
	 */
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	EXPECT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_EQ(2, trees(nl));
}

TEST_F(plan, other__deletes_what_is_to_be_deleted)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	ASSERT_EQ(0, tree_del(&self->other, incast(1)));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ENOENT, 0,
		       "no entry of that incast ID");
	EXPECT_EQ(0, trees(nl));
}

/* A deletion that names an epoch does not delete a later one. */
TEST_F(plan, other__replaces_what_is_to_be_deleted)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	nl_begin(nl, AGGNET_CMD_TREE_DEL, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, tree_add(&self->other, incast(1), 2, NLM_F_REPLACE));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ESTALE, 0,
		       "an entry of another epoch or plan is in force");
	EXPECT_EQ(1, trees(nl));
}

TEST_F(plan, other__takes_the_port_away)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(2), 1, 0, "p0", NEIGHBOUR));
	ASSERT_EQ(0, system("ip link del p0"));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ENODEV, 0,
		       "port is not attached");
	EXPECT_EQ(0, trees(nl));
	EXPECT_EQ(0, links(nl));
}

TEST_F(plan, other__leaves_by_a_link_that_is_to_be_deleted)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, link_add(nl, "p0", OTHER));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", OTHER));
	ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(&self->other, incast(2), 1, 0, "p0",
				 NEIGHBOUR));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), EBUSY, 0,
		       "trees leave by this link: delete them first");
	EXPECT_EQ(1, trees(nl));
	EXPECT_EQ(1, links(nl));
	EXPECT_EQ(1, marks(nl, "p0", NEIGHBOUR));
}

/* The second link exceeds the memory: nothing of the first stays. */
TEST_F(plan, commit__fails_half_way)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_memory(nl, AGGNET_MEMORY_MIN));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	nl_begin(nl, AGGNET_CMD_LINK_ADD, 0);
	nl_u32(nl, AGGNET_A_LINK_IFINDEX, ifindex("p0"));
	nl_u32(nl, AGGNET_A_LINK_NEIGHBOUR, addr(OTHER));
	nl_u32(nl, AGGNET_A_LINK_BITS, 1u << 20);
	ASSERT_EQ(0, nl_talk(nl));
	EXPECT_REFUSED(nl, nl_do(nl, AGGNET_CMD_PLAN_COMMIT), ENOSPC, 0,
		       "Bloom table does not fit the node's memory limit");
	EXPECT_EQ(0, trees(nl));
	EXPECT_EQ(0, links(nl));
	EXPECT_TRUE(within(nl, memory_is_free));
}

#define ENTRIES	64

/* What one dump showed. */
struct seen {
	int n;
	uint32_t instance;
	bool mixed;
};

static void see(struct nl *nl, void *arg)
{
	uint32_t instance = nl_get_u32(nl, AGGNET_A_TREE_INSTANCE);
	struct seen *seen = arg;

	if (seen->n++ && instance != seen->instance)
		seen->mixed = true;
	seen->instance = instance;
}

struct watcher {
	struct nl nl;
	bool stop;
	int whole, wrong, interrupted, failed;
};

static void *watch(void *arg)
{
	struct watcher *w = arg;
	struct seen seen;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		memset(&seen, 0, sizeof(seen));
		if (nl_dump(&w->nl, AGGNET_CMD_TREE_GET, see, &seen))
			w->failed++;
		else if (w->nl.flags & NLM_F_DUMP_INTR)
			w->interrupted++;
		else if (seen.n != ENTRIES || seen.mixed)
			w->wrong++;
		else
			w->whole++;
	}
	return NULL;
}

static int replace_all(struct nl *nl, uint32_t instance)
{
	uint32_t job;
	int err;

	err = nl_do(nl, AGGNET_CMD_PLAN_BEGIN);
	for (job = 0; job < ENTRIES && !err; job++)
		err = transit_add(nl, incast(job), instance, NLM_F_REPLACE,
				  "p0", NEIGHBOUR);
	return err ? err : nl_do(nl, AGGNET_CMD_PLAN_COMMIT);
}

/*
 * While plans replace all entries again and again, a dump that is not marked as
 * interrupted shows exactly one plan.
 */
TEST_F(plan, commit__never_half_in_force)
{
	static struct watcher w;
	struct nl *nl = &self->nl;
	pthread_t thread;
	uint32_t i;

	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, replace_all(nl, 1));
	ASSERT_EQ(0, nl_open(&w.nl));
	ASSERT_EQ(0, pthread_create(&thread, NULL, watch, &w));
	for (i = 2; i < 40; i++)
		ASSERT_EQ(0, replace_all(nl, i));
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	TH_LOG("%d whole, %d interrupted", w.whole, w.interrupted);
	EXPECT_LT(0, w.whole);
	EXPECT_EQ(0, w.wrong);
	EXPECT_EQ(0, w.failed);
	EXPECT_EQ(ENTRIES, marks(nl, "p0", NEIGHBOUR));
	nl_close(&w.nl);
}

TEST_HARNESS_MAIN
