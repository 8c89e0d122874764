// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of any network: its hosts, switches and links by the names that
 * they have there.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"

/* The fastest link: 1 Pbit/s. */
#define MAX_RATE 1e15

static bool is_host(const struct aggt_line *line)
{
	return line->n == 2 && (!strcmp(line->word[0], "host") ||
				!strcmp(line->word[0], "server"));
}

/* A switch, and a link of it to each of the hosts. */
static bool is_rack(const struct aggt_line *line)
{
	return line->n >= 3 && !strcmp(line->word[0], "rack");
}

static bool is_switch(const struct aggt_line *line)
{
	return (line->n == 2 && !strcmp(line->word[0], "switch")) || is_rack(line);
}

static bool is_link(const struct aggt_line *line)
{
	return (line->n == 3 || line->n == 4) &&
	       !strcmp(line->word[0], "link");
}

bool aggt_describes_graph(const struct aggt_line *line)
{
	return is_host(line) || is_switch(line) || is_link(line);
}

static bool is_name(const char *text)
{
	size_t i;

	if (!isalpha((unsigned char)*text))
		return false;
	for (i = 0; text[i]; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			return false;
	return i < AGGT_LABEL;
}

/* Give a vertex its name, which points into the line until now. */
static int name_vertex(struct aggt_graph *graph, uint32_t vertex,
		       const struct aggt_line *line, struct aggt_err *err)
{
	const char *name = line->word[1];

	if (!is_name(name)) {
		aggt_err_set(err, "%s %.64s: a name begins with a letter and has letters, digits, '.', '_' and '-', %u at most",
			     line->word[0], name, AGGT_LABEL - 1);
		return -1;
	}
	graph->line[vertex] = line->number;
	graph->name[vertex] = strdup(name);
	if (graph->name[vertex])
		return 0;
	aggt_err_nomem(err);
	return -1;
}

static int count_vertices(const char *text, unsigned int first,
			  uint64_t *hosts, uint64_t *switches,
			  struct aggt_err *err)
{
	struct aggt_line line = { .number = first };
	int more;

	*hosts = 0;
	*switches = 0;
	while ((more = aggt_line_next(&text, &line, err)) > 0) {
		*hosts += is_host(&line);
		*switches += is_switch(&line);
	}
	if (!more && !*hosts) {
		aggt_err_set(err, "line %u: a graph needs lines: host NAME",
			     first);
		return -1;
	}
	return more;
}

static int read_names(struct aggt_topo *topo, const char *text,
		      unsigned int first, struct aggt_err *err)
{
	struct aggt_line line = { .number = first };
	uint32_t host = 0, sw = topo->servers;

	while (aggt_line_next(&text, &line, err) > 0) {
		if (!is_host(&line) && !is_switch(&line))
			continue;
		if (name_vertex(topo->graph, is_host(&line) ? host++ : sw++,
				&line, err)) {
			aggt_line_blame(line.number, err);
			return -1;
		}
	}
	return 0;
}

/** struct name - a vertex that is to be found by its name. */
struct name {
	const char *text;
	uint32_t vertex;
};

static int by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	if (order)
		return order;
	return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* The later of two lines with the same name is the wrong one. */
static int named_twice(const struct aggt_graph *graph, uint32_t a, uint32_t b,
		       struct aggt_err *err)
{
	unsigned int x = graph->line[a], y = graph->line[b];

	aggt_err_set(err, "%s: named twice, on line %u too", graph->name[a],
		     x < y ? x : y);
	aggt_line_blame(x < y ? y : x, err);
	return -1;
}

static int sort_names(struct aggt_graph *graph, struct aggt_err *err)
{
	struct name *name = malloc(graph->n * sizeof(*name));
	uint32_t i;
	int ret = 0;

	if (!name) {
		aggt_err_nomem(err);
		return -1;
	}
	for (i = 0; i < graph->n; i++)
		name[i] = (struct name){ graph->name[i], i };
	qsort(name, graph->n, sizeof(*name), by_name);
	for (i = 0; i < graph->n && !ret; i++) {
		graph->by_name[i] = name[i].vertex;
		if (i && !strcmp(name[i].text, name[i - 1].text))
			ret = named_twice(graph, name[i].vertex,
					  name[i - 1].vertex, err);
	}
	free(name);
	return ret;
}

/* Bits a second, like 100M, 2.5G or 1000000. Return: 0 if it is not a rate. */
static uint64_t parse_rate(const char *text)
{
	static const char units[] = "kMGT";
	const char *unit;
	size_t thousands;
	double rate;
	char *end;

	if (!isdigit((unsigned char)*text) || strpbrk(text, "xXeEpP"))
		return 0;
	rate = strtod(text, &end);
	unit = *end ? strchr(units, *end) : NULL;
	if (*end && (!unit || end[1]))
		return 0;
	for (thousands = unit ? unit - units + 1 : 0; thousands; thousands--)
		rate *= 1000;
	return rate >= 1 && rate <= MAX_RATE ? (uint64_t)rate : 0;
}

/* Add the link of a line; @seen has the line of each pair of vertices. */
static int read_link(struct aggt_topo *topo, const struct aggt_line *line,
		     struct aggt_map *seen, struct aggt_err *err)
{
	uint32_t end[2], *slot, i;
	uint64_t rate = 0;

	for (i = 0; i < 2; i++) {
		const char *name = line->word[1 + i];

		end[i] = aggt_graph_find(topo, name, strlen(name));
		if (end[i] != AGGT_NONE)
			continue;
		aggt_err_set(err, "link to %.64s: no line names such a host or switch",
			     name);
		return -1;
	}
	if (line->n == 4) {
		rate = parse_rate(line->word[3]);
		if (!rate) {
			aggt_err_set(err, "rate %.32s: expected bits a second like 100M, 2.5G or 40G",
				     line->word[3]);
			return -1;
		}
	}
	if (end[0] == end[1]) {
		aggt_err_set(err, "link of %s: leads back to it",
			     line->word[1]);
		return -1;
	}
	slot = aggt_map_slot(seen, end[0] < end[1] ?
			     (uint64_t)end[0] << 32 | end[1] :
			     (uint64_t)end[1] << 32 | end[0]);
	if (!slot) {
		aggt_err_nomem(err);
		return -1;
	}
	if (*slot != AGGT_NONE) {
		aggt_err_set(err, "link of %s and %s: is on line %u already",
			     line->word[1], line->word[2], *slot);
		return -1;
	}
	*slot = line->number;
	return aggt_graph_link(topo, end[0], end[1], rate, err);
}

static int read_rack(struct aggt_topo *topo, const struct aggt_line *line,
		     struct aggt_map *seen, struct aggt_err *err)
{
	struct aggt_line link = {
		.number = line->number, .n = 3,
		.word = { line->word[0], NULL, line->word[1] },
	};
	uint32_t end;
	unsigned int i;

	for (i = 2; i < line->n; i++) {
		link.word[1] = line->word[i];
		end = aggt_graph_find(topo, line->word[i], strlen(line->word[i]));
		if (end != AGGT_NONE && end >= topo->servers) {
			aggt_err_set(err, "rack %.64s: %.64s is a switch, and a rack has hosts: a line 'link' joins switches",
				     line->word[1], line->word[i]);
			return -1;
		}
		if (read_link(topo, &link, seen, err))
			return -1;
	}
	return 0;
}

static int read_links(struct aggt_topo *topo, const char *text,
		      unsigned int first, struct aggt_err *err)
{
	struct aggt_line line = { .number = first };
	struct aggt_map seen;
	int ret = 0;

	if (aggt_map_init(&seen, 0)) {
		aggt_err_nomem(err);
		return -1;
	}
	while (!ret && aggt_line_next(&text, &line, err) > 0)
		if (is_link(&line))
			ret = read_link(topo, &line, &seen, err);
		else if (is_rack(&line))
			ret = read_rack(topo, &line, &seen, err);
	if (ret)
		aggt_line_blame(line.number, err);
	aggt_map_free(&seen);
	return ret;
}

static int check_ports(const struct aggt_topo *topo, struct aggt_err *err)
{
	aggt_node v;

	for (v = 0; v < topo->servers; v++) {
		if (aggt_graph_ports(topo->graph, v) <= AGGT_GRAPH_PORTS)
			continue;
		aggt_err_set(err, "host %s: has %u links, %u at most",
			     topo->graph->name[v],
			     aggt_graph_ports(topo->graph, v),
			     AGGT_GRAPH_PORTS);
		aggt_line_blame(topo->graph->line[v], err);
		return -1;
	}
	return 0;
}

static int make_names(struct aggt_graph *graph, struct aggt_err *err)
{
	graph->name = calloc(graph->n, sizeof(*graph->name));
	graph->by_name = calloc(graph->n, sizeof(*graph->by_name));
	graph->line = calloc(graph->n, sizeof(*graph->line));
	if (graph->name && graph->by_name && graph->line)
		return 0;
	aggt_err_nomem(err);
	return -1;
}

int aggt_describe_graph(struct aggt_topo *topo, const char *text,
			unsigned int first, struct aggt_err *err)
{
	uint64_t hosts, switches;

	return count_vertices(text, first, &hosts, &switches, err) ||
	       aggt_graph_start(topo, hosts, switches, err) ||
	       make_names(topo->graph, err) ||
	       read_names(topo, text, first, err) ||
	       sort_names(topo->graph, err) ||
	       read_links(topo, text, first, err) ||
	       aggt_graph_finish(topo, err) || check_ports(topo, err) ? -1 : 0;
}

static int parse(struct aggt_topo *topo, const char *args,
		 struct aggt_err *err)
{
	(void)args;
	(void)err;
	strcpy(topo->name, "graph");
	return 0;
}

const struct aggt_topo_ops aggt_graph_ops = {
	.kind = "graph", .form = "graph", .parse = parse, AGGT_GRAPH_OPS
};
