/* SPDX-License-Identifier: GPL-2.0 */
/* A transfer along a line of nodes, C, T, A and R, from C and A to R: its
 * entries, its applications, which are sockets of this process, and the states that a test
 * can bring it to.
 */
#ifndef LINE_TRANSFER_H
#define LINE_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/line.h"

#define GIVE_UP		400	/* ms */
#define PATIENT		60000	/* where no node may give up */
#define RECORDS		400	/* of each source */

enum { NODE_C, NODE_T, NODE_AGG, NODE_R, NODES };
enum { APP_C, APP_AGG, APP_R, APPS };

extern const int app_node[APPS];
extern const char * const app_name[APPS];

/**
 * struct app - an application that takes part
 * @fd: its socket, -1: it is killed
 * @sent: records so far
 * @shut: the source has shut down its end
 * @seen: receiver: the sum of the values that it has read, by key
 * @foreign: receiver: records with a key that no source has
 * @over: it has its outcome
 * @error: of the outcome, 0: success
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
 * struct line_transfer - the transfers on a line, one after the other
 * @line: the nodes
 * @app: applications of this transfer, by APP_*
 * @taken: the receiver has read the end mark
 * @give_up: of the entries, ms
 * @slow: factor of all clocks; a quick host needs 1
 * @repeated: tries of all transfers so far that a slow host spoiled
 * @unexplained: those of them in which no CPU stood still
 * @instance: of this transfer
 * @hold: of the entries, ms
 * @persist: the entries serve any number of rounds
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
	bool persist;
};

/**
 * struct state - of a transfer in which a member dies
 * @name: for messages
 * @later: no application joins before the death
 * @first: this must hold before @mtu is set and before a record is sent
 * @mtu: of the link on the left of @at, 0: unchanged
 * @at: node
 * @c_hold: of C's entry, ms: its records leave as they come
 * @a_hold: of the aggregator's entry, ms
 * @c: records that C sends
 * @c_shut: C then shuts down its end
 * @c_fails: C then closes its socket without an end
 * @a: records that the aggregator's own source sends
 * @a_shut: it then shuts down its end
 * @read: the receiver reads the records
 * @take: the receiver reads the end mark
 * @there: has the transfer reached this state?
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
/* What the applications do after any state, up to the end of the transfer. */
extern const struct state transfer_rest;

/* Return: 0, or -1 */
int app_join(struct line_transfer *t, int app);
void app_kill(struct line_transfer *t, int app);
/* Let a source send up to @records, and shut down its end if @shut. */
void app_write(struct line_transfer *t, int app, unsigned int records,
	       bool shut);
/*
 * Read one message; the end mark only if @take. Return: false: nothing to read
 */
bool app_read(struct line_transfer *t, bool take);

/* Make the line. Return: 0, or -1 */
int transfer_up(struct line_transfer *t);
/* Add an entry at a node. Return: 0, or negative */
int transfer_add(struct line_transfer *t, int node);
/* Add the entries of a new instance, parents first. Return: 0, or -1 */
int transfer_begin(struct line_transfer *t);
/* Remove all applications and entries. */
void transfer_end(struct line_transfer *t);
/* Get the state of a node's entry; zeroes if it has none. */
struct aggnet_tree_info transfer_look(struct line_transfer *t, int node);
uint64_t transfer_counter(struct line_transfer *t, int node, const char *name);

/* Join all applications but those whose bit is set. Return: 0, or -1 */
int transfer_join(struct line_transfer *t, unsigned int absent);
/* Has the receiver read what C and the aggregator sent, of each key? */
bool transfer_exact(const struct line_transfer *t);
/* Has every application that was not killed its outcome? */
bool transfer_over(struct line_transfer *t);
/* Let the applications go on until @there. Return: false: not in time */
bool transfer_reach(struct line_transfer *t, const struct state *s,
		    bool (*there)(struct line_transfer *t));
/* Set the MTU of the state's link, if it has one. */
void transfer_narrow(struct line_transfer *t, const struct state *s, int mtu);
/*
 * Bring the transfer to the state. On a host that is too busy for the clocks
 * repeat this with slower clocks, and count the try; otherwise a timeout is an
 * error. Needs stall_watch(). Return: what went wrong, or NULL
 */
const char *transfer_bring(struct line_transfer *t, const struct state *s);
/* Return: a text that shows the state of the entries */
const char *transfer_picture(struct line_transfer *t);

#endif /* LINE_TRANSFER_H */
