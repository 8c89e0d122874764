// SPDX-License-Identifier: GPL-2.0
/* Whether a node merges its transfers as planned, and if not, why. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "aggnet_data.h"
#include "cmd/diagnosis.h"
#include "cmd/transfer_stats.h"
#include "host/host.h"
#include "info.h"
#include "names.h"

/**
 * finding_add() - add a finding to a list
 * @findings: the list
 * @note: it is not a fault
 * @object: what it is about
 * @cause: what is wrong with it
 * @fix: the next command
 */
void finding_add(json_t *findings, bool note, const char *object,
		 const char *cause, const char *fix)
{
	/* Names of devices need not be UTF-8. */
	json_array_append_new(findings, json_pack("{s:b, s:o, s:o, s:o}",
						  "note", note, "object",
						  info_text(object), "cause",
						  info_text(cause), "fix",
						  info_text(fix)));
}

/**
 * findings_wrong() - is one of them more than a note?
 * @findings: an array of findings, or of fallback_json()
 */
bool findings_wrong(const json_t *findings)
{
	json_t *row;
	size_t i;

	json_array_foreach(findings, i, row)
		if (!json_is_true(json_object_get(row, "note")))
			return true;
	return false;
}

/**
 * diagnose_node() - what no transfer of a node can do without
 * @s: the node
 *
 * Return: an array of findings
 */
json_t *diagnose_node(const struct subject *s)
{
	json_t *findings = json_array();

	if (s->node.role == AGGNET_ROLE_SERVER && !s->node.address.s_addr)
		finding_add(findings, false, s->name, "it has no identity",
			    names_init("aggctl node set address A"));
	if (!s->nports)
		finding_add(findings, false, s->name, "no port is attached",
			    names_init("aggctl port add DEVICE"));
	return findings;
}

/* Is it mended by the command of a finding that is known already? */
static bool is_known(const json_t *lists, const char *fix)
{
	const char *other;
	json_t *list, *row;
	size_t i, k;

	json_array_foreach((json_t *)lists, i, list)
		json_array_foreach(list, k, row) {
			other = json_string_value(json_object_get(row, "fix"));
			if (fix && other && !strcmp(fix, other))
				return true;
		}
	return false;
}

/**
 * diagnose_host() - what would stop packets that miss their planned way
 * @checks: the rows of node_check()
 * @known: an array of arrays of findings: what they say is not said again
 *
 * Return: an array of findings, all of them notes: a transfer may do without
 */
json_t *diagnose_host(const json_t *checks, const json_t *known)
{
	json_t *findings = json_array(), *row;
	const char *fix;
	char object[320];
	size_t i;

	json_array_foreach((json_t *)checks, i, row) {
		fix = json_string_value(json_object_get(row, "fix"));
		if (json_is_true(json_object_get(row, "ok")) ||
		    is_known(known, fix))
			continue;
		snprintf(object, sizeof(object), "%s: %s",
			 json_string_value(json_object_get(row, "host")),
			 json_string_value(json_object_get(row, "what")));
		finding_add(findings, true, object,
			    json_string_value(json_object_get(row, "finding")),
			    fix ? fix : "aggctl host check");
	}
	return findings;
}

static const char *port_name(const struct subject *s, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < s->nports; i++)
		if (s->port[i].ifindex == ifindex)
			return s->port[i].ifname;
	return NULL;
}

static bool is_receiver(const struct subject *s,
			const struct aggnet_tree_info *tree)
{
	return s->node.address.s_addr ==
	       aggnet_incast_receiver(tree->incast_id).s_addr;
}

