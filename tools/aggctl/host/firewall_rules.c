// SPDX-License-Identifier: GPL-2.0
/* Walks the chains of a firewall: which of their ends can a packet come to? */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "host/firewall.h"

#define BAD		(FIREWALL_DROP | FIREWALL_UNKNOWN)
#define DEPTH_MAX	64	/* jumps in jumps; the kernel permits 16 */

/* Make room for one more after every power of two. Return: NULL: no memory */
static void *grow(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array :
	       reallocarray(array, n ? n * 2 : 1, size);
}

struct firewall_chain *firewall_add_chain(struct firewall_rules *rules,
					  const struct firewall_chain *chain)
{
	struct firewall_chain *more = grow(rules->chain, rules->n,
					   sizeof(*more));

	rules->failed |= !more;
	if (!more)
		return NULL;
	rules->chain = more;
	rules->chain[rules->n] = *chain;
	return &rules->chain[rules->n++];
}

void firewall_add_rule(struct firewall_rules *rules, size_t chain,
		       struct firewall_rule rule)
{
	struct firewall_chain *c = &rules->chain[chain];
	struct firewall_rule *more;

	if (rule.match == MATCH_NO)
		return;
	more = grow(c->rule, c->n, sizeof(*more));
	rules->failed |= !more;
	if (!more)
		return;
	c->rule = more;
	c->rule[c->n++] = rule;
}

void firewall_rules_free(struct firewall_rules *rules)
{
	size_t i;

	for (i = 0; i < rules->n; i++)
		free(rules->chain[i].rule);
	free(rules->chain);
}

static void walk(struct firewall_rules *rules, size_t index, unsigned int depth);

/* The verdict of a rule, as if it were a chain. What returns comes to the next rule. */
static struct firewall_chain outcome(struct firewall_rules *rules,
				     const struct firewall_rule *rule,
				     unsigned int depth)
{
	struct firewall_chain out = {
		.ends = rule->verdict, .rest = rule->verdict, .what = rule->what,
	};

	if (rule->verdict)
		return out;
	if (rule->target < rules->n && depth < DEPTH_MAX &&
	    !rules->chain[rule->target].busy) {
		walk(rules, rule->target, depth + 1);
		return rules->chain[rule->target];
	}
	out.ends = FIREWALL_UNKNOWN;
	out.rest = FIREWALL_UNKNOWN;
	out.what = "a jump that cannot be followed";
	return out;
}

/* Does a packet that this rule matches leave the chain, for itself or its caller? */
static bool leaves(const struct firewall_rule *rule, unsigned int end)
{
	return end != FIREWALL_RETURN || rule->go ||
	       rule->verdict == FIREWALL_RETURN;
}

/* Return: whether no packet comes to the next rule */
static bool pass(struct firewall_rules *rules, struct firewall_chain *c,
		 const struct firewall_rule *rule, unsigned int depth)
{
	struct firewall_chain out = outcome(rules, rule, depth);
	bool returns = out.ends & FIREWALL_RETURN;
	bool stays = returns && !leaves(rule, FIREWALL_RETURN);
	bool decides = !c->rest && rule->match == MATCH_YES &&
		       leaves(rule, out.rest);

	c->ends |= stays ? out.ends & ~FIREWALL_RETURN : out.ends;
	if (decides)
		c->rest = out.rest;
	if (out.ends & BAD && (!c->what || (decides && out.rest & BAD)))
		c->what = out.what;
	return rule->match == MATCH_YES && !stays;
}

static void walk(struct firewall_rules *rules, size_t index, unsigned int depth)
{
	struct firewall_chain *c = &rules->chain[index];
	bool over = false;
	size_t i;

	if (c->ends)
		return;
	c->busy = true;
	for (i = 0; i < c->n && !over; i++)
		over = pass(rules, c, &c->rule[i], depth);
	c->busy = false;
	if (!over)
		c->ends |= FIREWALL_RETURN;
	if (!c->rest)
		c->rest = FIREWALL_RETURN;
}

