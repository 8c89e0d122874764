/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of libaggtree share: packed labels, a hash map, a random
 * generator and the tree under construction.
 */
#ifndef AGGT_INTERNAL_H
#define AGGT_INTERNAL_H

#include "aggtree.h"
#include "topology.h"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

/* ------------------------------------------------------------------ error */

__attribute__((format(printf, 2, 3)))
void aggt_err_set(struct aggt_err *err, const char *fmt, ...);
void aggt_err_nomem(struct aggt_err *err);

/* ----------------------------------------------------------------- random */

struct aggt_rng {
	uint64_t state;
};

void aggt_rng_seed(struct aggt_rng *rng, uint64_t seed);
uint64_t aggt_rng_next(struct aggt_rng *rng);

/** aggt_rng_below - uniform in 0 .. @bound - 1, without bias. */
uint32_t aggt_rng_below(struct aggt_rng *rng, uint32_t bound);

/* -------------------------------------------------------------------- map */

/**
 * struct aggt_map - hash map of 64-bit keys to 32-bit values
 * @key: keys, all ones marks a free slot
 * @val: values
 * @mask: slots - 1
 * @n: keys held
 */
struct aggt_map {
	uint64_t *key;
	uint32_t *val;
	uint32_t mask;
	uint32_t n;
};

int aggt_map_init(struct aggt_map *map, size_t expect);
int aggt_map_copy(struct aggt_map *to, const struct aggt_map *from);
void aggt_map_free(struct aggt_map *map);

/** aggt_map_clear - delete the keys, keep the memory. */
void aggt_map_clear(struct aggt_map *map);

/** aggt_map_get - Return: the value, AGGT_NONE if the key is absent. */
uint32_t aggt_map_get(const struct aggt_map *map, uint64_t key);

/**
 * aggt_map_slot - find or insert a key
 * @map: the map
 * @key: not all ones
 *
 * Return: where its value is (AGGT_NONE if new) until the next insertion, or
 * NULL without memory.
 */
uint32_t *aggt_map_slot(struct aggt_map *map, uint64_t key);

/* --------------------------------------------------------------- topology */

/* Above all label bits: a dimension or the like can be kept beside a label. */
#define AGGT_TAG_SHIFT 58

struct aggt_graph;

/**
 * struct aggt_topo - a hypercube of points, or a graph
 *
 * In a hypercube a point is a server and a line of a dimension has a switch;
 * or, with agents, a point is a switch with servers of its own, and lines are
 * direct links. In a graph the points are its servers.
 *
 * @ops: its kind
 * @name: canonical
 * @dims: dimensions
 * @agents: whether points are switches
 * @per_point: servers of a point
 * @points: how many
 * @servers: how many
 * @switches: how many
 * @graph: NULL if labels have digits
 * @radix: points on a line, by dimension; of a torus, on a ring
 * @stride: between neighbours there
 * @switch_base: number of the first switch of a level
 * @shift: of the digit's field in a label
 * @mask: that field
 * @fault: failed parts
 * @address: server or port -> index in @text, address -> server
 * @text: addresses, one after the other
 * @text_len: of all
 * @text_room: memory of @text
 * @high: the top bit of each field
 * @low: all the others
 */
struct aggt_topo {
	const struct aggt_topo_ops *ops;
	char name[256];
	unsigned int dims;
	bool agents;
	uint32_t per_point;
	uint32_t points;
	uint32_t servers;
	uint32_t switches;
	struct aggt_graph *graph;
	uint32_t radix[AGGT_MAX_DIMS];
	uint32_t stride[AGGT_MAX_DIMS];
	uint32_t switch_base[AGGT_MAX_DIMS + 1];
	unsigned int shift[AGGT_MAX_DIMS];
	aggt_code mask[AGGT_MAX_DIMS];
	struct aggt_map fault;
	struct aggt_map address;
	char *text;
	size_t text_len;
	size_t text_room;
	aggt_code high;
	aggt_code low;
};

/**
 * aggt_point_ok - whether the server with this label works
 *
 * A switch with servers must have one that does: it could not merge alone.
 */
