/* SPDX-License-Identifier: GPL-2.0 */
/* A node to test against: a namespace of its own, and short names for what is
 * asked of it.
 */
#ifndef NL_NODE_H
#define NL_NODE_H

#include "nl.h"

#define IDENTITY	"10.0.0.1"	/* on lo of the namespace */
#define RECEIVER	"10.0.0.9"
#define NEIGHBOUR	"10.16.0.2"
#define OTHER		"10.16.0.3"

/* New namespace of the caller: lo and the pairs p0-q0, p1-q1, all up. */
int node_namespace(void);

/* "a.b.c.d" as in a packet. */
uint32_t addr(const char *text);

/* Incast ID of a job to RECEIVER. */
uint64_t incast(uint32_t job);

uint32_t ifindex(const char *name);

/* Requests that are expected to succeed. Return: 0 or -errno */
int node_identity(struct nl *nl, const char *address);
int node_role(struct nl *nl, uint8_t role);
int node_memory(struct nl *nl, uint64_t limit);
int port_add(struct nl *nl, const char *name);
int link_add(struct nl *nl, const char *port, const char *neighbour);
int link_del(struct nl *nl, const char *port, const char *neighbour);
/* A source: one writer, no child, plain IP to the receiver. */
int tree_add(struct nl *nl, uint64_t id, uint32_t instance, uint16_t flags);
/* Transit by the Bloom table of a link. */
int transit_add(struct nl *nl, uint64_t id, uint32_t instance, uint16_t flags,
		const char *port, const char *neighbour);
int tree_del(struct nl *nl, uint64_t id);
/* Those of jobs @from to @to. */
int trees_del(struct nl *nl, uint32_t from, uint32_t to);

/* Entries and links in force, as a dump counts them; negative: -errno */
int trees(struct nl *nl);
int links(struct nl *nl);
/* What NODE_GET says; ~0 if it fails. */
uint64_t memory_used(struct nl *nl);
/* Entries that the Bloom table of a link has, -1: there is no such link. */
int marks(struct nl *nl, const char *port, const char *neighbour);

/* What a Bloom table takes: bits and counts, the fixed part of a link aside. */
uint64_t table_memory(uint32_t bits);

/* Does @cond() hold within some seconds? */
bool within(struct nl *nl, bool (*cond)(struct nl *nl));
/* Is that what is used? Entries go, with what they take, after a grace period. */
bool memory_becomes(struct nl *nl, uint64_t bytes);

#define NOBODY		65534

/* For good, the whole process. Return: 0 or -errno */
int become_nobody(void);
/* Root in a user namespace that only knows itself; nobody outside of it. */
int become_root_of_a_namespace(void);

/* The request was refused, with this error, sentence and attribute (0: none) */
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
