// SPDX-License-Identifier: GPL-2.0
/* A plan into its nodes: in force on all of them, or on none. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "files.h"
#include "netns.h"
#include "plan/plan_apply.h"
#include "release.h"

/* Repairs go around links that are down: they are not checked. */
static int stage(struct node *node, const struct plan_part *part,
		 const struct plan_install *how)
{
	if (node_open(node, part->name, how->in_testbed ? part->name : NULL) ||
	    plan_part_stage(node, part->entry, how->replace))
		return -1;
	return how->unchecked ? 0 : plan_links_check(node, part->entry,
						     !how->in_testbed);
}

/* Nodes drop packets of another wire revision. */
static int check_release(const struct plan_file *file)
{
	const char *release = json_string_value(json_object_get(file->json,
								"release"));
	char loaded[RELEASE_LEN];

	if (!file->n || !release_differs(release, loaded))
		return 0;
	err("%s: its module is of release %s, and the plan is of %s: install one release on all hosts, or apply the plan with --force",
	    file->part[0].name, loaded, release);
	return -1;
}

static int stage_all(const struct plan_file *file, struct node *nodes,
		     struct plan_install *how)
{
	how->at = 0;
	if (!how->unchecked && check_release(file))
		return -1;
	for (; how->at < file->n; how->at++)
		if (stage(&nodes[how->at], &file->part[how->at], how))
			return -1;
	return 0;
}

static int undo_part(const struct plan_part *part, struct node *node,
		     const struct plan_install *how)
{
	const json_t *was = json_object_get(how->old, "nodes");

	/* Old entries name ports of the namespace that we are in. */
	if (how->in_testbed && netns_enter(part->name))
		return -1;
	return plan_part_undo(node, json_object_get(was, part->name));
}

/* Each of the first @n nodes as it was before; what cannot be is told. */
static void undo(const struct plan_file *file, struct node *nodes, size_t n,
		 struct plan_install *how)
{
	while (n--) {
		if (!undo_part(&file->part[n], &nodes[n], how))
			continue;
		how->in_doubt = true;
		err("%s: it may have entries of the plan: withdraw the plan there",
		    file->part[n].name);
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
		      struct plan_install *how)
{
	size_t i;

	for (i = 0; i < file->n; i++) {
		how->changes += nodes[i].n_steps + nodes[i].n_links;
		if (!aggnet_plan_commit(nodes[i].ctl))
			continue;
		how->at = i;
		node_refused(&nodes[i], "plan");
		/* Its answer may have been lost. */
		undo(file, nodes, plan_part_committed(&nodes[i]) ? i + 1 : i,
		     how);
		return -1;
	}
	return 0;
}

/* Other hosts may have a say in it. */
static int agree(const struct plan_file *file, struct node *nodes,
		 struct plan_install *how)
{
	if (how->may_commit && !how->may_commit(how))
		return -1;
	if (commit_all(file, nodes, how))
		return -1;
	if (!how->may_keep || how->may_keep(how))
		return 0;
	undo(file, nodes, file->n, how);
	return -1;
}

/**
 * plan_install() - put a plan in force
 * @file: the plan
 * @how: what is asked for; @at, @in_doubt and @changes are filled
 *
 * Nothing is in force anywhere before everything is checked; then nodes follow
 * in the order of the file. Entries of the plan that are in force already are left
 * alone. A signal that would end the process waits meanwhile, and what is printed to
 * a closed pipe does not end it.
 *
 * Return: 0, or -1; an error line is printed if a node refused.
 */
int plan_install(const struct plan_file *file, struct plan_install *how)
{
	struct node *nodes = calloc(file->n + 1, sizeof(*nodes));
	sighandler_t on_pipe;
	sigset_t signals;
	size_t i;
	int ret;

	how->at = file->n;
	how->changes = 0;
	how->in_doubt = false;
	if (!nodes) {
		err("out of memory");
		return -1;
	}
	raise_files();
	on_pipe = signal(SIGPIPE, SIG_IGN);
	/* Ports and identities change as entries are staged. */
	hold_signals(&signals);
	ret = stage_all(file, nodes, how) || agree(file, nodes, how);
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