bool aggt_point_ok(const struct aggt_topo *topo, aggt_code code);

/** aggt_arc_ok - whether a link of a graph and the vertex behind it work. */
bool aggt_arc_ok(const struct aggt_topo *topo, uint32_t vertex, uint32_t link);

/** aggt_hop_ok - whether servers, links and switch between them work. */
bool aggt_hop_ok(const struct aggt_topo *topo, aggt_code from, aggt_code to);

/**
 * aggt_link_parse - parse `v14-w2`, a server's link
 * @topo: the topology
 * @text: has a dash
 * @dim: level of the link
 * @err: what is wrong
 *
 * Return: the server or AGGT_NONE.
 */
aggt_node aggt_link_parse(const struct aggt_topo *topo, const char *text,
			  unsigned int *dim, struct aggt_err *err);

/** aggt_hop_links - links that a hop from point to point crosses. */
static inline uint32_t aggt_hop_links(const struct aggt_topo *topo,
				      aggt_code from, aggt_code to)
{
	return topo->ops->hop_links(topo, from, to);
}

/** aggt_path_links - links on the path that packets take between two points. */
static inline uint32_t aggt_path_links(const struct aggt_topo *topo,
				       aggt_code from, aggt_code to)
{
	return topo->ops->path_links(topo, from, to);
}

/**
 * aggt_path - the path that packets take
 * @topo: the topology
 * @from: a point, not on it
 * @to: where it ends; if there is no path it is all of it
 * @n: how many points it has
 *
 * Return: an array to be freed, NULL without memory.
 */
aggt_code *aggt_path(const struct aggt_topo *topo, aggt_code from,
		     aggt_code to, unsigned int *n);

/** aggt_trunk - number of the link between two switches with servers. */
static inline uint64_t aggt_trunk(const struct aggt_topo *topo, uint32_t a,
				  uint32_t b)
{
	return a < b ? (uint64_t)a * topo->points + b :
		       (uint64_t)b * topo->points + a;
}

/** aggt_encode - label of a server, or of the switch that is its agent. */
aggt_code aggt_encode(const struct aggt_topo *topo, aggt_node server);

/** aggt_decode - number of the point: of a server or, with agents, a switch. */
uint32_t aggt_decode(const struct aggt_topo *topo, aggt_code code);

/**
 * aggt_differs - one bit for each field that is not zero
 *
 * Adding ones to a field's low bits carries into its top bit unless they are
 * all zero; popcounts of such masks are distances.
 */
static inline aggt_code aggt_differs(const struct aggt_topo *topo,
				     aggt_code code)
{
	return (((code & topo->low) + topo->low) | code) & topo->high;
}

