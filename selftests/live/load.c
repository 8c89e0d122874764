// SPDX-License-Identifier: GPL-2.0
/* The records of a job: which ones a source has, and what must come out. */
#include <endian.h>
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

struct load_record load_record(const struct load *load, uint32_t source,
			       uint32_t i)
{
	uint64_t own = load->records - load->common;
	/* First the common keys, then by source. */
	uint64_t k = i < load->common ? i : i + source * own;

	return (struct load_record){ k, value(source, k) };
}

int load_send(const struct load *load, uint32_t source,
	      struct aggnet_source *s)
{
	struct load_record r;
	uint64_t bytes;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < load->records; i++) {
		r = load_record(load, source, i);
		bytes = htobe64(r.key);
		err = load->dense ?
		      aggnet_source_add_element(s, r.value) :
		      aggnet_source_add(s, &bytes, sizeof(bytes), r.value);
	}
	return err;
}

static uint64_t keys(const struct load *load)
{
	return load->common + (uint64_t)load->sources *
	       (load->records - load->common);
}

static int64_t expected(const struct load *load, uint64_t k)
{
	int64_t sum = 0;
	uint32_t i;

	if (k >= load->common)
		return value((uint32_t)((k - load->common) /
					(load->records - load->common)), k);
	for (i = 0; i < load->sources; i++)
		sum += value(i, k);
	return sum;
}

struct load_check load_check(const struct load *load)
{
	bool *seen = calloc(keys(load) + 1, sizeof(*seen));

	return (struct load_check){ load, seen, 0, seen };
}

void load_came(struct load_check *check, struct load_record r)
{
	check->good = check->good && r.key < keys(check->load) &&
		      !check->seen[r.key] &&
		      r.value == expected(check->load, r.key);
	if (check->good)
		check->seen[r.key] = true;
	check->n++;
}

bool load_checked(struct load_check *check)
{
	free(check->seen);
	return check->good && check->n == keys(check->load);
}

bool load_is_result(const struct load *load, struct aggnet_sink *k)
{
	struct load_check check = load_check(load);
	struct aggnet_entry e;
	uint64_t bytes;

	while (aggnet_sink_next(k, &e)) {
		if (load->dense)
			bytes = htobe64(e.offset);
		else if (e.klen == sizeof(bytes))
			memcpy(&bytes, e.key, sizeof(bytes));
		else
			bytes = UINT64_MAX;
		load_came(&check, (struct load_record){ be64toh(bytes),
							e.value });
	}
	return load_checked(&check);
}
