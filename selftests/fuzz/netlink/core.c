// SPDX-License-Identifier: GPL-2.0
/* Core: checks a request strictly by the family's policies, as the kernel's
 * generic netlink does, and calls its command.
 */
#include <stdio.h>

#include "core.h"

static const struct genl_family *core_family;
static struct notifier_block *core_notifier;
/* Sockets by port ID; the last one sends requests that are not fuzzed. */
static struct sock core_socks[PORTIDS + 1];
static struct answer *core_answer;

void core_fail(const char *where, const char *what)
{
	fprintf(stderr, "%s: %s\n", where, what);
	abort();
}

void answer_add(struct answer *answer, const void *bytes, size_t len)
{
	if (!len)
		return;
	answer->bytes = realloc(answer->bytes, answer->len + len);
	memcpy(answer->bytes + answer->len, bytes, len);
	answer->len += len;
}

void answer_free(struct answer *answer)
{
	free(answer->bytes);
	*answer = (struct answer) { 0 };
}

/*
 * --- what the module registers and sends
 * ------------------------------------------
 */

int genl_register_family(struct genl_family *family)
{
	core_family = family;
	return 0;
}

int genl_unregister_family(const struct genl_family *family)
{
	core_family = NULL;
	return 0;
}

int netlink_register_notifier(struct notifier_block *nb)
{
	core_notifier = nb;
	return 0;
}

int netlink_unregister_notifier(struct notifier_block *nb)
{
	core_notifier = NULL;
	return 0;
}

int genlmsg_reply(struct sk_buff *skb, struct genl_info *info)
{
	answer_add(core_answer, skb->data, skb->len);
	nlmsg_free(skb);
	return 0;
}

int genlmsg_multicast_netns(const struct genl_family *family, struct net *net,
			    struct sk_buff *skb, u32 portid,
			    unsigned int group, gfp_t gfp)
{
	INSIST(core_family, "an event without a family");
	INSIST(net == &kernel_net, "an event of another namespace");
	nlmsg_free(skb);
	return 0;
}

int genl_set_err(const struct genl_family *family, struct net *net, u32 portid,
		 u32 group, int code)
{
	INSIST(core_family, "an error without a family");
	INSIST(net == &kernel_net, "an error of another namespace");
	INSIST(code == -ENOBUFS, "an error that no listener knows");
	return 0;
}

static struct sock *core_sock(u32 portid)
{
	struct sock *sk = &core_socks[min_t(u32, portid, PORTIDS)];

	sk->net = &kernel_net;
	return sk;
}

/* The next socket with this port ID is a new one at the same address. */
void core_close(u32 portid)
{
	struct netlink_notify notify = {
		.net = &kernel_net,
		.portid = portid,
		.protocol = NETLINK_GENERIC,
	};

	core_sock(portid)->dead = true;
	core_notifier->notifier_call(core_notifier, NETLINK_URELEASE, &notify);
	core_sock(portid)->dead = false;
}

/* --- policies ------------------------------------------------------------------ */

static const struct genl_ops *op_of(u8 cmd)
{
	unsigned int i;

	for (i = 0; i < core_family->n_ops; i++)
		if (core_family->ops[i].cmd == cmd)
			return &core_family->ops[i];
	return NULL;
}

bool core_takes(u8 cmd, unsigned int type)
{
	const struct genl_ops *op = op_of(cmd);

	return op && type <= op->maxattr &&
	       op->policy[type].type != NLA_UNSPEC &&
	       op->policy[type].type != NLA_REJECT;
}

static bool string_ok(const struct nla_policy *policy, const char *text,
		      u32 len)
{
	u32 room = policy->len ? min(len, policy->len + 1u) : len;

	/* The text must end with a zero within the policy's length. */
	if (!memchr(text, '\0', room))
		return false;
	len -= text[len - 1] == '\0';
	return !policy->len || len <= policy->len;
}

static bool attr_ok(const struct nla_policy *policy, const struct nlattr *nla)
{
	static const u8 size[] = {
		[NLA_U8] = 1, [NLA_U16] = 2, [NLA_U32] = 4, [NLA_U64] = 8,
		[NLA_BE32] = 4,
	};
	u32 len = nla_len(nla);

	/* No policy has nested attributes. */
	if (nla->nla_type & NLA_F_NESTED)
		return false;
	switch (policy->type) {
	case NLA_UNSPEC:
	case NLA_REJECT:
		return false;
	case NLA_NUL_STRING:
		return string_ok(policy, nla_data(nla), len);
	case NLA_BINARY:
		if (policy->ranged)
			return len >= policy->min && len <= policy->max;
		return !policy->len || len <= policy->len;
	default:
		return len == size[policy->type];
	}
}

