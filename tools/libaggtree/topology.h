/* SPDX-License-Identifier: GPL-2.0 */
/* What a kind of topology provides: the interface that each has a file for. */
#ifndef AGGT_TOPOLOGY_H
#define AGGT_TOPOLOGY_H

#include "aggtree.h"

/**
 * typedef aggt_code - a point of a topology, as its kind encodes it
 *
 * Trees connect points: servers or, with agents, switches. A kind with digits
 * gives each digit of a label a bit field of its own: with the receiver's
 * label XORed in, a field is zero where a label agrees with the receiver's,
 * and clearing it is the hop that corrects the digit. For the other kinds it
 * is the number of the server and means nothing else.
 */
typedef uint64_t aggt_code;

/**
 * struct aggt_topo_ops - a kind of topology
 * @kind: name of the kind, which names of topologies begin with
 * @form: the names of its topologies, for errors
 * @parse: fill in a topology, its name and the numbers of its servers and
 *	switches among it, from what follows the colon. Return: 0 or -1
 * @encode: the point of a server: itself or, with agents, its switch
 * @decode: number of a point: of a server or, with agents, of a switch
 * @neighbours: list the points one hop from @at in @list, which may be NULL.
 *	Return: how many there are
 * @distance: hops on the path that packets take, AGGT_NONE if there is no path
 * @path_links: links on that path
 * @next_hop: the point that comes next on that path, @to if it is @from
 * @hop_links: links that a hop crosses. Return: 0 if it is not a hop, which
 *	crosses no point
 * @hop_link: name of link @i of a hop, the same from both ends of the link; if
 *	@back is not NULL it tells the two directions of the link apart
 * @switch_between: number of the switch number @i that a hop crosses,
 *	AGGT_NONE if it crosses fewer
 * @port: number of the port of @from that a hop leaves by, AGGT_NONE if it is
 *	not a hop
 *
 * Points a hop apart have only switches between them. A method that needs
 * digits uses their fields of the codes and none of this; the others use this
 * alone and so work on each kind.
 */
struct aggt_topo_ops {
	const char *kind;
	const char *form;
	int (*parse)(struct aggt_topo *topo, const char *args,
		     struct aggt_err *err);
	aggt_code (*encode)(const struct aggt_topo *topo, aggt_node server);
	uint32_t (*decode)(const struct aggt_topo *topo, aggt_code point);
	uint32_t (*neighbours)(const struct aggt_topo *topo, aggt_code at,
			       aggt_code *list);
	uint32_t (*distance)(const struct aggt_topo *topo, aggt_code from,
			     aggt_code to);
	uint32_t (*path_links)(const struct aggt_topo *topo, aggt_code from,
			       aggt_code to);
	aggt_code (*next_hop)(const struct aggt_topo *topo, aggt_code from,
			      aggt_code to);
	uint32_t (*hop_links)(const struct aggt_topo *topo, aggt_code from,
			      aggt_code to);
	uint64_t (*hop_link)(const struct aggt_topo *topo, aggt_code from,
			     aggt_code to, uint32_t i, bool *back);
	uint32_t (*switch_between)(const struct aggt_topo *topo,
				   aggt_code from, aggt_code to, uint32_t i);
	uint32_t (*port)(const struct aggt_topo *topo, aggt_code from,
			 aggt_code to);
};

extern const struct aggt_topo_ops aggt_bcube_ops;
extern const struct aggt_topo_ops aggt_ghc_ops;
extern const struct aggt_topo_ops aggt_fbfly_ops;
extern const struct aggt_topo_ops aggt_hyperx_ops;
extern const struct aggt_topo_ops aggt_camcube_ops;
extern const struct aggt_topo_ops aggt_dcell_ops;
extern const struct aggt_topo_ops aggt_leafspine_ops;
extern const struct aggt_topo_ops aggt_fattree_ops;
extern const struct aggt_topo_ops aggt_racks_ops;
extern const struct aggt_topo_ops aggt_graph_ops;

/** aggt_topo_new - a topology of a kind. Return: it or NULL. */
struct aggt_topo *aggt_topo_new(const struct aggt_topo_ops *ops,
				const char *args, struct aggt_err *err);

/** AGGT_LABEL - room for the name of a server or switch. */
#define AGGT_LABEL 48

struct aggt_label {
	char text[AGGT_LABEL];
};

/** aggt_label - the name of a server: vN, or what a description calls it. */
struct aggt_label aggt_label(const struct aggt_topo *topo, aggt_node server);
struct aggt_label aggt_switch_label(const struct aggt_topo *topo, uint32_t sw);

/**
 * aggt_parse_numbers - read numbers separated by commas
 * @text: the first one
 * @number: filled in
 * @room: how many fit
 * @end: where they end; NULL: at the end of the text
 *
 * Return: how many there are, -1 if there are none, too many, or other text.
 */
int aggt_parse_numbers(const char *text, uint32_t *number, unsigned int room,
		       const char **end);

#endif /* AGGT_TOPOLOGY_H */
