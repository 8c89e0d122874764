// SPDX-License-Identifier: GPL-2.0
/*
 * Reads tables of iptables-legacy as the kernel has them. Offsets in it are
 * used only if what they lead to is inside of the table.
 */
#include <netinet/in.h>
#include <stdalign.h>
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

#define NEW_FLOW	XT_STATE_BIT(IP_CT_NEW)

/**
 * struct part - bytes of the table that were checked to be there
 * @at: where
 * @size: how many
 */
struct part {
	const char *at;
	size_t size;
};

/* Return: NULL: it is not inside, or not aligned */
static const void *inside(struct part table, size_t offset, size_t size)
{
	if (offset > table.size || size > table.size - offset ||
	    offset % alignof(struct ipt_entry))
		return NULL;
	return table.at + offset;
}

static struct part part_of(struct part whole, size_t offset, size_t size)
{
	const char *at = inside(whole, offset, size);

	return (struct part){ .at = at, .size = at ? size : 0 };
}

/* --- matches --------------------------------------------------------------- */

static enum firewall_match invert(enum firewall_match match, bool inverted)
{
	return inverted ? firewall_not(match) : match;
}

static enum firewall_match udp_match(const struct firewall_packet *packet,
				     const struct xt_udp *udp)
{
	bool any = !udp->spts[0] && udp->spts[1] == UINT16_MAX;
	bool there = udp->dpts[0] <= packet->port &&
		     packet->port <= udp->dpts[1];

	return firewall_and(any ? MATCH_YES : MATCH_MAYBE,
			    invert(there ? MATCH_YES : MATCH_NO,
				   udp->invflags & XT_UDP_INV_DSTPT));
}

static bool names_port(const struct xt_udp *udp)
{
	return (udp->dpts[0] || udp->dpts[1] != UINT16_MAX) &&
	       !(udp->invflags & XT_UDP_INV_DSTPT);
}

/* The first packet of a flow is new, or untracked. */
static enum firewall_match state_match(const struct firewall_packet *packet,
				       unsigned int mask, bool inverted)
{
	bool is_new = mask & NEW_FLOW, other = mask & XT_STATE_UNTRACKED;

	if (packet->untracked && is_new != other)
		return MATCH_MAYBE;
	return invert(is_new ? MATCH_YES : MATCH_NO, inverted);
}

static enum firewall_match conntrack_match(const struct firewall_packet *packet,
					   const struct xt_conntrack_mtinfo3 *info)
{
	enum firewall_match match = state_match(packet, info->state_mask,
						info->invert_flags &
						XT_CONNTRACK_STATE);

	if (!(info->match_flags & XT_CONNTRACK_STATE))
		return MATCH_MAYBE;
	return info->match_flags == XT_CONNTRACK_STATE ? match :
	       firewall_and(match, MATCH_MAYBE);
}

/* What follows the header of a match, if it has the size that it should have. */
static const void *info_of(struct part match, size_t size)
{
	return match.size < sizeof(struct xt_entry_match) + size ? NULL :
	       match.at + sizeof(struct xt_entry_match);
}

static bool is_called(const struct xt_entry_match *match, const char *name)
{
	return !strncmp(match->u.user.name, name, sizeof(match->u.user.name));
}

/**
 * struct reading - an entry that is being read
 * @rules: what is filled
 * @match: of its conditions so far
 * @named: it names the port
 * @partial: a condition other than addresses cannot be judged
 * @end: offset of the next entry
 */
struct reading {
	struct firewall_rules *rules;
	enum firewall_match match;
	size_t end;
	bool named;
	bool partial;
};

/* The entry has this condition, too. */
static void narrow(struct reading *r, enum firewall_match found)
{
	r->partial |= found == MATCH_MAYBE;
	r->match = firewall_and(r->match, found);
}

