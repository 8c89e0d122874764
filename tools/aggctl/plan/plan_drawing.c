// SPDX-License-Identifier: GPL-2.0
/*
 * A plan as Graphviz source: a panel for each tree, its servers and the switches
 * between them, with the traffic of each link.
 */
#include <stdlib.h>
#include <string.h>

#include "plan/plan_drawing.h"

/* Colours that colour-blind readers can tell apart (Okabe and Ito). */
static const char * const tree_colours[] = {
	"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
	"#000000",
};

/* Of more trees the next ones have the same colours, and other lines. */
static const char * const tree_lines[] = { "solid", "dashed", "dotted" };

#define RECEIVES	"#F5E663"
#define MERGES		"#7FD1AE"
#define SENDS		"#D3E9F8"
#define FORWARDS	"#FFFFFF"
#define SWITCH		"#E0E0E0"

#define TEXT		64

/* Panels in a row, at least. */
#define MIN_COLUMNS	4

/**
 * struct drawing - what is drawn
 * @f: the file
 * @plan: the plan
 * @traffic: bytes by "NODE PORT", NULL: the flows of the plan
 * @links: of a panel, by name: where from and to, and what they carry
 * @users: how many trees use each measured link
 * @most: what the busiest link of all panels carries
 */
struct drawing {
	FILE *f;
	const struct plan *plan;
	const json_t *traffic;
	json_t *links;
	json_t *users;
	double most;
};

static const char *colour_of(size_t number)
{
	return tree_colours[number % ARRAY_SIZE(tree_colours)];
}

static const char *line_of(size_t number)
{
	return tree_lines[number / ARRAY_SIZE(tree_colours) %
			  ARRAY_SIZE(tree_lines)];
}

/* Where switches form the hypercube, they are what a tree connects. */
static const char *vertex_name(const struct plan *plan, aggt_node number)
{
	return aggt_topo_agents(plan->topo) ? plan_switch_name(plan, number) :
					      plan_server_name(plan, number);
}

/* Flows in units of a sender's, or bytes; below 0: not measured. */
static void format_traffic(char *text, double value, bool bytes)
{
	if (value < 0)
		strcpy(text, "?");
	else if (!bytes)
		snprintf(text, TEXT, "%.3g", value);
	else if (value >= 1e6)
		snprintf(text, TEXT, "%.2f MB", value / 1e6);
	else if (value >= 1e3)
		snprintf(text, TEXT, "%.0f kB", value / 1e3);
	else
		snprintf(text, TEXT, "%.0f B", value);
}

/* The port by which a hop leaves a server, or the switch behind it; -1: not measured. */
static double measured(const struct drawing *d, aggt_node from, aggt_node to,
		       uint32_t sw, bool leaves_switch, char *port)
{
	const struct aggt_topo *topo = d->plan->topo;
	uint32_t dim = aggt_topo_link_dim(topo, from, to);
	const json_t *bytes;

	if (leaves_switch)
		snprintf(port, TEXT, "%s p%u", plan_switch_name(d->plan, sw),
			 aggt_topo_digit(topo, to, dim));
	else
		snprintf(port, TEXT, "%s eth%u", plan_server_name(d->plan, from),
			 dim);
	bytes = json_object_get(d->traffic, port);
	return bytes ? json_number_value(bytes) : -1;
}

/* Add to what a link carries; @port: of a measured one. */
static void use_link(struct drawing *d, const char *from, const char *to,
		     const char *port, double carries)
{
	char name[2 * TEXT + 2];
	json_t *link;

	snprintf(name, sizeof(name), "%s>%s", from, to);
	link = json_object_get(d->links, name);
	if (!link) {
		link = json_pack("{s:s, s:s, s:s, s:f}", "from", from, "to", to,
				 "port", port, "carries", carries);
		json_object_set_new(d->links, name, link);
	} else if (!d->traffic) {
		carries += json_number_value(json_object_get(link, "carries"));
		json_object_set_new(link, "carries", json_real(carries));
	}
	if (carries > d->most)
		d->most = carries;
}

/*
 * The links of a hop. A switch is drawn once for each server and way to it, so
 * that a panel stays a tree: it has the switches from the parent's side.
 */
