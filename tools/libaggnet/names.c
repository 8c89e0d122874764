// SPDX-License-Identifier: GPL-2.0
/* Names of the ABI's enumerations. */
#include <string.h>

#include "aggnet.h"

const char * const aggnet_role_names[] = {
	[AGGNET_ROLE_SERVER] = "server",
	[AGGNET_ROLE_SWITCH] = "switch",
	[__AGGNET_ROLE_MAX] = NULL,
};

const char * const aggnet_fault_names[] = {
	[AGGNET_FAULT_NONE] = "none",
	[AGGNET_FAULT_DROP] = "drop",
	[AGGNET_FAULT_DOUBLE] = "double",
	[AGGNET_FAULT_FLIP] = "flip",
	[__AGGNET_FAULT_MAX] = NULL,
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
	[__AGGNET_R_MAX] = NULL,
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

int aggnet_enum_find(const char * const *names, const char *name)
{
	int i;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}
