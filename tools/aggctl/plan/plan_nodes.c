// SPDX-License-Identifier: GPL-2.0
/* The entries of every node of a plan, as "apply" takes them. */
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "plan/plan.h"

/**
 * struct builder - nodes in the making
 * @plan: the plan
 * @topo: its topology
 * @conf: what its entries say beside
 * @filters: of each entry, NULL: packets carry none
 * @nodes: the result
 */
struct builder {
	const struct plan *plan;
	const struct aggt_topo *topo;
	const struct plan_conf *conf;
	const json_t *filters;
	json_t *nodes;
};

static json_t *member(json_t *object, const char *name, json_t *fresh)
{
	json_t *value = json_object_get(object, name);

	if (value) {
		json_decref(fresh);
		return value;
	}
	json_object_set_new(object, name, fresh);
	return fresh;
}

static void set_u32(json_t *object, const char *name, uint32_t value)
{
	json_object_set_new(object, name, json_integer(value));
}

static void set_text(json_t *object, const char *name, const char *value)
{
	json_object_set_new(object, name, json_string(value));
}

static void add_port(json_t *ports, const char *prefix, unsigned int number,
		     unsigned int level)
{
	json_array_append_new(ports,
			      json_pack("{s:o, s:i}", "name",
					json_sprintf("%s%u", prefix, number),
					"level", level));
}

static json_t *server_node(const struct builder *b, aggt_node server)
{
	const char *name = plan_server_name(b->plan, server);
	json_t *node = json_object_get(b->nodes, name);
	json_t *ports;
	unsigned int level;

	if (node)
		return node;
	ports = json_array();
	for (level = 0; level < aggt_topo_ports(b->topo, server); level++)
		add_port(ports, "eth", level, level);
	node = json_pack("{s:s, s:o, s:o, s:[], s:[]}", "role", "server",
			 "address", addr_json(plan_identity(b->plan, server)),
			 "ports", ports, "links", "trees");
	if (aggt_topo_agents(b->topo))
		set_text(node, "agent",
			 plan_switch_name(b->plan,
					  aggt_topo_switch(b->topo, server,
							   0)));
	return member(b->nodes, name, node);
}

static json_t *switch_node(const struct builder *b, uint32_t sw)
{
	unsigned int level = aggt_topo_switch_level(b->topo, sw);
	const char *name = plan_switch_name(b->plan, sw);
	json_t *node = json_object_get(b->nodes, name);
	json_t *ports;
	unsigned int digit;

	if (node)
		return node;
	ports = json_array();
	for (digit = 0; digit < aggt_topo_radix(b->topo, level); digit++)
		add_port(ports, "p", digit, level);
	node = json_pack("{s:s, s:o, s:[], s:[]}", "role", "switch",
			 "ports", ports, "links", "trees");
	return member(b->nodes, name, node);
}

/* A link once, however many trees leave by it. */
static void add_link(json_t *node, json_t *link)
{
	json_t *links = json_object_get(node, "links");
	json_t *other;
	size_t i;

	json_array_foreach(links, i, other) {
		if (json_equal(link, other)) {
			json_decref(link);
			return;
		}
	}
	json_array_append_new(links, link);
}

static json_t *new_tree(const struct builder *b, aggt_node receiver,
			uint32_t tree)
{
	return json_pack("{s:I, s:o, s:I, s:I}",
			 "job", (json_int_t)plan_job(b->plan, tree),
			 "receiver", addr_json(plan_identity(b->plan, receiver)),
			 "instance", (json_int_t)b->conf->instance,
			 "attempt", (json_int_t)b->plan->attempt[tree]);
}

/* A link with a Bloom table of the plan's geometry. */
static void add_table(const struct builder *b, json_t *node, json_t *link)
{
	const struct plan_conf *conf = b->conf;

	if (conf->bits) {
		set_u32(link, "bits", conf->bits);
		set_u32(link, "hashes", conf->hashes);
		set_u32(link, "capacity", conf->capacity);
	}
	add_link(node, link);
}

/*
 * In a described network a reader knows the other end of a link and the next server by
 * their names. That of a port is one that the plan gives it.
 */
static void set_names(const struct builder *b, const struct aggt_entry *e,
		      json_t *tree)
{
	uint32_t first = aggt_topo_hop_switch(b->topo, e->server, e->parent, 0);

	if (!aggt_topo_server_name(b->topo, e->server))
		return;
	set_text(tree, "parent", plan_server_name(b->plan, e->parent));
	set_text(tree, "link_to", first == AGGT_NONE ?
		 plan_server_name(b->plan, e->parent) :
		 plan_switch_name(b->plan, first));
}

