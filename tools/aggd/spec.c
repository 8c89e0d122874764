// SPDX-License-Identifier: GPL-2.0
/* Specifications: their members, and the plans that follow from them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "aggnet.h"
#include "conf.h"
#include "spec.h"

#define ARGS_MAX	24
#define TASKS_MAX	AGGNET_WRITERS_MAX
#define RANKS_MAX	33025	/* of groups of any type */
#define SECONDS_MAX	(UINT32_MAX / 1000)

/**
 * struct member - a member that a specification may have
 * @name: its name
 * @type: of the value
 * @least: of a number
 * @most: of a number
 */
struct member {
	const char *name;
	json_type type;
	json_int_t least;
	json_int_t most;
};

static const struct member members[] = {
	{ "kind", JSON_STRING, 0, 0 },
	{ "members", JSON_ARRAY, 0, 0 },
	{ "root", JSON_STRING, 0, 0 },
	{ "receivers", JSON_ARRAY, 0, 0 },
	{ "function", JSON_STRING, 0, 0 },
	{ "type", JSON_STRING, 0, 0 },
	{ "scale", JSON_INTEGER, 0, 62 },
	{ "k", JSON_INTEGER, 1, 64 },
	{ "elements", JSON_INTEGER, 1, INT64_MAX },
	{ "sorted", JSON_TRUE, 0, 0 },
	{ "memory", JSON_INTEGER, AGGNET_MEMORY_MIN, INT64_MAX / 2 },
	{ "objective", JSON_STRING, 0, 0 },
	{ "time", JSON_INTEGER, 1, SECONDS_MAX },
	{ "attached", JSON_TRUE, 0, 0 },
};

/* Is each of the members one of a specification, with a value that it may have? */
static int check_member(const char *name, const json_t *value, struct text *why)
{
	static const char *const types[] = {
		[JSON_STRING] = "a string", [JSON_ARRAY] = "a list of strings",
		[JSON_INTEGER] = "a whole number", [JSON_TRUE] = "true or false",
	};
	const struct member *m;
	json_int_t n;

	for (m = members; m < members + ARRAY_SIZE(members); m++)
		if (!strcmp(m->name, name))
			break;
	if (m == members + ARRAY_SIZE(members))
		return text_set(why, "submit: unknown member '%s'", name);
	if (json_typeof(value) != m->type &&
	    !(m->type == JSON_TRUE && json_is_false(value)))
		return text_set(why, "submit: '%s' must be %s", name, types[m->type]);
	n = json_integer_value(value);
	if (m->type == JSON_INTEGER && (n < m->least || n > m->most))
		return text_set(why, "submit: '%s' must be from %lld to %lld", name,
				(long long)m->least, (long long)m->most);
	return 0;
}

static bool is_word(const char *s)
{
	const char *c;

	for (c = s; isalnum((unsigned char)*c) && c - s <= 16; c++)
		;
	return c != s && !*c;
}

/*
 * The name of a server, which becomes an argument of aggctl: it must be no option, no file
 * and no list. Return: how many ranks it has, as in "v5*2"; 0: it is not a name
 */
static unsigned long name_tasks(const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._-"
			       "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	unsigned long n = 1;
	char *end;

	if (!isalnum((unsigned char)*s) || len > 255)
		return 0;
	if (!s[len])
		return 1;
	if (s[len] != '*' || !isdigit((unsigned char)s[len + 1]))
		return 0;
	n = strtoul(s + len + 1, &end, 10);
	return *end || n > TASKS_MAX ? 0 : n;
}

static int check_names(const json_t *spec, const char *member, struct text *why)
{
	const json_t *list = json_object_get(spec, member), *name;
	size_t i;

	if (!json_array_size(list))
		return text_set(why, "submit: '%s' must name a server", member);
	json_array_foreach(list, i, name)
		if (!json_is_string(name) || !name_tasks(json_string_value(name)))
			return text_set(why, "submit: '%s' must be a list of names of servers like v5 or v5*2: element %zu is not",
					member, i + 1);
	return 0;
}

static const char *get(const json_t *spec, const char *name)
{
	return json_string_value(json_object_get(spec, name));
}

