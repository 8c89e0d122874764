/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Control and socket ABI of aggnet: generic netlink family "aggnet" and the
 * socket of an aggregated transfer. Agrees with
 * Documentation/netlink/specs/aggnet.yaml, which a test compares.
 *
 * Everything is per network namespace. Changes need CAP_NET_ADMIN in the
 * namespace's user namespace; so does reading (GENL_UNS_ADMIN_PERM). Every
 * refusal carries an extack sentence and, where one is to blame, the attribute.
 *
 * Commands and their attributes ([x]: optional, {x}: answer only):
 *
 *   NODE_GET   -> NODE_*
 *   NODE_SET   [NODE_ADDRESS] [NODE_ROLE] [NODE_LABEL] [NODE_MEMORY]
 *              [NODE_TENANT] [NODE_UDP_PORT]
 *   PORT_ADD   PORT_IFINDEX [PORT_LEVEL] [PORT_TRANSIT]
 *   PORT_DEL   PORT_IFINDEX
 *   PORT_GET   PORT_IFINDEX or dump                  -> PORT_*
 *   LINK_ADD   LINK_IFINDEX [LINK_NEIGHBOUR] [LINK_LLADDR] [LINK_BITS]
 *              [LINK_HASHES] [LINK_CAPACITY] [LINK_NAME] [LINK_DIGIT]
 *   LINK_DEL   LINK_IFINDEX [LINK_NEIGHBOUR]
 *   LINK_GET   dump                                  -> LINK_*
 *   TREE_ADD   TREE_* (see enum aggnet_tree_attr); NLM_F_REPLACE replaces
 *              an entry of an older epoch
 *   TREE_DEL   TREE_INCAST_ID [TREE_INSTANCE [TREE_ATTEMPT] [TREE_PLAN]]; with
 *              an instance, ESTALE if an entry of another epoch or plan is in force
 *   TREE_GET   TREE_INCAST_ID or dump                -> TREE_*
 *   STATS_GET  -> STATS_ENTRY*
 *   PLAN_BEGIN      the LINK_ADD/DEL and TREE_ADD/DEL of this netlink socket
 *                   are checked and staged until ...
 *   PLAN_COMMIT [PLAN_STEPS]
 *                   ... all of them come into force at once, or none, or ...
 *   PLAN_DROP       ... they are dropped (as when the socket is closed).
 *
 * Multicast group "events": AGGNET_CMD_EVENT with EVENT_*.
 */
#ifndef _UAPI_LINUX_AGGNET_H
#define _UAPI_LINUX_AGGNET_H

#include <linux/types.h>
#include <linux/socket.h>
#include <linux/aggnet_packet.h>

#define AGGNET_GENL_NAME	"aggnet"
#define AGGNET_GENL_VERSION	1
#define AGGNET_MCGRP_EVENTS	"events"

enum aggnet_cmd {
	AGGNET_CMD_UNSPEC,
	AGGNET_CMD_NODE_GET,
	AGGNET_CMD_NODE_SET,
	AGGNET_CMD_PORT_GET,
	AGGNET_CMD_PORT_ADD,
	AGGNET_CMD_PORT_DEL,
	AGGNET_CMD_LINK_GET,
	AGGNET_CMD_LINK_ADD,
	AGGNET_CMD_LINK_DEL,
	AGGNET_CMD_TREE_GET,
	AGGNET_CMD_TREE_ADD,
	AGGNET_CMD_TREE_DEL,
	AGGNET_CMD_STATS_GET,
	AGGNET_CMD_PLAN_BEGIN,
	AGGNET_CMD_PLAN_COMMIT,
	AGGNET_CMD_PLAN_DROP,
	AGGNET_CMD_EVENT,
	__AGGNET_CMD_MAX
};

#define AGGNET_CMD_MAX	(__AGGNET_CMD_MAX - 1)

/*
 * Each noun has its own attribute space, which is the top level of its
 * commands.
 */

