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
