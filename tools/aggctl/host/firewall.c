// SPDX-License-Identifier: GPL-2.0
/* Policy of the firewall's forward chains, old tables and nftables. */
#include <errno.h>
#include <netinet/in.h>
/* The kernel's headers have to know of the C library's addresses. */
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/node_check.h"

#define ANSWER_BYTES	(64 * 1024)

/* Asking for a table that is not there would load it. */
static bool has_old_filter(void)
{
	FILE *f = fopen("/proc/self/net/ip_tables_names", "r");
	bool found = false;
	char line[64];

	while (f && fgets(line, sizeof(line), f))
		found |= !strcmp(line, "filter\n");
	if (f)
		fclose(f);
	return found;
}

/* The policy is the verdict of the rule that ends the chain. */
static enum forward_policy old_policy(const struct ipt_getinfo *info,
				      const struct ipt_get_entries *table)
{
	const struct ipt_entry *last;
	const struct xt_standard_target *target;

	if (info->underflow[NF_INET_FORWARD] >= table->size)
		return FORWARD_UNKNOWN;
	last = (const void *)((const char *)table->entrytable +
			      info->underflow[NF_INET_FORWARD]);
	target = (const void *)((const char *)last + last->target_offset);
	return target->verdict == -NF_DROP - 1 ? FORWARD_DROP :
						 FORWARD_ACCEPT;
}

static enum forward_policy ask_old(int fd)
{
	enum forward_policy policy = FORWARD_UNKNOWN;
	struct ipt_getinfo info = { .name = "filter" };
	struct ipt_get_entries *table;
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_IP, IPT_SO_GET_INFO, &info, &len))
		return FORWARD_UNKNOWN;
	len = sizeof(*table) + info.size;
	table = calloc(1, len);
	if (!table)
		return FORWARD_UNKNOWN;
	strcpy(table->name, info.name);
	table->size = info.size;
	if (!getsockopt(fd, SOL_IP, IPT_SO_GET_ENTRIES, table, &len))
		policy = old_policy(&info, table);
	free(table);
	return policy;
}

static enum forward_policy old_forward(void)
{
	enum forward_policy policy;
	int fd;

	if (!has_old_filter())
		return FORWARD_ACCEPT;
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (fd < 0)
		return FORWARD_UNKNOWN;
	policy = ask_old(fd);
	close(fd);
	return policy;
}

/* Does this chain see forwarded IPv4 packets, and drop them by its policy? */
static bool chain_drops(const struct nlmsghdr *h)
{
	const struct nfgenmsg *g = nlmsg_data(h);
	const struct nlattr *hook, *policy, *num = NULL;

	if (g->nfgen_family != NFPROTO_IPV4 && g->nfgen_family != NFPROTO_INET)
		return false;
	hook = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(*g),
			       NFTA_CHAIN_HOOK);
	policy = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(*g),
				 NFTA_CHAIN_POLICY);
	if (hook)
		num = nla_find(nla_data(hook), nla_len(hook),
			       NFTA_HOOK_HOOKNUM);
	return num && policy &&
	       ntohl(nla_get_u32(num)) == NF_INET_FORWARD &&
	       ntohl(nla_get_u32(policy)) == NF_DROP;
}

static enum forward_policy read_chains(int fd, char *answer)
{
	enum forward_policy policy = FORWARD_ACCEPT;
	struct nlmsghdr *h;
	int len;

	for (;;) {
		len = (int)recv(fd, answer, ANSWER_BYTES, 0);
		if (len < 0)
			return FORWARD_UNKNOWN;
		for (h = (struct nlmsghdr *)answer; nlmsg_ok(h, len);
		     h = nlmsg_next(h, &len)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return policy;
			if (h->nlmsg_type == NLMSG_ERROR)
				return FORWARD_UNKNOWN;
			if (chain_drops(h))
				policy = FORWARD_DROP;
		}
	}
}

static enum forward_policy ask_nft(int fd)
{
	struct {
		struct nlmsghdr h;
		struct nfgenmsg g;
	} request = {
		.h.nlmsg_len = sizeof(request),
		.h.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN,
		.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.g.nfgen_family = NFPROTO_UNSPEC,
	};
	enum forward_policy policy = FORWARD_UNKNOWN;
	char *answer = malloc(ANSWER_BYTES);

	if (answer && send(fd, &request, sizeof(request), 0) >= 0)
		policy = read_chains(fd, answer);
	free(answer);
	return policy;
}

static enum forward_policy nft_forward(void)
{
	enum forward_policy policy;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	/* A kernel without nftables has no chains that drop. */
	if (fd < 0)
		return errno == EPROTONOSUPPORT ? FORWARD_ACCEPT :
						  FORWARD_UNKNOWN;
	policy = ask_nft(fd);
	close(fd);
	return policy;
}

/**
 * firewall_forward() - the policy for forwarded packets that no rule matches
 *
 * Return: FORWARD_DROP if any chain drops them; FORWARD_UNKNOWN if it cannot be
 * read.
 */
enum forward_policy firewall_forward(void)
{
	enum forward_policy old = old_forward(), nft = nft_forward();

	if (old == FORWARD_DROP || nft == FORWARD_DROP)
		return FORWARD_DROP;
	return old == FORWARD_ACCEPT ? nft : old;
}
