// SPDX-License-Identifier: GPL-2.0
/* The node itself: identity, role, label, limits. */
#include <linux/ctype.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <net/route.h>

#include "ctl/netlink_gen.h"
#include "ctl/plan.h"
#include "flow/tree_table.h"
#include "net/hook.h"
#include "net/port.h"
#include "netns.h"

static size_t node_size(void)
{
	return AGGNET_A_NODE_MAX * nla_total_size_64bit(sizeof(u64)) +
	       nla_total_size(sizeof_field(struct aggnet_net, label));
}

static u32 node_ports(const struct aggnet_net *an)
{
	const struct aggnet_port *port;
	u32 n = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &an->ports, list)
		n++;
	rcu_read_unlock();
	return n;
}

static int node_fill(struct sk_buff *skb, struct aggnet_net *an,
		     const void *unused)
{
	const struct aggnet_tree_table *trees = aggnet_tree_table_in_force(an);

	if (an->identity &&
	    nla_put_in_addr(skb, AGGNET_A_NODE_ADDRESS, an->identity))
		return -EMSGSIZE;
	if (an->label[0] &&
	    nla_put_string(skb, AGGNET_A_NODE_LABEL, an->label))
		return -EMSGSIZE;
	if (nla_put_u8(skb, AGGNET_A_NODE_ROLE, an->role) ||
	    nla_put_u64_64bit(skb, AGGNET_A_NODE_MEMORY, an->memory_limit,
			      AGGNET_A_NODE_PAD) ||
	    nla_put_u64_64bit(skb, AGGNET_A_NODE_MEMORY_USED,
			      atomic64_read(&an->memory_used),
			      AGGNET_A_NODE_PAD) ||
	    nla_put_u32(skb, AGGNET_A_NODE_TREES, trees ? trees->count : 0) ||
	    nla_put_u32(skb, AGGNET_A_NODE_PORTS, node_ports(an)) ||
	    nla_put_u16(skb, AGGNET_A_NODE_UDP_PORT, ntohs(an->udp_port)))
		return -EMSGSIZE;
	if (net_eq(an->net, &init_net) &&
	    nla_put_u64_64bit(skb, AGGNET_A_NODE_TENANT,
			      aggnet_memory_tenant(), AGGNET_A_NODE_PAD))
		return -EMSGSIZE;
	return 0;
}

int aggnet_nl_node_get(struct aggnet_net *an, struct genl_info *info)
{
	return aggnet_nl_reply(an, info, node_size(), node_fill, NULL);
}

/* Entries were checked against identity and role: these stay while entries exist. */
static int node_check_unused(struct aggnet_net *an, struct genl_info *info,
			     int attr)
{
	const struct aggnet_tree_table *trees = aggnet_tree_table_in_force(an);

	if (trees && trees->count)
		return AGGNET_REFUSE(info, attr, -EBUSY,
				     "trees are in force: delete them first");
	if (!list_empty(&an->links))
		return AGGNET_REFUSE(info, attr, -EBUSY,
				     "there are links: delete them first");
	if (aggnet_plan_any(an))
		return AGGNET_REFUSE(info, attr, -EBUSY,
				     "a plan is staged: commit or drop it first");
	return 0;
}

/* Is it an address of this host that a VRF's table routes? */
static bool node_in_vrf(struct net *net, __be32 addr)
{
	const struct net_device *dev;
	bool in_vrf;

	rcu_read_lock();
	dev = __ip_dev_find(net, addr, false);
	in_vrf = dev && (netif_is_l3_slave(dev) || netif_is_l3_master(dev));
	rcu_read_unlock();
	return in_vrf;
}

static int node_check_address(struct aggnet_net *an, struct genl_info *info,
			      __be32 addr)
{
	/* 0.0.0.0 removes the identity. */
	if (!addr && an->identity)
		return node_check_unused(an, info, AGGNET_A_NODE_ADDRESS);
	if (addr && ipv4_is_loopback(addr))
		return AGGNET_REFUSE(info, AGGNET_A_NODE_ADDRESS, -EINVAL,
				     "peers cannot reach a loopback address");
	if (addr && node_in_vrf(an->net, addr))
		return AGGNET_REFUSE(info, AGGNET_A_NODE_ADDRESS, -EOPNOTSUPP,
				     "identity is an address of a VRF: peers are routed by the main table");
	if (addr && inet_addr_type(an->net, addr) != RTN_LOCAL)
		return AGGNET_REFUSE(info, AGGNET_A_NODE_ADDRESS,
				     -EADDRNOTAVAIL,
				     "identity is not an address of this host");
	if (addr == an->identity)
		return 0;
	return node_check_unused(an, info, AGGNET_A_NODE_ADDRESS);
}

