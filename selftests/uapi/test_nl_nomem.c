// SPDX-License-Identifier: GPL-2.0
/* Netlink: each allocation of a command fails once, and nothing is left half
 * done. Needs a kernel with fault injection; skipped on others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nl_node.h"

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define GFP_WAIT	"/sys/kernel/debug/failslab/ignore-gfp-wait"
#define MOST		300	/* allocations that a command makes */

FIXTURE(nomem) {
	struct nl nl;
	bool able;
};

static int put_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* The @nth allocation of this thread from now on fails; 0: none does. */
static void fail_nth(int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", nth);
	put_file(FAIL_NTH, text);
}

/* Has it failed? */
static bool has_failed(void)
{
	char text[16] = "";
	int fd = open(FAIL_NTH, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '1';
	close(fd);
	return !atoi(text);
}

FIXTURE_SETUP(nomem)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
	/* Allocations that may sleep are to fail too. */
	self->able = !access(FAIL_NTH, W_OK) && !put_file(GFP_WAIT, "N");
}

FIXTURE_TEARDOWN(nomem)
{
	nl_close(&self->nl);
}

static int stage(struct nl *nl)
{
	int err = nl_do(nl, AGGNET_CMD_PLAN_BEGIN);

	if (!err)
		err = link_add(nl, "p0", NEIGHBOUR);
	if (!err)
		err = transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR);
	if (!err)
		err = tree_add(nl, incast(2), 1, 0);
	return err;
}

static bool memory_is_free(struct nl *nl)
{
	return memory_used(nl) == 0;
}

TEST_F(nomem, commit)
{
	struct nl *nl = &self->nl;
	int nth, err, failed = 0;
	bool over = false;

	if (!self->able)
		SKIP(return, "the kernel cannot make allocations fail");
	for (nth = 1; nth < MOST && !over; nth++) {
		ASSERT_EQ(0, stage(nl));
		fail_nth(nth);
		err = nl_do(nl, AGGNET_CMD_PLAN_COMMIT);
		over = !has_failed();
		fail_nth(0);
		/* Only the answer was lost: it may have been done or not. */
		if (err == -ENOBUFS)
			err = trees(nl) ? 0 : -ENOMEM;
		if (err) {
			failed++;
			EXPECT_EQ(0, trees(nl));
			EXPECT_EQ(0, links(nl));
			nl_do(nl, AGGNET_CMD_PLAN_DROP);
		} else {
			EXPECT_EQ(2, trees(nl));
			EXPECT_EQ(1, marks(nl, "p0", NEIGHBOUR));
			ASSERT_EQ(0, tree_del(nl, incast(1)));
			ASSERT_EQ(0, tree_del(nl, incast(2)));
			ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
		}
		ASSERT_TRUE(within(nl, memory_is_free));
	}
	EXPECT_TRUE(over);
	EXPECT_LT(0, failed);
	TH_LOG("%d of %d allocations failed the commit", failed, nth - 2);
}

TEST_F(nomem, tree_add)
{
	struct nl *nl = &self->nl;
	int nth, err, failed = 0;
	bool over = false;

	if (!self->able)
		SKIP(return, "the kernel cannot make allocations fail");
	for (nth = 1; nth < MOST && !over; nth++) {
		fail_nth(nth);
		err = tree_add(nl, incast(1), 1, 0);
		over = !has_failed();
		fail_nth(0);
		if (err == -ENOBUFS)
			err = trees(nl) ? 0 : -ENOMEM;
		EXPECT_EQ(err ? 0 : 1, trees(nl));
		if (err)
			failed++;
		else
			ASSERT_EQ(0, tree_del(nl, incast(1)));
		ASSERT_TRUE(within(nl, memory_is_free));
	}
	EXPECT_TRUE(over);
	EXPECT_LT(0, failed);
	TH_LOG("%d of %d allocations failed it", failed, nth - 2);
}

TEST_HARNESS_MAIN