enum aggnet_role {
	AGGNET_ROLE_SERVER,
	AGGNET_ROLE_SWITCH,
	__AGGNET_ROLE_MAX
};

enum aggnet_node_attr {
	AGGNET_A_NODE_UNSPEC,
	AGGNET_A_NODE_ADDRESS,		/* be32: identity, an address of this host;
					 * 0 removes it
					 */
	AGGNET_A_NODE_ROLE,		/* u8: enum aggnet_role */
	AGGNET_A_NODE_LABEL,		/* string: name in the topology, <= 31 */
	AGGNET_A_NODE_MEMORY,		/* u64: limit of all trees, bytes */
	AGGNET_A_NODE_MEMORY_USED,	/* u64: {reserved and grown} */
	AGGNET_A_NODE_TREES,		/* u32: {entries in force} */
	AGGNET_A_NODE_PORTS,		/* u32: {attached ports} */
	AGGNET_A_NODE_PAD,
	AGGNET_A_NODE_TENANT,		/* u64: limit of any one other namespace, bytes;
					 * set and reported in the initial
					 * namespace only; default: half of its limit
					 */
	AGGNET_A_NODE_UDP_PORT,		/* u16: UDP port of all packets, the same on
					 * all members; default AGGNET_UDP_PORT
					 */
	__AGGNET_A_NODE_MAX
};

#define AGGNET_A_NODE_MAX	(__AGGNET_A_NODE_MAX - 1)

/* How the node forwards a packet for another node that a port receives. */
enum aggnet_transit {
	AGGNET_TRANSIT_OFF,		/* by plain IP, with FORWARD rules and
					 * conntrack
					 */
	AGGNET_TRANSIT_ON,		/* through the links of the plan */
	__AGGNET_TRANSIT_MAX
};

enum aggnet_port_attr {
	AGGNET_A_PORT_UNSPEC,
	AGGNET_A_PORT_IFINDEX,		/* u32 */
	AGGNET_A_PORT_LEVEL,		/* u8: level j of BCube, default 0 */
	AGGNET_A_PORT_IFNAME,		/* string: {name} */
	AGGNET_A_PORT_RX,		/* u64: {aggnet packets received} */
	AGGNET_A_PORT_FORWARDED,	/* u64: {aggnet packets forwarded} */
	AGGNET_A_PORT_PAD,
	AGGNET_A_PORT_TRANSIT,		/* u8: enum aggnet_transit, default on */
	__AGGNET_A_PORT_MAX
};

#define AGGNET_A_PORT_MAX	(__AGGNET_A_PORT_MAX - 1)

/* A link is (port, neighbour) and owns one Bloom table. Without a neighbour it
 * is the link to the aggnet switch on the port (group MAC).
 */
enum aggnet_link_attr {
	AGGNET_A_LINK_UNSPEC,
	AGGNET_A_LINK_IFINDEX,		/* u32: an attached port */
	AGGNET_A_LINK_NEIGHBOUR,	/* be32: address of the neighbour's port */
	AGGNET_A_LINK_LLADDR,		/* 6 bytes: its MAC (switch role only) */
	AGGNET_A_LINK_BITS,		/* u32: size of the filter, power of 2 */
	AGGNET_A_LINK_HASHES,		/* u8: hash functions, 1..16 */
	AGGNET_A_LINK_TREES,		/* u32: {incast IDs in the filter} */
	AGGNET_A_LINK_BITS_SET,		/* u32: {bits that are set} */
	AGGNET_A_LINK_PAD,
	AGGNET_A_LINK_CAPACITY,		/* u32: trees; with more, the filter is built
					 * again with twice the bits; 0: never.
					 * Default: 0 if BITS is given
					 */
	AGGNET_A_LINK_NAME,		/* u64: name of the directed link, the same
					 * on all nodes; packets' filters contain it
					 */
	AGGNET_A_LINK_DIGIT,		/* u8: neighbour's digit at the port's level;
					 * for a link to an aggnet switch the
					 * server's own digit. With LINK_NAME
					 */
	__AGGNET_A_LINK_MAX
};

