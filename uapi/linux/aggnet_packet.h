/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Wire ABI of aggnet: UDP over IPv4, one struct aggnet_hdr per datagram, then
 * the body of the type. All integers are big endian unless said otherwise.
 * IP headers are aligned to 4 bytes, so a datagram's payload begins at a multiple
 * of 4, seldom of 8: the structs are packed, and aligned to 4.
 * Documentation/channel.rst explains which node sends what, when and why.
 */
#ifndef _UAPI_LINUX_AGGNET_PACKET_H
#define _UAPI_LINUX_AGGNET_PACKET_H

#include <linux/types.h>

/* Destination port of every packet, unless the node sets another: a user port
 * that IANA has not assigned, below Linux's ephemeral ports (32768 and up) and
 * Kubernetes' NodePorts (30000 and up).
 */
#define AGGNET_UDP_PORT		18016
#define AGGNET_VERSION		4
#define AGGNET_WINDOW		256	/* most packets in flight on a channel */
#define AGGNET_SEQ_FIRST	0xffffffc0u	/* wraps early, on purpose */
#define AGGNET_HOP_MAX		64
#define AGGNET_KEY_MAX		255	/* most bytes of a record's key; at least 1 */
#define AGGNET_VALUE_MAX	208	/* most bytes of a record's value; may be 0 */
#define AGGNET_PLAIN_MAX	16	/* most bytes of an integer value */
#define AGGNET_RECORD_MAX	(2 + AGGNET_KEY_MAX + AGGNET_VALUE_MAX)
#define AGGNET_BLOCK_ELEMENTS	13	/* of a dense vector, in one record */

/**
 * enum aggnet_type - the type of a packet
 * @AGGNET_OPEN: child asks the tree for an acceptor (child to receiver)
 * @AGGNET_ACCEPT: an end offers to be the acceptor (acceptor to child)
 * @AGGNET_DATA: records (child to acceptor); with AGGNET_F_DOWN bytes of a stream
 *	(acceptor to child)
 * @AGGNET_ACK: custody, SACK and credit; it answers DATA and FIN
 * @AGGNET_FIN: last sequence, weight, records; repeated as probe for DONE. With
 *	AGGNET_F_DOWN: last sequence and number of bytes of a stream
 * @AGGNET_DONE: the receiving application has the whole result
 * @AGGNET_ABORT: the transfer ended in an error (either direction)
 * @AGGNET_RST: this node will not serve these nonces or this epoch
 * @AGGNET_PROBE: a sign of life that asks for an ACK (child to acceptor); its
 *	body may state how many sources to expect (struct aggnet_probe). Padding
 *	follows, so that the first one tests the length that the path passes
 */
enum aggnet_type {
	AGGNET_OPEN = 1,
	AGGNET_ACCEPT,
	AGGNET_DATA,
	AGGNET_ACK,
	AGGNET_FIN,
	AGGNET_DONE,
	AGGNET_ABORT,
	AGGNET_RST,
	AGGNET_PROBE,
	__AGGNET_TYPE_MAX
};

/*
 * Header flags. A receiver ignores unknown bits of AGGNET_F_IGNORABLE and
 * refuses a packet with any other unknown bit.
 */
#define AGGNET_F_PARTIAL	0x0001	/* DATA left before the flow was whole */
#define AGGNET_F_REXMIT		0x0002	/* sent before */
#define AGGNET_F_ACK		0x0004	/* DATA: answer at once */
#define AGGNET_F_ROOTED		0x0008	/* ACK: the sender's path to the receiver is bound */
#define AGGNET_F_CHECK		0x0010	/* FIN: its check covers all sources */
#define AGGNET_F_LAST		0x0020	/* FIN, DONE: no round follows */
#define AGGNET_F_IGNORABLE	0x00ff
#define AGGNET_F_ANY		0x0100	/* OPEN: any end may accept */
#define AGGNET_F_TAG		0x0200	/* tag is keyed; else CRC32C */
#define AGGNET_F_FIN		0x0400	/* ACK: custody of the FIN is taken */
#define AGGNET_F_REPLY		0x0800	/* ABORT: an answer, not answered again */
#define AGGNET_F_DOWN		0x1000	/* DATA, FIN: from the root; ACK: answers one */
#define AGGNET_F_UNIFORM	0x2000	/* DATA of equal records; reserved */
#define AGGNET_F_PADDED		0x4000	/* DATA: padding follows; reserved */
#define AGGNET_F_KNOWN		(AGGNET_F_PARTIAL | AGGNET_F_REXMIT | \
				 AGGNET_F_ACK | AGGNET_F_ROOTED | \
				 AGGNET_F_CHECK | AGGNET_F_LAST | \
				 AGGNET_F_ANY | AGGNET_F_TAG | \
				 AGGNET_F_FIN | AGGNET_F_REPLY | \
				 AGGNET_F_DOWN)

