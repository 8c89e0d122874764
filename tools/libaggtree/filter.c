// SPDX-License-Identifier: GPL-2.0
/* Filters that packets carry (paper 000, 4.3): how large they have to be, and
 * the one of a flow's path that names the fewest links beside it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/filter.h"
#include "internal.h"
#include "path.h"

/* A filter's rate is BASE^(m/n) with the best number of functions. */
#define BASE		0.6185
#define SALTS		256
#define COPIES_MAX	4	/* that the module makes of a packet at a node */

/*
 * Bits for @links links in a filter, of which nodes test @wrong others, at
 * @rate.
 */
static uint32_t bits_for(double links, double wrong, double rate)
{
	double bits = 0;

	if (wrong > rate)
		bits = ceil(links * log(rate / wrong) / log(BASE));
	/* One more than the maximum means that it is impossible. */
	return (uint32_t)fmin(fmax(bits, AGGNET_FILTER_BITS_MIN),
			      AGGNET_FILTER_BITS_MAX + 1);
}

uint32_t aggt_filter_paper_bits(unsigned int k, double rate)
{
	return bits_for(2 * (k + 1), k * (k - 1.0) / 2, rate);
}

static uint8_t hashes_of(uint32_t bits, size_t links)
{
	double best = round((double)bits / links * log(2));

	return (uint8_t)fmin(fmax(best, 1), AGGNET_FILTER_HASHES_MAX);
}

/* Hops that do not correct a digit, the paper's rule never looks at. */
static int check_hops(const struct aggt_plan *plan, const struct aggt_entry *e,
		      struct aggt_err *err)
{
	const struct aggt_topo *topo = plan->topo;

	if (e->parent == AGGT_NONE ||
	    aggt_topo_digit(topo, e->parent, e->level) ==
	    aggt_topo_digit(topo, e->receiver, e->level))
		return 0;
	aggt_err_set(err, "the filter's rule 'paper' looks only at links that lead nearer to the receiver, and in the tree of v%u v%u to v%u does not; take 'general'",
		     e->receiver, e->server, e->parent);
	return -1;
}

static int check_plan(const struct aggt_plan *plan,
		      const struct aggt_filter_conf *conf, struct aggt_err *err)
{
	size_t i;

	if (plan->topo->agents) {
		aggt_err_set(err, "servers of %s do not forward for each other, so packets need no filter of their path",
			     plan->topo->name);
		return -1;
	}
	if (!aggt_topo_digits(plan->topo)) {
		aggt_err_set(err, "filters name links by the digits of labels, which %s does not have",
			     plan->topo->name);
		return -1;
	}
	for (i = 0; i < plan->topo->dims; i++) {
		if (aggt_topo_radix(plan->topo, (unsigned int)i) <= AGGT_LINK_DIGITS)
			continue;
		aggt_err_set(err, "names of links have room for digits below %u, %s has greater ones",
			     AGGT_LINK_DIGITS, plan->topo->name);
		return -1;
	}
	if (conf->rule != AGGT_FILTER_PAPER)
		return 0;
	if (plan->topo->dims > AGGNET_FILTER_DIGITS_MAX) {
		aggt_err_set(err, "the filter's rule 'paper' has room for %u digits, %s has %u",
			     AGGNET_FILTER_DIGITS_MAX, plan->topo->name,
			     plan->topo->dims);
		return -1;
	}
	for (i = 0; i < plan->n_entries; i++)
		if (check_hops(plan, &plan->entry[i], err))
			return -1;
	return 0;
}

static bool emits(const struct aggt_entry *e)
{
	return (e->flags & AGGT_END) && e->parent != AGGT_NONE;
}

/* Links of the longest path, and the most that are tested beside one. */
static int measure_paths(const struct aggt_plan *plan,
			 const struct aggt_filter_conf *conf,
			 struct aggt_filter_size *size)
{
	struct aggt_path path = {};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < plan->n_entries; i++) {
		if (!emits(&plan->entry[i]))
			continue;
		ret = aggt_path_find(&path, plan, &plan->entry[i], conf);
		if (path.right.n > size->links)
			size->links = (uint32_t)path.right.n;
		if (path.wrong.n > size->wrong)
			size->wrong = (uint32_t)path.wrong.n;
	}
	aggt_path_free(&path);
	return ret;
}

int aggt_filter_measure(const struct aggt_plan *plan,
			const struct aggt_filter_conf *conf,
			struct aggt_filter_size *size, struct aggt_err *err)
{
	unsigned int dims = plan->topo->dims;
	bool paper = conf->rule == AGGT_FILTER_PAPER;

