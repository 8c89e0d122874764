// SPDX-License-Identifier: GPL-2.0
/* Server lists: names, files' content, random draws. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Longest item shown in an error. */
#define SHOWN 32

static aggt_node parse_item(const struct aggt_topo *topo, const char *text,
			    size_t len, struct aggt_err *err)
{
	uint64_t value = 0;
	size_t i;

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

static int append(struct aggt_list *list, struct aggt_map *seen,
		  aggt_node node, struct aggt_err *err)
{
	uint32_t *slot = aggt_map_slot(seen, node);
	aggt_node *grown = list->node;

	if (slot && *slot != AGGT_NONE) {
		aggt_err_set(err, "server v%u: named twice", node);
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
	for (text = next_item(text); *text; text = next_item(text)) {
		aggt_node node;
		size_t len = 0;

		while (text[len] && text[len] != '#' && !separates(text[len]))
			len++;
		node = parse_item(topo, text, len, err);
		if (node == AGGT_NONE || append(list, seen, node, err))
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
 * Floyd's sample: every set of @m servers is equally likely. With failed
 * servers in between, plain rejection.
 */
static int draw_some(const struct aggt_topo *topo, uint32_t m,
		     struct aggt_rng *rng, struct aggt_list *list,
		     struct aggt_map *seen, struct aggt_err *err)
{
	uint32_t i = topo->failed_servers ? 0 : topo->servers - m;

	while (list->n < m) {
		aggt_node node;

		if (topo->failed_servers) {
			node = aggt_rng_below(rng, topo->servers);
			if (!aggt_topo_server_ok(topo, node) ||
			    aggt_map_get(seen, node) != AGGT_NONE)
				continue;
		} else {
			node = aggt_rng_below(rng, ++i);
			if (aggt_map_get(seen, node) != AGGT_NONE)
				node = i - 1;
		}
		if (append(list, seen, node, err))
			return -1;
	}
	return 0;
}

static int draw(const struct aggt_topo *topo, const char *count, uint64_t seed,
		struct aggt_list *list, struct aggt_map *seen,
		struct aggt_err *err)
{
	uint32_t most = topo->servers - topo->failed_servers;
	struct aggt_rng rng;
	unsigned long m;
	char *end;

	m = strtoul(count, &end, 10);
	if (!isdigit((unsigned char)*count) || *end || m < 1 || m > most) {
		aggt_err_set(err, "random:%.*s: expected 1 to %u servers",
			     SHOWN, count, most);
		return -1;
	}
	aggt_rng_seed(&rng, seed);
	return draw_some(topo, m, &rng, list, seen, err);
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
	if (!strncmp(text, "random:", 7))
		ret = draw(topo, text + 7, seed, list, &seen, err);
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
	memset(list, 0, sizeof(*list));
}
