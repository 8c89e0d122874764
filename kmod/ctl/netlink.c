// SPDX-License-Identifier: GPL-2.0
/* The netlink family: its commands and dumps. */
#include "ctl/event.h"
#include "ctl/netlink_gen.h"
#include "ctl/plan.h"
#include "net/hook.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

/* --- requests -------------------------------------------------------------- */

int aggnet_nl_required(struct genl_info *info, int attr)
{
	if (info->attrs[attr])
		return 0;
	NL_SET_ERR_ATTR_MISS(info->extack, NULL, attr);
	NL_SET_ERR_MSG(info->extack, "a required attribute is missing");
	return -EINVAL;
}

/*
 * Refuse unknown flags and reserved bytes here: the core does it for new families,
 * but then refuses NLM_F_REPLACE, too (see resv_start_op).
 */
static int nl_check_header(const struct nlmsghdr *nlh, u16 known,
			   struct netlink_ext_ack *extack)
{
	const struct genlmsghdr *genlh = nlmsg_data(nlh);

	known |= NLM_F_REQUEST | NLM_F_ACK | NLM_F_ECHO;
	if (genlh->cmd == AGGNET_CMD_TREE_ADD)
		known |= NLM_F_REPLACE;
	if (nlh->nlmsg_flags & ~known) {
		NL_SET_ERR_MSG(extack,
			       "the command does not take one of the header's flags");
		return -EINVAL;
	}
	if (genlh->reserved) {
		NL_SET_ERR_MSG(extack,
			       "reserved field of the header is not zero");
		return -EINVAL;
	}
	return 0;
}

static u64 nl_number(const struct nlattr *attr)
{
	switch (nla_len(attr)) {
	case sizeof(u8):
		return nla_get_u8(attr);
	case sizeof(u16):
		return nla_get_u16(attr);
	case sizeof(u32):
		return nla_get_u32(attr);
	default:
		return nla_get_u64(attr);
	}
}

/* The policies only have types and lengths: this alone checks ranges. */
static int nl_check_ranges(const struct genl_info *info)
{
	const struct aggnet_nl_range *r;
	u64 n;

	for (r = aggnet_nl_ranges; r->text; r++) {
		if (r->cmd != info->genlhdr->cmd || !info->attrs[r->attr])
			continue;
		n = nl_number(info->attrs[r->attr]);
		if (n >= r->least && n <= r->most)
			continue;
		NL_SET_BAD_ATTR(info->extack, info->attrs[r->attr]);
		info->extack->_msg = r->text;
		return -EINVAL;
	}
	return 0;
}

static bool nl_is_step(u8 cmd)
{
	return cmd == AGGNET_CMD_LINK_ADD || cmd == AGGNET_CMD_LINK_DEL ||
	       cmd == AGGNET_CMD_TREE_ADD || cmd == AGGNET_CMD_TREE_DEL;
}

/* Configuration is read and changed between these two only. */
static void nl_lock(struct aggnet_net *an)
{
	mutex_lock(&an->lock);
	aggnet_port_settle(an);
}

/* Queue the work item after the unlock, as it needs the lock. */
static void nl_unlock(struct aggnet_net *an)
{
	bool idle = aggnet_hook_idle(an);

	mutex_unlock(&an->lock);
	if (idle)
		aggnet_settle_later(an);
}

/*
 * Every command goes through here. pre_doit and post_doit would serve as well, but
 * their arguments differ between the kernels.
 */
int aggnet_nl_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct aggnet_net *an = aggnet_net(genl_info_net(info));
	u8 cmd = info->genlhdr->cmd;
	int err;

	/* For aggnet_nl_sock(), as the core passes the port ID only. */
	info->user_ptr[0] = NETLINK_CB(skb).sk;
	nl_lock(an);
	err = nl_check_header(info->nlhdr, 0, info->extack) ?:
	      nl_check_ranges(info) ?:
	      aggnet_nl_commands[cmd].handle(an, info);
	if (err && nl_is_step(cmd))
		aggnet_plan_refuse(an, info);
	if (cmd == AGGNET_CMD_TREE_ADD)
		aggnet_nl_tree_forget(info);
	nl_unlock(an);
	return err;
}

