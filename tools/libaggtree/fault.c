// SPDX-License-Identifier: GPL-2.0
/* Failed or missing parts of a topology: servers, switches, links. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Kinds of keys in topo->fault. */
#define FAULT_SERVER	0
#define FAULT_SWITCH	1
#define FAULT_LINK	2	/* and upwards: the dimension is added */

static bool has_fault(const struct aggt_topo *topo, uint64_t number,
		      unsigned int kind)
{
	return topo->fault.n &&
	       aggt_map_get(&topo->fault, aggt_tag(number, kind)) != AGGT_NONE;
}

bool aggt_topo_server_ok(const struct aggt_topo *topo, aggt_node server)
{
	return !has_fault(topo, server, FAULT_SERVER);
}

bool aggt_hop_ok(const struct aggt_topo *topo, aggt_code from, aggt_code to)
{
	aggt_node a, b;
	uint32_t dim;

	if (!topo->fault.n)
		return true;
	a = aggt_decode(topo, from);
	b = aggt_decode(topo, to);
	dim = aggt_topo_link_dim(topo, a, b);
	return !has_fault(topo, a, FAULT_SERVER) &&
	       !has_fault(topo, b, FAULT_SERVER) &&
	       !has_fault(topo, a, FAULT_LINK + dim) &&
	       !has_fault(topo, b, FAULT_LINK + dim) &&
	       !has_fault(topo, aggt_topo_switch(topo, a, dim), FAULT_SWITCH);
}

static int add_fault(struct aggt_topo *topo, uint64_t number,
		     unsigned int kind, const char *text, struct aggt_err *err)
{
	uint32_t *slot = aggt_map_slot(&topo->fault, aggt_tag(number, kind));

	if (!slot) {
		aggt_err_nomem(err);
		return -1;
	}
	if (*slot != AGGT_NONE) {
		aggt_err_set(err, "failed %.64s: named twice", text);
		return -1;
	}
	*slot = 0;
	topo->failed_servers += kind == FAULT_SERVER;
	return 0;
}

static uint32_t parse_switch(const struct aggt_topo *topo, const char *text,
			     struct aggt_err *err)
{
	unsigned long number;
	char *end;

	number = strtoul(text + 1, &end, 10);
	if (end == text + 1 || *end || text[1] == '-' || text[1] == '+') {
		aggt_err_set(err, "failed %.64s: expected vN, wN or vN-wN",
			     text);
		return AGGT_NONE;
	}
	if (number >= topo->switches) {
		aggt_err_set(err, "switch %.64s: %s has w0..w%u", text,
			     topo->name, topo->switches - 1);
		return AGGT_NONE;
	}
	return number;
}

int aggt_topo_fail(struct aggt_topo *topo, const char *text,
		   struct aggt_err *err)
{
	char server[32];
	size_t len = strcspn(text, "-");
	uint32_t v, sw;
	unsigned int dim;

	if (*text == 'w') {
		sw = parse_switch(topo, text, err);
		return sw == AGGT_NONE ? -1 : add_fault(topo, sw, FAULT_SWITCH,
							text, err);
	}
	if (len >= sizeof(server)) {
		aggt_err_set(err, "failed %.64s: expected vN, wN or vN-wN",
			     text);
		return -1;
	}
	memcpy(server, text, len);
	server[len] = 0;
	v = aggt_server_parse(topo, server, err);
	if (v == AGGT_NONE)
		return -1;
	if (!text[len])
		return add_fault(topo, v, FAULT_SERVER, text, err);
	sw = parse_switch(topo, text + len + 1, err);
	if (sw == AGGT_NONE)
		return -1;
	dim = aggt_topo_switch_level(topo, sw);
	if (aggt_topo_switch(topo, v, dim) != sw) {
		aggt_err_set(err, "failed %.64s: there is no such link", text);
		return -1;
	}
	return add_fault(topo, v, FAULT_LINK + dim, text, err);
}
