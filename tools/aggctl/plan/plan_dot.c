// SPDX-License-Identifier: GPL-2.0
/* Drawings of trees: Graphviz source, or what dot makes of it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggctl.h"
#include "plan/plan.h"

/* Where switches form the hypercube, they are what a tree connects. */
static const char *vertex_name(const struct plan *plan, aggt_node number)
{
	return aggt_topo_agents(plan->topo) ? plan_switch_name(plan, number) :
					      plan_server_name(plan, number);
}

static const char *colour(const struct aggt_tree *tree, size_t i,
			  const uint32_t *inputs)
{
	if (!i)
		return "gold";
	if (inputs[i] > 1)
		return "lightgreen";
	return aggt_tree_sends(tree, i) ? "lightblue" : "white";
}

static void draw_vertex(FILE *f, const struct plan *plan, size_t number,
			size_t i, const uint32_t *inputs)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan->trees, number);

	fprintf(f, "\t\tt%zu_%zu [label=\"%s\" fillcolor=%s%s];\n", number, i,
		vertex_name(plan, aggt_tree_server(tree, i)),
		colour(tree, i, inputs),
		aggt_tree_sends(tree, i) ? " penwidth=2" : "");
}

/* The switches of a hop, in the order in which it crosses them. */
static void draw_switches(FILE *f, const struct plan *plan, aggt_node from,
			  aggt_node to)
{
	uint32_t i, sw;

	for (i = 0; ; i++) {
		sw = aggt_topo_hop_switch(plan->topo, from, to, i);
		if (sw == AGGT_NONE)
			break;
		fprintf(f, "%s%s", i ? " " : " [label=\"",
			plan_switch_name(plan, sw));
	}
	if (i)
		fputs("\"]", f);
}

static void draw_edge(FILE *f, const struct plan *plan, size_t number,
		      size_t i)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan->trees, number);
	uint32_t up = aggt_tree_parent(tree, i);

	fprintf(f, "\t\tt%zu_%zu -> t%zu_%u", number, i, number, up);
	draw_switches(f, plan, aggt_tree_server(tree, i),
		      aggt_tree_server(tree, up));
	fputs(";\n", f);
}

static int draw_tree(FILE *f, const struct plan *plan, size_t number)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan->trees, number);
	size_t i, n = aggt_tree_size(tree);
	uint32_t *inputs = calloc(n, sizeof(*inputs));

	if (!inputs)
		return -1;
	for (i = 0; i < n; i++) {
		inputs[i] += aggt_tree_sends(tree, i);
		if (i)
			inputs[aggt_tree_parent(tree, i)]++;
	}
	fprintf(f, "\tsubgraph cluster_%zu {\n\t\tlabel=\"", number);
	if (aggt_plan_stripes(plan->trees))
		fprintf(f, "job %u, ", plan_job(plan, number));
	fprintf(f, "to %s\";\n",
		plan_server_name(plan, aggt_tree_receiver(tree)));
	for (i = 0; i < n; i++)
		draw_vertex(f, plan, number, i, inputs);
	for (i = 1; i < n; i++)
		draw_edge(f, plan, number, i);
	fputs("\t}\n", f);
	free(inputs);
	return 0;
}

static int write_dot(FILE *f, const struct plan *plan)
{
	size_t i;

	fprintf(f, "digraph aggnet {\n\tlabel=\"%s, job %u: %s\";\n",
		aggt_topo_name(plan->topo), plan->conf.job,
		"sender bold, aggregating green, receiver yellow");
	fputs("\trankdir=BT;\n\tnode [shape=ellipse style=filled];\n", f);
	for (i = 0; i < aggt_plan_trees(plan->trees); i++)
		if (draw_tree(f, plan, i))
			return -1;
	fputs("}\n", f);
	return ferror(f) ? -1 : 0;
}

/* The format that dot is asked for, NULL: its source is what is wanted. */
static const char *format(const char *file)
{
	const char *dot = strrchr(file, '.');

	if (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".png") ||
		    !strcmp(dot, ".pdf")))
		return dot + 1;
	return NULL;
}

static FILE *start_dot(const char *type, const char *file, pid_t *pid)
{
	char option[8];
	int fds[2];

	snprintf(option, sizeof(option), "-T%s", type);
	if (pipe(fds))
		return NULL;
	*pid = fork();
	if (!*pid) {
		signal(SIGPIPE, SIG_DFL);
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		execlp("dot", "dot", option, "-o", file, NULL);
		err("dot: %s; it draws .svg, .png and .pdf and is in the package graphviz",
		    strerror(errno));
		_exit(ST_FAILED);
	}
	close(fds[0]);
	if (*pid < 0) {
		close(fds[1]);
		return NULL;
	}
	return fdopen(fds[1], "w");
}

/**
 * plan_draw() - draw the trees of a plan
 * @file: where to; .svg, .png and .pdf are made by dot, all else is its source
 * @plan: the plan
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_draw(const char *file, const struct plan *plan)
{
	const char *type = format(file);
	sighandler_t on_pipe = signal(SIGPIPE, SIG_IGN);
	int status = 0, bad;
	pid_t pid = 0;
	FILE *f;

	/* A dot that is missing, or fails, must not end the command. */
	f = type ? start_dot(type, file, &pid) : fopen(file, "w");
	if (!f) {
		err("%s: %s", file, strerror(errno));
		signal(SIGPIPE, on_pipe);
		return -1;
	}
	bad = write_dot(f, plan);
	bad |= fclose(f);
	signal(SIGPIPE, on_pipe);
	if (pid && (waitpid(pid, &status, 0) < 0 || status))
		bad = -1;
	if (bad)
		err("%s: the drawing could not be made", file);
	return bad ? -1 : 0;
}
