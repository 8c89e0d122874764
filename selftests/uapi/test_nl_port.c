// SPDX-License-Identifier: GPL-2.0
/* Netlink: each command for ports, and each refusal. */
#include <errno.h>
#include <stdlib.h>

#include "harness.h"
#include "nl_node.h"

#define PORTS_MAX	256	/* of a node */

FIXTURE(port) {
	struct nl nl;
};

FIXTURE_SETUP(port)
{
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(port)
{
	nl_close(&self->nl);
}

static int about_port(struct nl *nl, uint8_t cmd, uint32_t index)
{
	nl_begin(nl, cmd, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, index);
	return nl_talk(nl);
}

static void count(struct nl *nl, void *arg)
{
	++*(int *)arg;
}

/* Devices x0 to x(n - 1). */
static int add_devices(unsigned int n)
{
	FILE *ip = popen("ip -batch -", "w");
	unsigned int i;

	if (!ip)
		return -errno;
	for (i = 0; i < n; i += 2)
		fprintf(ip, "link add x%u type veth peer name x%u\n", i, i + 1);
	return pclose(ip) ? -EIO : 0;
}

static int ports(struct nl *nl)
{
	int n = 0;
	int err = nl_dump(nl, AGGNET_CMD_PORT_GET, count, &n);

	return err ? err : n;
}

TEST_F_TIMEOUT(port, add__so_many_at_most, 120)
{
	struct nl *nl = &self->nl;
	char name[16];
	unsigned int i;

	ASSERT_EQ(0, add_devices(PORTS_MAX));
	for (i = 0; i < PORTS_MAX; i++) {
		sprintf(name, "x%u", i);
		ASSERT_EQ(0, port_add(nl, name));
	}
	EXPECT_REFUSED(nl, port_add(nl, "p0"), ENOSPC, AGGNET_A_PORT_IFINDEX,
		       "a node has 256 ports at most: delete one before");
	EXPECT_EQ(PORTS_MAX, ports(nl));
	ASSERT_EQ(0, about_port(nl, AGGNET_CMD_PORT_DEL, ifindex("x7")));
	EXPECT_EQ(0, port_add(nl, "p0"));
}

TEST_F(port, add__and_get)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, AGGNET_CMD_PORT_ADD, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex("p1"));
	nl_u8(nl, AGGNET_A_PORT_LEVEL, 3);
	nl_u8(nl, AGGNET_A_PORT_TRANSIT, 0);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, about_port(nl, AGGNET_CMD_PORT_GET, ifindex("p1")));
	EXPECT_EQ(ifindex("p1"), nl_get_u32(nl, AGGNET_A_PORT_IFINDEX));
	EXPECT_EQ(3, nl_get_u8(nl, AGGNET_A_PORT_LEVEL));
	EXPECT_STREQ("p1", (char *)nl_data(nl, AGGNET_A_PORT_IFNAME));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_PORT_TRANSIT));
	EXPECT_EQ(0, nl_get_u8(nl, AGGNET_A_PORT_TRANSIT));
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, about_port(nl, AGGNET_CMD_PORT_GET, ifindex("p0")));
	EXPECT_EQ(1, nl_get_u8(nl, AGGNET_A_PORT_TRANSIT));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_PORT_RX));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_PORT_FORWARDED));
}

TEST_F(port, dump)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(0, ports(nl));
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, port_add(nl, "p1"));
	EXPECT_EQ(2, ports(nl));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_NODE_GET));
	EXPECT_EQ(2, nl_get_u32(nl, AGGNET_A_NODE_PORTS));
	ASSERT_EQ(0, about_port(nl, AGGNET_CMD_PORT_DEL, ifindex("p0")));
	EXPECT_EQ(1, ports(nl));
}

static int port_transit(struct nl *nl, uint8_t transit)
{
	nl_begin(nl, AGGNET_CMD_PORT_ADD, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex("p0"));
	nl_u8(nl, AGGNET_A_PORT_TRANSIT, transit);
	return nl_talk(nl);
}

TEST_F(port, transit__refused)
{
	struct nl *nl = &self->nl;

	EXPECT_REFUSED(nl, port_transit(nl, 2), EINVAL, AGGNET_A_PORT_TRANSIT,
		       "transit must be off or on");
	ASSERT_EQ(0, node_role(nl, AGGNET_ROLE_SWITCH));
	EXPECT_REFUSED(nl, port_transit(nl, 0), EINVAL, AGGNET_A_PORT_TRANSIT,
		       "transit is all that a switch is for");
	EXPECT_EQ(0, ports(nl));
}

