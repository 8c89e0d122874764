/* SPDX-License-Identifier: GPL-2.0 */
/* The node under libaggnet's sources and sinks, simulated by the test: the
 * files of the library, included here, make their socket calls to it.
 */
#ifndef FAKE_NODE_H
#define FAKE_NODE_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "core/accum.h"
#include "core/fingerprint.h"
#include "core/record.h"
#include "core/vector.h"
#include "open_fds.h"

#define TRANSFER_MAX	(1 << 22)

/**
 * struct fake_node - what the socket calls of the library reach
 * @stripes: trees of the job, 0: one. Each is a struct fake_node
 * @shape: of its values; keyed sums of integers unless the test sets it
 * @errors: what the next joins return; 0 ends the list
 * @hidden: errno of look-ups before the first join, 0: they succeed
 * @joined: how many joins were tried
 * @epoch: joins that succeeded
 * @instance: of the entry; 0: 1
 * @plan: first byte of the ID of the entry's plan
 * @swap: the entry gets this instance after a look-up; 0: it keeps its own
 * @only: the only epoch that the socket may join
 * @expects: @only is set
 * @stream: what was sent in this epoch
 * @len: bytes of it
 * @room: bytes that send() takes before it returns EAGAIN
 * @lose_at: when the stream of this epoch has this length, the epoch is lost
 * @lost: errno of that, reported once; without @lose_at, after shutdown. ENOMEM: only
 *	the call fails
 * @shut: the source has shut down
 * @persist: of the entry
 * @down: the entry is of a broadcast: bytes go from the root, which binds, to members
 * @eor: the source has ended a round, whose outcome it does not have
 * @rounds: how many it has ended
 * @done: recv() then returns 0
 * @message: what the sink reads
 * @nmessages: how many there are
 * @next: the next one
 * @taken: the end mark was taken
 * @no_random: errno of getrandom(), 0: it succeeds
 * @aborted: reason of the application's abort
 * @check: what AGGNET_SO_CHECK gives, with a key that differs between epochs
 * @given: the fingerprint that a source gave
 * @gave: how often one did
 * @status: the result of AGGNET_SO_STATUS; of a look-up, too, if it is that of an
 *	entry that has ended before the first join
 */
struct fake_node {
	unsigned int stripes;
	struct aggnet_shape shape;
	int errors[8];
	int hidden;
	unsigned int joined;
	unsigned int epoch;
	uint32_t instance;
	uint8_t plan;
	uint32_t swap;
	struct aggnet_epoch only;
	bool expects;
	uint8_t stream[TRANSFER_MAX];
	size_t len;
	size_t room;
	size_t lose_at;
	int lost;
	bool shut;
	bool eor;
	unsigned int rounds;
	bool persist;
	bool down;
	bool done;
	struct {
		int error;
		size_t len;
		uint8_t bytes[512];
	} message[8];
	unsigned int nmessages;
	unsigned int next;
	bool taken;
	int no_random;
	uint32_t aborted;
	struct aggnet_check check;
	uint64_t given;
	unsigned int gave;
	struct aggnet_status status;
};

#define FAKE_JOB	7u	/* of the first tree */
#define FAKE_TREES	3
#define FAKE_FDS	256

static struct fake_node fake_nodes[FAKE_TREES];
static unsigned int fake_tree;		/* that is looked at */
static unsigned int fake_of[FAKE_FDS];	/* tree of a socket that has joined */

#define node		fake_nodes[fake_tree]

static void fake_look_at(uint32_t job)
{
	fake_tree = job - FAKE_JOB < FAKE_TREES ? job - FAKE_JOB : 0;
}

static int fake_fail(int err)
{
	errno = err;
	return -1;
}

static ssize_t fake_getrandom(void *buf, size_t len, unsigned int flags)
{
	return node.no_random ? fake_fail(node.no_random) :
				getrandom(buf, len, flags);
}

