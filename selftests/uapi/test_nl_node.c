// SPDX-License-Identifier: GPL-2.0
/* Netlink: each command for the node, and each refusal. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "nl_node.h"

FIXTURE(node) {
	struct nl nl;
};

FIXTURE_SETUP(node)
{
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(node)
{
	nl_close(&self->nl);
}

TEST_F(node, get__as_it_begins)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_NODE_ADDRESS));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_NODE_LABEL));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_NODE_ROLE));
	EXPECT_EQ(AGGNET_ROLE_SERVER, nl_get_u8(nl, AGGNET_A_NODE_ROLE));
	EXPECT_EQ(64ULL << 20, nl_get_u64(nl, AGGNET_A_NODE_MEMORY));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_NODE_MEMORY_USED));
	EXPECT_EQ(0, nl_get_u64(nl, AGGNET_A_NODE_MEMORY_USED));
	EXPECT_EQ(0, nl_get_u32(nl, AGGNET_A_NODE_TREES));
	EXPECT_EQ(0, nl_get_u32(nl, AGGNET_A_NODE_PORTS));
	EXPECT_EQ(AGGNET_UDP_PORT, nl_get_u16(nl, AGGNET_A_NODE_UDP_PORT));
}

TEST_F(node, set__all)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u32(nl, AGGNET_A_NODE_ADDRESS, addr(IDENTITY));
	nl_u8(nl, AGGNET_A_NODE_ROLE, AGGNET_ROLE_SWITCH);
	nl_str(nl, AGGNET_A_NODE_LABEL, "0123456789012345678901234567890");
	nl_u64(nl, AGGNET_A_NODE_MEMORY, 1ULL << 33);
	nl_u16(nl, AGGNET_A_NODE_UDP_PORT, 20000);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_EQ(addr(IDENTITY), nl_get_u32(nl, AGGNET_A_NODE_ADDRESS));
	EXPECT_EQ(AGGNET_ROLE_SWITCH, nl_get_u8(nl, AGGNET_A_NODE_ROLE));
	EXPECT_STREQ("0123456789012345678901234567890",
		     (const char *)nl_data(nl, AGGNET_A_NODE_LABEL));
	EXPECT_EQ(1ULL << 33, nl_get_u64(nl, AGGNET_A_NODE_MEMORY));
	EXPECT_EQ(20000, nl_get_u16(nl, AGGNET_A_NODE_UDP_PORT));
}

TEST_F(node, set__one_leaves_the_others)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_str(nl, AGGNET_A_NODE_LABEL, "v0");
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_EQ(addr(IDENTITY), nl_get_u32(nl, AGGNET_A_NODE_ADDRESS));
}

TEST_F(node, set__refused_changes_nothing)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u32(nl, AGGNET_A_NODE_ADDRESS, addr(IDENTITY));
	nl_str(nl, AGGNET_A_NODE_LABEL, "v\n");
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_NODE_LABEL,
		       "label has a character that is not printable ASCII");
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_NODE_ADDRESS));
}

TEST_F(node, set__address_not_here)
{
	EXPECT_REFUSED(&self->nl, node_identity(&self->nl, RECEIVER),
		       EADDRNOTAVAIL, AGGNET_A_NODE_ADDRESS,
		       "identity is not an address of this host");
	EXPECT_REFUSED(&self->nl, node_identity(&self->nl, "127.0.0.1"),
		       EINVAL, AGGNET_A_NODE_ADDRESS,
		       "peers cannot reach a loopback address");
}

TEST_F(node, set__address_in_a_vrf)
{
	struct nl *nl = &self->nl;

	if (system("ip link add v0 type vrf table 10 2> /dev/null"))
		SKIP(return, "this kernel has no VRF");
	ASSERT_EQ(0, system("ip link set v0 up && ip link set p0 master v0 && "
			    "ip addr add 10.0.0.6/32 dev v0 && "
			    "ip addr add 10.0.0.7/32 dev p0"));
	EXPECT_REFUSED(nl, node_identity(nl, "10.0.0.6"), EOPNOTSUPP,
		       AGGNET_A_NODE_ADDRESS,
		       "identity is an address of a VRF: peers are routed by the main table");
	EXPECT_EQ(-EOPNOTSUPP, node_identity(nl, "10.0.0.7"));
	EXPECT_EQ(0, node_identity(nl, IDENTITY));
}

/* A plan that fails leaves the node as it was. */
TEST_F(node, set__identity_taken_away)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_REFUSED(nl, node_identity(nl, "0.0.0.0"), EBUSY,
		       AGGNET_A_NODE_ADDRESS,
		       "trees are in force: delete them first");
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	ASSERT_EQ(0, node_identity(nl, "0.0.0.0"));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_NODE_ADDRESS));
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_str(nl, AGGNET_A_NODE_LABEL, "");
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
}

