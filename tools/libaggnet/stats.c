// SPDX-License-Identifier: GPL-2.0
/* Stats: the namespace's counters, by name. */
#include <errno.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

struct sink {
	struct aggnet_stat *list;
	size_t n;
};

static int take_entry(const struct nlattr *entry, struct sink *sink)
{
	const struct nlattr *name, *value;
	struct aggnet_stat *list;

	name = nla_find(nla_data(entry), nla_len(entry), AGGNET_A_STATS_NAME);
	value = nla_find(nla_data(entry), nla_len(entry),
			 AGGNET_A_STATS_VALUE);
	if (!name || !value || nla_len(value) != sizeof(list->value))
		return -EPROTO;
	list = realloc(sink->list, (sink->n + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	sink->list = list;
	list += sink->n++;
	nla_strlcpy(list->name, name, sizeof(list->name));
	memcpy(&list->value, nla_data(value), sizeof(list->value));
	return 0;
}

static int take(const struct nlattr *attrs, int len, void *arg)
{
	const struct nlattr *attr;
	int left, err;

	nla_for_each_attr(attr, attrs, len, left) {
		if (nla_type(attr) != AGGNET_A_STATS_ENTRY)
			continue;
		err = take_entry(attr, arg);
		if (err)
			return err;
	}
	return 0;
}

int aggnet_stats_list(struct aggnet_ctl *ctl, struct aggnet_stat **list,
		      size_t *n)
{
	struct sink sink = {};
	int err;

	err = aggnet_ctl_exchange(ctl, aggnet_ctl_msg(ctl,
						      AGGNET_CMD_STATS_GET, 0,
						      NULL, NULL),
				  NULL, take, &sink);
	if (err) {
		free(sink.list);
		return err;
	}
	*list = sink.list;
	*n = sink.n;
	return 0;
}
