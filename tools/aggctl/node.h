/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A node that is being configured: its handle, and the ports that plans and
 * testbeds name.
 */
#ifndef AGGCTL_NODE_H
#define AGGCTL_NODE_H

#include <jansson.h>

#include "aggnet.h"

/**
 * struct node_port - a port by its name in the plan
 * @name: that name
 * @ifindex: the attached device, 0: none
 * @attached: node_ports() attached it
 */
struct node_port {
	const char *name;
	uint32_t ifindex;
	bool attached;
};

/**
 * struct node_entry - identifies one of the entries of an incast ID
 * @instance: its epoch
 * @attempt: its epoch
 * @has_plan: it has the ID of a plan
 * @plan: that ID
 */
struct node_entry {
	uint32_t instance;
	uint32_t attempt;
	bool has_plan;
	uint8_t plan[AGGNET_PLAN_LEN];
};

/**
 * struct node_step - the changes staged for an incast ID
 * @incast_id: the ID
 * @added: entries were added
 * @new: the added entries
 * @was: there were entries before, which the plan replaces or removes
 * @old: the entries before
 * @stands: no other change has followed; determined when it is undone
 */
struct node_step {
	uint64_t incast_id;
	bool added;
	struct node_entry new;
	bool was;
	struct node_entry old;
	bool stands;
};

/**
 * struct node - a node that is being configured
 * @name: its name
 * @ctl: handle in its namespace
 * @before: role, identity and label that node_setup() changed
 * @port: its ports
 * @n_ports: how many
 * @step: the changes, by incast ID
 * @n_steps: how many
 * @links: links that were added; undoing deletes them
 * @n_links: how many
 */
struct node {
	const char *name;
	struct aggnet_ctl *ctl;
	struct aggnet_node_info before;
	struct node_port *port;
	size_t n_ports;
	struct node_step *step;
	size_t n_steps;
	struct aggnet_link_info *links;
	size_t n_links;
};

/**
 * enum node_attach - which named ports are attached
 * @NODE_ATTACH_NONE: none
 * @NODE_ATTACH_THERE: those whose device exists
 * @NODE_ATTACH: all of them, or it is an error
 */
enum node_attach {
	NODE_ATTACH_NONE,
	NODE_ATTACH_THERE,
	NODE_ATTACH,
};

int node_open(struct node *node, const char *name, const char *netns);
void node_close(struct node *node);
int node_refused(const struct node *node, const char *what);
int node_setup(struct node *node, const char *role, const char *address,
	       const json_t *ports, bool lenient);
int node_ports(struct node *node, const json_t *ports,
	       enum node_attach attach);
const struct node_port *node_port(const struct node *node, const char *name);
int node_look(struct node *node);
bool node_has(const struct node *node, uint32_t ifindex);
void node_restore(struct node *node);

#endif
