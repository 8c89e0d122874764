/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nodes that plans are installed in, played by the test: calls of libaggnet's
 * control part and of namespaces come here (the linker's --wrap, see Makefile).
 * The nodes outlive a process that dies while it installs.
 */
#ifndef FAKE_CTL_H
#define FAKE_CTL_H

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggnet.h"

#define FAKE_SERVERS	9
#define FAKE_NODES	15
#define FAKE_ENTRIES	8
#define FAKE_EVENTS	64
#define FAKE_KILLED	77

struct plan;

struct fake_entry {
	uint64_t incast_id;
	uint32_t instance;
	uint32_t attempt;
	bool has_plan;
	uint8_t plan[AGGNET_PLAN_LEN];
	uint32_t ifindex;
	struct in_addr neighbour;
	uint8_t state;
	uint32_t reason;
};

struct fake_event {
	enum aggnet_event kind;
	uint64_t incast_id;
	uint32_t instance;
	uint32_t attempt;
};

struct fake_node {
	char name[16];
	struct aggnet_node_info info;
	unsigned int lost;	/* ports whose device is gone, a bit each */
	struct fake_entry entry[FAKE_ENTRIES];
	unsigned int n;
	struct fake_event event[FAKE_EVENTS];
	unsigned int events;
	bool overflow;	/* the next read finds that events were lost */
};

/**
 * struct fake_world - all nodes, in memory that processes share
 * @node: the nodes
 * @at: the one in whose namespace the process is
 * @steps: calls since the test began to count
 * @kill_at: at this call the process dies; 0: it does not
 * @call_at: at this call @call is called, once
 * @call: by the process that has set it
 * @commits: since the test began to count
 * @refuse: these commits are refused, a bit each
 * @gone: nodes whose namespace is gone, a bit each
 * @unrouted: so many times no routes can be set
 * @unplanned: this one of the plans that are written finds no memory; 0: none
 */
static struct fake_world {
	struct fake_node node[FAKE_NODES];
	unsigned int at;
	unsigned int steps;
	unsigned int kill_at;
	unsigned int call_at;
	void (*call)(void *arg);
	void *arg;
	unsigned int commits;
	uint64_t refuse;
	uint64_t deaf;
	unsigned int gone;
	unsigned int unrouted;
	unsigned int unplanned;
} *world;

struct fake_step {
	bool add;
	bool replace;
	struct fake_entry entry;
};

/* What the library's handle is to the files under test. */
struct aggnet_ctl {
	struct fake_node *node;
	struct fake_step step[2 * FAKE_ENTRIES];
	unsigned int n;
	bool planning;
	bool refused;
	const char *why;
	int fd;
	unsigned int heard;
};

static void fake_world_new(void)
{
	unsigned int i;

	if (!world)
		world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(world, 0, sizeof(*world));
	for (i = 0; i < FAKE_NODES; i++)
		sprintf(world->node[i].name, i < FAKE_SERVERS ? "v%u" : "w%u",
			i < FAKE_SERVERS ? i : i - FAKE_SERVERS);
}

static void fake_count(void)
{
	void (*call)(void *arg) = world->call;

	world->steps++;
	if (world->steps == world->kill_at)
		_exit(FAKE_KILLED);
	if (world->steps == world->call_at) {
		world->call_at = 0;
		call(world->arg);
	}
}

static int fake_refuse(struct aggnet_ctl *ctl, int error, const char *why)
{
	ctl->why = why;
	return error;
}

/* --- the nodes, as the kernel has them ------------------------------------ */

static struct fake_entry *fake_find(struct fake_node *node, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < node->n; i++)
		if (node->entry[i].incast_id == id)
			return &node->entry[i];
	return NULL;
}

static bool fake_is(const struct fake_entry *a, const struct fake_entry *b)
{
	return a->instance == b->instance && a->attempt == b->attempt &&
	       a->has_plan == b->has_plan &&
	       !memcmp(a->plan, b->plan, sizeof(a->plan));
}

