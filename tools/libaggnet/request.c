// SPDX-License-Identifier: GPL-2.0
/* The three forms of requests: do, get one, dump a list. */
#include <errno.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

/* How often a dump is begun again because of a change. */
#define DUMP_TRIES	100

/* Where answers go: the next element of a list, or the only one. */
struct sink {
	const struct aggnet_noun *noun;
	char *list;
	size_t n;
	size_t room;
};

static int take_one(const struct nlattr *attrs, int len, void *arg)
{
	struct sink *sink = arg;

	if (sink->n)
		return -EPROTO;
	sink->n++;
	return aggnet_field_take_all(sink->noun, attrs, len, sink->list);
}

static int take_next(const struct nlattr *attrs, int len, void *arg)
{
	struct sink *sink = arg;
	size_t size = sink->noun->size;
	char *list;

	if (sink->n == sink->room) {
		sink->room = sink->room ? 2 * sink->room : 16;
		list = realloc(sink->list, sink->room * size);
		if (!list)
			return -ENOMEM;
		sink->list = list;
	}
	return aggnet_field_take_all(sink->noun, attrs, len,
				     sink->list + size * sink->n++);
}

static void empty(struct sink *sink)
{
	while (sink->n)
		aggnet_field_clear(sink->noun, sink->list +
				   sink->noun->size * --sink->n);
}

/**
 * aggnet_ctl_do() - a request without an answer
 * @ctl: the handle
 * @cmd: AGGNET_CMD_*
 * @flags: NLM_F_*
 * @noun: of @info
 * @info: attributes, or NULL
 *
 * Return: 0 or a negative errno.
 */
int aggnet_ctl_do(struct aggnet_ctl *ctl, int cmd, int flags,
		  const struct aggnet_noun *noun, const void *info)
{
	const struct aggnet_field *f = NULL;

	if (info)
		f = aggnet_field_too_long(noun, info);
	if (f)
		return aggnet_ctl_fail(ctl, -EMSGSIZE,
				       "%s: more than %zu %s", f->name,
				       aggnet_field_most(f),
				       f->kind == AGGNET_FIELD_BLOB ?
				       "bytes" : "addresses");
	return aggnet_ctl_exchange(ctl, aggnet_ctl_msg(ctl, cmd, flags, noun,
						       info),
				   noun, NULL, NULL);
}

/**
 * aggnet_ctl_get() - a request with one answer
 * @ctl: the handle
 * @cmd: AGGNET_CMD_*
 * @noun: of @request and @info
 * @request: attributes, or NULL
 * @info: the answer
 *
 * Return: 0 or a negative errno, then there is no answer.
 */
int aggnet_ctl_get(struct aggnet_ctl *ctl, int cmd,
		   const struct aggnet_noun *noun, const void *request,
		   void *info)
{
	struct sink sink = { .noun = noun, .list = info };
	int err;

	err = aggnet_ctl_exchange(ctl, aggnet_ctl_msg(ctl, cmd, 0, noun,
						      request),
				  noun, take_one, &sink);
	if (!err && !sink.n)
		err = aggnet_ctl_fail(ctl, -EPROTO, "no answer came");
	if (err && sink.n)
		aggnet_field_clear(noun, info);
	return err;
}

/**
 * aggnet_ctl_dump() - a request for a list
 * @ctl: the handle
 * @cmd: AGGNET_CMD_*
 * @noun: of the elements
 * @list: the list, to be freed
 * @n: how many
 *
 * Return: 0 or a negative errno, then there is no list.
 */
int aggnet_ctl_dump(struct aggnet_ctl *ctl, int cmd,
		    const struct aggnet_noun *noun, void **list, size_t *n)
{
	struct sink sink = { .noun = noun };
	int err, tries = 0;

	do {
		empty(&sink);
		err = aggnet_ctl_exchange(ctl, aggnet_ctl_msg(ctl, cmd,
							      NLM_F_DUMP,
							      NULL, NULL),
					  noun, take_next, &sink);
	} while (err == -EAGAIN && ++tries < DUMP_TRIES);
	if (err) {
		empty(&sink);
		free(sink.list);
		return err;
	}
	*list = sink.list;
	*n = sink.n;
	return 0;
}
