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

/* plan_install.c */
int plan_install(const struct plan_file *file, bool in_testbed, bool replace,
		 const json_t *old, size_t *at);

/* plan_part.c */
int plan_part_stage(struct node *node, const json_t *entry, bool replace);
int plan_part_committed(struct node *node);
int plan_part_undo(struct node *node, const json_t *old);
int plan_part_withdraw(struct node *node, const json_t *entry,
		       unsigned int *missing);

int plan_part_sweep(struct node *node, const json_t *tree);

#endif