/* A packet that returns from a chain of a hook gets the policy. */
void firewall_walk(struct firewall_rules *rules, size_t chain)
{
	struct firewall_chain *c = &rules->chain[chain];

	walk(rules, chain, 0);
	if (c->ends & FIREWALL_RETURN) {
		c->ends = (c->ends & ~FIREWALL_RETURN) | c->policy;
		if (c->policy == FIREWALL_DROP &&
		    (!c->what || c->rest == FIREWALL_RETURN))
			c->what = "policy drop";
	}
	if (c->rest == FIREWALL_RETURN)
		c->rest = c->policy;
}

bool firewall_target_continues(const char *name)
{
	static const char * const list[] = {
		"AUDIT", "CHECKSUM", "CLASSIFY", "CONNMARK", "CT", "DSCP",
		"LOG", "MARK", "NFLOG", "NOTRACK", "SET", "TCPMSS", "TEE",
		"TOS", "TRACE", "TTL",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

/* --- matches --------------------------------------------------------------- */

enum firewall_match firewall_not(enum firewall_match match)
{
	return match == MATCH_YES ? MATCH_NO :
	       match == MATCH_NO ? MATCH_YES : MATCH_MAYBE;
}

enum firewall_match firewall_and(enum firewall_match a, enum firewall_match b)
{
	return a < b ? a : b;
}

static bool is_device(const char *device, const char *name, char wildcard)
{
	size_t len = strlen(name);

	return len && name[len - 1] == wildcard ?
	       !strncmp(device, name, len - 1) : !strcmp(device, name);
}

static enum firewall_match one_port(const struct firewall_packet *packet,
				    const char *name, char wildcard)
{
	size_t i, same = 0;

	for (i = 0; i < packet->n_devices; i++)
		same += is_device(packet->device[i], name, wildcard);
	return !packet->n_devices ? MATCH_MAYBE : !same ? MATCH_NO :
	       same == packet->n_devices ? MATCH_YES : MATCH_MAYBE;
}

/* Of names with a wildcard, other devices may have one. */
static enum firewall_match no_port(const struct firewall_packet *packet,
				   const char *name)
{
	size_t i;

	for (i = 0; i < packet->n_devices; i++)
		if (!strcmp(packet->device[i], name))
			return MATCH_NO;
	return MATCH_MAYBE;
}

enum firewall_match firewall_device(const struct firewall_packet *packet,
				    bool in, const char *name, char wildcard)
{
	const char *device = in ? packet->in : packet->out;

	if (!strcmp(name, "lo") ||
	    packet->hook == (in ? FIREWALL_OUTPUT : FIREWALL_INPUT))
		return MATCH_NO;
	if (packet->hook == FIREWALL_INPUT)
		return no_port(packet, name);
	if (!device)
		return one_port(packet, name, wildcard);
	return is_device(device, name, wildcard) ? MATCH_YES : MATCH_NO;
}

static bool is_within(struct in_addr one, struct in_addr addr, struct in_addr mask)
{
	return (one.s_addr & mask.s_addr) == (addr.s_addr & mask.s_addr);
}

enum firewall_match firewall_address(struct firewall_rules *rules, bool from,
				     struct in_addr addr, struct in_addr mask)
{
	const struct firewall_packet *packet = rules->packet;
	const struct in_addr *one = from ? packet->from : packet->to;
	size_t i, within = 0;

	if (!mask.s_addr)
		return MATCH_YES;
	if (one)
		return is_within(*one, addr, mask) ? MATCH_YES : MATCH_NO;
	for (i = 0; i < packet->n_identities; i++)
		within += is_within(packet->identity[i], addr, mask);
	if (packet->n_identities > 1 && !within)
		return MATCH_NO;
	if (packet->n_identities > 1 && within == packet->n_identities)
		return MATCH_YES;
	rules->by_member = true;
	return MATCH_MAYBE;
}
