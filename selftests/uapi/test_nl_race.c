// SPDX-License-Identifier: GPL-2.0
/* Netlink: several administrators change one node at random at the same time.
 * The final state is consistent. SEED=n repeats a run.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "nl_node.h"

#define THREADS	4
#define STEPS	400
#define JOBS	12

FIXTURE(race) {
	struct nl nl;
	unsigned int seed;
};

FIXTURE_SETUP(race)
{
	const char *seed = getenv("SEED");

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, node_identity(&self->nl, IDENTITY));
	ASSERT_EQ(0, port_add(&self->nl, "p0"));
	self->seed = seed ? strtoul(seed, NULL, 0) : time(NULL);
	TH_LOG("SEED=%u", self->seed);
}

FIXTURE_TEARDOWN(race)
{
	nl_close(&self->nl);
}

struct admin {
	struct nl nl;
	unsigned int seed;
	pthread_t thread;
	int unexpected;	/* an errno that no step may return */
};

static int port_del(struct nl *nl, const char *name)
{
	nl_begin(nl, AGGNET_CMD_PORT_DEL, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex(name));
	return nl_talk(nl);
}

static int random_step(struct admin *a)
{
	const char *neighbour = rand_r(&a->seed) % 2 ? NEIGHBOUR : OTHER;
	uint64_t id = incast(rand_r(&a->seed) % JOBS);
	uint32_t instance = rand_r(&a->seed) % 1000;
	struct nl *nl = &a->nl;

	switch (rand_r(&a->seed) % 16) {
	case 0:
		return nl_do(nl, AGGNET_CMD_PLAN_BEGIN);
	case 1:
	case 2:
		return nl_do(nl, AGGNET_CMD_PLAN_COMMIT);
	case 3:
		return nl_do(nl, AGGNET_CMD_PLAN_DROP);
	case 4:
		return link_add(nl, "p0", neighbour);
	case 5:
		return link_del(nl, "p0", neighbour);
	case 6:
		return port_add(nl, "p0");
	case 7:
		return rand_r(&a->seed) % 4 ? 0 : port_del(nl, "p0");
	case 8:
		return trees(nl) < 0 ? -EIO : 0;
	case 9:
	case 10:
		return tree_del(nl, id);
	case 11:
	case 12:
		return tree_add(nl, id, instance, NLM_F_REPLACE);
	default:
		return transit_add(nl, id, instance, NLM_F_REPLACE, "p0",
				   neighbour);
	}
}

static bool expected(int err)
{
	switch (-err) {
	case 0: case EEXIST: case ENOENT: case ESTALE: case EBUSY:
	case ENODEV: case ECANCELED: case EALREADY:
		return true;
	default:
		return false;
	}
}

static void *administer(void *arg)
{
	struct admin *a = arg;
	int i, err;

	for (i = 0; i < STEPS; i++) {
		err = random_step(a);
		if (!expected(err))
			a->unexpected = err;
	}
	/* Closing the socket drops a plan that may be staged. */
	nl_close(&a->nl);
	return NULL;
}

struct tally {
	int n, by_link[2];
};

static void tally(struct nl *nl, void *arg)
{
	uint32_t neighbour = nl_get_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR);
	struct tally *t = arg;

	t->n++;
	t->by_link[0] += neighbour == addr(NEIGHBOUR);
	t->by_link[1] += neighbour == addr(OTHER);
}

static bool memory_is_free(struct nl *nl)
{
	return memory_used(nl) == 0;
}