/* The baseline CPU has no instruction for it and the library call is slow. */
static inline unsigned int aggt_bits(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555ULL;
	x = (x & 0x3333333333333333ULL) + (x >> 2 & 0x3333333333333333ULL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return x * 0x0101010101010101ULL >> 56;
}

/** aggt_weight - fields that are not zero. */
static inline unsigned int aggt_weight(const struct aggt_topo *topo,
				       aggt_code code)
{
	return aggt_bits(aggt_differs(topo, code));
}

static inline aggt_code aggt_tag(aggt_code code, unsigned int tag)
{
	return code | (aggt_code)tag << AGGT_TAG_SHIFT;
}

/* ------------------------------------------------------------------- tree */

struct aggt_tree {
	const struct aggt_topo *topo;
	aggt_node receiver;
	aggt_node entry;
	bool aggregates;
	unsigned int n_symbols;
	unsigned int symbol[AGGT_MAX_DIMS];
	uint32_t n;
	uint32_t room;
	aggt_code *code;
	uint32_t *parent;
	uint32_t *sender;	/* index in the job's senders or AGGT_NONE */
	size_t n_senders;
	uint32_t *more;		/* by sender: another one at the same point */
	struct aggt_map index;
	struct aggt_map leans;	/* with agents: label -> server leant on */
};

/**
 * aggt_tree_new - a tree of the receiver and the senders, not yet connected
 * @topo: the topology
 * @job: its senders
 * @receiver: the root
 *
 * Vertex 0 is the receiver; the senders follow in their order, less the
 * receiver if it is one of them.
 *
 * Return: the tree or NULL without memory.
 */
struct aggt_tree *aggt_tree_new(const struct aggt_topo *topo,
				const struct aggt_job *job, aggt_node receiver);
struct aggt_tree *aggt_tree_copy(const struct aggt_tree *tree);
void aggt_tree_free(struct aggt_tree *tree);

/**
 * aggt_tree_seat - find the vertices of the job's senders again; all are there.
 */
int aggt_tree_seat(struct aggt_tree *tree, const struct aggt_job *job);

/** aggt_tree_lean - give each aggregating switch a server for merging. */
int aggt_tree_lean(struct aggt_tree *tree, const struct aggt_job *job);

/** aggt_tree_add - Return: index of the vertex, new or old; AGGT_NONE: nomem. */
uint32_t aggt_tree_add(struct aggt_tree *tree, aggt_code code);
uint32_t aggt_tree_at(const struct aggt_tree *tree, aggt_code code);

/**
 * aggt_tree_finish - drop vertices that no sender needs, put parents before
 * children
 * @tree: every vertex leads to the receiver
 *
 * Return: 0 or -1 without memory.
 */
int aggt_tree_finish(struct aggt_tree *tree);

/**
 * aggt_tree_route - connect a vertex to another label by plain routing
 * @tree: the tree
 * @from: a vertex; the path ends where it meets a connected one
 * @to: the label
 * @order: dimensions in the order in which they are corrected; NULL: by the
 *	next hops of the topology
 *
 * Return: 0 or -1 without memory.
 */
int aggt_tree_route(struct aggt_tree *tree, uint32_t from, aggt_code to,
		    const unsigned int *order);

/**
 * aggt_tree_follow - connect an orphan along a path
 * @tree: the tree
 * @v: vertex without a parent
 * @path: labels, a hop each; it ends at the first one that leads to the
 *	receiver already, and servers behind @v that are on it change sides
 * @n: how many
 *
 * Return: 0 or -1 without memory.
 */
int aggt_tree_follow(struct aggt_tree *tree, uint32_t v, const aggt_code *path,
		     unsigned int n);

/**
 * aggt_tree_repair - lead a finished tree around the topology's failures
 * @tree: receiver and senders work
 * @err: why it failed
 *
 * Return: 0 or -1.
 */
int aggt_tree_repair(struct aggt_tree *tree, struct aggt_err *err);

struct aggt_loads;

/* --------------------------------------------------------------- builders */

/** aggt_build_unicast - @variant is "", "random" or "rotate". */
int aggt_build_unicast(struct aggt_tree *tree, const char *variant,
		       uint64_t seed);
int aggt_build_rs(struct aggt_tree *tree, const unsigned int *symbols);

/**
 * aggt_stage_dim - the dimension that a server of a stage corrects
 * @topo: the topology
 * @symbol: e_j by stage
 * @top: the highest stage that has a symbol
 * @j: the stage
 * @rel: the server's label less the receiver's
 */
unsigned int aggt_stage_dim(const struct aggt_topo *topo,
			    const unsigned int *symbol, unsigned int top,
			    unsigned int j, aggt_code rel);

/**
 * struct aggt_sequence - input and result of aggt_best_sequence()
 * @cost: a tree must cost less, infinite for any; then the cost of the cheapest
 *	found
 * @limit: of the servers examined
 * @found: there is a cheaper one
 * @sure: all sequences were examined or could be excluded
 * @symbol: e_1, e_2, ... of the cheapest found
 */
struct aggt_sequence {
	double cost;
	uint64_t limit;
	bool found;
	bool sure;
	unsigned int symbol[AGGT_MAX_DIMS];
};

/** aggt_best_sequence - of all trees of rs; failed parts are disregarded. */
int aggt_best_sequence(const struct aggt_tree *tree, const struct aggt_job *job,
		       struct aggt_sequence *best);
int aggt_build_ars(struct aggt_tree *tree);
int aggt_build_irs(struct aggt_tree *tree);

/** aggt_build_getparent - by next hops, and at switches the first sender. */
int aggt_build_getparent(struct aggt_tree *tree);

/** aggt_camdoop_trees - how many trees Camdoop has there: six or none. */
unsigned int aggt_camdoop_trees(const struct aggt_topo *topo);

/** aggt_build_camdoop - tree @number of the six that share no link. */
int aggt_build_camdoop(struct aggt_tree *tree, unsigned int number);

/** AGGT_BEYOND - a builder would look at more than its budget. */
#define AGGT_BEYOND	1

/**
 * aggt_build_steiner - minimum spanning tree of the members' distances
 * @tree: the tree
 * @budget: members and arcs of a graph that it may look at
 *
 * Return: 0, AGGT_BEYOND, or -1 without memory.
 */
int aggt_build_steiner(struct aggt_tree *tree, uint64_t budget);

/**
 * aggt_build_rounds - merge many pairs at once, for servers that wait for inputs
 * @tree: of a graph
 * @job: with the rate of links without one
 * @budget: members and arcs that it may look at
 *
 * Return: 0, AGGT_BEYOND, or -1 without memory.
 */
int aggt_build_rounds(struct aggt_tree *tree, const struct aggt_job *job,
		      uint64_t budget);

/* Paper 001: minimal incast branches, minimal clustering, both. */
int aggt_build_mib(struct aggt_tree *tree);
int aggt_build_mc(struct aggt_tree *tree);
int aggt_build_m2(struct aggt_tree *tree);

/**
 * struct aggt_grow - how to search
 * @lambda: weight of the senders' sizes beside the largest on each edge
 * @bound: on the depth, AGGT_DEPTH_NONE for none
 * @seed: of ties and orders
 * @budget: edges to look at before it ends
 * @one_exit: for the earliest end: leave no switch by two links
 * @work: edges looked at
 */
struct aggt_grow {
	double lambda;
	uint32_t bound;
	uint64_t seed;
	uint64_t budget;
	bool one_exit;
	uint64_t work;
};

int aggt_build_grow(struct aggt_tree *tree, const struct aggt_job *job,
		    struct aggt_grow *how);

/**
 * aggt_build_early - search for the tree whose transfer ends first
 * @tree: of servers with digits
 * @job: knows what time is
 * @how: bound, seed and budget; the work is filled in
 *
 * Return: 0 or -1 without memory.
 */
int aggt_build_early(struct aggt_tree *tree, const struct aggt_job *job,
		     struct aggt_grow *how);

/** aggt_optimum_work - work of aggt_build_optimum(), its limit being 1. */
double aggt_optimum_work(const struct aggt_tree *tree);

/** aggt_build_optimum - the optimum; delta must be 0 or 1, the work within 1. */
int aggt_build_optimum(struct aggt_tree *tree, const struct aggt_job *job);

/**
 * aggt_build_stripe - connect tree number @number of those that share no link
 * @tree: of servers with digits
 * @number: below the number of dimensions
 *
 * Return: 0 or -1 without memory.
 */
int aggt_build_stripe(struct aggt_tree *tree, uint32_t number);

/**
 * aggt_pack - connect trees of a graph so that they use its links evenly
 * @tree: trees of one receiver and the same senders, not yet connected; then
 *	finished
 * @n: how many
 * @job: its senders
 * @err: why it failed
 *
 * Return: 0 or -1.
 */
int aggt_pack(struct aggt_tree **tree, uint32_t n, const struct aggt_job *job,
	      struct aggt_err *err);

/**
 * aggt_optimum_time_work - work of aggt_build_optimum_time() for all trees of a
 * job
 * @topo: the network
 * @job: knows how many trees there are
 *
 * Return: the work, its limit being 1.
 */
double aggt_optimum_time_work(const struct aggt_topo *topo,
			      const struct aggt_job *job);

/**
 * aggt_build_optimum_time - the earliest end
 * @tree: the tree, its network within the limit of aggt_optimum_time_work()
 * @job: delta is 0 or 1
 *
 * Return: how many limits of a link it has tried, or -1 without memory.
 */
int aggt_build_optimum_time(struct aggt_tree *tree, const struct aggt_job *job);

/* What auto left out because it would have taken too long. */
#define AGGT_NO_STEINER	0x1
#define AGGT_NO_EXACT	0x2

/**
 * struct aggt_auto - a tree that auto is to build
 * @topo: the topology
 * @job: what is asked for
 * @receiver: of this tree
 * @bound: on the depth, at least the longest distance
 * @seed: of this tree
 * @others: for the objective time: traffic of the trees that there are already
 * @skipped: AGGT_NO_*, added by aggt_build_auto()
 */
struct aggt_auto {
	const struct aggt_topo *topo;
	const struct aggt_job *job;
	aggt_node receiver;
	uint32_t bound;
	uint64_t seed;
	const struct aggt_loads *others;
	unsigned int skipped;
};

/**
 * aggt_build_auto - the cheapest of all methods within the depth bound
 * @ask: what it is for
 * @given: a finished tree to beat or NULL; taken over
 * @err: why it failed
 *
 * Return: the tree, finished and repaired, or NULL. It is beyond the bound only
 * if failures leave no other.
 */
struct aggt_tree *aggt_build_auto(struct aggt_auto *ask,
				  struct aggt_tree *given,
				  struct aggt_err *err);

/* ---------------------------------------------------------------- metrics */

/** struct aggt_usage - servers and links in use over several trees. */
struct aggt_usage {
	struct aggt_map links;
	struct aggt_map servers;
	uint64_t aggregating;
	uint64_t added;
};

int aggt_usage_init(struct aggt_usage *usage);
void aggt_usage_free(struct aggt_usage *usage);

/**
 * aggt_measure - cost of a finished tree at the job's delta and sizes
 * @tree: the tree
 * @job: delta and sizes
 * @usage: if not NULL, the tree's use of links is added to it
 * @m: filled in
 *
 * Return: 0 or -1 without memory.
 */
int aggt_measure(const struct aggt_tree *tree, const struct aggt_job *job,
		 struct aggt_usage *usage, struct aggt_metrics *m);

/**
 * aggt_root_flow - the flow that leaves the receiver if it is an entry point.
 */
int aggt_root_flow(const struct aggt_tree *tree, const struct aggt_job *job,
		   double *flow);

/** aggt_flows - Return: an array for the vertices, NULL without memory. */
struct aggt_flow *aggt_flows(const struct aggt_tree *tree,
			     const struct aggt_job *job);

/* ------------------------------------------------------------------- time */

/**
 * struct aggt_busy - a direction of a link
 * @traffic: what it carries
 * @time: how long that takes
 */
struct aggt_busy {
	double traffic;
	double time;
};

/**
 * struct aggt_loads - traffic of links in both directions
 * @link: name of a link -> index
 * @load: its traffic, two directions each
 * @room: links that @load has memory for
 * @most: the one that takes the longest, or did before trees were dropped
 */
struct aggt_loads {
	struct aggt_map link;
	struct aggt_busy *load;
	uint32_t room;
	struct aggt_busy most;
};

int aggt_loads_init(struct aggt_loads *loads);
void aggt_loads_free(struct aggt_loads *loads);

/** aggt_loads_tree - add the traffic of a tree. */
int aggt_loads_tree(struct aggt_loads *loads, const struct aggt_tree *tree,
		    const struct aggt_job *job);

/** aggt_loads_drop - take the traffic of a tree away that was added. */
int aggt_loads_drop(struct aggt_loads *loads, const struct aggt_tree *tree,
		    const struct aggt_job *job);

/**
 * aggt_measure_time - bottleneck, fan-in, latency and time of a finished tree
 * @tree: the tree; with agents also the servers of its switches
 * @job: delta, sizes and how flows are merged
 * @others: if not NULL, the load of other trees at the same time
 * @m: these and the load of the busiest link are filled in
 *
 * Return: 0 or -1 without memory.
 */
int aggt_measure_time(const struct aggt_tree *tree, const struct aggt_job *job,
		      const struct aggt_loads *others, struct aggt_metrics *m);

/**
 * aggt_time_together - the time of several trees at once
 * @sum: the largest latency and time of all; bottleneck and time are set
 * @job: how flows are merged
 * @busiest: the link that takes the longest, with all trees
 * @aggregates: whether flows merge at all
 */
void aggt_time_together(struct aggt_metrics *sum, const struct aggt_job *job,
			struct aggt_busy busiest, bool aggregates);

/* -------------------------------------------------------------------- job */

int aggt_job_check(const struct aggt_topo *topo, const struct aggt_job *job,
		   struct aggt_err *err);

/** aggt_job_copy - a copy that owns its arrays, for aggt_job_free(). */
int aggt_job_copy(struct aggt_job *to, const struct aggt_job *from);
void aggt_job_free(struct aggt_job *job);
int aggt_job_add_sender(struct aggt_job *job, aggt_node server);
void aggt_job_drop_sender(struct aggt_job *job, size_t i);

/** aggt_job_sender - index of a sender, n_senders if it is not one. */
size_t aggt_job_sender(const struct aggt_job *job, aggt_node server);

/** aggt_vertex_size - the merged size of the senders at a vertex. */
double aggt_vertex_size(const struct aggt_tree *tree,
			const struct aggt_job *job, uint32_t v, double delta);

/** aggt_job_size - of a sender's flow, its tasks merged at @delta. */
double aggt_job_size(const struct aggt_job *job, uint32_t sender, double delta);

/* ------------------------------------------------------------------- plan */

struct aggt_plan {
	const struct aggt_topo *topo;
	struct aggt_job job;
	size_t n_trees;
	struct aggt_tree **tree;
	struct aggt_metrics *tree_metrics;
	struct aggt_metrics metrics;
	double predicted;
	struct aggt_stripes stripes;	/* of none if there is no such method */
	unsigned int skipped;	/* AGGT_NO_* */
	bool aggregates;
	struct aggt_entry *entry;
	size_t n_entries;
	struct aggt_switch_entry *sw_entry;
	size_t n_sw_entries;
	aggt_node *children;
};

struct aggt_plan *aggt_plan_new(const struct aggt_topo *topo,
				const struct aggt_job *job,
				struct aggt_err *err);

/** aggt_plan_complete - repair and measure the trees, derive the entries. */
int aggt_plan_complete(struct aggt_plan *plan, struct aggt_err *err);

/** aggt_method_run - fill plan->tree by the job's method. */
int aggt_method_run(struct aggt_plan *plan, const struct aggt_job *job,
		    struct aggt_err *err);

/** aggt_job_striped - whether the trees of a job share its flows. */
bool aggt_job_striped(const struct aggt_job *job);

/** aggt_job_receiver - the receiver of tree number @i. */
static inline aggt_node aggt_job_receiver(const struct aggt_job *job, size_t i)
{
	return job->receivers[aggt_job_striped(job) ? 0 : i];
}

/** aggt_stripes_check - whether a job with stripes has trees. */
int aggt_stripes_check(const struct aggt_topo *topo, const struct aggt_job *job,
		       struct aggt_err *err);

/** aggt_stripes_measure - fill in plan->stripes. Return: 0 or -1. */
int aggt_stripes_measure(struct aggt_plan *plan);

/** aggt_build_srs - fill plan->tree by receiver groups and entry points. */
int aggt_build_srs(struct aggt_plan *plan, const struct aggt_job *job,
		   bool safe, struct aggt_err *err);

/** aggt_plan_derive - fill the entries from the trees. */
int aggt_plan_derive(struct aggt_plan *plan);

/** aggt_plan_check_links - whether the kernel takes all entries' links. */
int aggt_plan_check_links(const struct aggt_plan *plan, struct aggt_err *err);

/**
 * aggt_lean_entries - the entries of one tree of switches
 * @plan: the plan
 * @number: of the tree
 * @next: where they go, moved on
 * @pool: where their lists of children go
 *
 * Return: the end of those lists, or NULL without memory.
 */
aggt_node *aggt_lean_entries(const struct aggt_plan *plan, uint32_t number,
			     struct aggt_entry **next, aggt_node *pool);

#endif /* AGGT_INTERNAL_H */
