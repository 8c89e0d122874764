// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of iptables-legacy: what drops packets is found, and no byte outside of a table is
 * read, whatever its offsets are. (test_host.sh has rules of nftables.)
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
/* The kernel's headers have to know of the C library's addresses. */
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/xt_CT.h>
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_state.h>
#include <linux/netfilter/xt_tcpudp.h>
#include <linux/netfilter_ipv4/ip_tables.h>

#include "host/firewall.h"
#include "../uapi/harness.h"

#define PORT		18016
#define ACCEPT		(-NF_ACCEPT - 1)
#define DROP		(-NF_DROP - 1)
#define SPACE		4096	/* bytes */

static const char * const devices[] = { "eth0", "eth1" };
static struct firewall_packet packet = {
	.port = PORT, .device = devices, .n_devices = 2, .in = "eth0", .out = "eth1",
};

/* A table that grows; what may follow the last entry's head is zero. */
static struct {
	struct ipt_getinfo info;
	char bytes[SPACE] __attribute__((aligned(8)));
	size_t size;
	struct ipt_entry *entry;
} table;

static void begin(void)
{
	memset(&table, 0, sizeof(table));
	table.info.valid_hooks = 1 << NF_INET_LOCAL_IN | 1 << NF_INET_FORWARD |
				 1 << NF_INET_LOCAL_OUT;
}

static struct ipt_entry *entry(void)
{
	table.entry = (void *)(table.bytes + table.size);
	table.entry->target_offset = sizeof(*table.entry);
	return table.entry;
}

static void *match(const char *name, size_t size, unsigned int revision)
{
	struct xt_entry_match *m = (void *)((char *)table.entry +
					    table.entry->target_offset);

	strcpy(m->u.user.name, name);
	m->u.user.revision = (__u8)revision;
	m->u.match_size = (__u16)XT_ALIGN(sizeof(*m) + size);
	table.entry->target_offset += m->u.match_size;
	return m->data;
}

/* The end of an entry: a target with a name, or "" and a verdict. */
static void target(const char *name, int verdict)
{
	struct xt_standard_target *t = (void *)((char *)table.entry +
						table.entry->target_offset);
	size_t size = strcmp(name, XT_ERROR_TARGET) ?
		      sizeof(*t) : sizeof(struct xt_error_target);

	strcpy(t->target.u.user.name, name);
	t->target.u.target_size = (__u16)size;
	t->verdict = verdict;
	table.entry->next_offset = table.entry->target_offset + (__u16)size;
	table.size += table.entry->next_offset;
}

static void rule(const char *name, int verdict)
{
	entry();
	target(name, verdict);
}

static void hook(unsigned int number)
{
	table.info.hook_entry[number] = (unsigned int)table.size;
}

/* INPUT and OUTPUT accept all; the rules of FORWARD follow. */
static void forward(void)
{
	begin();
	hook(NF_INET_LOCAL_IN);
	rule("", ACCEPT);
	hook(NF_INET_LOCAL_OUT);
	rule("", ACCEPT);
	hook(NF_INET_FORWARD);
}

static void end(void)
{
	rule(XT_ERROR_TARGET, 0);
}

/* Read a copy that has no byte more. */
static struct firewall_rules read_copy(void)
{
	struct firewall_rules rules = { .packet = &packet };
	struct ipt_get_entries *copy = malloc(sizeof(*copy) + table.size);

	copy->size = (unsigned int)table.size;
	memcpy(copy->entrytable, table.bytes, table.size);
	firewall_old(&rules, &table.info, copy);
	free(copy);
	return rules;
}

/* Return: "" or what a chain drops by, "!" if refused */
static const char *drops(unsigned int *ends, unsigned int *rest)
{
	static const char *what;
	struct firewall_rules rules = read_copy();
	size_t i;

	what = rules.failed ? "!" : "";
	for (i = 0; i < rules.n && !rules.failed; i++) {
		if (rules.chain[i].hook == FIREWALL_HOOKS)
			continue;
		firewall_walk(&rules, i);
		if (rules.chain[i].hook != FIREWALL_FORWARD)
			continue;
		*ends = rules.chain[i].ends;
		*rest = rules.chain[i].rest;
		if (*ends != FIREWALL_ACCEPT)
			what = rules.chain[i].what;
	}
	firewall_rules_free(&rules);
	return what;
}

#define EXPECT_DROPS(text, possible, otherwise)			\
	do {							\
		unsigned int ends = 0, rest = 0;		\
								\
		end();						\
		EXPECT_STREQ(text, drops(&ends, &rest));	\
		EXPECT_EQ(possible, ends);			\
		EXPECT_EQ(otherwise, rest);			\
	} while (0)

