// SPDX-License-Identifier: GPL-2.0
/* A plan into its nodes: in force on all of them, or on none. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "files.h"
#include "netns.h"
#include "plan/plan_apply.h"

static int stage_all(const struct plan_file *file, struct node *nodes,
		     bool in_testbed, bool replace, size_t *at)
{
	for (*at = 0; *at < file->n; (*at)++) {
		const struct plan_part *part = &file->part[*at];

		if (node_open(&nodes[*at], part->name,
			      in_testbed ? part->name : NULL) ||
		    plan_part_stage(&nodes[*at], part->entry, replace))
			return -1;
	}
	return 0;
}

/* Each as it was before; what cannot be is told. */
static void undo(const struct plan_file *file, struct node *nodes, size_t n,
		 bool in_testbed, const json_t *old)
{
	const json_t *was = json_object_get(old, "nodes");
	const char *name;

	while (n--) {
		name = file->part[n].name;
		/* Old entries name ports of the namespace that we are in. */
		if (in_testbed && netns_enter(name))
			continue;
		plan_part_undo(&nodes[n], json_object_get(was, name));
	}
}

/* Until all nodes have the plan, or none, these signals wait. */
static void hold_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, before);
}

static int commit_all(const struct plan_file *file, struct node *nodes,
		      bool in_testbed, const json_t *old, size_t *at)
{
	size_t i;

	for (i = 0; i < file->n; i++) {
		if (!aggnet_plan_commit(nodes[i].ctl))
			continue;
		*at = i;
		node_refused(&nodes[i], "plan");
		if (plan_part_committed(&nodes[i]) > 0)
			i++;
		undo(file, nodes, i, in_testbed, old);
		return -1;
	}
	return 0;
}

/**
 * plan_install() - put a plan in force
 * @file: the plan
 * @in_testbed: its nodes are in the testbed
 * @replace: entries of older epochs give way
 * @old: the plan that they are of, to bring them back after a failure; or NULL
 * @at: after a failure, index of the node that refused
 *
 * Nothing is in force anywhere before everything is checked; then nodes follow
 * in the order of the file. A signal that would end the process waits meanwhile,
 * and what is printed to a closed pipe does not end it.
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_install(const struct plan_file *file, bool in_testbed, bool replace,
		 const json_t *old, size_t *at)
{
	struct node *nodes = calloc(file->n + 1, sizeof(*nodes));
	sighandler_t on_pipe;
	sigset_t signals;
	size_t i;
	int ret;

	*at = file->n;
	if (!nodes) {
		err("out of memory");
		return -1;
	}
	raise_files();
	on_pipe = signal(SIGPIPE, SIG_IGN);
	/* Ports and identities change as entries are staged. */
	hold_signals(&signals);
	ret = stage_all(file, nodes, in_testbed, replace, at) || commit_all(file, nodes, in_testbed, old, at);
	for (i = file->n; i--; ) {
		if (ret && nodes[i].ctl) {
			aggnet_plan_drop(nodes[i].ctl);
			node_restore(&nodes[i]);
		}
		node_close(&nodes[i]);
	}
	free(nodes);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	signal(SIGPIPE, on_pipe);
	return ret ? -1 : 0;
}
