// SPDX-License-Identifier: GPL-2.0
/* Descriptions of real networks: a topology, its gaps, its addresses. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Longest line that is not a comment. */
#define LINE 512

/**
 * struct line - words of one line
 * @number: of the line
 * @word: up to four; the rest are too many
 * @n: how many words
 * @text: what the words point into
 */
struct line {
	unsigned int number;
	char *word[4];
	unsigned int n;
	char text[LINE];
};

/* Split the line at *@at into words. Return: 1, 0 at the end, -1 on error. */
static int next_line(const char **at, struct line *line, struct aggt_err *err)
{
	size_t len, used;
	char *next;

	if (!**at)
		return 0;
	line->number++;
	len = strcspn(*at, "\n");
	used = strcspn(*at, "#\n");
	if (used >= LINE) {
		aggt_err_set(err, "line %u: is too long", line->number);
		return -1;
	}
	memcpy(line->text, *at, used);
	line->text[used] = 0;
	*at += len + ((*at)[len] == '\n');
	line->n = 0;
	for (next = line->text; *next; ) {
		if (isspace((unsigned char)*next)) {
			*next++ = 0;
			continue;
		}
		if (line->n == ARRAY_SIZE(line->word)) {
			aggt_err_set(err, "line %u: too many words",
				     line->number);
			return -1;
		}
		line->word[line->n++] = next;
		while (*next && !isspace((unsigned char)*next))
			next++;
	}
	return 1;
}

/* Keys of topo->address: servers, and addresses tagged with this. */
#define OWNER 1

static bool parse_ipv4(const char *text, uint32_t *address)
{
	unsigned int part[4], i;
	int len = 0;

	if (!isdigit((unsigned char)*text) ||
	    sscanf(text, "%3u.%3u.%3u.%3u%n", &part[0], &part[1], &part[2],
		   &part[3], &len) != 4 || text[len])
		return false;
	for (*address = 0, i = 0; i < 4; i++) {
		if (part[i] > 255)
			return false;
		*address = *address << 8 | part[i];
	}
	return true;
}

/* Room for @len more bytes of addresses; the memory doubles as it grows. */
static char *grow(struct aggt_topo *topo, size_t len)
{
	if (topo->text_len + len > topo->text_room) {
		size_t room = 2 * (topo->text_room + len);
		char *text = realloc(topo->text, room);

		if (!text)
			return NULL;
		topo->text = text;
		topo->text_room = room;
	}
	return topo->text + topo->text_len;
}

static int set_address(struct aggt_topo *topo, const char *name,
		       const char *address, struct aggt_err *err)
{
	aggt_node server = aggt_server_parse(topo, name, err);
	size_t len = strlen(address) + 1;
	uint32_t number, owner, *slot;
	char *text;

	if (server == AGGT_NONE)
		return -1;
	if (!parse_ipv4(address, &number)) {
		aggt_err_set(err, "address of v%u: %.32s is no IPv4 address",
			     server, address);
		return -1;
	}
	owner = aggt_map_get(&topo->address, aggt_tag(number, OWNER));
	if (owner != AGGT_NONE) {
		aggt_err_set(err, "address of v%u: %s is v%u's", server,
			     address, owner);
		return -1;
	}
	if (aggt_topo_address(topo, server)) {
		aggt_err_set(err, "address of v%u: given twice", server);
		return -1;
	}
	text = grow(topo, len);
	slot = aggt_map_slot(&topo->address, aggt_tag(number, OWNER));
	if (slot)
		*slot = server;
	slot = slot ? aggt_map_slot(&topo->address, server) : NULL;
	if (!slot || !text) {
		aggt_err_nomem(err);
		return -1;
	}
	memcpy(text, address, len);
	*slot = topo->text_len;
	topo->text_len += len;
	return 0;
}

const char *aggt_topo_address(const struct aggt_topo *topo, aggt_node server)
{
	uint32_t at = aggt_map_get(&topo->address, server);

	return at == AGGT_NONE ? NULL : topo->text + at;
}

/* A server that works but has no link that does can take part in nothing. */
static int check_isolated(const struct aggt_topo *topo, aggt_node server,
			  struct aggt_err *err)
{
	unsigned int d;

	if (topo->agents || !aggt_topo_server_ok(topo, server))
		return 0;
	for (d = 0; d < topo->dims; d++)
		if (aggt_link_ok(topo, server, d))
			return 0;
	aggt_err_set(err, "server v%u: disconnected, none of its links works",
		     server);
	return -1;
}

/* Look at the servers of a failed switch or link, given as in the line. */
static int check_part(const struct aggt_topo *topo, const char *part,
		      struct aggt_err *err)
{
	const char *name = strchr(part, 'w');
	unsigned int digit, dim;
	uint32_t sw;

	if (!name || topo->agents)
		return 0;
	sw = strtoul(name + 1, NULL, 10);
	dim = aggt_topo_switch_level(topo, sw);
	for (digit = 0; digit < topo->radix[dim]; digit++)
		if (check_isolated(topo, aggt_topo_switch_server(topo, sw,
								 digit), err))
			return -1;
	return 0;
}

static int apply(struct aggt_topo *topo, const struct line *line,
		 struct aggt_err *err)
{
	const char *what = line->word[0];

	if (line->n == 2 && (!strcmp(what, "failed") ||
			     !strcmp(what, "absent")))
		return aggt_topo_fail(topo, line->word[1], err);
	if (line->n == 3 && !strcmp(what, "address"))
		return set_address(topo, line->word[1], line->word[2], err);
	aggt_err_set(err, "%.32s: expected failed PART, absent PART or address vN A.B.C.D",
		     what);
	return -1;
}

/* Put the line's number before what @err says. */
static void blame(const struct line *line, struct aggt_err *err)
{
	struct aggt_err why;

	if (!err)
		return;
	why = *err;
	aggt_err_set(err, "line %u: %.200s", line->number, why.text);
}

static struct aggt_topo *first_line(const char **at, struct line *line,
				    struct aggt_err *err)
{
	struct aggt_topo *topo;
	int more;

	do
		more = next_line(at, line, err);
	while (more > 0 && !line->n);
	if (more < 0)
		return NULL;
	if (!more || line->n != 2 || strcmp(line->word[0], "topology")) {
		aggt_err_set(err, "line %u: a description begins with: topology T",
			     line->number);
		return NULL;
	}
	topo = aggt_topo_parse(line->word[1], err);
	if (!topo)
		blame(line, err);
	return topo;
}

struct aggt_topo *aggt_topo_describe(const char *text, struct aggt_err *err)
{
	struct line line = { .number = 0 };
	struct aggt_topo *topo = first_line(&text, &line, err);
	const char *body = text;
	unsigned int first = line.number;
	int more;

	if (!topo)
		return NULL;
	while ((more = next_line(&text, &line, err)) > 0)
		if (line.n && apply(topo, &line, err)) {
			blame(&line, err);
			goto fail;
		}
	if (more < 0)
		goto fail;
	/* Only now is all known that has failed. */
	line.number = first;
	while (next_line(&body, &line, NULL) > 0)
		if (line.n == 2 && check_part(topo, line.word[1], err)) {
			blame(&line, err);
			goto fail;
		}
	return topo;
fail:
	aggt_topo_free(topo);
	return NULL;
}