static json_int_t number(const json_t *spec, const char *name)
{
	return json_integer_value(json_object_get(spec, name));
}

static bool is_group(const json_t *spec)
{
	return !strcmp(get(spec, "kind"), "group");
}

static int check_root(const json_t *spec, struct text *why)
{
	const char *root = get(spec, "root");

	if (!root)
		return text_set(why, "submit: needs 'root', the server of rank 0");
	if (name_tasks(root) != 1 || strchr(root, '*'))
		return text_set(why, "submit: 'root' is not the name of a server");
	return 0;
}

static int check_group(json_t *spec, struct text *why)
{
	const char *fn = get(spec, "function");

	if (check_root(spec, why))
		return -1;
	if (json_object_get(spec, "receivers") || json_is_true(json_object_get(spec, "sorted")))
		return text_set(why, "submit: a group has neither 'receivers' nor 'sorted'");
	if (strcmp(fn, "sum") && strcmp(fn, "min") && strcmp(fn, "max"))
		return text_set(why, "submit: 'function' of a group is sum, min or max, not '%s'",
				fn);
	if (spec_ranks(spec) > RANKS_MAX)
		return text_set(why, "submit: %u ranks are more than %d", spec_ranks(spec),
				RANKS_MAX);
	if (!json_object_get(spec, "elements"))
		json_object_set_new(spec, "elements", json_integer(65536));
	return 0;
}

/* A reduce has a root, or several receivers. */
static int check_reduce(json_t *spec, struct text *why)
{
	if (json_object_get(spec, "root") && json_object_get(spec, "receivers"))
		return text_set(why, "submit: give 'root' or 'receivers', not both");
	if (json_object_get(spec, "elements") && json_is_true(json_object_get(spec, "sorted")))
		return text_set(why, "submit: give 'elements' or 'sorted', not both");
	return json_object_get(spec, "receivers") ? check_names(spec, "receivers", why) :
						    check_root(spec, why);
}

/* Words become arguments of aggctl, which knows which there are. */
static int check_words(const json_t *spec, struct text *why)
{
	static const char *const word[] = { "function", "type", "objective" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(word); i++)
		if (!is_word(get(spec, word[i])))
			return text_set(why, "submit: '%s' is not a name", word[i]);
	return 0;
}

static int check_limits(const json_t *spec, struct text *why)
{
	if (spec_time(spec) > conf.time_max)
		return text_set(why, "submit: 'time' exceeds the limit of %u seconds",
				conf.time_max / 1000);
	if (spec_memory(spec) > conf.node_memory)
		return text_set(why, "submit: the job needs %llu bytes at a node, where all jobs together may have %llu: lower 'memory'",
				(unsigned long long)spec_memory(spec),
				(unsigned long long)conf.node_memory);
	return 0;
}

static void set_default(json_t *spec, const char *name, json_t *value)
{
	if (json_object_get(spec, name))
		json_decref(value);
	else
		json_object_set_new(spec, name, value);
}

int spec_check_form(json_t *spec, struct text *why)
{
	const char *name;
	json_t *value;

	if (!json_is_object(spec))
		return text_set(why, "submit: not an object");
	json_object_foreach(spec, name, value)
		if (check_member(name, value, why))
			return -1;
	set_default(spec, "kind", json_string("group"));
	set_default(spec, "function", json_string("sum"));
	set_default(spec, "type", json_string("int64"));
	set_default(spec, "objective", json_string("traffic"));
	set_default(spec, "memory", json_integer((json_int_t)conf.memory));
	set_default(spec, "time", json_integer((conf.time + 999) / 1000));
	if (strcmp(get(spec, "kind"), "group") && strcmp(get(spec, "kind"), "reduce"))
		return text_set(why, "submit: 'kind' must be group or reduce");
	if (check_names(spec, "members", why) || check_words(spec, why))
		return -1;
	return is_group(spec) ? check_group(spec, why) : check_reduce(spec, why);
}

int spec_check(json_t *spec, struct text *why)
{
	return spec_check_form(spec, why) ? -1 : check_limits(spec, why);
}

