/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A plan: the trees of a job, and the entries of every node. "plan" writes it
 * as JSON; "apply" and "plan --update" read it.
 */
#ifndef AGGCTL_PLAN_H
#define AGGCTL_PLAN_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdint.h>

#include "aggnet.h"
#include "aggtree.h"

/**
 * struct plan_conf - the content of entries besides the shape of the trees
 * @job: job ID; of stripes that of the first one
 * @instance: epoch, the same for all trees
 * @scheme: enum aggnet_scheme; of a plan that aggregates
 * @aggnet_switches: Bloom links lead to a switch, which selects the neighbour
 * @function: enum aggnet_function
 * @vtype: enum aggnet_vtype
 * @layout: enum aggnet_layout
 * @scale: fraction bits of fixed-point values
 * @k: pairs that a key keeps
 * @elements: of a dense vector; each stripe has a part of it
 * @bits: of Bloom tables, 0: the kernel's default, which grows beyond 400 trees
 * @hashes: their hash functions
 * @capacity: trees beyond which they grow
 * @filter: of packets; scheme packet
 * @keyed: each tree has a key
 * @writers: local processes of each task of a sender
 * @uid: user that may use the sockets
 * @gid: group that may use them, too, if @has_gid
 * @has_gid: @gid is given
 * @memory: limit of a tree's buffer in bytes, 0: the kernel's default
 * @hold: ms, 0: the kernel's default
 * @give_up: ms, 0: the kernel's default
 * @allow_missing: sources may leave; the end mark names them
 * @persist: the trees serve any number of rounds
 * @down: broadcasts: the receivers are roots, and the senders are members that read
 * @rate: of a link and direction in bit/s if the topology has none for it, 0:
 *	that of the fastest link of the topology
 * @flow_size: bytes of records in a flow of size 1, 0: as in the papers
 */
struct plan_conf {
	uint32_t job;
	uint32_t instance;
	uint8_t scheme;
	bool aggnet_switches;
	uint8_t function;
	uint8_t vtype;
	uint8_t layout;
	uint8_t scale;
	uint32_t k;
	uint64_t elements;
	uint32_t bits;
	uint32_t hashes;
	uint32_t capacity;
	struct aggt_filter_conf filter;
	bool keyed;
	uint32_t writers;
	uint32_t uid;
	uint32_t gid;
	bool has_gid;
	uint64_t memory;
	uint32_t hold;
	uint32_t give_up;
	bool allow_missing;
	bool persist;
	bool down;
	uint64_t rate;
	uint64_t flow_size;
};

/**
 * struct plan - a plan
 * @id: random part of its ID, in hex; empty: it has none
 * @topo: topology
 * @description: text that described it, NULL if it has only a name
 * @failed: parts of it that have failed since
 * @trees: the library's plan
 * @conf: the rest of the entries
 * @absent: identities of sources that have left since
 * @attempt: epoch, of each tree
 * @renew: trees that begin a new attempt even if they do not change; NULL: none
 * @used: of each tree the last attempt that was begun or tried
 * @salted: the low half of a new attempt comes from the digest of the tree
 * @key: in hex, of each tree; NULL if they have none
 */
struct plan {
	char id[2 * 8 + 1];
	struct aggt_topo *topo;
	char *description;
	json_t *failed;
	struct aggt_plan *trees;
	struct plan_conf conf;
	json_t *absent;
	uint32_t *attempt;
	bool *renew;
	uint32_t *used;
	bool salted;
	json_t **key;
};

/* plan.c */
int plan_topology(struct plan *plan, const char *command, const char *text);
int plan_prepare(struct plan *plan);
void plan_clear(struct plan *plan);
uint32_t plan_job(const struct plan *plan, size_t tree);
char *plan_read_file(const char *command, const char *path);
bool list_has(const json_t *list, const char *text);
bool list_add(json_t *list, const char *text);

/**
 * struct plan_name - what tells the trees of a plan apart
 * @text: receiver and job ID
 */
struct plan_name {
	char text[64];
};

/* plan_id.c */
struct plan_name plan_name_entry(const json_t *entry);
struct plan_name plan_name_tree(const struct plan *plan, size_t i);
int plan_draw_id(struct plan *plan);
bool plan_set_id(struct plan *plan, const json_t *id);
int plan_sign(const struct plan *plan, json_t *nodes);

/* plan_addr.c */
const char *plan_server_name(const struct plan *plan, aggt_node server);
const char *plan_switch_name(const struct plan *plan, uint32_t sw);
struct in_addr plan_identity(const struct plan *plan, aggt_node server);
struct in_addr plan_port_addr(const struct plan *plan, aggt_node server,
			      unsigned int level);
struct in_addr plan_next_addr(const struct plan *plan, aggt_node from,
			      aggt_node to, unsigned int level);
void plan_note_routed(const struct plan *plan);
json_t *plan_port_lladdr(const struct plan *plan, aggt_node server,
			 unsigned int level);
bool plan_knows_port(const struct plan *plan, aggt_node server,
		     unsigned int level);
bool plan_lacks_address(const struct plan *plan, aggt_node server,
			uint32_t level, char *name);
bool plan_is_for_testbed(const struct plan *plan);
bool plan_has_addresses(const struct plan *plan);
bool plan_forgets_address(const struct plan *plan, char *name);

/**
 * struct plan_filters - filters of a plan's ends
 * @conf: how they are made
 * @size: how large they are
 * @hex: of each entry the filter, or null
 * @n: how many there are
 * @false_links: sum of their false positives
 * @unsalted: the same sum with the first salt
 */
struct plan_filters {
	struct aggt_filter_conf conf;
	struct aggt_filter_size size;
	json_t *hex;
	size_t n;
	uint64_t false_links;
	uint64_t unsalted;
};

/* plan_filter.c */
extern const char * const plan_rule_names[];
bool plan_has_filters(const struct plan *plan);
int plan_filters(const struct plan *plan, struct plan_filters *all);
void plan_filters_clear(struct plan_filters *all);
json_t *plan_filters_json(const struct plan_filters *all);
bool plan_filters_restore(const json_t *json, struct aggt_filter_conf *conf);
void plan_name_server(const struct plan *plan, aggt_node server, json_t *links);
void plan_name_switch(const struct plan *plan, uint32_t sw, json_t *links);

/* plan_nodes.c */
json_t *plan_nodes(const struct plan *plan, const json_t *filters);

/* plan_json.c */
json_t *plan_json(const struct plan *plan);

/* plan_restore.c */
int plan_restore(struct plan *plan, const json_t *json, const char *path);

/* plan_update.c */
json_t *plan_update(struct plan *plan, const json_t *old, char **changes,
		    size_t n);

/* plan_traffic.c */
json_t *plan_traffic(const char *file, const struct plan *plan);

/* plan_dot.c */
int plan_draw(const char *file, const struct plan *plan,
	      const json_t *traffic);

/* plan_time.c */
extern const char * const plan_objective_names[];
double plan_packet(const struct plan_conf *conf);
void plan_predict(const struct plan *plan, json_t *metrics);
bool plan_copies(const struct plan_conf *conf);
void plan_count_copies(const struct plan *plan, json_t *metrics);

/* plan_text.c */
void plan_text(const json_t *plan);

#endif