/* By the link to its parent a node's flow leaves. */
static void find_link(json_t *findings, const struct subject *s,
		      const struct aggnet_tree_info *tree)
{
	const char *device = port_name(s, tree->link_ifindex);
	char name[IF_NAMESIZE], object[64], fix[64];
	const char *rename = "rename it: a shell would interpret this name";

	if (is_receiver(s, tree) || tree->scheme == AGGNET_SCHEME_BLOOM)
		return;
	if (tree->scheme == AGGNET_SCHEME_ROUTE || !tree->link_ifindex) {
		finding_add(findings, false, "entry",
			    "it names no link: its packets go to the receiver by plain IP",
			    "aggctl plan and aggctl apply --replace PLAN.json");
		return;
	}
	if (!device && !if_indextoname(tree->link_ifindex, name))
		snprintf(name, sizeof(name), "%u", tree->link_ifindex);
	snprintf(object, sizeof(object), "port %s", device ? device : name);
	if (!device) {
		snprintf(fix, sizeof(fix), "aggctl port add %s", name);
		finding_add(findings, false, object,
			    "the entry's link leaves by it, and it is not attached",
			    host_device_is_plain(name) ? names_init(fix) :
							 rename);
	} else if (!s->up(device)) {
		snprintf(fix, sizeof(fix), "ip link set %s up", device);
		finding_add(findings, false, object,
			    "it is down or has no cable",
			    host_device_is_plain(device) ? fix : rename);
	}
}

/* The node whose entry tells more about an abort than this one's. */
static struct in_addr next_node(const struct subject *s,
				const struct aggnet_tree_info *tree)
{
	const struct in_addr none = {}, *known[] = {
		tree->missing_names.n ? tree->missing_names.addr : &none,
		&tree->about, &tree->origin,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i]->s_addr && known[i]->s_addr != s->node.address.s_addr)
			return *known[i];
	return none;
}

static const char *why_there(char *fix, size_t size, struct in_addr there,
			     const struct aggnet_tree_info *tree)
{
	snprintf(fix, size, "ssh %s aggctl why %u", names_host(there),
		 aggnet_incast_job(tree->incast_id));
	return fix;
}

static void find_abort(json_t *findings, const struct subject *s,
		       const struct aggnet_tree_info *tree)
{
	const struct in_addr next = next_node(s, tree);
	struct aggnet_status status = {
		.state = tree->state, .reason = tree->reason,
		.origin = tree->origin.s_addr, .about = tree->about.s_addr,
		.missing = tree->missing,
	};
	char text[AGGNET_TEXT_MAX], fix[320];

	while (status.names < tree->missing_names.n &&
	       status.names < AGGNET_NAMES_MAX) {
		status.name[status.names] =
			tree->missing_names.addr[status.names].s_addr;
		status.names++;
	}
	aggnet_status_text(&status, text, sizeof(text));
	finding_add(findings, false, "transfer", text, next.s_addr ?
		    why_there(fix, sizeof(fix), next, tree) :
		    "aggctl why on the other nodes");
}

static bool has_ended(const struct aggnet_tree_info *tree)
{
	return tree->state == AGGNET_TREE_CLOSING ||
	       tree->state == AGGNET_TREE_WAITING ||
	       tree->state == AGGNET_TREE_DONE ||
	       tree->state == AGGNET_TREE_ABORTED;
}

static void find_absent(json_t *findings, const struct aggnet_tree_info *tree)
{
	uint32_t planned = transfer_stats_planned(tree);
	uint32_t here = tree->channels - tree->unplanned;
	char cause[400], names[256], fix[320];
	const char *list = "";
	bool note = !has_ended(tree);

	if (here >= planned || tree->state == AGGNET_TREE_IDLE)
		return;
	if (tree->unbound.n)
		list = ", not here: ";
	addrs_text(&tree->unbound, transfer_stats_absent(tree), names,
		   sizeof(names));
	if (!here)
		snprintf(cause, sizeof(cause),
			 "none of %u planned flows has arrived%s%s%s", planned,
			 note ? " yet" : "", list, names);
	else
		snprintf(cause, sizeof(cause),
			 "%u of %u planned flows have arrived%s%s%s", here,
			 planned, note ? " so far" : "", list, names);
	finding_add(findings, note, "children", cause, tree->unbound.n ?
		    why_there(fix, sizeof(fix), tree->unbound.addr[0], tree) :
		    "aggctl why, and aggctl host check, on the children");
}