static int fake_socket(int domain, int type, int protocol)
{
	if (domain != AF_INET || (type & 0xf) != SOCK_RDM ||
	    protocol != IPPROTO_AGGNET)
		return fake_fail(EPROTONOSUPPORT);
	return eventfd(1, EFD_CLOEXEC);
}

/* The status of the entry in force. */
static struct aggnet_status fake_entry(void)
{
	return (struct aggnet_status) {
		.function = node.shape.function, .vtype = node.shape.vtype,
		.layout = node.shape.layout, .scale = node.shape.scale,
		.k = node.shape.k, .elements = node.shape.elements,
		.instance = node.instance ?: 1, .attempt = node.epoch,
		.plan = { node.plan },
		.persist = node.persist,
		.direction = node.down ? AGGNET_DIR_DOWN : 0,
		.stripes = node.stripes, .stripe = node.stripes ? fake_tree : 0,
	};
}

static int fake_join(int fd, const struct sockaddr *addr, socklen_t len)
{
	const struct sockaddr_aggnet *to = (const void *)addr;
	struct aggnet_status entry;
	int err;

	fake_look_at(to->sag_job);
	fake_of[fd] = fake_tree;
	entry = fake_entry();
	err = node.errors[node.joined++];
	if (!err && node.expects && (entry.instance != node.only.instance ||
				     entry.attempt != node.only.attempt))
		err = ESTALE;
	node.expects = false;
	if (err)
		return fake_fail(err);
	node.epoch++;
	node.status = entry;
	node.status.attempt = node.epoch;
	node.len = 0;
	node.shut = false;
	node.eor = false;
	return 0;
}

static int fake_lose(int err)
{
	if (err == ENOMEM)
		return fake_fail(err);
	node.status.reason = err == ESTALE ? AGGNET_R_STALE : AGGNET_R_TIMEOUT;
	node.status.origin = htonl(0x0a000003);
	node.status.missing = 2;
	return fake_fail(err);
}

static ssize_t fake_send(int fd, const void *buf, size_t len, int flags)
{
	size_t take;
	int lost;

	fake_tree = fake_of[fd];
	if (flags & MSG_EOR && !len && !node.eor) {
		node.eor = true;
		node.rounds++;
		return 0;
	}
	take = len < node.room ? len : node.room;
	lost = node.lost;
	if (node.lose_at && node.len >= node.lose_at) {
		node.lose_at = 0;
		node.lost = 0;
		return fake_lose(lost);
	}
	if (node.lost == ENOMEM) {
		node.lost = 0;
		return fake_fail(ENOMEM);
	}
	while (!node.down &&
	       aggnet_parse_records(&node.shape, true, buf, take, UINT_MAX) < 0)
		take--;
	if (!take)
		return fake_fail(EAGAIN);
	if (!(flags & MSG_NOSIGNAL) || node.len + take > TRANSFER_MAX)
		return fake_fail(EINVAL);
	memcpy(node.stream + node.len, buf, take);
	node.len += take;
	node.room -= take;
	return take;
}

static int fake_shutdown(int fd, int how)
{
	fake_tree = fake_of[fd];
	if (how != SHUT_WR)
		return fake_fail(EOPNOTSUPP);
	node.shut = true;
	return 0;
}

static ssize_t fake_recv(int fd, void *buf, size_t len, int flags)
{
	const struct aggnet_msg *head;

	fake_tree = fake_of[fd];
	if (!node.nmessages && node.eor) {
		int lost = node.lost;

		node.eor = !node.done;
		node.lost = 0;
		if (lost)
			return fake_lose(lost);
		return node.done ? 0 : fake_fail(EAGAIN);
	}
	if (!node.nmessages) {
		if (node.shut && node.lost && !node.lose_at)
			return fake_lose(node.lost);
		return node.shut && node.done ? 0 : fake_fail(EAGAIN);
	}
	if (node.next == node.nmessages)
		return fake_fail(EAGAIN);
	if (node.message[node.next].error)
		return fake_lose(node.message[node.next++].error);
	head = (const void *)node.message[node.next].bytes;
	if (flags & MSG_PEEK && head->type != AGGNET_MSG_END && !node.down)
		return fake_fail(EOPNOTSUPP);
	memcpy(buf, head, node.message[node.next].len);
	len = node.message[node.next].len;
	if (!(flags & MSG_PEEK)) {
		node.taken = head->type == AGGNET_MSG_END;
		node.next++;
	}
	return len;
}