static void use_hop(struct drawing *d, const struct aggt_tree *tree, size_t i,
		    double flow)
{
	const struct aggt_topo *topo = d->plan->topo;
	uint32_t up = aggt_tree_parent(tree, i);
	aggt_node a = aggt_tree_server(tree, i), b = aggt_tree_server(tree, up);
	uint32_t sw, n = 0, k;
	char from[TEXT], to[TEXT], port[TEXT] = "";
	double carries = flow;

	while (aggt_topo_hop_switch(topo, a, b, n) != AGGT_NONE)
		n++;
	snprintf(from, sizeof(from), "%zu", i);
	for (k = 0; k <= n; k++) {
		uint32_t rest;
		size_t at;

		at = (size_t)snprintf(to, sizeof(to), "%u", up);
		for (rest = n; rest > k && at < sizeof(to); rest--) {
			sw = aggt_topo_hop_switch(topo, a, b, rest - 1);
			at += (size_t)snprintf(to + at, sizeof(to) - at, "_%u",
					       sw);
		}
		if (d->traffic)
			carries = measured(d, a, b,
					   aggt_topo_hop_switch(topo, a, b, 0),
					   k, port);
		use_link(d, from, to, port, carries);
		strcpy(from, to);
	}
}

/* The links of a tree and what they carry. */
static int use_tree(struct drawing *d, size_t number)
{
	const struct aggt_tree *tree = aggt_plan_tree(d->plan->trees, number);
	struct aggt_flow *flow = aggt_plan_flows(d->plan->trees, number);
	size_t i;

	if (!flow)
		return -1;
	json_object_clear(d->links);
	for (i = 1; i < aggt_tree_size(tree); i++)
		use_hop(d, tree, i, flow[i].out);
	free(flow);
	return 0;
}

/* What the busiest link carries, and how many trees each link has. */
static int survey(struct drawing *d)
{
	const json_t *link;
	const char *name, *port;
	size_t i;

	for (i = 0; i < aggt_plan_trees(d->plan->trees); i++) {
		if (use_tree(d, i))
			return -1;
		json_object_foreach(d->links, name, link) {
			port = json_string_value(json_object_get(link, "port"));
			json_object_set_new(d->users, port,
				json_integer(1 + json_integer_value(
					json_object_get(d->users, port))));
		}
	}
	return 0;
}

static void draw_role(const struct drawing *d, const struct aggt_tree *tree,
		      size_t i, const struct aggt_flow *flow)
{
	bool merges = aggt_plan_aggregates(d->plan->trees) && flow->inputs > 1;
	const char *colour = FORWARDS, *role = "forwards";
	aggt_node leans = aggt_tree_leans(tree, i);

	if (!i) {
		colour = RECEIVES;
		role = "receives";
	} else if (aggt_tree_sends(tree, i)) {
		colour = SENDS;
		role = "sends";
	}
	fprintf(d->f, "\\n%s", merges && i && role[0] == 'f' ? "" : role);
	if (merges) {
		fprintf(d->f, "%s %u", !i ? "" : role[0] == 'f' ? "merges" :
			", merges", flow->inputs);
		if (i)
			colour = MERGES;
	}
	if (leans != AGGT_NONE)
		fprintf(d->f, "\\nat %s", plan_server_name(d->plan, leans));
	fprintf(d->f, "\" fillcolor=\"%s\"", colour);
}

static void draw_vertex(const struct drawing *d, size_t number, size_t i,
			const struct aggt_flow *flow)
{
	const struct aggt_tree *tree = aggt_plan_tree(d->plan->trees, number);

	fprintf(d->f, "\t\tt%zu_%zu [label=\"%s", number, i,
		vertex_name(d->plan, aggt_tree_server(tree, i)));
	draw_role(d, tree, i, flow);
	if (!i)
		fputs(" peripheries=2", d->f);
	if (aggt_topo_agents(d->plan->topo))
		fputs(" style=filled", d->f);
	fputs("];\n", d->f);
}

/* The name of a switch's vertex ends with its number. */
static void draw_switch(const struct drawing *d, size_t number,
			const char *vertex)
{
	const char *sw = strrchr(vertex, '_');

	if (sw)
		fprintf(d->f,
			"\t\tt%zu_%s [label=\"%s\" style=filled fillcolor=\"" SWITCH "\" color=gray60 fontsize=10 height=0.2 width=0.4 margin=0.05];\n",
			number, vertex,
			plan_switch_name(d->plan,
					 (uint32_t)strtoul(sw + 1, NULL, 10)));
}

/* Blanks keep the first digit off the line. */
static void draw_link(const struct drawing *d, size_t number,
		      const json_t *link)
{
	double carries = json_number_value(json_object_get(link, "carries"));
	const json_t *users = json_object_get(d->users,
		json_string_value(json_object_get(link, "port")));
	char text[TEXT];

	format_traffic(text, carries, d->traffic);
	fprintf(d->f, "\t\tt%zu_%s -> t%zu_%s [label=\"   %s%s \" penwidth=%.2f];\n",
		number, json_string_value(json_object_get(link, "to")),
		number, json_string_value(json_object_get(link, "from")), text,
		d->traffic && json_integer_value(users) > 1 ? "*" : "",
		1 + (carries > 0 ? 3 * carries / d->most : 0));
}

