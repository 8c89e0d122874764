/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libaggtree: aggregation trees of incast and shuffle transfers. Topologies,
 * tree builders, costs and the per-node entries of a plan. No I/O.
 */
#ifndef AGGTREE_H
#define AGGTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** typedef aggt_node - number of a server, sum digit_i * stride_i. */
typedef uint32_t aggt_node;

/** AGGT_NONE - no server, no switch, no index. */
#define AGGT_NONE UINT32_MAX

/** AGGT_MAX_DIMS - dimensions (levels) that a topology can have. */
#define AGGT_MAX_DIMS 31

/**
 * struct aggt_err - why a call failed
 * @text: one sentence that names the culprit, without a newline
 *
 * The caller owns it; every function that can fail takes one and accepts NULL.
 */
struct aggt_err {
	char text[256];
};

/* ------------------------------------------------------------- topology */

/** struct aggt_topo - a topology; the library allocates it. */
struct aggt_topo;

/**
 * aggt_topo_parse - make a topology from its name
 * @text: `bcube:N,K`; `ghc:N0,N1,...`, radix of dimension 0 first;
 *	`fbfly:K,N,C`, a K-ary N-flat with C servers a switch;
 *	`hyperx:S0,S1,...:T` with T servers a switch; `camcube:X,Y,Z`;
 *	`dcell:N,K`; `leafspine:L,S,H`, H servers at each of L leaves, S
 *	spines; `fattree:K`; `racks:R,S`, R racks of S servers
 * @err: why it failed
 *
 * Return: the topology, to be freed with aggt_topo_free(), or NULL.
 */
struct aggt_topo *aggt_topo_parse(const char *text, struct aggt_err *err);

/** aggt_topo_free - free a topology, which may be NULL; its plans go first. */
void aggt_topo_free(struct aggt_topo *topo);

/** aggt_topo_name - the canonical form of the text it was parsed from. */
const char *aggt_topo_name(const struct aggt_topo *topo);

/** aggt_topo_servers - how many servers there are, numbered from 0. */
uint32_t aggt_topo_servers(const struct aggt_topo *topo);

/** aggt_topo_switches - how many switches there are, numbered from 0. */
uint32_t aggt_topo_switches(const struct aggt_topo *topo);

/**
 * aggt_topo_agents - do switches form the hypercube (fbfly, hyperx)?
 *
 * A server's agent is then its switch, server / C, and an aggregating switch
 * uses one of its servers for merging. Trees connect switches:
 * aggt_tree_server() gives the number of a switch, aggt_tree_find() takes a
 * server and finds its agent. Only servers have entries: switches forward
 * packets by themselves.
 */
bool aggt_topo_agents(const struct aggt_topo *topo);

/**
 * aggt_topo_digits - do labels of servers have digits?
 *
 * The calls on dimensions, digits and levels of switches are for those
 * topologies only; the others are graphs of servers and switches.
 */
bool aggt_topo_digits(const struct aggt_topo *topo);

/** aggt_topo_ports - links of a server; in a hypercube one a level. */
unsigned int aggt_topo_ports(const struct aggt_topo *topo, aggt_node server);

/**
 * aggt_topo_neighbours - the points one hop away
 * @topo: the topology
 * @point: a server or, with agents, a switch
 * @n: how many
 *
 * A hop crosses switches only, so in a fabric of switches every server is a
 * neighbour of every other.
 *
 * Return: the points, to be freed, or NULL without memory.
 */
aggt_node *aggt_topo_neighbours(const struct aggt_topo *topo, uint32_t point,
				size_t *n);

/** aggt_topo_hop_links - links of a hop between two points, 0: not a hop. */
uint32_t aggt_topo_hop_links(const struct aggt_topo *topo, uint32_t a,
			     uint32_t b);

/** aggt_topo_hop_switch - switch @i that a hop crosses, else AGGT_NONE. */
uint32_t aggt_topo_hop_switch(const struct aggt_topo *topo, uint32_t a,
			      uint32_t b, uint32_t i);

/**
 * struct aggt_far - the other end of a link
 * @is_switch: it is a switch, else a server
 * @number: of the switch or server
 * @port: number of the link among its links
 * @rate: of the link in the description, in bit/s; 0 if it has none
 */
struct aggt_far {
	bool is_switch;
	uint32_t number;
	unsigned int port;
	uint64_t rate;
};

/** aggt_topo_switch_ports - links of a switch, to servers and other switches. */
unsigned int aggt_topo_switch_ports(const struct aggt_topo *topo, uint32_t sw);

