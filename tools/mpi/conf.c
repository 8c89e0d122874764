// SPDX-License-Identifier: GPL-2.0
/* Shim: what AGGNET_MPI and AGGNET_MPI_MIN say. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

struct word {
	const char *name;
	uint32_t value;
};

static const struct word functions[] = {
	{ "sum", AGGNET_FN_SUM }, { "min", AGGNET_FN_MIN }, { "max", AGGNET_FN_MAX }, { 0 },
};

static const struct word types[] = {
	{ "int32", AGGNET_VTYPE_INT32 }, { "int64", AGGNET_VTYPE_INT64 },
	{ "float32", AGGNET_VTYPE_FLOAT32 }, { "float64", AGGNET_VTYPE_FLOAT64 }, { 0 },
};

static bool word_find(const struct word *word, const char *text, size_t len, uint32_t *value)
{
	for (; word->name; word++)
		if (strlen(word->name) == len && !strncmp(word->name, text, len)) {
			*value = word->value;
			return true;
		}
	return false;
}

bool conf_bytes(const char *text, uint64_t *bytes)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*bytes = strtoull(text, &end, 10);
	return !*end && !errno;
}

static bool conf_number(const char *text, uint32_t *number)
{
	uint64_t value;

	if (!conf_bytes(text, &value) || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

/* A word of GROUP. Words of later versions are ignored. */
static bool conf_word(struct aggnet_group_conf *c, const char *word, unsigned int *found)
{
	static const char *const names[] = { "root=", "up=", "down=", "ranks=" };
	const char *value;
	unsigned int i;

	for (i = 0; i < 4 && strncmp(word, names[i], strlen(names[i])); i++)
		;
	if (i == 4)
		return true;
	value = word + strlen(names[i]);
	*found |= 1u << i;
	switch (i) {
	case 0:
		return inet_pton(AF_INET, value, &c->root) == 1;
	case 1:
		return conf_number(value, &c->up);
	case 2:
		return conf_number(value, &c->down);
	default:
		return conf_number(value, &c->ranks);
	}
}

/* All words are there, and right. @text is changed. */
static bool conf_words(struct aggnet_group_conf *c, char *text)
{
	unsigned int found = 0;
	char *word, *rest;

	for (word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		if (!conf_word(c, word, &found))
			return false;
	return found == 15;
}

/* FUNCTION/TYPE */
static bool conf_name(struct shim_group *sg, const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);

	if (!slash || len >= sizeof(sg->name))
		return false;
	memcpy(sg->name, text, len);
	return word_find(functions, text, (size_t)(slash - text), &sg->conf.function) &&
	       word_find(types, slash + 1, (size_t)(text + len - slash - 1),
			 &sg->conf.vtype);
}

/* One group. @text is changed. */
static bool conf_group(struct shim_group *sg, char *text)
{
	size_t len = strcspn(text, ":");

	*sg = (struct shim_group){ .conf.flags = AGGNET_GROUP_WRAP };
	return text[len] && conf_name(sg, text, len) && conf_words(&sg->conf, text + len + 1);
}

int conf_parse(char *text, struct shim_group *group, char *fault)
{
	char *one, *rest;
	int n = 0;

	for (one = strtok_r(text, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
		snprintf(fault, SHIM_TEXT_MAX,
			 "AGGNET_MPI: '%.200s' is not FUNCTION/TYPE:GROUP, such as sum/float64:root=10.0.0.1,up=7,down=8,ranks=4",
			 one);
		if (n == SHIM_GROUPS_MAX)
			snprintf(fault, SHIM_TEXT_MAX, "AGGNET_MPI: more than %d groups",
				 SHIM_GROUPS_MAX);
		if (n == SHIM_GROUPS_MAX || !conf_group(&group[n++], one))
			return -1;
	}
	return n;
}
