/* SPDX-License-Identifier: GPL-2.0 */
/* The configuration that the module reports, and requests made from the report.
 */
#ifndef _NETLINK_TOLD_H
#define _NETLINK_TOLD_H

#include "ctl/netlink.h"
#include "core.h"

#define HEADERS	((size_t)NLMSG_HDRLEN + GENL_HDRLEN)

/**
 * struct told - the configuration that the module reports
 * @node: with the accounted bytes of memory
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

/* Send a request with these attributes; NULL: none. */
int ask(u8 cmd, u16 flags, const struct answer *attrs, u32 part,
	struct answer *answer);

/* Advance *@at to the next message, or attribute; NULL after the last one. */
const struct nlmsghdr *message_next(const struct answer *from, size_t *at);
const struct nlattr *attr_next(const struct nlmsghdr *nlh, size_t *at);

/* The last attribute of that type, NULL: none. */
const struct nlattr *attr_of(const struct nlmsghdr *nlh, int type);

/* Take the attributes of a message that a command accepts. */
void given(struct answer *attrs, const struct nlmsghdr *nlh, u8 cmd);

/* Send a request for each reported object. Return: the last error */
int each(const struct answer *from, u8 cmd);

#endif /* _NETLINK_TOLD_H */
