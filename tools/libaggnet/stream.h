/* SPDX-License-Identifier: GPL-2.0 */
/* Stream: records in the order of their keys become entries, one after the
 * other, each as soon as the next key is there.
 */
#ifndef AGGNET_STREAM_H
#define AGGNET_STREAM_H

#include "merge.h"

/**
 * struct stream - what has been read and not been handed out
 * @shape: of the values
 * @data: records of the last message that have not been merged yet
 * @len: their bytes
 * @records: how many the message says they are
 * @entry: the key that is being merged, or has just been handed out
 * @key: its bytes
 * @accum: what has been merged under it, if its shape is not plain
 * @held: there is one
 * @given: it has been handed out
 * @keys: how many there have been
 */
struct stream {
	struct aggnet_shape shape;
	const uint8_t *data;
	size_t len;
	uint32_t records;
	struct merge_entry entry;
	uint8_t key[AGGNET_KEY_MAX];
	void *accum;
	bool held;
	bool given;
	uint64_t keys;
};

/* The records of the next message; they stay where they are until merged. */
void stream_feed(struct stream *s, const struct aggnet_shape *shape,
		 const uint8_t *data, size_t len, uint32_t records);

/**
 * stream_next() - the next entry
 * @s: the stream
 * @last: no other message comes
 *
 * Return: 1: @s->entry, until the next call; 0: there is none before the next
 * message; -EBADMSG: malformed or out of order; -ENOMEM
 */
int stream_next(struct stream *s, bool last);

/* Back to the beginning. */
void stream_free(struct stream *s);

#endif /* AGGNET_STREAM_H */