TEST_F(node, set__role_unknown)
{
	EXPECT_REFUSED(&self->nl, node_role(&self->nl, __AGGNET_ROLE_MAX),
		       EINVAL, AGGNET_A_NODE_ROLE,
		       "role must be server or switch");
}

TEST_F(node, set__label)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_str(nl, AGGNET_A_NODE_LABEL, "a\033[2Jb");
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_NODE_LABEL,
		       "label has a character that is not printable ASCII");
	/* The policy's length. */
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_str(nl, AGGNET_A_NODE_LABEL, "01234567890123456789012345678901");
	EXPECT_EQ(-EINVAL, nl_talk(nl));
	EXPECT_EQ(AGGNET_A_NODE_LABEL, nl->blamed);
}

TEST_F(node, set__memory_too_small)
{
	nl_begin(&self->nl, AGGNET_CMD_NODE_SET, 0);
	nl_u64(&self->nl, AGGNET_A_NODE_MEMORY, AGGNET_MEMORY_MIN - 1);
	EXPECT_REFUSED(&self->nl, nl_talk(&self->nl), EINVAL,
		       AGGNET_A_NODE_MEMORY,
		       "memory must be at least 65536 bytes");
}

TEST_F(node, set__only_told)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u32(nl, AGGNET_A_NODE_TREES, 1);
	EXPECT_EQ(-EINVAL, nl_talk(nl));
	EXPECT_EQ(AGGNET_A_NODE_TREES, nl->blamed);
	EXPECT_STRNE("", nl->text);
}

TEST_F(node, set__busy_with_trees)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_REFUSED(nl, node_role(nl, AGGNET_ROLE_SWITCH), EBUSY,
		       AGGNET_A_NODE_ROLE,
		       "trees are in force: delete them first");
	ASSERT_EQ(0, system("ip addr add 10.0.0.5/32 dev lo"));
	EXPECT_REFUSED(nl, node_identity(nl, "10.0.0.5"), EBUSY,
		       AGGNET_A_NODE_ADDRESS,
		       "trees are in force: delete them first");
	/* Setting the same identity changes nothing. */
	EXPECT_EQ(0, node_identity(nl, IDENTITY));
	EXPECT_EQ(0, node_role(nl, AGGNET_ROLE_SERVER));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(0, node_identity(nl, "10.0.0.5"));
}

TEST_F(node, set__busy_with_links)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	EXPECT_REFUSED(nl, node_role(nl, AGGNET_ROLE_SWITCH), EBUSY,
		       AGGNET_A_NODE_ROLE,
		       "there are links: delete them first");
}

/* A port with transit off; a switch forwards packets from every port. */
static int port_without_transit(struct nl *nl, const char *name)
{
	nl_begin(nl, AGGNET_CMD_PORT_ADD, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex(name));
	nl_u8(nl, AGGNET_A_PORT_TRANSIT, 0);
	return nl_talk(nl);
}