/**
 * struct aggnet_hdr - the common header
 * @version: AGGNET_VERSION
 * @type: enum aggnet_type
 * @hop: remaining forwards by aggnet; the only mutable field, zero under the
 *	tag. With a filter all copies of the packet share them
 * @filter: length of struct aggnet_filter with its bits and digits, in units of
 *	AGGNET_FILTER_UNIT bytes; it stands before the body. 0: no filter
 * @flags: AGGNET_F_*
 * @length: bytes after this header, exactly: filter and body
 * @incast_id: job ID (high 32 bits) . receiver identity (low 32 bits)
 * @instance: high half of the epoch; later plans have serially greater ones
 * @attempt: low half of the epoch
 * @src: identity of the node that made the packet; equals the IP source
 * @dst: identity of the node that the packet is for; 0 in OPEN
 * @src_nonce: the sender's nonce of this channel
 * @dst_nonce: the other end's nonce; 0 in OPEN
 * @stamp: the sender's clock in microseconds
 * @echo: stamp of the packet that this one answers, 0 if none
 * @round: the round in which the sender is, in DONE the one that is done; in
 *	OPEN, ACCEPT and RST, and in a tree that is not persistent, zero
 * @fallback: enum aggnet_fallback: why a node on the way that sends no FIN has sent the
 *	packet by plain IP and not by its planned link. The tag does not cover it
 * @reserved: zero
 * @tag: AGGNET_F_TAG: SipHash-2-4 of the header with @hop and @fallback zero and the
 *	body's universal hash (64 bits, big endian) in place of the tag. Else, in the low
 *	32 bits, the CRC32C of the header with @hop, @fallback and @tag zero, followed
 *	by the body's CRC32C (32 bits, big endian)
 */
struct aggnet_hdr {
	__u8	version;
	__u8	type;
	__u8	hop;
	__u8	filter;
	__be16	flags;
	__be16	length;
	__be64	incast_id;
	__be32	instance;
	__be32	attempt;
	__be32	src;
	__be32	dst;
	__be64	src_nonce;
	__be64	dst_nonce;
	__be32	stamp;
	__be32	echo;
	__be32	round;
	__u8	fallback;
	__u8	reserved[3];
	__be64	tag;
} __attribute__((packed, aligned(4)));

#define AGGNET_FILTER_UNIT	8	/* bytes; the unit of a filter's length */
#define AGGNET_FILTER_UNITS	16	/* at most */
#define AGGNET_FILTER_MAX	(AGGNET_FILTER_UNIT * AGGNET_FILTER_UNITS)
#define AGGNET_FILTER_BITS_MIN	8
#define AGGNET_FILTER_BITS_MAX	(8 * (AGGNET_FILTER_MAX - 4))

/**
 * struct aggnet_filter - Bloom filter of the directed links of a packet's path
 * @bits: number of bits; they follow, the first one lowest in the first byte.
 *	The unused bits of the last byte are zero
 * @hashes_digits: low four bits: hash functions; 0: the filter is spent, and
 *	nodes ignore it. High four bits: number of digits of the receiver's
 *	label that follow the bits, one byte each, beginning with level 0; 0:
 *	nodes test every link, whatever its digit
 * @salt: drawn or chosen, so that a path with false positives can use another
 *	filter
 *
 * Like the IP header it determines the packet's path, and is not under the tag.
 * Zero bytes pad it to a multiple of AGGNET_FILTER_UNIT, so that it does not
 * change the body's alignment. Packets to the acceptor may have one: OPEN,
 * DATA, FIN, PROBE, ABORT.
 */
