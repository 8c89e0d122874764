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
	[AGGNET_A_TREE_PERSIST] = { .type = NLA_U8 },
	[AGGNET_A_TREE_STRIPE] = { .type = NLA_U8 },
	[AGGNET_A_TREE_STRIPES] = { .type = NLA_U8 },
	[AGGNET_A_TREE_DIRECTION] = { .type = NLA_U8 },
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
	[AGGNET_CMD_NODE_GET] = { aggnet_nl_node_get },
	[AGGNET_CMD_NODE_SET] = { aggnet_nl_node_set },
	[AGGNET_CMD_PORT_GET] = { aggnet_nl_port_get, aggnet_nl_port_walk },
	[AGGNET_CMD_PORT_ADD] = { aggnet_nl_port_add },
	[AGGNET_CMD_PORT_DEL] = { aggnet_nl_port_del },
	[AGGNET_CMD_LINK_GET] = { NULL, aggnet_nl_link_walk },
	[AGGNET_CMD_LINK_ADD] = { aggnet_nl_link_add },
	[AGGNET_CMD_LINK_DEL] = { aggnet_nl_link_del },
	[AGGNET_CMD_TREE_GET] = { aggnet_nl_tree_get, aggnet_nl_tree_walk },
	[AGGNET_CMD_TREE_ADD] = { aggnet_nl_tree_add },
	[AGGNET_CMD_TREE_DEL] = { aggnet_nl_tree_del },
	[AGGNET_CMD_STATS_GET] = { aggnet_nl_stats_get },
	[AGGNET_CMD_PLAN_BEGIN] = { aggnet_nl_plan_begin },
	[AGGNET_CMD_PLAN_COMMIT] = { aggnet_nl_plan_commit },
	[AGGNET_CMD_PLAN_DROP] = { aggnet_nl_plan_drop },
};

const struct aggnet_nl_range aggnet_nl_ranges[] = {
	{ AGGNET_CMD_NODE_SET, AGGNET_A_NODE_ROLE, 0, __AGGNET_ROLE_MAX - 1,
	  "role must be server or switch" },
	{ AGGNET_CMD_NODE_SET, AGGNET_A_NODE_MEMORY, AGGNET_MEMORY_MIN, U64_MAX,
	  "memory must be at least 65536 bytes" },
	{ AGGNET_CMD_NODE_SET, AGGNET_A_NODE_TENANT, AGGNET_MEMORY_MIN, U64_MAX,
	  "tenant must be at least 65536 bytes" },
	{ AGGNET_CMD_NODE_SET, AGGNET_A_NODE_UDP_PORT, 1, U64_MAX,
	  "udp_port must be at least 1" },
	{ AGGNET_CMD_PORT_ADD, AGGNET_A_PORT_TRANSIT, 0, __AGGNET_TRANSIT_MAX - 1,
	  "transit must be off or on" },
	{ AGGNET_CMD_LINK_ADD, AGGNET_A_LINK_HASHES, 1, 16,
	  "hashes must be from 1 to 16" },
	{ AGGNET_CMD_LINK_ADD, AGGNET_A_LINK_NAME, 1, U64_MAX,
	  "name must be at least 1" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_CONTRIBUTORS, 1, U64_MAX,
	  "contributors must be at least 1" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_SOURCES, 1, 65536,
	  "sources must be from 1 to 65536" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_SCHEME, 0, __AGGNET_SCHEME_MAX - 1,
	  "scheme must be route, exact, bloom or packet" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_HOPS, 0, 62,
	  "hops cannot exceed 62" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_WRITERS, 0, AGGNET_WRITERS_MAX,
	  "writers cannot exceed 1024" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_MEMORY, AGGNET_MEMORY_MIN, U64_MAX,
	  "memory must be at least 65536 bytes" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_HOLD, 0, 1073741824,
	  "hold cannot exceed 1073741824 ms" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_GIVE_UP, 1, 2147483,
	  "give_up must be from 1 to 2147483 ms" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_PERSIST, 0, 1,
	  "persist cannot exceed 1" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_STRIPES, 1, AGGNET_STRIPES_MAX,
	  "stripes must be from 1 to 64" },
	{ AGGNET_CMD_TREE_ADD, AGGNET_A_TREE_DIRECTION, 0, 1,
	  "direction cannot exceed 1" },
	{ }
};

const struct genl_ops aggnet_nl_ops[] = {
	{ .cmd = AGGNET_CMD_NODE_GET, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_no_policy, .maxattr = 1,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_NODE_SET, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_node_set_policy, .maxattr = AGGNET_A_NODE_UDP_PORT,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_PORT_GET, .doit = aggnet_nl_doit,
	  .dumpit = aggnet_nl_dumpit,
	  .policy = aggnet_nl_port_get_policy, .maxattr = AGGNET_A_PORT_IFINDEX,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_PORT_ADD, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_port_add_policy, .maxattr = AGGNET_A_PORT_TRANSIT,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_PORT_DEL, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_port_del_policy, .maxattr = AGGNET_A_PORT_IFINDEX,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_LINK_GET,
	  .dumpit = aggnet_nl_dumpit,
	  .policy = aggnet_nl_no_policy, .maxattr = 1,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_LINK_ADD, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_link_add_policy, .maxattr = AGGNET_A_LINK_DIGIT,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_LINK_DEL, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_link_del_policy, .maxattr = AGGNET_A_LINK_NEIGHBOUR,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_TREE_GET, .doit = aggnet_nl_doit,
	  .start = aggnet_nl_tree_dump_start, .dumpit = aggnet_nl_dumpit,
	  .policy = aggnet_nl_tree_get_policy, .maxattr = AGGNET_A_TREE_INCAST_ID,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_TREE_ADD, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_tree_add_policy, .maxattr = AGGNET_A_TREE_DIRECTION,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_TREE_DEL, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_tree_del_policy, .maxattr = AGGNET_A_TREE_PLAN,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_STATS_GET, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_no_policy, .maxattr = 1,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_PLAN_BEGIN, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_no_policy, .maxattr = 1,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_PLAN_COMMIT, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_plan_commit_policy, .maxattr = AGGNET_A_PLAN_STEPS,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = AGGNET_CMD_PLAN_DROP, .doit = aggnet_nl_doit,
	  .policy = aggnet_nl_no_policy, .maxattr = 1,
	  .flags = GENL_UNS_ADMIN_PERM },
};