/* Only for addresses does "maybe" not mean that a rule is for some packets of a member. */
static void narrow_address(struct reading *r, bool from, struct in_addr addr,
			   struct in_addr mask, bool inverted)
{
	enum firewall_match found = firewall_address(r->rules, from, addr, mask);

	if (inverted)
		narrow(r, firewall_not(found));
	else
		r->match = firewall_and(r->match, found);
}

static enum firewall_match one_match(struct reading *r, struct part part)
{
	const struct xt_entry_match *match = (const void *)part.at;
	const void *info;
	enum firewall_match found;

	if (is_called(match, "comment"))
		return MATCH_YES;
	if (is_called(match, "tcp") || is_called(match, "icmp"))
		return MATCH_NO;
	info = info_of(part, sizeof(struct xt_udp));
	if (is_called(match, "udp") && info) {
		found = udp_match(r->rules->packet, info);
		r->named |= found == MATCH_YES && names_port(info);
		return found;
	}
	info = info_of(part, sizeof(struct xt_state_info));
	if (is_called(match, "state") && info)
		return state_match(r->rules->packet,
				   ((const struct xt_state_info *)info)->statemask,
				   false);
	info = info_of(part, sizeof(struct xt_conntrack_mtinfo3));
	if (is_called(match, "conntrack") && match->u.user.revision == 3 && info)
		return conntrack_match(r->rules->packet, info);
	return MATCH_MAYBE;
}

/* Return: false if a match leads out of its entry */
static bool take_matches(struct reading *r, struct part entry, size_t end)
{
	const struct xt_entry_match *match;
	size_t at = sizeof(struct ipt_entry), size;

	for (; at < end; at += size) {
		match = inside(entry, at, sizeof(*match));
		size = match ? match->u.match_size : 0;
		if (size < sizeof(*match) || size > end - at)
			return false;
		narrow(r, one_match(r, part_of(entry, at, size)));
	}
	return at == end;
}

static enum firewall_match device_match(const struct firewall_packet *packet,
					bool in, const char *name,
					const unsigned char *mask, bool inverted)
{
	char text[IFNAMSIZ + 2] = "";
	size_t len = 0;

	while (len < IFNAMSIZ && mask[len])
		len++;
	if (!len)
		return MATCH_YES;
	/* The mask has the end of the name, too, unless the name is a prefix. */
	memcpy(text, name, len);
	if (strlen(text) == len)
		text[len] = '+';
	return invert(firewall_device(packet, in, text, '+'), inverted);
}

static void take_ip(struct reading *r, const struct ipt_ip *ip)
{
	const struct firewall_packet *packet = r->rules->packet;

	if (ip->proto)
		narrow(r, invert(ip->proto == IPPROTO_UDP ? MATCH_YES : MATCH_NO,
				 ip->invflags & XT_INV_PROTO));
	narrow(r, device_match(packet, true, ip->iniface, ip->iniface_mask,
			       ip->invflags & IPT_INV_VIA_IN));
	narrow(r, device_match(packet, false, ip->outiface, ip->outiface_mask,
			       ip->invflags & IPT_INV_VIA_OUT));
	narrow_address(r, true, ip->src, ip->smsk, ip->invflags & IPT_INV_SRCIP);
	narrow_address(r, false, ip->dst, ip->dmsk, ip->invflags & IPT_INV_DSTIP);
	/* Later fragments only. */
	if (ip->flags & IPT_F_FRAG && !(ip->invflags & IPT_INV_FRAG))
		narrow(r, MATCH_NO);
}

/* --- entries --------------------------------------------------------------- */

static size_t chain_at(const struct firewall_rules *rules, unsigned int offset)
{
	size_t i;

	for (i = 0; i < rules->n; i++)
		if (rules->chain[i].offset == offset)
			return i;
	return FIREWALL_NO_CHAIN;
}

/* A rule without a target has the verdict "the next entry". */
static bool is_without_target(const struct reading *r, int verdict)
{
	return verdict >= 0 && (size_t)verdict == r->end;
}