static int fake_lookup(struct aggnet_lookup *look)
{
	int err;

	fake_look_at(look->addr.sag_job);
	err = node.joined ? node.errors[node.joined] : node.hidden;
	if (err) {
		node.joined += node.joined > 0;
		return fake_fail(err);
	}
	look->status = fake_entry();
	if (!node.joined && (node.status.reason || node.status.state))
		look->status = node.status;
	if (node.joined)
		node.instance = node.swap ?: node.instance;
	return 0;
}

static struct aggnet_check fake_check(void)
{
	struct aggnet_check check = node.check;

	check.kind = aggnet_fp_kind(&node.shape);
	check.key[0] = node.epoch;
	check.key[1] = 7;
	return check;
}

static int fake_getsockopt(int fd, int level, int name, void *val,
			   socklen_t *len)
{
	struct aggnet_check check;

	if (level == SOL_AGGNET && name == AGGNET_SO_LOOKUP)
		return fake_lookup(val);
	fake_tree = fake_of[fd];
	check = fake_check();
	if (level == SOL_AGGNET && name == AGGNET_SO_CHECK) {
		memcpy(val, &check, sizeof(check));
		*len = sizeof(check);
		return 0;
	}
	if (level != SOL_AGGNET || name != AGGNET_SO_STATUS)
		return fake_fail(ENOPROTOOPT);
	memcpy(val, &node.status, sizeof(node.status));
	*len = sizeof(node.status);
	return 0;
}

static int fake_setsockopt(int fd, int level, int name, const void *val,
			   socklen_t len)
{
	if (level == SOL_AGGNET && name == AGGNET_SO_EPOCH) {
		memcpy(&node.only, val, sizeof(node.only));
		node.expects = true;
		return 0;
	}
	fake_tree = fake_of[fd];
	if (level == SOL_AGGNET && name == AGGNET_SO_CHECK) {
		memcpy(&node.given, val, sizeof(node.given));
		node.gave++;
		return node.shut ? fake_fail(EPIPE) : 0;
	}
	if (level != SOL_AGGNET || name != AGGNET_SO_ABORT)
		return fake_fail(ENOPROTOOPT);
	memcpy(&node.aborted, val, sizeof(node.aborted));
	return 0;
}

#define socket		fake_socket
#define bind		fake_join
#define connect		fake_join
#define send		fake_send
#define recv		fake_recv
#define shutdown	fake_shutdown
#define getsockopt	fake_getsockopt
#define setsockopt	fake_setsockopt
#define getrandom	fake_getrandom

#include "../../tools/libaggnet/cast.c"
#include "../../tools/libaggnet/conn.c"
#include "../../tools/libaggnet/crc32c.c"
#include "../../tools/libaggnet/fingerprint.c"
#include "../../tools/libaggnet/lines.c"
#include "../../tools/libaggnet/merge.c"
#include "../../tools/libaggnet/reason.c"
#include "../../tools/libaggnet/record.c"
#include "../../tools/libaggnet/result.c"
#include "../../tools/libaggnet/round.c"
#include "../../tools/libaggnet/sink.c"
#include "../../tools/libaggnet/source.c"
#include "../../tools/libaggnet/stream.c"
#include "../../tools/libaggnet/striped_sink.c"
#include "../../tools/libaggnet/striped_source.c"
#include "../../tools/libaggnet/stripes.c"

#endif /* FAKE_NODE_H */
