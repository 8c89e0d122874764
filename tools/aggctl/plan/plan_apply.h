/* SPDX-License-Identifier: GPL-2.0 */
/* A plan file and its way into the nodes and out of them. */
#ifndef AGGCTL_PLAN_APPLY_H
#define AGGCTL_PLAN_APPLY_H

#include <jansson.h>

#include "node.h"

/**
 * struct plan_part - a node of a plan file
 * @name: name of the node
 * @entry: its entries
 * @depth: least hops to a receiver; switches come before all servers
 */
struct plan_part {
	const char *name;
	const json_t *entry;
	unsigned int depth;
};

/**
 * struct plan_file - a plan file that was read
 * @json: content
 * @part: its nodes, parents first
 * @n: how many
 */
struct plan_file {
	json_t *json;
	struct plan_part *part;
	size_t n;
};

/* plan_file.c */
json_t *plan_file_read(const char *path);
int plan_file_load(struct plan_file *file, const char *path);
int plan_file_take(struct plan_file *file, json_t *json);
int plan_file_load_fd(struct plan_file *file, int fd, const char *path);
void plan_file_free(struct plan_file *file);
int plan_file_select(struct plan_file *file, const char *node);
bool plan_part_receives(const struct plan_file *file, size_t i);

/**
 * struct plan_install - how a plan is put in force
 * @in_testbed: its nodes are in the testbed
 * @replace: entries of older epochs give way
 * @unchecked: links that cannot be used now do not matter
 * @old: the plan that entries of older epochs are of, to bring them back after a
 *	failure; or NULL
 * @may_commit: asked when all nodes have agreed, NULL: yes; if not, none changes
 * @may_keep: asked when the plan is in force, NULL: yes; if not, it is taken back
 * @at: after a failure, index of the node that refused
 * @in_doubt: after a failure, nodes may have entries of the plan: an error line says
 *	which ones
 * @changes: entries and links that have come, or entries that have gone
 */
struct plan_install {
	bool in_testbed;
	bool replace;
	bool unchecked;
	const json_t *old;
	bool (*may_commit)(const struct plan_install *how);
	bool (*may_keep)(const struct plan_install *how);
	size_t at;
	bool in_doubt;
	size_t changes;
};

/* plan_install.c */
int plan_install(const struct plan_file *file, struct plan_install *how);

/* plan_links.c */
int plan_links_check(const struct node *node, const json_t *entry, bool asks);

/* plan_part.c */
int plan_part_stage(struct node *node, const json_t *entry, bool replace);
json_t *plan_part_compare(const struct node *node, const json_t *entry);
int plan_part_committed(struct node *node);
int plan_part_undo(struct node *node, const json_t *old);
int plan_part_withdraw(struct node *node, const json_t *entry,
		       unsigned int *missing);

int plan_part_sweep(struct node *node, const json_t *tree);

#endif
