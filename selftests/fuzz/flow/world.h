/* SPDX-License-Identifier: GPL-2.0 */
/* World: a transfer of five nodes, their applications, the network between them
 * and the clock. Nothing moves without a call of these functions.
 */
#ifndef _FLOW_WORLD_H
#define _FLOW_WORLD_H

#include <linux/types.h>

#include "flow/local.h"
#include "flow/tree.h"
#include "netns.h"
#include "work.h"

#define WORLD_NODES	5
#define WORLD_PACKETS	96	/* under way at most; then the oldest is lost */
#define WORLD_KEYS	512
#define WORLD_GIVE_UP	10000	/* ms */

/* The receiver; an acceptor; another end, to which copies stray; sources. */
enum { RECEIVER, ACCEPTOR, WRONG, CHILD, OTHER };

/**
 * struct packet - a packet under way
 * @from: index of the node that made it
 * @way: enum aggnet_way
 * @len: bytes
 * @bytes: aggnet header and body
 */
struct packet {
	u8 from;
	u8 way;
	u16 len;
	u8 bytes[1536] __aligned(8);
};

/**
 * struct node - a node and its applications
 * @an: the module's data of its namespace; must be first
 * @stats: its counters
 * @tree: entry in force, NULL: none
 * @attempt: epoch of the entry, or of the last one
 * @parent: index of the planned parent
 * @writes: it is a source
 * @mute: it has crashed: no packet leaves
 * @writer: socket of the source
 * @reader: socket of the receiver
 * @joined: the writer (receiver: the reader, too) is a member
 * @closed: the application has closed and does not join again in this epoch
 * @written: records that the source has written in its round
 * @round: rounds of which the source has ended its part
 * @done: the source has got DONE
 * @wakes: how often its sockets were woken
 * @writer_waits: the writer found no room, and was not woken since
 * @reader_waits: the reader found nothing, and was not woken since
 * @free: free chunks at the end of the last section under the tree's lock
 * @reading: a read takes several such sections; the last one uses @free
 */
struct node {
	struct aggnet_net an;
	struct aggnet_stats stats;
	struct aggnet_tree *tree;
	u32 attempt;
	u8 parent;
	bool writes;
	bool mute;
	struct aggnet_local writer;
	struct aggnet_local reader;
	bool joined;
	bool closed;
	u32 written;
	u32 round;
	bool done;
	u32 wakes;
	bool writer_waits;
	bool reader_waits;
	u32 free;
	bool reading;
};

/**
 * struct world_conf - the configuration of a run
 * @chain: child > acceptor > wrong > receiver; else both below the receiver
 * @lists: ends have lists of children
 * @keyed: packets carry a keyed tag
 * @anew: each epoch has its own key, as if it were another plan
 * @acceptor_writes: the acceptor and the receiver are sources, too
 * @hold_ms: 0: none
 * @payload: bytes of records in a packet
 * @in_turn: when the run settles, sources write one after the other, not at
 *	once
 * @memory: multiple of the least memory
 * @function: of the values
 * @vtype: their type
 * @records: of each source
 * @keys: number of different keys
 * @dense: keys are blocks of a vector, given in any order and more than once
 * @in_order: record N of each source has key N
 * @sorted: keys are given in order, and to all sources at the same time
 * @rounds: of a persistent tree; 0: it is not persistent
 * @fault: enum aggnet_fault of one merge
 * @faulty: index of the node where it occurs
 */
struct world_conf {
	bool chain;
	bool lists;
	bool keyed;
	bool anew;
	bool acceptor_writes;
	bool in_turn;
	u32 hold_ms;
	u32 payload;
	u32 memory;
	u8 function;
	u8 vtype;
	u32 records;
	u32 keys;
	bool dense;
	bool in_order;
	bool sorted;
	u32 rounds;
	u8 fault;
	u8 faulty;
};

/**
 * struct world - the state of a run
 * @us: clock, and since @start
 * @packet: packets under way, in the order in which they were made
 * @store: their memory
 * @ended: bit N: the receiver has taken the end mark of attempt N
 * @marks: end marks that it has taken in each attempt, those of all rounds
 * @harm: something happened after which an error is a right outcome
 * @made: called for each packet that a node makes; NULL: not called
 * @ran: called when a node's lock is released; NULL: not called
 * @settling: no more harm is done, so the passing of time is not harm either
 * @full: a limit of the node or the host allows no more memory
 * @wakes: how often sockets were woken
 */
struct world {
	struct world_conf conf;
	struct node node[WORLD_NODES];
	struct packet *packet[WORLD_PACKETS];
	struct packet store[WORLD_PACKETS];
	u32 packets;
	u64 us;
	u64 start;
	u64 ended;
	u32 marks[64];
	u32 attempt;
	bool harm;
	void (*made)(const struct aggnet_pkt *pkt);
	void (*ran)(struct aggnet_tree *tree);
	bool settling;
	bool no_packet;
	bool full;
	u32 wakes;
	u32 epochs;	/* events about a newer epoch */
	u64 deliveries;
};

extern struct world world;

/* The usual sizes of a run */
#define WORLD_USUAL	.payload = AGGNET_PAYLOAD_USUAL, .memory = 8, \
			.records = 64, .keys = 64

/* --- setting up ----------------------------------------------------------- */

void world_start(const struct world_conf *conf, u64 seed);
/* Start a run that has only this node. Return: its tree */
struct aggnet_tree *world_begin(const struct world_conf *conf, u64 seed,
				u32 node);
/*
 * Give the node an entry that the test describes; the ID and give_up are added.
 * The receiver's is read. Return: the tree, or an error pointer
 */
struct aggnet_tree *world_entry(u32 node, struct aggnet_tree_conf *conf);
void world_end(void);	/* free everything; nothing may be left */

/* --- the network ---------------------------------------------------------- */

void world_deliver(u32 packet);		/* to its destination; removes it */
void world_stray(u32 packet, u32 node);	/* a copy to another node */
void world_copy(u32 packet);		/* a copy to its destination */
void world_corrupt(u32 packet, u32 bit);
void world_lose(u32 packet);

/* --- time ------------------------------------------------------------------ */

void world_wait(u32 us);
bool world_next_timer(u64 *us);	/* time until the next; false: none is armed */
void world_pass(void);		/* what is under way arrives, or a timer runs */

/* --- nodes and applications -------------------------------------------------- */

void world_add(u32 node);	/* add its entry, if missing, and its members */
void world_del(u32 node);	/* withdraw the entry */
void world_crash(u32 node);	/* the node loses its state and is silent */
void world_renew(u32 node);	/* begin the next epoch there */
void world_write(u32 node, u32 records);
bool world_poll(u32 node);	/* may the source write? If not, it waits */
void world_shutdown(u32 node);	/* after the last record; or end the round */
void world_read(u32 messages);
void world_close(u32 node);
void world_look(u32 node);	/* check the outcome */

/* --- what must hold ---------------------------------------------------------- */

void world_settle(void);	/* no more harm: the run must end */
/*
 * A section under the tree's lock is over: nothing may wait for what is
 * available.
 */
void world_ran(struct aggnet_tree *tree);

#define INSIST(cond, what) do {						\
	if (!(cond))							\
		world_fail(__func__, what);				\
} while (0)

void __attribute__((noreturn)) world_fail(const char *where, const char *what);

#endif /* _FLOW_WORLD_H */
