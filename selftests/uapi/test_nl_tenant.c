// SPDX-License-Identifier: GPL-2.0
/* Netlink: a tenant, which is root of its own user namespace, cannot take more
 * from the host than its limits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "nl_node.h"
#include "put_file.h"

#define CGROUP	"/sys/fs/cgroup"
#define SLOW	CGROUP "/aggnet_slow"

static struct nl host;	/* in the initial namespace */

/* --- the memory of the host -------------------------------------------------- */

/* Add a receiver's entry that reserves much memory at once. */
static int large_add(struct nl *nl, uint32_t job, uint32_t sources)
{
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID,
	       (uint64_t)job << 32 | ntohl(addr(IDENTITY)));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, sources);
	nl_u64(nl, AGGNET_A_TREE_MEMORY, 1 << 20);
	return nl_talk(nl);
}

static int large_del(struct nl *nl, uint32_t job)
{
	return tree_del(nl, (uint64_t)job << 32 | ntohl(addr(IDENTITY)));
}

/* Make a node in a new namespace, and set its own limit to the maximum. */
static int greedy_node(struct nl *nl)
{
	int err = node_namespace();

	err = err ? err : nl_open(nl);
	err = err ? err : node_identity(nl, IDENTITY);
	return err ? err : node_memory(nl, 1ULL << 40);
}

#define PART_REFUSED							\
	"the host lets one namespace have no more memory: no room for this tree"

TEST(memory__one_namespace_does_not_take_the_whole_ceiling)
{
	static struct nl greedy, other;
	uint32_t job = 0;
	uint64_t ceiling;

	ASSERT_EQ(0, nl_open(&host));
	ASSERT_EQ(0, nl_do(&host, AGGNET_CMD_NODE_GET));
	ceiling = nl_get_u64(&host, AGGNET_A_NODE_MEMORY);
	ASSERT_EQ(0, greedy_node(&greedy));
	while (!large_add(&greedy, job, 4096))
		job++;
	EXPECT_STREQ(PART_REFUSED, greedy.text);
	EXPECT_LT(0, job);
	EXPECT_GE(ceiling / 2, memory_used(&greedy));
	ASSERT_EQ(0, greedy_node(&other));
	EXPECT_EQ(0, large_add(&other, 0, 4096));
	nl_close(&greedy);
	nl_close(&other);
	nl_close(&host);
}

static int node_tenant(struct nl *nl, uint64_t limit)
{
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u64(nl, AGGNET_A_NODE_TENANT, limit);
	return nl_talk(nl);
}

TEST(memory__the_part_of_a_namespace_is_the_hosts_to_set)
{
	static struct nl away;
	uint64_t ceiling, part;

	ASSERT_EQ(0, nl_open(&host));
	ASSERT_EQ(0, nl_do(&host, AGGNET_CMD_NODE_GET));
	ceiling = nl_get_u64(&host, AGGNET_A_NODE_MEMORY);
	part = nl_get_u64(&host, AGGNET_A_NODE_TENANT);
	EXPECT_EQ(ceiling / 2, part);
	EXPECT_REFUSED(&host, node_tenant(&host, AGGNET_MEMORY_MIN - 1), EINVAL,
		       AGGNET_A_NODE_TENANT,
		       "tenant must be at least 65536 bytes");
	ASSERT_EQ(0, node_tenant(&host, AGGNET_MEMORY_MIN));
	ASSERT_EQ(0, nl_do(&host, AGGNET_CMD_NODE_GET));
	EXPECT_EQ(AGGNET_MEMORY_MIN, nl_get_u64(&host, AGGNET_A_NODE_TENANT));

	ASSERT_EQ(0, greedy_node(&away));
	EXPECT_REFUSED(&away, node_tenant(&away, ceiling), EPERM,
		       AGGNET_A_NODE_TENANT,
		       "only the initial namespace sets what other namespaces may have");
	ASSERT_EQ(0, nl_do(&away, AGGNET_CMD_NODE_GET));
	EXPECT_FALSE(nl_has(&away, AGGNET_A_NODE_TENANT));
	EXPECT_REFUSED(&away, large_add(&away, 1, 4096), ENOSPC, 0,
		       PART_REFUSED);
	ASSERT_EQ(0, node_tenant(&host, ceiling));
	EXPECT_EQ(0, large_add(&away, 1, 4096));
	ASSERT_EQ(0, node_tenant(&host, part));
	nl_close(&away);
	nl_close(&host);
}

/*
 * --- what processes outside the tenant wait for
 * ---------------------------------
 */

/*
 * Shared by the processes of the test: how many rounds each has done, its
 * longest round in microseconds, and when it began the current one.
 */
enum {
	ADDS,		/* large entries, by a tenant with little CPU time */
	ASKS,		/* NODE_GET, by another process of the tenant */
	DEVICES,	/* a tenant's ports, deleted with their devices */
	CLOSES,		/* genetlink sockets that the tenant closed */
	RTNL,		/* requests of the host that take the RTNL */
	LOOPS
};

struct loop {
	atomic_uint rounds;
	atomic_ullong longest;
	atomic_ullong start;
};

static struct loop *loops;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void loop_for_ever(struct loop *loop, void (*once)(struct nl *nl),
			  struct nl *nl)
{
	uint64_t took;