static void find_flows(json_t *findings, const struct aggnet_tree_info *tree)
{
	char cause[128];

	if (tree->unplanned) {
		snprintf(cause, sizeof(cause),
			 "%u of %u flows that arrived here are not planned: they missed the node that merges them",
			 tree->unplanned, tree->channels);
		finding_add(findings, false, "children", cause,
			    "aggctl why, and aggctl host check, on the senders");
	}
	find_absent(findings, tree);
}

/* @rows: of packets of @of that left by plain IP, freed; @note: all of them are notes */
static void find_packets(json_t *findings, json_t *rows, const char *of, bool note)
{
	char cause[160];
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		snprintf(cause, sizeof(cause),
			 "%" JSON_INTEGER_FORMAT " packets %sleft by plain IP: %s",
			 json_integer_value(json_object_get(row, "count")), of,
			 json_string_value(json_object_get(row, "cause")));
		finding_add(findings,
			    note || json_is_true(json_object_get(row, "note")),
			    "packets", cause,
			    json_string_value(json_object_get(row, "fix")));
	}
	json_decref(rows);
}

/* Packets that left this node by plain IP, and not by the link of its entry. */
static void find_fallbacks(json_t *findings, const struct aggnet_tree_info *tree)
{
	find_packets(findings, fallback_tree_json(tree), "", false);
}

/* What the ends of flows told of the nodes below. */
static void find_below(json_t *findings, const struct aggnet_tree_info *tree)
{
	char cause[160], fix[FALLBACK_FIX];

	find_packets(findings, fallback_below_json(tree), "of nodes below ", true);
	if (!tree->partials)
		return;
	fallback_ask_hosts(tree, fix);
	snprintf(cause, sizeof(cause),
		 "%u node%s, from the sources to here, did not wait for all children: later flows were merged nearer to the receiver, or not at all",
		 tree->partials, tree->partials == 1 ? "" : "s");
	finding_add(findings, true, "children", cause, fix);
}

static const char *part_of(const struct subject *s,
			   const struct aggnet_tree_info *tree)
{
	if (transfer_stats_forwards(tree))
		return "forwards";
	if (is_receiver(s, tree))
		return "receives";
	return transfer_stats_planned(tree) ? "merges" : "contributes";
}

static json_t *ratio_json(const struct aggnet_tree_info *tree)
{
	return tree->records_out ? json_real((double)tree->records_in /
					     (double)tree->records_out) :
				   json_null();
}

/* Keys, or sorted records, that have arrived and have not left yet. */
static json_int_t lag_of(const struct aggnet_tree_info *tree)
{
	return tree->state == AGGNET_TREE_DONE ||
	       tree->state == AGGNET_TREE_ABORTED ? 0 : (json_int_t)tree->keys;
}

static json_t *tree_json(const struct subject *s,
			 const struct aggnet_tree_info *tree)
{
	uint64_t id = tree->incast_id;

	return json_pack("{s:I, s:o, s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:b, s:o, s:I}",
			 "job", (json_int_t)aggnet_incast_job(id),
			 "receiver", addr_json(aggnet_incast_receiver(id)),
			 "node", info_text(s->name), "part", part_of(s, tree),
			 "state", info_name(aggnet_state_names, tree->state),
			 "scheme", info_name(aggnet_scheme_names, tree->scheme),
			 "expected", (json_int_t)transfer_stats_planned(tree),
			 "bound", (json_int_t)tree->channels,
			 "unplanned", (json_int_t)tree->unplanned,
			 "missing", addrs_json(&tree->missing_names),
			 "acceptor", addr_json(tree->acceptor),
			 "merged_ratio", ratio_json(tree),
			 "records_in", (json_int_t)tree->records_in,
			 "records_out", (json_int_t)tree->records_out,
			 "bytes_in", (json_int_t)tree->bytes_in,
			 "bytes_out", (json_int_t)tree->bytes_out,
			 "lag", lag_of(tree),
			 "children", addrs_json(&tree->children),
			 "unbound", addrs_json(&tree->unbound),
			 "absent", (json_int_t)transfer_stats_absent(tree),
			 "by_plain_ip", transfer_stats_by_plain_ip(tree),
			 "by_plain_ip_below", fallback_any_below(tree),
			 "by_plain_ip_of_nodes_below",
			 fallback_counts(tree->below),
			 "partials", (json_int_t)tree->partials);
}