/** aggt_topo_server_far - where link @port of a server leads, failed or not. */
struct aggt_far aggt_topo_server_far(const struct aggt_topo *topo,
				     aggt_node server, unsigned int port);

/** aggt_topo_switch_far - the same for a switch. */
struct aggt_far aggt_topo_switch_far(const struct aggt_topo *topo, uint32_t sw,
				     unsigned int port);

/** aggt_topo_core - have switches links to other switches? */
bool aggt_topo_core(const struct aggt_topo *topo);

/**
 * aggt_topo_forward - the port by which a switch forwards a frame
 * @topo: the topology
 * @sw: the switch
 * @server: where the frame goes
 * @port: of the server, by which the frame arrives
 *
 * All switches on the path are nearer to that port than the one before, so the
 * frame cannot go round.
 *
 * Return: the port of the switch; AGGT_NONE if there is no path that crosses
 * switches only.
 */
uint32_t aggt_topo_forward(const struct aggt_topo *topo, uint32_t sw,
			   aggt_node server, unsigned int port);

/** aggt_topo_addressed - has the description any address? */
bool aggt_topo_addressed(const struct aggt_topo *topo);

/** aggt_topo_rate - the fastest rate of a link in the description, or 0. */
uint64_t aggt_topo_rate(const struct aggt_topo *topo);

/**
 * aggt_topo_server_name - a server's name in the description, else NULL (vN).
 */
const char *aggt_topo_server_name(const struct aggt_topo *topo,
				  aggt_node server);

/** aggt_topo_switch_name - the same for a switch, else NULL (wN). */
const char *aggt_topo_switch_name(const struct aggt_topo *topo, uint32_t sw);

/** aggt_topo_dims - dimensions, which are levels of switches (k+1 of BCube). */
unsigned int aggt_topo_dims(const struct aggt_topo *topo);

/** aggt_topo_radix - values of the digit in a dimension. */
unsigned int aggt_topo_radix(const struct aggt_topo *topo, unsigned int dim);

/** aggt_topo_digit - the digit of a server's label in a dimension. */
unsigned int aggt_topo_digit(const struct aggt_topo *topo, aggt_node server,
			     unsigned int dim);

/** aggt_topo_with_digit - the server with the same label but @digit in @dim. */
aggt_node aggt_topo_with_digit(const struct aggt_topo *topo, aggt_node server,
			       unsigned int dim, unsigned int digit);

/** aggt_topo_distance - hops: with digits, those in which two labels differ. */
unsigned int aggt_topo_distance(const struct aggt_topo *topo, aggt_node a,
				aggt_node b);

/**
 * aggt_topo_link_dim - the port of @a that a hop leaves by: its dimension or,
 *	in a graph, number; AGGT_NONE if it is not a hop
 */
uint32_t aggt_topo_link_dim(const struct aggt_topo *topo, aggt_node a,
			    aggt_node b);

/** aggt_topo_switch - number of the switch of level @dim that @server is at. */
uint32_t aggt_topo_switch(const struct aggt_topo *topo, aggt_node server,
			  unsigned int dim);

/** aggt_topo_switch_level - the dimension whose digit a switch connects. */
unsigned int aggt_topo_switch_level(const struct aggt_topo *topo, uint32_t sw);

/** aggt_topo_switch_server - the server on port @digit of switch @sw. */
aggt_node aggt_topo_switch_server(const struct aggt_topo *topo, uint32_t sw,
				  unsigned int digit);

/**
 * aggt_topo_next_hop - plain IP routing of the testbed
 * @topo: the topology
 * @from: where the packet is
 * @to: where it goes
 *
 * Return: the neighbour that corrects the highest differing digit or, in a
 * graph, that comes next on the shortest path; @to if @from is @to.
 */
aggt_node aggt_topo_next_hop(const struct aggt_topo *topo, aggt_node from,
			     aggt_node to);

/**
 * aggt_topo_fail - note that a part has failed or is missing
 * @topo: the topology
 * @text: `v3`, `w6`, or `v14-w6` for the link between them; `w1-w2` where
 *	switches have links
 * @err: why it is refused
 *
 * Plans that are built or updated later go around it.
 *
 * Return: 0 or -1.
 */
int aggt_topo_fail(struct aggt_topo *topo, const char *text,
		   struct aggt_err *err);

/** aggt_topo_failed - is this part marked as failed, under any of its names? */
bool aggt_topo_failed(const struct aggt_topo *topo, const char *text);

