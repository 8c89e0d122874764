// SPDX-License-Identifier: GPL-2.0
/* Netlink: which users may use it, and in which namespace. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "nl_node.h"

static struct nl host;	/* in the initial namespace */

FIXTURE(access) {
	struct nl nl;
};

FIXTURE_SETUP(access)
{
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, node_identity(&self->nl, IDENTITY));
	ASSERT_EQ(0, tree_add(&self->nl, incast(1), 1, 0));
}

FIXTURE_TEARDOWN(access)
{
	nl_close(&self->nl);
}

TEST_F(access, unprivileged__may_nothing)
{
	struct nl *nl = &self->nl;
	uint8_t cmd;

	ASSERT_EQ(0, become_nobody());
	/* Open a new socket: the other one was opened with privilege. */
	nl_close(nl);
	ASSERT_EQ(0, nl_open(nl));
	for (cmd = AGGNET_CMD_NODE_GET; cmd < AGGNET_CMD_EVENT; cmd++) {
		if (cmd == AGGNET_CMD_LINK_GET)
			continue;
		EXPECT_EQ(-EPERM, nl_do(nl, cmd));
	}
	EXPECT_EQ(-EPERM, trees(nl));
	EXPECT_EQ(-EPERM, links(nl));
	EXPECT_EQ(-EPERM, nl_dump(nl, AGGNET_CMD_PORT_GET, NULL, NULL));
	EXPECT_EQ(-EPERM, nl_join(nl));
}

TEST_F(access, root_of_a_user_namespace__in_its_own)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, become_root_of_a_namespace());
	nl_close(nl);
	/* The network namespace is still that of the test ... */
	ASSERT_EQ(0, nl_open(nl));
	EXPECT_EQ(-EPERM, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_EQ(-EPERM, tree_del(nl, incast(1)));
	nl_close(nl);
	/* ... and now one of the user namespace. */
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	EXPECT_EQ(0, nl_join(nl));
	EXPECT_EQ(0, trees(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	EXPECT_EQ(0, tree_add(nl, incast(1), 1, 0));
}

static int tree_of_user(struct nl *nl, uint64_t id, int attr, uint32_t number)
{
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, id);
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, 1);
	nl_u32(nl, AGGNET_A_TREE_WRITERS, 1);
	nl_u32(nl, attr, number);
	return nl_talk(nl);
}

TEST_F(access, user_ids__are_the_namespaces_own)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, become_root_of_a_namespace());
	nl_close(nl);
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	EXPECT_REFUSED(nl, tree_of_user(nl, incast(1), AGGNET_A_TREE_UID, 1000),
		       EINVAL, AGGNET_A_TREE_UID,
		       "user ID has no mapping in this user namespace");
	EXPECT_REFUSED(nl, tree_of_user(nl, incast(1), AGGNET_A_TREE_GID, 1000),
		       EINVAL, AGGNET_A_TREE_GID,
		       "group ID has no mapping in this user namespace");
	ASSERT_EQ(0, tree_of_user(nl, incast(1), AGGNET_A_TREE_UID, 0));
	nl_begin(nl, AGGNET_CMD_TREE_GET, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	ASSERT_EQ(0, nl_talk(nl));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_TREE_UID));
	EXPECT_EQ(0, nl_get_u32(nl, AGGNET_A_TREE_UID));
}

/*
 * Root of a user namespace opens a socket in its own namespace and keeps
 * running.
 */
static int child_opens(struct nl *nl, int ready)
{
	int err = become_root_of_a_namespace();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nl_close(nl);
	if (!err)
		err = node_namespace();
	if (!err)
		err = nl_open(nl);
	if (!err)
		err = node_identity(nl, IDENTITY);
	if (!err && write(ready, &nl->fd, sizeof(nl->fd)) != sizeof(nl->fd))
		err = -errno;
	close(ready);
	if (!err)
		pause();
	return err;
}

/* Return: PID of the child, which has opened @nl's socket; or -1 */
static pid_t open_by_child(struct nl *nl)
{
	int fds[2], fd, pidfd;
	pid_t pid;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid)
		_exit(!!child_opens(nl, fds[1]));
	close(fds[1]);
	if (pid < 0 || read(fds[0], &fd, sizeof(fd)) != sizeof(fd))
		return -1;
	close(fds[0]);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	close(nl->fd);
	nl->fd = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	/* Enter the child's namespace: sockets opened from now on are in it. */
	if (nl->fd < 0 || setns(pidfd, CLONE_NEWNET))
		return -1;
	close(pidfd);
	return pid;
}

