// SPDX-License-Identifier: GPL-2.0
/* Descriptions of real networks: a topology, its gaps, its addresses. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"

static void blame_length(const char *text, unsigned int number, struct aggt_err *err)
{
	text += strspn(text, " \t");
	aggt_err_set(err, "line %u: is too long: %u characters at most%s", number,
		     AGGT_LINE - 1,
		     !strncmp(text, "rack", 4) && isspace((unsigned char)text[4]) ?
		     "; lines 'link HOST RACK' may give a rack more hosts" : "");
}

/* Split the line at *@at into words. */
int aggt_line_next(const char **at, struct aggt_line *line,
		   struct aggt_err *err)
{
	size_t len, used;
	char *next;

	if (!**at)
		return 0;
	line->number++;
	len = strcspn(*at, "\n");
	used = strcspn(*at, "#\n");
	if (used >= AGGT_LINE) {
		blame_length(*at, line->number, err);
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
		if (line->n == AGGT_WORDS && strcmp(line->word[0], "rack")) {
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

void aggt_line_blame(unsigned int number, struct aggt_err *err)
{
	struct aggt_err why;

	if (!err)
		return;
	why = *err;
	aggt_err_set(err, "line %u: %.200s", number, why.text);
}

/* Tags of keys in topo->address: servers, owners of addresses, ports. */
#define SERVER	0
#define OWNER	1
#define PORT	2	/* and upwards: the dimension is added */
#define LLADDR	33	/* likewise */

static bool parse_ipv4(const char *text, uint32_t *address)
{
	unsigned int part[4], i;
	int len = 0;

	if (text[strspn(text, "0123456789.")] ||
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

/* The server that has the IPv4 address @text; it may be several names of one server. */
static int own_address(struct aggt_topo *topo, aggt_node server,
		       const char *text, struct aggt_err *err)
{
	uint32_t number, *slot;

	if (!parse_ipv4(text, &number)) {
		aggt_err_set(err, "address of %s: %.32s is not an IPv4 address",
			     aggt_label(topo, server).text, text);
		return -1;
	}
	slot = aggt_map_slot(&topo->address, aggt_tag(number, OWNER));
	if (!slot) {
		aggt_err_nomem(err);
		return -1;
	}
	if (*slot != AGGT_NONE && *slot != server) {
		aggt_err_set(err, "address of %s: %s is %s's",
			     aggt_label(topo, server).text, text,
			     aggt_label(topo, *slot).text);
		return -1;
	}
	*slot = server;
	return 0;
}

static int keep_text(struct aggt_topo *topo, aggt_node server,
		     unsigned int tag, const char *given, struct aggt_err *err)
{
	size_t len = strlen(given) + 1;
	char *text = grow(topo, len);
	uint32_t *slot = aggt_map_slot(&topo->address, aggt_tag(server, tag));

	if (!slot || !text) {
		aggt_err_nomem(err);
		return -1;
	}
	if (*slot != AGGT_NONE) {
		aggt_err_set(err, "address of %s: given twice",
			     aggt_label(topo, server).text);
		return -1;
	}
	memcpy(text, given, len);
	*slot = topo->text_len;
	topo->text_len += len;
	return 0;
}

static bool is_lladdr(const char *text)
{
	unsigned int i;

	for (i = 0; i < 17; i++)
		if (i % 3 == 2 ? text[i] != ':' :
				 !isxdigit((unsigned char)text[i]))
			return false;
	return !text[i];
}

/* A name with a dash may be that of a link. */
static bool is_server(const struct aggt_topo *topo, const char *name)
{
	if (!topo->graph)
		return !strchr(name, '-');
	return aggt_graph_find(topo, name, strlen(name)) < topo->servers ||
	       !strchr(name, '-');
}

/* In a graph a host's name with a dash can name a link, too. */
static aggt_node named_server(const struct aggt_topo *topo, const char *name,
			      struct aggt_err *err)
{
	uint32_t first, link;

	if (topo->graph && aggt_graph_named_links(topo, name, &first, &link)) {
		aggt_err_set(err, "address of %.64s: names a host and a link",
			     name);
		return AGGT_NONE;
	}
	return aggt_server_parse(topo, name, err);
}

/* Is it a switch of a graph? Its number follows those of the servers. */
static bool is_switch(const struct aggt_topo *topo, const char *name)
{
	uint32_t vertex;

	if (!topo->graph || !topo->graph->name)
		return false;
	vertex = aggt_graph_find(topo, name, strlen(name));
	return vertex != AGGT_NONE && vertex >= topo->servers;
}

/* A host, or a switch that routes; its name with a dash can name a link, too. */
static aggt_node named_vertex(const struct aggt_topo *topo, const char *name,
			      struct aggt_err *err)
{
	if (!is_switch(topo, name))
		return named_server(topo, name, err);
	if (aggt_graph_named_links(topo, name, &(uint32_t){ 0 },
				   &(uint32_t){ 0 })) {
		aggt_err_set(err, "address of %.64s: names a switch and a link",
			     name);
		return AGGT_NONE;
	}
	return aggt_graph_find(topo, name, strlen(name));
}

/*
 * address vN A.B.C.D: the identity. address vN-wN A.B.C.D [MAC]: a port's. In a graph
 * also address SWITCH A.B.C.D: a router's.
 */
static int set_address(struct aggt_topo *topo, const struct aggt_line *line,
		       struct aggt_err *err)
{
	const char *name = line->word[1];
	const char *lladdr = line->n == 4 ? line->word[3] : NULL;
	unsigned int dim, tag = SERVER;
	aggt_node server;

	if (is_server(topo, name) || is_switch(topo, name)) {
		server = named_vertex(topo, name, err);
	} else {
		server = aggt_link_parse(topo, name, &dim, err);
		tag = PORT + dim;
	}
	if (server == AGGT_NONE)
		return -1;
	if (lladdr && (tag == SERVER || !is_lladdr(lladdr))) {
		aggt_err_set(err, "address of %.32s: %.32s is not a MAC address of a port",
			     name, lladdr);
		return -1;
	}
	if (own_address(topo, server, line->word[2], err) ||
	    keep_text(topo, server, tag, line->word[2], err))
		return -1;
	return lladdr ? keep_text(topo, server, LLADDR + dim, lladdr, err) : 0;
}

static const char *get_text(const struct aggt_topo *topo, aggt_node server,
			    unsigned int tag)
{
	uint32_t at = aggt_map_get(&topo->address, aggt_tag(server, tag));

	return at == AGGT_NONE ? NULL : topo->text + at;
}

const char *aggt_topo_address(const struct aggt_topo *topo, aggt_node server)
{
	const char *own = get_text(topo, server, SERVER);

	/* A host with one NIC may have one address for both. */
	if (own || !topo->graph || aggt_topo_ports(topo, server) != 1)
		return own;
	return get_text(topo, server, PORT);
}

bool aggt_topo_addressed(const struct aggt_topo *topo)
{
	return topo->address.n;
}

const char *aggt_topo_switch_address(const struct aggt_topo *topo, uint32_t sw)
{
	return topo->graph ? get_text(topo, topo->servers + sw, SERVER) : NULL;
}

const char *aggt_topo_port_address(const struct aggt_topo *topo,
				   aggt_node server, unsigned int dim)
{
	return get_text(topo, server, PORT + dim);
}

const char *aggt_topo_port_lladdr(const struct aggt_topo *topo,
				  aggt_node server, unsigned int dim)
{
	return get_text(topo, server, LLADDR + dim);
}

/* A server that works but has no link that does can take part in nothing. */
static int check_isolated(const struct aggt_topo *topo, aggt_node server,
			  struct aggt_err *err)
{
	unsigned int d;

	if (topo->agents || !aggt_topo_server_ok(topo, server))
		return 0;
	for (d = 0; d < topo->dims; d++)
		if (aggt_topo_link_ok(topo, server, d))
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

	if (!name || topo->agents || !aggt_topo_digits(topo))
		return 0;
	sw = strtoul(name + 1, NULL, 10);
	dim = aggt_topo_switch_level(topo, sw);
	for (digit = 0; digit < topo->radix[dim]; digit++)
		if (check_isolated(topo, aggt_topo_switch_server(topo, sw,
								 digit), err))
			return -1;
	return 0;
}

/* Every server of a graph that works can reach the first one that does. */
static int check_reach(const struct aggt_topo *topo, struct aggt_err *err)
{
	aggt_node v, first = 0;

	if (aggt_topo_digits(topo))
		return 0;
	while (first < topo->servers && !aggt_topo_server_ok(topo, first))
		first++;
	for (v = first; v < topo->servers; v++) {
		if (!aggt_topo_server_ok(topo, v) ||
		    aggt_topo_distance(topo, v, first) != AGGT_NONE)
			continue;
		aggt_err_set(err,
			     "server %s: disconnected, no path to %s works",
			     aggt_label(topo, v).text,
			     aggt_label(topo, first).text);
		if (topo->graph->line)
			aggt_line_blame(topo->graph->line[v], err);
		return -1;
	}
	return 0;
}

static int apply(struct aggt_topo *topo, const struct aggt_line *line,
		 struct aggt_err *err)
{
	const char *what = line->word[0];

	if (line->n == 2 && (!strcmp(what, "failed") ||
			     !strcmp(what, "absent")))
		return aggt_topo_fail(topo, line->word[1], err);
	if ((line->n == 3 || line->n == 4) && !strcmp(what, "address"))
		return set_address(topo, line, err);
	if (topo->ops == &aggt_graph_ops && aggt_describes_graph(line))
		return 0;
	aggt_err_set(err, "%.32s: expected failed PART, absent PART, address vN A.B.C.D or address vN-wN A.B.C.D [MAC]%s",
		     what, topo->ops == &aggt_graph_ops ?
		     ", address SWITCH A.B.C.D, host NAME, switch NAME, rack NAME HOST... or link A B [RATE]" : "");
	return -1;
}

static struct aggt_topo *first_line(const char **at, struct aggt_line *line,
				    struct aggt_err *err)
{
	struct aggt_topo *topo;
	int more;

	do
		more = aggt_line_next(at, line, err);
	while (more > 0 && !line->n);
	if (more < 0)
		return NULL;
	if (!more || line->n != 2 || strcmp(line->word[0], "topology")) {
		aggt_err_set(err, "line %u: a description begins with: topology T",
			     line->number);
		return NULL;
	}
	if (!strcmp(line->word[1], "graph")) {
		topo = aggt_topo_new(&aggt_graph_ops, "", err);
		if (topo && aggt_describe_graph(topo, *at, line->number, err)) {
			aggt_topo_free(topo);
			topo = NULL;
		}
		return topo;
	}
	topo = aggt_topo_parse(line->word[1], err);
	if (!topo)
		aggt_line_blame(line->number, err);
	return topo;
}

struct aggt_topo *aggt_topo_describe(const char *text, struct aggt_err *err)
{
	struct aggt_line line = { .number = 0 };
	struct aggt_topo *topo = first_line(&text, &line, err);
	const char *body = text;
	unsigned int first = line.number;
	int more;

	if (!topo)
		return NULL;
	while ((more = aggt_line_next(&text, &line, err)) > 0)
		if (line.n && apply(topo, &line, err)) {
			aggt_line_blame(line.number, err);
			goto fail;
		}
	if (more < 0)
		goto fail;
	/* Only now is all known that has failed. */
	line.number = first;
	while (aggt_line_next(&body, &line, NULL) > 0)
		if (line.n == 2 && check_part(topo, line.word[1], err)) {
			aggt_line_blame(line.number, err);
			goto fail;
		}
	if (!check_reach(topo, err))
		return topo;
fail:
	aggt_topo_free(topo);
	return NULL;
}
