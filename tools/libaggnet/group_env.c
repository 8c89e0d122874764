// SPDX-License-Identifier: GPL-2.0
/* Group: what the environment says of it. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

#define ENV_WORD_MAX	64

static bool env_number(const char *text, uint32_t *number)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*number = (uint32_t)value;
	return !*end && !errno && value <= UINT32_MAX;
}

/* The words of AGGNET_GROUP: "root=10.0.0.1,up=7,down=8,ranks=4" */
enum { WORD_ROOT, WORD_UP, WORD_DOWN, WORD_RANKS, WORDS };

static const char *const env_words[WORDS] = { "root", "up", "down", "ranks" };

static bool env_value(struct aggnet_group_conf *conf, unsigned int word,
			const char *value)
{
	switch (word) {
	case WORD_ROOT:
		return inet_pton(AF_INET, value, &conf->root) == 1;
	case WORD_UP:
		return env_number(value, &conf->up);
	case WORD_DOWN:
		return env_number(value, &conf->down);
	default:
		return env_number(value, &conf->ranks);
	}
}

/* Return: which of the words it is; WORDS: none of this version */
static unsigned int env_find(const char *text)
{
	unsigned int i = 0;

	while (i < WORDS && (strncmp(env_words[i], text, strlen(env_words[i])) ||
			     text[strlen(env_words[i])] != '='))
		i++;
	return i;
}

/* @found: bits of the words that were there. Return: 0, or -EINVAL with a sentence */
static int env_word(struct aggnet_group *g, const char *text,
		     unsigned int *found)
{
	unsigned int word = env_find(text);

	if (word == WORDS)
		return 0;
	if (*found & 1u << word)
		return group_fail(g, -EINVAL, "AGGNET_GROUP: '%s' is there twice",
				  env_words[word]);
	*found |= 1u << word;
	if (!env_value(&g->conf, word, text + strlen(env_words[word]) + 1))
		return group_fail(g, -EINVAL, "AGGNET_GROUP: '%s' is wrong", text);
	return 0;
}

static int env_group(struct aggnet_group *g, const char *text)
{
	unsigned int found = 0, i;
	char word[ENV_WORD_MAX];
	size_t len;
	int err = 0;

	if (!text)
		return group_fail(g, -EINVAL,
				  "AGGNET_GROUP is not set: it has the line of 'aggctl job submit'");
	for (; !err && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		/* What is left of a number with many zeros would be another one. */
		if (len >= sizeof(word) && env_find(word) < WORDS)
			err = group_fail(g, -EINVAL,
					 "AGGNET_GROUP: '%s...' is too long", word);
		else
			err = env_word(g, word, &found);
	}
	for (i = 0; !err && i < WORDS; i++)
		if (!(found & 1u << i))
			err = group_fail(g, -EINVAL, "AGGNET_GROUP: '%s' is missing",
					 env_words[i]);
	return err;
}

static int env_rank(struct aggnet_group *g, const char *text)
{
	if (!text)
		return group_fail(g, -EINVAL,
				  "AGGNET_RANK is not set: it has the rank of this process");
	if (!env_number(text, &g->conf.rank))
		return group_fail(g, -EINVAL, "AGGNET_RANK: '%s' is wrong", text);
	return 0;
}

int aggnet_group_create(struct aggnet_group **group,
			const struct aggnet_group_conf *conf)
{
	struct aggnet_group *g = calloc(1, sizeof(*g));
	struct aggnet_group_conf full;
	int err;

	*group = g;
	if (!g)
		return -ENOMEM;
	g->conf = *conf;
	err = env_group(g, getenv("AGGNET_GROUP"));
	if (!err && conf->rank == AGGNET_RANK_ENV)
		err = env_rank(g, getenv("AGGNET_RANK"));
	full = g->conf;
	if (err) {
		group_leave(g);
		return err;
	}
	aggnet_group_close(g);
	return aggnet_group_open(group, &full);
}
