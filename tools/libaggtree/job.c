// SPDX-License-Identifier: GPL-2.0
/* Jobs: checks, deep copies, flow sizes, and members that join and leave. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int check_servers(const struct aggt_topo *topo, const char *what,
			 const aggt_node *node, size_t n, struct aggt_err *err)
{
	struct aggt_map seen;
	int ret = -1;
	size_t i;

	if (!n) {
		aggt_err_set(err, "%ss: none given", what);
		return -1;
	}
	if (aggt_map_init(&seen, n)) {
		aggt_err_nomem(err);
		return -1;
	}
	for (i = 0; i < n; i++) {
		uint32_t *slot = aggt_map_slot(&seen, node[i]);

		if (node[i] >= topo->servers) {
			aggt_err_set(err, "%s v%u: %s has v0..v%u", what,
				     node[i], topo->name, topo->servers - 1);
			goto out;
		}
		if (*slot != AGGT_NONE) {
			aggt_err_set(err, "%s %s: named twice", what,
				     aggt_label(topo, node[i]).text);
			goto out;
		}
		if (!aggt_topo_server_ok(topo, node[i])) {
			aggt_err_set(err, "%s %s: has failed", what,
				     aggt_label(topo, node[i]).text);
			goto out;
		}
		*slot = i;
	}
	ret = 0;
out:
	aggt_map_free(&seen);
	return ret;
}

int aggt_job_check(const struct aggt_topo *topo, const struct aggt_job *job,
		   struct aggt_err *err)
{
	size_t i;

	if (!(job->delta >= 0 && job->delta <= 1)) {
		aggt_err_set(err, "delta %g: must be within 0 and 1",
			     job->delta);
		return -1;
	}
	if (check_servers(topo, "sender", job->senders, job->n_senders, err) ||
	    check_servers(topo, "receiver", job->receivers, job->n_receivers,
			  err) ||
	    aggt_stripes_check(topo, job, err))
		return -1;
	for (i = 0; job->sizes && i < job->n_senders; i++) {
		if (job->sizes[i] >= 0 && job->sizes[i] < 1e300)
			continue;
		aggt_err_set(err, "size of sender %s: %g is not a size",
			     aggt_label(topo, job->senders[i]).text,
			     job->sizes[i]);
		return -1;
	}
	for (i = 0; job->tasks && i < job->n_senders; i++) {
		if (job->tasks[i])
			continue;
		aggt_err_set(err, "sender %s: has no task",
			     aggt_label(topo, job->senders[i]).text);
		return -1;
	}
	return 0;
}

static void *copy(const void *from, size_t n, size_t size)
{
	void *to = malloc(n * size);

	if (to)
		memcpy(to, from, n * size);
	return to;
}

void aggt_job_free(struct aggt_job *job)
{
	free((void *)job->senders);
	free((void *)job->sizes);
	free((void *)job->tasks);
	free((void *)job->receivers);
	free((void *)job->method);
	memset(job, 0, sizeof(*job));
}

int aggt_job_copy(struct aggt_job *to, const struct aggt_job *from)
{
	*to = *from;
	to->senders = copy(from->senders, from->n_senders, sizeof(aggt_node));
	to->sizes = from->sizes ? copy(from->sizes, from->n_senders,
				       sizeof(double)) : NULL;
	to->tasks = from->tasks ? copy(from->tasks, from->n_senders,
				       sizeof(uint32_t)) : NULL;
	to->receivers = copy(from->receivers, from->n_receivers,
			     sizeof(aggt_node));
	to->method = strdup(from->method);
	if (to->senders && to->receivers && to->method &&
	    !to->sizes == !from->sizes && !to->tasks == !from->tasks)
		return 0;
	aggt_job_free(to);
	return -1;
}

int aggt_job_add_sender(struct aggt_job *job, aggt_node server)
{
	size_t n = job->n_senders + 1;
	aggt_node *senders;

	senders = realloc((void *)job->senders, n * sizeof(*senders));
	if (!senders)
		return -1;
	senders[n - 1] = server;
	job->senders = senders;
	if (job->sizes) {
		double *sizes = realloc((void *)job->sizes, n * sizeof(*sizes));

		if (!sizes)
			return -1;
		sizes[n - 1] = 1;
		job->sizes = sizes;
	}
	if (job->tasks) {
		uint32_t *tasks = realloc((void *)job->tasks,
					  n * sizeof(*tasks));

		if (!tasks)
			return -1;
		tasks[n - 1] = 1;
		job->tasks = tasks;
	}
	job->n_senders = n;
	return 0;
}

void aggt_job_drop_sender(struct aggt_job *job, size_t i)
{
	size_t left = --job->n_senders - i;
	aggt_node *senders = (aggt_node *)job->senders;
	uint32_t *tasks = (uint32_t *)job->tasks;
	double *sizes = (double *)job->sizes;

	memmove(senders + i, senders + i + 1, left * sizeof(*senders));
	if (sizes)
		memmove(sizes + i, sizes + i + 1, left * sizeof(*sizes));
	if (tasks)
		memmove(tasks + i, tasks + i + 1, left * sizeof(*tasks));
}

size_t aggt_job_sender(const struct aggt_job *job, aggt_node server)
{
	size_t i = 0;

	while (i < job->n_senders && job->senders[i] != server)
		i++;
	return i;
}

double aggt_job_size(const struct aggt_job *job, uint32_t sender, double delta)
{
	double size = job->sizes ? job->sizes[sender] : 1;

	if (job->tasks)
		size += delta * size * (job->tasks[sender] - 1);
	return size;
}

double aggt_vertex_size(const struct aggt_tree *tree,
			const struct aggt_job *job, uint32_t v, double delta)
{
	double sum = 0, max = 0;
	uint32_t s;

	for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s]) {
		double size = aggt_job_size(job, s, delta);

		sum += size;
		if (size > max)
			max = size;
	}
	return max + delta * (sum - max);
}

static const char *skip_blank(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* One line of a sizes file: a server and a number. */
static int parse_size(const struct aggt_topo *topo, const char *line,
		      size_t len, aggt_node *server, double *size,
		      struct aggt_err *err)
{
	char text[64], *word, *end;

