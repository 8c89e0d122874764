// SPDX-License-Identifier: GPL-2.0
/* libaggnet with a simulated node, as a shared library that the tests of the Python
 * package load in place of the real one.
 */
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

static int fake_poll(struct pollfd *fds, nfds_t n, int timeout);
#define poll		fake_poll
#include "fake_node.h"
/* Of groups only those of one rank work here; waiting for others is simulated below. */
#define aggnet_coll_test	coll_test
#define aggnet_coll_poll	coll_poll
#define aggnet_coll_timeout	coll_timeout
#include "../../tools/libaggnet/agree.c"
#include "../../tools/libaggnet/coll.c"
#include "../../tools/libaggnet/element.c"
#include "../../tools/libaggnet/group.c"
#include "../../tools/libaggnet/group_down.c"
#include "../../tools/libaggnet/group_parts.c"
#include "../../tools/libaggnet/group_up.c"
#include "../../tools/libaggnet/layout.c"
#include "../../tools/libaggnet/spec_gen.c"
#undef aggnet_coll_test
#undef aggnet_coll_poll
#undef aggnet_coll_timeout

#define WAITS_MAX	1000

static unsigned int held;		/* messages that come when the library waits */
static unsigned int interrupts;
static int interrupt;			/* the signal */
static unsigned int waits;
static bool gated;
static sem_t gate, entered;
static unsigned int coll_waits_left;
static int coll_error;

/* The library waits: what it waits for comes, unless a signal does. */
static int fake_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (gated) {
		gated = false;
		sem_post(&entered);
		sem_wait(&gate);
	}
	if (interrupts) {
		interrupts--;
		raise(interrupt);
		errno = EINTR;
		return -1;
	}
	if (waits++ > WAITS_MAX)
		abort();
	if (held)
		node.nmessages = held;
	held = 0;
	for (fake_tree = FAKE_TREES; fake_tree--;) {
		node.done = true;
		node.room = TRANSFER_MAX;
	}
	fake_tree = 0;
	return 1;
}

void fake_reset(void)
{
	memset(fake_nodes, 0, sizeof(fake_nodes));
	fake_tree = 0;
	node.room = TRANSFER_MAX;
	node.plan = 0x5a;
	held = 0;
	interrupts = 0;
	waits = 0;
	gated = false;
	sem_init(&gate, 0, 0);
	sem_init(&entered, 0, 0);
}

void fake_shape(unsigned int function, unsigned int vtype, unsigned int layout,
		unsigned int scale, unsigned int k, uint64_t elements)
{
	node.shape = (struct aggnet_shape){
		.function = function, .vtype = vtype, .layout = layout,
		.scale = scale, .k = k, .elements = elements,
	};
}

/* The job has two trees, each with the shape of the first one. */
void fake_stripes(void)
{
	fake_nodes[0].stripes = 2;
	fake_nodes[1] = fake_nodes[0];
}

void fake_kind(bool persist, bool down)
{
	node.persist = persist;
	node.down = down;
}

static void put_message(uint32_t type, uint32_t records, const void *body, size_t len)
{
	struct aggnet_msg head = { .type = type, .records = records };
	uint8_t *bytes = node.message[node.nmessages].bytes;

	if (node.nmessages == 8 || sizeof(head) + len > 512)
		abort();
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, len);
	node.message[node.nmessages++].len = sizeof(head) + len;
}

/* Bytes of a broadcast. */
void fake_bytes(const void *data, size_t len)
{
	put_message(AGGNET_MSG_RECORDS, 0, data, len);
}

void fake_end(uint32_t sources, uint64_t records, uint32_t round, uint32_t last)
{
	struct aggnet_end end = {
		.sources = sources, .of = sources, .records = records,
		.instance = 1, .attempt = node.epoch, .round = round, .last = last,
	};

	put_message(AGGNET_MSG_END, 0, &end, sizeof(end));
}

/* Reading fails here: the epoch is lost with this errno. */
void fake_lost(int error)
{
	node.message[node.nmessages++].error = error;
}

/*
 * The epoch is lost with this errno when the source has sent so many bytes; 0: its end,
 * and every epoch is.
 */
void fake_lose_source(int error, size_t at)
{
	node.lost = error;
	node.lose_at = at;
}

/* What the source has sent reaches the sink, each record in a message of its own kind. */
void fake_deliver(void)
{
	const struct aggnet_shape *shape = &node.shape;
	uint8_t accum[4096] __attribute__((aligned(16)));
	struct record rec;
	uint8_t out[400];
	size_t at, size, len = 0;
	unsigned int n = 0;

	for (at = 0; at < node.len; at += size) {
		uint32_t part = 0;

		size = record_get(node.stream + at, node.len - at, &rec);
		aggnet_accum_init(shape, accum);
		aggnet_accum_merge(shape, accum, rec.value, rec.vlen, true);
		len += aggnet_accum_record(shape, accum, rec.key, rec.klen, &part,
					   out + len, sizeof(out) - len);
		n++;
		if (len < 200 && at + size < node.len)
			continue;
		put_message(AGGNET_MSG_RECORDS, n, out, len);
		n = 0;
		len = 0;
	}
}

/* A newer epoch has begun, and what was read comes once more. */
void fake_rewind(void)
{
	unsigned int i;

	for (i = node.nmessages; i; i--)
		node.message[i] = node.message[i - 1];
	memset(&node.message[0], 0, sizeof(node.message[0]));
	node.message[0].error = ESTALE;
	node.nmessages++;
	node.next = 0;
}

/* Messages come when the library waits. */
void fake_hold(void)
{
	held = node.nmessages;
	node.nmessages = 0;
}

