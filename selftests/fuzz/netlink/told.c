// SPDX-License-Identifier: GPL-2.0
/* The configuration that the module reports, and requests made from the report.
 */
#include "../flow/work.h"
#include "told.h"

/*
 * --- requests of the fuzz target
 * ----------------------------------------------------
 */

int ask(u8 cmd, u16 flags, const struct answer *attrs, u32 part,
	       struct answer *answer)
{
	struct nlmsghdr *nlh = calloc(1, HEADERS + (attrs ? attrs->len : 0));
	struct genlmsghdr *genlh = nlmsg_data(nlh);
	struct netlink_ext_ack extack;
	int err;

	nlh->nlmsg_len = HEADERS + (attrs ? attrs->len : 0);
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_pid = ~0;
	genlh->cmd = cmd;
	if (attrs && attrs->len)
		memcpy((u8 *)nlh + HEADERS, attrs->bytes, attrs->len);
	err = core_request(nlh, part, answer, &extack);
	free(nlh);
	world_work();
	return err;
}

void tell(struct told *told, u32 part)
{
	struct told now = { 0 };

	INSIST(!ask(AGGNET_CMD_NODE_GET, 0, NULL, 0, &now.node) &&
	       !ask(AGGNET_CMD_PORT_GET, NLM_F_DUMP, NULL, part, &now.ports) &&
	       !ask(AGGNET_CMD_LINK_GET, NLM_F_DUMP, NULL, part, &now.links) &&
	       !ask(AGGNET_CMD_TREE_GET, NLM_F_DUMP, NULL, part, &now.trees),
	       "the configuration is not told");
	*told = now;
}

void told_free(struct told *told)
{
	answer_free(&told->node);
	answer_free(&told->ports);
	answer_free(&told->links);
	answer_free(&told->trees);
}

bool same(const struct answer *a, const struct answer *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

/*
 * --- the report
 * -----------------------------------------------------------------
 */

const struct nlmsghdr *message_next(const struct answer *from,
					   size_t *at)
{
	const struct nlmsghdr *nlh;

	if (*at >= from->len)
		return NULL;
	nlh = (const struct nlmsghdr *)(from->bytes + *at);
	*at += NLMSG_ALIGN(nlh->nlmsg_len);
	return nlh;
}

const struct nlattr *attr_next(const struct nlmsghdr *nlh, size_t *at)
{
	const struct nlattr *nla = (void *)((u8 *)nlh + HEADERS + *at);

	if (HEADERS + *at >= nlh->nlmsg_len)
		return NULL;
	*at += NLA_ALIGN(nla->nla_len);
	return nla;
}

const struct nlattr *attr_of(const struct nlmsghdr *nlh, int type)
{
	const struct nlattr *nla, *last = NULL;
	size_t at = 0;

	while ((nla = attr_next(nlh, &at)))
		if (nla_type(nla) == type)
			last = nla;
	return last;
}

/* The report has no key: use any key. */
void given(struct answer *attrs, const struct nlmsghdr *nlh, u8 cmd)
{
	static const struct {
		struct nlattr nla;
		u8 bytes[16];
	} key = { { sizeof(key), AGGNET_A_TREE_KEY } };
	const struct nlattr *nla;
	size_t at = 0;

	*attrs = (struct answer) { 0 };
	while ((nla = attr_next(nlh, &at)))
		if (core_takes(cmd, nla_type(nla)))
			answer_add(attrs, nla, NLA_ALIGN(nla->nla_len));
		else if (cmd == AGGNET_CMD_TREE_ADD &&
			 nla_type(nla) == AGGNET_A_TREE_KEYED)
			answer_add(attrs, &key, sizeof(key));
}

int each(const struct answer *from, u8 cmd)
{
	const struct nlmsghdr *nlh;
	struct answer attrs, answer = { 0 };
	int error = 0, err;
	size_t at = 0;

	while ((nlh = message_next(from, &at))) {
		given(&attrs, nlh, cmd);
		err = ask(cmd, 0, &attrs, 0, &answer);
		error = err ? err : error;
		answer_free(&attrs);
	}
	answer_free(&answer);
	return error;
}