/** aggt_topo_server_ok - whether a server has not failed. */
bool aggt_topo_server_ok(const struct aggt_topo *topo, aggt_node server);

/** aggt_topo_link_ok - whether a server's link of level @dim and its switch work. */
bool aggt_topo_link_ok(const struct aggt_topo *topo, aggt_node server,
		       unsigned int dim);

/** AGGT_PART - room for the name of a part, which may be two names. */
#define AGGT_PART 100

/**
 * aggt_part_name - the canonical name of a part that may have several
 * @topo: the topology
 * @text: a name, as in aggt_topo_fail()
 * @name: the name, with room for AGGT_PART: `v3` of `3`, `v1-w2` of `w2-v1`;
 *	for the only link of a server behind an agent the server's name
 * @err: why there is no such part
 *
 * Return: 0 or -1.
 */
int aggt_part_name(const struct aggt_topo *topo, const char *text, char *name,
		   struct aggt_err *err);

/**
 * aggt_port_name - the name of a server's port, as a line "address" has it
 * @topo: the topology
 * @server: the server
 * @dim: level of the port
 * @name: the name, with room for AGGT_PART: `v1-w2`
 */
void aggt_port_name(const struct aggt_topo *topo, aggt_node server,
		    unsigned int dim, char *name);

/**
 * aggt_topo_describe - make a topology from a description
 * @text: lines `topology T` (first), or `topology graph` and lines `host
 *	NAME` or `server NAME`, `switch NAME`, `rack NAME HOST...` (a switch and its
 *	links to these) and `link A B [RATE]`; then `failed PART`, `absent PART` (parts as
 *	in aggt_topo_fail()), `address vN A.B.C.D` for the identity of a
 *	server, `address vN-wN A.B.C.D [MAC]` for its port at a switch, in a
 *	graph `address SWITCH A.B.C.D` for a switch that routes; `#` begins a
 *	comment
 * @err: why it is refused, with the number of the line
 *
 * Return: the topology or NULL.
 */
struct aggt_topo *aggt_topo_describe(const char *text, struct aggt_err *err);

/**
 * aggt_topo_address - identity of a server as described, NULL if none is known; in a
 *	graph that of a server with one NIC is the NIC's address, if it has no other
 */
const char *aggt_topo_address(const struct aggt_topo *topo, aggt_node server);

/** aggt_topo_switch_address - of a switch that routes, NULL if none is known. */
const char *aggt_topo_switch_address(const struct aggt_topo *topo, uint32_t sw);

/** aggt_topo_port_address - the same for a server's port, by its level. */
const char *aggt_topo_port_address(const struct aggt_topo *topo,
				   aggt_node server, unsigned int dim);

/** aggt_topo_port_lladdr - its MAC address, NULL if none is described. */
const char *aggt_topo_port_lladdr(const struct aggt_topo *topo,
				  aggt_node server, unsigned int dim);

/* ----------------------------------------------------------------- lists */

/**
 * struct aggt_list - servers in the order of the list
 * @node: server numbers, all different
 * @n: how many
 * @tasks: of each server, NULL if the list has none
 */
struct aggt_list {
	aggt_node *node;
	size_t n;
	uint32_t *tasks;
};

/** aggt_server_parse - `v3` or `3`. Return: the server or AGGT_NONE. */
aggt_node aggt_server_parse(const struct aggt_topo *topo, const char *text,
			    struct aggt_err *err);

/**
 * aggt_list_parse - servers from `v2,v5*3,v9`, `random:M` or `managed:M`
 * @topo: the topology
 * @text: the list. `v5*3` are three tasks on v5; `random:M` draws from all
 *	servers, `managed:M` from the smallest sub-network of v0 that has M in
 *	its lowest dimensions (paper 004, VI-E). Items end at commas, white space or newlines, `#` begins
 *	a comment, so the content of an @FILE can be passed as it is
 * @seed: of the draws
 * @list: filled in; empty it with aggt_list_clear()
 * @err: why it failed
 *
 * Return: 0 or -1.
 */
int aggt_list_parse(const struct aggt_topo *topo, const char *text,
		    uint64_t seed, struct aggt_list *list,
		    struct aggt_err *err);

/** aggt_list_clear - free the memory of a list. */
void aggt_list_clear(struct aggt_list *list);

/* ----------------------------------------------------------------- trees */