/* The planned link of an entry, and its Bloom table if it has one. */
static void set_link(const struct builder *b, const struct aggt_entry *e,
		     json_t *node, json_t *tree)
{
	bool bloom = b->conf->scheme == AGGNET_SCHEME_BLOOM;
	bool direct = b->conf->scheme == AGGNET_SCHEME_EXACT ||
		      !b->conf->aggnet_switches;
	json_t *port, *neighbour, *link;

	if (e->parent == AGGT_NONE || !aggt_plan_aggregates(b->plan->trees)) {
		set_text(tree, "scheme",
			 aggnet_scheme_names[AGGNET_SCHEME_ROUTE]);
		return;
	}
	set_text(tree, "scheme", aggnet_scheme_names[b->conf->scheme]);
	port = json_sprintf("eth%u", e->level);
	neighbour = addr_json(plan_next_addr(b->plan, e->server, e->parent,
					     e->parent_level));
	json_object_set(tree, "link_port", port);
	set_names(b, e, tree);
	if (direct)
		json_object_set(tree, "link_neighbour", neighbour);
	if (bloom) {
		link = json_pack("{s:O}", "port", port);
		if (direct)
			json_object_set(link, "neighbour", neighbour);
		add_table(b, node, link);
	}
	json_decref(port);
	json_decref(neighbour);
}

static uint32_t members(const struct plan *plan)
{
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < job->n_senders; i++)
		sum += aggnet_member(ntohl(plan_identity(plan,
						job->senders[i]).s_addr));
	return sum;
}

static void set_limits(const struct plan_conf *conf, json_t *tree)
{
	if (conf->memory)
		json_object_set_new(tree, "memory",
				    json_integer((json_int_t)conf->memory));
	if (conf->hold)
		set_u32(tree, "hold", conf->hold);
	if (conf->persist)
		set_u32(tree, "persist", 1);
	if (conf->down)
		set_u32(tree, "direction", AGGNET_DIR_DOWN);
	if (conf->give_up)
		set_u32(tree, "give_up", conf->give_up);
}

static unsigned int stripes_of(const struct plan *plan)
{
	const struct aggt_stripes *stripes = aggt_plan_stripes(plan->trees);

	return stripes ? stripes->n : 1;
}

/* A stripe has its blocks of the vector, another tree the whole one. */
static void set_elements(const struct plan *plan, uint32_t index, json_t *tree)
{
	const struct plan_conf *conf = &plan->conf;
	unsigned int stripes = stripes_of(plan);
	const struct aggnet_tree_info whole = {
		.function = conf->function, .vtype = conf->vtype,
		.layout = conf->layout, .elements = conf->elements,
	};
	uint64_t elements = aggnet_stripe_elements(&whole,
						   stripes > 1 ? index : 0,
						   stripes);

	if (conf->elements)
		json_object_set_new(tree, "elements",
				    json_integer((json_int_t)elements));
}

static void set_stripe(const struct plan *plan, uint32_t stripe, json_t *tree)
{
	if (stripes_of(plan) < 2)
		return;
	set_u32(tree, "stripe", stripe);
	set_u32(tree, "stripes", stripes_of(plan));
}

static void set_shape(const struct plan_conf *conf, json_t *tree)
{
	set_text(tree, "function", aggnet_function_names[conf->function]);
	set_text(tree, "vtype", aggnet_vtype_names[conf->vtype]);
	set_text(tree, "layout", aggnet_layout_names[conf->layout]);
	if (conf->scale)
		set_u32(tree, "scale", conf->scale);
	if (conf->k)
		set_u32(tree, "k", conf->k);
}

/* More than a netlink attribute holds are not listed: the node takes any. */
static void set_children(const struct builder *b, const struct aggt_entry *e,
			 json_t *tree)
{
	json_t *children;
	size_t i;

	if (!e->n_children || e->n_children > AGGNET_ADDRS_MAX)
		return;
	children = json_array();
	for (i = 0; i < e->n_children; i++)
		json_array_append_new(children,
				      addr_json(plan_identity(b->plan, e->children[i])));
	json_object_set_new(tree, "children", children);
}

/* What only a node needs that holds flow state. */
static void set_end(const struct builder *b, const struct aggt_entry *e,
		    json_t *tree)
{
	const struct plan_conf *conf = b->conf;

	set_children(b, e, tree);
	set_shape(conf, tree);
	set_elements(b->plan, e->tree, tree);
	set_stripe(b->plan, e->tree, tree);
	set_u32(tree, "writers", e->tasks * conf->writers);
	if (e->flags & (AGGT_SENDER | AGGT_RECEIVER)) {
		set_u32(tree, "uid", conf->uid);
		if (conf->has_gid)
			set_u32(tree, "gid", conf->gid);
	}
	if (e->flags & AGGT_RECEIVER) {
		set_u32(tree, "members", members(b->plan));
		if (json_array_size(b->plan->absent))
			json_object_set(tree, "absent", b->plan->absent);
	}
	set_limits(conf, tree);
	if (b->plan->key)
		json_object_set(tree, "key", b->plan->key[e->tree]);
}