TEST(policy)
{
	forward();
	rule("", ACCEPT);
	EXPECT_DROPS("", FIREWALL_ACCEPT, FIREWALL_ACCEPT);
	forward();
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP, FIREWALL_DROP);
}

TEST(reject_at_the_end)
{
	struct xt_conntrack_mtinfo3 *info;
	struct xt_state_info *state;

	forward();
	entry();
	info = match("conntrack", sizeof(*info), 3);
	info->match_flags = XT_CONNTRACK_STATE;
	info->state_mask = XT_STATE_BIT(IP_CT_ESTABLISHED) |
			   XT_STATE_BIT(IP_CT_RELATED);
	target("", ACCEPT);
	entry();
	state = match("state", sizeof(*state), 0);
	state->statemask = XT_STATE_BIT(IP_CT_ESTABLISHED);
	target("", ACCEPT);
	entry()->ip.proto = IPPROTO_TCP;
	target("", ACCEPT);
	rule("LOG", 0);
	rule("REJECT", 0);
	rule("", ACCEPT);
	EXPECT_DROPS("REJECT", FIREWALL_DROP, FIREWALL_DROP);
}

TEST(new_flows)
{
	struct xt_conntrack_mtinfo3 *info;

	forward();
	entry();
	info = match("conntrack", sizeof(*info), 3);
	info->match_flags = XT_CONNTRACK_STATE;
	info->invert_flags = XT_CONNTRACK_STATE;
	info->state_mask = XT_STATE_BIT(IP_CT_ESTABLISHED);
	target("", DROP);
	rule("", ACCEPT);
	EXPECT_DROPS("DROP", FIREWALL_DROP, FIREWALL_DROP);
}

static struct xt_udp *udp(unsigned int first, unsigned int last)
{
	struct xt_udp *info;

	entry()->ip.proto = IPPROTO_UDP;
	info = match("udp", sizeof(*info), 0);
	info->spts[1] = UINT16_MAX;
	info->dpts[0] = (__u16)first;
	info->dpts[1] = (__u16)last;
	return info;
}

/* The command that is printed adds this rule; for some addresses it is one as well. */
TEST(port)
{
	forward();
	udp(PORT, PORT);
	match("comment", 256, 0);
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("", FIREWALL_ACCEPT, FIREWALL_ACCEPT);
	forward();
	udp(PORT, PORT);
	table.entry->ip.src.s_addr = htonl(0xc0000201);
	table.entry->ip.smsk.s_addr = UINT32_MAX;
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("", FIREWALL_ACCEPT, FIREWALL_ACCEPT);
	forward();
	udp(0, PORT - 1);
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP, FIREWALL_DROP);
}

/* A rule that accepts the port, under a condition that is not about addresses. */
TEST(port_with_condition)
{
	forward();
	udp(PORT, PORT);
	match("limit", 40, 0);
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP | FIREWALL_ACCEPT,
		     FIREWALL_DROP);
	forward();
	udp(PORT, PORT)->spts[0] = 1024;
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP | FIREWALL_ACCEPT,
		     FIREWALL_DROP);
	forward();
	udp(PORT, PORT);
	table.entry->ip.src.s_addr = htonl(0xc0000201);
	table.entry->ip.smsk.s_addr = UINT32_MAX;
	table.entry->ip.invflags = IPT_INV_SRCIP;
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP | FIREWALL_ACCEPT,
		     FIREWALL_DROP);
}

/* All ports but one: the rule does not name this one. */
TEST(other_port)
{
	forward();
	udp(53, 53)->invflags = XT_UDP_INV_DSTPT;
	table.entry->ip.src.s_addr = htonl(0xc0000201);
	table.entry->ip.smsk.s_addr = UINT32_MAX;
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP | FIREWALL_ACCEPT,
		     FIREWALL_DROP);
}

/* A match of which nothing is known, and addresses that may be those of members. */
TEST(may_drop)
{
	forward();
	entry();
	match("novelty", 8, 0);
	target("", DROP);
	rule("", ACCEPT);
	EXPECT_DROPS("DROP", FIREWALL_DROP | FIREWALL_ACCEPT, FIREWALL_ACCEPT);
	forward();
	entry()->ip.dmsk.s_addr = UINT32_MAX;
	target("", ACCEPT);
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP | FIREWALL_ACCEPT,
		     FIREWALL_DROP);
	forward();
	rule("NFQUEUE", 0);
	rule("", ACCEPT);
	EXPECT_DROPS("NFQUEUE", FIREWALL_UNKNOWN, FIREWALL_UNKNOWN);
}