/* The vertex that is most links below the receiver. */
static size_t deepest(const struct plan *plan, size_t number, uint32_t *depth)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan->trees, number);
	size_t i, n = aggt_tree_size(tree), last = 0;
	uint32_t *below = calloc(n, sizeof(*below)), up;

	for (i = 1; below && i < n; i++) {
		up = aggt_tree_parent(tree, i);
		below[i] = below[up] +
			   aggt_topo_hop_links(plan->topo,
					       aggt_tree_server(tree, i),
					       aggt_tree_server(tree, up));
		if (below[i] > below[last])
			last = i;
	}
	*depth = below ? below[last] : 0;
	free(below);
	return last;
}

/* Many panels are in rows: each is below the deepest one of the row before. */
static void stack_panels(const struct drawing *d)
{
	size_t n = aggt_plan_trees(d->plan->trees);
	size_t columns = MIN_COLUMNS, i, k, end, last, lowest, at;
	uint32_t depth, most;

	while (columns * columns < n)
		columns++;
	for (i = 0; i + columns < n; i += columns) {
		lowest = i;
		last = deepest(d->plan, i, &most);
		for (k = i + 1; k < i + columns; k++) {
			at = deepest(d->plan, k, &depth);
			if (depth > most) {
				most = depth;
				lowest = k;
				last = at;
			}
		}
		end = i + 2 * columns < n ? i + 2 * columns : n;
		for (; k < end; k++)
			fprintf(d->f, "\tt%zu_%zu -> t%zu_0 [style=invis weight=0];\n",
				lowest, last, k);
	}
}

static int draw_tree(struct drawing *d, size_t number)
{
	const struct aggt_tree *tree = aggt_plan_tree(d->plan->trees, number);
	struct aggt_flow *flow = aggt_plan_flows(d->plan->trees, number);
	const char *name;
	json_t *link;
	size_t i;

	if (!flow || use_tree(d, number)) {
		free(flow);
		return -1;
	}
	fprintf(d->f, "\tsubgraph cluster_%zu {\n\t\tlabel=\"", number);
	if (aggt_plan_stripes(d->plan->trees))
		fprintf(d->f, "job %u, ", plan_job(d->plan, number));
	fprintf(d->f, "to %s\" color=\"%s\" fontcolor=\"%s\" style=\"rounded,%s\" penwidth=2;\n",
		plan_server_name(d->plan, aggt_tree_receiver(tree)),
		colour_of(number), colour_of(number), line_of(number));
	fprintf(d->f, "\t\tedge [color=\"%s\" style=%s];\n", colour_of(number),
		line_of(number));
	for (i = 0; i < aggt_tree_size(tree); i++)
		draw_vertex(d, number, i, &flow[i]);
	json_object_foreach(d->links, name, link) {
		draw_switch(d, number,
			    json_string_value(json_object_get(link, "to")));
		draw_link(d, number, link);
	}
	fputs("\t}\n", d->f);
	free(flow);
	return 0;
}

static void draw_sample(FILE *f, const char *colour, const char *text)
{
	fprintf(f, "<td border=\"1\" color=\"gray40\" bgcolor=\"%s\">%s</td>",
		colour, text);
}

/* Of a network that was measured, the sum of its links. */
static void format_sum(char *text, const struct drawing *d)
{
	const json_t *bytes;
	const char *port;
	double sum = 0;

	json_object_foreach((json_t *)d->traffic, port, bytes)
		sum += json_number_value(bytes);
	format_traffic(text, sum, true);
}

static void draw_legend(const struct drawing *d)
{
	bool agents = aggt_topo_agents(d->plan->topo);
	bool several = aggt_plan_trees(d->plan->trees) > 1;
	char sum[TEXT];

	fputs("<tr><td><table border=\"0\" cellborder=\"0\" cellspacing=\"8\"><tr>",
	      d->f);
	draw_sample(d->f, RECEIVES, "receives the result");
	if (aggt_plan_aggregates(d->plan->trees))
		draw_sample(d->f, MERGES, agents ?
			    "its server merges N flows into one" :
			    "merges N flows into one");
	draw_sample(d->f, SENDS, agents ? "its servers send" : "sends");
	draw_sample(d->f, FORWARDS, "forwards");
	if (!agents)
		draw_sample(d->f, SWITCH, "switch");
	format_sum(sum, d);
	fprintf(d->f, "</tr></table></td></tr><tr><td>Line: a link%s, as wide as its traffic (%s%s).</td></tr>",
		several ? " in the colour of its tree" : "", d->traffic ?
		"measured, on all links " : "1 is the flow of a sender",
		d->traffic ? sum : "");
	if (d->traffic && several)
		fputs("<tr><td>* Traffic of several trees.</td></tr>", d->f);
}