static int owner_of_first(struct nl *nl)
{
	nl_begin(nl, AGGNET_CMD_TREE_GET, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	if (nl_talk(nl) || !nl_has(nl, AGGNET_A_TREE_UID))
		return -1;
	return nl_get_u32(nl, AGGNET_A_TREE_UID);
}

static void see_owner(struct nl *nl, void *arg)
{
	*(int *)arg = nl_get_u32(nl, AGGNET_A_TREE_UID);
}

/* Root of the host uses a socket that root of a user namespace has opened. */
TEST_F(access, user_ids__are_of_the_namespace_that_opened_the_socket)
{
	static struct nl ours;
	struct nl *nl = &self->nl;
	pid_t pid = open_by_child(nl);
	int owner = -1;

	ASSERT_LT(0, pid);
	EXPECT_REFUSED(nl, tree_of_user(nl, incast(1), AGGNET_A_TREE_UID, 1000),
		       EINVAL, AGGNET_A_TREE_UID,
		       "user ID has no mapping in this user namespace");
	EXPECT_REFUSED(nl, tree_of_user(nl, incast(1), AGGNET_A_TREE_GID, 1000),
		       EINVAL, AGGNET_A_TREE_GID,
		       "group ID has no mapping in this user namespace");
	ASSERT_EQ(0, tree_of_user(nl, incast(1), AGGNET_A_TREE_UID, 0));
	EXPECT_EQ(0, owner_of_first(nl));
	ASSERT_EQ(0, nl_dump(nl, AGGNET_CMD_TREE_GET, see_owner, &owner));
	EXPECT_EQ(0, owner);
	/* The host sees the same user with another ID. */
	ASSERT_EQ(0, nl_open(&ours));
	EXPECT_EQ(NOBODY, owner_of_first(&ours));
	ASSERT_EQ(0, nl_dump(&ours, AGGNET_CMD_TREE_GET, see_owner, &owner));
	EXPECT_EQ(NOBODY, owner);
	nl_close(&ours);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(access, namespaces__are_apart)
{
	static struct nl away;
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&away));
	EXPECT_EQ(0, trees(&away));
	ASSERT_EQ(0, nl_do(&away, AGGNET_CMD_NODE_GET));
	EXPECT_FALSE(nl_has(&away, AGGNET_A_NODE_ADDRESS));
	ASSERT_EQ(0, node_identity(&away, IDENTITY));
	ASSERT_EQ(0, tree_add(&away, incast(1), 9, 0));
	ASSERT_EQ(0, tree_add(&away, incast(2), 9, 0));
	EXPECT_EQ(2, trees(&away));
	EXPECT_EQ(1, trees(nl));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(2, trees(&away));
	nl_close(&away);
}

/* An eighth of the machine's memory, unless it was set. */
TEST(memory__limit_of_the_host)
{
	static struct nl nl;
	unsigned long long total = 0, limit;
	FILE *f = fopen("/proc/meminfo", "r");

	ASSERT_NE(NULL, f);
	ASSERT_EQ(1, fscanf(f, "MemTotal: %llu kB", &total));
	fclose(f);
	ASSERT_EQ(0, nl_open(&nl));
	ASSERT_EQ(0, nl_do(&nl, AGGNET_CMD_NODE_GET));
	limit = nl_get_u64(&nl, AGGNET_A_NODE_MEMORY);
	total *= 1024 / 8;
	EXPECT_LT(total - total / 50, limit);
	EXPECT_GT(total + total / 50, limit);
	nl_close(&nl);
}

static int node_limits(struct nl *nl, uint64_t all, uint64_t one)
{
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u64(nl, AGGNET_A_NODE_MEMORY, all);
	nl_u64(nl, AGGNET_A_NODE_TENANT, one);
	return nl_talk(nl);
}

/* A namespace cannot get more memory than the host has left. */
TEST(memory__ceiling_of_the_host)
{
	static struct nl away;
	uint64_t limit, part;

	ASSERT_EQ(0, nl_open(&host));
	ASSERT_EQ(0, nl_do(&host, AGGNET_CMD_NODE_GET));
	limit = nl_get_u64(&host, AGGNET_A_NODE_MEMORY);
	part = nl_get_u64(&host, AGGNET_A_NODE_TENANT);
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&away));
	ASSERT_EQ(0, node_identity(&away, IDENTITY));
	/* Let one namespace use the whole ceiling in this test. */
	ASSERT_EQ(0, node_limits(&host, AGGNET_MEMORY_MIN, limit));
	EXPECT_EQ(0, tree_add(&away, incast(1), 1, 0));
	EXPECT_REFUSED(&away, tree_add(&away, incast(2), 1, 0), ENOSPC, 0,
		       "the host's ceiling, the memory limit of the initial namespace, leaves no room for this tree");
	ASSERT_EQ(0, node_limits(&host, limit, part));
	EXPECT_EQ(0, tree_add(&away, incast(2), 1, 0));
	nl_close(&away);
	nl_close(&host);
}

/* Memory is charged to the namespace and to the host, and both get it back. */
static bool memory_is_free(struct nl *nl)
{
	return memory_used(nl) == 0;
}

TEST(memory__of_a_namespace_counts_at_the_host)
{
	static struct nl away;

	ASSERT_EQ(0, nl_open(&host));
	/* Namespaces of earlier tests are deleted asynchronously. */
	ASSERT_TRUE(within(&host, memory_is_free));
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&away));
	ASSERT_EQ(0, node_identity(&away, IDENTITY));
	ASSERT_EQ(0, tree_add(&away, incast(1), 1, 0));
	EXPECT_NE(0, memory_used(&host));
	EXPECT_EQ(memory_used(&away), memory_used(&host));
	/*
	 * The namespace is deleted with its last socket and process, and its
	 * entries with it.
	 */
	nl_close(&away);
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	EXPECT_TRUE(within(&host, memory_is_free));
	nl_close(&host);
}

TEST_HARNESS_MAIN