/* A mask may have holes: all addresses that end in .1. */
TEST(mask_with_holes)
{
	static const in_addr_t identity[] = { 0x0a000001, 0x0a000101, 0x0a000102 };
	struct in_addr one[3];
	size_t i;

	for (i = 0; i < 3; i++)
		one[i].s_addr = htonl(identity[i]);
	for (i = 0; i < 3; i++) {
		packet.from = &one[i];
		forward();
		entry()->ip.src.s_addr = htonl(0x0a000001);
		table.entry->ip.smsk.s_addr = htonl(0xff0000ff);
		target("", ACCEPT);
		rule("", DROP);
		if (i < 2)
			EXPECT_DROPS("", FIREWALL_ACCEPT, FIREWALL_ACCEPT);
		else
			EXPECT_DROPS("policy drop", FIREWALL_DROP, FIREWALL_DROP);
	}
	packet.from = NULL;
}

/* A rule for addresses that no member has, if it is not known which member is asked about. */
TEST(no_member)
{
	const struct in_addr identity[] = {
		{ htonl(0x0a000001) }, { htonl(0x0a000002) },
	};

	packet.identity = identity;
	for (packet.n_identities = 2; packet.n_identities; packet.n_identities--) {
		forward();
		entry()->ip.src.s_addr = htonl(0xc0000207);
		table.entry->ip.smsk.s_addr = UINT32_MAX;
		target("", DROP);
		rule("", ACCEPT);
		if (packet.n_identities == 2)
			EXPECT_DROPS("", FIREWALL_ACCEPT, FIREWALL_ACCEPT);
		else
			EXPECT_DROPS("DROP", FIREWALL_DROP | FIREWALL_ACCEPT,
				     FIREWALL_ACCEPT);
	}
	packet.identity = NULL;
}

/* The first packet of a flow is untracked only if a rule sees to it. */
TEST(untracked)
{
	struct xt_state_info *state;

	for (; ; packet.untracked = true) {
		forward();
		entry();
		state = match("state", sizeof(*state), 0);
		state->statemask = XT_STATE_UNTRACKED;
		target("", ACCEPT);
		rule("", DROP);
		if (packet.untracked)
			break;
		EXPECT_DROPS("policy drop", FIREWALL_DROP, FIREWALL_DROP);
	}
	EXPECT_DROPS("policy drop", FIREWALL_DROP | FIREWALL_ACCEPT,
		     FIREWALL_DROP);
	packet.untracked = false;
}

/* A target that has parameters, in the table "raw", which has no chain for forwarding. */
static bool exempts(const char *name, unsigned int flags, unsigned int proto)
{
	struct firewall_rules rules;
	struct xt_entry_target *t;
	struct xt_ct_target_info *info;

	begin();
	table.info.valid_hooks = 1 << NF_INET_PRE_ROUTING | 1 << NF_INET_LOCAL_OUT;
	hook(NF_INET_PRE_ROUTING);
	entry()->ip.proto = (__u16)proto;
	t = (void *)((char *)table.entry + table.entry->target_offset);
	strcpy(t->u.user.name, name);
	info = (void *)t->data;
	info->flags = (__u16)flags;
	t->u.target_size = XT_ALIGN(sizeof(*t) + sizeof(*info));
	table.entry->next_offset = table.entry->target_offset + t->u.target_size;
	table.size += table.entry->next_offset;
	rule("", ACCEPT);
	hook(NF_INET_LOCAL_OUT);
	rule("", ACCEPT);
	end();
	rules = read_copy();
	firewall_rules_free(&rules);
	return !rules.failed && rules.untracked;
}

TEST(raw)
{
	EXPECT_TRUE(exempts("CT", XT_CT_NOTRACK, 0));
	EXPECT_TRUE(exempts("NOTRACK", 0, IPPROTO_UDP));
	EXPECT_FALSE(exempts("CT", 0, 0));
	EXPECT_FALSE(exempts("CT", XT_CT_NOTRACK, IPPROTO_TCP));
	EXPECT_FALSE(exempts("LOG", XT_CT_NOTRACK, 0));
}

static void device(const char *name, size_t mask)
{
	struct ipt_ip *ip = &entry()->ip;

	strcpy(ip->outiface, name);
	memset(ip->outiface_mask, 0xff, mask);
}