static int node_check_udp_port(struct aggnet_net *an, struct genl_info *info,
			       u16 udp_port)
{
	if (htons(udp_port) == an->udp_port)
		return 0;
	return node_check_unused(an, info, AGGNET_A_NODE_UDP_PORT);
}

/* Find a port on which plain IP forwards packets, which a switch must not have. */
static bool node_port_without_transit(const struct aggnet_net *an)
{
	const struct aggnet_port *port;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &an->ports, list)
		if (!port->transit)
			found = true;
	rcu_read_unlock();
	return found;
}

static int node_check_role(struct aggnet_net *an, struct genl_info *info,
			   u8 role)
{
	if (role == an->role)
		return 0;
	if (role == AGGNET_ROLE_SWITCH && node_port_without_transit(an))
		return AGGNET_REFUSE(info, AGGNET_A_NODE_ROLE, -EBUSY,
				     "a port has transit off, which a switch cannot have: delete it first");
	return node_check_unused(an, info, AGGNET_A_NODE_ROLE);
}

/* Labels appear on terminals and in file names: only safe characters. */
static int node_check_label(struct genl_info *info, struct nlattr *label)
{
	const char *c;

	for (c = nla_data(label); *c; c++)
		if (!isascii(*c) || !isgraph(*c))
			return AGGNET_REFUSE(info, AGGNET_A_NODE_LABEL, -EINVAL,
					     "label has a character that is not printable ASCII");
	return 0;
}

/* Only in the initial namespace; root of another one is a tenant itself. */
static int node_check_tenant(const struct aggnet_net *an,
			     struct genl_info *info)
{
	if (info->attrs[AGGNET_A_NODE_TENANT] && !net_eq(an->net, &init_net))
		return AGGNET_REFUSE(info, AGGNET_A_NODE_TENANT, -EPERM,
				     "only the initial namespace sets what other namespaces may have");
	return 0;
}

static int node_check(struct aggnet_net *an, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	int err = 0;

	if (a[AGGNET_A_NODE_ADDRESS])
		err = node_check_address(an, info,
					 nla_get_in_addr(a[AGGNET_A_NODE_ADDRESS]));
	if (!err && a[AGGNET_A_NODE_ROLE])
		err = node_check_role(an, info,
				      nla_get_u8(a[AGGNET_A_NODE_ROLE]));
	if (!err && a[AGGNET_A_NODE_LABEL])
		err = node_check_label(info, a[AGGNET_A_NODE_LABEL]);
	if (!err)
		err = node_check_tenant(an, info);
	if (!err && a[AGGNET_A_NODE_UDP_PORT])
		err = node_check_udp_port(an, info,
					  nla_get_u16(a[AGGNET_A_NODE_UDP_PORT]));
	return err;
}

/* Do every step that can fail before the checked values are put in force. */
static int node_hook(struct aggnet_net *an, struct genl_info *info)
{
	struct nlattr *address = info->attrs[AGGNET_A_NODE_ADDRESS];
	struct nlattr *port = info->attrs[AGGNET_A_NODE_UDP_PORT];
	bool guard = address && nla_get_in_addr(address);
	int err;

	if (!guard && !port)
		return 0;
	err = aggnet_hook_start(an, port ? htons(nla_get_u16(port)) :
				an->udp_port, guard, info->extack);
	if (err && port)
		NL_SET_BAD_ATTR(info->extack, port);
	return err;
}

int aggnet_nl_node_set(struct aggnet_net *an, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	int err = node_check(an, info);

	if (!err)
		err = node_hook(an, info);
	if (err)
		return err;
	if (a[AGGNET_A_NODE_ADDRESS])
		WRITE_ONCE(an->identity,
			   nla_get_in_addr(a[AGGNET_A_NODE_ADDRESS]));
	if (a[AGGNET_A_NODE_ROLE])
		WRITE_ONCE(an->role, nla_get_u8(a[AGGNET_A_NODE_ROLE]));
	if (a[AGGNET_A_NODE_LABEL])
		nla_strscpy(an->label, a[AGGNET_A_NODE_LABEL],
			    sizeof(an->label));
	if (a[AGGNET_A_NODE_MEMORY])
		WRITE_ONCE(an->memory_limit,
			   nla_get_u64(a[AGGNET_A_NODE_MEMORY]));
	if (a[AGGNET_A_NODE_TENANT])
		WRITE_ONCE(an->tenant_limit,
			   nla_get_u64(a[AGGNET_A_NODE_TENANT]));
	aggnet_changed(an);
	return 0;
}