#define AGGNET_A_LINK_MAX	(__AGGNET_A_LINK_MAX - 1)

#define AGGNET_LINK_BITS_DEFAULT	4096
#define AGGNET_LINK_HASHES_DEFAULT	6
#define AGGNET_LINK_CAPACITY_DEFAULT	400

/* All are commutative and associative: Documentation/functions.rst. */
enum aggnet_function {
	AGGNET_FN_SUM,
	AGGNET_FN_MIN,
	AGGNET_FN_MAX,
	AGGNET_FN_COUNT,
	AGGNET_FN_AVERAGE,
	AGGNET_FN_PRODUCT,
	AGGNET_FN_BAND,			/* bitwise and */
	AGGNET_FN_BOR,			/* bitwise or */
	AGGNET_FN_BXOR,			/* bitwise exclusive or */
	AGGNET_FN_LAND,			/* logical and: 0 or 1; 0 is false */
	AGGNET_FN_LOR,			/* logical or */
	AGGNET_FN_LXOR,			/* logical exclusive or */
	AGGNET_FN_TOPK,			/* the k greatest values, with ids */
	AGGNET_FN_NEAREST,		/* the k least values, with ids */
	__AGGNET_FN_MAX
};

#define AGGNET_FN_PLACE		14	/* each element once, for gather; reserved */

/* The type of the values in a source's records. For a function that keeps pairs
 * an ID of 8 bytes follows each value, and a record has up to 13 such pairs;
 * integers then have their full length.
 */
enum aggnet_vtype {
	AGGNET_VTYPE_INT64,		/* two's complement, little endian, <= 8 bytes */
	AGGNET_VTYPE_INT32,		/* the same, <= 4 bytes */
	AGGNET_VTYPE_FIXED,		/* INT64 times 2^-scale */
	AGGNET_VTYPE_FLOAT32,		/* IEEE 754 binary32, little endian */
	AGGNET_VTYPE_FLOAT64,		/* IEEE 754 binary64, little endian */
	__AGGNET_VTYPE_MAX
};

/* The layout of a transfer's data. */
enum aggnet_layout {
	AGGNET_LAYOUT_KEYED,		/* (key, value), each key by itself */
	AGGNET_LAYOUT_DENSE,		/* a vector of TREE_ELEMENTS, in blocks */
	AGGNET_LAYOUT_SORTED,		/* (key, value), in the order of keys */
	AGGNET_LAYOUT_BYTES,		/* a stream of bytes, down a tree */
	__AGGNET_LAYOUT_MAX
};

enum aggnet_scheme {
	AGGNET_SCHEME_ROUTE,		/* no planned link: plain IP to the receiver */
	AGGNET_SCHEME_EXACT,		/* TREE_LINK_* names the link (paper 000, 4.1) */
	AGGNET_SCHEME_BLOOM,		/* the link's Bloom table (000, 4.2) */
	AGGNET_SCHEME_PACKET,		/* the link, then TREE_FILTER (000, 4.3) */
	__AGGNET_SCHEME_MAX
};

/* State of an entry, in dumps and events. */
enum aggnet_tree_state {
	AGGNET_TREE_IDLE,		/* no contribution so far */
	AGGNET_TREE_OPEN,		/* contributors may still bind */
	AGGNET_TREE_CLOSING,		/* flow is whole, draining to the parent */
	AGGNET_TREE_WAITING,		/* FIN taken by the parent, DONE awaited */
	AGGNET_TREE_DONE,
	AGGNET_TREE_ABORTED,
	__AGGNET_TREE_STATE_MAX
};

/* Switch-role nodes and pure Bloom transits take INCAST_ID, INSTANCE, ATTEMPT
 * and LINK_* only: they forward and hold no flow state.
 */
