// SPDX-License-Identifier: GPL-2.0
/* Generated from Documentation/netlink/specs/aggnet.yaml; do not edit.
 * "make netlink-generated" writes it.
 */
#include "ctl.h"

const char * const aggnet_role_names[] = {
	[AGGNET_ROLE_SERVER] = "server",
	[AGGNET_ROLE_SWITCH] = "switch",
	[__AGGNET_ROLE_MAX] = NULL,
};

const char * const aggnet_transit_names[] = {
	[AGGNET_TRANSIT_OFF] = "off",
	[AGGNET_TRANSIT_ON] = "on",
	[__AGGNET_TRANSIT_MAX] = NULL,
};

const char * const aggnet_function_names[] = {
	[AGGNET_FN_SUM] = "sum",
	[AGGNET_FN_MIN] = "min",
	[AGGNET_FN_MAX] = "max",
	[AGGNET_FN_COUNT] = "count",
	[AGGNET_FN_AVERAGE] = "average",
	[AGGNET_FN_PRODUCT] = "product",
	[AGGNET_FN_BAND] = "band",
	[AGGNET_FN_BOR] = "bor",
	[AGGNET_FN_BXOR] = "bxor",
	[AGGNET_FN_LAND] = "land",
	[AGGNET_FN_LOR] = "lor",
	[AGGNET_FN_LXOR] = "lxor",
	[AGGNET_FN_TOPK] = "topk",
	[AGGNET_FN_NEAREST] = "nearest",
	[__AGGNET_FN_MAX] = NULL,
};

const char * const aggnet_vtype_names[] = {
	[AGGNET_VTYPE_INT64] = "int64",
	[AGGNET_VTYPE_INT32] = "int32",
	[AGGNET_VTYPE_FIXED] = "fixed",
	[AGGNET_VTYPE_FLOAT32] = "float32",
	[AGGNET_VTYPE_FLOAT64] = "float64",
	[__AGGNET_VTYPE_MAX] = NULL,
};

const char * const aggnet_layout_names[] = {
	[AGGNET_LAYOUT_KEYED] = "keyed",
	[AGGNET_LAYOUT_DENSE] = "dense",
	[AGGNET_LAYOUT_SORTED] = "sorted",
	[AGGNET_LAYOUT_BYTES] = "bytes",
	[__AGGNET_LAYOUT_MAX] = NULL,
};

const char * const aggnet_scheme_names[] = {
	[AGGNET_SCHEME_ROUTE] = "route",
	[AGGNET_SCHEME_EXACT] = "exact",
	[AGGNET_SCHEME_BLOOM] = "bloom",
	[AGGNET_SCHEME_PACKET] = "packet",
	[__AGGNET_SCHEME_MAX] = NULL,
};

const char * const aggnet_state_names[] = {
	[AGGNET_TREE_IDLE] = "idle",
	[AGGNET_TREE_OPEN] = "open",
	[AGGNET_TREE_CLOSING] = "closing",
	[AGGNET_TREE_WAITING] = "waiting",
	[AGGNET_TREE_DONE] = "done",
	[AGGNET_TREE_ABORTED] = "aborted",
	[__AGGNET_TREE_STATE_MAX] = NULL,
};

const char * const aggnet_reason_names[] = {
	[AGGNET_R_NONE] = "none",
	[AGGNET_R_TIMEOUT] = "timeout",
	[AGGNET_R_MISMATCH] = "mismatch",
	[AGGNET_R_OVERFLOW] = "overflow",
	[AGGNET_R_SENDER] = "sender",
	[AGGNET_R_RECEIVER] = "receiver",
	[AGGNET_R_WITHDRAWN] = "withdrawn",
	[AGGNET_R_STALE] = "stale",
	[AGGNET_R_RESET] = "reset",
	[AGGNET_R_PROTOCOL] = "protocol",
	[AGGNET_R_USER] = "user",
	[AGGNET_R_FUNCTION] = "function",
	[AGGNET_R_ROOM] = "room",
	[AGGNET_R_LAG] = "lag",
	[AGGNET_R_GONE] = "gone",
	[__AGGNET_R_MAX] = NULL,
};