	if (len >= sizeof(text)) {
		aggt_err_set(err, "size: line %.32s... is too long", line);
		return -1;
	}
	memcpy(text, line, len);
	text[len] = 0;
	word = text + strcspn(text, " \t\r");
	if (*word)
		*word++ = 0;
	*server = aggt_server_parse(topo, text, err);
	if (*server == AGGT_NONE)
		return -1;
	*size = strtod(word, &end);
	if (end == word || *skip_blank(end) || !(*size >= 0 && *size < 1e300)) {
		aggt_err_set(err, "size of sender %s: expected a number", text);
		return -1;
	}
	return 0;
}

int aggt_sizes_parse(const struct aggt_topo *topo, const char *text,
		     const struct aggt_list *senders, double *sizes,
		     struct aggt_err *err)
{
	struct aggt_job job = { .senders = senders->node,
				.n_senders = senders->n };
	size_t i, len;

	for (i = 0; i < senders->n; i++)
		sizes[i] = -1;
	for (text = skip_blank(text); *text; text = skip_blank(text + len)) {
		aggt_node server;
		double size;

		len = strcspn(text, "\n");
		if (*text == '#')
			continue;
		if (parse_size(topo, text, len, &server, &size, err))
			return -1;
		i = aggt_job_sender(&job, server);
		if (i == senders->n) {
			aggt_err_set(err, "size of %s: not a sender",
				     aggt_label(topo, server).text);
			return -1;
		}
		if (sizes[i] >= 0) {
			aggt_err_set(err, "size of %s: given twice",
				     aggt_label(topo, server).text);
			return -1;
		}
		sizes[i] = size;
	}
	for (i = 0; i < senders->n; i++)
		if (sizes[i] < 0)
			sizes[i] = 1;
	return 0;
}
