// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the commands for links that "aggctl host init" prints: they are executed
 * in their order, on the links of a node that the test plays, and leave each name that
 * the description gives at its neighbour. A namespace with devices that lead nowhere
 * stands for the server v1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "aggnet.h"
#include "host/host.h"
#include "info.h"
#include "kselftest_harness.h"

#define TOPOLOGY	"bcube:4,1"
#define LINKS		16
#define OTHER		0x0a1000c8	/* 10.16.0.200 */

/* The node. */
static struct {
	struct aggnet_node_info node;
	struct aggnet_port_info port[2];
	struct aggnet_link_info link[LINKS];
	size_t n;
} played;

int __wrap_aggnet_ctl_open(struct aggnet_ctl **ctl)
{
	*ctl = (void *)&played;
	return 0;
}

void __wrap_aggnet_ctl_close(struct aggnet_ctl *ctl)
{
	(void)ctl;
}

int __wrap_aggnet_node_get(struct aggnet_ctl *ctl, struct aggnet_node_info *node)
{
	(void)ctl;
	*node = played.node;
	return 0;
}

const char *__wrap_aggnet_ctl_error(const struct aggnet_ctl *ctl)
{
	(void)ctl;
	return "no answer";
}

/* The list that the node refuses, or NULL. */
static const char *refused;

/* An allocation of members of this size fails. */
static size_t no_memory_for;

void *__real_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory_for && size == no_memory_for ? NULL : __real_calloc(n, size);
}

static void *copy(const void *list, size_t size)
{
	void *new = malloc(size + 1);

	memcpy(new, list, size);
	return new;
}

int __wrap_aggnet_port_list(struct aggnet_ctl *ctl,
			    struct aggnet_port_info **list, size_t *n)
{
	(void)ctl;
	if (refused && !strcmp(refused, "port"))
		return -EAGAIN;
	*list = copy(played.port, sizeof(played.port));
	*n = ARRAY_SIZE(played.port);
	return 0;
}

int __wrap_aggnet_link_list(struct aggnet_ctl *ctl,
			    struct aggnet_link_info **list, size_t *n)
{
	(void)ctl;
	if (refused && !strcmp(refused, "link"))
		return -EAGAIN;
	*list = copy(played.link, played.n * sizeof(*played.link));
	*n = played.n;
	return 0;
}

/* As the kernel does: one link by a port to a neighbour, and none that trees leave by is
 * deleted.
 */
static int find(uint32_t ifindex, struct in_addr to)
{
	size_t i;

	for (i = 0; i < played.n; i++)
		if (played.link[i].ifindex == ifindex &&
		    played.link[i].neighbour.s_addr == to.s_addr)
			return (int)i;
	return -1;
}

/* A port takes its links along. */
static void execute_port(const char *command)
{
	char verb[4], device[IF_NAMESIZE];
	unsigned int level = 0;
	uint32_t ifindex;
	size_t i, n = 0;

	if (sscanf(command, "aggctl port %3s %15s level %u", verb, device, &level) < 2)
		return;
	ifindex = if_nametoindex(device);
	for (i = 0; i < ARRAY_SIZE(played.port); i++)
		if (played.port[i].ifindex == ifindex)
			played.port[i].level = (uint8_t)level;
	for (i = 0; i < played.n; i++)
		if (played.link[i].ifindex != ifindex)
			played.link[n++] = played.link[i];
	played.n = n;
}

/* Return: 1 for a command for a link, 0 for another one, -1 if it fails */
static int execute(const char *command)
{
	struct aggnet_link_info link = { .has = AGGNET_HAS(AGGNET_A_LINK_NAME) };
	char verb[4], device[IF_NAMESIZE], to[INET_ADDRSTRLEN];
	unsigned int digit;
	int n, at;

	n = sscanf(command, "aggctl link %3s %15s neighbour %15s bits 8 hashes 1 capacity 1 name %" SCNu64 " digit %u",
		   verb, device, to, &link.name, &digit);
	if (n < 3) {
		execute_port(command);
		return 0;
	}
	link.ifindex = if_nametoindex(device);
	link.digit = (uint8_t)digit;
	if (!link.ifindex || inet_pton(AF_INET, to, &link.neighbour) != 1)
		return -1;
	at = find(link.ifindex, link.neighbour);
	if (!strcmp(verb, "add")) {
		if (n != 5 || at >= 0 || played.n == LINKS)
			return -1;
		played.link[played.n++] = link;
		return 1;
	}
	if (at < 0 || played.link[at].trees)
		return -1;
	played.link[at] = played.link[--played.n];
	return 1;
}

