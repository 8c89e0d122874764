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
/* The rule that lets aggnet's packets pass has this comment. */
#define MARK		"aggnet"

/**
 * struct chain - an nftables chain that drops forwarded packets by its policy
 * @family: of the chain, as nft names it
 * @table: the name of its table
 * @name: its own; empty: there is no such chain
 */
struct chain {
	const char *family;
	char table[64];
	char name[64];
};

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
	if (target->verdict != -NF_DROP - 1 ||
	    memmem(table->entrytable, table->size, MARK, sizeof(MARK)))
		return FORWARD_ACCEPT;
	return FORWARD_DROP;
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

/* A command line must not have what a shell would take for something else. */
static bool is_plain(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_.-")];
}

static void copy_name(char *to, size_t size, struct nlmsghdr *h, int attr)
{
	const struct nlattr *name = nlmsg_find_attr(h, sizeof(struct nfgenmsg),
						    attr);

	snprintf(to, size, "%.*s", name ? nla_len(name) : 0,
		 name ? (const char *)nla_data(name) : "");
}

typedef void (*taker)(struct nlmsghdr *h, void *to);

/* Return: 1 after the last answer, -1 for an error */
static int take_all(char *answer, int len, taker take, void *to)
{
	struct nlmsghdr *h;

	for (h = (struct nlmsghdr *)answer; nlmsg_ok(h, len);
	     h = nlmsg_next(h, &len)) {
		if (h->nlmsg_type == NLMSG_DONE)
			return 1;
		if (h->nlmsg_type == NLMSG_ERROR)
			return -1;
		take(h, to);
	}
	return 0;
}

static int receive(int fd, taker take, void *to)
{
	char *answer = malloc(ANSWER_BYTES);
	int len, done = answer ? 0 : -1;

	while (!done) {
		len = (int)recv(fd, answer, ANSWER_BYTES, 0);
		done = len < 0 ? -1 : take_all(answer, len, take, to);
	}
	free(answer);
	return done > 0 ? 0 : -1;
}

/* Ask for chains, or for the rules of one; each answer goes to @take. */
static int ask_nft(int fd, int type, uint8_t family, const struct chain *chain,
		   taker take, void *to)
{
	struct nfgenmsg g = { .nfgen_family = family };
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsghdr *h = NULL;
	ssize_t sent = -1;

	if (msg)
		h = nlmsg_put(msg, 0, 1, NFNL_SUBSYS_NFTABLES << 8 | type, 0,
			      NLM_F_REQUEST | NLM_F_DUMP);
	if (h && !nlmsg_append(msg, &g, sizeof(g), NLMSG_ALIGNTO)) {
		if (chain) {
			nla_put_string(msg, NFTA_RULE_TABLE, chain->table);
			nla_put_string(msg, NFTA_RULE_CHAIN, chain->name);
		}
		sent = send(fd, h, h->nlmsg_len, 0);
	}
	nlmsg_free(msg);
	return sent < 0 ? -1 : receive(fd, take, to);
}

/**
 * struct dropping - the chains that drop, as many as there is room for
 */
struct dropping {
	struct chain chain[8];
	size_t n;
};

static void take_chain(struct nlmsghdr *h, void *to)
{
	const struct nfgenmsg *g = nlmsg_data(h);
	struct dropping *all = to;
	struct chain *c = &all->chain[all->n];

	if (!chain_drops(h) || all->n == sizeof(all->chain) / sizeof(*c))
		return;
	c->family = g->nfgen_family == NFPROTO_INET ? "inet" : "ip";
	copy_name(c->table, sizeof(c->table), h, NFTA_CHAIN_TABLE);
	copy_name(c->name, sizeof(c->name), h, NFTA_CHAIN_NAME);
	all->n++;
}

static void take_rule(struct nlmsghdr *h, void *to)
{
	const struct nlattr *data = nlmsg_find_attr(h, sizeof(struct nfgenmsg),
						    NFTA_RULE_USERDATA);

	if (data && memmem(nla_data(data), (size_t)nla_len(data), MARK,
			   sizeof(MARK)))
		*(bool *)to = true;
}

/* Has the chain a rule that lets aggnet's packets pass? */
static bool is_open(int fd, const struct chain *c)
{
	bool marked = false;

	return !ask_nft(fd, NFT_MSG_GETRULE, strcmp(c->family, "inet") ?
			NFPROTO_IPV4 : NFPROTO_INET, c, take_rule, &marked) &&
	       marked;
}

static enum forward_policy read_chains(int fd, struct chain *drops)
{
	struct dropping all = {};
	size_t i;

	if (ask_nft(fd, NFT_MSG_GETCHAIN, NFPROTO_UNSPEC, NULL, take_chain,
		    &all))
		return FORWARD_UNKNOWN;
	for (i = 0; i < all.n; i++) {
		if (is_open(fd, &all.chain[i]))
			continue;
		*drops = all.chain[i];
		return FORWARD_DROP;
	}
	return FORWARD_ACCEPT;
}

static enum forward_policy nft_forward(struct chain *drops)
{
	enum forward_policy policy;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	/* A kernel without nftables has no chains that drop. */
	if (fd < 0)
		return errno == EPROTONOSUPPORT ? FORWARD_ACCEPT :
						  FORWARD_UNKNOWN;
	policy = read_chains(fd, drops);
	close(fd);
	return policy;
}

/**
 * firewall_forward() - whether a firewall drops forwarded packets of aggnet
 * @port: the UDP port of the packets
 * @fix: FIREWALL_FIX_MAX bytes for the command that lets them pass; empty if the chain's
 *	name cannot be typed
 *
 * A chain whose policy is drop lets them pass if it has a rule with the comment
 * "aggnet"; what the rule does is not looked at.
 *
 * Return: FORWARD_DROP if a chain drops them by its policy; FORWARD_UNKNOWN if it cannot
 * be read.
 */
enum forward_policy firewall_forward(uint16_t port, char *fix)
{
	struct chain drops = {};
	enum forward_policy old = old_forward(), nft = nft_forward(&drops);

	fix[0] = '\0';
	if (old == FORWARD_DROP)
		snprintf(fix, FIREWALL_FIX_MAX,
			 "iptables-legacy -I FORWARD -p udp --dport %u -m comment --comment "
			 MARK " -j ACCEPT", port);
	else if (nft == FORWARD_DROP && is_plain(drops.table) &&
		 is_plain(drops.name))
		snprintf(fix, FIREWALL_FIX_MAX,
			 "nft insert rule %s %s %s udp dport %u accept comment "
			 MARK, drops.family, drops.table, drops.name, port);
	if (old == FORWARD_DROP || nft == FORWARD_DROP)
		return FORWARD_DROP;
	return old == FORWARD_ACCEPT ? nft : old;
}
