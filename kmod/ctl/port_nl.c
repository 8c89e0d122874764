// SPDX-License-Identifier: GPL-2.0
/* Ports over netlink. */
#include <linux/netdevice.h>

#include "ctl/netlink_gen.h"
#include "net/port.h"
#include "netns.h"

static size_t port_size(void)
{
	return AGGNET_A_PORT_MAX * nla_total_size_64bit(sizeof(u64)) +
	       nla_total_size(IFNAMSIZ);
}

/* Under an->ports_lock, so that the device stays and keeps its name. */
static int port_fill(struct sk_buff *skb, struct aggnet_net *an,
		     const void *object)
{
	const struct aggnet_port *port = object;
	struct aggnet_port_stats sum = aggnet_port_sum(port);

	if (nla_put_u32(skb, AGGNET_A_PORT_IFINDEX, port->ifindex) ||
	    nla_put_u8(skb, AGGNET_A_PORT_LEVEL, port->level) ||
	    nla_put_u8(skb, AGGNET_A_PORT_TRANSIT, port->transit) ||
	    nla_put_string(skb, AGGNET_A_PORT_IFNAME, port->name) ||
	    nla_put_u64_64bit(skb, AGGNET_A_PORT_RX, sum.rx,
			      AGGNET_A_PORT_PAD) ||
	    nla_put_u64_64bit(skb, AGGNET_A_PORT_FORWARDED, sum.forwarded,
			      AGGNET_A_PORT_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Fill in the port with the index at @object; it may have gone by now. */
static int port_fill_one(struct sk_buff *skb, struct aggnet_net *an,
			 const void *object)
{
	const u32 *ifindex = object;
	const struct aggnet_port *port;
	int err = -ENOENT;

	mutex_lock(&an->ports_lock);
	port = aggnet_port_find(an, *ifindex);
	if (port)
		err = port_fill(skb, an, port);
	mutex_unlock(&an->ports_lock);
	return err;
}

static int port_read_name(struct genl_info *info, u32 *ifindex)
{
	int err = aggnet_nl_required(info, AGGNET_A_PORT_IFINDEX);

	if (!err)
		*ifindex = nla_get_u32(info->attrs[AGGNET_A_PORT_IFINDEX]);
	return err;
}

/* aggnet_port_add() has set the sentence; set the attribute at fault. */
static int port_answer(struct aggnet_net *an, struct genl_info *info, int err)
{
	if (err)
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[AGGNET_A_PORT_IFINDEX]);
	else
		aggnet_changed(an);
	return err;
}

int aggnet_nl_port_get(struct aggnet_net *an, struct genl_info *info)
{
	u32 ifindex;
	int err;

	err = port_read_name(info, &ifindex);
	if (err)
		return err;
	err = aggnet_nl_reply(an, info, port_size(), port_fill_one, &ifindex);
	if (err == -ENOENT)
		return AGGNET_REFUSE(info, AGGNET_A_PORT_IFINDEX, -ENOENT,
				     "port is not attached");
	return err;
}

int aggnet_nl_port_add(struct aggnet_net *an, struct genl_info *info)
{
	struct nlattr *transit = info->attrs[AGGNET_A_PORT_TRANSIT];
	struct nlattr *level = info->attrs[AGGNET_A_PORT_LEVEL];
	u32 ifindex;
	int err;

	err = port_read_name(info, &ifindex);
	if (err)
		return err;
	if (transit && !nla_get_u8(transit) && an->role == AGGNET_ROLE_SWITCH)
		return AGGNET_REFUSE(info, AGGNET_A_PORT_TRANSIT, -EINVAL,
				     "transit is all that a switch is for");
	err = aggnet_port_add(an, ifindex, level ? nla_get_u8(level) : 0,
			      !transit || nla_get_u8(transit), info->extack);
	return port_answer(an, info, err);
}

int aggnet_nl_port_del(struct aggnet_net *an, struct genl_info *info)
{
	u32 ifindex;
	int err;

	err = port_read_name(info, &ifindex);
	if (err)
		return err;
	err = aggnet_port_del(an, ifindex, info->extack);
	return port_answer(an, info, err);
}

int aggnet_nl_port_walk(struct sk_buff *skb, struct netlink_callback *cb,
			struct aggnet_net *an)
{
	const struct aggnet_port *port;
	long pos = 0;
	int err = 0;

	mutex_lock(&an->ports_lock);
	list_for_each_entry(port, &an->ports, list) {
		if (pos++ < cb->args[0])
			continue;
		err = aggnet_nl_dump_one(skb, cb, an, port_fill, port);
		if (err)
			break;
		cb->args[0] = pos;
	}
	mutex_unlock(&an->ports_lock);
	return err;
}