TEST_F(port, add__refused)
{
	struct nl *nl = &self->nl;

	EXPECT_REFUSED(nl, about_port(nl, AGGNET_CMD_PORT_ADD, 999), ENODEV,
		       AGGNET_A_PORT_IFINDEX, "no such device");
	EXPECT_REFUSED(nl, about_port(nl, AGGNET_CMD_PORT_ADD, 0), ENODEV,
		       AGGNET_A_PORT_IFINDEX, "no such device");
	ASSERT_EQ(0, port_add(nl, "p0"));
	EXPECT_REFUSED(nl, port_add(nl, "p0"), EEXIST, AGGNET_A_PORT_IFINDEX,
		       "device is an attached port already");
	EXPECT_REFUSED(nl, port_add(nl, "lo"), EINVAL, AGGNET_A_PORT_IFINDEX,
		       "only Ethernet devices can be ports");
	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_PORT_ADD),
		       AGGNET_A_PORT_IFINDEX);
	EXPECT_EQ(1, ports(nl));
}

TEST_F(port, del__refused)
{
	struct nl *nl = &self->nl;

	EXPECT_REFUSED(nl, about_port(nl, AGGNET_CMD_PORT_DEL, ifindex("p0")),
		       ENOENT, AGGNET_A_PORT_IFINDEX,
		       "device is not an attached port");
	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_PORT_DEL),
		       AGGNET_A_PORT_IFINDEX);
	nl_begin(nl, AGGNET_CMD_PORT_DEL, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex("p0"));
	nl_u8(nl, AGGNET_A_PORT_LEVEL, 0);
	EXPECT_EQ(-EINVAL, nl_talk(nl));
	EXPECT_EQ(AGGNET_A_PORT_LEVEL, nl->blamed);
}

TEST_F(port, get__refused)
{
	struct nl *nl = &self->nl;

	EXPECT_REFUSED(nl, about_port(nl, AGGNET_CMD_PORT_GET, ifindex("p0")),
		       ENOENT, AGGNET_A_PORT_IFINDEX, "port is not attached");
	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_PORT_GET),
		       AGGNET_A_PORT_IFINDEX);
}

TEST_F(port, del__takes_its_links)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, port_add(nl, "p1"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, link_add(nl, "p0", OTHER));
	ASSERT_EQ(0, link_add(nl, "p1", OTHER));
	ASSERT_EQ(0, about_port(nl, AGGNET_CMD_PORT_DEL, ifindex("p0")));
	EXPECT_EQ(1, links(nl));
	EXPECT_EQ(0, marks(nl, "p1", OTHER));
}

/*
 * An entry stays when its port is detached, and uses the link again after it is
 * added.
 */
TEST_F(port, del__and_add_again_under_an_entry)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	ASSERT_EQ(0, about_port(nl, AGGNET_CMD_PORT_DEL, ifindex("p0")));
	EXPECT_EQ(1, trees(nl));
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(1, marks(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(0, marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
}

TEST_F(port, gone__when_the_device_is_deleted)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, port_add(nl, "p1"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, system("ip link del p0"));
	EXPECT_EQ(1, ports(nl));
	EXPECT_EQ(0, links(nl));
}

#define VRF	"ip link add v0 type vrf table 10 2> /dev/null"
#define IN_VRF	"devices of a VRF cannot be ports"

TEST_F(port, add__refused_in_a_vrf)
{
	struct nl *nl = &self->nl;

	if (system(VRF))
		SKIP(return, "this kernel has no VRF");
	EXPECT_REFUSED(nl, port_add(nl, "v0"), EOPNOTSUPP,
		       AGGNET_A_PORT_IFINDEX, IN_VRF);
	ASSERT_EQ(0, system("ip link set p0 master v0"));
	EXPECT_REFUSED(nl, port_add(nl, "p0"), EOPNOTSUPP,
		       AGGNET_A_PORT_IFINDEX, IN_VRF);
	EXPECT_EQ(0, ports(nl));
	ASSERT_EQ(0, system("ip link set p0 nomaster"));
	EXPECT_EQ(0, port_add(nl, "p0"));
}

TEST_F(port, gone__when_the_device_joins_a_vrf)
{
	struct nl *nl = &self->nl;

	if (system(VRF))
		SKIP(return, "this kernel has no VRF");
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, port_add(nl, "p1"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	/* A bridge is another kind of master. */
	ASSERT_EQ(0, system("ip link add br0 type bridge && "
			    "ip link set p1 master br0"));
	EXPECT_EQ(2, ports(nl));
	ASSERT_EQ(0, system("ip link set p0 master v0"));
	EXPECT_EQ(1, ports(nl));
	EXPECT_EQ(0, links(nl));
	/* It is not attached again by itself. */
	ASSERT_EQ(0, system("ip link set p0 nomaster"));
	EXPECT_EQ(1, ports(nl));
}

TEST_F(port, renamed)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, system("ip link set p0 down && ip link set p0 name x0"));
	ASSERT_EQ(0, about_port(nl, AGGNET_CMD_PORT_GET, ifindex("x0")));
	EXPECT_STREQ("x0", (char *)nl_data(nl, AGGNET_A_PORT_IFNAME));
}

TEST_HARNESS_MAIN