uint32_t spec_ranks(const json_t *spec)
{
	const json_t *name;
	uint32_t n = 1;
	size_t i;

	json_array_foreach(json_object_get(spec, "members"), i, name)
		n += (uint32_t)name_tasks(json_string_value(name));
	return n;
}

uint32_t spec_trees(const json_t *spec)
{
	return is_group(spec) ? 2 : 1;
}

uint64_t spec_memory(const json_t *spec)
{
	return spec_trees(spec) * (uint64_t)number(spec, "memory");
}

int64_t spec_time(const json_t *spec)
{
	return number(spec, "time") * 1000;
}

/* Join names with commas behind a prefix. Return: to be freed, or NULL */
static char *join(const char *prefix, const char *first, const json_t *list)
{
	size_t i, len = strlen(prefix) + (first ? strlen(first) : 0) + 2;
	const json_t *name;
	char *s, *to;

	json_array_foreach(list, i, name)
		len += json_string_length(name) + 1;
	s = malloc(len);
	if (!s)
		return NULL;
	to = stpcpy(stpcpy(s, prefix), first ? first : "");
	json_array_foreach(list, i, name) {
		if (i || first)
			*to++ = ',';
		to = stpcpy(to, json_string_value(name));
	}
	return s;
}

/**
 * struct args - arguments that are being made
 * @v: the array
 * @n: how many there are
 * @failed: no memory
 */
struct args {
	char *v[ARGS_MAX + 1];
	size_t n;
	bool failed;
};

static void add(struct args *a, char *arg)
{
	if (arg)
		a->v[a->n++] = arg;
	else
		a->failed = true;
}

static void __printf(2, 3) addf(struct args *a, const char *fmt, ...)
{
	char *arg = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&arg, fmt, ap) < 0)
		arg = NULL;
	va_end(ap);
	add(a, arg);
}

static void add_up(struct args *a, const json_t *spec)
{
	const json_t *list = json_object_get(spec, "members");

	add(a, join("--senders=", is_group(spec) ? get(spec, "root") : NULL, list));
	if (json_object_get(spec, "receivers"))
		add(a, join("--receivers=", NULL, json_object_get(spec, "receivers")));
	else
		addf(a, "--receivers=%s", get(spec, "root"));
	addf(a, "--function=%s", get(spec, "function"));
	addf(a, "--type=%s", get(spec, "type"));
	if (json_object_get(spec, "scale"))
		addf(a, "--scale=%lld", (long long)number(spec, "scale"));
	if (json_object_get(spec, "k"))
		addf(a, "--k=%lld", (long long)number(spec, "k"));
	if (json_object_get(spec, "elements"))
		addf(a, "--elements=%lld", (long long)number(spec, "elements"));
	if (json_is_true(json_object_get(spec, "sorted")))
		addf(a, "--sorted");
}

static void add_down(struct args *a, const json_t *spec)
{
	addf(a, "--collective=bcast");
	addf(a, "--root=%s", get(spec, "root"));
	add(a, join("--receivers=", NULL, json_object_get(spec, "members")));
}

char **spec_plan(const json_t *spec, uint32_t tree, uint32_t id, uint32_t uid)
{
	struct args a = {};
	char **argv;

	addf(&a, "%s", conf.aggctl);
	addf(&a, "-j");
	addf(&a, "plan");
	addf(&a, "--job=%u", id + tree);
	addf(&a, "--uid=%u", uid);
	addf(&a, "--topology=%s", conf.topology);
	addf(&a, "--memory=%lld", (long long)number(spec, "memory"));
	addf(&a, "--objective=%s", get(spec, "objective"));
	if (is_group(spec))
		addf(&a, "--persist");
	if (tree)
		add_down(&a, spec);
	else
		add_up(&a, spec);
	argv = malloc(sizeof(a.v));
	if (argv)
		memcpy(argv, a.v, sizeof(a.v));
	if (argv && !a.failed)
		return argv;
	free(argv);
	while (a.n)
		free(a.v[--a.n]);
	return NULL;
}

void spec_free(char **argv)
{
	size_t i;

	for (i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}