/**
 * struct aggt_metrics - what a tree, or all trees of a plan, cost
 * @cost: traffic leaving all servers and switches, a sender's flow is 1
 * @existing: the same for unicast without aggregation
 * @saving: 1 - @cost / @existing
 * @links: server-switch links in use (in several trees: counted once)
 * @aggregating: servers with two inputs or more, receivers not counted
 * @added: servers that are neither sender nor receiver
 * @depth: most hops (server to server) of a sender's flow
 * @leaning: with agents: traffic between aggregating switches and the servers
 *	that they lean on, which @cost leaves out as the papers do
 * @bottleneck: how long the busiest direction of a link is busy, with all trees
 * @busiest: the traffic there
 * @fan_in: most flows that a server gets by one link to merge them
 * @latency: of a packet on the longest path, all links idle
 * @time: until the receivers have all, see aggt_job's @pipelined
 *
 * Traffic is in units of the sizes: a sender's flow is 1 if it has no size.
 * Times are in the time that a link of the job's rate takes for traffic of 1;
 * links have the same rate in both directions.
 */
struct aggt_metrics {
	double cost;
	double existing;
	double saving;
	uint64_t links;
	uint64_t aggregating;
	uint64_t added;
	uint32_t depth;
	double leaning;
	double bottleneck;
	double busiest;
	uint32_t fan_in;
	double latency;
	double time;
};

/**
 * struct aggt_tree - the aggregation tree of one incast transfer
 *
 * Vertices have indices; 0 is the receiver and a parent's index is less than
 * its children's.
 */
struct aggt_tree;

/** aggt_tree_size - how many vertices a tree has. */
size_t aggt_tree_size(const struct aggt_tree *tree);

/** aggt_tree_server - the server, or with agents the switch, of a vertex. */
aggt_node aggt_tree_server(const struct aggt_tree *tree, size_t i);

/**
 * aggt_tree_leans - the server that an aggregating switch uses for merging
 * @tree: of a topology with agents
 * @i: the vertex
 *
 * Return: the receiver at its agent; the server that it used before an update;
 * its first sender; else the first server of the switch that works. AGGT_NONE
 * if nothing merges at the switch.
 */
aggt_node aggt_tree_leans(const struct aggt_tree *tree, size_t i);

/** aggt_tree_parent - index of the next server, AGGT_NONE for the receiver. */
uint32_t aggt_tree_parent(const struct aggt_tree *tree, size_t i);

/** aggt_tree_sends - whether a vertex is a sender or, with agents, has one. */
bool aggt_tree_sends(const struct aggt_tree *tree, size_t i);

/** aggt_tree_receiver - the server that gets the result. */
aggt_node aggt_tree_receiver(const struct aggt_tree *tree);

/** aggt_tree_entry - SRS's entry point, AGGT_NONE without one. */
aggt_node aggt_tree_entry(const struct aggt_tree *tree);

/** aggt_tree_find - index of a server, AGGT_NONE if it is not involved. */
uint32_t aggt_tree_find(const struct aggt_tree *tree, aggt_node server);

/**
 * aggt_tree_sequence - the routing symbols of a stage-wise tree
 * @tree: the tree
 * @symbols: room for AGGT_MAX_DIMS, filled with e_1, e_2, ...
 *
 * Return: how many there are; 0 for trees that were built otherwise.
 */
unsigned int aggt_tree_sequence(const struct aggt_tree *tree,
				unsigned int *symbols);

/* ------------------------------------------------------------------ plans */

/** AGGT_DEPTH_NONE - no bound on the depth. */
#define AGGT_DEPTH_NONE UINT32_MAX

/** enum aggt_objective - @cost or @time of struct aggt_metrics. */
enum aggt_objective {
	AGGT_TRAFFIC,
	AGGT_TIME,
};

/**
 * struct aggt_job - the input of a plan
 * @senders: all different
 * @n_senders: at least one
 * @sizes: of the senders' flows, or NULL if all are 1
 * @tasks: how many tasks each sender runs, merged before they leave it (paper
 *	004, V-A), or NULL if one each
 * @receivers: all different; a receiver may be a sender too
 * @n_receivers: at least one, each gets a tree
 * @method: existing, unicast, unicast:random, unicast:rotate, rs:E1E2...,
 *	rs:best, ars, irs, steiner, mib, mc, m2, exact, auto, srs, srs:safe,
 *	getparent, getparent:N, stripes:N
 * @delta: aggregation ratio, 0 (keys of a flow are in the largest) .. 1 (none)
 * @max_depth: most hops of a flow. 0: for auto the longest shortest path and 2
 *	more, for the other methods no bound
 * @seed: of random methods
 * @objective: what auto and exact minimise
 * @pipelined: servers merge and send while their inputs arrive (dense vectors,
 *	sorted records). Then time is @bottleneck and @latency together. Else
 *	they send once they have all (keyed records), and time is that of the
 *	longest chain of flows that wait for each other; servers with one input
 *	never wait. Flows that do not merge (existing) never wait either
 * @packet: size of a packet, in the unit of the sizes
 * @rate: in bit/s, of links without a rate in the topology; 0: that of
 *	aggt_topo_rate()
 * @copies: in bcube and ghc, a switch that a tree leaves by several links sends
 *	each packet of the tree by each of them, as one with Bloom tables does.
 *	Times include the copies. By more than four links packets may be lost:
 *	auto avoids such trees, and no plan has them
 */
