// SPDX-License-Identifier: GPL-2.0
/* The store that the configuration names. */
#include "conf.h"
#include "store.h"
#include "store_ops.h"

static const struct store_ops *ops = &store_file;

int store_open(const char *dir, struct text *why)
{
	if (conf.etcd)
		ops = &store_etcd;
	if (store_file_open(dir, conf.etcd ? "plans" : "jobs", why))
		return -1;
	return ops->open(why);
}

bool store_is_shared(void)
{
	return ops != &store_file;
}

enum store_state store_state(struct text *why)
{
	return ops->state ? ops->state(why) : STORE_READY;
}

bool store_is_ready(void)
{
	struct text why;

	return store_state(&why) == STORE_READY;
}

int64_t store_tick(int64_t now)
{
	return ops->tick ? ops->tick(now) : -1;
}

void store_close(void)
{
	if (ops->close)
		ops->close();
}

int store_take_ids(uint32_t n, uint32_t *first, struct text *why)
{
	return ops->take_ids(n, first, why);
}

int store_put(uint32_t id, const json_t *record, struct text *why)
{
	return ops->put(id, record, why);
}

json_t *store_get(uint32_t id, struct text *why)
{
	return ops->get(id, why);
}

void store_del(uint32_t id, uint32_t trees)
{
	ops->del(id, trees);
}

void store_del_plans(uint32_t id, uint32_t trees)
{
	ops->del_plans(id, trees);
}

int store_each(int (*one)(uint32_t id, json_t *record, struct text *why),
	       struct text *why)
{
	return ops->each(one, why);
}

int store_sync_plan(uint32_t id, uint32_t tree, struct text *why)
{
	return ops->sync_plan(id, tree, why);
}

int store_fetch_plan(uint32_t id, uint32_t tree, struct text *why)
{
	return ops->fetch_plan(id, tree, why);
}