const char * const aggnet_fallback_names[] = {
	[AGGNET_FALLBACK_NONE] = "none",
	[AGGNET_FALLBACK_LINK] = "link",
	[AGGNET_FALLBACK_BLOOM] = "bloom",
	[AGGNET_FALLBACK_POLICY] = "policy",
	[AGGNET_FALLBACK_ROUND] = "round",
	[__AGGNET_FALLBACK_MAX] = NULL,
};

const char * const aggnet_event_names[] = {
	[AGGNET_EVENT_TREE_ADDED] = "tree-added",
	[AGGNET_EVENT_TREE_DELETED] = "tree-deleted",
	[AGGNET_EVENT_TREE_DONE] = "tree-done",
	[AGGNET_EVENT_TREE_ABORTED] = "tree-aborted",
	[AGGNET_EVENT_TREE_STALLED] = "tree-stalled",
	[AGGNET_EVENT_EPOCH] = "epoch",
	[AGGNET_EVENT_PORT_GONE] = "port-gone",
	[__AGGNET_EVENT_MAX] = NULL,
};

static const struct aggnet_field node_fields[] = {
	FIELD(node, address, AGGNET_A_NODE_ADDRESS, ADDR, false),
	FIELD_ENUM(node, role, AGGNET_A_NODE_ROLE, false, role),
	FIELD(node, label, AGGNET_A_NODE_LABEL, STRING, false),
	FIELD(node, memory, AGGNET_A_NODE_MEMORY, U64, false),
	FIELD(node, memory_used, AGGNET_A_NODE_MEMORY_USED, U64, true),
	FIELD(node, trees, AGGNET_A_NODE_TREES, U32, true),
	FIELD(node, ports, AGGNET_A_NODE_PORTS, U32, true),
	FIELD(node, tenant, AGGNET_A_NODE_TENANT, U64, false),
	FIELD(node, port, AGGNET_A_NODE_UDP_PORT, U16, false),
};

const struct aggnet_noun aggnet_noun_node = {
	.name = "node",
	.field = node_fields,
	.n = ARRAY_SIZE(node_fields),
	.size = sizeof(struct aggnet_node_info),
};

static const struct aggnet_field port_fields[] = {
	FIELD(port, ifindex, AGGNET_A_PORT_IFINDEX, U32, false),
	FIELD(port, level, AGGNET_A_PORT_LEVEL, U8, false),
	FIELD(port, ifname, AGGNET_A_PORT_IFNAME, STRING, true),
	FIELD(port, rx, AGGNET_A_PORT_RX, U64, true),
	FIELD(port, forwarded, AGGNET_A_PORT_FORWARDED, U64, true),
	FIELD_ENUM(port, transit, AGGNET_A_PORT_TRANSIT, false, transit),
};

const struct aggnet_noun aggnet_noun_port = {
	.name = "port",
	.field = port_fields,
	.n = ARRAY_SIZE(port_fields),
	.size = sizeof(struct aggnet_port_info),
};

static const struct aggnet_field link_fields[] = {
	FIELD(link, ifindex, AGGNET_A_LINK_IFINDEX, U32, false),
	FIELD(link, neighbour, AGGNET_A_LINK_NEIGHBOUR, ADDR, false),
	FIELD(link, lladdr, AGGNET_A_LINK_LLADDR, BYTES, false),
	FIELD(link, bits, AGGNET_A_LINK_BITS, U32, false),
	FIELD(link, hashes, AGGNET_A_LINK_HASHES, U8, false),
	FIELD(link, capacity, AGGNET_A_LINK_CAPACITY, U32, false),
	FIELD(link, trees, AGGNET_A_LINK_TREES, U32, true),
	FIELD(link, bits_set, AGGNET_A_LINK_BITS_SET, U32, true),
	FIELD(link, name, AGGNET_A_LINK_NAME, U64, false),
	FIELD(link, digit, AGGNET_A_LINK_DIGIT, U8, false),
};

