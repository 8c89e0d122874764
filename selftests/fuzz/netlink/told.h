/* SPDX-License-Identifier: GPL-2.0 */
/* What the module tells of its configuration, and requests made of that. */
#ifndef _NETLINK_TOLD_H
#define _NETLINK_TOLD_H

#include "ctl/netlink.h"
#include "core.h"

#define HEADERS	((size_t)NLMSG_HDRLEN + GENL_HDRLEN)

/**
 * struct told - what the module tells of its configuration
 * @node: with the bytes of memory that are accounted
 * @ports: messages of a dump
 * @links: likewise
 * @trees: likewise
 */
struct told {
	struct answer node;
	struct answer ports;
	struct answer links;
	struct answer trees;
};

void tell(struct told *told, u32 part);	/* @part: see core_request() */
void told_free(struct told *told);
bool same(const struct answer *a, const struct answer *b);

/* A request of our own with these attributes; NULL: none. */
int ask(u8 cmd, u16 flags, const struct answer *attrs, u32 part,
	struct answer *answer);

/* The message at *@at, and the attribute: NULL behind the last one. */
const struct nlmsghdr *message_next(const struct answer *from, size_t *at);
const struct nlattr *attr_next(const struct nlmsghdr *nlh, size_t *at);

/* The attribute of that type that is meant, NULL: there is none. */
const struct nlattr *attr_of(const struct nlmsghdr *nlh, int type);

/* The attributes of a message that a command takes. */
void given(struct answer *attrs, const struct nlmsghdr *nlh, u8 cmd);

/* Request with what is told of each object. Return: the last error. */
int each(const struct answer *from, u8 cmd);

#endif /* _NETLINK_TOLD_H */