enum aggnet_tree_attr {
	AGGNET_A_TREE_UNSPEC,
	AGGNET_A_TREE_INCAST_ID,	/* u64: job . receiver identity (host order) */
	AGGNET_A_TREE_INSTANCE,		/* u32: epoch, high half */
	AGGNET_A_TREE_ATTEMPT,		/* u32: epoch, low half; default 0 */
	AGGNET_A_TREE_CONTRIBUTORS,	/* u32: flows merged here, own one included */
	AGGNET_A_TREE_SOURCES,		/* u32: sending servers in the subtree; down:
					 * those with readers
					 */
	AGGNET_A_TREE_CHILDREN,		/* binary: be32 identities, optional */
	AGGNET_A_TREE_FUNCTION,		/* u8: enum aggnet_function */
	AGGNET_A_TREE_VTYPE,		/* u8: enum aggnet_vtype */
	AGGNET_A_TREE_SCHEME,		/* u8: enum aggnet_scheme */
	AGGNET_A_TREE_LINK_IFINDEX,	/* u32: planned link, port */
	AGGNET_A_TREE_LINK_NEIGHBOUR,	/* be32: planned link, neighbour's address */
	AGGNET_A_TREE_HOPS,		/* u8: links of the planned edge */
	AGGNET_A_TREE_WRITERS,		/* u32: local processes; 0: not a source. Down:
					 * those that read
					 */
	AGGNET_A_TREE_UID,		/* u32: user that may use the socket; default:
					 * none. An ID of the user namespace in
					 * which the netlink socket was opened
					 */
	AGGNET_A_TREE_GID,		/* u32: group that may use it, too */
	AGGNET_A_TREE_MEMORY,		/* u64: buffer limit, bytes */
	AGGNET_A_TREE_HOLD,		/* u32: milliseconds, 0: no limit */
	AGGNET_A_TREE_GIVE_UP,		/* u32: milliseconds */
	AGGNET_A_TREE_KEY,		/* 16 bytes: SipHash key; never dumped */
	AGGNET_A_TREE_KEYED,		/* flag: {a key is set} */
	AGGNET_A_TREE_STATE,		/* u8: {enum aggnet_tree_state} */
	AGGNET_A_TREE_REASON,		/* u8: {enum aggnet_reason} */
	AGGNET_A_TREE_ORIGIN,		/* be32: {the node that raised it} */
	AGGNET_A_TREE_WEIGHT,		/* u32: {sources that are complete here} */
	AGGNET_A_TREE_CHANNELS,		/* u32: {bound children} */
	AGGNET_A_TREE_MEMORY_USED,	/* u64: {bytes held} */
	AGGNET_A_TREE_KEYS,		/* u32: {distinct keys held} */
	AGGNET_A_TREE_RECORDS_IN,	/* u64: {records merged} */
	AGGNET_A_TREE_RECORDS_OUT,	/* u64: {records emitted or delivered} */
	AGGNET_A_TREE_PACKETS_IN,	/* u64: {DATA merged} */
	AGGNET_A_TREE_PACKETS_OUT,	/* u64: {DATA emitted, first sendings} */
	AGGNET_A_TREE_REXMITS,		/* u64: {DATA sent again} */
	AGGNET_A_TREE_ACCEPTOR,		/* be32: {identity bound to, 0: none} */
	AGGNET_A_TREE_MEMBERS,		/* u32: sum of aggnet_member() over the
					 * sources; receiver, optional
					 */
	AGGNET_A_TREE_LAYOUT,		/* u8: enum aggnet_layout */
	AGGNET_A_TREE_SCALE,		/* u8: fraction bits of fixed-point values */
	AGGNET_A_TREE_K,		/* u32: pairs that a key keeps */
	AGGNET_A_TREE_ELEMENTS,		/* u64: of a dense vector */
	AGGNET_A_TREE_ABSENT,		/* binary: be32 identities of sources
					 * that were left out; receiver, optional
					 */
	AGGNET_A_TREE_ABOUT,		/* be32: {the node that it is about} */
	AGGNET_A_TREE_MISSING,		/* u32: {sources missing at the origin} */
	AGGNET_A_TREE_MISSING_NAMES,	/* binary: {be32 identities, some of those
					 * that are missing}
					 */
	AGGNET_A_TREE_BYTES_OUT,	/* u64: {bytes of DATA emitted, first
					 * sendings}
					 */
	AGGNET_A_TREE_PAD,
	AGGNET_A_TREE_FILTER,		/* binary: struct aggnet_filter with its
					 * bits and digits, of the whole path to
					 * the receiver; scheme packet
					 */
	AGGNET_A_TREE_PLAN,		/* 16 bytes: ID of the plan that the entry
					 * is part of, opaque; optional
					 */
	AGGNET_A_TREE_MEMORY_MOST,	/* u64: {most bytes held so far} */
	AGGNET_A_TREE_BYTES_IN,		/* u64: {bytes of DATA merged} */
	AGGNET_A_TREE_UNPLANNED,	/* u32: {of the channels, those of children that
					 * another node should accept}
					 */
	/* u32: {packets that left by plain IP and not by the planned link, because} */
	AGGNET_A_TREE_FALLBACK_LINK,	/* {it had no carrier, neighbour or route} */
	AGGNET_A_TREE_FALLBACK_BLOOM,	/* {no Bloom table had the incast ID} */
	AGGNET_A_TREE_FALLBACK_POLICY,	/* {an IPsec policy applied} */
	AGGNET_A_TREE_FALLBACK_ROUND,	/* {the acceptor was not on the planned way} */
	AGGNET_A_TREE_UNBOUND,		/* binary: {be32 identities of planned children
					 * that have not bound, some of them}
					 */
	AGGNET_A_TREE_PERSIST,		/* u8: 1: the tree serves any number of rounds */
	AGGNET_A_TREE_ROUND,		/* u32: {number of the round, from 0 on} */
	/* One job by several trees, with consecutive job IDs: */
	AGGNET_A_TREE_STRIPE,		/* u8: number of this tree, from 0; default 0 */
	AGGNET_A_TREE_STRIPES,		/* u8: how many there are */
	AGGNET_A_TREE_DIRECTION,	/* u8: enum aggnet_direction, up or down;
					 * default up
					 */
	AGGNET_A_TREE_PARTIALS,		/* u32: {nodes up to here that did not wait for
					 * their children, in this round}
					 */
	AGGNET_A_TREE_BELOW,		/* binary: {u32 for each enum aggnet_fallback:
					 * packets of nodes below that left by plain IP,
					 * as the ends of their flows told}
					 */
	__AGGNET_A_TREE_MAX
};