const struct aggnet_noun aggnet_noun_link = {
	.name = "link",
	.field = link_fields,
	.n = ARRAY_SIZE(link_fields),
	.size = sizeof(struct aggnet_link_info),
};

static const struct aggnet_field tree_fields[] = {
	FIELD(tree, incast_id, AGGNET_A_TREE_INCAST_ID, U64, false),
	FIELD(tree, instance, AGGNET_A_TREE_INSTANCE, U32, false),
	FIELD(tree, attempt, AGGNET_A_TREE_ATTEMPT, U32, false),
	FIELD(tree, contributors, AGGNET_A_TREE_CONTRIBUTORS, U32, false),
	FIELD(tree, sources, AGGNET_A_TREE_SOURCES, U32, false),
	FIELD(tree, children, AGGNET_A_TREE_CHILDREN, ADDRS, false),
	FIELD_ENUM(tree, function, AGGNET_A_TREE_FUNCTION, false, function),
	FIELD_ENUM(tree, vtype, AGGNET_A_TREE_VTYPE, false, vtype),
	FIELD_ENUM(tree, scheme, AGGNET_A_TREE_SCHEME, false, scheme),
	FIELD(tree, link_ifindex, AGGNET_A_TREE_LINK_IFINDEX, U32, false),
	FIELD(tree, link_neighbour, AGGNET_A_TREE_LINK_NEIGHBOUR, ADDR, false),
	FIELD(tree, hops, AGGNET_A_TREE_HOPS, U8, false),
	FIELD(tree, writers, AGGNET_A_TREE_WRITERS, U32, false),
	FIELD(tree, uid, AGGNET_A_TREE_UID, U32, false),
	FIELD(tree, gid, AGGNET_A_TREE_GID, U32, false),
	FIELD(tree, memory, AGGNET_A_TREE_MEMORY, U64, false),
	FIELD(tree, hold, AGGNET_A_TREE_HOLD, U32, false),
	FIELD(tree, give_up, AGGNET_A_TREE_GIVE_UP, U32, false),
	FIELD(tree, keyed, AGGNET_A_TREE_KEYED, FLAG, true),
	FIELD_ENUM(tree, state, AGGNET_A_TREE_STATE, true, state),
	FIELD_ENUM(tree, reason, AGGNET_A_TREE_REASON, true, reason),
	FIELD(tree, origin, AGGNET_A_TREE_ORIGIN, ADDR, true),
	FIELD(tree, weight, AGGNET_A_TREE_WEIGHT, U32, true),
	FIELD(tree, channels, AGGNET_A_TREE_CHANNELS, U32, true),
	FIELD(tree, memory_used, AGGNET_A_TREE_MEMORY_USED, U64, true),
	FIELD(tree, keys, AGGNET_A_TREE_KEYS, U32, true),
	FIELD(tree, records_in, AGGNET_A_TREE_RECORDS_IN, U64, true),
	FIELD(tree, records_out, AGGNET_A_TREE_RECORDS_OUT, U64, true),
	FIELD(tree, packets_in, AGGNET_A_TREE_PACKETS_IN, U64, true),
	FIELD(tree, packets_out, AGGNET_A_TREE_PACKETS_OUT, U64, true),
	FIELD(tree, rexmits, AGGNET_A_TREE_REXMITS, U64, true),
	FIELD(tree, acceptor, AGGNET_A_TREE_ACCEPTOR, ADDR, true),
	FIELD(tree, members, AGGNET_A_TREE_MEMBERS, U32, false),
	FIELD_ENUM(tree, layout, AGGNET_A_TREE_LAYOUT, false, layout),
	FIELD(tree, scale, AGGNET_A_TREE_SCALE, U8, false),
	FIELD(tree, k, AGGNET_A_TREE_K, U32, false),
	FIELD(tree, elements, AGGNET_A_TREE_ELEMENTS, U64, false),
	FIELD(tree, absent, AGGNET_A_TREE_ABSENT, ADDRS, false),
	FIELD(tree, about, AGGNET_A_TREE_ABOUT, ADDR, true),
	FIELD(tree, missing, AGGNET_A_TREE_MISSING, U32, true),
	FIELD(tree, missing_names, AGGNET_A_TREE_MISSING_NAMES, ADDRS, true),
	FIELD(tree, bytes_out, AGGNET_A_TREE_BYTES_OUT, U64, true),
	FIELD(tree, filter, AGGNET_A_TREE_FILTER, BLOB, false),
	FIELD(tree, plan, AGGNET_A_TREE_PLAN, BYTES, false),
	FIELD(tree, memory_most, AGGNET_A_TREE_MEMORY_MOST, U64, true),
	FIELD(tree, bytes_in, AGGNET_A_TREE_BYTES_IN, U64, true),
	FIELD(tree, unplanned, AGGNET_A_TREE_UNPLANNED, U32, true),
	FIELD(tree, fallback_link, AGGNET_A_TREE_FALLBACK_LINK, U32, true),
	FIELD(tree, fallback_bloom, AGGNET_A_TREE_FALLBACK_BLOOM, U32, true),
	FIELD(tree, fallback_policy, AGGNET_A_TREE_FALLBACK_POLICY, U32, true),
	FIELD(tree, fallback_round, AGGNET_A_TREE_FALLBACK_ROUND, U32, true),
	FIELD(tree, unbound, AGGNET_A_TREE_UNBOUND, ADDRS, true),
	FIELD(tree, persist, AGGNET_A_TREE_PERSIST, U8, false),
	FIELD(tree, round, AGGNET_A_TREE_ROUND, U32, true),
	FIELD(tree, stripe, AGGNET_A_TREE_STRIPE, U8, false),
	FIELD(tree, stripes, AGGNET_A_TREE_STRIPES, U8, false),
	FIELD(tree, direction, AGGNET_A_TREE_DIRECTION, U8, false),
	FIELD(tree, partials, AGGNET_A_TREE_PARTIALS, U32, true),
	FIELD_COUNTS(tree, below, AGGNET_A_TREE_BELOW, true, fallback),
	FIELD(tree, key, AGGNET_A_TREE_KEY, BYTES, false),
};