	for (;;) {
		loop->start = now_us();
		once(nl);
		took = now_us() - loop->start;
		if (took > loop->longest)
			loop->longest = took;
		loop->rounds++;
	}
}

/* The longest round, including the current one. */
static uint64_t longest(const struct loop *loop)
{
	uint64_t start = loop->start, now = now_us(), most = loop->longest;

	return start && now > start + most ? now - start : most;
}

static void add_and_delete(struct nl *nl)
{
	large_add(nl, 1, 16384);
	large_del(nl, 1);
}

static void ask(struct nl *nl)
{
	nl_do(nl, AGGNET_CMD_NODE_GET);
}

/* The notifier looks for a port of each deleted device, and finds this one. */
static void make_and_delete_a_port(struct nl *nl)
{
	if (system("ip link add x0 type dummy") || port_add(nl, "x0") ||
	    system("ip link del x0"))
		_exit(1);
}

static void open_and_close(struct nl *nl)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);

	/* The kernel notifies of the release of bound sockets only. */
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)))
		_exit(1);
	close(fd);
}

/* Setting flags to their old value takes the RTNL and changes nothing. */
static void take_the_rtnl(struct nl *nl)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (ioctl(fd, SIOCGIFFLAGS, &ifr) || ioctl(fd, SIOCSIFFLAGS, &ifr))
		_exit(1);
	close(fd);
}

static void (*const once[LOOPS])(struct nl *nl) = {
	[ADDS] = add_and_delete,
	[ASKS] = ask,
	[DEVICES] = make_and_delete_a_port,
	[CLOSES] = open_and_close,
	[RTNL] = take_the_rtnl,
};

static pid_t begin(int loop)
{
	static struct nl nl;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (nl_open(&nl))
		_exit(1);
	loop_for_ever(&loops[loop], once[loop], &nl);
	_exit(1);
}

/*
 * Make the tenant's namespace and processes; they are killed with the first
 * one.
 */
static void be_the_tenant(int slow, pid_t *pid)
{
	static struct nl nl;
	int i;

	if (become_root_of_a_namespace() || greedy_node(&nl))
		_exit(1);
	for (i = ADDS; i <= CLOSES; i++)
		pid[i] = begin(i);
	if (dprintf(slow, "%d", pid[ADDS]) < 0)
		_exit(1);
}

/* Have processes of the tenant waited for its lock for seconds? */
static bool enough(void)
{
	int i;

	for (i = CLOSES; i < LOOPS; i++)
		if (loops[i].rounds < 20)
			return false;
	/* Adding a port waits for the tenant as long as NODE_GET does. */
	return loops[DEVICES].rounds && longest(&loops[ASKS]) > 3000000;
}

FIXTURE(slow) {
	int procs;	/* of the control group */
	pid_t *pid;	/* of the loops */
	pid_t tenant;
};

FIXTURE_SETUP(slow)
{
	self->procs = -1;
	if (put_file(CGROUP "/cgroup.subtree_control", "+cpu") ||
	    (mkdir(SLOW, 0755) && errno != EEXIST) ||
	    put_file(SLOW "/cpu.max", "2000 1000000"))
		return;
	self->procs = open(SLOW "/cgroup.procs", O_WRONLY);
	loops = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, loops);
	self->pid = (pid_t *)(loops + LOOPS);
	self->pid[RTNL] = begin(RTNL);
	self->tenant = fork();
	if (self->tenant)
		return;
	be_the_tenant(self->procs, self->pid);
	for (;;)
		pause();
}

FIXTURE_TEARDOWN(slow)
{
	int i;

	if (self->procs < 0)
		return;
	/* Let them run to their end. */
	put_file(SLOW "/cpu.max", "max");
	for (i = 0; i < LOOPS; i++)
		kill(self->pid[i], SIGKILL);
	kill(self->tenant, SIGKILL);
	waitpid(self->tenant, NULL, 0);
	close(self->procs);
}

/*
 * One process of the tenant has almost no CPU time while it holds the lock of
 * the tenant's configuration. Other processes of the tenant wait for it; the
 * host and the release of sockets do not.
 */
TEST_F_TIMEOUT(slow, rtnl__does_not_wait_for_a_tenant, LONG)
{
	static const char * const name[LOOPS] = {
		"adding an entry", "asking for the node",
		"making a port and deleting its device", "closing a socket",
		"waiting for and holding the RTNL",
	};
	int i;

	if (self->procs < 0)
		SKIP(return, "no control group that limits CPU time");
	while (!enough()) {
		ASSERT_EQ(0, waitpid(self->tenant, NULL, WNOHANG));
		ASSERT_EQ(0, waitpid(self->pid[RTNL], NULL, WNOHANG));
		poll(NULL, 0, 100);
	}
	for (i = 0; i < LOOPS; i++)
		TH_LOG("%s: %u times, %llu us at most", name[i],
		       loops[i].rounds,
		       (unsigned long long)longest(&loops[i]));
	/* Deleting a device also waits, without RTNL, for all RCU callbacks. */
	EXPECT_GT(longest(&loops[ASKS]) / 2, longest(&loops[CLOSES]));
	EXPECT_GT(longest(&loops[ASKS]) / 2, longest(&loops[RTNL]));
}

TEST_HARNESS_MAIN
