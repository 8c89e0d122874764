/* SPDX-License-Identifier: GPL-2.0 */
/* Agreement: what all ranks of a group must have in common in a collective. A digest of
 * it goes up, merged by the function of the tree, and the root's goes down as it is.
 */
#ifndef AGGNET_AGREE_H
#define AGGNET_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of a vector before the data: one block, or 13 of one element each. */
#define AGREE_ELEMENTS	13

/* Bytes of the message down before the data of each part. */
#define AGREE_BYTES	80

/**
 * struct agree - a call, as each rank must make it
 * @kind: of the collective
 * @root: its root, 0 if it has none
 * @ranks: number of ranks
 * @function: that merges
 * @vtype: of the elements
 * @call: number of the call in the group
 * @count: elements
 * @elements: of the vector of the tree up
 */
struct agree {
	uint32_t kind;
	uint32_t root;
	uint32_t ranks;
	uint32_t function;
	uint32_t vtype;
	uint64_t call;
	uint64_t count;
	uint64_t elements;
};

/**
 * struct agree_part - a part of the message down
 * @first: the element of the result with which it begins
 * @n: elements
 * @more: another part follows
 */
struct agree_part {
	uint64_t first;
	uint64_t n;
	bool more;
};

/**
 * agree_element() - what a rank gives as one of the elements before the data
 * @a: its call
 * @function: of the tree up, which merges these elements, too
 * @vtype: of the tree up
 * @i: which element
 *
 * Of a sum these are numbers and their squares: if n numbers have the sum n w, and
 * their squares n w^2, all of them are w. Of an extreme they are numbers and their
 * differences to the greatest one.
 */
uint32_t agree_element(const struct agree *a, uint32_t function, uint32_t vtype,
		       unsigned int i);

/* The most ranks whose sums of squares are exact in a type. */
uint32_t agree_ranks_max(uint32_t function, uint32_t vtype);

/* Are these merged elements those of @a at each of its ranks? */
bool agree_holds(const struct agree *a, uint32_t function, uint32_t vtype,
		 const double merged[AGREE_ELEMENTS]);

bool agree_equal(const struct agree *a, const struct agree *b);

/* Describe the first difference. Return: @buf */
char *agree_difference(const struct agree *mine, const struct agree *root,
		       char *buf, size_t size);

/* Describe a call. Return: @buf */
char *agree_text(const struct agree *a, char *buf, size_t size);

/* As bytes, with the outcome, 0 or a negative errno: that of a part which others follow
 * is 0.
 */
void agree_put(const struct agree *a, int status, const struct agree_part *part,
	       uint8_t buf[AGREE_BYTES]);

/* Return: false: this is no such message, or its outcome is none: it comes from another
 * host
 */
bool agree_get(struct agree *a, int *status, struct agree_part *part,
	       const uint8_t buf[AGREE_BYTES]);

#endif /* AGGNET_AGREE_H */
