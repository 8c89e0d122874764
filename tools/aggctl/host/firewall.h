/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the firewalls of this host do with aggnet's packets. firewall_nft.c and
 * firewall_old.c read rules, firewall_rules.c walks them, firewall.c asks for them
 * and names commands.
 */
#ifndef AGGCTL_FIREWALL_H
#define AGGCTL_FIREWALL_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ipt_getinfo;
struct ipt_get_entries;

#define FIREWALL_FIX_MAX	512

/**
 * enum firewall_hook - where a chain sees packets
 * @FIREWALL_FORWARD: those of others, which this host forwards
 * @FIREWALL_INPUT: those for this host
 * @FIREWALL_OUTPUT: those of this host
 * @FIREWALL_HOOKS: how many there are; a chain that only others jump to has this
 */
enum firewall_hook {
	FIREWALL_FORWARD,
	FIREWALL_INPUT,
	FIREWALL_OUTPUT,
	FIREWALL_HOOKS,
};

/**
 * struct firewall_packet - what is known of the packets
 * @port: of UDP, where they go to
 * @identity: of this host and of others, each once
 * @n_identities: fewer than two: those of others are unknown
 * @self: identity of this host, 0.0.0.0: unknown
 * @device: names of the ports
 * @n_devices: 0: unknown
 * @hook: where the packets are. Those of INPUT come by no port
 * @in: the port that they arrive by, NULL: one of @device
 * @out: the port that they leave by, NULL: one of @device
 * @from: identity that sent them, NULL: any
 * @to: identity that gets them, NULL: any
 * @untracked: a rule may exempt them from connection tracking
 */
struct firewall_packet {
	uint16_t port;
	const struct in_addr *identity;
	size_t n_identities;
	struct in_addr self;
	const char * const *device;
	size_t n_devices;
	enum firewall_hook hook;
	const char *in;
	const char *out;
	const struct in_addr *from;
	const struct in_addr *to;
	bool untracked;
};

/**
 * struct firewall_drop - a chain that drops packets, or may
 * @hook: where
 * @sure: no rule can accept them
 * @fault: it drops them unless a rule accepts them that cannot be judged. Otherwise
 *	it accepts them unless such a rule drops them, or a program decides
 * @finding: says so
 * @fix: the command that lets them pass; empty: the chain's name cannot be typed, or
 *	only the program that owns its table can change it
 */
struct firewall_drop {
	enum firewall_hook hook;
	bool sure;
	bool fault;
	char finding[FIREWALL_FIX_MAX];
	char fix[FIREWALL_FIX_MAX];
};

/**
 * struct firewall - the chains that drop packets
 * @drop: array
 * @n: its length
 * @unread: why some rules could not be read; empty: all were
 * @unread_fix: the command that helps; may be empty
 * @forward: one command for all faults of @FIREWALL_FORWARD, NULL: there are none
 */
struct firewall {
	struct firewall_drop *drop;
	size_t n;
	char unread[128];
	const char *unread_fix;
	char *forward;
};

/**
 * firewall_look() - find the chains of this network namespace that drop packets
 * @firewall: filled; firewall_free()
 * @packet: what is asked about
 *
 * Asks for the rules once.
 */
void firewall_look(struct firewall *firewall,
		   const struct firewall_packet *packet);
void firewall_free(struct firewall *firewall);

/* --- rules ----------------------------------------------------------------- */

/* Does a rule match the packets? "Maybe" is also what cannot be judged. */
enum firewall_match { MATCH_NO, MATCH_MAYBE, MATCH_YES };

/* What a rule does, or how a chain may end: bits. */
#define FIREWALL_ACCEPT		1U
#define FIREWALL_DROP		2U
#define FIREWALL_UNKNOWN	4U
#define FIREWALL_RETURN		8U

#define FIREWALL_NO_CHAIN	SIZE_MAX

/**
 * struct firewall_rule - a rule that may match
 * @match: not MATCH_NO
 * @verdict: one bit, or 0: it jumps
 * @target: index of a chain
 * @go: it does not come back
 * @what: verdict in words
 */
struct firewall_rule {
	enum firewall_match match;
	unsigned int verdict;
	size_t target;
	bool go;
	const char *what;
};

/**
 * struct firewall_chain - rules in their order
 * @family: as nft names it; NULL: of the old tables
 * @table: name
 * @name: name
 * @offset: where it begins in an old table
 * @hook: where it sees packets
 * @policy: what happens at its end: a bit
 * @rule: array
 * @n: its length
 * @ends: bits of all its possible ends, 0: not yet known
 * @rest: the end if what may match does not
 * @what: what drops, in words
 * @from: of the packets that this is said of, 0.0.0.0: of any
 * @to: likewise
 * @busy: it is being walked
 * @owned: only the program that owns its table can change it
 */
struct firewall_chain {
	const char *family;
	const char *table;
	const char *name;
	unsigned int offset;
	enum firewall_hook hook;
	unsigned int policy;
	struct firewall_rule *rule;
	size_t n;
	unsigned int ends;
	unsigned int rest;
	const char *what;
	struct in_addr from;
	struct in_addr to;
	bool busy;
	bool owned;
};

/**
 * struct firewall_rules - chains of one source
 * @packet: what the rules are compared with
 * @chain: array
 * @n: its length
 * @failed: there was no memory
 * @by_member: a rule matches packets of some members, and not those of others
 * @untracked: a rule may exempt packets from connection tracking
 */
struct firewall_rules {
	const struct firewall_packet *packet;
	struct firewall_chain *chain;
	size_t n;
	bool failed;
	bool by_member;
	bool untracked;
};

/* firewall_rules.c */
struct firewall_chain *firewall_add_chain(struct firewall_rules *rules,
					  const struct firewall_chain *chain);
void firewall_add_rule(struct firewall_rules *rules, size_t chain,
		       struct firewall_rule rule);
void firewall_rules_free(struct firewall_rules *rules);

/* Find how a chain may end: @ends, @rest and @what. */
void firewall_walk(struct firewall_rules *rules, size_t chain);

/* Does a packet come to the next rule after this target of iptables? */
bool firewall_target_continues(const char *name);

/* A name such as "eth0", or "eth*" or "eth+" for all that begin so. */
enum firewall_match firewall_device(const struct firewall_packet *packet,
				    bool in, const char *name, char wildcard);

/* An address of the sender or of the receiver, and the mask of its bits that count. */
enum firewall_match firewall_address(struct firewall_rules *rules, bool from,
				     struct in_addr addr, struct in_addr mask);

enum firewall_match firewall_not(enum firewall_match match);
enum firewall_match firewall_and(enum firewall_match a, enum firewall_match b);

/* firewall_nft.c: take the answer to "nft -j list ruleset", which must live on. */
void firewall_nft(struct firewall_rules *rules, const json_t *answer);

/* firewall_old.c: take a table as the kernel has it. */
void firewall_old(struct firewall_rules *rules, const struct ipt_getinfo *info,
		  const struct ipt_get_entries *table);

#endif
