/* SPDX-License-Identifier: GPL-2.0 */
/* Group: the handles of the two trees of a group at one rank, and the collective that
 * is under way.
 */
#ifndef AGGNET_GROUP_H
#define AGGNET_GROUP_H

#include "agree.h"
#include "aggnet_coll.h"
#include "core/shape.h"
#include "layout.h"

struct conn;
struct sink;
struct source;

/**
 * enum up_stage - how far a rank is with its part of the round up
 * @UP_AGREE: it gives the elements before the data
 * @UP_DATA: it gives the data
 * @UP_END: it ends the round, and waits for the outcome
 * @UP_DONE: it has the outcome
 */
enum up_stage { UP_AGREE, UP_DATA, UP_END, UP_DONE };

/*
 * Bytes of a part of the message down. A part that is shorter has more of heads, and of
 * packets that are not full; a longer one waits longer until it is complete. 32 packets are
 * 2 % of a vector of 2 MB, and have one head, which is 0.2 % of them.
 */
#define GROUP_PART	(32 * GROUP_PACKET)
#define GROUP_PACKET	1384	/* bytes of a packet down */

/**
 * struct early - rank 0: elements that go down before the round up is over
 * @seen: blocks that have come up, in the order in which they came
 * @come: whether each block of the result has
 * @ready: elements of the result from the first on that have come
 * @begun: of them, those that are in a part that has begun
 * @stale: whether each range of a part's elements has changed since it was sent
 * @next: range that is looked at next
 */
struct early {
	uint64_t seen;
	bool *come;
	uint64_t ready;
	uint64_t begun;
	bool *stale;
	uint64_t next;
};

/**
 * struct aggnet_coll - a collective
 * @g: its group
 * @send: of the caller
 * @recv: of the caller
 * @layout: what goes where
 * @call: this rank's call
 * @last: no other follows
 * @stage: of the round up
 * @at: elements that this rank has given in this stage
 * @up_error: the round up has failed here
 * @up_text: its sentence
 * @judged: rank 0: the outcome is known
 * @answered: rank 0: and the round up is over, so that it may be told
 * @result: rank 0: the result, as it goes down
 * @early: rank 0: what goes down before the round up is over
 * @closed: the last part of the message down was begun; it is complete
 * @length: rank 0: bytes of this part; other ranks: of the piece that was read
 * @done: of them, those that were sent or taken
 * @told: the round down is over
 * @head: other ranks: the front of a part
 * @headed: bytes of it that have come
 * @part: the part
 * @taken: elements of it that have come
 * @whole: elements of the result from the first on that have come
 * @held: the part would overwrite elements that this rank has not given yet
 * @status: of the message
 * @equal: the call of rank 0 is this rank's
 * @text: sentence for @status
 */
struct aggnet_coll {
	struct aggnet_group *g;
	const uint8_t *send;
	uint8_t *recv;
	struct layout layout;
	struct agree call;
	bool last;
	enum up_stage stage;
	uint64_t at;
	int up_error;
	char up_text[2 * AGGNET_TEXT_MAX];
	bool judged;
	bool answered;
	uint8_t *result;
	struct early early;
	bool closed;
	uint64_t length;
	uint64_t done;
	bool told;
	uint8_t head[AGREE_BYTES];
	uint32_t headed;
	struct agree_part part;
	uint64_t taken;
	uint64_t whole;
	bool held;
	int status;
	bool equal;
	char text[AGGNET_TEXT_MAX];
};

/**
 * struct aggnet_group - a group at one rank
 * @conf: as given
 * @shape: of the tree up
 * @up: writes to it; NULL: there is none any more
 * @sum: rank 0: reads the result
 * @down: the message of the root
 * @coll: the collective
 * @busy: it is outstanding
 * @ended: no other follows
 * @calls: how many there were
 * @error: the last error
 * @buf: a part of the message, or a piece that was read
 */
struct aggnet_group {
	struct aggnet_group_conf conf;
	struct aggnet_shape shape;
	struct source *up;
	struct sink *sum;
	struct aggnet_cast *down;
	struct aggnet_coll coll;
	bool busy;
	bool ended;
	uint64_t calls;
	char error[2 * AGGNET_TEXT_MAX];
	uint8_t buf[65536];
};

int group_fail(struct aggnet_group *g, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Set the sentence to that of an error of a tree. Return: @err, with one meaning */
int group_lost(struct aggnet_group *g, int err, const struct conn *tree);

/* Leave both trees: an application that is in the middle aborts them. */
void group_leave(struct aggnet_group *g);

/* May a collective begin? Return: 0 or an errno */
int group_free(struct aggnet_group *g);

/* Begin one, whose arguments have been checked. */
struct aggnet_coll *group_start(struct aggnet_group *g, uint32_t kind,
				const void *send, void *recv, uint64_t count,
				uint32_t root);

/* The round up. */

/* Give this rank's part. Return: 0, -EAGAIN, or an errno */
int up_give(struct aggnet_coll *c);

/* Rank 0: read the round, and find the result and the outcome, which the message down
 * tells.
 */
void up_answer(struct aggnet_coll *c);

/* Take an element of the vector into the result. Return: it is one of the result */
bool up_element(struct aggnet_coll *c, const struct aggnet_entry *line,
		double *agreement);

/* The parts of the message down, at rank 0. */

/* Have memory for the result. Return: false: there is none */
bool parts_begin(struct aggnet_coll *c);
void parts_end(struct aggnet_coll *c);

/* Look at what has come up, but may change until the round up is over. */
void parts_look(struct aggnet_coll *c);

/* An element of the result is written: remember whether it was sent as another one. */
void parts_put(struct aggnet_coll *c, uint64_t element, uint32_t at, uint64_t bits,
	       uint32_t width);

/* Make the next part in @g->buf. Return: false: none is ready */
bool parts_next(struct aggnet_coll *c);

/* The round down. Return: 0: it is over, -EAGAIN or -EINTR, or an errno with its
 * sentence
 */
int down_send(struct aggnet_coll *c);
int down_receive(struct aggnet_coll *c);

/* Elements in the caller's memory and in messages, of @size bytes. */
uint64_t element_get(const void *at, uint32_t size);
void element_put(void *at, uint64_t bits, uint32_t size);

/* Convert the elements of a message, in place. */
void element_host(uint8_t *at, uint64_t n, uint32_t size);

#endif /* AGGNET_GROUP_H */
