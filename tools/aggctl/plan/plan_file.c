// SPDX-License-Identifier: GPL-2.0
/* Reading and writing of a plan file, and the order of its nodes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggctl.h"
#include "names.h"
#include "plan/plan_apply.h"

#define DEPTH_NONE	UINT_MAX

static void warn_readable(int fd, const char *path)
{
	struct stat st;

	if (!strcmp(path, "/dev/stdin") || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode) || !(st.st_mode & 077))
		return;
	err("warning: %s: others may read the keys in it (mode %03o)", path,
	    (unsigned int)st.st_mode & 0777);
}

static bool has_keys(const json_t *nodes)
{
	const char *name;
	json_t *node, *tree;
	size_t i;

	json_object_foreach((json_t *)nodes, name, node)
		json_array_foreach(json_object_get(node, "trees"), i, tree)
			if (json_object_get(tree, "key"))
				return true;
	return false;
}

/**
 * struct vertices - the vertices of a tree by name
 * @tree: the tree
 * @names: of hosts by number, NULL if they are vN
 */
struct vertices {
	const json_t *tree;
	const json_t *names;
};

/* Longer than any name of a node. */
#define NAME_SIZE	64

/* The vertices of a tree: servers, or switches that lean on servers. */
static bool has_agents(const json_t *tree)
{
	return json_object_get(tree, "leaning");
}

static void name_vertex(const struct vertices *v, const json_t *number,
			char *name)
{
	char kind = has_agents(v->tree) ? 'w' : 'v';
	const char *given;

	snprintf(name, NAME_SIZE, "%c%" JSON_INTEGER_FORMAT, kind,
		 json_integer_value(number));
	given = json_string_value(json_object_get(v->names, name + 1));
	if (given)
		snprintf(name, NAME_SIZE, "%s", given);
}

/* Parents' names by name, of one tree. */
static json_t *parent_map(const struct vertices *v)
{
	json_t *map = json_object();
	char name[NAME_SIZE], parent[NAME_SIZE];
	json_t *edge;
	size_t i;

	json_array_foreach(json_object_get(v->tree, "edges"), i, edge) {
		name_vertex(v, json_array_get(edge, 0), name);
		name_vertex(v, json_array_get(edge, 1), parent);
		json_object_set_new(map, name, json_string(parent));
	}
	return map;
}

/*
 * Depth of every name that has a parent, an object of integers. NULL: the edges
 * run in a ring. Each name is walked over once, so a ring costs no more than
 * any other tree.
 */
static json_t *depth_map(const json_t *parents)
{
	json_t *depths = json_object(), *known = NULL;
	size_t steps, left, n = json_object_size(parents);
	const char *name, *up;
	json_t *value;
	json_int_t depth;

	json_object_foreach((json_t *)parents, name, value) {
		known = NULL;
		for (up = name, steps = 0; up && steps <= n; steps++) {
			known = json_object_get(depths, up);
			if (known)
				break;
			up = json_string_value(json_object_get(parents, up));
		}
		if (!known && up) {
			json_decref(depths);
			return NULL;
		}
		/* The last one has no parent, and no depth of its own. */
		depth = known ? json_integer_value(known) : 0;
		steps -= !known;
		for (up = name, left = steps; left; left--) {
			json_object_set_new(depths, up,
					    json_integer(depth + (json_int_t)left));
			up = json_string_value(json_object_get(parents, up));
		}
	}
	return depths;
}

static bool is_root(const struct vertices *v, const char *name)
{
	const json_t *leaning = json_object_get(v->tree, "leaning");
	const json_t *root = json_object_get(v->tree, "receiver");
	char text[NAME_SIZE];

	if (leaning)
		root = json_array_get(json_array_get(leaning, 0), 0);
	name_vertex(v, root, text);
	return !strcmp(text, name);
}

/* Does a switch of the tree lean on this server? */
static bool is_leant_on(const json_t *tree, const char *name)
{
	json_t *pair;
	char text[24];
	size_t i;

	json_array_foreach(json_object_get(tree, "leaning"), i, pair) {
		snprintf(text, sizeof(text), "v%" JSON_INTEGER_FORMAT,
			 json_integer_value(json_array_get(pair, 1)));
		if (!strcmp(text, name))
			return true;
	}
	return false;
}

/* At a switch, the server that merges comes before those that send to it. */
static void find_depth(const struct vertices *v, const json_t *depths,
		       struct plan_part *part)
{
	const json_t *tree = v->tree;
	const json_t *agent = json_object_get(part->entry, "agent");
	const char *name = part->name;
	unsigned int depth;

	if (has_agents(tree))
		name = json_string_value(agent);
	if (!name || (!json_object_get(depths, name) && !is_root(v, name)))
		return;
	depth = 1 + (unsigned int)json_integer_value(json_object_get(depths,
								     name));
	if (has_agents(tree))
		depth = 2 * depth + !is_leant_on(tree, part->name);
	if (depth < part->depth)
		part->depth = depth;
}