struct aggt_job {
	const aggt_node *senders;
	size_t n_senders;
	const double *sizes;
	const uint32_t *tasks;
	const aggt_node *receivers;
	size_t n_receivers;
	const char *method;
	double delta;
	uint32_t max_depth;
	uint64_t seed;
	enum aggt_objective objective;
	bool pipelined;
	double packet;
	uint64_t rate;
	bool copies;
};

/**
 * aggt_sizes_parse - flow sizes from lines `vN SIZE`
 * @topo: the topology
 * @text: the lines; `#` begins a comment line
 * @senders: the servers that may have a size
 * @sizes: filled in, in the senders' order, 1 where none is given
 * @err: why it failed
 *
 * Return: 0 or -1.
 */
int aggt_sizes_parse(const struct aggt_topo *topo, const char *text,
		     const struct aggt_list *senders, double *sizes,
		     struct aggt_err *err);

/** AGGT_STRIPES - most trees of method stripes:N. */
#define AGGT_STRIPES 64

/**
 * aggt_job_trees - how many trees a job has
 * @job: the job
 *
 * Return: one for each receiver; with method stripes:N that is N, all to the
 * only receiver; 0 if N is not a number from 1 to AGGT_STRIPES.
 */
uint32_t aggt_job_trees(const struct aggt_job *job);

/** struct aggt_plan - the trees of a job; the library allocates it. */
struct aggt_plan;

/** aggt_methods - names for @method, NULL-terminated, for help and completion. */
const char *const *aggt_methods(void);

/** struct aggt_lean - the server that a switch uses for merging. */
struct aggt_lean {
	uint32_t sw;
	aggt_node server;
};

/** struct aggt_edge - a hop of a tree that was built elsewhere. */
struct aggt_edge {
	aggt_node child;
	aggt_node parent;
};

/**
 * struct aggt_shape - a tree that was built elsewhere
 * @edge: hops, in any order
 * @n_edges: how many
 * @symbols: its routing symbols, e_1 first, or NULL
 * @n_symbols: how many: none or one a dimension
 * @entry: SRS's entry point or AGGT_NONE
 * @lean: with agents: servers that switches leant on and, if they can, will
 * @n_leans: how many
 */
struct aggt_shape {
	const struct aggt_edge *edge;
	size_t n_edges;
	const unsigned int *symbols;
	unsigned int n_symbols;
	aggt_node entry;
	const struct aggt_lean *lean;
	size_t n_leans;
};

/**
 * aggt_plan_restore - a plan from trees that were stored
 * @topo: the topology, must outlive the plan
 * @job: the method names how they were built, `existing` that nothing merges
 * @shape: of each tree, aggt_job_trees() of them
 * @err: which hop or server is wrong
 *
 * Return: the plan or NULL.
 */
struct aggt_plan *aggt_plan_restore(const struct aggt_topo *topo,
				    const struct aggt_job *job,
				    const struct aggt_shape *shape,
				    struct aggt_err *err);

/**
 * aggt_plan_build - build the trees of a job
 * @topo: the topology, must outlive the plan
 * @job: copied where needed
 * @err: why it failed
 *
 * Return: the plan, to be freed with aggt_plan_free(), or NULL.
 */
struct aggt_plan *aggt_plan_build(const struct aggt_topo *topo,
				  const struct aggt_job *job,
				  struct aggt_err *err);

/** aggt_plan_free - free a plan, which may be NULL. */
void aggt_plan_free(struct aggt_plan *plan);

/** aggt_plan_job - the job of a plan, with the changes by updates. */
const struct aggt_job *aggt_plan_job(const struct aggt_plan *plan);

/** aggt_plan_aggregates - false for `existing`: servers only route. */
bool aggt_plan_aggregates(const struct aggt_plan *plan);

