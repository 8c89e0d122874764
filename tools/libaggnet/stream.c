// SPDX-License-Identifier: GPL-2.0
/* Stream: records in the order of their keys become entries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "stream.h"

void stream_feed(struct stream *s, const struct aggnet_shape *shape,
		 const uint8_t *data, size_t len, uint32_t records)
{
	s->shape = *shape;
	s->data = data;
	s->len = len;
	s->records = records;
}

static bool stream_plain(const struct stream *s)
{
	return aggnet_shape_kind(&s->shape) == AGGNET_KIND_PLAIN;
}

static void *stream_accum(struct stream *s)
{
	return stream_plain(s) ? &s->entry.value : s->entry.accum;
}

static int stream_begin(struct stream *s, const struct record *rec)
{
	if (!stream_plain(s) && !s->accum) {
		s->accum = malloc(aggnet_accum_size(&s->shape));
		if (!s->accum)
			return -ENOMEM;
	}
	memcpy(s->key, rec->key, rec->klen);
	s->entry = (struct merge_entry){ .key = s->key, .klen = rec->klen };
	if (!stream_plain(s))
		s->entry.accum = s->accum;
	aggnet_accum_init(&s->shape, stream_accum(s));
	s->held = true;
	s->keys++;
	return 0;
}

/* Merge a record. Return: 0, or 1 if the held entry is due before it. */
static int stream_take(struct stream *s, const struct record *rec)
{
	int diff = 1, err = 0;

	if (!aggnet_accum_check(&s->shape, rec->value, rec->vlen, false))
		return -EBADMSG;
	if (s->held)
		diff = record_compare(rec->key, rec->klen, s->key,
				      s->entry.klen);
	if (diff < 0)
		return -EBADMSG;
	if (diff && s->held)
		return 1;
	if (diff)
		err = stream_begin(s, rec);
	if (!err)
		aggnet_accum_merge(&s->shape, stream_accum(s), rec->value,
				   rec->vlen, false);
	return err;
}

static int stream_give(struct stream *s)
{
	s->given = true;
	return 1;
}

int stream_next(struct stream *s, bool last)
{
	struct record rec;
	size_t size;
	int ret;

	if (s->given)
		s->held = false;
	s->given = false;
	while (s->len) {
		size = record_get(s->data, s->len, &rec);
		if (!size || !s->records)
			return -EBADMSG;
		ret = stream_take(s, &rec);
		if (ret > 0)
			return stream_give(s);
		if (ret)
			return ret;
		s->data += size;
		s->len -= size;
		s->records--;
	}
	if (s->records)
		return -EBADMSG;
	return last && s->held ? stream_give(s) : 0;
}

void stream_free(struct stream *s)
{
	free(s->accum);
	*s = (struct stream){ 0 };
}