static void attrs_free(const struct genl_ops *op, struct nlattr **attrs)
{
	unsigned int i;

	for (i = 0; i <= op->maxattr; i++)
		free(attrs[i]);
	free(attrs);
}

/*
 * Each attribute is a copy of exactly its size, and the array has exactly the
 * command's attributes, so that the sanitizer reports any other access.
 */
static struct nlattr **attrs_parse(const struct genl_ops *op, const u8 *at,
				   size_t left, struct netlink_ext_ack *extack)
{
	struct nlattr **attrs = calloc(op->maxattr + 1, sizeof(*attrs));
	const struct nlattr *nla;
	size_t step;
	u32 type;

	for (; left >= NLA_HDRLEN; at += step, left -= step) {
		nla = (const struct nlattr *)at;
		type = nla_type(nla);
		if (nla->nla_len < NLA_HDRLEN || nla->nla_len > left)
			break;
		step = min_t(size_t, NLA_ALIGN(nla->nla_len), left);
		if (!type || type > op->maxattr ||
		    !attr_ok(&op->policy[type], nla)) {
			NL_SET_ERR_MSG(extack, "refused by the policy");
			goto refused;
		}
		/* The last of two equal attributes counts. */
		free(attrs[type]);
		attrs[type] = memcpy(malloc(nla->nla_len), nla, nla->nla_len);
	}
	if (!left)
		return attrs;
	NL_SET_ERR_MSG(extack, "bytes are left over");
refused:
	attrs_free(op, attrs);
	return NULL;
}

/* --- requests ------------------------------------------------------------------ */

static int core_do(const struct genl_ops *op, struct sk_buff *skb,
		   const struct nlmsghdr *nlh, struct nlattr **attrs,
		   struct netlink_ext_ack *extack)
{
	struct genl_info info = {
		.snd_portid = skb->portid,
		.nlhdr = nlh,
		.genlhdr = nlmsg_data(nlh),
		.attrs = attrs,
		.net = &kernel_net,
		.extack = extack,
	};

	return op->doit(skb, &info);
}

static int core_dump(const struct genl_ops *op, struct sk_buff *skb,
		     const struct nlmsghdr *nlh, u32 part,
		     struct netlink_ext_ack *extack)
{
	struct netlink_callback cb = {
		.skb = skb,
		.nlh = nlh,
		.extack = extack,
	};
	int err = op->start ? op->start(&cb) : 0;
	struct sk_buff out = { 0 };

	if (err)
		return err;
	out.size = max(part, cb.min_dump_alloc);
	out.data = malloc(out.size);
	do {
		out.len = 0;
		err = op->dumpit(&out, &cb);
		if (err > 0)
			answer_add(core_answer, out.data, out.len);
	} while (err > 0);
	free(out.data);
	return err;
}

int core_request(const struct nlmsghdr *nlh, u32 part, struct answer *answer,
		 struct netlink_ext_ack *extack)
{
	const struct genlmsghdr *genlh = nlmsg_data(nlh);
	bool dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	const struct genl_ops *op = op_of(genlh->cmd);
	struct sk_buff skb = {
		.portid = nlh->nlmsg_pid,
		.sk = core_sock(nlh->nlmsg_pid),
	};
	struct nlattr **attrs;
	int err;

	*extack = (struct netlink_ext_ack) { 0 };
	if (!op || (dump ? !op->dumpit : !op->doit)) {
		NL_SET_ERR_MSG(extack, "there is no such command");
		return -EOPNOTSUPP;
	}
	attrs = attrs_parse(op, (const u8 *)genlh + GENL_HDRLEN,
			    nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN,
			    extack);
	if (!attrs)
		return -EINVAL;
	core_answer = answer;
	err = dump ? core_dump(op, &skb, nlh, part, extack) :
		     core_do(op, &skb, nlh, attrs, extack);
	INSIST(err <= 0, "neither done nor refused");
	INSIST(!dump || err || nlh->nlmsg_len == NLMSG_HDRLEN + GENL_HDRLEN,
	       "a dump passes over an attribute");
	INSIST(!err || err == -ENOMEM || extack->_msg,
	       "a refusal without a sentence");
	attrs_free(op, attrs);
	return err;
}
