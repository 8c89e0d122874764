/* SPDX-License-Identifier: GPL-2.0 */
/* Stream: turns records in the order of their keys into entries, each as soon
 * as the next key has arrived.
 */
#ifndef AGGNET_STREAM_H
#define AGGNET_STREAM_H

#include "merge.h"

/**
 * struct stream - records that were read and not returned
 * @shape: of the values
 * @data: records of the last message that are not merged
 * @len: their bytes
 * @records: their number, by the message
 * @entry: the key that is being merged, or was returned last
 * @key: its bytes
 * @accum: its merged values, if the shape is not plain
 * @held: there is such a key
 * @given: it was returned
 * @keys: number of keys so far
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

/*
 * Give the records of the next message; they must stay valid until they are
 * merged.
 */
void stream_feed(struct stream *s, const struct aggnet_shape *shape,
		 const uint8_t *data, size_t len, uint32_t records);

/**
 * stream_next() - the next entry
 * @s: the stream
 * @last: no other message follows
 *
 * Return: 1: @s->entry, until the next call; 0: none before the next message;
 * -EBADMSG: malformed or out of order; -ENOMEM
 */
int stream_next(struct stream *s, bool last);

/* Start again, empty. */
void stream_free(struct stream *s);

#endif /* AGGNET_STREAM_H */