/** aggt_plan_trees - how many trees a plan has. */
size_t aggt_plan_trees(const struct aggt_plan *plan);

/** aggt_plan_tree - tree number @i, in the order of receivers or stripes. */
const struct aggt_tree *aggt_plan_tree(const struct aggt_plan *plan, size_t i);

/** aggt_plan_tree_metrics - of one tree alone. */
const struct aggt_metrics *aggt_plan_tree_metrics(const struct aggt_plan *plan,
						  size_t i);

/** aggt_plan_metrics - of all trees together. */
const struct aggt_metrics *aggt_plan_metrics(const struct aggt_plan *plan);

/**
 * struct aggt_flow - the flows of a vertex
 * @in: sum of the flows that it merges, including its own senders'
 * @out: the flow that leaves it
 * @inputs: how many it merges
 */
struct aggt_flow {
	double in;
	double out;
	uint32_t inputs;
};

/**
 * aggt_plan_flows - the flows of tree number @i, in units of the sizes
 *
 * Return: an array for the vertices, to be freed; NULL without memory.
 */
struct aggt_flow *aggt_plan_flows(const struct aggt_plan *plan, size_t i);

/**
 * aggt_plan_predicted - the cost of an srs plan by paper 000's formula (1)
 * @plan: the plan
 *
 * Return: the cost by the formula, 0 for other methods. The trees cost less
 * where a receiver is on the path of another's flows.
 */
double aggt_plan_predicted(const struct aggt_plan *plan);

/**
 * struct aggt_stripes - how well trees that share a job use the links
 * @n: trees, each with a share of 1 / @n of every flow
 * @stress: most trees that a link has in one direction, counted once for each
 *	hop that crosses it
 * @bound: the rate of a flow of each sender that no set of trees exceeds: the
 *	least, over the senders, of the max-flow from it to the receiver. 1 is
 *	the rate of the job. With digits: the least number of links that work at
 *	a sender or the receiver, each with a rate of 1
 * @share: the rate of these trees at delta 0, by @bound
 */
struct aggt_stripes {
	uint32_t n;
	uint32_t stress;
	double bound;
	double share;
};

/** aggt_plan_stripes - of a plan by method stripes:N, else NULL. */
const struct aggt_stripes *aggt_plan_stripes(const struct aggt_plan *plan);

/** aggt_plan_skipped - methods that would have taken auto too long, or NULL. */
const char *aggt_plan_skipped(const struct aggt_plan *plan);

/**
 * aggt_shuffle_heads - receivers grouped by Algorithm 1 of paper 000
 * @topo: the topology
 * @job: its receivers
 * @head: filled with the head of each receiver's group
 *
 * Return: 0 or -1 without memory.
 */
int aggt_shuffle_heads(const struct aggt_topo *topo, const struct aggt_job *job,
		       aggt_node *head);

/**
 * aggt_shuffle_cost - formula (1): all receivers served through one of them
 * @topo: the topology
 * @job: the job
 * @entry: index of the entry point among the receivers
 *
 * Return: the cost, -1 without memory.
 */
double aggt_shuffle_cost(const struct aggt_topo *topo,
			 const struct aggt_job *job, size_t entry);

/*
 * Flags of an entry; one without AGGT_END is transit. AGGT_LEANS: the server
 * merges for its switch.
 */
#define AGGT_RECEIVER	0x1
#define AGGT_SENDER	0x2
#define AGGT_END	0x4
#define AGGT_LEANS	0x8

/**
 * struct aggt_entry - what one server has to know about one tree
 * @server: whose entry it is
 * @tree: index of the tree in the plan
 * @receiver: of that tree
 * @flags: AGGT_RECEIVER, AGGT_SENDER, AGGT_END, AGGT_LEANS
 * @contributors: flows merged here, the own one included (paper's id-value)
 * @sources: sending servers in the subtree, itself included
 * @tasks: local tasks that send, 0 if it is no sender
 * @children: the nearest upstream ends, ascending; NULL if transit
 * @n_children: how many
 * @parent: next server on the tree, AGGT_NONE at the receiver; with agents
 *	the next end
 * @parent_end: next end on the tree, AGGT_NONE at the receiver
 * @level: dimension of the link to the parent or, in a graph, number of the
 *	port, AGGT_NONE at the receiver; with agents 0
 * @parent_level: likewise of the parent's link on that hop
 * @sw: switch between this server and the parent, the first one if there are
 *	several; AGGT_NONE without one and at the receiver; with agents the
 *	server's own, the receiver's too
 * @links: links from here to @parent_end, two a hop in bcube and ghc; with
 *	agents two and one a hop
 */