static struct firewall_rule standard(struct reading *r, int verdict, bool go)
{
	struct firewall_rule rule = { .match = r->match };

	if (verdict >= 0) {
		rule.target = chain_at(r->rules, (unsigned int)verdict);
		rule.go = go;
	} else if (verdict == -NF_ACCEPT - 1) {
		rule.verdict = FIREWALL_ACCEPT;
		/* Addresses of a rule that names this port are taken to be the members'. */
		if (r->named && !r->partial && rule.match == MATCH_MAYBE)
			rule.match = MATCH_YES;
	} else if (verdict == -NF_DROP - 1) {
		rule.verdict = FIREWALL_DROP;
		rule.what = "DROP";
	} else if (verdict == XT_RETURN) {
		rule.verdict = FIREWALL_RETURN;
	} else {
		rule.verdict = FIREWALL_UNKNOWN;
		rule.what = "a queue";
	}
	return rule;
}

/* Does the target exempt packets from connection tracking? */
static bool is_notrack(const char *name, struct part target)
{
	const struct xt_entry_target *t = (const void *)target.at;
	const struct xt_ct_target_info *info = (const void *)t->data;

	if (!strcmp(name, "NOTRACK"))
		return true;
	return !strcmp(name, "CT") && target.size >= sizeof(*t) + sizeof(*info) &&
	       info->flags & XT_CT_NOTRACK;
}

static void add_target(struct reading *r, size_t chain, struct part part,
		       bool go)
{
	const struct xt_entry_target *target = (const void *)part.at;
	struct firewall_rule rule = {
		.match = r->match, .verdict = FIREWALL_UNKNOWN,
		.what = "a target that aggctl does not know",
	};
	char name[sizeof(target->u.user.name) + 1] = "";
	int verdict;

	memcpy(name, target->u.user.name, sizeof(target->u.user.name));
	if (r->match != MATCH_NO && is_notrack(name, part))
		r->rules->untracked = true;
	if (firewall_target_continues(name))
		return;
	if (!*name && part.size >= sizeof(struct xt_standard_target)) {
		verdict = ((const struct xt_standard_target *)
			   (const void *)target)->verdict;
		if (is_without_target(r, verdict))
			return;
		rule = standard(r, verdict, go);
	} else if (!strcmp(name, "REJECT")) {
		rule.verdict = FIREWALL_DROP;
		rule.what = "REJECT";
	} else if (!strcmp(name, "NFQUEUE")) {
		rule.what = "NFQUEUE";
	}
	firewall_add_rule(r->rules, chain, rule);
}

/* The name of a user's chain, or the end of the table, is such an entry. */
static bool is_head(struct part entry, size_t offset)
{
	const struct xt_entry_target *target = inside(entry, offset,
						      sizeof(*target));

	return target && !strncmp(target->u.user.name, XT_ERROR_TARGET,
				  sizeof(target->u.user.name));
}

/* Return: its length, 0: it leads out of the table */
static size_t entry_at(struct part table, size_t offset, struct part *entry)
{
	const struct ipt_entry *e = inside(table, offset, sizeof(*e));

	if (!e || e->target_offset < sizeof(*e) ||
	    e->next_offset < e->target_offset + sizeof(struct xt_entry_target))
		return 0;
	*entry = part_of(table, offset, e->next_offset);
	return entry->size;
}

static bool take_entry(struct firewall_rules *rules, size_t chain,
		       struct part entry, size_t end)
{
	const struct ipt_entry *e = (const void *)entry.at;
	struct reading r = {
		.rules = rules, .match = MATCH_YES, .end = end,
	};
	struct part target = part_of(entry, e->target_offset,
				     entry.size - e->target_offset);

	take_ip(&r, &e->ip);
	if (!target.at || !take_matches(&r, entry, e->target_offset))
		return false;
	add_target(&r, chain, target, e->ip.flags & IPT_F_GOTO);
	return true;
}

