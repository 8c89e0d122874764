// SPDX-License-Identifier: GPL-2.0
/* From the times of the library, which count flows, to bytes and seconds. */
#include <linux/aggnet_packet.h>
#include <math.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include "plan/plan.h"

/* A full packet: on the wire, and the bytes of records in it. */
#define PACKET_WIRE	(ETHERMTU + ETHER_HDR_LEN)
#define PACKET_RECORDS	(ETHERMTU - sizeof(struct iphdr) - \
			 sizeof(struct udphdr) - sizeof(struct aggnet_hdr) - \
			 sizeof(struct aggnet_data))

/* Bytes of a flow of size 1 unless something else is said: the papers' 1 MB. */
#define FLOW_SIZE	1000000

/* By enum aggt_objective. */
const char * const plan_objective_names[] = { "traffic", "time", NULL };

static double flow_size(const struct plan_conf *conf)
{
	return conf->flow_size ? (double)conf->flow_size : FLOW_SIZE;
}

/**
 * plan_packet() - a packet as the library wants it
 * @conf: knows the size of flows
 *
 * Return: its records, in the unit of the senders' sizes.
 */
double plan_packet(const struct plan_conf *conf)
{
	return (double)PACKET_RECORDS / flow_size(conf);
}

/**
 * plan_copies() - do switches copy the flows of a tree that leaves by several links?
 * @conf: of the plan
 *
 * A Bloom table says of a link whether a tree leaves by it, not which of the tree's
 * flows do.
 */
bool plan_copies(const struct plan_conf *conf)
{
	return conf->scheme == AGGNET_SCHEME_BLOOM && conf->aggnet_switches;
}

/* Return: how many switches a tree leaves by several links. */
static uint32_t copying_switches(const struct plan *plan)
{
	const struct aggt_switch_entry *e;
	uint32_t copying = 0;
	size_t i, n;

	e = aggt_plan_switch_entries(plan->trees, &n);
	for (i = 1; i < n; i++) {
		if (e[i].sw == e[i - 1].sw && e[i].tree == e[i - 1].tree &&
		    (i < 2 || e[i].sw != e[i - 2].sw ||
		     e[i].tree != e[i - 2].tree))
			copying++;
	}
	return copying;
}

/**
 * plan_count_copies() - add to a plan's metrics how many switches copy its flows
 * @plan: the plan
 * @metrics: where it goes, if there are such switches
 */
void plan_count_copies(const struct plan *plan, json_t *metrics)
{
	uint32_t copying = 0;

	if (plan_copies(&plan->conf))
		copying = copying_switches(plan);
	if (copying)
		json_object_set_new(metrics, "copying_switches",
				    json_integer(copying));
}

/**
 * plan_predict() - add what a plan says of time to its metrics
 * @plan: the plan; if no rate is known nothing is added
 * @metrics: where it goes
 */
void plan_predict(const struct plan *plan, json_t *metrics)
{
	const struct aggt_metrics *m = aggt_plan_metrics(plan->trees);
	double wire = flow_size(&plan->conf) * PACKET_WIRE /
		      (double)PACKET_RECORDS;
	uint64_t rate = plan->conf.rate ? plan->conf.rate :
					  aggt_topo_rate(plan->topo);
	double bytes = fmin(m->busiest * wire, 0x1p62);

	if (!rate)
		return;
	json_object_set_new(metrics, "bottleneck", json_real(m->bottleneck));
	json_object_set_new(metrics, "bottleneck_bytes",
			    json_integer((json_int_t)bytes));
	json_object_set_new(metrics, "fan_in", json_integer(m->fan_in));
	json_object_set_new(metrics, "predicted_seconds",
			    json_real(m->time * wire * 8 / (double)rate));
}