#define AGGNET_A_TREE_MAX	(__AGGNET_A_TREE_MAX - 1)

/*
 * AGGNET_A_TREE_PLAN, bytes. The first AGGNET_PLAN_ID_LEN of them are random and
 * the same at all nodes and in all attempts of a plan.
 */
#define AGGNET_PLAN_LEN		16
#define AGGNET_PLAN_ID_LEN	8

/* AGGNET_A_TREE_STRIPES, at most */
#define AGGNET_STRIPES_MAX	64

#define AGGNET_MEMORY_DEFAULT	(4ULL << 20)
#define AGGNET_MEMORY_MIN	(64ULL << 10)

/* AGGNET_A_TREE_WRITERS, at most: a packet may wake them all. */
#define AGGNET_WRITERS_MAX	1024
#define AGGNET_HOLD_DEFAULT	0
#define AGGNET_GIVE_UP_DEFAULT	30000

enum aggnet_stats_attr {
	AGGNET_A_STATS_UNSPEC,
	AGGNET_A_STATS_ENTRY,		/* nest, repeated: STATS_NAME, STATS_VALUE */
	AGGNET_A_STATS_NAME,		/* string */
	AGGNET_A_STATS_VALUE,		/* u64 */
	AGGNET_A_STATS_PAD,
	__AGGNET_A_STATS_MAX
};