int aggnet_nl_reply(struct aggnet_net *an, struct genl_info *info, size_t size,
		    aggnet_nl_fill fill, const void *object)
{
	struct sk_buff *skb = aggnet_genl_alloc(size, GFP_KERNEL);
	void *hdr;
	int err;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &aggnet_genl_family, 0,
				info->genlhdr->cmd);
	err = hdr ? fill(skb, an, object) : -EMSGSIZE;
	if (err) {
		WARN_ON_ONCE(err == -EMSGSIZE);	/* @size is too small */
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/* --- dumps ----------------------------------------------------------------- */

int aggnet_nl_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		       struct aggnet_net *an, aggnet_nl_fill fill,
		       const void *object)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	void *hdr;
	int err;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &aggnet_genl_family, NLM_F_MULTI, request->cmd);
	if (!hdr)
		return -EMSGSIZE;
	err = fill(skb, an, object);
	if (err) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	/* Not earlier: this call notes that the change has been told. */
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

/* The core has checked attributes by the policy of "do", not that of "dump". */
static int nl_check_dump(const struct netlink_callback *cb)
{
	int err = nl_check_header(cb->nlh, NLM_F_DUMP, cb->extack);

	if (err || !nlmsg_attrlen(cb->nlh, GENL_HDRLEN))
		return err;
	NL_SET_ERR_MSG_ATTR(cb->extack, nlmsg_attrdata(cb->nlh, GENL_HDRLEN),
			    "a dump tells of all objects: it takes no attribute");
	return -EINVAL;
}

/*
 * Fill one part of a dump. If the configuration changed since the part before,
 * NLM_F_DUMP_INTR is set, and the reader begins again.
 */
int aggnet_nl_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	struct aggnet_net *an = aggnet_net(sock_net(cb->skb->sk));
	int err;

	/* Here and not in .start, which has no extack in 6.1. */
	err = nl_check_dump(cb);
	if (err)
		return err;
	nl_lock(an);
	cb->seq = an->generation;
	err = aggnet_nl_commands[request->cmd].walk(skb, cb, an);
	nl_unlock(an);
	/* A full skb ends this part of the dump; an empty one means a too large object. */
	if (!err || skb->len)
		return skb->len;
	/* An object has grown since the start: the change has been told, or is now. */
	return cb->args[1] && (u32)cb->args[1] != cb->seq ? 0 : err;
}

/* A list of children may be larger than the default size of a dump's skb. */
int aggnet_nl_tree_dump_start(struct netlink_callback *cb)
{
	struct aggnet_net *an = aggnet_net(sock_net(cb->skb->sk));

	nl_lock(an);
	cb->min_dump_alloc = max_t(u32, NLMSG_GOODSIZE, NLMSG_SPACE(GENL_HDRLEN) +
				   aggnet_nl_tree_largest(an));
	/* The configuration of the first part; aggnet_nl_dumpit() compares. */
	cb->prev_seq = an->generation;
	cb->args[1] = an->generation;
	nl_unlock(an);
	return 0;
}

/* --- the family ------------------------------------------------------------ */

static const struct genl_multicast_group nl_groups[] = {
	[AGGNET_NL_EVENTS] = {
		.name = AGGNET_MCGRP_EVENTS,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

struct genl_family aggnet_genl_family __ro_after_init = {
	.name = AGGNET_GENL_NAME,
	.version = AGGNET_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,	/* an->lock serialises */
	.module = THIS_MODULE,
	.ops = aggnet_nl_ops,
	.n_ops = ARRAY_SIZE(aggnet_nl_ops),
	.mcgrps = nl_groups,
	.n_mcgrps = ARRAY_SIZE(nl_groups),
	/* The core would refuse NLM_F_REPLACE from this command on. */
	.resv_start_op = __AGGNET_CMD_MAX,
};

/*
 * Drop what a socket has staged when it is closed. This runs for each generic
 * netlink socket of the host, so it does not wait for an->lock.
 */
static int nl_release(struct notifier_block *nb, unsigned long event,
		      void *data)
{
	const struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC)
		aggnet_plan_release(aggnet_net(notify->net));
	return NOTIFY_DONE;
}

static struct notifier_block nl_notifier = {
	.notifier_call = nl_release,
};

int aggnet_netlink_init(void)
{
	int err = netlink_register_notifier(&nl_notifier);

	BUILD_BUG_ON(sizeof_field(struct aggnet_net, label) != 31 + 1);
	if (err)
		return err;
	err = genl_register_family(&aggnet_genl_family);
	if (err)
		netlink_unregister_notifier(&nl_notifier);
	else
		aggnet_event_start();
	return err;
}

void aggnet_netlink_exit(void)
{
	aggnet_event_stop();
	genl_unregister_family(&aggnet_genl_family);
	netlink_unregister_notifier(&nl_notifier);
}
