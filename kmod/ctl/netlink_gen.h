/* SPDX-License-Identifier: GPL-2.0 */
/* Generated from Documentation/netlink/specs/aggnet.yaml; do not edit.
 * "make netlink-generated" writes it.
 */
#ifndef _AGGNET_NETLINK_GEN_H
#define _AGGNET_NETLINK_GEN_H

#include "ctl/netlink.h"

int aggnet_nl_node_get(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_node_set(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_port_get(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_port_add(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_port_del(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_link_add(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_link_del(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_tree_get(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_tree_add(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_tree_del(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_stats_get(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_plan_begin(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_plan_commit(struct aggnet_net *an, struct genl_info *info);
int aggnet_nl_plan_drop(struct aggnet_net *an, struct genl_info *info);

int aggnet_nl_port_walk(struct sk_buff *skb, struct netlink_callback *cb,
			struct aggnet_net *an);
int aggnet_nl_link_walk(struct sk_buff *skb, struct netlink_callback *cb,
			struct aggnet_net *an);
int aggnet_nl_tree_walk(struct sk_buff *skb, struct netlink_callback *cb,
			struct aggnet_net *an);
int aggnet_nl_tree_dump_start(struct netlink_callback *cb);

extern const struct aggnet_nl_command aggnet_nl_commands[];
extern const struct aggnet_nl_range aggnet_nl_ranges[];
extern const struct genl_ops aggnet_nl_ops[15];

#endif /* _AGGNET_NETLINK_GEN_H */