/* --- the table ------------------------------------------------------------- */

static const unsigned int hooks[FIREWALL_HOOKS] = {
	[FIREWALL_FORWARD] = NF_INET_FORWARD,
	[FIREWALL_INPUT] = NF_INET_LOCAL_IN,
	[FIREWALL_OUTPUT] = NF_INET_LOCAL_OUT,
};

static const char * const names[FIREWALL_HOOKS + 1] = {
	[FIREWALL_FORWARD] = "FORWARD",
	[FIREWALL_INPUT] = "INPUT",
	[FIREWALL_OUTPUT] = "OUTPUT",
	[FIREWALL_HOOKS] = "",
};

static void add_chain(struct firewall_rules *rules, size_t offset,
		      enum firewall_hook hook)
{
	const struct firewall_chain chain = {
		.table = "filter", .name = names[hook], .hook = hook,
		.offset = (unsigned int)offset,
	};

	firewall_add_chain(rules, &chain);
}

static bool begins_at(const struct ipt_getinfo *info, unsigned int hook,
		      size_t offset)
{
	return info->valid_hooks & 1U << hook && info->hook_entry[hook] == offset;
}

static enum firewall_hook hook_at(const struct ipt_getinfo *info, size_t offset)
{
	unsigned int i;

	for (i = 0; i < FIREWALL_HOOKS && !begins_at(info, hooks[i], offset); i++)
		;
	return i;
}

/* The table "raw" has other hooks, too. */
static bool is_hook(const struct ipt_getinfo *info, size_t offset)
{
	unsigned int i;

	for (i = 0; i < NF_INET_NUMHOOKS && !begins_at(info, i, offset); i++)
		;
	return i < NF_INET_NUMHOOKS;
}

/* A jump leads to the entry behind the one that has the name of the chain. */
static bool take_chains(struct firewall_rules *rules,
			const struct ipt_getinfo *info, struct part table)
{
	size_t at, size;
	struct part entry;

	for (at = 0; at < table.size; at += size) {
		size = entry_at(table, at, &entry);
		if (!size)
			return false;
		if (is_hook(info, at))
			add_chain(rules, at, hook_at(info, at));
		if (is_head(entry, ((const struct ipt_entry *)
				    (const void *)entry.at)->target_offset))
			add_chain(rules, at + size, FIREWALL_HOOKS);
	}
	return true;
}

static bool take_rules(struct firewall_rules *rules, struct part table)
{
	size_t at, size, chain = FIREWALL_NO_CHAIN;
	struct part entry;
	bool good = true;

	for (at = 0; good && at < table.size; at += size) {
		size = entry_at(table, at, &entry);
		if (chain_at(rules, (unsigned int)at) != FIREWALL_NO_CHAIN)
			chain = chain_at(rules, (unsigned int)at);
		if (!is_head(entry, ((const struct ipt_entry *)
				     (const void *)entry.at)->target_offset))
			good = chain != FIREWALL_NO_CHAIN &&
			       take_entry(rules, chain, entry, at + size);
	}
	return good;
}

/* It is the rule that ends the chain of a hook. */
static bool take_policy(struct firewall_chain *chain)
{
	if (chain->hook == FIREWALL_HOOKS)
		return true;
	if (!chain->n || !chain->rule[chain->n - 1].verdict)
		return false;
	chain->policy = chain->rule[--chain->n].verdict;
	return true;
}

void firewall_old(struct firewall_rules *rules, const struct ipt_getinfo *info,
		  const struct ipt_get_entries *table)
{
	const struct part all = {
		.at = (const char *)table->entrytable, .size = table->size,
	};

	bool good = take_chains(rules, info, all) && take_rules(rules, all);
	size_t i;

	for (i = 0; good && i < rules->n; i++)
		good = take_policy(&rules->chain[i]);
	rules->failed |= !good;
}
