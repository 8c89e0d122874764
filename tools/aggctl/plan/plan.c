// SPDX-License-Identifier: GPL-2.0
/* What belongs to a plan beside its trees: topology, attempts and keys. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "aggctl.h"
#include "plan/plan.h"

/**
 * plan_read_file() - the content of a file
 * @command: that reads it, for error lines
 * @path: the file
 *
 * Return: the content, to be freed, or NULL with an error line printed.
 */
char *plan_read_file(const char *command, const char *path)
{
	char *content = NULL;
	ssize_t len = -1;
	size_t room = 0;
	FILE *f;

	f = fopen(path, "r");
	if (f)
		len = getdelim(&content, &room, '\0', f);
	if (len < 0 && (!f || !feof(f)))
		err("%s: %s: %s", command, path, strerror(errno));
	else if (len < 0)
		err("%s: %s: it is empty", command, path);
	else if (!content[len - 1])
		err("%s: %s: not a text file: it has a zero byte", command, path);
	if (f)
		fclose(f);
	if (len > 0 && content[len - 1])
		return content;
	free(content);
	return NULL;
}

/* No name of a topology, but perhaps that of a file. */
static const char *hint(const char *text)
{
	static char hint[300];

	if (strchr(text, ':'))
		return "";
	if (access(text, R_OK))
		return ", or @FILE that describes it";
	snprintf(hint, sizeof(hint), "; '--topology @%.250s' reads the file",
		 text);
	return hint;
}

/**
 * plan_topology() - make the topology of a plan
 * @plan: the plan
 * @command: that needs it, for error lines
 * @text: name of the topology, or @FILE that describes it
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_topology(struct plan *plan, const char *command, const char *text)
{
	struct aggt_err why;

	if (text[0] != '@') {
		plan->topo = aggt_topo_parse(text, &why);
	} else {
		plan->description = plan_read_file(command, text + 1);
		if (!plan->description)
			return -1;
		plan->topo = aggt_topo_describe(plan->description, &why);
	}
	if (plan->topo)
		return 0;
	if (text[0] == '@')
		err("%s: %s: %s", command, text + 1, why.text);
	else
		err("%s: --topology: %s%s", command, why.text, hint(text));
	return -1;
}

static json_t *draw_key(void)
{
	uint8_t key[AGGNET_KEY_LEN];
	char text[2 * AGGNET_KEY_LEN + 1];
	size_t i;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return NULL;
	for (i = 0; i < sizeof(key); i++)
		sprintf(text + 2 * i, "%02x", key[i]);
	return json_string(text);
}

/**
 * plan_prepare() - give the trees of a plan attempts and keys
 * @plan: the plan, its trees and conf are there
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_prepare(struct plan *plan)
{
	size_t i, n = aggt_plan_trees(plan->trees);

	plan->attempt = calloc(n, sizeof(*plan->attempt));
	plan->used = calloc(n, sizeof(*plan->used));
	plan->failed = json_array();
	plan->absent = json_array();
	if (plan->conf.keyed)
		plan->key = calloc(n, sizeof(json_t *));
	if (!plan->attempt || !plan->used ||
	    !plan->key == plan->conf.keyed) {
		err("out of memory");
		return -1;
	}
	for (i = 0; plan->key && i < n; i++) {
		plan->key[i] = draw_key();
		if (plan->key[i])
			continue;
		err("plan: no keys can be drawn: %s", strerror(errno));
		return -1;
	}
	return 0;
}

/**
 * list_has() - look for a text in a list of texts
 * @list: the list
 * @text: the text
 */
bool list_has(const json_t *list, const char *text)
{
	json_t *value;
	size_t i;

	json_array_foreach((json_t *)list, i, value)
		if (!strcmp(json_string_value(value), text))
			return true;
	return false;
}

/**
 * list_add() - add a text to a list that has each text once
 * @list: the list
 * @text: the text
 *
 * Return: whether it was not there.
 */
bool list_add(json_t *list, const char *text)
{
	return !list_has(list, text) &&
	       !json_array_append_new(list, json_string(text));
}

/**
 * plan_job() - the job ID of a tree
 * @plan: the plan
 * @tree: number of the tree
 *
 * Trees to different receivers have the same one, stripes have consecutive IDs.
 */
uint32_t plan_job(const struct plan *plan, size_t tree)
{
	return plan->conf.job +
	       (aggt_plan_stripes(plan->trees) ? (uint32_t)tree : 0);
}

/**
 * plan_clear() - free what belongs to a plan
 * @plan: the plan
 */
void plan_clear(struct plan *plan)
{
	size_t i;

	for (i = 0; plan->key && i < aggt_plan_trees(plan->trees); i++)
		json_decref(plan->key[i]);
	free(plan->key);
	free(plan->attempt);
	free(plan->renew);
	free(plan->used);
	free(plan->description);
	json_decref(plan->failed);
	json_decref(plan->absent);
	aggt_plan_free(plan->trees);
	aggt_topo_free(plan->topo);
	memset(plan, 0, sizeof(*plan));
}