#define AGGNET_A_STATS_MAX	(__AGGNET_A_STATS_MAX - 1)

enum aggnet_plan_attr {
	AGGNET_A_PLAN_UNSPEC,
	AGGNET_A_PLAN_STEPS,		/* u32: steps that were sent. A step that
					 * the policy of its command refuses does
					 * not reach the plan
					 */
	__AGGNET_A_PLAN_MAX
};

#define AGGNET_A_PLAN_MAX	(__AGGNET_A_PLAN_MAX - 1)

enum aggnet_event {
	AGGNET_EVENT_TREE_ADDED,
	AGGNET_EVENT_TREE_DELETED,
	AGGNET_EVENT_TREE_DONE,
	AGGNET_EVENT_TREE_ABORTED,
	AGGNET_EVENT_TREE_STALLED,	/* hold passed */
	AGGNET_EVENT_EPOCH,		/* a packet had another epoch */
	AGGNET_EVENT_PORT_GONE,
	__AGGNET_EVENT_MAX
};

enum aggnet_event_attr {
	AGGNET_A_EVENT_UNSPEC,
	AGGNET_A_EVENT_KIND,		/* u8: enum aggnet_event */
	AGGNET_A_EVENT_INCAST_ID,	/* u64 */
	AGGNET_A_EVENT_INSTANCE,	/* u32 */
	AGGNET_A_EVENT_ATTEMPT,		/* u32 */
	AGGNET_A_EVENT_REASON,		/* u8: enum aggnet_reason */
	AGGNET_A_EVENT_ORIGIN,		/* be32: the node that raised it */
	AGGNET_A_EVENT_ABOUT,		/* be32: the node that it is about */
	AGGNET_A_EVENT_MISSING,		/* u32: sources missing */
	AGGNET_A_EVENT_IFINDEX,		/* u32 */
	AGGNET_A_EVENT_MISSING_NAMES,	/* binary: be32 identities, some of those
					 * that are missing
					 */
	AGGNET_A_EVENT_PAD,
	__AGGNET_A_EVENT_MAX
};

#define AGGNET_A_EVENT_MAX	(__AGGNET_A_EVENT_MAX - 1)

/*
 * The socket: socket(AF_INET, SOCK_RDM, IPPROTO_AGGNET).
 *
 * A source connect()s to (receiver, job), send()s records in the format of the
 * wire (struct aggnet_data), shutdown(SHUT_WR)s, and recv()s 0 when the
 * receiving application has read the end mark, or an error. send() takes whole
 * records from the front of the buffer and returns their bytes.
 *
 * In a persistent tree send() with MSG_EOR ends the source's part of a round,
 * and one recv() returns 0 for each round that is done. shutdown() ends the last
 * round. aggnet(7) has the details.
 *
 * In a tree that leads down the root bind()s to (its identity, job), send()s bytes,
 * shutdown(SHUT_WR)s, and recv()s 0 when all members have the end mark, or an
 * error. The members connect() to (root, job) and recv() messages. Rounds are as for
 * sources: the root ends them.
 *
 * The receiver bind()s to (its identity, job) and recv()s messages that each
 * begin with struct aggnet_msg. MSG_PEEK shows the end mark without taking it;
 * the sources' DONE starts when it was copied to the application.
 */
#define IPPROTO_AGGNET		257
#define SOL_AGGNET		257
#define AGGNET_SEND_MAX		65536	/* most bytes of one send() */

/**
 * struct sockaddr_aggnet - names an incast transfer
 * @sag_family: AF_INET
 * @sag_zero1: 0
 * @sag_receiver: identity of the receiver
 * @sag_job: job ID, host order
 * @sag_zero2: 0
 */
struct sockaddr_aggnet {
	__kernel_sa_family_t	sag_family;
	__u16			sag_zero1;
	__be32			sag_receiver;
	__u32			sag_job;
	__u32			sag_zero2;
};