/* Drop what was sent, and what was to be read. */
void fake_clear(void)
{
	memset(node.message, 0, sizeof(node.message));
	node.len = 0;
	node.nmessages = 0;
	node.next = 0;
	node.shut = false;
	node.done = false;
}

void fake_interrupt(int number, unsigned int times)
{
	interrupt = number;
	interrupts = times;
}

/* The next wait blocks between fake_entered() and fake_open_gate(). */
void fake_gate(void)
{
	gated = true;
}

void fake_entered(void)
{
	sem_wait(&entered);
}

void fake_open_gate(void)
{
	sem_post(&gate);
}

void fake_room(size_t room)
{
	node.room = room;
}

const void *fake_sent(size_t *len)
{
	*len = node.len;
	return node.stream;
}

unsigned int fake_aborted(void)
{
	return node.aborted;
}

/* How many rounds the source, or the root, has ended. */
unsigned int fake_rounds(void)
{
	return node.rounds;
}

/* A collective waits this often, and fails then if @err is not 0. */
void fake_coll(unsigned int n, int err)
{
	coll_waits_left = n;
	coll_error = err;
}

int aggnet_coll_test(struct aggnet_coll *c)
{
	int err = coll_error;

	if (coll_waits_left) {
		coll_waits_left--;
		return -EAGAIN;
	}
	coll_error = 0;
	if (err) {
		coll_end(c, group_fail(c->g, err, "a rank has left"));
		return err;
	}
	return coll_test(c);
}

/* Standard output never has urgent data. */
unsigned int aggnet_coll_poll(const struct aggnet_coll *c, struct pollfd *fd,
			      unsigned int n)
{
	(void)c;
	(void)n;
	fd[0] = (struct pollfd){ .fd = 1, .events = POLLPRI };
	return 1;
}

int aggnet_coll_timeout(const struct aggnet_coll *c)
{
	(void)c;
	return 1;
}

bool fake_shut(void)
{
	return node.shut;
}

bool fake_taken(void)
{
	return node.taken;
}

#define MEMBER(type, member)	\
	{ #type "." #member, offsetof(struct aggnet_##type, member), \
	  sizeof(((struct aggnet_##type *)0)->member) }
#define SIZE(type)		{ #type, 0, sizeof(struct aggnet_##type) }

/* The structures of the header, which the package declares once more. */
const struct fake_member {
	const char *name;
	size_t offset, size;
} fake_members[] = {
	SIZE(options), MEMBER(options, flags), MEMBER(options, timeout_ms),
	MEMBER(options, repair_ms), MEMBER(options, spool_dir),
	MEMBER(options, spool_max),
	SIZE(status), MEMBER(status, state), MEMBER(status, reason),
	MEMBER(status, origin), MEMBER(status, about), MEMBER(status, missing),
	MEMBER(status, function), MEMBER(status, vtype), MEMBER(status, instance),
	MEMBER(status, attempt), MEMBER(status, layout), MEMBER(status, scale),
	MEMBER(status, k), MEMBER(status, elements), MEMBER(status, names),
	MEMBER(status, name), MEMBER(status, pad), MEMBER(status, plan),
	MEMBER(status, persist), MEMBER(status, round), MEMBER(status, stripe),
	MEMBER(status, stripes), MEMBER(status, direction), MEMBER(status, pad2),
	MEMBER(status, records_in), MEMBER(status, records_out),
	MEMBER(status, packets_in), MEMBER(status, packets_out),
	MEMBER(status, bytes_in), MEMBER(status, bytes_out),
	MEMBER(status, rexmits), MEMBER(status, contributors),
	MEMBER(status, writers), MEMBER(status, channels),
	MEMBER(status, unplanned), MEMBER(status, acceptor),
	MEMBER(status, fallback_link), MEMBER(status, fallback_bloom),
	MEMBER(status, fallback_policy), MEMBER(status, fallback_round),
	MEMBER(status, partials), MEMBER(status, nunbound),
	MEMBER(status, unbound), MEMBER(status, below),
	SIZE(best), MEMBER(best, value), MEMBER(best, real), MEMBER(best, id),
	SIZE(entry), MEMBER(entry, key), MEMBER(entry, klen), MEMBER(entry, value),
	MEMBER(entry, real), MEMBER(entry, count), MEMBER(entry, best),
	MEMBER(entry, n), MEMBER(entry, offset),
	SIZE(result), MEMBER(result, sources), MEMBER(result, of),
	MEMBER(result, partials), MEMBER(result, absent), MEMBER(result, records),
	MEMBER(result, keys), MEMBER(result, instance), MEMBER(result, attempt),
	MEMBER(result, plan), MEMBER(result, round), MEMBER(result, last),
	SIZE(group_conf), MEMBER(group_conf, root), MEMBER(group_conf, up),
	MEMBER(group_conf, down), MEMBER(group_conf, rank), MEMBER(group_conf, ranks),
	MEMBER(group_conf, function), MEMBER(group_conf, vtype),
	MEMBER(group_conf, timeout_ms), MEMBER(group_conf, flags),
	MEMBER(group_conf, reserved),
	{ NULL, 0, 0 },
};

/* As the lists of names in the package. */
const unsigned int fake_last[] = {
	AGGNET_FN_NEAREST, AGGNET_VTYPE_FLOAT64, AGGNET_LAYOUT_BYTES, AGGNET_R_USER,
	AGGNET_OPT_REPLAY, AGGNET_OPT_NO_REPLAY, AGGNET_SEND_MAX, AGGNET_KEY_MAX,
	AGGNET_COLL_FDS, AGGNET_COLL_ALLREDUCE,
};
