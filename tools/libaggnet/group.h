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
 * @answered: rank 0: the message down is complete
 * @message: rank 0: the message down
 * @length: bytes of it
 * @done: bytes that were sent or received
 * @told: the round down is over
 * @head: other ranks: the front of the message
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
	bool answered;
	uint8_t *message;
	uint64_t length;
	uint64_t done;
	bool told;
	uint8_t head[AGREE_BYTES];
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
 * @buf: a piece of the message
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

/* Rank 0: read the round, and make the message down, whose status tells errors.
 * Return: 0, or -EAGAIN
 */
int up_answer(struct aggnet_coll *c);

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