TEST_F(node, set__role_with_transit_off)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, port_without_transit(nl, "p0"));
	ASSERT_EQ(0, port_add(nl, "p1"));
	EXPECT_REFUSED(nl, node_role(nl, AGGNET_ROLE_SWITCH), EBUSY,
		       AGGNET_A_NODE_ROLE,
		       "a port has transit off, which a switch cannot have: delete it first");
	EXPECT_EQ(0, node_role(nl, AGGNET_ROLE_SERVER));
	ASSERT_EQ(0, system("ip link del p0"));
	EXPECT_EQ(0, node_role(nl, AGGNET_ROLE_SWITCH));
	EXPECT_EQ(0, node_role(nl, AGGNET_ROLE_SERVER));
}

TEST_F(node, set__busy_with_a_plan)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	EXPECT_EQ(0, node_role(nl, AGGNET_ROLE_SWITCH));
	EXPECT_EQ(0, node_role(nl, AGGNET_ROLE_SERVER));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_REFUSED(nl, node_role(nl, AGGNET_ROLE_SWITCH), EBUSY,
		       AGGNET_A_NODE_ROLE,
		       "a plan is staged: commit or drop it first");
}

/* --- the UDP port ------------------------------------------------------------ */

static int node_port(struct nl *nl, uint16_t port)
{
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u16(nl, AGGNET_A_NODE_UDP_PORT, port);
	return nl_talk(nl);
}

/* Bind a socket of this process to a UDP port. Return: it or -errno */
static int bind_port(uint16_t port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (!bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -errno;
}

static bool port_is_free(uint16_t port)
{
	int fd = bind_port(port);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The module closes its socket a moment after it is not needed any more. */
static bool usual_is_free(struct nl *nl)
{
	(void)nl;
	return port_is_free(AGGNET_UDP_PORT);
}

TEST(port__below_ephemeral_ports)
{
	EXPECT_GT(30000, AGGNET_UDP_PORT);
	EXPECT_LT(1023, AGGNET_UDP_PORT);
}

TEST_F(node, port__zero)
{
	EXPECT_REFUSED(&self->nl, node_port(&self->nl, 0), EINVAL,
		       AGGNET_A_NODE_UDP_PORT, "udp_port must be at least 1");
}

TEST_F(node, port__taken_with_the_identity)
{
	struct nl *nl = &self->nl;

	EXPECT_TRUE(port_is_free(AGGNET_UDP_PORT));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	EXPECT_FALSE(port_is_free(AGGNET_UDP_PORT));
	ASSERT_EQ(0, node_port(nl, 20000));
	EXPECT_TRUE(port_is_free(AGGNET_UDP_PORT));
	EXPECT_FALSE(port_is_free(20000));
}

TEST_F(node, port__in_use)
{
	struct nl *nl = &self->nl;
	int fd = bind_port(20000);

	ASSERT_LE(0, fd);
	EXPECT_REFUSED(nl, node_port(nl, 20000), EADDRINUSE,
		       AGGNET_A_NODE_UDP_PORT,
		       "the node's UDP port is in use on this host: set another or stop its user");
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	EXPECT_EQ(-EADDRINUSE, node_port(nl, 20000));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_EQ(AGGNET_UDP_PORT, nl_get_u16(nl, AGGNET_A_NODE_UDP_PORT));
	EXPECT_FALSE(port_is_free(AGGNET_UDP_PORT));
	close(fd);
	EXPECT_EQ(0, node_port(nl, 20000));
}

/* The usual port is in use: set the identity together with another port. */
TEST_F(node, port__with_the_identity_at_once)
{
	struct nl *nl = &self->nl;
	int fd = bind_port(AGGNET_UDP_PORT);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EADDRINUSE, node_identity(nl, IDENTITY));
	nl_begin(nl, AGGNET_CMD_NODE_SET, 0);
	nl_u32(nl, AGGNET_A_NODE_ADDRESS, addr(IDENTITY));
	nl_u16(nl, AGGNET_A_NODE_UDP_PORT, 20000);
	EXPECT_EQ(0, nl_talk(nl));
	EXPECT_FALSE(port_is_free(20000));
	close(fd);
}

TEST_F(node, port__busy_with_trees)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_REFUSED(nl, node_port(nl, 20000), EBUSY, AGGNET_A_NODE_UDP_PORT,
		       "trees are in force: delete them first");
	/* Setting the same port changes nothing. */
	EXPECT_EQ(0, node_port(nl, AGGNET_UDP_PORT));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(0, node_port(nl, 20000));
}