static int fake_apply(struct aggnet_ctl *ctl, struct fake_node *node,
		      const struct fake_step *step)
{
	struct fake_entry *old = fake_find(node, step->entry.incast_id);
	int64_t newer;

	if (!step->add) {
		if (!old)
			return fake_refuse(ctl, -ENOENT, "no entry");
		if (!fake_is(old, &step->entry))
			return fake_refuse(ctl, -ESTALE, "another epoch");
		*old = node->entry[--node->n];
		return 0;
	}
	if (node->lost & 1u << step->entry.ifindex)
		return fake_refuse(ctl, -ENODEV, "port is not attached");
	if (!old) {
		node->entry[node->n++] = step->entry;
		return 0;
	}
	if (!step->replace)
		return fake_refuse(ctl, -EEXIST, "it has an entry");
	newer = (int64_t)((uint64_t)step->entry.instance << 32 |
			  step->entry.attempt) -
		(int64_t)((uint64_t)old->instance << 32 | old->attempt);
	if (newer <= 0)
		return fake_refuse(ctl, -ESTALE, "epoch is not newer");
	*old = step->entry;
	return 0;
}

static void fake_event(struct fake_node *node, enum aggnet_event kind,
		       const struct fake_entry *entry)
{
	if (node->events == FAKE_EVENTS)
		abort();
	node->event[node->events++] = (struct fake_event){
		kind, entry->incast_id, entry->instance, entry->attempt
	};
}

/* The entries in @a that @b lacks: an event for each. */
static void fake_differ(struct fake_node *node, enum aggnet_event kind,
			const struct fake_node *a, struct fake_node *b)
{
	const struct fake_entry *other;
	unsigned int i;

	for (i = 0; i < a->n; i++) {
		other = fake_find(b, a->entry[i].incast_id);
		if (!other || other->instance != a->entry[i].instance ||
		    other->attempt != a->entry[i].attempt)
			fake_event(node, kind, &a->entry[i]);
	}
}

/* What replaces an entry is told first, then that the entry is gone. */
static void fake_publish(struct fake_node *node, struct fake_node *draft)
{
	struct fake_node old = *node;

	*node = *draft;
	fake_differ(node, AGGNET_EVENT_TREE_ADDED, draft, &old);
	fake_differ(node, AGGNET_EVENT_TREE_DELETED, &old, draft);
}

static int fake_draw(struct aggnet_ctl *ctl, struct fake_node *draft)
{
	unsigned int i;
	int ret = 0;

	*draft = *ctl->node;
	for (i = 0; !ret && i < ctl->n; i++)
		ret = fake_apply(ctl, draft, &ctl->step[i]);
	return ret;
}

static int fake_stage(struct aggnet_ctl *ctl, const struct fake_step *step)
{
	struct fake_node draft;
	int ret;

	fake_count();
	ctl->step[ctl->n++] = *step;
	ret = fake_draw(ctl, &draft);
	if (!ret && !ctl->planning)
		fake_publish(ctl->node, &draft);
	if (ret || !ctl->planning)
		ctl->n--;
	ctl->refused |= ret != 0;
	return ret;
}

/* --- the calls ------------------------------------------------------------ */

static unsigned int fake_number(const char *name)
{
	unsigned int i;

	for (i = 0; i < FAKE_NODES; i++)
		if (!strcmp(world->node[i].name, name))
			break;
	return i;
}

bool __wrap_netns_exists(const char *name)
{
	return !(world->gone & 1u << fake_number(name));
}

int __wrap_netns_enter(const char *name)
{
	world->at = fake_number(name);
	return world->at < FAKE_NODES && __wrap_netns_exists(name) ? 0 : -1;
}