struct aggnet_filter {
	__be16	bits;
	__u8	hashes_digits;
	__u8	salt;
} __attribute__((packed, aligned(4)));

/**
 * enum aggnet_direction - where the data of a tree go
 * @AGGNET_DIR_UP: from the sources to the receiver
 * @AGGNET_DIR_DOWN: from the root, a stream of bytes, to the members
 * @AGGNET_DIR_BOTH: up, and the result down; reserved
 */
enum aggnet_direction {
	AGGNET_DIR_UP,
	AGGNET_DIR_DOWN,
	AGGNET_DIR_BOTH,
	__AGGNET_DIR_MAX
};

/**
 * struct aggnet_open - body of OPEN: the shape of values in the child's entry
 * @function: enum aggnet_function of the tree
 * @vtype: enum aggnet_vtype of the tree
 * @layout: enum aggnet_layout of the tree
 * @scale: fraction bits of fixed-point values, else zero
 * @k: pairs that a key keeps, else zero
 * @direction: enum aggnet_direction of the tree
 * @persist: 1: the tree is persistent, else zero
 * @elements: of a dense vector, else zero
 * @have: zero; reserved for the bytes of a stream that the child has already
 *
 * An end whose entry has another shape ends the transfer (AGGNET_R_FUNCTION).
 */