enum aggnet_msg_type {
	AGGNET_MSG_RECORDS = 1,		/* records follow, in the wire format */
	AGGNET_MSG_RESET,		/* a new epoch: discard what was read */
	AGGNET_MSG_END,			/* struct aggnet_end follows */
	AGGNET_MSG_BYTES,		/* bytes of a stream follow */
};

/**
 * struct aggnet_msg - the start of each message that the receiver reads
 * @type: enum aggnet_msg_type
 * @records: how many records follow
 */
struct aggnet_msg {
	__u32	type;
	__u32	records;
};

/**
 * struct aggnet_end - the end mark
 * @sources: sources in the result
 * @of: sources of the tree
 * @partials: nodes whose hold passed before their flow was whole
 * @instance: epoch
 * @attempt: epoch
 * @absent: sources that the plan left out, which @of includes. Up to
 *	AGGNET_ABSENT_MAX of their identities follow
 * @records: original records that the result stands for
 * @round: of a persistent tree, from 0 on; else 0
 * @last: 1: no round follows
 */
struct aggnet_end {
	__u32	sources;
	__u32	of;
	__u32	partials;
	__u32	instance;
	__u32	attempt;
	__u32	absent;
	__u64	records;
	__u32	round;
	__u32	last;
};

#define AGGNET_ABSENT_MAX	48

/* getsockopt/setsockopt at SOL_AGGNET */
#define AGGNET_SO_STATUS	1	/* get: struct aggnet_status */
#define AGGNET_SO_ABORT		2	/* set: __u32 enum aggnet_reason */
#define AGGNET_SO_LOOKUP	3	/* get: struct aggnet_lookup, before joining */
#define AGGNET_SO_EPOCH		4	/* set: struct aggnet_epoch, before joining */
#define AGGNET_SO_CHECK		5	/* get: struct aggnet_check; set: its value */

/**
 * struct aggnet_status - the state of the transfer on this node
 * @state: enum aggnet_tree_state
 * @reason: enum aggnet_reason
 * @origin: identity of the node that raised @reason
 * @about: identity of the node that it is about, 0: none
 * @missing: sources missing at @origin
 * @function: enum aggnet_function
 * @vtype: enum aggnet_vtype
 * @instance: epoch
 * @attempt: epoch
 * @layout: enum aggnet_layout
 * @scale: fraction bits of fixed-point values
 * @k: pairs that a key keeps
 * @elements: of a dense vector
 * @names: number of identities in @name
 * @name: identities of planned nodes that are missing, as far as @origin knows
 * @pad: 0; programs of 32 and of 64 bits have the same struct
 * @plan: ID of the plan, the same at all members and in all attempts; 0 for an
 *	entry without one. With the job it identifies the transfer; an instance
 *	does not, because two plans may have the same
 * @persist: 1: the tree is persistent
 * @round: the round in which this node is
 * @stripe: number of the tree among the trees of the job; the job ID of the
 *	socket minus this number is that of the first tree
 * @stripes: how many trees the job has; 0: one
 * @direction: enum aggnet_direction
 * @pad2: 0
 * @records_in: records that arrived in packets and were merged, since the entry was made
 * @records_out: records that left
 * @packets_in: packets of @records_in
 * @packets_out: packets of @records_out
 * @bytes_in: bytes of @records_in
 * @bytes_out: bytes of @records_out
 * @rexmits: packets sent again
 * @contributors: flows that the plan leads to this node, its own processes being one
 * @writers: processes of this node that contribute
 * @channels: flows that arrived
 * @unplanned: of these, those of children that another node should accept
 * @acceptor: identity of the node that merges this node's flow, 0: not known
 * @fallback_link: packets that left by plain IP, as AGGNET_A_TREE_FALLBACK_LINK
 * @fallback_bloom: likewise, as AGGNET_A_TREE_FALLBACK_BLOOM
 * @fallback_policy: likewise, as AGGNET_A_TREE_FALLBACK_POLICY
 * @fallback_round: likewise, as AGGNET_A_TREE_FALLBACK_ROUND
 * @partials: nodes up to here that did not wait for their children, in this round
 * @nunbound: number of identities in @unbound
 * @unbound: identities of planned children whose flows have not arrived, some of them
 * @below: packets of nodes below that left by plain IP, as the ends of their flows told,
 *	and the packets of the channels here, since the entry was made, by enum aggnet_fallback
 *
 * A program that passes a shorter buffer to AGGNET_SO_STATUS gets as much as fits.
 */
