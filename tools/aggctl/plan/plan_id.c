// SPDX-License-Identifier: GPL-2.0
/*
 * The identity of a plan: a random part, which stays with it through all its
 * updates, and for each tree a digest of the entries that it installs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "aggctl.h"
#include "info.h"
#include "plan/plan.h"

#define FNV_BASIS	UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME	UINT64_C(0x100000001b3)

/**
 * plan_draw_id() - draw the random part of a new plan's identity
 * @plan: the plan
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_draw_id(struct plan *plan)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		err("plan: no random number for its identity: %s",
		    strerror(errno));
		return -1;
	}
	snprintf(plan->id, sizeof(plan->id), "%016llx",
		 (unsigned long long)number);
	return 0;
}

/**
 * plan_set_id() - take the random part of an identity from a stored plan
 * @plan: the plan
 * @id: the member of the stored plan; NULL: it was made without one
 *
 * Return: whether it is one.
 */
bool plan_set_id(struct plan *plan, const json_t *id)
{
	const char *text = id ? json_string_value(id) : "";

	if (!text || (id && (strlen(text) != sizeof(plan->id) - 1 ||
			     strspn(text, "0123456789abcdef") != strlen(text))))
		return false;
	strcpy(plan->id, text);
	return true;
}

static uint64_t digest_add(uint64_t digest, const char *text)
{
	/* The end of a string counts, too. */
	do {
		digest = (digest ^ (unsigned char)*text) * FNV_PRIME;
	} while (*text++);
	return digest;
}

/* What an entry does; a key is not for a value that dumps show. */
static uint64_t digest_entry(uint64_t digest, const char *node, json_t *entry)
{
	static const char * const skip[] = { "key", "attempt", "plan" };
	json_t *bare = json_copy(entry);
	char *text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(skip); i++)
		json_object_del(bare, skip[i]);
	text = json_dumps(bare, JSON_COMPACT | JSON_SORT_KEYS);
	digest = digest_add(digest_add(digest, node), text ? text : "");
	free(text);
	json_decref(bare);
	return digest;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

/* Names in an order that does not depend on how the object was made. */
static const char **sorted_names(json_t *nodes)
{
	const char **names = calloc(json_object_size(nodes) + 1,
				    sizeof(*names));
	const char *name;
	json_t *node;
	size_t n = 0;

	if (!names)
		return NULL;
	json_object_foreach(nodes, name, node)
		names[n++] = name;
	qsort(names, n, sizeof(*names), by_name);
	return names;
}

/**
 * plan_name_entry() - name the tree of an entry
 * @entry: the entry
 */
struct plan_name plan_name_entry(const json_t *entry)
{
	const char *to = json_string_value(json_object_get(entry, "receiver"));
	const json_t *job = json_object_get(entry, "job");
	struct plan_name name;

	snprintf(name.text, sizeof(name.text), "%s %" JSON_INTEGER_FORMAT,
		 to ? to : "", json_integer_value(job));
	return name;
}

/**
 * plan_name_tree() - name a tree
 * @plan: its plan
 * @i: its number
 */
struct plan_name plan_name_tree(const struct plan *plan, size_t i)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan->trees, i);
	struct in_addr to = plan_identity(plan, aggt_tree_receiver(tree));
	struct plan_name name;

	snprintf(name.text, sizeof(name.text), "%s %u", addr_text(to),
		 plan_job(plan, i));
	return name;
}

/* By the name of a tree: the digest of its entries, an integer. */
static json_t *tree_digests(json_t *nodes)
{
	const char **names = sorted_names(nodes), **name;
	json_t *digests = json_object(), *entry, *old;
	struct plan_name tree;
	uint64_t digest;
	size_t i;

	for (name = names; name && *name; name++) {
		json_array_foreach(json_object_get(json_object_get(nodes, *name),
						   "trees"), i, entry) {
			tree = plan_name_entry(entry);
			old = json_object_get(digests, tree.text);
			digest = old ? (uint64_t)json_integer_value(old) :
				       FNV_BASIS;
			digest = digest_entry(digest, *name, entry);
			json_object_set_new(digests, tree.text,
					    json_integer((json_int_t)digest));
		}
	}
	if (!names) {
		json_decref(digests);
		digests = NULL;
	}
	free(names);
	return digests;
}

/**
 * plan_sign() - write the identity of a plan into its entries
 * @plan: the plan; one that was stored without an identity stays so
 * @nodes: its nodes, as plan_nodes() makes them
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_sign(const struct plan *plan, json_t *nodes)
{
	json_t *digests, *node, *entry, *digest;
	const char *name;
	size_t i;

	if (!plan->id[0])
		return 0;
	digests = tree_digests(nodes);
	if (!digests) {
		err("out of memory");
		return -1;
	}
	json_object_foreach(nodes, name, node) {
		json_array_foreach(json_object_get(node, "trees"), i, entry) {
			digest = json_object_get(digests,
						 plan_name_entry(entry).text);
			json_object_set_new(entry, "plan",
					    json_sprintf("%s%016llx", plan->id,
							 (unsigned long long)
							 json_integer_value(digest)));
		}
	}
	json_decref(digests);
	return 0;
}