struct aggnet_open {
	__u8	function;
	__u8	vtype;
	__u8	layout;
	__u8	scale;
	__be16	k;
	__u8	direction;
	__u8	persist;
	__be64	elements;
	__be64	have;
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_accept - body of ACCEPT
 * @max_payload: most bytes of records in one DATA
 * @max_records: most records in one DATA
 * @hop: the hop field with which the OPEN arrived
 * @direction: enum aggnet_direction of the tree
 * @reserved: zero
 *
 * It grants no credit, because it leaves no state at its sender: the first
 * packet that names the acceptor's nonce binds the channel, and its ACK grants
 * credit.
 */
struct aggnet_accept {
	__be16	max_payload;
	__be16	max_records;
	__u8	hop;
	__u8	direction;
	__u8	reserved[2];
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_data - body of DATA; the records follow
 * @seq: sequence of this packet
 * @records: how many records follow, at least 1
 * @weight: sorted tree: number of sources that this flow will have, as its FIN
 *	will state it; else zero
 * @represents: original records merged into these; at least @records, because
 *	each part of an accumulator carries one of the records merged into it
 *
 * With AGGNET_F_DOWN bytes of the stream follow, at least one: @records and @weight
 * are zero, @represents is the number of bytes of the stream before these, and the
 * body is the same on all links of the tree.
 *
 * A record is: key length (1 byte, >= 1), value length (1 byte), key, value.
 * The tree's function and value type determine the format of the value:
 *
 * plain: an integer of 0 to 16 bytes, two's complement, little endian, sign
 *	extended to 128 bits. In a product the least integer stands for one
 *	whose magnitude exceeds 2^127.
 * mean: bytes of the count (1 byte, 1..8), the count (little endian), and the
 *	sum as a plain integer.
 * pairs: up to 13 pairs of a rank and an ID (8 bytes each, little endian). A
 *	lower rank is better: it is the value itself for the k nearest, its
 *	complement for the top k.
 * float: flags (1 byte: a NaN, plus infinity, minus infinity was among the
 *	numbers; 0x80: other records have the bytes above), bytes of the count
 *	(1 byte, 0..8), the count, a place p (2 bytes), then bytes of an integer
 *	i; the sum is i 2^(8 p - 1074), for binary32 i 2^(8 p - 149).
 * block: AGGNET_BLOCK_ELEMENTS plain integers, all of the same 0 to 16 bytes.
 *
 * In a sorted tree the keys of a flow ascend from record to record and from
 * packet to packet, or stay the same if a value leaves in parts. Keys are
 * compared by their bytes; a prefix comes before the longer key.
 *
 * The key of a dense vector's record is the number of a block, big endian, in
 * the number of bytes that the last block's number needs. A block is
 * AGGNET_BLOCK_ELEMENTS of the vector's elements, those behind its end zero;
 * for float sums it is a single element, whose value is a float sum.
 *
 * The records of a source (the socket's send()) have values of their type, not
 * in the format of DATA: see AGGNET_VTYPE_*.
 */
struct aggnet_data {
	__be32	seq;
	__be16	records;
	__be16	weight;
	__be64	represents;
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_ack - body of ACK
 * @cum: all packets before this sequence are merged
 * @credit: DATA up to this sequence, exclusive, may be sent; never shrinks
 * @sack: bit b of word w set: sequence @cum + 1 + 64 w + b is merged
 * @below: zero; reserved for trees of which nodes can change their place
 * @done: zero; reserved, too
 */
struct aggnet_ack {
	__be32	cum;
	__be32	credit;
	__be64	sack[AGGNET_WINDOW / 64];
	__be32	below;
	__be32	done;
} __attribute__((packed, aligned(4)));

/* Identities that may follow the bodies of FIN and ABORT: planned ends that
 * have not bound. Further ones are only counted.
 */
#define AGGNET_NAMES_MAX	16

/**
 * enum aggnet_fallback - why a packet left by plain IP and not by its planned link
 * @AGGNET_FALLBACK_NONE: it did not, or no link is planned
 * @AGGNET_FALLBACK_LINK: the link has no carrier, neighbour, route or port, or the
 *	packet came by it
 * @AGGNET_FALLBACK_BLOOM: no Bloom table has the incast ID, or the filter in the
 *	packet matches no link or too many
 * @AGGNET_FALLBACK_POLICY: an IPsec policy applies
 * @AGGNET_FALLBACK_ROUND: the acceptor is not on the planned way
 */
enum aggnet_fallback {
	AGGNET_FALLBACK_NONE,
	AGGNET_FALLBACK_LINK,
	AGGNET_FALLBACK_BLOOM,
	AGGNET_FALLBACK_POLICY,
	AGGNET_FALLBACK_ROUND,
	__AGGNET_FALLBACK_MAX
};

/* Causes for which packets leave by plain IP. */
#define AGGNET_FALLBACKS	(__AGGNET_FALLBACK_MAX - 1)

/**
 * struct aggnet_fin - body of FIN; names of missing planned ends follow
 * @final: the sequence after the last DATA
 * @weight: sources that this flow contains completely
 * @records: original records of those sources
 * @partials: nodes in the subtree whose hold passed before their flow was whole
 * @members: sum of aggnet_member() over those sources, modulo 2^32
 * @check: sum of the fingerprints of those sources, if AGGNET_F_CHECK is set; else
 *	zero
 * @by_plain_ip: packets of the nodes of this flow that left by plain IP and that no
 *	earlier round has counted, first AGGNET_FALLBACK_LINK; 2^32 - 1: so many or more
 *
 * With AGGNET_F_DOWN it ends a stream: @final is the sequence after its last DATA,
 * @records the number of its bytes, @check the number that the root's application
 * gave for it, if AGGNET_F_CHECK is set; the others are zero, and no names follow.
 */
struct aggnet_fin {
	__be32	final;
	__be32	weight;
	__be64	records;
	__be32	partials;
	__be32	members;
	__be64	check;
	__be32	by_plain_ip[AGGNET_FALLBACKS];
} __attribute__((packed, aligned(4)));

/**
 * aggnet_member() - the number that a source adds to the sum of members
 * @id: its identity, host order
 *
 * It is a bijection, so that a source in place of another one always changes
 * the sum; weights alone would not distinguish a source counted twice from a
 * missing one.
 */
static inline __u32 aggnet_member(__u32 id)
{
	id ^= id >> 16;
	id *= 0x85ebca6bu;
	id ^= id >> 13;
	id *= 0xc2b2ae35u;
	return id ^ (id >> 16);
}

/**
 * struct aggnet_probe - body of PROBE, or nothing; padding may follow
 * @sources: one more than the number of sources that the flow will contain, as
 *	far as the child knows: those of its entry, until it stops waiting for
 *	some. 0: not stated
 * @names: number of identities that follow, at most AGGNET_NAMES_MAX: planned
 *	ends that have not bound
 */
struct aggnet_probe {
	__be32	sources;
	__be32	names;
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_done - body of DONE
 * @sources: sources contained in the result
 * @partials: nodes whose hold passed before their flow was whole
 */
struct aggnet_done {
	__be32	sources;
	__be32	partials;
} __attribute__((packed, aligned(4)));

/**
 * enum aggnet_reason - why a transfer ended, on the wire and in events
 * @AGGNET_R_NONE: it did not end
 * @AGGNET_R_TIMEOUT: give_up passed without a sign of life (ETIMEDOUT)
 * @AGGNET_R_MISMATCH: the merged records do not add up (EBADMSG)
 * @AGGNET_R_OVERFLOW: a result does not fit its type (EOVERFLOW)
 * @AGGNET_R_SENDER: a source closed without shutdown (ECONNABORTED)
 * @AGGNET_R_RECEIVER: the receiver closed before the end mark (EPIPE)
 * @AGGNET_R_WITHDRAWN: the entry was deleted (ECANCELED)
 * @AGGNET_R_STALE: a newer epoch is in force (ESTALE)
 * @AGGNET_R_RESET: the acceptor lost its state (ECONNRESET)
 * @AGGNET_R_PROTOCOL: the members do not follow the protocol (EPROTO)
 * @AGGNET_R_USER: the application asked for it (ECANCELED)
 * @AGGNET_R_FUNCTION: the members disagree on the function, the value type,
 *	their parameters, or whether the tree is persistent (EPROTOTYPE)
 * @AGGNET_R_ROOM: the receiver has no room for the run of a contributor that
 *	missed its planned end (ENOBUFS)
 * @AGGNET_R_LAG: a member of a tree that leads down does not keep up (ENOBUFS)
 * @AGGNET_R_GONE: what a member of a tree that leads down lacks is not kept any
 *	more (ESTALE)
 *
 * No node of this revision raises the last two; each understands them.
 */
enum aggnet_reason {
	AGGNET_R_NONE,
	AGGNET_R_TIMEOUT,
	AGGNET_R_MISMATCH,
	AGGNET_R_OVERFLOW,
	AGGNET_R_SENDER,
	AGGNET_R_RECEIVER,
	AGGNET_R_WITHDRAWN,
	AGGNET_R_STALE,
	AGGNET_R_RESET,
	AGGNET_R_PROTOCOL,
	AGGNET_R_USER,
	AGGNET_R_FUNCTION,
	AGGNET_R_ROOM,
	AGGNET_R_LAG,
	AGGNET_R_GONE,
	__AGGNET_R_MAX
};

/**
 * struct aggnet_abort - body of ABORT; names of ends missing at @origin follow
 * @reason: enum aggnet_reason
 * @origin: identity of the node that raised it
 * @about: identity of the node that it is about, 0 if none
 * @missing: sources that were missing at @origin
 */
struct aggnet_abort {
	__be32	reason;
	__be32	origin;
	__be32	about;
	__be32	missing;
} __attribute__((packed, aligned(4)));

/**
 * enum aggnet_rst_reason - why a node does not serve a packet
 * @AGGNET_RST_EPOCH: it is older than the epoch in force, which the body states
 * @AGGNET_RST_CLOSED: these nonces were never bound here and never will be
 * @AGGNET_RST_NONCE: it has the nonce of another incarnation
 */
enum aggnet_rst_reason {
	AGGNET_RST_EPOCH = 1,
	AGGNET_RST_CLOSED,
	AGGNET_RST_NONCE,
	__AGGNET_RST_MAX
};

/**
 * struct aggnet_rst - body of RST
 * @reason: enum aggnet_rst_reason
 * @instance: epoch in force at the sender
 * @attempt: its low half
 * @reserved: zero
 */
struct aggnet_rst {
	__be32	reason;
	__be32	instance;
	__be32	attempt;
	__be32	reserved;
} __attribute__((packed, aligned(4)));

#endif /* _UAPI_LINUX_AGGNET_PACKET_H */