struct aggt_entry {
	aggt_node server;
	uint32_t tree;
	aggt_node receiver;
	unsigned int flags;
	uint32_t contributors;
	uint32_t sources;
	uint32_t tasks;
	const aggt_node *children;
	size_t n_children;
	aggt_node parent;
	aggt_node parent_end;
	uint32_t level;
	uint32_t parent_level;
	uint32_t sw;
	uint32_t links;
};

/**
 * struct aggt_switch_entry - a tree that leaves a switch towards a server
 * @sw: the switch
 * @tree: index of the tree in the plan
 * @receiver: of that tree
 * @server: where it leaves to
 * @port: of the switch, the server's digit in the switch's level
 */
struct aggt_switch_entry {
	uint32_t sw;
	uint32_t tree;
	aggt_node receiver;
	aggt_node server;
	unsigned int port;
};

/** aggt_entry_role - "receiver", "sender", "end" or "transit". */
const char *aggt_entry_role(const struct aggt_entry *entry);

/**
 * aggt_plan_entries - all servers' entries, ordered by server, then tree
 * @plan: the plan, which owns them
 * @n: how many
 */
const struct aggt_entry *aggt_plan_entries(const struct aggt_plan *plan,
					   size_t *n);

/** aggt_plan_switch_entries - ordered by switch, tree, server. */
const struct aggt_switch_entry *
aggt_plan_switch_entries(const struct aggt_plan *plan, size_t *n);

/* ---------------------------------------------------------------- filters */

/**
 * enum aggt_filter_rule - which of its links a node tests against a filter
 * @AGGT_FILTER_GENERAL: all but those of the port that the packet came in by
 * @AGGT_FILTER_PAPER: of these, those that lead nearer to the receiver (paper
 *	000, 4.3)
 */
enum aggt_filter_rule {
	AGGT_FILTER_GENERAL,
	AGGT_FILTER_PAPER,
};

/**
 * struct aggt_filter_conf - how filters are made
 * @rule: which links nodes test
 * @switches: switches test links, too: a hop is two links; else one, past the
 *	switch
 * @bits: of a filter, 0: as few as @rate allows
 * @least: minimum number of bits
 * @rate: maximum of the expected false positives of a packet
 * @salts: how many are tried for the filter of a path, 1 to 256
 */
struct aggt_filter_conf {
	enum aggt_filter_rule rule;
	bool switches;
	uint32_t bits;
	uint32_t least;
	double rate;
	unsigned int salts;
};

/**
 * struct aggt_filter_size - the size of a plan's filters
 * @links: of the longest path, which a filter must contain
 * @wrong: most links that are tested beside a path
 * @paper_bits: by the paper's formula (3)
 * @general_bits: by the same bound with @links and @wrong in it
 * @bits: the chosen size
 * @hashes: functions of a filter with @links links
 * @bytes: of the filter in a packet
 * @expected: false positives of a packet on the longest path
 */
struct aggt_filter_size {
	uint32_t links;
	uint32_t wrong;
	uint32_t paper_bits;
	uint32_t general_bits;
	uint32_t bits;
	uint8_t hashes;
	size_t bytes;
	double expected;
};

/**
 * struct aggt_filter - the filter of an end's packets
 * @size: how many of @bytes are used
 * @bytes: struct aggnet_filter with its bits and digits, in wire format
 * @false_links: false positives: links beside the path that match
 * @lost: there are so many that packets do not arrive
 */
struct aggt_filter {
	size_t size;
	uint8_t bytes[128] __attribute__((aligned(4)));
	uint32_t false_links;
	bool lost;
};

/**
 * aggt_filter_paper_bits - formula (3) of paper 000
 * @k: of BCube(n,k)
 * @rate: the paper's 1
 *
 * Return: the bits with which a packet meets @rate false positives; never less
 * than a filter has.
 */
uint32_t aggt_filter_paper_bits(unsigned int k, double rate);

/* Values of a digit that the name of a link has room for. */
#define AGGT_LINK_DIGITS	256

/** aggt_link_name - of a directed link, less than 2^52. */
uint64_t aggt_link_name(bool from_switch, uint32_t from, bool to_switch,
			uint32_t to);

/**
 * aggt_filter_measure - compute the size of a plan's filters
 * @plan: the plan
 * @conf: how filters are made
 * @size: filled in
 * @err: why there are none
 *
 * Return: 0 or -1.
 */
