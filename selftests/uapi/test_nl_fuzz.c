// SPDX-License-Identifier: GPL-2.0
/* Netlink: random requests, most of them invalid, from several threads whose
 * namespaces come and go, from root of a user namespace, and from users. SEED=n
 * repeats a run, FUZZ_SECONDS=n makes it longer. The runner reads the kernel's
 * log for faults.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "nl_node.h"
#include "slow_kernel.h"

#define THREADS	3

struct fuzzer {
	struct nl nl;
	unsigned int seed;
	pthread_t thread;
	unsigned int seconds;
	unsigned int requests;
	unsigned int accepted;
	unsigned int namespaces;
	int failed;
};

static unsigned int some(struct fuzzer *f, unsigned int n)
{
	return rand_r(&f->seed) % n;
}

/* Numbers at which code is wrong more often than elsewhere. */
static uint64_t number(struct fuzzer *f)
{
	static const uint64_t edges[] = { 0, 1, 2, 3, 16, 255, 256, 65535,
		1 << 20, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX };

	switch (some(f, 4)) {
	case 0:
		return (uint64_t)rand_r(&f->seed) << 32 ^ rand_r(&f->seed);
	case 1:
		return incast(some(f, 4));
	case 2:
		return ifindex(some(f, 2) ? "p0" : "p1");
	default:
		return edges[some(f, sizeof(edges) / sizeof(*edges))];
	}
}

static void attribute(struct fuzzer *f)
{
	static const uint8_t lengths[] = { 0, 1, 2, 3, 4, 6, 8, 12, 16, 32 };
	/* The type may have the flags of nested and byte order. */
	uint16_t type = some(f, 52) | (some(f, 20) ? 0 : some(f, 4) << 14);
	uint64_t value[128];
	size_t i, len;

	for (i = 0; i < sizeof(value) / sizeof(*value); i++)
		value[i] = number(f);
	len = some(f, 30) ? lengths[some(f, sizeof(lengths))] :
			    some(f, sizeof(value));
	nl_put(&f->nl, type, value, len);
}

/* Scheme packet, with a filter that may be valid. */
static void filter(struct fuzzer *f)
{
	uint8_t bytes[16] = { 0, 8 * (1 + some(f, 12)), some(f, 20), some(f, 256),
			      some(f, 256), some(f, 2) };
	struct nl *nl = &f->nl;

	nl_u32(nl, AGGNET_A_TREE_LINK_IFINDEX, ifindex("p0"));
	nl_u8(nl, AGGNET_A_TREE_SCHEME, AGGNET_SCHEME_PACKET);
	nl_put(nl, AGGNET_A_TREE_FILTER, bytes, 8 * (1 + some(f, 2)));
}

/* The attributes of a valid request, sometimes without one. */
static void tree(struct fuzzer *f)
{
	struct nl *nl = &f->nl;

	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(some(f, 4)));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, some(f, 100));
	if (some(f, 2)) {
		nl_u32(nl, AGGNET_A_TREE_LINK_IFINDEX, ifindex("p0"));
		nl_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR, addr(NEIGHBOUR));
		return;
	}
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1 + some(f, 3));
	nl_u32(nl, AGGNET_A_TREE_SOURCES, 1 + some(f, 3));
	nl_u32(nl, AGGNET_A_TREE_WRITERS, some(f, 3));
	nl_u64(nl, AGGNET_A_TREE_MEMORY, AGGNET_MEMORY_MIN << some(f, 4));
	if (!some(f, 4))
		filter(f);
}

static void about_port(struct fuzzer *f)
{
	nl_u32(&f->nl, AGGNET_A_PORT_IFINDEX,
	       ifindex(some(f, 2) ? "p0" : "p1"));
}

static void about_link(struct fuzzer *f)
{
	about_port(f);
	nl_u32(&f->nl, AGGNET_A_LINK_NEIGHBOUR,
	       addr(some(f, 2) ? NEIGHBOUR : OTHER));
	if (!some(f, 4))
		nl_u64(&f->nl, AGGNET_A_LINK_NAME, number(f));
}

static void request(struct fuzzer *f)
{
	static const uint16_t flags[] = { 0, 0, 0, NLM_F_REPLACE, NLM_F_DUMP,
		NLM_F_CREATE | NLM_F_EXCL, NLM_F_ECHO };
	uint8_t cmd = some(f, AGGNET_CMD_MAX + 2);
	unsigned int n;

	nl_begin(&f->nl, cmd, flags[some(f, sizeof(flags) / sizeof(*flags))]);
	if (some(f, 4)) {
		if (cmd == AGGNET_CMD_TREE_ADD || cmd == AGGNET_CMD_TREE_DEL)
			tree(f);
		else if (cmd == AGGNET_CMD_LINK_ADD ||
			 cmd == AGGNET_CMD_LINK_DEL)
			about_link(f);
		else if (cmd == AGGNET_CMD_PORT_ADD ||
			 cmd == AGGNET_CMD_PORT_DEL)
			about_port(f);
	}
	for (n = some(f, 3) ? 0 : some(f, 6); n; n--)
		attribute(f);
}