TEST(names_of_devices)
{
	forward();
	device("docker0", 8);
	target("", ACCEPT);
	device("eth+", 3);
	target("", DROP);
	rule("", ACCEPT);
	EXPECT_DROPS("DROP", FIREWALL_DROP, FIREWALL_DROP);
	forward();
	device("eth1", 5);
	table.entry->ip.invflags = IPT_INV_VIA_OUT;
	target("", DROP);
	rule("", ACCEPT);
	EXPECT_DROPS("", FIREWALL_ACCEPT, FIREWALL_ACCEPT);
	forward();
	device("eth0", 5);
	table.entry->ip.invflags = IPT_INV_VIA_OUT;
	target("", DROP);
	rule("", ACCEPT);
	EXPECT_DROPS("DROP", FIREWALL_DROP, FIREWALL_DROP);
}

/* A jump to a chain that returns, and a goto to one whose end is that of the caller. */
TEST(jumps)
{
	size_t jump, go, behind;

	forward();
	jump = table.size;
	rule("", 0);
	go = table.size;
	entry()->ip.flags = IPT_F_GOTO;
	target("", 0);
	rule("", ACCEPT);
	rule("", DROP);
	rule(XT_ERROR_TARGET, 0);
	behind = table.size;
	entry()->ip.proto = IPPROTO_TCP;
	target("", ACCEPT);
	rule("", XT_RETURN);
	((struct xt_standard_target *)(table.bytes + jump +
				       sizeof(struct ipt_entry)))->verdict =
		(int)behind;
	((struct xt_standard_target *)(table.bytes + go +
				       sizeof(struct ipt_entry)))->verdict =
		(int)behind;
	EXPECT_DROPS("policy drop", FIREWALL_DROP, FIREWALL_DROP);
}

/* As "iptables -A FORWARD -p udp": a rule that counts only. */
TEST(no_target)
{
	size_t at;

	forward();
	at = table.size;
	entry()->ip.proto = IPPROTO_UDP;
	target("", 0);
	((struct xt_standard_target *)(table.bytes + at +
				       sizeof(struct ipt_entry)))->verdict =
		(int)table.size;
	rule("DSCP", 0);
	rule("", DROP);
	EXPECT_DROPS("policy drop", FIREWALL_DROP, FIREWALL_DROP);
}

/* To where no chain begins, and to itself. */
TEST(wrong_jumps)
{
	static const int targets[] = { 8, SPACE, INT32_MAX };
	size_t i;

	for (i = 0; i < 3; i++) {
		forward();
		rule("", targets[i]);
		rule("", ACCEPT);
		EXPECT_DROPS("a jump that cannot be followed",
			     FIREWALL_UNKNOWN, FIREWALL_UNKNOWN);
	}
	forward();
	rule("", (int)table.size);
	rule("", ACCEPT);
	EXPECT_DROPS("a jump that cannot be followed", FIREWALL_UNKNOWN,
		     FIREWALL_UNKNOWN);
}

/* A rule with matches, and the bytes of a table that are lengths or offsets. */
static void rich(void)
{
	forward();
	udp(PORT, PORT);
	match("conntrack", sizeof(struct xt_conntrack_mtinfo3), 3);
	match("state", sizeof(struct xt_state_info), 0);
	target("", ACCEPT);
	rule("", DROP);
	end();
}

/* Each 16-bit word of the table, and each length that it may have. */
TEST(offsets)
{
	static const unsigned int values[] = {
		0, 1, 2, 4, 8, 24, 32, 39, 40, 48, 111, 112, 113, 120, 152,
		153, 160, 0x7ff8, 0x7fff, 0x8000, 0xfff8, 0xffff,
	};
	unsigned int ends, rest;
	size_t at, i, whole;

	rich();
	whole = table.size;
	for (at = 0; at < whole; at += 2) {
		for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
			rich();
			*(__u16 *)(table.bytes + at) = (__u16)values[i];
			drops(&ends, &rest);
		}
	}
	for (at = 0; at < whole; at++) {
		rich();
		table.size = at;
		drops(&ends, &rest);
	}
}

TEST(refused)
{
	unsigned int ends, rest;

	rich();
	EXPECT_STREQ("policy drop", drops(&ends, &rest));
	table.size -= 8;
	EXPECT_STREQ("!", drops(&ends, &rest));
	rich();
	table.entry->next_offset = 0;
	EXPECT_STREQ("!", drops(&ends, &rest));
	rich();
	table.entry->target_offset = 0xfff8;
	EXPECT_STREQ("!", drops(&ends, &rest));
	/* A hook that leads nowhere has no chain. */
	rich();
	table.info.hook_entry[NF_INET_FORWARD] = SPACE;
	ends = 0;
	drops(&ends, &rest);
	EXPECT_EQ(0, ends);
}

TEST_HARNESS_MAIN
