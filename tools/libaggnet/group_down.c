// SPDX-License-Identifier: GPL-2.0
/* The round down of a collective: the message of rank 0 to all others. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cast.h"
#include "conn.h"
#include "group.h"

/* A call of the tree down has failed. */
static int down_lost(struct aggnet_group *g, int err)
{
	if (!err || err == -EAGAIN || err == -EINTR)
		return err;
	return group_lost(g, err, cast_conn(g->down));
}

int down_send(struct aggnet_coll *c)
{
	struct aggnet_cast *down = c->g->down;
	ssize_t n;

	do {
		while (c->done < c->length) {
			n = aggnet_cast_write(down, c->g->buf + c->done,
					      c->length - c->done);
			if (n < 0)
				return down_lost(c->g, (int)n);
			c->done += (uint64_t)n;
		}
	} while (parts_next(c));
	if (!c->closed)
		return -EAGAIN;
	return down_lost(c->g, c->last ? aggnet_cast_finish(down) :
					 aggnet_cast_round(down));
}

/* Elements of the result that come down. */
static uint64_t down_elements(const struct aggnet_coll *c)
{
	return c->layout.down ? layout_result(&c->layout) : 0;
}

static void down_malformed(struct aggnet_coll *c)
{
	c->equal = false;
	c->status = -EBADMSG;
	snprintf(c->text, sizeof(c->text), "malformed message of rank 0");
}

/* Does the part follow, or repeat, what has come? */
static bool down_part_is_good(const struct aggnet_coll *c)
{
	const struct agree_part *p = &c->part;

	return p->first <= c->whole && p->n <= down_elements(c) - p->first &&
	       (p->n || !p->more);
}

/* A head is complete: is the call of rank 0 this rank's? */
static void down_head(struct aggnet_coll *c)
{
	char difference[192];
	struct agree root;

	c->taken = 0;
	if (!agree_get(&root, &c->status, &c->part, c->head)) {
		down_malformed(c);
		return;
	}
	c->equal = agree_equal(&c->call, &root);
	if (!c->equal) {
		c->status = -EPROTO;
		snprintf(c->text, sizeof(c->text), "the ranks disagree: %s",
			 agree_difference(&c->call, &root, difference,
					  sizeof(difference)));
	} else if (!c->status && !down_part_is_good(c)) {
		down_malformed(c);
	}
}

/*
 * Where elements of the result from @first on come to lie. Return: how many of them this
 * rank takes
 */
static uint64_t down_place(const struct aggnet_coll *c, uint64_t first, uint64_t n,
			   uint64_t *from)
{
	const struct layout *l = &c->layout;
	uint64_t end = first + n;

	if (first < l->first)
		first = l->first;
	if (end > l->first + l->takes)
		end = l->first + l->takes;
	*from = first;
	return first < end ? end - first : 0;
}

/*
 * Would the part overwrite elements that this rank has not given yet, as the buffers
 * overlap? It came early, and waits; giving does not wait for it.
 */
static bool down_is_early(const struct aggnet_coll *c)
{
	const struct layout *l = &c->layout;
	const uint8_t *left, *to;
	uint64_t n, from;

	if (!c->equal || c->status || !c->g->up || c->stage > UP_DATA || !l->gives)
		return false;
	n = down_place(c, c->part.first, c->part.n, &from);
	to = c->recv + (from - l->first) * l->size;
	left = c->send + (c->stage == UP_DATA ? c->at / l->carriers * l->size : 0);
	return n && to < c->send + l->length * l->size && left < to + n * l->size;
}

/* Copy what is this rank's of @len bytes of the part. */
static void down_take(struct aggnet_coll *c, const uint8_t *data, uint64_t len)
{
	uint64_t at = c->part.first * c->layout.size + c->taken;
	uint64_t from = c->layout.first * c->layout.size;
	uint64_t to = from + c->layout.takes * c->layout.size;
	uint64_t begin = at > from ? at : from;
	uint64_t end = at + len < to ? at + len : to;

	if (begin < end)
		memcpy(c->recv + (begin - from), data + (begin - at),
		       end - begin);
}

static void down_text(struct aggnet_coll *c, const uint8_t *data, uint64_t len)
{
	if (c->taken < sizeof(c->text) - 1)
		memcpy(c->text + c->taken, data,
		       len < sizeof(c->text) - 1 - c->taken ?
		       len : sizeof(c->text) - 1 - c->taken);
	c->taken += len;
}

/* Elements of the part. Return: bytes that were taken */
static uint64_t down_data(struct aggnet_coll *c, const uint8_t *data, uint64_t len)
{
	uint64_t left = c->part.n * c->layout.size - c->taken;

	if (!left) {
		down_malformed(c);
		return len;
	}
	if (len > left)
		len = left;
	down_take(c, data, len);
	c->taken += len;
	if (len < left)
		return len;
	if (c->whole < c->part.first + c->part.n)
		c->whole = c->part.first + c->part.n;
	if (c->part.more)
		c->headed = 0;
	return len;
}

static uint64_t down_head_bytes(struct aggnet_coll *c, const uint8_t *data,
				uint64_t len)
{
	if (len > AGREE_BYTES - c->headed)
		len = AGREE_BYTES - c->headed;
	memcpy(c->head + c->headed, data, len);
	c->headed += (uint32_t)len;
	if (c->headed == AGREE_BYTES)
		down_head(c);
	return len;
}

/* Take what was read, as far as it may be. */
static void down_piece(struct aggnet_coll *c)
{
	c->held = false;
	while (c->done < c->length) {
		const uint8_t *data = c->g->buf + c->done;
		uint64_t len = c->length - c->done;

		if (c->headed < AGREE_BYTES) {
			c->done += down_head_bytes(c, data, len);
			continue;
		}
		c->held = down_is_early(c);
		if (c->held)
			return;
		if (c->equal && !c->status)
			len = down_data(c, data, len);
		else if (c->equal)
			down_text(c, data, len);
		c->done += len;
	}
}

/* The message is complete. */
static int down_end(struct aggnet_coll *c)
{
	if (!c->status && (c->headed < AGREE_BYTES || c->part.more ||
			   c->taken < c->part.n * c->layout.size ||
			   c->whole < down_elements(c)))
		return group_fail(c->g, -EBADMSG, "short message of rank 0");
	if (!c->status)
		element_host(c->recv, c->layout.takes, c->layout.size);
	c->last = cast_is_last(c->g->down);
	return c->last ? 0 : down_lost(c->g, aggnet_cast_round(c->g->down));
}

int down_receive(struct aggnet_coll *c)
{
	struct aggnet_group *g = c->g;
	ssize_t n;
	int err;

	for (;;) {
		down_piece(c);
		if (c->held)
			return -EAGAIN;
		n = aggnet_cast_read(g->down, g->buf, sizeof(g->buf));
		if (n <= 0)
			break;
		c->done = 0;
		c->length = (uint64_t)n;
	}
	err = n < 0 ? (int)n : aggnet_cast_commit(g->down);
	return err ? down_lost(g, err) : down_end(c);
}
