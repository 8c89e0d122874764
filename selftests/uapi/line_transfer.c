// SPDX-License-Identifier: GPL-2.0
/* Applications and entries of a transfer along a line. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "line_transfer.h"
#include "member.h"

const int app_node[APPS] = { NODE_C, NODE_AGG, NODE_R };
const char * const app_name[APPS] = { "C", "A", "R" };

static void app_over(struct app *app, int error)
{
	app->over = true;
	app->error = error;
}

/*
 * The value, 1 to 40, of an application's record; each application has its own.
 */
static int64_t app_value(int app, unsigned int i)
{
	return 1 + (app == APP_C ? i * 7 : i * 11 + 5) % 40;
}

static void app_send(struct line_transfer *t, int number, unsigned int until)
{
	struct app *app = &t->app[number];
	uint8_t buf[2048];
	char key[16];
	size_t len = 0;
	ssize_t n;
	unsigned int i;

	for (i = app->sent; i < until && len < 1900; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		len += put_record(buf + len, key, app_value(number, i));
	}
	if (!len)
		return;
	n = send(app->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		app_over(app, errno);
	for (len = 0; n > 0 && len < (size_t)n; app->sent++)
		len += 2 + buf[len] + buf[len + 1];
}

static int64_t record_value(const uint8_t *record)
{
	int64_t value = 0;

	/* Values are short and positive in these tests. */
	memcpy(&value, record + 2 + record[0], record[1]);
	return value;
}

static void app_take(struct app *app, const uint8_t *record)
{
	char key[16] = "";
	unsigned int i;

	if (record[0] < sizeof(key))
		memcpy(key, record + 2, record[0]);
	if (sscanf(key, "key %u", &i) == 1 && i < RECORDS)
		app->seen[i] += record_value(record);
	else
		app->foreign++;
}

bool transfer_exact(const struct line_transfer *t)
{
	const struct app *app = &t->app[APP_R];
	unsigned int i;

	for (i = 0; i < RECORDS; i++)
		if (app->seen[i] != app_value(APP_C, i) +
				    app_value(APP_AGG, i)) {
			fprintf(stderr, "# key %u: %lld\n", i,
				(long long)app->seen[i]);
			return false;
		}
	return !app->foreign;
}

bool app_read(struct line_transfer *t, bool take)
{
	struct app *app = &t->app[APP_R];
	static struct message m;
	size_t at;
	ssize_t n;

	n = recv(app->fd, &m, sizeof(m), MSG_DONTWAIT | MSG_PEEK);
	if (n >= 0 && !take)
		return false;
	if (n >= 0 || errno == EOPNOTSUPP)
		n = recv(app->fd, &m, sizeof(m), MSG_DONTWAIT);
	if (n < 0) {
		if (errno != EAGAIN)
			app_over(app, errno);
		return false;
	}
	if (m.head.type == AGGNET_MSG_END) {
		t->taken = true;
		app_over(app, 0);
		return false;
	}
	for (at = 0; at < n - sizeof(m.head);
	     at += 2 + m.records[at] + m.records[at + 1])
		app_take(app, m.records + at);
	return true;
}

void app_write(struct line_transfer *t, int number, unsigned int records,
	       bool shut)
{
	struct app *app = &t->app[number];
	char byte;

	if (app->fd < 0 || app->over)
		return;
	if (app->sent < records) {
		app_send(t, number, records);
	} else if (shut && !app->shut) {
		if (shutdown(app->fd, SHUT_WR))
			app_over(app, errno);
		app->shut = true;
	} else if (shut) {
		if (recv(app->fd, &byte, 1, MSG_DONTWAIT) == 0)
			app_over(app, 0);
		else if (errno != EAGAIN)
			app_over(app, errno);
	}
}

void app_kill(struct line_transfer *t, int app)
{
	if (t->app[app].fd >= 0)
		close(t->app[app].fd);
	t->app[app].fd = -1;
}

int app_join(struct line_transfer *t, int app)
{
	line_enter(&t->line, app_node[app]);
	t->app[app] = (struct app){ .fd = joined(app == APP_R) };
	return t->app[app].fd < 0 ? -1 : 0;
}

int transfer_up(struct line_transfer *t)
{
	t->line.n = NODES;
	t->line.transit = true;
	return line_up(&t->line);
}

int transfer_add(struct line_transfer *t, int node)
{
	struct aggnet_tree_info e = entry(node == NODE_C || node == NODE_AGG);
	struct in_addr child = line_identity(&t->line, node == NODE_R ?
					     NODE_AGG : NODE_C);

	e.instance = t->instance;
	e.has |= AGGNET_HAS(AGGNET_A_TREE_GIVE_UP) |
		 AGGNET_HAS(AGGNET_A_TREE_HOLD);
	e.give_up = t->slow * t->give_up;
	e.hold = t->hold[node];
	if (t->persist)
		e.has |= AGGNET_HAS(AGGNET_A_TREE_PERSIST);
	e.persist = t->persist;
	line_enter(&t->line, node);
	if (node == NODE_T) {
		e.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID) |
			AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
			AGGNET_HAS(AGGNET_A_TREE_SCHEME) |
			AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX) |
			AGGNET_HAS(AGGNET_A_TREE_LINK_NEIGHBOUR);
		e.scheme = AGGNET_SCHEME_EXACT;
		e.link_ifindex = if_nametoindex("r");
		e.link_neighbour = ip("10.16.1.2");
	}
	if (node == NODE_AGG || node == NODE_R) {
		e.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
		e.children = (struct aggnet_addrs){ &child, 1 };
		e.contributors = node == NODE_AGG ? 2 : 1;
		e.sources = 2;
	}
	return add_entry(t->line.ctl[node], &e, false);
}

int transfer_begin(struct line_transfer *t)
{
	int node;

	t->instance++;
	t->taken = false;
	for (node = NODES; node--;)
		if (transfer_add(t, node))
			return -1;
	return 0;
}

void transfer_end(struct line_transfer *t)
{
	int i;

	for (i = 0; i < APPS; i++)
		app_kill(t, i);
	for (i = 0; i < NODES; i++)
		if (t->line.ctl[i])
			aggnet_tree_del(t->line.ctl[i],
					aggnet_incast_id(JOB, ip(NODE_A)));
}

struct aggnet_tree_info transfer_look(struct line_transfer *t, int node)
{
	struct aggnet_tree_info tree = {};

	if (t->line.ctl[node])
		aggnet_tree_get(t->line.ctl[node],
				aggnet_incast_id(JOB, ip(NODE_A)), &tree);
	free(tree.children.addr);
	free(tree.missing_names.addr);
	free(tree.unbound.addr);
	return tree;
}

uint64_t transfer_counter(struct line_transfer *t, int node, const char *name)
{
	return counter(t->line.ctl[node], name);
}
