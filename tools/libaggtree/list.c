// SPDX-License-Identifier: GPL-2.0
/* Server lists: names, files' content, random draws. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* Longest item shown in an error. */
#define SHOWN 32

static aggt_node find_host(const struct aggt_topo *topo, const char *text,
			   size_t len, struct aggt_err *err)
{
	uint32_t host = aggt_graph_find(topo, text, len);

	if (host < topo->servers)
		return host;
	aggt_err_set(err, "server %.*s: no line of the description names such a host",
		     (int)(len < SHOWN ? len : SHOWN), text);
	return AGGT_NONE;
}

static aggt_node parse_item(const struct aggt_topo *topo, const char *text,
			    size_t len, struct aggt_err *err)
{
	uint64_t value = 0;
	size_t i;

	if (topo->graph && topo->graph->name)
		return find_host(topo, text, len, err);
	for (i = *text == 'v'; i < len && isdigit((unsigned char)text[i]); i++)
		if (value <= UINT32_MAX)
			value = value * 10 + (text[i] - '0');
	if (i < len || !isdigit((unsigned char)text[len - 1])) {
		aggt_err_set(err, "server %.*s: expected vN or N",
			     (int)(len < SHOWN ? len : SHOWN), text);
		return AGGT_NONE;
	}
	if (value >= topo->servers) {
		aggt_err_set(err, "server %.*s: %s has v0..v%u",
			     (int)(len < SHOWN ? len : SHOWN), text,
			     topo->name, topo->servers - 1);
		return AGGT_NONE;
	}
	return value;
}

aggt_node aggt_server_parse(const struct aggt_topo *topo, const char *text,
			    struct aggt_err *err)
{
	if (!*text) {
		aggt_err_set(err, "server: empty name");
		return AGGT_NONE;
	}
	return parse_item(topo, text, strlen(text), err);
}

/* The number after a star. */
static uint32_t parse_tasks(const char *text, size_t len, struct aggt_err *err)
{
	unsigned long tasks = 0;
	size_t i;

	for (i = 0; i < len && isdigit((unsigned char)text[i]); i++)
		if (tasks <= UINT16_MAX)
			tasks = tasks * 10 + (text[i] - '0');
	if (i == len && tasks && tasks <= UINT16_MAX)
		return tasks;
	aggt_err_set(err, "tasks *%.*s: expected 1 to %u",
		     (int)(len < SHOWN ? len : SHOWN), text, UINT16_MAX);
	return 0;
}

/* Note @tasks of the last server; most lists never need the array. */
static int set_tasks(struct aggt_list *list, size_t most, uint32_t tasks,
		     struct aggt_err *err)
{
	size_t i;

	if (!list->tasks) {
		list->tasks = malloc(most * sizeof(*list->tasks));
		if (!list->tasks) {
			aggt_err_nomem(err);
			return -1;
		}
		for (i = 0; i < most; i++)
			list->tasks[i] = 1;
	}
	list->tasks[list->n - 1] = tasks;
	return 0;
}

static bool separates(char c)
{
	return c == ',' || isspace((unsigned char)c);
}

/* Skip separators and comments. Return: the next item or the end. */
static const char *next_item(const char *text)
{
	for (;;) {
		while (separates(*text))
			text++;
		if (*text != '#')
			return text;
		text += strcspn(text, "\n");
	}
}

static int append(const struct aggt_topo *topo, struct aggt_list *list,
		  struct aggt_map *seen, aggt_node node, struct aggt_err *err)
{
	uint32_t *slot = aggt_map_slot(seen, node);
	aggt_node *grown = list->node;

	if (slot && *slot != AGGT_NONE) {
		aggt_err_set(err, "server %s: named twice",
			     aggt_label(topo, node).text);
		return -1;
	}
	if (!(list->n & (list->n - 1)))
		grown = realloc(list->node,
				(list->n ? list->n * 2 : 1) * sizeof(*grown));
	if (!slot || !grown) {
		aggt_err_nomem(err);
		return -1;
	}
	*slot = list->n;
	list->node = grown;
	list->node[list->n++] = node;
	return 0;
}

static int parse_names(const struct aggt_topo *topo, const char *text,
		       struct aggt_list *list, struct aggt_map *seen,
		       struct aggt_err *err)
{
	size_t most = strlen(text);