const struct aggnet_noun aggnet_noun_tree = {
	.name = "tree",
	.field = tree_fields,
	.n = ARRAY_SIZE(tree_fields),
	.size = sizeof(struct aggnet_tree_info),
};

static const struct aggnet_field plan_fields[] = {
	FIELD(plan, steps, AGGNET_A_PLAN_STEPS, U32, false),
};

const struct aggnet_noun aggnet_noun_plan = {
	.name = "plan",
	.field = plan_fields,
	.n = ARRAY_SIZE(plan_fields),
	.size = sizeof(struct aggnet_plan_info),
};

static const struct aggnet_field event_fields[] = {
	FIELD_ENUM(event, kind, AGGNET_A_EVENT_KIND, true, event),
	FIELD(event, incast_id, AGGNET_A_EVENT_INCAST_ID, U64, true),
	FIELD(event, instance, AGGNET_A_EVENT_INSTANCE, U32, true),
	FIELD(event, attempt, AGGNET_A_EVENT_ATTEMPT, U32, true),
	FIELD_ENUM(event, reason, AGGNET_A_EVENT_REASON, true, reason),
	FIELD(event, origin, AGGNET_A_EVENT_ORIGIN, ADDR, true),
	FIELD(event, about, AGGNET_A_EVENT_ABOUT, ADDR, true),
	FIELD(event, missing, AGGNET_A_EVENT_MISSING, U32, true),
	FIELD(event, ifindex, AGGNET_A_EVENT_IFINDEX, U32, true),
	FIELD(event, missing_names, AGGNET_A_EVENT_MISSING_NAMES, ADDRS, true),
};

const struct aggnet_noun aggnet_noun_event = {
	.name = "event",
	.field = event_fields,
	.n = ARRAY_SIZE(event_fields),
	.size = sizeof(struct aggnet_event_info),
};
