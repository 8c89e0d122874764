// SPDX-License-Identifier: GPL-2.0
/* A node to test, and short calls of the usual requests. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "nl_node.h"
#include "put_file.h"


int node_namespace(void)
{
	FILE *ip;

	if (unshare(CLONE_NEWNET))
		return -errno;
	ip = popen("ip -batch -", "w");
	if (!ip)
		return -errno;
	fputs("link set lo up\n"
	      "addr add " IDENTITY "/32 dev lo\n"
	      "link add p0 type veth peer name q0\n"
	      "link add p1 type veth peer name q1\n"
	      "link set p0 up\nlink set q0 up\n"
	      "link set p1 up\nlink set q1 up\n", ip);
	return pclose(ip) ? -EIO : 0;
}

uint32_t addr(const char *text)
{
	return inet_addr(text);
}

uint64_t incast(uint32_t job)
{
	return (uint64_t)job << 32 | ntohl(addr(RECEIVER));
}

uint32_t ifindex(const char *name)
{
	return if_nametoindex(name);
}

int node_identity(struct nl *nl, const char *address)
{
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u32(nl, AGGNET_A_NODE_ADDRESS, addr(address));
	return nl_talk(nl);
}

int node_role(struct nl *nl, uint8_t role)
{
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u8(nl, AGGNET_A_NODE_ROLE, role);
	return nl_talk(nl);
}

int node_memory(struct nl *nl, uint64_t limit)
{
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u64(nl, AGGNET_A_NODE_MEMORY, limit);
	return nl_talk(nl);
}

int port_add(struct nl *nl, const char *name)
{
	nl_begin(nl, AGGNET_CMD_PORT_ADD, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex(name));
	return nl_talk(nl);
}

static int about_link(struct nl *nl, uint8_t cmd, const char *port,
		      const char *neighbour)
{
	nl_begin(nl, cmd, 0);
	nl_u32(nl, AGGNET_A_LINK_IFINDEX, ifindex(port));
	nl_u32(nl, AGGNET_A_LINK_NEIGHBOUR, addr(neighbour));
	return nl_talk(nl);
}

int link_add(struct nl *nl, const char *port, const char *neighbour)
{
	return about_link(nl, AGGNET_CMD_LINK_ADD, port, neighbour);
}

int link_del(struct nl *nl, const char *port, const char *neighbour)
{
	return about_link(nl, AGGNET_CMD_LINK_DEL, port, neighbour);
}

static void tree_begin(struct nl *nl, uint64_t id, uint32_t instance,
		       uint16_t flags)
{
	nl_begin(nl, AGGNET_CMD_TREE_ADD, flags);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, id);
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, instance);
}

int tree_add(struct nl *nl, uint64_t id, uint32_t instance, uint16_t flags)
{
	tree_begin(nl, id, instance, flags);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, 1);
	nl_u32(nl, AGGNET_A_TREE_WRITERS, 1);
	nl_u64(nl, AGGNET_A_TREE_MEMORY, AGGNET_MEMORY_MIN);
	return nl_talk(nl);
}

int transit_add(struct nl *nl, uint64_t id, uint32_t instance, uint16_t flags,
		const char *port, const char *neighbour)
{
	tree_begin(nl, id, instance, flags);
	nl_u32(nl, AGGNET_A_TREE_LINK_IFINDEX, ifindex(port));
	nl_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR, addr(neighbour));
	return nl_talk(nl);
}

int tree_del(struct nl *nl, uint64_t id)
{
	nl_begin(nl, AGGNET_CMD_TREE_DEL, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, id);
	return nl_talk(nl);
}

int trees_del(struct nl *nl, uint32_t from, uint32_t to)
{
	int err = 0;

	for (; from <= to && !err; from++)
		err = tree_del(nl, incast(from));
	return err;
}

static void count(struct nl *nl, void *arg)
{
	(void)nl;
	++*(int *)arg;
}

int trees(struct nl *nl)
{
	int n = 0;
	int err = nl_dump(nl, AGGNET_CMD_TREE_GET, count, &n);

	return err ? err : n;
}

int links(struct nl *nl)
{
	int n = 0;
	int err = nl_dump(nl, AGGNET_CMD_LINK_GET, count, &n);

	return err ? err : n;
}

uint64_t memory_used(struct nl *nl)
{
	if (nl_do(nl, AGGNET_CMD_NODE_GET))
		return ~0ULL;
	return nl_get_u64(nl, AGGNET_A_NODE_MEMORY_USED);
}

struct looked_for {
	uint32_t ifindex;
	uint32_t neighbour;
	int trees;
};

static void look(struct nl *nl, void *arg)
{
	struct looked_for *l = arg;

	if (nl_get_u32(nl, AGGNET_A_LINK_IFINDEX) == l->ifindex &&
	    nl_get_u32(nl, AGGNET_A_LINK_NEIGHBOUR) == l->neighbour)
		l->trees = nl_get_u32(nl, AGGNET_A_LINK_TREES);
}

int marks(struct nl *nl, const char *port, const char *neighbour)
{
	struct looked_for l = { ifindex(port), addr(neighbour), -1 };

	return nl_dump(nl, AGGNET_CMD_LINK_GET, look, &l) ? -1 : l.trees;
}

bool within(struct nl *nl, bool (*cond)(struct nl *nl))
{
	time_t end = time(NULL) + 20;

	while (!cond(nl)) {
		if (time(NULL) > end)
			return false;
		poll(NULL, 0, 10);
	}
	return true;
}

static uint64_t wanted_memory;

static bool has_wanted_memory(struct nl *nl)
{
	return memory_used(nl) == wanted_memory;
}

bool memory_becomes(struct nl *nl, uint64_t bytes)
{
	wanted_memory = bytes;
	return within(nl, has_wanted_memory);
}

uint64_t table_memory(uint32_t bits)
{
	return bits / 8 + bits * sizeof(uint16_t);
}

/* --- users ---------------------------------------------------------------- */

int become_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) ||
	       setresuid(NOBODY, NOBODY, NOBODY) ? -errno : 0;
}

int become_root_of_a_namespace(void)
{
	char map[32];
	int err;

	err = become_nobody();
	if (err)
		return err;
	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER))
		return -errno;
	snprintf(map, sizeof(map), "0 %d 1", NOBODY);
	err = put_file("/proc/self/uid_map", map);
	if (!err)
		err = put_file("/proc/self/setgroups", "deny");
	if (!err)
		err = put_file("/proc/self/gid_map", map);
	return err;
}