TEST_F(race, administrators)
{
	static struct admin admin[THREADS];
	struct nl *nl = &self->nl;
	struct tally t = { 0 };
	int i, err;

	for (i = 0; i < THREADS; i++) {
		admin[i].seed = self->seed + i;
		ASSERT_EQ(0, nl_open(&admin[i].nl));
		ASSERT_EQ(0, pthread_create(&admin[i].thread, NULL, administer,
					    &admin[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(admin[i].thread, NULL);
		EXPECT_EQ(0, admin[i].unexpected);
	}
	/*
	 * With both links in force each table has the entries that leave by its
	 * link.
	 */
	err = port_add(nl, "p0");
	ASSERT_TRUE(!err || err == -EEXIST);
	err = link_add(nl, "p0", NEIGHBOUR);
	ASSERT_TRUE(!err || err == -EEXIST);
	err = link_add(nl, "p0", OTHER);
	ASSERT_TRUE(!err || err == -EEXIST);
	ASSERT_EQ(0, nl_dump(nl, AGGNET_CMD_TREE_GET, tally, &t));
	EXPECT_EQ(t.by_link[0], marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(t.by_link[1], marks(nl, "p0", OTHER));
	TH_LOG("%d entries are left", t.n);
	for (i = 0; i < JOBS; i++) {
		err = tree_del(nl, incast(i));
		EXPECT_TRUE(!err || err == -ENOENT);
	}
	EXPECT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, link_del(nl, "p0", OTHER));
	EXPECT_TRUE(within(nl, memory_is_free));
}

#define HEIRS	3
#define LIVES	150
#define PORTID	4711

/**
 * struct heir - takes over the port ID of other sockets, again and again
 * @nl: socket, closed at the end
 * @job: of its entries
 * @wrong: errno of a request that cannot fail if its plan is its own
 * @thread: its thread
 */
struct heir {
	struct nl nl;
	uint32_t job;
	int wrong;
	pthread_t thread;
};

/* Bind another socket to the port ID as soon as it is free. */
static bool inherit(struct nl *nl)
{
	const struct sockaddr_nl at = {
		.nl_family = AF_NETLINK, .nl_pid = PORTID,
	};
	const struct timeval limit = { .tv_sec = 20 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	close(nl->fd);
	nl->fd = fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	while (bind(fd, (const struct sockaddr *)&at, sizeof(at))) {
		if (errno != EADDRINUSE)
			return false;
		sched_yield();
	}
	return true;
}

/* The new socket's plan starts empty and stays until it commits. */
static int live(struct heir *heir, uint32_t instance)
{
	struct nl *nl = &heir->nl;
	int err;

	err = nl_do(nl, AGGNET_CMD_PLAN_BEGIN);
	if (!err)
		err = tree_add(nl, incast(heir->job), instance, NLM_F_REPLACE);
	/* The next turn closes the socket with a staged plan. */
	if (err || instance % 2)
		return err;
	nl_begin(nl, AGGNET_CMD_PLAN_COMMIT, 0);
	nl_u32(nl, AGGNET_A_PLAN_STEPS, 1);
	return nl_talk(nl);
}

static void *inherit_often(void *arg)
{
	struct heir *heir = arg;
	int i, err;

	for (i = 1; i <= LIVES && !heir->wrong; i++) {
		err = inherit(&heir->nl) ? live(heir, i) : -errno;
		heir->wrong = err;
	}
	nl_close(&heir->nl);
	return NULL;
}

/*
 * netlink frees a socket's port ID before it notifies the module of the
 * release. The next socket with this port ID does not get the old plan, and
 * keeps its own.
 */
TEST_F_TIMEOUT(race, port_id__has_another_socket, LONG)
{
	static struct heir heir[HEIRS];
	struct nl *nl = &self->nl;
	int i;

	for (i = 0; i < HEIRS; i++) {
		heir[i].job = i;
		ASSERT_EQ(0, nl_open(&heir[i].nl));
		ASSERT_EQ(0, pthread_create(&heir[i].thread, NULL,
					    inherit_often, &heir[i]));
	}
	for (i = 0; i < HEIRS; i++) {
		pthread_join(heir[i].thread, NULL);
		EXPECT_EQ(0, heir[i].wrong);
		EXPECT_EQ(0, tree_del(nl, incast(i)));
	}
	EXPECT_EQ(0, trees(nl));
	EXPECT_TRUE(within(nl, memory_is_free));
}

TEST_HARNESS_MAIN