static int find_depths(struct plan_file *file, const char *path)
{
	const json_t *names = json_object_get(file->json, "names");
	json_t *tree, *parents, *depths;
	size_t i, k;

	json_array_foreach(json_object_get(file->json, "trees"), i, tree) {
		const struct vertices v = { tree, names };

		parents = parent_map(&v);
		depths = depth_map(parents);
		json_decref(parents);
		if (!depths) {
			err("%s: tree %zu: its edges form a cycle", path, i);
			return -1;
		}
		for (k = 0; k < file->n; k++)
			find_depth(&v, depths, &file->part[k]);
		json_decref(depths);
	}
	for (k = 0; k < file->n; k++)
		if (file->part[k].depth == DEPTH_NONE)
			file->part[k].depth = 0;
	return 0;
}

static int by_depth(const void *a, const void *b)
{
	const struct plan_part *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int list_parts(struct plan_file *file, const char *path)
{
	json_t *nodes = json_object_get(file->json, "nodes");
	const char *name;
	json_t *node;

	if (!json_is_object(nodes)) {
		err("%s: it has no 'nodes': not a plan of 'aggctl -j plan'",
		    path);
		return -1;
	}
	if (!json_object_size(nodes)) {
		err("%s: it has no nodes: plan with a description that has an 'address' line for each server and port: '--topology @FILE'",
		    path);
		return -1;
	}
	file->part = calloc(json_object_size(nodes), sizeof(*file->part));
	if (!file->part) {
		err("out of memory");
		return -1;
	}
	json_object_foreach(nodes, name, node) {
		if (!json_is_array(json_object_get(node, "trees"))) {
			err("%s: node %s has no 'trees'", path, name);
			return -1;
		}
		file->part[file->n++] = (struct plan_part){
			name, node, DEPTH_NONE
		};
	}
	if (find_depths(file, path))
		return -1;
	qsort(file->part, file->n, sizeof(*file->part), by_depth);
	return 0;
}

/**
 * plan_file_take() - have a plan as if it had been read from a file
 * @file: filled in; plan_file_free() is due in any case
 * @json: the plan
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_file_take(struct plan_file *file, json_t *json)
{
	memset(file, 0, sizeof(*file));
	file->json = json_incref(json);
	return list_parts(file, "plan");
}

static json_t *read_stream(FILE *f, const char *path)
{
	json_error_t error;
	json_t *json;

	json = json_loadf(f, JSON_REJECT_DUPLICATES, &error);
	if (!json && ferror(f))
		err("%s: %s", path, strerror(errno));
	else if (!json)
		err("%s: line %d: %s", path, error.line, error.text);
	return json;
}

/**
 * plan_file_read() - the JSON of a plan file
 * @path: the file
 *
 * Return: the JSON, or NULL with an error line printed.
 */
json_t *plan_file_read(const char *path)
{
	FILE *f = fopen(path, "r");
	json_t *json;

	if (!f) {
		err("%s: %s", path, strerror(errno));
		return NULL;
	}
	json = read_stream(f, path);
	fclose(f);
	return json;
}

static int load(struct plan_file *file, FILE *f, const char *path)
{
	if (!f) {
		err("%s: %s", path, strerror(errno));
		return -1;
	}
	file->json = read_stream(f, path);
	if (file->json && has_keys(json_object_get(file->json, "nodes")))
		warn_readable(fileno(f), path);
	fclose(f);
	if (!file->json)
		return -1;
	names_of_plan(file->json);
	return list_parts(file, path);
}

/**
 * plan_file_load() - read a plan file
 * @file: filled in; plan_file_free() is due in any case
 * @path: the file, "-" is standard input
 *
 * Several trees may want opposite orders of two nodes: a node comes where it
 * is nearest to a receiver.
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_file_load(struct plan_file *file, const char *path)
{
	memset(file, 0, sizeof(*file));
	if (!strcmp(path, "-"))
		path = "/dev/stdin";
	return load(file, fopen(path, "r"), path);
}

/**
 * plan_file_load_fd() - read a plan file that is open
 * @file: filled in; plan_file_free() is due in any case
 * @fd: the file, at its beginning; stays open
 * @path: its name, for error lines
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_file_load_fd(struct plan_file *file, int fd, const char *path)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	memset(file, 0, sizeof(*file));
	return load(file, copy < 0 ? NULL : fdopen(copy, "r"), path);
}

/**
 * plan_file_free() - free what plan_file_load() filled in
 * @file: the file
 */
void plan_file_free(struct plan_file *file)
{
	json_decref(file->json);
	free(file->part);
	memset(file, 0, sizeof(*file));
}

/**
 * plan_file_select() - leave one node only
 * @file: the plan
 * @node: name of the node
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_file_select(struct plan_file *file, const char *node)
{
	size_t i;

	for (i = 0; i < file->n; i++) {
		if (strcmp(file->part[i].name, node))
			continue;
		file->part[0] = file->part[i];
		file->n = 1;
		return 0;
	}
	err("%s has no part in the plan", node);
	return -1;
}

/**
 * plan_part_receives() - is a node the receiver of a tree?
 * @file: the plan
 * @i: index of the node
 */
bool plan_part_receives(const struct plan_file *file, size_t i)
{
	json_t *address = json_object_get(file->part[i].entry, "address"), *tree;
	size_t at;

	json_array_foreach(json_object_get(file->json, "trees"), at, tree)
		if (address &&
		    json_equal(json_object_get(tree, "identity"), address))
			return true;
	return false;
}