	for (text = next_item(text); *text; text = next_item(text)) {
		size_t len = 0, name;
		uint32_t tasks = 1;
		aggt_node node;

		while (text[len] && text[len] != '#' && !separates(text[len]))
			len++;
		for (name = 0; name < len && text[name] != '*'; name++)
			;
		node = name ? parse_item(topo, text, name, err) : AGGT_NONE;
		if (!name)
			aggt_err_set(err, "server list: tasks of no server");
		if (node == AGGT_NONE || append(topo, list, seen, node, err))
			return -1;
		if (name < len)
			tasks = parse_tasks(text + name + 1, len - name - 1,
					    err);
		if (!tasks || (name < len &&
			       set_tasks(list, most, tasks, err)))
			return -1;
		text += len;
	}
	if (!list->n) {
		aggt_err_set(err, "server list: empty");
		return -1;
	}
	return 0;
}

/*
 * Floyd's sample: every set of @m of the first @servers is equally likely.
 * With failed servers in between, plain rejection.
 */
static int draw_some(const struct aggt_topo *topo, uint32_t servers, uint32_t m,
		     struct aggt_rng *rng, struct aggt_list *list,
		     struct aggt_map *seen, struct aggt_err *err)
{
	uint32_t i = servers - m;

	while (list->n < m) {
		aggt_node node;

		if (topo->fault.n) {
			node = aggt_rng_below(rng, servers);
			if (!aggt_topo_server_ok(topo, node) ||
			    aggt_map_get(seen, node) != AGGT_NONE)
				continue;
		} else {
			node = aggt_rng_below(rng, ++i);
			if (aggt_map_get(seen, node) != AGGT_NONE)
				node = i - 1;
		}
		if (append(topo, list, seen, node, err))
			return -1;
	}
	return 0;
}

/* How many of the first @servers work. */
static uint32_t count_ok(const struct aggt_topo *topo, uint32_t servers)
{
	uint32_t v, n = 0;

	if (!topo->fault.n)
		return servers;
	for (v = 0; v < servers; v++)
		n += aggt_topo_server_ok(topo, v);
	return n;
}

static int draw(const struct aggt_topo *topo, const char *text, uint64_t seed,
		struct aggt_list *list, struct aggt_map *seen,
		struct aggt_err *err)
{
	const char *count = strchr(text, ':') + 1;
	uint32_t servers = topo->servers, most = count_ok(topo, servers);
	struct aggt_rng rng;
	unsigned long m;
	unsigned int d;
	char *end;

	m = strtoul(count, &end, 10);
	if (!isdigit((unsigned char)*count) || *end || m < 1 || m > most) {
		aggt_err_set(err, "%.*s: expected 1 to %u servers",
			     SHOWN, text, most);
		return -1;
	}
	if (*text == 'm' && !aggt_topo_digits(topo)) {
		aggt_err_set(err, "%.*s: %s has no labels with digits to draw a sub-network by; take random:M",
			     SHOWN, text, topo->name);
		return -1;
	}
	if (*text == 'm') {
		servers = topo->per_point;
		for (d = 0; count_ok(topo, servers) < m; d++)
			servers *= topo->radix[d];
	}
	aggt_rng_seed(&rng, seed);
	return draw_some(topo, servers, m, &rng, list, seen, err);
}

int aggt_list_parse(const struct aggt_topo *topo, const char *text,
		    uint64_t seed, struct aggt_list *list,
		    struct aggt_err *err)
{
	struct aggt_map seen;
	int ret;

	memset(list, 0, sizeof(*list));
	if (aggt_map_init(&seen, 0)) {
		aggt_err_nomem(err);
		return -1;
	}
	if (!strncmp(text, "random:", 7) || !strncmp(text, "managed:", 8))
		ret = draw(topo, text, seed, list, &seen, err);
	else
		ret = parse_names(topo, text, list, &seen, err);
	aggt_map_free(&seen);
	if (ret)
		aggt_list_clear(list);
	return ret;
}

void aggt_list_clear(struct aggt_list *list)
{
	free(list->node);
	free(list->tasks);
	memset(list, 0, sizeof(*list));
}
