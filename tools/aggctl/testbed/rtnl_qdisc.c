// SPDX-License-Identifier: GPL-2.0
/* rtnetlink requests for queueing disciplines: tbf below netem. */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "testbed/rtnl.h"

#define NETEM_HANDLE	TC_H_MAKE(0x10000, 0)
#define TBF_HANDLE	TC_H_MAKE(0x20000, 0)
/* Packets that netem may hold: a delay must not become loss. */
#define NETEM_LIMIT	20000
/* What tbf queues: 50 ms at the rate, yet room for a burst at any rate. */
#define TBF_QUEUE_MS	50
#define TBF_QUEUE_MIN	(64 * 1024)
#define MSG_BYTES	512

static struct nl_msg *start(int type, int flags, int index, uint32_t handle,
			    uint32_t parent)
{
	struct tcmsg tc = {
		.tcm_ifindex = index,
		.tcm_handle = handle,
		.tcm_parent = parent,
	};
	struct nl_msg *msg = nlmsg_alloc_size(MSG_BYTES);

	if (!msg)
		return NULL;
	nlmsg_put(msg, 0, 0, type, 0, flags);
	nlmsg_append(msg, &tc, sizeof(tc), NLMSG_ALIGNTO);
	return msg;
}

/**
 * rtnl_shape_netem() - whether a shape needs netem
 * @shape: the shape
 */
bool rtnl_shape_netem(const struct rtnl_shape *shape)
{
	return shape->delay || shape->loss > 0 || shape->duplicate > 0 ||
	       shape->reorder > 0 || shape->corrupt > 0;
}

/* A percentage as netem has it: a fraction of 2^32 - 1. */
static uint32_t fraction(double percent)
{
	return (uint32_t)(percent / 100 * UINT32_MAX);
}

/**
 * rtnl_msg_netem() - request that puts netem at the root of a link
 * @index: the link
 * @shape: what it does to packets; the rate is not netem's here
 */
struct nl_msg *rtnl_msg_netem(int index, const struct rtnl_shape *shape)
{
	struct tc_netem_reorder reorder = {
		.probability = fraction(shape->reorder),
	};
	struct tc_netem_corrupt corrupt = {
		.probability = fraction(shape->corrupt),
	};
	struct tc_netem_qopt qopt = {
		.limit = NETEM_LIMIT,
		.loss = fraction(shape->loss),
		.gap = shape->reorder > 0,
		.duplicate = fraction(shape->duplicate),
	};
	struct nl_msg *msg = start(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE,
				   index, NETEM_HANDLE, TC_H_ROOT);
	struct nlattr *options;

	if (!msg)
		return NULL;
	nla_put_string(msg, TCA_KIND, "netem");
	/* Its options are a struct with attributes behind it. */
	options = nla_nest_start(msg, TCA_OPTIONS);
	nlmsg_append(msg, &qopt, sizeof(qopt), NLMSG_ALIGNTO);
	nla_put_u64(msg, TCA_NETEM_LATENCY64, shape->delay);
	if (shape->reorder > 0)
		nla_put(msg, TCA_NETEM_REORDER, sizeof(reorder), &reorder);
	if (shape->corrupt > 0)
		nla_put(msg, TCA_NETEM_CORRUPT, sizeof(corrupt), &corrupt);
	nla_nest_end(msg, options);
	return msg;
}

static uint32_t clamp_u32(uint64_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : (uint32_t)value;
}

/**
 * rtnl_msg_tbf() - request that puts a token bucket on a link
 * @index: the link
 * @shape: its rate; tbf is the root unless there is netem above it
 * @mtu: MTU of the link
 */
struct nl_msg *rtnl_msg_tbf(int index, const struct rtnl_shape *shape,
			    uint32_t mtu)
{
	const uint64_t bytes = shape->rate / 8;
	/* A bucket holds what passes in a timer tick of 4 ms. */
	const uint32_t burst = clamp_u32(bytes / 250, 2 * (mtu + 64),
					 UINT32_MAX / 2);
	struct tc_tbf_qopt qopt = {
		.rate.rate = clamp_u32(bytes, 1, UINT32_MAX),
		.rate.linklayer = TC_LINKLAYER_ETHERNET,
		.limit = clamp_u32(bytes * TBF_QUEUE_MS / 1000, TBF_QUEUE_MIN,
				   UINT32_MAX),
	};
	struct nl_msg *msg = start(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE,
				   index, TBF_HANDLE, rtnl_shape_netem(shape) ?
				   NETEM_HANDLE | 1 : TC_H_ROOT);
	struct nlattr *options;

	if (!msg)
		return NULL;
	nla_put_string(msg, TCA_KIND, "tbf");
	options = nla_nest_start(msg, TCA_OPTIONS);
	nla_put(msg, TCA_TBF_PARMS, sizeof(qopt), &qopt);
	if (bytes > UINT32_MAX)
		nla_put_u64(msg, TCA_TBF_RATE64, bytes);
	nla_put_u32(msg, TCA_TBF_BURST, burst);
	nla_nest_end(msg, options);
	return msg;
}

/**
 * rtnl_msg_no_qdisc() - request that takes a link's root discipline away
 * @index: the link, which has one that was put there
 */
struct nl_msg *rtnl_msg_no_qdisc(int index)
{
	return start(RTM_DELQDISC, 0, index, 0, TC_H_ROOT);
}
