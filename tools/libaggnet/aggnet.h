/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libaggnet, control part: the nodes, ports, links, trees and counters of the
 * caller's network namespace, over generic netlink. aggnet_data.h has the data
 * part.
 *
 *	struct aggnet_ctl *ctl;
 *	struct aggnet_tree_info *trees;
 *	size_t n;
 *	int err = aggnet_ctl_open(&ctl);
 *
 *	if (!err)
 *		err = aggnet_tree_list(ctl, &trees, &n);
 *	if (err)
 *		fprintf(stderr, "%s\n", aggnet_ctl_error(ctl));
 *	aggnet_ctl_close(ctl);
 *
 * Functions that can fail return 0 or a negative errno; the message that goes
 * with it (the kernel's own where it gave one) stays in the handle. Nothing
 * exits, prints, or keeps global state. A handle stays with the namespace in
 * which it was opened and belongs to one thread at a time.
 */
#ifndef AGGNET_H
#define AGGNET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/aggnet.h>
#include <linux/aggnet_packet.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Version of the library as a string. */
#define AGGNET_LIBRARY_VERSION	"0.1.0"

/* Bytes of members of infos. */
#define AGGNET_LABEL_LEN	32
#define AGGNET_KEY_LEN		16
#define AGGNET_MAC_LEN		6
#define AGGNET_IFNAME_LEN	16
#define AGGNET_STAT_LEN		64

/** AGGNET_HAS - bit of an attribute in the @has mask of an info. */
#define AGGNET_HAS(attr)	(UINT64_C(1) << (attr))

/*
 * An info has one member for each attribute of its noun, with the attribute's
 * name. @has has a bit for each member that is valid: in a request those that
 * are sent, in an answer those that the kernel sent. @has is the first member
 * of every info.
 */

/** struct aggnet_node_info - attributes of the node, one for each AGGNET_A_NODE_*. */
struct aggnet_node_info {
	uint64_t has;
	struct in_addr address;
	uint8_t role;
	char label[AGGNET_LABEL_LEN];
	uint64_t memory;
	uint64_t memory_used;
	uint32_t trees;
	uint32_t ports;
	uint64_t tenant;
	uint16_t port;		/* UDP port of all packets */
};

/** struct aggnet_port_info - attributes of a port, one for each AGGNET_A_PORT_*. */
struct aggnet_port_info {
	uint64_t has;
	uint32_t ifindex;
	uint8_t level;
	char ifname[AGGNET_IFNAME_LEN];
	uint64_t rx;
	uint64_t forwarded;
	uint8_t transit;
};

/** struct aggnet_link_info - attributes of a link, one for each AGGNET_A_LINK_*. */
struct aggnet_link_info {
	uint64_t has;
	uint32_t ifindex;
	struct in_addr neighbour;
	uint8_t lladdr[AGGNET_MAC_LEN];
	uint32_t bits;
	uint8_t hashes;
	uint32_t capacity;
	uint32_t trees;
	uint32_t bits_set;
	uint64_t name;
	uint8_t digit;
};

/**
 * struct aggnet_addrs - a list of identities
 * @addr: the list; in an answer it is the library's, see aggnet_tree_clear()
 * @n: how many
 */
struct aggnet_addrs {
	struct in_addr *addr;
	size_t n;
};

/* Maximum in a request: an attribute has 16 bits for its length. */
#define AGGNET_ADDRS_MAX	16382

/**
 * struct aggnet_blob - bytes of an attribute of variable length
 * @n: how many
 * @byte: the bytes
 */
struct aggnet_blob {
	size_t n;
	uint8_t byte[AGGNET_FILTER_MAX];
};

/** struct aggnet_tree_info - attributes of an entry, one for each AGGNET_A_TREE_*. */
struct aggnet_tree_info {
	uint64_t has;
	uint64_t incast_id;
	uint32_t instance;
	uint32_t attempt;
	uint32_t contributors;
	uint32_t sources;
	struct aggnet_addrs children;
	uint8_t function;
	uint8_t vtype;
	uint8_t scheme;
	uint32_t link_ifindex;
	struct in_addr link_neighbour;
	uint8_t hops;
	uint32_t writers;
	uint32_t uid;
	uint32_t gid;
	uint64_t memory;
	uint32_t hold;
	uint32_t give_up;
	uint8_t key[AGGNET_KEY_LEN];
	bool keyed;
	uint8_t state;
	uint8_t reason;
	struct in_addr origin;
	uint32_t weight;
	uint32_t channels;
	uint64_t memory_used;
	uint32_t keys;
	uint64_t records_in;
	uint64_t records_out;
	uint64_t packets_in;
	uint64_t packets_out;
	uint64_t rexmits;
	struct in_addr acceptor;
	uint32_t members;
	uint8_t layout;
	uint8_t scale;
	uint32_t k;
	uint64_t elements;
	struct aggnet_addrs absent;
	struct in_addr about;
	uint32_t missing;
	struct aggnet_addrs missing_names;
	uint64_t bytes_out;
	struct aggnet_blob filter;
	uint8_t plan[AGGNET_PLAN_LEN];
	uint64_t memory_most;
	uint64_t bytes_in;
	uint32_t unplanned;
	uint32_t fallback_link;
	uint32_t fallback_bloom;
	uint32_t fallback_policy;
	uint32_t fallback_round;
	struct aggnet_addrs unbound;
	uint8_t persist;
	uint32_t round;
	uint8_t stripe;
	uint8_t stripes;
	uint8_t direction;
	uint32_t partials;
	uint32_t below[__AGGNET_FALLBACK_MAX];
};

/** struct aggnet_event_info - attributes of an event, one for each AGGNET_A_EVENT_*. */
struct aggnet_event_info {
	uint64_t has;
	uint8_t kind;
	uint64_t incast_id;
	uint32_t instance;
	uint32_t attempt;
	uint8_t reason;
	struct in_addr origin;
	struct in_addr about;
	uint32_t missing;
	uint32_t ifindex;
	struct aggnet_addrs missing_names;
};

/** struct aggnet_stat - a counter of the namespace, by its name. */
struct aggnet_stat {
	char name[AGGNET_STAT_LEN];
	uint64_t value;
};

/** aggnet_incast_id - the incast ID of a job and a receiver's identity. */
static inline uint64_t aggnet_incast_id(uint32_t job, struct in_addr receiver)
{
	return (uint64_t)job << 32 | ntohl(receiver.s_addr);
}

/** aggnet_incast_job - the job of an incast ID. */
static inline uint32_t aggnet_incast_job(uint64_t incast_id)
{
	return (uint32_t)(incast_id >> 32);
}

/** aggnet_incast_receiver - the receiver's identity of an incast ID. */
static inline struct in_addr aggnet_incast_receiver(uint64_t incast_id)
{
	return (struct in_addr){ htonl((uint32_t)incast_id) };
}

/* ---------------------------------------------------------------- handle */

/** struct aggnet_ctl - a handle of a namespace; the library allocates it. */
struct aggnet_ctl;

/**
 * aggnet_ctl_open() - open a handle of the caller's network namespace
 * @ctl: the handle; set on failure, too, unless memory is short, for
 *	aggnet_ctl_error()
 *
 * Return: 0, -ENOENT if the module is not loaded, or another negative errno.
 */
int aggnet_ctl_open(struct aggnet_ctl **ctl);
void aggnet_ctl_close(struct aggnet_ctl *ctl);

/** aggnet_ctl_error() - why the last call on a handle failed, a sentence. */
const char *aggnet_ctl_error(const struct aggnet_ctl *ctl);

/* ----------------------------------------------------------------- nouns */

/*
 * The node of the namespace. A request changes what @has of @node names, and
 * only that.
 */
int aggnet_node_get(struct aggnet_ctl *ctl, struct aggnet_node_info *node);
int aggnet_node_set(struct aggnet_ctl *ctl,
		    const struct aggnet_node_info *node);

/* A list is one consistent view. The caller frees it with free(). */
int aggnet_port_list(struct aggnet_ctl *ctl, struct aggnet_port_info **list,
		     size_t *n);
int aggnet_port_add(struct aggnet_ctl *ctl,
		    const struct aggnet_port_info *port);
int aggnet_port_del(struct aggnet_ctl *ctl, uint32_t ifindex);

/*
 * Links are found by port and neighbour. The caller frees the list with
 * free().
 */
int aggnet_link_list(struct aggnet_ctl *ctl, struct aggnet_link_info **list,
		     size_t *n);
int aggnet_link_add(struct aggnet_ctl *ctl,
		    const struct aggnet_link_info *link);
int aggnet_link_del(struct aggnet_ctl *ctl,
		    const struct aggnet_link_info *link);

/*
 * Entries. aggnet_tree_list_free() frees a list, aggnet_tree_clear() the lists of
 * addresses in an answer.
 */
int aggnet_tree_list(struct aggnet_ctl *ctl, struct aggnet_tree_info **list,
		     size_t *n);
void aggnet_tree_list_free(struct aggnet_tree_info *list, size_t n);
int aggnet_tree_get(struct aggnet_ctl *ctl, uint64_t incast_id,
		    struct aggnet_tree_info *tree);
void aggnet_tree_clear(struct aggnet_tree_info *tree);

/**
 * aggnet_tree_add() - add an entry
 * @ctl: handle
 * @tree: the entry
 * @replace: it may replace an entry of an older epoch
 */
int aggnet_tree_add(struct aggnet_ctl *ctl,
		    const struct aggnet_tree_info *tree, bool replace);
int aggnet_tree_del(struct aggnet_ctl *ctl, uint64_t incast_id);

/**
 * aggnet_tree_del_epoch() - delete an entry, unless another one has replaced it
 * @ctl: handle
 * @tree: incast ID, instance, attempt, and the plan if the entry has one
 *
 * Return: 0; -ESTALE if an entry of another epoch or plan is in force; or
 * another negative errno
 */
int aggnet_tree_del_epoch(struct aggnet_ctl *ctl,
			  const struct aggnet_tree_info *tree);

/**
 * aggnet_stripe_elements() - elements of a dense vector that a stripe carries
 * @whole: function, type and layout, and the elements of the whole vector
 * @stripe: number of the stripe, from 0; less than @stripes
 * @stripes: how many there are
 *
 * A vector consists of blocks of 13 elements, of one element if the function is a sum
 * or average of reals. Block i belongs to stripe i mod @stripes.
 *
 * Return: elements of the stripe's blocks; 0: the vector has fewer blocks than stripes,
 * or @stripes is 0
 */
uint64_t aggnet_stripe_elements(const struct aggnet_tree_info *whole,
				unsigned int stripe, unsigned int stripes);

/**
 * aggnet_tree_fault - check the function of an entry and the type of its values
 * @tree: the entry; members that are not set are 0
 *
 * Return: what is wrong, NULL if the function supports these values.
 */
const char *aggnet_tree_fault(const struct aggnet_tree_info *tree);

/* Counters of the namespace. The caller frees the list with free(). */
int aggnet_stats_list(struct aggnet_ctl *ctl, struct aggnet_stat **list,
		      size_t *n);

/* ------------------------------------------------------------------ plan */

/*
 * Between begin and commit the additions and deletions of links and trees on
 * this handle are only checked and staged. commit puts all of them in force, or
 * none if one was refused. Closing the handle drops staged ones.
 */
int aggnet_plan_begin(struct aggnet_ctl *ctl);
int aggnet_plan_commit(struct aggnet_ctl *ctl);
int aggnet_plan_drop(struct aggnet_ctl *ctl);

/* ---------------------------------------------------------------- events */

/**
 * aggnet_events_join() - let the kernel send the namespace's events to the
 * handle.
 */
int aggnet_events_join(struct aggnet_ctl *ctl);

/**
 * aggnet_events_fd() - descriptor that is readable when there is an event
 * @ctl: handle
 *
 * It may be readable without an event. A program that polls sets O_NONBLOCK:
 * aggnet_events_next() then returns -EAGAIN and never waits.
 *
 * Return: the descriptor, or -ENOTCONN: the handle has not joined
 */
int aggnet_events_fd(const struct aggnet_ctl *ctl);

/**
 * aggnet_events_next() - wait for the next event
 * @ctl: handle, joined
 * @event: the event; aggnet_event_clear() frees its memory
 *
 * Messages that are not from the kernel are dropped.
 *
 * Return: 0; -EINTR after a signal; -ENOTCONN: the handle has not joined;
 * -ENOBUFS if events came faster than they were read, if the kernel had no
 * memory for one, or if one is longer than this library accepts: all events so
 * far are lost, and a dump from now on returns the state; -EAGAIN if there is
 * none and the descriptor does not block (O_NONBLOCK); another negative errno.
 */
int aggnet_events_next(struct aggnet_ctl *ctl,
		       struct aggnet_event_info *event);
void aggnet_event_clear(struct aggnet_event_info *event);

/* ---------------------------------------------------------------- fields */

/** enum aggnet_field_kind - types of members of infos */
enum aggnet_field_kind {
	AGGNET_FIELD_U8,
	AGGNET_FIELD_U32,
	AGGNET_FIELD_U64,
	AGGNET_FIELD_ENUM,	/* uint8_t, named by @names */
	AGGNET_FIELD_ADDR,	/* struct in_addr */
	AGGNET_FIELD_ADDRS,	/* struct aggnet_addrs */
	AGGNET_FIELD_STRING,	/* char[@size] */
	AGGNET_FIELD_BYTES,	/* uint8_t[@size] */
	AGGNET_FIELD_FLAG,	/* bool */
	AGGNET_FIELD_BLOB,	/* struct aggnet_blob */
	AGGNET_FIELD_U16,
	AGGNET_FIELD_COUNTS,	/* uint32_t for each of @names, of which [0] is none */
};

/**
 * struct aggnet_field - one attribute of a noun
 * @name: the attribute's name in the ABI, in lower case
 * @attr: attribute number
 * @kind: type of the member
 * @answer: only answers have it, requests do not
 * @offset: of the member in the noun's info
 * @size: of the member
 * @names: of an enumeration's values, from 0, NULL-terminated
 */
struct aggnet_field {
	const char *name;
	uint16_t attr;
	uint8_t kind;
	bool answer;
	size_t offset;
	size_t size;
	const char * const *names;
};

/**
 * struct aggnet_noun - all attributes of a noun, for programs that print or
 *	parse them by name
 * @name: node, port, link, tree or event
 * @field: the attributes, in the order of the ABI
 * @n: how many
 * @size: of the noun's info
 */
struct aggnet_noun {
	const char *name;
	const struct aggnet_field *field;
	size_t n;
	size_t size;
};

/* The nouns that there are. */
extern const struct aggnet_noun aggnet_noun_node;
extern const struct aggnet_noun aggnet_noun_port;
extern const struct aggnet_noun aggnet_noun_link;
extern const struct aggnet_noun aggnet_noun_tree;
extern const struct aggnet_noun aggnet_noun_event;

/** aggnet_field_find - the field with a name, NULL if there is none. */
const struct aggnet_field *aggnet_field_find(const struct aggnet_noun *noun,
					     const char *name);

/* Names of enumerations, NULL-terminated, from 0. */
extern const char * const aggnet_role_names[];
extern const char * const aggnet_transit_names[];
extern const char * const aggnet_function_names[];
extern const char * const aggnet_vtype_names[];
extern const char * const aggnet_layout_names[];
extern const char * const aggnet_scheme_names[];
extern const char * const aggnet_state_names[];
extern const char * const aggnet_reason_names[];
extern const char * const aggnet_fallback_names[];
extern const char * const aggnet_event_names[];

/** aggnet_enum_find - the value with a name, -1 if there is none. */
int aggnet_enum_find(const char * const *names, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* AGGNET_H */