	memset(size, 0, sizeof(*size));
	if (check_plan(plan, conf, err))
		return -1;
	if (measure_paths(plan, conf, size)) {
		aggt_err_nomem(err);
		return -1;
	}
	size->paper_bits = aggt_filter_paper_bits(dims - 1, conf->rate);
	size->general_bits = bits_for(size->links, size->wrong, conf->rate);
	size->bits = conf->bits ? conf->bits :
		     paper ? size->paper_bits : size->general_bits;
	if (size->bits < conf->least)
		size->bits = conf->least;
	if (size->bits <= AGGNET_FILTER_BITS_MAX)
		size->bytes = aggnet_filter_size(size->bits, paper ? dims : 0);
	if (size->bits < AGGNET_FILTER_BITS_MIN || !size->bytes ||
	    size->bytes > AGGNET_FILTER_MAX) {
		aggt_err_set(err, "a filter has at least %u bits and, with its header, at most %u bytes: %u bits are out of range",
			     AGGNET_FILTER_BITS_MIN, AGGNET_FILTER_MAX,
			     size->bits);
		return -1;
	}
	/* A plan whose senders are all receivers sends no packets. */
	if (size->links)
		size->hashes = hashes_of(size->bits, size->links);
	if (size->links)
		size->expected = size->wrong * pow(BASE, (double)size->bits /
						   size->links);
	return 0;
}

static struct aggnet_filter *filter_of(struct aggt_filter *filter)
{
	return (struct aggnet_filter *)filter->bytes;
}

static void insert(struct aggnet_filter *f, uint64_t key, uint64_t name)
{
	struct aggnet_filter_walk w = aggnet_filter_start(key, name);
	unsigned int n = aggnet_filter_hashes(f);
	uint8_t *byte = (uint8_t *)(f + 1);

	while (n--) {
		uint32_t bit = aggnet_filter_next(&w, aggnet_filter_bits(f));

		byte[bit / 8] |= (uint8_t)(1u << bit % 8);
	}
}

static void fill(struct aggt_filter *filter, const struct aggt_path *path,
		 const struct aggt_filter_size *size, uint64_t incast_id,
		 uint8_t salt)
{
	uint8_t hashes = hashes_of(size->bits, (uint32_t)path->right.n);
	uint64_t key = aggnet_filter_key(incast_id, salt);
	struct aggnet_filter *f = filter_of(filter);
	uint8_t *bits = (uint8_t *)&f->bits;
	size_t i;

	memset(filter->bytes, 0, sizeof(filter->bytes));
	bits[0] = (uint8_t)(size->bits >> 8);
	bits[1] = (uint8_t)size->bits;
	f->hashes_digits = hashes;
	f->salt = salt;
	for (i = 0; i < path->right.n; i++)
		insert(f, key, path->right.name[i]);
}

/*
 * Count false positives beside the path, as the nodes on it find them: each
 * copy takes its share of the remaining hops.
 */
static void judge(struct aggt_filter *filter, const struct aggt_path *path,
		  uint64_t incast_id)
{
	const struct aggnet_filter *f = filter_of(filter);
	uint64_t key = aggnet_filter_key(incast_id, f->salt);
	unsigned int hop = AGGNET_HOP_MAX;
	size_t i = 0, node;

	filter->false_links = 0;
	filter->lost = false;
	for (node = 0; node < path->n_nodes; node++) {
		unsigned int copies = 1;

		for (; i < path->node[node]; i++)
			copies += aggnet_filter_test(f, key,
						     path->wrong.name[i]);
		filter->false_links += copies - 1;
		filter->lost |= copies > COPIES_MAX || !hop;
		hop = hop ? (hop - 1) / copies : 0;
	}
}

static bool is_better(const struct aggt_filter *a, const struct aggt_filter *b)
{
	if (a->lost != b->lost)
		return b->lost;
	return a->false_links < b->false_links;
}

/* The receiver's label, behind the bits. */
static void put_digits(struct aggt_filter *filter, const struct aggt_plan *plan,
		       aggt_node receiver)
{
	struct aggnet_filter *f = filter_of(filter);
	uint8_t *digit = (uint8_t *)(f + 1) + (aggnet_filter_bits(f) + 7) / 8;
	unsigned int dim, dims = plan->topo->dims;

	f->hashes_digits |= (uint8_t)(dims << 4);
	for (dim = 0; dim < dims; dim++)
		digit[dim] = (uint8_t)aggt_topo_digit(plan->topo, receiver,
						      dim);
}

int aggt_filter_make(const struct aggt_plan *plan,
		     const struct aggt_filter_conf *conf,
		     const struct aggt_filter_size *size,
		     const struct aggt_entry *entry, uint64_t incast_id,
		     struct aggt_filter *filter, struct aggt_err *err)
{
	struct aggt_path path = {};
	struct aggt_filter next;
	unsigned int salt;

	if (aggt_path_find(&path, plan, entry, conf)) {
		aggt_path_free(&path);
		aggt_err_nomem(err);
		return -1;
	}
	for (salt = 0; salt < SALTS && salt < conf->salts; salt++) {
		fill(&next, &path, size, incast_id, (uint8_t)salt);
		judge(&next, &path, incast_id);
		if (!salt || is_better(&next, filter))
			*filter = next;
		if (!filter->false_links && !filter->lost)
			break;
	}
	aggt_path_free(&path);
	filter->size = size->bytes;
	if (conf->rule == AGGT_FILTER_PAPER)
		put_digits(filter, plan, entry->receiver);
	if (!filter->lost)
		return 0;
	aggt_err_set(err, "a filter of %u bits names so many links beside the path from v%u to v%u that packets would be lost: it needs more bits",
		     size->bits, entry->server, entry->receiver);
	return -1;
}
