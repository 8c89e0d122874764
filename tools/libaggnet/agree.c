// SPDX-License-Identifier: GPL-2.0
/* Agreement: the common part of the calls of all ranks, up as a digest, down as it is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/aggnet.h>

#include "aggnet.h"
#include "agree.h"
#include "layout.h"
#include "word.h"

#define MAGIC	0x32434741u	/* "AGC2" */
#define ERRNO_MAX	4095

/* --- up --------------------------------------------------------------------- */

static uint64_t agree_mix(uint64_t h)
{
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 27) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

static uint64_t agree_digest(const struct agree *a)
{
	const uint64_t field[] = {
		a->kind, a->root, a->ranks, a->function, a->vtype, a->call,
		a->count, a->elements,
	};
	uint64_t h = 0;
	size_t i;

	for (i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		h = agree_mix(h + field[i] + 0x9e3779b97f4a7c15ull);
	return h;
}

/* Few bits, so that the sums of squares of many ranks are exact. */
static unsigned int word_bits(uint32_t vtype)
{
	return vtype == AGGNET_VTYPE_FLOAT32 ? 5 : 8;
}

uint32_t agree_ranks_max(uint32_t function, uint32_t vtype)
{
	uint32_t greatest = (1u << word_bits(vtype)) - 1;

	if (function != AGGNET_FN_SUM)
		return UINT32_MAX;
	if (vtype == AGGNET_VTYPE_FLOAT32)
		return (1u << 24) / (greatest * greatest);
	if (vtype == AGGNET_VTYPE_INT32)
		return INT32_MAX / (greatest * greatest);
	return UINT32_MAX;
}

/* The last element is 1: there are two for each word. */
uint32_t agree_element(const struct agree *a, uint32_t function, uint32_t vtype,
		       unsigned int i)
{
	unsigned int bits = word_bits(vtype);
	uint32_t greatest = (1u << bits) - 1;
	uint32_t word = agree_digest(a) >> (i / 2 * bits) & greatest;

	if (i == AGREE_ELEMENTS - 1)
		return 1;
	if (i % 2 == 0)
		return word;
	return function == AGGNET_FN_SUM ? word * word : greatest - word;
}

bool agree_holds(const struct agree *a, uint32_t function, uint32_t vtype,
		 const double merged[AGREE_ELEMENTS])
{
	double times = function == AGGNET_FN_SUM ? a->ranks : 1;
	unsigned int i;

	for (i = 0; i < AGREE_ELEMENTS; i++)
		if (merged[i] !=
		    times * agree_element(a, function, vtype, i))
			return false;
	return true;
}

/* --- comparing --------------------------------------------------------------- */

bool agree_equal(const struct agree *a, const struct agree *b)
{
	return a->kind == b->kind && a->root == b->root &&
	       a->ranks == b->ranks && a->function == b->function &&
	       a->vtype == b->vtype && a->call == b->call &&
	       a->count == b->count && a->elements == b->elements;
}

static const char *enum_name(const char * const *names, uint32_t value)
{
	uint32_t i;

	for (i = 0; names[i]; i++)
		if (i == value)
			return names[i];
	return "?";
}

char *agree_difference(const struct agree *mine, const struct agree *root,
		       char *buf, size_t size)
{
	char text[2][96];

	if (mine->ranks != root->ranks)
		snprintf(buf, size, "%u ranks here, %u at rank 0", mine->ranks,
			 root->ranks);
	else if (mine->function != root->function)
		snprintf(buf, size, "function %s here, %s at rank 0",
			 enum_name(aggnet_function_names, mine->function),
			 enum_name(aggnet_function_names, root->function));
	else if (mine->vtype != root->vtype)
		snprintf(buf, size, "type %s here, %s at rank 0",
			 enum_name(aggnet_vtype_names, mine->vtype),
			 enum_name(aggnet_vtype_names, root->vtype));
	else if (mine->elements != root->elements)
		snprintf(buf, size,
			 "a vector of %llu elements here, of %llu at rank 0",
			 (unsigned long long)mine->elements,
			 (unsigned long long)root->elements);
	else
		snprintf(buf, size, "%s here, %s at rank 0",
			 agree_text(mine, text[0], sizeof(text[0])),
			 agree_text(root, text[1], sizeof(text[1])));
	return buf;
}

char *agree_text(const struct agree *a, char *buf, size_t size)
{
	int n = snprintf(buf, size, "call %llu is %s",
			 (unsigned long long)a->call, layout_name(a->kind));

	if (n > 0 && (size_t)n < size && layout_has_data(a->kind))
		n += snprintf(buf + n, size - n, " of %llu elements",
			      (unsigned long long)a->count);
	if (n > 0 && (size_t)n < size && layout_has_root(a->kind))
		snprintf(buf + n, size - n, " with root %u", a->root);
	return buf;
}

/* --- down -------------------------------------------------------------------- */

void agree_put(const struct agree *a, int status, const struct agree_part *part,
	       uint8_t buf[AGREE_BYTES])
{
	const uint32_t field[] = {
		MAGIC, (uint32_t)-status, a->kind, a->root, a->ranks,
		a->function, a->vtype, part->more,
	};
	size_t i;

	for (i = 0; i < 8; i++)
		word_put(buf + 4 * i, field[i], 4);
	word_put(buf + 32, a->call, 8);
	word_put(buf + 40, a->count, 8);
	word_put(buf + 48, a->elements, 8);
	word_put(buf + 56, part->first, 8);
	word_put(buf + 64, part->n, 8);
	word_put(buf + 72, 0, 8);
}

/* Could a call of rank 0 end with this error? These say that it did not begin, or that it
 * goes on.
 */
static bool agree_is_outcome(uint32_t error)
{
	const uint32_t others[] = { EAGAIN, EINTR, EINVAL, EMSGSIZE, EBUSY };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (error == others[i])
			return false;
	return error <= ERRNO_MAX;
}

bool agree_get(struct agree *a, int *status, struct agree_part *part,
	       const uint8_t buf[AGREE_BYTES])
{
	const uint32_t error = word_get(buf + 4, 4);

	*status = -(int)(error & ERRNO_MAX);
	*a = (struct agree){
		.kind = word_get(buf + 8, 4),
		.root = word_get(buf + 12, 4),
		.ranks = word_get(buf + 16, 4),
		.function = word_get(buf + 20, 4),
		.vtype = word_get(buf + 24, 4),
		.call = word_get(buf + 32, 8),
		.count = word_get(buf + 40, 8),
		.elements = word_get(buf + 48, 8),
	};
	*part = (struct agree_part){
		.first = word_get(buf + 56, 8),
		.n = word_get(buf + 64, 8),
		.more = word_get(buf + 28, 4),
	};
	return word_get(buf, 4) == MAGIC && agree_is_outcome(error);
}