/**
 * struct totals - a plan in numbers
 * @servers: or switches, that are in a tree
 * @in: flows of senders
 * @out: flows that reach the receivers
 */
struct totals {
	size_t servers;
	size_t in;
	size_t out;
};

/* The receiver's own flow does not cross the network. */
static int count_tree(const struct plan *plan, size_t number, bool *seen,
		      struct totals *totals)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan->trees, number);
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	struct aggt_flow *flow = aggt_plan_flows(plan->trees, number);
	bool agents = aggt_topo_agents(plan->topo);
	size_t i, in = 0;

	if (!flow)
		return -1;
	for (i = 0; i < job->n_senders; i++)
		in += job->senders[i] != aggt_tree_receiver(tree);
	totals->in += in;
	totals->out += aggt_plan_aggregates(plan->trees) ?
		       flow[0].inputs - (!agents && aggt_tree_sends(tree, 0)) :
		       in;
	for (i = 0; i < aggt_tree_size(tree); i++) {
		aggt_node server = aggt_tree_server(tree, i);

		totals->servers += !seen[server];
		seen[server] = true;
	}
	free(flow);
	return 0;
}

static int count(const struct plan *plan, struct totals *totals)
{
	size_t i, n = aggt_plan_trees(plan->trees);
	bool *seen = calloc((size_t)aggt_topo_servers(plan->topo) +
			    aggt_topo_switches(plan->topo), sizeof(*seen));
	int ret = seen ? 0 : -1;

	for (i = 0; !ret && i < n; i++)
		ret = count_tree(plan, i, seen, totals);
	free(seen);
	return ret;
}

/* Names come from files. */
static void put_html(FILE *f, const char *text)
{
	for (; *text; text++)
		if (*text == '&' || *text == '<' || *text == '>')
			fprintf(f, "&#%d;", *text);
		else
			fputc((unsigned char)*text < ' ' ? '?' : *text, f);
}

static int draw_title(const struct drawing *d)
{
	const struct aggt_metrics *m = aggt_plan_metrics(d->plan->trees);
	const struct aggt_job *job = aggt_plan_job(d->plan->trees);
	struct totals totals = {};

	if (count(d->plan, &totals))
		return -1;
	fprintf(d->f, "\tlabel=<<table border=\"0\" cellspacing=\"0\"><tr><td><font point-size=\"18\"><b>Job %u: %zu sender%s, %zu receiver%s</b></font></td></tr>",
		d->plan->conf.job, job->n_senders,
		job->n_senders == 1 ? "" : "s", job->n_receivers,
		job->n_receivers == 1 ? "" : "s");
	fputs("<tr><td>Network ", d->f);
	put_html(d->f, aggt_topo_name(d->plan->topo));
	fputs(", method ", d->f);
	put_html(d->f, job->method);
	fprintf(d->f, ", %zu %s, %llu links.</td></tr>", totals.servers,
		aggt_topo_agents(d->plan->topo) ? "switches" : "servers",
		(unsigned long long)m->links);
	fprintf(d->f, "<tr><td>%zu flow%s in, %zu out to the receiver%s; cost %.4g, without merging %.4g.</td></tr>",
		totals.in, totals.in == 1 ? "" : "s", totals.out,
		job->n_receivers == 1 ? "" : "s", m->cost, m->existing);
	draw_legend(d);
	fputs("</table>>;\n", d->f);
	return 0;
}

/**
 * plan_drawing() - write the Graphviz source of a plan's trees
 * @f: the file
 * @plan: the plan
 * @traffic: bytes that left by each port, by "NODE PORT"; NULL: draw the flows
 *	of the plan
 *
 * Return: 0, or -1 without memory or if @f has an error.
 */
int plan_drawing(FILE *f, const struct plan *plan, const json_t *traffic)
{
	struct drawing d = {
		.f = f, .plan = plan, .traffic = traffic,
		.links = json_object(), .users = json_object(),
	};
	size_t i;
	int ret = survey(&d);

	fputs("digraph aggnet {\n\tlabelloc=t; nodesep=0.2; ranksep=0.35;\n", f);
	fputs("\tfontname=\"Helvetica\"; fontsize=14;\n", f);
	fputs("\tnode [shape=box style=\"rounded,filled\" fontname=\"Helvetica\" fontsize=12 height=0.4 margin=\"0.1,0.05\"];\n", f);
	fputs("\tedge [fontname=\"Helvetica\" fontsize=11 arrowsize=0.6 dir=back];\n", f);
	if (!ret)
		ret = draw_title(&d);
	for (i = 0; !ret && i < aggt_plan_trees(plan->trees); i++)
		ret = draw_tree(&d, i);
	stack_panels(&d);
	fputs("}\n", f);
	json_decref(d.links);
	json_decref(d.users);
	return ret || ferror(f) ? -1 : 0;
}
