// SPDX-License-Identifier: GPL-2.0
/* Reads rules of nftables, as "nft -j" prints them: libnftables-json(5). */
#include <arpa/inet.h>
#include <string.h>

#include "aggctl.h"
#include "host/firewall.h"

#define ETHERTYPE_IPV4	0x0800

/**
 * struct compared - one comparison of a rule
 * @rules: whose packet it is compared with
 * @left: what of a packet
 */
struct compared {
	struct firewall_rules *rules;
	const json_t *left;
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static bool is_in(const char *word, const char * const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

static bool is_condition(const char *word)
{
	static const char * const list[] = {
		"limit", "quota", "ct count", "meter", "set", "map",
	};

	return is_in(word, list, ARRAY_SIZE(list));
}

/* --- one value --------------------------------------------------------------- */

static enum firewall_match certain(bool yes)
{
	return yes ? MATCH_YES : MATCH_NO;
}

/* A number, or a name of it. */
static enum firewall_match is_number(const json_t *value, json_int_t number,
				     const char *name)
{
	if (json_is_integer(value))
		return certain(json_integer_value(value) == number);
	if (json_is_string(value) && name)
		return certain(!strcmp(json_string_value(value), name));
	return MATCH_MAYBE;
}

static enum firewall_match has_port(const struct compared *c,
				    const json_t *value)
{
	const json_t *range = json_object_get(value, "range");
	const json_t *low = json_array_get(range, 0);
	const json_t *high = json_array_get(range, 1);

	if (json_is_integer(low) && json_is_integer(high))
		return certain(json_integer_value(low) <= c->rules->packet->port &&
			       c->rules->packet->port <= json_integer_value(high));
	return is_number(value, c->rules->packet->port, NULL);
}

/* An address, or a prefix of addresses. */
static enum firewall_match has_address(const struct compared *c, bool from,
				       const json_t *value)
{
	const json_t *prefix = json_object_get(value, "prefix");
	json_int_t len = prefix ? json_integer_value(json_object_get(prefix, "len")) :
				  32;
	const char *text = prefix ? text_of(prefix, "addr") : json_string_value(value);
	struct in_addr addr, mask;

	if (!text || len < 1 || len > 32 || inet_pton(AF_INET, text, &addr) != 1)
		return MATCH_MAYBE;
	mask.s_addr = htonl(UINT32_MAX << (32 - len));
	return firewall_address(c->rules, from, addr, mask);
}

/* Of a server and a port; protocols that UDP is not. */
static enum firewall_match payload_is(const struct compared *c,
				      const json_t *payload,
				      const json_t *value)
{
	static const char * const others[] = {
		"tcp", "icmp", "icmpv6", "igmp", "sctp", "dccp", "esp", "ah",
		"comp", "udplite", "ip6", "arp",
	};
	const char *protocol = text_of(payload, "protocol");
	const char *field = text_of(payload, "field");

	if (is_in(protocol, others, ARRAY_SIZE(others)))
		return MATCH_NO;
	if (!strcmp(protocol, "udp") || !strcmp(protocol, "th"))
		return strcmp(field, "dport") ? MATCH_MAYBE :
						has_port(c, value);
	if (strcmp(protocol, "ip"))
		return MATCH_MAYBE;
	if (!strcmp(field, "protocol"))
		return is_number(value, IPPROTO_UDP, "udp");
	if (!strcmp(field, "version"))
		return is_number(value, 4, NULL);
	return strcmp(field, "saddr") && strcmp(field, "daddr") ?
	       MATCH_MAYBE : has_address(c, *field == 's', value);
}

static enum firewall_match meta_is(const struct compared *c, const char *key,
				   const json_t *value)
{
	static const char * const devices[] = { "iif", "iifname", "oif", "oifname" };

	if (!strcmp(key, "l4proto"))
		return is_number(value, IPPROTO_UDP, "udp");
	if (!strcmp(key, "nfproto"))
		return is_number(value, 2, "ipv4");
	if (!strcmp(key, "protocol"))
		return is_number(value, ETHERTYPE_IPV4, "ip");
	if (!strcmp(key, "pkttype"))
		return certain(json_is_string(value) &&
			       (!strcmp(json_string_value(value), "host") ||
				!strcmp(json_string_value(value), "unicast")));
	if (is_in(key, devices, ARRAY_SIZE(devices)) && json_is_string(value))
		return firewall_device(c->rules->packet, *key == 'i',
				       json_string_value(value), '*');
	return MATCH_MAYBE;
}

/* The first packet of a flow must pass. NAT between members is not supported. */
static enum firewall_match ct_is(const struct compared *c, const char *key,
				 const json_t *value)
{
	const char *word = json_string_value(value);
	bool untracked = word && !strcmp(word, "untracked");

	if (word && !strcmp(key, "status"))
		return strcmp(word, "dnat") && strcmp(word, "snat") ?
		       MATCH_MAYBE : MATCH_NO;
	if (!word || strcmp(key, "state"))
		return MATCH_MAYBE;
	if (c->rules->packet->untracked && (untracked || !strcmp(word, "new")))
		return MATCH_MAYBE;
	return certain(!strcmp(word, "new"));
}

static enum firewall_match fib_is(const json_t *fib, const json_t *value)
{
	static const char * const never[] = { "broadcast", "multicast", "anycast" };

	return !strcmp(text_of(fib, "result"), "type") && json_is_string(value) &&
	       is_in(json_string_value(value), never, ARRAY_SIZE(never)) ?
	       MATCH_NO : MATCH_MAYBE;
}

/* A set that has a name, and what is in no other element of a set. */
static bool is_open(const json_t *value)
{
	const char *word = json_string_value(value);

	return word && (*word == '@' || !strcmp(word, "*"));
}

/* Is what is left of a comparison this value? */
static enum firewall_match is_value(const struct compared *c,
				    const json_t *value)
{
	const json_t *what;

	if (is_open(value))
		return MATCH_MAYBE;
	what = json_object_get(c->left, "payload");
	if (what)
		return payload_is(c, what, value);
	what = json_object_get(c->left, "meta");
	if (what)
		return meta_is(c, text_of(what, "key"), value);
	what = json_object_get(c->left, "ct");
	if (what)
		return ct_is(c, text_of(what, "key"), value);
	what = json_object_get(c->left, "fib");
	return what ? fib_is(what, value) : MATCH_MAYBE;
}

/* --- a comparison ------------------------------------------------------------ */

/* An element of a set may have a comment, a counter, or a condition such as a limit. */
static bool has_condition(const json_t *value)
{
	json_t *elem = json_object_get(value, "elem"), *part;
	const char *word;

	json_object_foreach(elem, word, part)
		if (is_condition(word))
			return true;
	return false;
}

static enum firewall_match is_element(const struct compared *c,
				      const json_t *value)
{
	const json_t *elem = json_object_get(value, "elem");
	enum firewall_match found;

	found = is_value(c, elem ? json_object_get(elem, "val") : value);
	return has_condition(value) ? firewall_and(found, MATCH_MAYBE) : found;
}

/* One value, a list or a set of them; a set that has a name cannot be judged. */
static enum firewall_match is_one_of(const struct compared *c,
				     const json_t *right)
{
	const json_t *set = json_object_get(right, "set"), *elem;
	const json_t *list = set ? set : right;
	enum firewall_match best = MATCH_NO, one;
	size_t i;

	if (!json_is_array(list))
		return is_value(c, right);
	json_array_foreach(list, i, elem) {
		one = is_element(c, elem);
		best = one > best ? one : best;
	}
	return best;
}

static enum firewall_match is_ordered(const struct compared *c, const char *op,
				      const json_t *right)
{
	const json_t *payload = json_object_get(c->left, "payload");
	json_int_t than = json_integer_value(right), port = c->rules->packet->port;
	bool equal = op[1] == '=';

	if (!json_is_integer(right) || strcmp(text_of(payload, "field"), "dport"))
		return MATCH_MAYBE;
	return certain(*op == '<' ? port < than || (equal && port == than) :
				    port > than || (equal && port == than));
}

/* Is it about another protocol? Then it never matches. A mask may be applied to it. */
static bool is_of_other(const struct compared *c)
{
	const json_t *masked = json_array_get(json_object_get(c->left, "&"), 0);
	const json_t *payload = json_object_get(masked ? masked : c->left,
						"payload");

	return payload && payload_is(c, payload, NULL) == MATCH_NO;
}

static enum firewall_match compare(const struct compared *c, const char *op,
				   const json_t *right)
{
	if (is_of_other(c))
		return MATCH_NO;
	if (*op == '<' || *op == '>')
		return is_ordered(c, op, right);
	if (!strcmp(op, "!="))
		return firewall_not(is_one_of(c, right));
	return strcmp(op, "==") && strcmp(op, "in") ? MATCH_MAYBE :
						      is_one_of(c, right);
}

/* Has an element of the set a condition? */
static bool is_conditional(const json_t *right)
{
	const json_t *set = json_object_get(right, "set"), *elem;
	size_t i;

	json_array_foreach(set, i, elem)
		if (has_condition(elem))
			return true;
	return false;
}

static bool names_port(const json_t *left)
{
	return !strcmp(text_of(json_object_get(left, "payload"), "field"),
		       "dport");
}

static bool names_address(const json_t *left)
{
	const json_t *payload = json_object_get(left, "payload");
	const char *field = text_of(payload, "field");

	return !strcmp(text_of(payload, "protocol"), "ip") &&
	       (!strcmp(field, "saddr") || !strcmp(field, "daddr"));
}

/* --- a rule ------------------------------------------------------------------ */

/**
 * struct reading - a rule that is being read
 * @rules: what it is added to
 * @chain: whose rule it is
 * @match: of its statements so far
 * @named: it names the port
 * @partial: a condition other than addresses cannot be judged
 * @notrack: it exempts packets from connection tracking
 */
struct reading {
	struct firewall_rules *rules;
	size_t chain;
	enum firewall_match match;
	bool named;
	bool partial;
	bool notrack;
};

static size_t find_chain(const struct firewall_rules *rules, const char *family,
			 const char *table, const char *name)
{
	size_t i;

	for (i = 0; i < rules->n; i++)
		if (!strcmp(rules->chain[i].name, name) &&
		    !strcmp(rules->chain[i].table, table) &&
		    !strcmp(rules->chain[i].family, family))
			return i;
	return FIREWALL_NO_CHAIN;
}

static void add(const struct reading *r, unsigned int verdict, const char *what)
{
	enum firewall_match match = r->match;

	/* Addresses of a rule that names this port are taken to be the members'. */
	if (verdict == FIREWALL_ACCEPT && r->named && !r->partial &&
	    match == MATCH_MAYBE)
		match = MATCH_YES;
	firewall_add_rule(r->rules, r->chain, (struct firewall_rule){
			  .match = match, .verdict = verdict, .what = what });
}

static void add_jump(const struct reading *r, const json_t *jump, bool go)
{
	const struct firewall_chain *c = &r->rules->chain[r->chain];

	firewall_add_rule(r->rules, r->chain, (struct firewall_rule){
			  .match = r->match, .go = go,
			  .target = find_chain(r->rules, c->family, c->table,
					       text_of(jump, "target")) });
}

/* Return: whether the statement is a verdict */
static bool add_verdict(const struct reading *r, const char *word,
			const json_t *value)
{
	if (!strcmp(word, "accept"))
		add(r, FIREWALL_ACCEPT, word);
	else if (!strcmp(word, "drop") || !strcmp(word, "reject"))
		add(r, FIREWALL_DROP, word);
	else if (!strcmp(word, "return"))
		add(r, FIREWALL_RETURN, word);
	else if (!strcmp(word, "jump") || !strcmp(word, "goto"))
		add_jump(r, value, *word == 'g');
	else
		return !strcmp(word, "continue");
	return true;
}

/* A condition which is not judged: a limit, or what of a packet is not known here. */
static void add_unknown(struct reading *r)
{
	r->match = firewall_and(r->match, MATCH_MAYBE);
	r->partial = true;
}

/* The rule has this comparison, too. */
static void narrow(struct reading *r, const struct compared *c, const char *op,
		   const json_t *right)
{
	enum firewall_match found = compare(c, op, right);
	bool equal = !strcmp(op, "==");

	if (found == MATCH_MAYBE &&
	    (!equal || !names_address(c->left) || is_conditional(right)))
		add_unknown(r);
	r->named |= found == MATCH_YES && equal && names_port(c->left);
	r->match = firewall_and(r->match, found);
}

/* A verdict for each value: at most one of them matches. */
static void add_map(const struct reading *r, const json_t *map)
{
	const json_t *data = json_object_get(json_object_get(map, "data"), "set");
	const struct compared c = {
		.rules = r->rules, .left = json_object_get(map, "key"),
	};
	json_t *elem, *value;
	struct reading one = *r;
	const char *word;
	size_t i;

	if (!json_is_array(data)) {
		add_unknown(&one);
		add(&one, FIREWALL_UNKNOWN, "a map with a name");
	}
	json_array_foreach(data, i, elem) {
		one = *r;
		narrow(&one, &c, "==", json_array_get(elem, 0));
		json_object_foreach(json_array_get(elem, 1), word, value)
			add_verdict(&one, word, value);
	}
}

/* A match or a target of iptables-nft. Older releases of nft do not say which: a target is last. */
static void add_foreign(struct reading *r, const json_t *xt, bool last)
{
	const char *name = text_of(xt, "name");

	r->notrack |= !strcmp(name, "NOTRACK") || !strcmp(name, "CT");
	if (firewall_target_continues(name) || !strcmp(name, "comment"))
		return;
	if (!strcmp(text_of(xt, "type"), "target"))
		add(r, strcmp(name, "REJECT") ? FIREWALL_UNKNOWN : FIREWALL_DROP,
		    name);
	add_unknown(r);
	if (!*name && last)
		add(r, FIREWALL_UNKNOWN, "a rule of iptables");
}

/* What neither matches nor ends a rule. */
static bool is_harmless(const char *word)
{
	static const char * const list[] = {
		"counter", "log", "comment", "notrack", "dup", "flow",
		"last", "secmark", "ct helper", "ct timeout", "ct expectation",
	};

	return is_in(word, list, ARRAY_SIZE(list));
}

static void take_match(struct reading *r, const json_t *match)
{
	const struct compared c = {
		.rules = r->rules, .left = json_object_get(match, "left"),
	};

	narrow(r, &c, text_of(match, "op"), json_object_get(match, "right"));
}

/* What sets an address or a port is NAT without connection tracking. */
static bool is_nat(const json_t *mangle)
{
	const json_t *key = json_object_get(mangle, "key");

	return names_address(key) || names_port(key);
}

static void take_statement(struct reading *r, const char *word,
			   const json_t *value, bool last)
{
	r->notrack |= !strcmp(word, "notrack");
	if (!strcmp(word, "match"))
		take_match(r, value);
	else if (!strcmp(word, "vmap"))
		add_map(r, value);
	else if (!strcmp(word, "xt"))
		add_foreign(r, value, last);
	else if (is_condition(word))
		add_unknown(r);
	else if (!strcmp(word, "mangle") && is_nat(value))
		add(r, FIREWALL_UNKNOWN, "a rule that sets an address or a port");
	else if (strcmp(word, "mangle") && !is_harmless(word) &&
		 !add_verdict(r, word, value))
		/* A queue, or what this release does not know. */
		add(r, FIREWALL_UNKNOWN, word);
}

static void take_rule(struct firewall_rules *rules, const json_t *rule)
{
	struct reading r = {
		.rules = rules, .match = MATCH_YES,
		.chain = find_chain(rules, text_of(rule, "family"),
				    text_of(rule, "table"),
				    text_of(rule, "chain")),
	};
	const json_t *expr = json_object_get(rule, "expr");
	json_t *statement, *value;
	const char *word;
	size_t i;

	if (r.chain == FIREWALL_NO_CHAIN)
		return;
	json_array_foreach(expr, i, statement) {
		json_object_foreach(statement, word, value)
			take_statement(&r, word, value,
				       i + 1 == json_array_size(expr));
		if (r.match == MATCH_NO)
			return;
	}
	rules->untracked |= r.notrack;
}

/* --- the ruleset --------------------------------------------------------------- */

static enum firewall_hook hook_of(const char *name)
{
	return !strcmp(name, "forward") ? FIREWALL_FORWARD :
	       !strcmp(name, "input") ? FIREWALL_INPUT :
	       !strcmp(name, "output") ? FIREWALL_OUTPUT : FIREWALL_HOOKS;
}

/* Has the table of a chain this flag? */
static bool has_flag(const json_t *list, const json_t *chain, const char *name)
{
	const json_t *object, *table, *flags, *flag;
	size_t i, k;

	json_array_foreach(list, i, object) {
		table = json_object_get(object, "table");
		if (!table || strcmp(text_of(table, "family"),
				     text_of(chain, "family")) ||
		    strcmp(text_of(table, "name"), text_of(chain, "table")))
			continue;
		flags = json_object_get(table, "flags");
		if (!strcmp(text_of(table, "flags"), name))
			return true;
		json_array_foreach(flags, k, flag)
			if (json_is_string(flag) &&
			    !strcmp(json_string_value(flag), name))
				return true;
	}
	return false;
}

static void take_chain(struct firewall_rules *rules, const json_t *list,
		       const json_t *chain)
{
	struct firewall_chain c = {
		.family = text_of(chain, "family"),
		.table = text_of(chain, "table"),
		.name = text_of(chain, "name"),
		.hook = hook_of(text_of(chain, "hook")),
		.policy = strcmp(text_of(chain, "policy"), "drop") ?
			  FIREWALL_ACCEPT : FIREWALL_DROP,
	};

	if (strcmp(c.family, "ip") && strcmp(c.family, "inet"))
		return;
	/* The chains of a dormant table see no packets. */
	if (c.hook != FIREWALL_HOOKS && has_flag(list, chain, "dormant"))
		c.hook = FIREWALL_HOOKS;
	c.owned = has_flag(list, chain, "owner");
	firewall_add_chain(rules, &c);
}

void firewall_nft(struct firewall_rules *rules, const json_t *answer)
{
	const json_t *list = json_object_get(answer, "nftables"), *object, *it;
	size_t i;

	json_array_foreach(list, i, object) {
		it = json_object_get(object, "chain");
		if (it)
			take_chain(rules, list, it);
	}
	json_array_foreach(list, i, object) {
		it = json_object_get(object, "rule");
		if (it)
			take_rule(rules, it);
	}
}