int aggt_filter_measure(const struct aggt_plan *plan,
			const struct aggt_filter_conf *conf,
			struct aggt_filter_size *size, struct aggt_err *err);

/**
 * aggt_filter_make - make the filter of an end's packets
 * @plan: the plan
 * @conf: how filters are made
 * @size: by aggt_filter_measure()
 * @entry: of the end, which has a parent
 * @incast_id: of the tree
 * @filter: filled in
 * @err: why there is none
 *
 * It uses the salt with the fewest false positives on the path.
 *
 * Return: 0 or -1.
 */
int aggt_filter_make(const struct aggt_plan *plan,
		     const struct aggt_filter_conf *conf,
		     const struct aggt_filter_size *size,
		     const struct aggt_entry *entry, uint64_t incast_id,
		     struct aggt_filter *filter, struct aggt_err *err);

/* ---------------------------------------------------------------- updates */

/**
 * enum aggt_change_kind - what happens to a plan
 * @AGGT_JOIN: a server becomes a sender
 * @AGGT_LEAVE: a sender leaves
 * @AGGT_REPLACE: a receiver is replaced
 * @AGGT_FAILED: a server, switch or link has failed
 */
enum aggt_change_kind {
	AGGT_JOIN,
	AGGT_LEAVE,
	AGGT_REPLACE,
	AGGT_FAILED,
};

/**
 * struct aggt_change - one change of a plan
 * @kind: which kind
 * @server: that joins, leaves, or is replaced as a receiver
 * @to: the receiver that replaces it, AGGT_NONE to let the library choose
 * @part: that failed, by its name of aggt_part_name()
 */
struct aggt_change {
	enum aggt_change_kind kind;
	aggt_node server;
	aggt_node to;
	char part[AGGT_PART];
};

/**
 * aggt_change_parse - `join:v7`, `leave:v5`, `receiver:v0=v3`, `receiver:v0`,
 *	`failed:v3`, `failed:w6`, `failed:v14-w6`
 */
int aggt_change_parse(const struct aggt_topo *topo, const char *text,
		      struct aggt_change *change, struct aggt_err *err);

/**
 * aggt_plan_update - change a plan
 * @topo: the plan's topology; failures are noted there
 * @plan: is not changed
 * @change: in the order in which they happen
 * @n: how many
 * @err: why it failed
 *
 * Paths that need not change stay (paper 004, IV-C to IV-E): a new sender takes
 * the path that the tree's symbols give; paths avoid failed parts, towards the
 * same parent or, if that has failed, the next aggregating server; failed
 * senders leave, a failed receiver must be replaced. A part that has failed
 * before changes nothing.
 *
 * Return: the new plan or NULL.
 */
struct aggt_plan *aggt_plan_update(struct aggt_topo *topo,
				   const struct aggt_plan *plan,
				   const struct aggt_change *change, size_t n,
				   struct aggt_err *err);

/**
 * struct aggt_diff - an entry to add, change or delete
 * @from: the old entry, NULL if it is to be added
 * @to: the new entry, NULL if it is to be deleted
 */
struct aggt_diff {
	const struct aggt_entry *from;
	const struct aggt_entry *to;
};

/** struct aggt_switch_diff - the same for switches; nothing changes there. */
struct aggt_switch_diff {
	const struct aggt_switch_entry *from;
	const struct aggt_switch_entry *to;
};

/**
 * aggt_plan_diff - entries in which two plans differ, ordered by server
 * @from: the plan in force
 * @to: the plan that is to be, its trees in the same order
 * @diff: the differences, to be freed by the caller; they point into the plans
 * @n: how many
 *
 * Return: 0 or -1 without memory.
 */
int aggt_plan_diff(const struct aggt_plan *from, const struct aggt_plan *to,
		   struct aggt_diff **diff, size_t *n);

/** aggt_plan_switch_diff - switch entries in which two plans differ. */
int aggt_plan_switch_diff(const struct aggt_plan *from,
			  const struct aggt_plan *to,
			  struct aggt_switch_diff **diff, size_t *n);

/** aggt_plan_reuse - share of @to's hops that @from has too. */
double aggt_plan_reuse(const struct aggt_plan *from,
		       const struct aggt_plan *to);

/** aggt_plan_substitute - idle server that should replace receiver @i. */
aggt_node aggt_plan_substitute(const struct aggt_plan *plan, size_t i);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* AGGTREE_H */
