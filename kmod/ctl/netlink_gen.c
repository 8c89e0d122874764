// SPDX-License-Identifier: GPL-2.0
/* Generated from Documentation/netlink/specs/aggnet.yaml; do not edit.
 * "make netlink-generated" writes it.
 */
#include "ctl/netlink_gen.h"

/* No attributes: all are refused. */
static const struct nla_policy aggnet_nl_no_policy[] = {
	[1] = { .type = NLA_REJECT },
};

/* AGGNET_CMD_NODE_SET */
static const struct nla_policy aggnet_nl_node_set_policy[] = {
	[AGGNET_A_NODE_ADDRESS] = { .type = NLA_BE32 },
	[AGGNET_A_NODE_ROLE] = { .type = NLA_U8 },
	[AGGNET_A_NODE_LABEL] = { .type = NLA_NUL_STRING, .len = 31 },
	[AGGNET_A_NODE_MEMORY] = { .type = NLA_U64 },
	[AGGNET_A_NODE_TENANT] = { .type = NLA_U64 },
	[AGGNET_A_NODE_UDP_PORT] = { .type = NLA_U16 },
};

/* AGGNET_CMD_PORT_GET */
static const struct nla_policy aggnet_nl_port_get_policy[] = {
	[AGGNET_A_PORT_IFINDEX] = { .type = NLA_U32 },
};

/* AGGNET_CMD_PORT_ADD */
static const struct nla_policy aggnet_nl_port_add_policy[] = {
	[AGGNET_A_PORT_IFINDEX] = { .type = NLA_U32 },
	[AGGNET_A_PORT_LEVEL] = { .type = NLA_U8 },
	[AGGNET_A_PORT_TRANSIT] = { .type = NLA_U8 },
};

/* AGGNET_CMD_PORT_DEL */
static const struct nla_policy aggnet_nl_port_del_policy[] = {
	[AGGNET_A_PORT_IFINDEX] = { .type = NLA_U32 },
};

/* AGGNET_CMD_LINK_ADD */
static const struct nla_policy aggnet_nl_link_add_policy[] = {
	[AGGNET_A_LINK_IFINDEX] = { .type = NLA_U32 },
	[AGGNET_A_LINK_NEIGHBOUR] = { .type = NLA_BE32 },
	[AGGNET_A_LINK_LLADDR] = NLA_POLICY_EXACT_LEN(6),
	[AGGNET_A_LINK_BITS] = { .type = NLA_U32 },
	[AGGNET_A_LINK_HASHES] = { .type = NLA_U8 },
	[AGGNET_A_LINK_CAPACITY] = { .type = NLA_U32 },
	[AGGNET_A_LINK_NAME] = { .type = NLA_U64 },
	[AGGNET_A_LINK_DIGIT] = { .type = NLA_U8 },
};

/* AGGNET_CMD_LINK_DEL */
static const struct nla_policy aggnet_nl_link_del_policy[] = {
	[AGGNET_A_LINK_IFINDEX] = { .type = NLA_U32 },
	[AGGNET_A_LINK_NEIGHBOUR] = { .type = NLA_BE32 },
};

/* AGGNET_CMD_TREE_GET */
static const struct nla_policy aggnet_nl_tree_get_policy[] = {
	[AGGNET_A_TREE_INCAST_ID] = { .type = NLA_U64 },
};

/* AGGNET_CMD_TREE_ADD */
static const struct nla_policy aggnet_nl_tree_add_policy[] = {
	[AGGNET_A_TREE_INCAST_ID] = { .type = NLA_U64 },
	[AGGNET_A_TREE_INSTANCE] = { .type = NLA_U32 },
	[AGGNET_A_TREE_ATTEMPT] = { .type = NLA_U32 },
	[AGGNET_A_TREE_CONTRIBUTORS] = { .type = NLA_U32 },
	[AGGNET_A_TREE_SOURCES] = { .type = NLA_U32 },
	[AGGNET_A_TREE_CHILDREN] = { .type = NLA_BINARY },
	[AGGNET_A_TREE_FUNCTION] = { .type = NLA_U8 },
	[AGGNET_A_TREE_VTYPE] = { .type = NLA_U8 },
	[AGGNET_A_TREE_SCHEME] = { .type = NLA_U8 },
	[AGGNET_A_TREE_LINK_IFINDEX] = { .type = NLA_U32 },
	[AGGNET_A_TREE_LINK_NEIGHBOUR] = { .type = NLA_BE32 },
	[AGGNET_A_TREE_HOPS] = { .type = NLA_U8 },
	[AGGNET_A_TREE_WRITERS] = { .type = NLA_U32 },
	[AGGNET_A_TREE_UID] = { .type = NLA_U32 },
	[AGGNET_A_TREE_GID] = { .type = NLA_U32 },
	[AGGNET_A_TREE_MEMORY] = { .type = NLA_U64 },
	[AGGNET_A_TREE_HOLD] = { .type = NLA_U32 },
	[AGGNET_A_TREE_GIVE_UP] = { .type = NLA_U32 },
	[AGGNET_A_TREE_KEY] = NLA_POLICY_EXACT_LEN(16),
	[AGGNET_A_TREE_MEMBERS] = { .type = NLA_U32 },
	[AGGNET_A_TREE_LAYOUT] = { .type = NLA_U8 },
	[AGGNET_A_TREE_SCALE] = { .type = NLA_U8 },
	[AGGNET_A_TREE_K] = { .type = NLA_U32 },
	[AGGNET_A_TREE_ELEMENTS] = { .type = NLA_U64 },
	[AGGNET_A_TREE_ABSENT] = { .type = NLA_BINARY },
	[AGGNET_A_TREE_FILTER] = { .type = NLA_BINARY, .len = AGGNET_FILTER_MAX },
	[AGGNET_A_TREE_PLAN] = NLA_POLICY_EXACT_LEN(AGGNET_PLAN_LEN),
};