FIXTURE(init_links) {
	struct aggnet_link_info wanted[LINKS];	/* eth0's first */
	size_t n;
	char advice[512];
};

/* Execute what "host init" prints. Return: how many commands for links */
static int init(struct __test_metadata *_metadata, char *advice)
{
	struct host host;
	int n = 0, ret;
	json_t *line;
	size_t i;

	ASSERT_EQ(ST_DONE, host_open(&host, TOPOLOGY, "v1"));
	ASSERT_EQ(0, host_look(&host));
	json_array_foreach(host.missing, i, line) {
		ret = execute(json_string_value(line));
		EXPECT_NE(-1, ret) TH_LOG("%s", json_string_value(line));
		n += ret == 1;
	}
	*advice = '\0';
	json_array_foreach(host.advice, i, line)
		if (strstr(json_string_value(json_object_get(line, "finding")), "link"))
			strcat(advice, json_string_value(json_object_get(line, "finding")));
	host_close(&host);
	return n;
}

FIXTURE_SETUP(init_links)
{
	unsigned int i;
	char device[8];

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP(return, "no namespace: %s", strerror(errno));
	setenv("AGGNET_NETWORK", "", 1);
	ASSERT_EQ(0, system("for n in 0 1; do ip link add eth$n type veth peer name far$n &&"
			    "ip link set eth$n up || exit; done &&"
			    "ip address add 10.16.0.2/24 dev eth0 &&"
			    "ip address add 10.16.5.1/24 dev eth1"));
	memset(&played, 0, sizeof(played));
	for (i = 0; i < 2; i++) {
		sprintf(device, "eth%u", i);
		strcpy(played.port[i].ifname, device);
		played.port[i].ifindex = if_nametoindex(device);
		played.port[i].level = (uint8_t)i;
	}
	ASSERT_EQ(6, init(_metadata, self->advice));
	ASSERT_EQ(6, played.n);
	self->n = played.n;
	memcpy(self->wanted, played.link, sizeof(played.link));
	ASSERT_EQ(played.port[0].ifindex, self->wanted[2].ifindex);
	ASSERT_EQ(played.port[1].ifindex, self->wanted[3].ifindex);
	ASSERT_EQ(0, init(_metadata, self->advice));
}

FIXTURE_TEARDOWN(init_links)
{
}

/* The neighbour of a wanted link has had this address when the node got the link. */
static void was_at(struct __test_metadata *_metadata, const FIXTURE_DATA(init_links) *self,
		   unsigned int i, uint32_t addr)
{
	size_t k;

	for (k = 0; k < played.n; k++)
		if (played.link[k].name == self->wanted[i].name &&
		    played.link[k].digit == self->wanted[i].digit &&
		    played.link[k].ifindex == self->wanted[i].ifindex)
			break;
	ASSERT_NE(played.n, k);
	played.link[k].neighbour.s_addr = addr;
}

static uint32_t addr_of(const FIXTURE_DATA(init_links) *self, unsigned int i)
{
	return self->wanted[i].neighbour.s_addr;
}

/* Has the node exactly the wanted links, and nothing to mend? */
static void expect_wanted(struct __test_metadata *_metadata, FIXTURE_DATA(init_links) *self)
{
	size_t i;
	int at;

	EXPECT_EQ(self->n, played.n);
	for (i = 0; i < self->n; i++) {
		at = find(self->wanted[i].ifindex, self->wanted[i].neighbour);
		ASSERT_LE(0, at) TH_LOG("no link to %s", addr_text(self->wanted[i].neighbour));
		EXPECT_EQ(self->wanted[i].name, played.link[at].name);
		EXPECT_EQ(self->wanted[i].digit, played.link[at].digit);
	}
	EXPECT_EQ(0, init(_metadata, self->advice));
	EXPECT_STREQ("", self->advice);
}

/* All neighbours have the address that the next one has had. */
TEST_F(init_links, shift)
{
	was_at(_metadata, self, 0, htonl(OTHER));
	was_at(_metadata, self, 1, addr_of(self, 0));
	was_at(_metadata, self, 2, addr_of(self, 1));
	EXPECT_EQ(6, init(_metadata, self->advice));
	EXPECT_STREQ("", self->advice);
	expect_wanted(_metadata, self);
}

TEST_F(init_links, shift_back)
{
	was_at(_metadata, self, 0, addr_of(self, 1));
	was_at(_metadata, self, 1, addr_of(self, 2));
	was_at(_metadata, self, 2, htonl(OTHER));
	EXPECT_EQ(6, init(_metadata, self->advice));
	expect_wanted(_metadata, self);
}

