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

	while (c->done < c->length) {
		n = aggnet_cast_write(down, c->message + c->done,
				      c->length - c->done);
		if (n < 0)
			return down_lost(c->g, (int)n);
		c->done += (uint64_t)n;
	}
	return down_lost(c->g, c->last ? aggnet_cast_finish(down) :
					 aggnet_cast_round(down));
}

/* The head is complete: is the call of rank 0 this rank's? */
static void down_head(struct aggnet_coll *c)
{
	char difference[192];
	struct agree root;

	if (!agree_get(&root, &c->status, c->head)) {
		c->status = -EBADMSG;
		snprintf(c->text, sizeof(c->text),
			 "malformed message of rank 0");
		return;
	}
	c->equal = agree_equal(&c->call, &root);
	if (c->equal)
		return;
	c->status = -EPROTO;
	snprintf(c->text, sizeof(c->text), "the ranks disagree: %s",
		 agree_difference(&c->call, &root, difference,
				  sizeof(difference)));
}

/* Copy what is this rank's of @len bytes of the result from byte @at on. */
static void down_take(struct aggnet_coll *c, uint64_t at, const uint8_t *data,
		      uint64_t len)
{
	uint64_t from = c->layout.first * c->layout.size;
	uint64_t to = from + c->layout.takes * c->layout.size;
	uint64_t begin = at > from ? at : from;
	uint64_t end = at + len < to ? at + len : to;

	if (begin < end)
		memcpy(c->recv + (begin - from), data + (begin - at),
		       end - begin);
}

static void down_text(struct aggnet_coll *c, uint64_t at, const uint8_t *data,
		      uint64_t len)
{
	if (at < sizeof(c->text) - 1)
		memcpy(c->text + at, data, len < sizeof(c->text) - 1 - at ?
		       len : sizeof(c->text) - 1 - at);
}

static void down_piece(struct aggnet_coll *c, const uint8_t *data, uint64_t len)
{
	uint64_t n = 0;

	if (c->done < AGREE_BYTES) {
		n = AGREE_BYTES - c->done < len ? AGREE_BYTES - c->done : len;
		memcpy(c->head + c->done, data, n);
		if (c->done + n == AGREE_BYTES)
			down_head(c);
	}
	c->done += n;
	if (n == len)
		return;
	if (c->equal && c->status)
		down_text(c, c->done - AGREE_BYTES, data + n, len - n);
	else if (c->equal)
		down_take(c, c->done - AGREE_BYTES, data + n, len - n);
	c->done += len - n;
}

/* The message is complete. */
static int down_end(struct aggnet_coll *c)
{
	uint64_t n = c->layout.down ? layout_result(&c->layout) : 0;

	if (c->done < AGREE_BYTES ||
	    (!c->status && c->done != AGREE_BYTES + n * c->layout.size))
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

	while ((n = aggnet_cast_read(g->down, g->buf, sizeof(g->buf))) > 0)
		down_piece(c, g->buf, (uint64_t)n);
	err = n < 0 ? (int)n : aggnet_cast_commit(g->down);
	return err ? down_lost(g, err) : down_end(c);
}