struct aggnet_status {
	__u32	state;
	__u32	reason;
	__be32	origin;
	__be32	about;
	__u32	missing;
	__u32	function;
	__u32	vtype;
	__u32	instance;
	__u32	attempt;
	__u32	layout;
	__u32	scale;
	__u32	k;
	__u64	elements;
	__u32	names;
	__be32	name[AGGNET_NAMES_MAX];
	__u32	pad;
	__u8	plan[AGGNET_PLAN_ID_LEN];
	__u32	persist;
	__u32	round;
	__u32	stripe;
	__u32	stripes;
	__u32	direction;
	__u32	pad2;
	__u64	records_in;
	__u64	records_out;
	__u64	packets_in;
	__u64	packets_out;
	__u64	bytes_in;
	__u64	bytes_out;
	__u64	rexmits;
	__u32	contributors;
	__u32	writers;
	__u32	channels;
	__u32	unplanned;
	__be32	acceptor;
	__u32	fallback_link;
	__u32	fallback_bloom;
	__u32	fallback_policy;
	__u32	fallback_round;
	__u32	partials;
	__u32	nunbound;
	__be32	unbound[AGGNET_NAMES_MAX];
	__u32	below[__AGGNET_FALLBACK_MAX];
};

/**
 * struct aggnet_lookup - asks for a transfer's status without joining it
 * @addr: the transfer
 * @status: the answer, cut to the caller's buffer
 */
struct aggnet_lookup {
	struct sockaddr_aggnet	addr;
	struct aggnet_status	status;
};

/**
 * struct aggnet_epoch - the only epoch that a socket joins
 * @instance: epoch, high half
 * @attempt: epoch, low half
 *
 * bind() and connect() return ESTALE if an entry of another epoch is in force.
 */
struct aggnet_epoch {
	__u32	instance;
	__u32	attempt;
};

/**
 * enum aggnet_fingerprint - how the fingerprints of a function's flows add up
 * @AGGNET_FP_NONE: the function is not linear and has none
 * @AGGNET_FP_SUM: modulo 2^61 - 1
 * @AGGNET_FP_XOR: bit by bit
 * @AGGNET_FP_STREAM: a stream has one number, which the root gives
 */
enum aggnet_fingerprint {
	AGGNET_FP_NONE,
	AGGNET_FP_SUM,
	AGGNET_FP_XOR,
	AGGNET_FP_STREAM,
};

/**
 * struct aggnet_check - the fingerprint of a transfer, for a socket that has joined
 * @kind: enum aggnet_fingerprint
 * @whole: at the receiver, when the end mark is next: all sources gave a
 *	fingerprint, and @value is of all of them
 * @key: of the hash; it differs between epochs
 * @value: the sum; what a writer sets, once, before it shuts down
 *
 * In a tree that leads down the root sets the number, before it shuts down, and each
 * member gets it with @whole set when the end mark is next. libaggnet takes the CRC32C
 * of the stream.
 *
 * A receiver that finds another fingerprint in the result than @value raises
 * AGGNET_R_MISMATCH. libaggnet does all of this.
 */
struct aggnet_check {
	__u32	kind;
	__u32	whole;
	__u64	key[2];
	__u64	value;
};

#endif /* _UAPI_LINUX_AGGNET_H */