TEST_F(init_links, swap)
{
	was_at(_metadata, self, 0, addr_of(self, 1));
	was_at(_metadata, self, 1, addr_of(self, 0));
	EXPECT_EQ(4, init(_metadata, self->advice));
	expect_wanted(_metadata, self);
}

TEST_F(init_links, two_have_the_name)
{
	played.link[played.n] = self->wanted[1];
	played.link[played.n++].neighbour.s_addr = htonl(OTHER);
	EXPECT_EQ(1, init(_metadata, self->advice));
	expect_wanted(_metadata, self);
}

/* A port with another level takes its links along. */
TEST_F(init_links, moved_port)
{
	was_at(_metadata, self, 0, htonl(OTHER));
	played.port[0].level = 5;
	EXPECT_EQ(3, init(_metadata, self->advice));
	expect_wanted(_metadata, self);
}

/* It cannot be deleted; packets have to reach the neighbour all the same. */
TEST_F(init_links, trees_leave_by_a_stale_one)
{
	char says[256];

	was_at(_metadata, self, 0, htonl(OTHER));
	played.link[0].trees = 1;
	EXPECT_EQ(1, init(_metadata, self->advice));
	snprintf(says, sizeof(says), "the link eth0 to 10.16.0.200 has a name that the description gives to %s, and trees leave by it: packets by names are sent twice until the plan is withdrawn",
		 addr_text(self->wanted[0].neighbour));
	EXPECT_STREQ(says, self->advice);
	EXPECT_EQ(0, init(_metadata, self->advice));
	EXPECT_NE('\0', *self->advice);
	played.link[find(self->wanted[0].ifindex,
			 (struct in_addr){ htonl(OTHER) })].trees = 0;
	EXPECT_EQ(1, init(_metadata, self->advice));
	expect_wanted(_metadata, self);
}

TEST_F(init_links, trees_leave_by_one_with_another_name)
{
	played.link[0].trees = 1;
	played.link[0].name++;
	EXPECT_EQ(0, init(_metadata, self->advice));
	EXPECT_NE(NULL, strstr(self->advice, " has a name of another description, and trees leave by it"));
}

/* Without the list of links nothing may be said of them. */
TEST_F(init_links, no_memory)
{
	struct host host;

	ASSERT_EQ(ST_DONE, host_open(&host, TOPOLOGY, "v1"));
	no_memory_for = sizeof(struct aggnet_link_info);
	EXPECT_EQ(-1, host_look(&host));
	no_memory_for = 0;
	host_close(&host);
}

/* Look while the node refuses a list. Return: what host_look() returns */
static int look_without(struct __test_metadata *_metadata, const char *list,
			char *says, size_t size)
{
	int ret, err = dup(2), pipes[2];
	struct host host;
	ssize_t n;

	ASSERT_EQ(ST_DONE, host_open(&host, TOPOLOGY, "v1"));
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(2, dup2(pipes[1], 2));
	refused = list;
	ret = host_look(&host);
	refused = NULL;
	ASSERT_EQ(2, dup2(err, 2));
	close(err);
	close(pipes[1]);
	n = read(pipes[0], says, size - 1);
	says[n > 0 ? n : 0] = '\0';
	close(pipes[0]);
	host_close(&host);
	return ret;
}

/* What the node has is not known then; that is no reason to add all. */
TEST_F(init_links, no_list)
{
	char says[256];

	EXPECT_EQ(-1, look_without(_metadata, "link", says, sizeof(says)));
	EXPECT_NE(NULL, strstr(says, "host init: links of this node: no answer: repeat this when 'aggctl link show' prints them\n"));
	EXPECT_EQ(-1, look_without(_metadata, "port", says, sizeof(says)));
	EXPECT_NE(NULL, strstr(says, "host init: ports of this node: no answer: repeat this when 'aggctl port show' prints them\n"));
}

TEST_F(init_links, trees_leave_by_one_of_a_swap)
{
	was_at(_metadata, self, 0, addr_of(self, 1));
	was_at(_metadata, self, 1, addr_of(self, 0));
	played.link[0].trees = 1;
	EXPECT_EQ(2, init(_metadata, self->advice));
	EXPECT_NE('\0', *self->advice);
	played.link[find(self->wanted[1].ifindex, self->wanted[1].neighbour)].trees = 0;
	EXPECT_EQ(2, init(_metadata, self->advice));
	expect_wanted(_metadata, self);
}

TEST_HARNESS_MAIN