/* Bytes that are not a request. */
static void noise(struct fuzzer *f)
{
	struct nl *nl = &f->nl;
	unsigned int i, len;

	request(f);
	len = nl->request.head.nlmsg_len;
	for (i = 1 + some(f, 4); i; i--)
		nl->request.bytes[some(f, len)] = rand_r(&f->seed);
	send(nl->fd, nl->request.bytes, 1 + some(f, len + 8), 0);
}

static int begin(struct fuzzer *f)
{
	int err = node_namespace();

	if (!err)
		err = nl_open(&f->nl);
	if (!err)
		err = node_identity(&f->nl, IDENTITY);
	f->namespaces++;
	return err;
}

/* Read all attributes of all answers: they must be whole. */
static void talk(struct fuzzer *f)
{
	int more;

	request(f);
	f->requests++;
	if ((f->nl.request.head.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		nl_dump_send(&f->nl);
		more = nl_dump_next(&f->nl, NULL, NULL);
		f->accepted += more >= 0;
		/* Some dumps are not read to their end. */
		while (more == 1 && some(f, 8))
			more = nl_dump_next(&f->nl, NULL, NULL);
		nl_close(&f->nl);
		f->failed |= nl_open(&f->nl);
	} else {
		f->accepted += !nl_talk(&f->nl);
	}
}

/* With checkers a request takes half a second. */
static unsigned int storm_size(void)
{
	return slow_kernel() ? 60 : 200;
}

static void storm(struct fuzzer *f)
{
	unsigned int i, n = storm_size();

	for (i = 0; i < n && !f->failed; i++)
		talk(f);
	for (i = 0; i < 20; i++)
		noise(f);
	nl_close(&f->nl);
}

static void *fuzz(void *arg)
{
	struct fuzzer *f = arg;
	time_t end;

	f->failed = begin(f);
	end = time(NULL) + f->seconds;
	while (!f->failed && time(NULL) < end) {
		storm(f);
		/* The namespace is deleted with what is left in it. */
		if (!f->failed)
			f->failed = begin(f);
	}
	nl_close(&f->nl);
	return NULL;
}

/* As the user "nobody", in the current namespace. */
static void fuzz_as_user(struct fuzzer *f)
{
	time_t end = time(NULL) + f->seconds;

	f->failed = become_nobody();
	while (!f->failed && time(NULL) < end) {
		f->failed = nl_open(&f->nl);
		if (!f->failed)
			storm(f);
	}
}

FIXTURE(fuzz) {
	unsigned int seed;
	unsigned int seconds;
};

FIXTURE_SETUP(fuzz)
{
	const char *seed = getenv("SEED"), *text = getenv("FUZZ_SECONDS");

	self->seed = seed ? strtoul(seed, NULL, 0) : time(NULL);
	self->seconds = text ? strtoul(text, NULL, 0) : 6;
	TH_LOG("SEED=%u FUZZ_SECONDS=%u", self->seed, self->seconds);
}

FIXTURE_TEARDOWN(fuzz)
{
}

TEST_F_TIMEOUT(fuzz, requests, LONG)
{
	static struct fuzzer fuzzer[THREADS];
	struct nl *nl = &fuzzer[0].nl;
	int i;

	for (i = 0; i < THREADS; i++) {
		fuzzer[i].seed = self->seed + i;
		fuzzer[i].seconds = self->seconds;
		ASSERT_EQ(0, pthread_create(&fuzzer[i].thread, NULL, fuzz,
					    &fuzzer[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(fuzzer[i].thread, NULL);
		EXPECT_EQ(0, fuzzer[i].failed);
		EXPECT_LT(0, fuzzer[i].accepted);
		TH_LOG("%u requests, %u accepted, %u namespaces",
		       fuzzer[i].requests, fuzzer[i].accepted,
		       fuzzer[i].namespaces);
	}
	/* The module still serves a valid request. */
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	EXPECT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_EQ(1, trees(nl));
	nl_close(nl);
}

static int status_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
	       WEXITSTATUS(status) : -1;
}

/* A user without privilege sends requests from a process. Return: its status */
static int user(struct fuzzer *f)
{
	fuzz_as_user(f);
	return f->failed || f->accepted || !f->requests;
}

static int root_of_a_user_namespace(struct fuzzer *f)
{
	f->failed = become_root_of_a_namespace();
	if (!f->failed)
		fuzz(f);
	return f->failed || !f->accepted;
}

/* After these requests this node is as before. */
static void stand(struct __test_metadata *_metadata, FIXTURE_DATA(fuzz) *self,
		  int (*other)(struct fuzzer *f))
{
	static struct fuzzer fuzzer;
	static struct nl ours;
	struct nl *nl = &ours;
	uint64_t used;
	pid_t pid;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	fuzzer.seed = self->seed;
	fuzzer.seconds = 1 + self->seconds / 3;
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(other(&fuzzer));
	used = memory_used(nl);
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(1, trees(nl));
	EXPECT_EQ(0, links(nl));
	EXPECT_EQ(used, memory_used(nl));
	nl_close(nl);
}

TEST_F_TIMEOUT(fuzz, requests_of_a_user, LONG)
{
	stand(_metadata, self, user);
}

TEST_F_TIMEOUT(fuzz, requests_of_root_of_a_user_namespace, LONG)
{
	stand(_metadata, self, root_of_a_user_namespace);
}

TEST_HARNESS_MAIN