/* AGGNET_CMD_TREE_DEL */
static const struct nla_policy aggnet_nl_tree_del_policy[] = {
	[AGGNET_A_TREE_INCAST_ID] = { .type = NLA_U64 },
	[AGGNET_A_TREE_INSTANCE] = { .type = NLA_U32 },
	[AGGNET_A_TREE_ATTEMPT] = { .type = NLA_U32 },
	[AGGNET_A_TREE_PLAN] = NLA_POLICY_EXACT_LEN(AGGNET_PLAN_LEN),
};

/* AGGNET_CMD_PLAN_COMMIT */
static const struct nla_policy aggnet_nl_plan_commit_policy[] = {
	[AGGNET_A_PLAN_STEPS] = { .type = NLA_U32 },
};

const struct aggnet_nl_command aggnet_nl_commands[] = {
	[AGGNET_CMD_NODE_GET] = {
		.handle = aggnet_nl_node_get,
	},
	[AGGNET_CMD_NODE_SET] = {
		.handle = aggnet_nl_node_set,
	},
	[AGGNET_CMD_PORT_GET] = {
		.handle = aggnet_nl_port_get,
		.walk = aggnet_nl_port_walk,
	},
	[AGGNET_CMD_PORT_ADD] = {
		.handle = aggnet_nl_port_add,
	},
	[AGGNET_CMD_PORT_DEL] = {
		.handle = aggnet_nl_port_del,
	},
	[AGGNET_CMD_LINK_GET] = {
		.walk = aggnet_nl_link_walk,
	},
	[AGGNET_CMD_LINK_ADD] = {
		.handle = aggnet_nl_link_add,
	},
	[AGGNET_CMD_LINK_DEL] = {
		.handle = aggnet_nl_link_del,
	},
	[AGGNET_CMD_TREE_GET] = {
		.handle = aggnet_nl_tree_get,
		.walk = aggnet_nl_tree_walk,
	},
	[AGGNET_CMD_TREE_ADD] = {
		.handle = aggnet_nl_tree_add,
	},
	[AGGNET_CMD_TREE_DEL] = {
		.handle = aggnet_nl_tree_del,
	},
	[AGGNET_CMD_STATS_GET] = {
		.handle = aggnet_nl_stats_get,
	},
	[AGGNET_CMD_PLAN_BEGIN] = {
		.handle = aggnet_nl_plan_begin,
	},
	[AGGNET_CMD_PLAN_COMMIT] = {
		.handle = aggnet_nl_plan_commit,
	},
	[AGGNET_CMD_PLAN_DROP] = {
		.handle = aggnet_nl_plan_drop,
	},
};

const struct genl_ops aggnet_nl_ops[] = {
	{
		.cmd = AGGNET_CMD_NODE_GET,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_no_policy,
		.maxattr = 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_NODE_SET,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_node_set_policy,
		.maxattr = AGGNET_A_NODE_UDP_PORT,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_PORT_GET,
		.doit = aggnet_nl_doit,
		.dumpit = aggnet_nl_dumpit,
		.policy = aggnet_nl_port_get_policy,
		.maxattr = AGGNET_A_PORT_IFINDEX,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_PORT_ADD,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_port_add_policy,
		.maxattr = AGGNET_A_PORT_TRANSIT,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_PORT_DEL,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_port_del_policy,
		.maxattr = AGGNET_A_PORT_IFINDEX,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_LINK_GET,
		.dumpit = aggnet_nl_dumpit,
		.policy = aggnet_nl_no_policy,
		.maxattr = 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_LINK_ADD,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_link_add_policy,
		.maxattr = AGGNET_A_LINK_DIGIT,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_LINK_DEL,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_link_del_policy,
		.maxattr = AGGNET_A_LINK_NEIGHBOUR,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_TREE_GET,
		.doit = aggnet_nl_doit,
		.start = aggnet_nl_tree_dump_start,
		.dumpit = aggnet_nl_dumpit,
		.policy = aggnet_nl_tree_get_policy,
		.maxattr = AGGNET_A_TREE_INCAST_ID,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_TREE_ADD,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_tree_add_policy,
		.maxattr = AGGNET_A_TREE_PLAN,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_TREE_DEL,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_tree_del_policy,
		.maxattr = AGGNET_A_TREE_PLAN,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_STATS_GET,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_no_policy,
		.maxattr = 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_PLAN_BEGIN,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_no_policy,
		.maxattr = 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_PLAN_COMMIT,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_plan_commit_policy,
		.maxattr = AGGNET_A_PLAN_STEPS,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = AGGNET_CMD_PLAN_DROP,
		.doit = aggnet_nl_doit,
		.policy = aggnet_nl_no_policy,
		.maxattr = 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
};
