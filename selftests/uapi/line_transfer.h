/* SPDX-License-Identifier: GPL-2.0 */
/* A transfer along a line of nodes, from C and A to R: its applications, which
 * this process plays, its entries, and the states that it can be brought to.
 */
#ifndef LINE_TRANSFER_H
#define LINE_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"

#define GIVE_UP		400	/* ms */
#define PATIENT		60000	/* where nobody may give up */
#define RECORDS		400	/* of each source */

enum { APP_C, APP_AGG, APP_R, APPS };

extern const int app_node[APPS];
extern const char * const app_name[APPS];

/**
 * struct app - a process that takes part, played by this one
 * @fd: its socket, -1: it is dead
 * @sent: records so far
 * @shut: the source has told its end
 * @seen: of the receiver: what it has read of each key, in all
 * @foreign: of the receiver: records with a key that no source has
 * @over: it has its outcome
 * @error: which, 0: all is well
 */
struct app {
	int fd;
	unsigned int sent;
	bool shut;
	int64_t seen[RECORDS];
	unsigned int foreign;
	bool over;
	int error;
};

/**
 * struct line_transfer - one after the other on a line
 * @line: the nodes
 * @app: of this one, by APP_*
 * @taken: the end mark, by a living receiver
 * @give_up: of the entries, ms
 * @slow: so many times what a quick host needs
 * @repeated: tries of all transfers so far that a slow host spoiled
 * @unexplained: those of them in which no CPU stood still
 * @instance: of this one
 * @hold: of the entries, ms
 */
struct line_transfer {
	struct line line;
	struct app app[APPS];
	bool taken;
	uint32_t give_up;
	uint32_t slow;
	unsigned int repeated;
	unsigned int unexplained;
	uint32_t instance;
	uint32_t hold[NODES];
};

/**
 * struct state - of a transfer in which somebody dies
 * @name: for people
 * @later: nobody joins before
 * @first: this must be so before @mtu, and before anything is sent
 * @mtu: of the link on the left of @at, 0: what it was
 * @at: node
 * @c_hold: of C's entry, ms: its records leave as they come
 * @a_hold: of the aggregator's, likewise
 * @c: records of C
 * @c_shut: and its end
 * @c_fails: and C ends without it
 * @a: the aggregator's own source, as @c
 * @a_shut: as @c_shut
 * @read: the receiver reads the records
 * @take: and the end mark
 * @there: the state has been reached
 */
struct state {
	const char *name;
	bool later;
	bool (*first)(struct line_transfer *t);
	int mtu;
	int at;
	uint32_t c_hold;
	uint32_t a_hold;
	unsigned int c;
	bool c_shut;
	bool c_fails;
	unsigned int a;
	bool a_shut;
	bool read;
	bool take;
	bool (*there)(struct line_transfer *t);
};

enum {
	IDLE, OPENING, BINDING, BOUND, DATA, RELAYING, FINISHED, CLOSING, WHOLE,
	READ, DONE, ABORTED, STATES
};

extern const struct state transfer_states[STATES];
/* What a transfer has to do from any of them to its end. */
extern const struct state transfer_rest;

/* Return: 0, or -1 */
int app_join(struct line_transfer *t, int app);
void app_kill(struct line_transfer *t, int app);
/* What a source does next, up to @records, and to its end if @shut. */
void app_write(struct line_transfer *t, int app, unsigned int records,
	       bool shut);
/* One message; the end mark only if @take. Return: false: not now */
bool app_read(struct line_transfer *t, bool take);

/* An entry at a node. Return: 0, or negative */
int transfer_add(struct line_transfer *t, int node);
/* A new instance of the same incast ID, parents first. Return: 0, or -1 */
int transfer_begin(struct line_transfer *t);
/* All applications and entries go. */
void transfer_end(struct line_transfer *t);
/* An entry as its node tells it; zeroes if there is none. */
struct aggnet_tree_info transfer_look(struct line_transfer *t, int node);
uint64_t transfer_counter(struct line_transfer *t, int node, const char *name);

/* All but those whose bit is set. Return: 0, or -1 */
int transfer_join(struct line_transfer *t, unsigned int absent);
/* Has the receiver read what C and the aggregator sent, of each key? */
bool transfer_exact(const struct line_transfer *t);
/* Have all that live an outcome? */
bool transfer_over(struct line_transfer *t);
/* Let the applications go on until that. Return: false: not in time */
bool transfer_reach(struct line_transfer *t, const struct state *s,
		    bool (*there)(struct line_transfer *t));
/* The link of a state, if it has one. */
void transfer_narrow(struct line_transfer *t, const struct state *s, int mtu);
/*
 * Bring the transfer there. A host that is seen to be too busy for our clocks
 * gets slower ones, and the try is counted: otherwise a timeout is a failure.
 * Needs stall_watch().
 * Return: what went wrong, NULL: nothing
 */
const char *transfer_bring(struct line_transfer *t, const struct state *s);
/* The transfer as the nodes see it. */
const char *transfer_picture(struct line_transfer *t);

#endif /* LINE_TRANSFER_H */
