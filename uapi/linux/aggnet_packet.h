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

/* Destination port of every packet, unless the node says another: a user port
 * that IANA has not assigned, below Linux's ephemeral ports (32768 and up) and
 * Kubernetes' NodePorts (30000 and up).
 */
#define AGGNET_UDP_PORT		18016
#define AGGNET_VERSION		1
#define AGGNET_WINDOW		256	/* packets in flight on a channel, at most */
#define AGGNET_SEQ_FIRST	0xffffffc0u	/* wraps early, on purpose */
#define AGGNET_HOP_MAX		64
#define AGGNET_KEY_MAX		255	/* bytes of a record's key, 1 at least */
#define AGGNET_VALUE_MAX	208	/* bytes of a record's value, 0 at least */
#define AGGNET_PLAIN_MAX	16	/* of these, a value that is an integer */
#define AGGNET_RECORD_MAX	(2 + AGGNET_KEY_MAX + AGGNET_VALUE_MAX)
#define AGGNET_BLOCK_ELEMENTS	13	/* of a dense vector, in one record */

/**
 * enum aggnet_type - what a packet says
 * @AGGNET_OPEN: child asks the tree for an acceptor (child to receiver)
 * @AGGNET_ACCEPT: an end offers to be it (acceptor to child)
 * @AGGNET_DATA: records (child to acceptor)
 * @AGGNET_ACK: custody, SACK and credit (acceptor to child)
 * @AGGNET_FIN: last sequence, weight, records; repeated as probe for DONE
 * @AGGNET_DONE: the receiving application has the whole result
 * @AGGNET_ABORT: the transfer ended in an error (either direction)
 * @AGGNET_RST: this node will not serve these nonces or this epoch
 * @AGGNET_PROBE: asks for an ACK; says "alive" (child to acceptor); its body
 *	may tell how many sources to expect (struct aggnet_probe), and padding
 *	follows, so that the first one tries what length the way takes
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
#define AGGNET_F_ROOTED		0x0008	/* ACK: my way to the receiver is bound */
#define AGGNET_F_IGNORABLE	0x00ff
#define AGGNET_F_ANY		0x0100	/* OPEN: any end may accept */
#define AGGNET_F_TAG		0x0200	/* tag is SipHash-2-4; else CRC32C */
#define AGGNET_F_FIN		0x0400	/* ACK: custody of the FIN is taken */
#define AGGNET_F_REPLY		0x0800	/* ABORT: an answer, not answered again */
#define AGGNET_F_KNOWN		(AGGNET_F_PARTIAL | AGGNET_F_REXMIT | \
				 AGGNET_F_ACK | AGGNET_F_ROOTED | \
				 AGGNET_F_ANY | AGGNET_F_TAG | AGGNET_F_FIN | \
				 AGGNET_F_REPLY)

/**
 * struct aggnet_hdr - the common header
 * @version: AGGNET_VERSION
 * @type: enum aggnet_type
 * @hop: aggnet forwards left; the only mutable field, zero under the tag. With
 *	a filter, those that all copies of the packet have left together
 * @filter: struct aggnet_filter and what belongs to it, in AGGNET_FILTER_UNIT
 *	bytes; it stands before the body. 0: there is none
 * @flags: AGGNET_F_*
 * @length: bytes after this header, exactly: filter and body
 * @incast_id: job ID (high 32 bits) . receiver identity (low 32 bits)
 * @instance: high half of the epoch; later plans have serially greater ones
 * @attempt: low half of the epoch
 * @src: identity of the node that made the packet; equals the IP source
 * @dst: identity of the node it is for; 0 in OPEN
 * @src_nonce: the maker's nonce of this channel
 * @dst_nonce: the other end's nonce; 0 in OPEN
 * @stamp: the maker's clock in microseconds
 * @echo: stamp of the packet that this one answers, 0 if none
 * @tag: SipHash-2-4 (AGGNET_F_TAG), or CRC32C in the low 32 bits, of the
 *	header with @hop and @tag zero followed by the same function's value
 *	of the body (64 or 32 bits, big endian)
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
	__be64	tag;
} __attribute__((packed, aligned(4)));

#define AGGNET_FILTER_UNIT	8	/* bytes, in which a filter is counted */
#define AGGNET_FILTER_UNITS	16	/* at most */
#define AGGNET_FILTER_MAX	(AGGNET_FILTER_UNIT * AGGNET_FILTER_UNITS)
#define AGGNET_FILTER_BITS_MIN	8
#define AGGNET_FILTER_BITS_MAX	(8 * (AGGNET_FILTER_MAX - 4))

