// SPDX-License-Identifier: GPL-2.0
/*
 * The links of servers and switches from both of their ends, with the number
 * that each end has for them, and the paths of frames across switches.
 */
#include "graph.h"

/* --- switches with servers of their own: a port each, then the dimensions ---- */

static uint32_t place(const struct aggt_topo *topo, uint32_t sw, unsigned int d)
{
	return sw / topo->stride[d] % topo->radix[d];
}

/* Port of @sw that leads to @other, which differs in one dimension. */
static unsigned int agent_port(const struct aggt_topo *topo, uint32_t sw,
			       uint32_t other)
{
	unsigned int d, port = topo->per_point;

	for (d = 0; d < topo->dims; d++) {
		uint32_t own = place(topo, sw, d), far = place(topo, other, d);

		if (own != far)
			return port + far - (far > own);
		port += topo->radix[d] - 1;
	}
	return AGGT_NONE;
}

static struct aggt_far agent_far(const struct aggt_topo *topo, uint32_t sw,
				 unsigned int port)
{
	struct aggt_far far = { .number = sw * topo->per_point + port };
	unsigned int d;

	if (port < topo->per_point)
		return far;
	port -= topo->per_point;
	for (d = 0; port >= topo->radix[d] - 1; d++)
		port -= topo->radix[d] - 1;
	port += port >= place(topo, sw, d);
	far.is_switch = true;
	far.number = sw + (port - place(topo, sw, d)) * topo->stride[d];
	far.port = agent_port(topo, far.number, sw);
	return far;
}

static unsigned int agent_ports(const struct aggt_topo *topo)
{
	unsigned int d, ports = topo->per_point;

	for (d = 0; d < topo->dims; d++)
		ports += topo->radix[d] - 1;
	return ports;
}

static uint32_t agent_forward(const struct aggt_topo *topo, uint32_t sw,
			      aggt_node server)
{
	uint32_t end = server / topo->per_point;
	aggt_code from, to;

	if (sw == end)
		return server % topo->per_point;
	from = aggt_encode(topo, sw * topo->per_point);
	to = aggt_encode(topo, server);
	return agent_port(topo, sw, aggt_decode(topo,
				topo->ops->next_hop(topo, from, to)));
}

/* --- graphs ------------------------------------------------------------------ */

static struct aggt_far graph_far(const struct aggt_topo *topo, uint32_t vertex,
				 unsigned int port)
{
	const struct aggt_graph *graph = topo->graph;
	const struct aggt_arc *arc = &graph->arc[graph->first[vertex] + port];
	struct aggt_far far = {
		.is_switch = arc->to >= topo->servers,
		.number = arc->to,
		.port = aggt_graph_port_of(graph, arc->to, arc->link),
		.rate = graph->link[arc->link].rate,
	};

	if (far.is_switch)
		far.number -= topo->servers;
	return far;
}

/* --- all kinds ---------------------------------------------------------------- */

unsigned int aggt_topo_switch_ports(const struct aggt_topo *topo, uint32_t sw)
{
	if (topo->graph)
		return aggt_graph_ports(topo->graph, topo->servers + sw);
	return topo->agents ? agent_ports(topo) :
			      topo->radix[aggt_topo_switch_level(topo, sw)];
}

struct aggt_far aggt_topo_server_far(const struct aggt_topo *topo,
				     aggt_node server, unsigned int port)
{
	struct aggt_far far = { .is_switch = true };

	if (topo->graph)
		return graph_far(topo, server, port);
	far.number = aggt_topo_switch(topo, server, port);
	far.port = topo->agents ? server % topo->per_point :
				  aggt_topo_digit(topo, server, port);
	return far;
}

struct aggt_far aggt_topo_switch_far(const struct aggt_topo *topo, uint32_t sw,
				     unsigned int port)
{
	struct aggt_far far = {};

	if (topo->graph)
		return graph_far(topo, topo->servers + sw, port);
	if (topo->agents)
		return agent_far(topo, sw, port);
	far.number = aggt_topo_switch_server(topo, sw, port);
	far.port = aggt_topo_switch_level(topo, sw);
	return far;
}

bool aggt_topo_core(const struct aggt_topo *topo)
{
	uint32_t i;

	for (i = 0; topo->graph && i < topo->graph->n_links; i++)
		if (topo->graph->link[i].end[0] >= topo->servers &&
		    topo->graph->link[i].end[1] >= topo->servers)
			return true;
	return topo->agents;
}

uint32_t aggt_topo_forward(const struct aggt_topo *topo, uint32_t sw,
			   aggt_node server, unsigned int port)
{
	struct aggt_far far;

	if (topo->graph)
		return aggt_graph_forward(topo, sw, server, port);
	if (topo->agents)
		return agent_forward(topo, sw, server);
	far = aggt_topo_server_far(topo, server, port);
	return far.number == sw ? far.port : AGGT_NONE;
}
