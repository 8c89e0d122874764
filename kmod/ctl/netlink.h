/* SPDX-License-Identifier: GPL-2.0 */
/* Interface between the netlink family and the files of its objects. */
#ifndef _AGGNET_NETLINK_H
#define _AGGNET_NETLINK_H

#include <net/genetlink.h>

#include <linux/aggnet.h>

struct aggnet_net;

extern struct genl_family aggnet_genl_family;

#define AGGNET_NL_EVENTS	0	/* index of the multicast group */

/* Refuse a request with a sentence and the attribute at fault (NULL: none). */
#define AGGNET_REFUSE(info, attr, error, sentence) ({			\
	NL_SET_ERR_MSG_ATTR((info)->extack, (info)->attrs[attr], sentence); \
	(error);							\
})

/* The socket of a request, which aggnet_nl_doit() has stored. */
static inline struct sock *aggnet_nl_sock(const struct genl_info *info)
{
	return info->user_ptr[0];
}

/**
 * aggnet_nl_required() - check that a request has an attribute
 * @info: request
 * @attr: its number
 *
 * Return: 0, or -EINVAL with a sentence and the missing attribute's number
 */
int aggnet_nl_required(struct genl_info *info, int attr);

/**
 * struct aggnet_nl_command - handlers of a command, called under an->lock
 * @handle: serve a request in process context; its attributes have passed the
 *	policy of the command
 * @walk: put objects into a part of a dump, beginning with number cb->args[0], and
 *	update cb->args[0]. Return: 0 at the end, -EMSGSIZE: there are more
 */
struct aggnet_nl_command {
	int (*handle)(struct aggnet_net *an, struct genl_info *info);
	int (*walk)(struct sk_buff *skb, struct netlink_callback *cb,
		    struct aggnet_net *an);
};

/**
 * struct aggnet_nl_range - the values that an attribute may have
 * @cmd: of the request
 * @attr: its number, 8 to 64 bits long
 * @least: value
 * @most: value
 * @text: sentence of the refusal
 */
struct aggnet_nl_range {
	u8 cmd;
	u8 attr;
	u64 least;
	u64 most;
	const char *text;
};

/* The family's own callbacks, which serve every command of netlink_gen.c. */
int aggnet_nl_doit(struct sk_buff *skb, struct genl_info *info);
int aggnet_nl_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

/**
 * typedef aggnet_nl_fill - write the attributes of one object
 * @skb: message, its header is there
 * @an: namespace, locked
 * @object: a port, a link, an entry ...
 *
 * One function for each kind of object serves get, dump and notification.
 *
 * Return: 0, -EMSGSIZE, or -ENOENT if the object has gone
 */
typedef int (*aggnet_nl_fill)(struct sk_buff *skb, struct aggnet_net *an,
			      const void *object);

/* Answer a get with one object. @size: upper bound of its attributes */
int aggnet_nl_reply(struct aggnet_net *an, struct genl_info *info, size_t size,
		    aggnet_nl_fill fill, const void *object);

/* Add one object to a dump. */
int aggnet_nl_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		       struct aggnet_net *an, aggnet_nl_fill fill,
		       const void *object);

/* Erase the secret of a request, which the answer to a refused one repeats. */
void aggnet_nl_tree_forget(struct genl_info *info);

/* Upper bound of the attributes of each entry, for a dump; under an->lock. */
size_t aggnet_nl_tree_largest(struct aggnet_net *an);

int aggnet_netlink_init(void);
void aggnet_netlink_exit(void);

#endif /* _AGGNET_NETLINK_H */