/* A node on a way has to know its links, whether it has an entry or not. */
static void name_links(const struct builder *b, const struct aggt_entry *e,
		       json_t *node)
{
	json_t *links = json_object_get(node, "links");

	if (b->filters && e->parent != AGGT_NONE && !json_array_size(links))
		plan_name_server(b->plan, e->server, links);
}

/* @i: of the entry, and so of its filter */
static void add_entry(const struct builder *b, const struct aggt_entry *e,
		      size_t i)
{
	json_t *node = server_node(b, e->server), *tree;

	name_links(b, e, node);
	if (b->filters && !(e->flags & AGGT_END))
		return;
	tree = new_tree(b, e->receiver, e->tree);
	if (b->filters && e->parent != AGGT_NONE)
		json_object_set(tree, "filter", json_array_get(b->filters, i));
	set_text(tree, "role", aggt_entry_role(e));
	if (e->flags & AGGT_LEANS)
		set_text(tree, "switch", plan_switch_name(b->plan, e->sw));
	set_u32(tree, "contributors", e->contributors);
	set_u32(tree, "sources", e->sources);
	set_link(b, e, node, tree);
	if (e->parent != AGGT_NONE)
		set_u32(tree, "hops", e->links);
	if (e->flags & AGGT_END)
		set_end(b, e, tree);
	else
		set_u32(tree, "writers", 0);
	json_array_append_new(json_object_get(node, "trees"), tree);
}

static void add_switch_entry(const struct builder *b,
			     const struct aggt_switch_entry *e)
{
	unsigned int level = aggt_topo_switch_level(b->topo, e->sw);
	struct in_addr neighbour = plan_port_addr(b->plan, e->server, level);
	json_t *node = switch_node(b, e->sw);
	json_t *tree = new_tree(b, e->receiver, e->tree);

	set_text(tree, "role", "switch");
	json_object_set_new(tree, "link_port", json_sprintf("p%u", e->port));
	json_object_set_new(tree, "link_neighbour", addr_json(neighbour));
	add_table(b, node, json_pack("{s:o, s:o, s:o}",
				     "port", json_sprintf("p%u", e->port),
				     "neighbour", addr_json(neighbour),
				     "lladdr", plan_port_lladdr(b->plan,
								e->server,
								level)));
	json_array_append_new(json_object_get(node, "trees"), tree);
}

/* Of a switch that looks filters up: no entries, but the names of its links. */
static void add_named_switch(const struct builder *b, uint32_t sw)
{
	json_t *links = json_object_get(switch_node(b, sw), "links");

	if (!json_array_size(links))
		plan_name_switch(b->plan, sw, links);
}

static void add_switches(const struct builder *b)
{
	const struct aggt_switch_entry *sw;
	size_t i, n;

	sw = aggt_plan_switch_entries(b->plan->trees, &n);
	for (i = 0; b->conf->aggnet_switches && i < n; i++) {
		if (b->filters)
			add_named_switch(b, sw[i].sw);
		else if (b->conf->scheme == AGGNET_SCHEME_BLOOM)
			add_switch_entry(b, &sw[i]);
	}
}

/* An address that is described may be what another server is given. */
static int check_identities(json_t *nodes)
{
	json_t *owner = json_object(), *node, *other;
	const char *name, *address;
	int ret = 0;

	json_object_foreach(nodes, name, node) {
		address = json_string_value(json_object_get(node, "address"));
		other = address ? json_object_get(owner, address) : NULL;
		if (other) {
			err("plan: %s and %s would both be %s; describe the addresses of both",
			    json_string_value(other), name, address);
			ret = -1;
		} else if (address) {
			json_object_set_new(owner, address, json_string(name));
		}
	}
	json_decref(owner);
	return ret;
}

/**
 * plan_nodes() - make the entries of every node of a plan
 * @plan: the plan
 * @filters: of each entry, NULL: packets carry none
 *
 * Return: an object of nodes by name, or NULL with an error line printed.
 */
json_t *plan_nodes(const struct plan *plan, const json_t *filters)
{
	struct builder b = {
		plan, plan->topo, &plan->conf, filters, json_object()
	};
	const struct aggt_entry *entry;
	size_t i, n;

	entry = aggt_plan_entries(plan->trees, &n);
	for (i = 0; i < n; i++)
		add_entry(&b, &entry[i], i);
	add_switches(&b);
	if (!check_identities(b.nodes))
		return b.nodes;
	json_decref(b.nodes);
	return NULL;
}