int __wrap_netns_watch(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

json_t *__wrap_tb_state_load(void)
{
	json_t *nodes = json_array();
	unsigned int i;

	for (i = 0; i < FAKE_NODES; i++)
		json_array_append_new(nodes, json_pack("{s:s}", "name",
						       world->node[i].name));
	return json_pack("{s:s, s:o}", "topology", "bcube:3,1", "nodes",
			 nodes);
}

bool __wrap_tb_state_exists(void)
{
	return true;
}

int __wrap_tb_reroute(const void *topo)
{
	if (!world->unrouted)
		return 0;
	world->unrouted--;
	return -1;
}

json_t *__real_plan_json(const struct plan *plan);

json_t *__wrap_plan_json(const struct plan *plan)
{
	if (!world || !world->unplanned || --world->unplanned)
		return __real_plan_json(plan);
	return NULL;
}

int __wrap_link_watch_open(void *watch)
{
	return 0;
}

void __wrap_link_watch_close(void *watch)
{
}

int __real_renameat2(int from, const char *old, int to, const char *new,
		     unsigned int flags);

int __wrap_renameat2(int from, const char *old, int to, const char *new,
		     unsigned int flags)
{
	int ret;

	fake_count();
	ret = __real_renameat2(from, old, to, new, flags);
	fake_count();
	return ret;
}

int __wrap_aggnet_ctl_open(struct aggnet_ctl **ctl)
{
	fake_count();
	*ctl = calloc(1, sizeof(**ctl));
	(*ctl)->node = &world->node[world->at];
	(*ctl)->fd = -1;
	return 0;
}

void __wrap_aggnet_ctl_close(struct aggnet_ctl *ctl)
{
	if (ctl && ctl->fd >= 0)
		close(ctl->fd);
	free(ctl);
}

const char *__wrap_aggnet_ctl_error(const struct aggnet_ctl *ctl)
{
	return ctl->why;
}

int __wrap_aggnet_events_join(struct aggnet_ctl *ctl)
{
	ctl->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ctl->heard = ctl->node->events;
	return ctl->fd < 0 ? -errno : 0;
}

/* Always readable, also without an event. */
int __wrap_aggnet_events_fd(const struct aggnet_ctl *ctl)
{
	return ctl->fd;
}

int __wrap_aggnet_events_next(struct aggnet_ctl *ctl,
			      struct aggnet_event_info *event)
{
	const struct fake_event *from = &ctl->node->event[ctl->heard];

	if (ctl->node->overflow) {
		ctl->node->overflow = false;
		ctl->heard = ctl->node->events;
		return -ENOBUFS;
	}
	if (ctl->heard == ctl->node->events) {
		if (!(fcntl(ctl->fd, F_GETFL) & O_NONBLOCK))
			abort();
		return -EAGAIN;
	}
	ctl->heard++;
	*event = (struct aggnet_event_info){
		.kind = from->kind, .incast_id = from->incast_id,
		.instance = from->instance, .attempt = from->attempt,
	};
	return 0;
}

int __wrap_aggnet_node_get(struct aggnet_ctl *ctl,
			   struct aggnet_node_info *info)
{
	*info = ctl->node->info;
	return 0;
}

int __wrap_aggnet_node_set(struct aggnet_ctl *ctl,
			   const struct aggnet_node_info *info)
{
	struct aggnet_node_info *now = &ctl->node->info;

	fake_count();
	if (info->has & AGGNET_HAS(AGGNET_A_NODE_ROLE))
		now->role = info->role;
	if (info->has & AGGNET_HAS(AGGNET_A_NODE_ADDRESS))
		now->address = info->address;
	if (info->has & AGGNET_HAS(AGGNET_A_NODE_LABEL))
		strcpy(now->label, info->label);
	return 0;
}

/* Of each node, from index 1 on. */
static const char *const fake_device[] = { "eth0", "eth1", "p0", "p1" };

/* Of the node whose namespace was entered last. */
unsigned int __wrap_if_nametoindex(const char *name)
{
	unsigned int i, lost = 0;

	if (world->at < FAKE_NODES)
		lost = world->node[world->at].lost;
	for (i = 1; i <= 4; i++)
		if (!strcmp(fake_device[i - 1], name) && !(lost & 1u << i))
			return i;
	return 0;
}

int __wrap_aggnet_port_list(struct aggnet_ctl *ctl,
			    struct aggnet_port_info **list, size_t *n)
{
	uint32_t i;

	*n = 0;
	*list = calloc(4, sizeof(**list));
	for (i = 0; i < 4; i++) {
		if (ctl->node->lost & 1u << (i + 1))
			continue;
		strcpy((*list)[*n].ifname, fake_device[i]);
		(*list)[*n].level = i;
		(*list)[(*n)++].ifindex = i + 1;
	}
	return 0;
}

int __wrap_aggnet_link_list(struct aggnet_ctl *ctl,
			    struct aggnet_link_info **list, size_t *n)
{
	*list = NULL;
	*n = 0;
	return 0;
}

int __wrap_aggnet_link_add(struct aggnet_ctl *ctl,
			   const struct aggnet_link_info *link)
{
	fake_count();
	return 0;
}

int __wrap_aggnet_link_del(struct aggnet_ctl *ctl,
			   const struct aggnet_link_info *link)
{
	fake_count();
	return 0;
}

static void fake_tell(const struct fake_entry *entry,
		      struct aggnet_tree_info *info)
{
	*info = (struct aggnet_tree_info){
		.has = entry->has_plan ? AGGNET_HAS(AGGNET_A_TREE_PLAN) : 0,
		.incast_id = entry->incast_id, .instance = entry->instance,
		.attempt = entry->attempt, .state = entry->state,
		.reason = entry->reason,
	};
	memcpy(info->plan, entry->plan, sizeof(info->plan));
}

int __wrap_aggnet_tree_get(struct aggnet_ctl *ctl, uint64_t id,
			   struct aggnet_tree_info *info)
{
	struct fake_entry *entry = fake_find(ctl->node, id);

	if (!entry)
		return fake_refuse(ctl, -ENOENT, "no entry");
	fake_tell(entry, info);
	return 0;
}

int __wrap_aggnet_tree_list(struct aggnet_ctl *ctl,
			    struct aggnet_tree_info **list, size_t *n)
{
	*n = ctl->node->n;
	*list = calloc(*n + 1, sizeof(**list));
	for (size_t i = 0; i < *n; i++)
		fake_tell(&ctl->node->entry[i], &(*list)[i]);
	return 0;
}

static struct fake_entry fake_entry(const struct aggnet_tree_info *tree)
{
	struct fake_entry entry = {
		.incast_id = tree->incast_id, .instance = tree->instance,
		.attempt = tree->attempt,
		.has_plan = tree->has & AGGNET_HAS(AGGNET_A_TREE_PLAN),
		.ifindex = tree->link_ifindex,
		.neighbour = tree->link_neighbour,
	};

	memcpy(entry.plan, tree->plan, sizeof(entry.plan));
	return entry;
}

int __wrap_aggnet_tree_add(struct aggnet_ctl *ctl,
			   const struct aggnet_tree_info *tree, bool replace)
{
	const struct fake_step step = {
		.add = true, .replace = replace, .entry = fake_entry(tree),
	};

	return fake_stage(ctl, &step);
}

int __wrap_aggnet_tree_del_epoch(struct aggnet_ctl *ctl,
				 const struct aggnet_tree_info *tree)
{
	const struct fake_step step = { .entry = fake_entry(tree) };

	return fake_stage(ctl, &step);
}

int __wrap_aggnet_plan_begin(struct aggnet_ctl *ctl)
{
	ctl->planning = true;
	ctl->refused = false;
	ctl->n = 0;
	return 0;
}

int __wrap_aggnet_plan_drop(struct aggnet_ctl *ctl)
{
	ctl->planning = false;
	ctl->n = 0;
	return 0;
}

int __wrap_aggnet_plan_commit(struct aggnet_ctl *ctl)
{
	struct fake_node draft;
	int ret;

	fake_count();
	ret = fake_draw(ctl, &draft);
	if (ctl->refused)
		ret = fake_refuse(ctl, -EINVAL, "a step was refused");
	if (!ret && world->refuse & 1ull << world->commits++)
		ret = fake_refuse(ctl, -ENOSPC, "it does not fit");
	if (!ret)
		fake_publish(ctl->node, &draft);
	ctl->planning = false;
	ctl->n = 0;
	fake_count();
	/* The answer is lost. */
	if (!ret && world->deaf & 1ull << (world->commits - 1))
		ret = fake_refuse(ctl, -ENOMEM, "netlink: Out of memory");
	return ret;
}

#endif /* FAKE_CTL_H */
