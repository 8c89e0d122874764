// SPDX-License-Identifier: GPL-2.0
/* One host of "aggctl apply --hosts": it stages, commits and keeps when it is told. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "cmd/apply_hosts.h"
#include "cmd/plan_find.h"

/* Other hosts may take as long to stage or to commit. */
#define PATIENCE_MS	60000

static bool committed;

/* Say @done, and wait until @next may be done. */
static bool may(const char *done, const char *next)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[64];

	puts(done);
	fflush(stdout);
	if (poll(&input, 1, PATIENCE_MS) < 1 ||
	    !fgets(line, sizeof(line), stdin))
		return false;
	line[strcspn(line, "\n")] = 0;
	return !strcmp(line, next);
}

static bool may_commit(const struct plan_install *how)
{
	(void)how;
	return may(HELD_STAGED, HELD_COMMIT);
}

static bool may_keep(const struct plan_install *how)
{
	committed = true;
	return may(how->changes ? HELD_IN_FORCE : HELD_UNCHANGED, HELD_KEEP);
}

static json_t *read_plan(void)
{
	json_error_t error;
	char *line = NULL;
	size_t size = 0;
	json_t *json;

	if (getline(&line, &size, stdin) < 0) {
		err("no plan came");
		return NULL;
	}
	json = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		err("the plan that came: %s", error.text);
	free(line);
	return json;
}

int apply_held(const char *netns, const char *node, struct plan_install *how)
{
	struct plan_file file = {};
	json_t *json = read_plan();
	int ret = -1;

	how->may_commit = may_commit;
	how->may_keep = may_keep;
	if (json && !plan_file_take(&file, json) &&
	    !plan_file_find(&file, netns, node, &how->in_testbed))
		ret = plan_install(&file, how);
	if (ret && committed)
		puts(HELD_UNDONE);
	plan_file_free(&file);
	json_decref(json);
	return ret;
}
