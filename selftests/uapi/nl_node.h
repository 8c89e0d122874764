/* SPDX-License-Identifier: GPL-2.0 */
/* A node to test, in a namespace of its own, and short calls of the usual
 * requests.
 */
#ifndef NL_NODE_H
#define NL_NODE_H

#include "nl.h"

#define IDENTITY	"10.0.0.1"	/* on lo of the namespace */
#define RECEIVER	"10.0.0.9"
#define NEIGHBOUR	"10.16.0.2"
#define OTHER		"10.16.0.3"

/* Enter a new namespace with lo and the pairs p0-q0, p1-q1, all up. */
int node_namespace(void);

/* Return: "a.b.c.d" in network order */
uint32_t addr(const char *text);

/* Incast ID of a job to RECEIVER. */
uint64_t incast(uint32_t job);

uint32_t ifindex(const char *name);

/* These requests should succeed. Return: 0 or -errno */
int node_identity(struct nl *nl, const char *address);
int node_role(struct nl *nl, uint8_t role);
int node_memory(struct nl *nl, uint64_t limit);
int port_add(struct nl *nl, const char *name);
int link_add(struct nl *nl, const char *port, const char *neighbour);
int link_del(struct nl *nl, const char *port, const char *neighbour);
/* Add a source: one writer, no child, plain IP to the receiver. */
int tree_add(struct nl *nl, uint64_t id, uint32_t instance, uint16_t flags);
/* Add a transit that uses the Bloom table of a link. */
int transit_add(struct nl *nl, uint64_t id, uint32_t instance, uint16_t flags,
		const char *port, const char *neighbour);
int tree_del(struct nl *nl, uint64_t id);
/* Delete the trees of jobs @from to @to. */
int trees_del(struct nl *nl, uint32_t from, uint32_t to);

/* Return: the entries and links in force that a dump lists; negative: -errno */
int trees(struct nl *nl);
int links(struct nl *nl);
/* Return: the memory that NODE_GET reports; ~0 if it fails */
uint64_t memory_used(struct nl *nl);
/* Return: the entries in the Bloom table of a link, -1: no such link */
int marks(struct nl *nl, const char *port, const char *neighbour);

/*
 * Return: the memory of a Bloom table, bits and counts, without the link itself
 */
uint64_t table_memory(uint32_t bits);

/* Does @cond() become true within some seconds? */
bool within(struct nl *nl, bool (*cond)(struct nl *nl));
/* Is that the used memory? Entries free theirs after a grace period. */
bool memory_becomes(struct nl *nl, uint64_t bytes);

#define NOBODY		65534

/* Change the whole process for good. Return: 0 or -errno */
int become_nobody(void);
/* Become root of a new user namespace, and the user "nobody" outside of it. */
int become_root_of_a_namespace(void);

/*
 * The kernel refuses the request with this error, text and attribute (0: none).
 */
#define EXPECT_REFUSED(nl, request, error, attribute, sentence) do {	\
	EXPECT_EQ(-(error), request);					\
	EXPECT_STREQ(sentence, (nl)->text);				\
	EXPECT_EQ(attribute, (nl)->blamed);				\
} while (0)

/* ... because this attribute is missing */
#define EXPECT_MISSING(nl, request, attribute) do {			\
	EXPECT_EQ(-EINVAL, request);					\
	EXPECT_STREQ("a required attribute is missing", (nl)->text);	\
	EXPECT_EQ(attribute, (nl)->missing);				\
} while (0)

#endif /* NL_NODE_H */