/**
 * struct aggnet_filter - Bloom filter of the directed links of a packet's way
 * @bits: how many it has; they follow, the first one lowest in the first byte,
 *	what is left of the last byte zero
 * @hashes_digits: low four bits: hash functions; 0: it is spent, no node
 *	looks at it any more. High four bits: how many digits of the receiver's
 *	label follow the bits, a byte each, the one of level 0 first; 0: every
 *	link is looked up, whatever its digit
 * @salt: drawn or chosen, so that a way that meets false positives can have
 *	another filter
 *
 * It says where a packet goes, as the IP header does, and like that it is not
 * under the tag. Zero bytes fill it up to AGGNET_FILTER_UNIT, so that the body
 * is aligned as it would be without it. What goes up a tree may carry one: OPEN,
 * DATA, FIN, PROBE, ABORT.
 */
struct aggnet_filter {
	__be16	bits;
	__u8	hashes_digits;
	__u8	salt;
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_open - body of OPEN: what the child takes the tree's values for
 * @function: enum aggnet_function of the tree
 * @vtype: enum aggnet_vtype of the tree
 * @layout: enum aggnet_layout of the tree
 * @scale: fraction bits of fixed-point values, else zero
 * @k: pairs that a key keeps, else zero
 * @reserved: zero
 * @elements: of a dense vector, else zero
 *
 * An end whose entry says otherwise ends the transfer (AGGNET_R_FUNCTION).
 */
struct aggnet_open {
	__u8	function;
	__u8	vtype;
	__u8	layout;
	__u8	scale;
	__be16	k;
	__be16	reserved;
	__be64	elements;
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_accept - body of ACCEPT
 * @max_payload: most bytes of records in one DATA
 * @max_records: most records in one DATA
 * @hop: the hop field with which the OPEN arrived
 * @reserved: zero
 *
 * It grants no credit, because it leaves no state: the first packet that names
 * the acceptor's nonce binds the channel, and its ACK grants.
 */
struct aggnet_accept {
	__be16	max_payload;
	__be16	max_records;
	__u8	hop;
	__u8	reserved[3];
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_data - body of DATA; the records follow
 * @seq: sequence of this packet
 * @records: how many records follow, at least 1
 * @weight: of a sorted tree: sources that this flow will have, as its FIN will
 *	say; else zero
 * @represents: original records merged into these; at least @records, for each
 *	part of an accumulator carries one of those that were merged into it
 *
 * A record is: key length (1 byte, >= 1), value length (1 byte), key, value.
 * What a value is follows from the tree's function and value type:
 *
 * plain: an integer of 0 to 16 bytes, two's complement, little endian, sign
 *	extended to 128 bits. Of a product, the least of all stands for one
 *	whose magnitude has passed 2^127.
 * mean: bytes of the count (1 byte, 1..8), the count (little endian), and the
 *	sum as a plain integer.
 * pairs: up to 13 pairs of a rank and an id (8 bytes each, little endian). The
 *	less rank is the better: the value itself for the k nearest, its
 *	complement for the top k.
 * float: flags (1 byte: a NaN, plus infinity, minus infinity was among the
 *	numbers; 0x80: other records have the bytes above), bytes of the count
 *	(1 byte, 0..8), the count, a place p (2 bytes), then bytes of an integer
 *	i; the sum is i 2^(8 p - 1074), of binary32 i 2^(8 p - 149).
 * block: AGGNET_BLOCK_ELEMENTS plain integers, all of the same 0 to 16 bytes.
 *
 * In a sorted tree the keys of a flow rise from record to record, and from packet
 * to packet, or stay the same where a value leaves in parts: by their bytes, the
 * shorter of two first if it is how the longer one begins.
 *
 * The key of a dense vector's record is the number of a block, big endian, in
 * as few bytes as the last block's takes. A block is AGGNET_BLOCK_ELEMENTS of
 * the vector's elements, those behind its end zero; of sums of reals it is a
 * single element, whose value is a float sum.
 *
 * In the records of a source (the socket's send()) a value is what its type
 * says, not yet what travels: see AGGNET_VTYPE_*.
 */
struct aggnet_data {
	__be32	seq;
	__be16	records;
	__be16	weight;
	__be64	represents;
} __attribute__((packed, aligned(4)));

/**
 * struct aggnet_ack - body of ACK
 * @cum: all before this sequence are merged
 * @credit: DATA up to this sequence, exclusive, may be sent; never shrinks
 * @sack: bit b of word w set: sequence @cum + 1 + 64 w + b is merged
 */
struct aggnet_ack {
	__be32	cum;
	__be32	credit;
	__be64	sack[AGGNET_WINDOW / 64];
} __attribute__((packed, aligned(4)));

/* Identities that may follow the bodies of FIN and ABORT: ends that were planned
 * and have not come. What is beyond is counted only.
 */
#define AGGNET_NAMES_MAX	16

/**
 * struct aggnet_fin - body of FIN; names of ends that were not waited for follow
 * @final: the sequence after the last DATA
 * @weight: sources wholly contained in this flow
 * @records: original records of those sources
 * @partials: nodes in the subtree whose hold passed before their flow was whole
 * @members: sum of aggnet_member() over those sources, modulo 2^32
 */
struct aggnet_fin {
	__be32	final;
	__be32	weight;
	__be64	records;
	__be32	partials;
	__be32	members;
} __attribute__((packed, aligned(4)));

/**
 * aggnet_member() - what one source adds to the sum of members
 * @id: its identity, host order
 *
 * A bijection, so that one source in another's place always shows; the weights
 * alone would not tell a source counted twice from one that is missing.
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
 * @sources: one more than the flow will contain as far as the child knows: those
 *	of its entry, until it stops waiting for some. 0: it does not tell
 * @names: identities that follow, at most AGGNET_NAMES_MAX: planned ends that
 *	have not come
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
 * @AGGNET_R_NONE: it did not
 * @AGGNET_R_TIMEOUT: give_up passed without a sign of life (ETIMEDOUT)
 * @AGGNET_R_MISMATCH: record counts do not add up (EBADMSG)
 * @AGGNET_R_OVERFLOW: a result does not fit its type (EOVERFLOW)
 * @AGGNET_R_SENDER: a source closed without shutdown (ECONNABORTED)
 * @AGGNET_R_RECEIVER: the receiver closed before the end mark (EPIPE)
 * @AGGNET_R_WITHDRAWN: the entry was deleted (ECANCELED)
 * @AGGNET_R_STALE: a newer epoch is in force (ESTALE)
 * @AGGNET_R_RESET: the acceptor lost its state (ECONNRESET)
 * @AGGNET_R_PROTOCOL: the members do not follow the protocol (EPROTO)
 * @AGGNET_R_USER: the application asked for it (ECANCELED)
 * @AGGNET_R_FUNCTION: the members disagree on the function, the value type or
 *	what belongs to them (EPROTOTYPE)
 * @AGGNET_R_ROOM: the receiver has no room for the run of a contributor that
 *	misses its planned end (ENOBUFS)
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
	__AGGNET_R_MAX
};

/**
 * struct aggnet_abort - body of ABORT; names of ends missing at @origin follow
 * @reason: enum aggnet_reason
 * @origin: identity of the node that raised it
 * @about: identity of the node it is about, 0 if none
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
 * @AGGNET_RST_EPOCH: older than the epoch in force, which the body carries
 * @AGGNET_RST_CLOSED: these nonces were never bound here and never will be
 * @AGGNET_RST_NONCE: not this incarnation's nonce
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
 * @instance: epoch in force at the maker
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
