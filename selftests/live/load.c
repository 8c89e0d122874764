// SPDX-License-Identifier: GPL-2.0
/* The records of a job: which ones a source has, and what must come out. */
#include <stdlib.h>
#include <string.h>

#include "load.h"

/* All eight bytes of a value, and of the sum of 200 of them, are in use. */
#define LARGE	(INT64_C(1) << 55)

size_t load_bytes(const struct load *load)
{
	return (size_t)load->records * (load->dense ? 8 : LOAD_RECORD);
}

static int64_t value(uint32_t source, uint64_t key)
{
	return LARGE + source * INT64_C(1000003) + (int64_t)key;
}

static uint64_t key(const struct load *load, uint32_t source, uint32_t record)
{
	if (record < load->common)
		return record;
	return load->common + (uint64_t)source * (load->records - load->common) +
	       record - load->common;
}

int load_send(const struct load *load, uint32_t source,
	      struct aggnet_source *s)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < load->records; i++) {
		uint64_t k = key(load, source, i);

		err = load->dense ?
		      aggnet_source_add_element(s, value(source, i)) :
		      aggnet_source_add(s, &k, sizeof(k), value(source, k));
	}
	return err;
}

/* Which record of the result is this? Each has a place of its own. */
static bool place(const struct load *load, const struct aggnet_entry *e,
		  uint64_t *at)
{
	if (load->dense)
		*at = e->offset;
	else if (e->klen == sizeof(*at))
		memcpy(at, e->key, sizeof(*at));
	else
		return false;
	return true;
}

static int64_t expected(const struct load *load, uint64_t at)
{
	int64_t sum = 0;
	uint32_t i;

	if (at >= load->common)
		return value((uint32_t)((at - load->common) /
					(load->records - load->common)), at);
	for (i = 0; i < load->sources; i++)
		sum += value(i, at);
	return sum;
}

bool load_is_result(const struct load *load, struct aggnet_sink *k)
{
	uint64_t keys = load->common + (uint64_t)load->sources *
			(load->records - load->common);
	bool *seen = calloc(keys, sizeof(*seen));
	struct aggnet_entry e;
	bool good = seen;
	uint64_t n = 0, at;

	while (good && aggnet_sink_next(k, &e)) {
		good = place(load, &e, &at) && at < keys && !seen[at] &&
		       e.value == expected(load, at);
		if (good)
			seen[at] = true;
		n++;
	}
	free(seen);
	return good && n == keys;
}