TEST_F(node, port__free_when_nothing_needs_it)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, port_add(nl, "p0"));
	EXPECT_FALSE(port_is_free(AGGNET_UDP_PORT));
	nl_begin(nl, AGGNET_CMD_PORT_DEL, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex("p0"));
	ASSERT_EQ(0, nl_talk(nl));
	EXPECT_TRUE(within(nl, usual_is_free));
	/* Set the port while no socket needs it. */
	ASSERT_EQ(0, node_port(nl, AGGNET_UDP_PORT));
	EXPECT_TRUE(within(nl, usual_is_free));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	EXPECT_FALSE(port_is_free(AGGNET_UDP_PORT));
	ASSERT_EQ(0, node_identity(nl, "0.0.0.0"));
	EXPECT_TRUE(within(nl, usual_is_free));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_NODE_ADDRESS));
}

static bool memory_is_free(struct nl *nl)
{
	return memory_used(nl) == 0;
}

TEST_F(node, memory__comes_back)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_NE(0, memory_used(nl));
	EXPECT_NE(~0ULL, memory_used(nl));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_TRUE(within(nl, memory_is_free));
}

TEST_F(node, memory__limit)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, node_memory(nl, AGGNET_MEMORY_MIN));
	/* The first entry takes what it gets, up to the limit. */
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_GE(AGGNET_MEMORY_MIN, memory_used(nl));
	EXPECT_REFUSED(nl, tree_add(nl, incast(2), 1, 0), ENOSPC, 0,
		       "the node's memory limit leaves no room for this tree");
	EXPECT_EQ(1, trees(nl));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_TRUE(within(nl, memory_is_free));
}

TEST_F(node, header__flags_and_reserved)
{
	struct nl *nl = &self->nl;
	struct genlmsghdr *g = NLMSG_DATA(&nl->request.head);

	nl_begin(nl, AGGNET_CMD_NODE_GET, NLM_F_REPLACE);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, 0,
		       "the command does not take one of the header's flags");
	nl_begin(nl, AGGNET_CMD_NODE_GET, 0);
	g->reserved = 1;
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, 0,
		       "reserved field of the header is not zero");
}

TEST_F(node, stats__get)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_STATS_GET));
	ASSERT_TRUE(nl_has(nl, AGGNET_A_STATS_ENTRY));
	nl_enter(nl, AGGNET_A_STATS_ENTRY);
	EXPECT_STREQ("passed_policy", (char *)nl_data(nl, AGGNET_A_STATS_NAME));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_STATS_VALUE));
}

TEST_F(node, commands__no_attributes)
{
	static const uint8_t cmd[] = {
		AGGNET_CMD_NODE_GET, AGGNET_CMD_STATS_GET,
		AGGNET_CMD_PLAN_BEGIN, AGGNET_CMD_PLAN_DROP,
	};
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < sizeof(cmd); i++) {
		nl_begin(nl, cmd[i], 0);
		nl_u32(nl, 1, 0);
		EXPECT_EQ(-EINVAL, nl_talk(nl));
		EXPECT_EQ(1, nl->blamed);
		EXPECT_STRNE("", nl->text);
	}
}

TEST_F(node, commands__unknown)
{
	EXPECT_EQ(-EOPNOTSUPP, nl_do(&self->nl, AGGNET_CMD_EVENT));
	EXPECT_EQ(-EOPNOTSUPP, nl_do(&self->nl, __AGGNET_CMD_MAX));
}

TEST_HARNESS_MAIN