/*
 * At a node that nothing leaves, nothing is saved: it saves at the nodes before. Before the
 * end of a transfer a node may hold what it has not sent yet.
 */
static json_t *saved_json(const struct subject *s,
			  const struct aggnet_tree_info *tree)
{
	if (transfer_stats_forwards(tree) || is_receiver(s, tree) ||
	    tree->direction == AGGNET_DIR_DOWN ||
	    tree->state != AGGNET_TREE_DONE)
		return json_null();
	return json_integer((json_int_t)transfer_stats_saved(tree));
}

static void put_end(json_t *object, const struct aggnet_tree_info *tree)
{
	if (tree->state != AGGNET_TREE_ABORTED)
		return;
	json_object_set_new(object, "reason",
			    json_string(info_name(aggnet_reason_names, tree->reason)));
	json_object_set_new(object, "origin", addr_json(tree->origin));
	json_object_set_new(object, "about", addr_json(tree->about));
}

static void put_name(json_t *names, struct in_addr addr)
{
	char text[INET_ADDRSTRLEN];
	const char *name;

	snprintf(text, sizeof(text), "%s", addr_text(addr));
	name = names_host(addr);
	if (strcmp(name, text))
		json_object_set_new(names, text, json_string(name));
}

/* Addresses of the object that have a name: the name of each. */
static json_t *known_names(const struct aggnet_tree_info *tree)
{
	const struct aggnet_addrs *list[] = { &tree->children,
					      &tree->missing_names };
	json_t *names = json_object();
	size_t i, k;

	put_name(names, aggnet_incast_receiver(tree->incast_id));
	put_name(names, tree->acceptor);
	put_name(names, tree->origin);
	put_name(names, tree->about);
	for (i = 0; i < ARRAY_SIZE(list); i++)
		for (k = 0; k < list[i]->n; k++)
			put_name(names, list[i]->addr[k]);
	return names;
}

/**
 * diagnose_tree() - how a node takes part in a transfer
 * @s: the node
 * @tree: its entry
 *
 * Return: an object that describes the entry; its member "findings" is an array
 * of findings
 */
json_t *diagnose_tree(const struct subject *s,
		      const struct aggnet_tree_info *tree)
{
	json_t *findings = json_array(), *object = tree_json(s, tree);

	/* Causes first, then what they lead to. A switch has Bloom tables. */
	if (tree->contributors)
		find_link(findings, s, tree);
	find_fallbacks(findings, tree);
	find_below(findings, tree);
	if (!transfer_stats_forwards(tree))
		find_flows(findings, tree);
	if (tree->state == AGGNET_TREE_ABORTED)
		find_abort(findings, s, tree);
	json_object_set_new(object, "arrived", transfer_stats_arrived(tree));
	put_end(object, tree);
	json_object_set_new(object, "writers", json_integer(tree->writers));
	json_object_set_new(object, "bytes_saved", saved_json(s, tree));
	json_object_set_new(object, "names", known_names(tree));
	json_object_set_new(object, "findings", findings);
	if (tree->stripes) {
		json_object_set_new(object, "stripe",
				    json_integer(tree->stripe));
		json_object_set_new(object, "stripes",
				    json_integer(tree->stripes));
	}
	return object;
}
