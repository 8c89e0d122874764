// SPDX-License-Identifier: GPL-2.0
/* The data part of libaggnet: records, the last merge, reasons; and sources
 * and sinks above a socket that this file plays.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "codec.h"
#include "state.h"

static const struct aggnet_shape plain = { .function = AGGNET_FN_SUM };

#define TRANSFER_MAX	(1 << 22)

/**
 * struct fake_node - what the socket calls of the library reach
 * @errors: what the next joins return, 0 ends the list
 * @joined: how many joins were tried
 * @epoch: joins that succeeded
 * @stream: what was sent in this epoch
 * @len: bytes of it
 * @room: bytes that send() takes before it says EAGAIN
 * @lose_at: when the stream of this epoch is so long, the epoch is lost
 * @lost: errno with which it is, once; without @lose_at, after shutdown
 * @shut: the source has shut down
 * @done: then recv() says so
 * @message: what the sink reads
 * @nmessages: how many there are
 * @next: the next one
 * @taken: the end mark was taken
 * @aborted: reason of the application's abort
 * @status: what AGGNET_SO_STATUS gives
 */
static struct fake_node {
	int errors[8];
	unsigned int joined;
	unsigned int epoch;
	uint8_t stream[TRANSFER_MAX];
	size_t len;
	size_t room;
	size_t lose_at;
	int lost;
	bool shut;
	bool done;
	struct {
		int error;
		size_t len;
		uint8_t bytes[512];
	} message[8];
	unsigned int nmessages;
	unsigned int next;
	bool taken;
	uint32_t aborted;
	struct aggnet_status status;
} node;

static int fake_fail(int err)
{
	errno = err;
	return -1;
}

static int fake_socket(int domain, int type, int protocol)
{
	if (domain != AF_INET || (type & 0xf) != SOCK_RDM ||
	    protocol != IPPROTO_AGGNET)
		return fake_fail(EPROTONOSUPPORT);
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int fake_join(int fd, const struct sockaddr *addr, socklen_t len)
{
	int err = node.errors[node.joined++];

	if (err)
		return fake_fail(err);
	memset(&node.status, 0, sizeof(node.status));
	node.status.instance = ++node.epoch;
	node.len = 0;
	node.shut = false;
	return 0;
}

static int fake_lose(int err)
{
	node.status.reason = err == ESTALE ? AGGNET_R_STALE : AGGNET_R_TIMEOUT;
	node.status.origin = htonl(0x0a000003);
	node.status.missing = 2;
	return fake_fail(err);
}

static ssize_t fake_send(int fd, const void *buf, size_t len, int flags)
{
	size_t take = len < node.room ? len : node.room;
	int lost = node.lost;

	if (node.lose_at && node.len >= node.lose_at) {
		node.lose_at = 0;
		node.lost = 0;
		return fake_lose(lost);
	}
	while (aggnet_parse_records(&plain, true, buf, take, UINT_MAX) < 0)
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
	if (how != SHUT_WR)
		return fake_fail(EOPNOTSUPP);
	node.shut = true;
	return 0;
}

static ssize_t fake_recv(int fd, void *buf, size_t len, int flags)
{
	const struct aggnet_msg *head;

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
	if (flags & MSG_PEEK && head->type != AGGNET_MSG_END)
		return fake_fail(EOPNOTSUPP);
	memcpy(buf, head, node.message[node.next].len);
	len = node.message[node.next].len;
	if (!(flags & MSG_PEEK)) {
		node.taken = head->type == AGGNET_MSG_END;
		node.next++;
	}
	return len;
}

static int fake_getsockopt(int fd, int level, int name, void *val,
			   socklen_t *len)
{
	if (level != SOL_AGGNET || name != AGGNET_SO_STATUS)
		return fake_fail(ENOPROTOOPT);
	memcpy(val, &node.status, sizeof(node.status));
	*len = sizeof(node.status);
	return 0;
}

static int fake_setsockopt(int fd, int level, int name, const void *val,
			   socklen_t len)
{
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

#include "../../tools/libaggnet/record.c"
#include "../../tools/libaggnet/merge.c"
#include "../../tools/libaggnet/round.c"
#include "../../tools/libaggnet/result.c"
#include "../../tools/libaggnet/reason.c"
#include "../../tools/libaggnet/conn.c"
#include "../../tools/libaggnet/source.c"
#include "../../tools/libaggnet/sink.c"

/* --- records -------------------------------------------------------------- */

static const int64_t values[] = {
	0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769,
	1LL << 40, -(1LL << 40), INT64_MAX, INT64_MIN, INT64_MIN + 1,
};

TEST(record_put__is_what_the_module_parses)
{
	uint8_t buf[AGGNET_RECORD_MAX], key[AGGNET_KEY_MAX];
	struct aggnet_value expected;
	struct aggnet_record rec;
	size_t i, klen, len;

	memset(key, 'k', sizeof(key));
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		for (klen = 1; klen <= AGGNET_KEY_MAX; klen += 127) {
			len = record_put(buf, key, klen, values[i]);
			ASSERT_EQ(1, aggnet_parse_records(&plain, true, buf,
							  len, 1));
			expected = aggnet_value_s64(values[i]);
			EXPECT_EQ(aggnet_record_size(klen, &expected), len);
			ASSERT_EQ(len, aggnet_record_get(buf, &rec));
			EXPECT_EQ(klen, rec.klen);
			EXPECT_EQ(0, memcmp(key, rec.key, klen));
			EXPECT_EQ(expected.lo, rec.value.lo);
			EXPECT_EQ(expected.hi, rec.value.hi);
		}
	}
}

TEST(record_get__reads_what_the_module_writes)
{
	const struct aggnet_value wide[] = {
		{ 0, 1 }, { ~0ULL, 0 }, { 0, ~0ULL }, { 1, 1ULL << 63 },
		{ ~0ULL, ~0ULL >> 1 }, { 5, 0 }, { 0x8000, 0 }, { 0, 0 },
	};
	uint8_t buf[AGGNET_RECORD_MAX];
	struct record rec;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(wide); i++) {
		len = aggnet_record_put(buf, (const u8 *)"ab", 2, &wide[i]);
		ASSERT_EQ(len, record_get(buf, len, &rec));
		EXPECT_EQ(0, memcmp(rec.key, "ab", 2));
		EXPECT_EQ(2, rec.klen);
		EXPECT_EQ(buf + 4, rec.value);
		EXPECT_EQ(len - 4, rec.vlen);
	}
}

TEST(record_get__refuses)
{
	const uint8_t short_head[] = { 1 };
	const uint8_t no_key[] = { 0, 1, 1 };
	const uint8_t long_value[300] = { 1, AGGNET_VALUE_MAX + 1, 'k' };
	const uint8_t cut[] = { 3, 1, 'a', 'b', 'c' };
	struct record rec;

	EXPECT_EQ(0, record_get(short_head, 0, &rec));
	EXPECT_EQ(0, record_get(short_head, sizeof(short_head), &rec));
	EXPECT_EQ(0, record_get(no_key, sizeof(no_key), &rec));
	EXPECT_EQ(0, record_get(long_value, sizeof(long_value), &rec));
	EXPECT_EQ(0, record_get(cut, sizeof(cut), &rec));
}

/* --- merge ---------------------------------------------------------------- */

static const struct merge_entry *find(const struct merge *m, const char *key)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->entry[i].klen == strlen(key) &&
		    !memcmp(m->entry[i].key, key, strlen(key)))
			return &m->entry[i];
	return NULL;
}

static int add(struct merge *m, unsigned int function, const char *key,
	       __int128 value)
{
	const struct aggnet_value v = {
		.lo = (uint64_t)value, .hi = (uint64_t)(value >> 64),
	};
	uint8_t bytes[AGGNET_PLAIN_MAX];

	m->shape.function = function;
	return merge_add(m, key, strlen(key), bytes,
			 aggnet_plain_put(bytes, &v));
}

TEST(merge_add__functions)
{
	const struct {
		unsigned int function;
		int64_t expected;
	} cases[] = {
		{ AGGNET_FN_SUM, 4 }, { AGGNET_FN_COUNT, 4 },
		{ AGGNET_FN_MIN, -5 }, { AGGNET_FN_MAX, 7 },
	};
	struct merge m = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, add(&m, cases[i].function, "a", 2));
		ASSERT_EQ(0, add(&m, cases[i].function, "a", -5));
		ASSERT_EQ(0, add(&m, cases[i].function, "a", 7));
		ASSERT_EQ(0, add(&m, cases[i].function, "b", -1));
		ASSERT_EQ(2, m.n);
		EXPECT_EQ(cases[i].expected, (int64_t)find(&m, "a")->value.lo);
		EXPECT_EQ(-1, (int64_t)find(&m, "b")->value.lo);
		merge_free(&m);
	}
}

TEST(merge_add__agrees_with_an_array)
{
	enum { KEYS = 5000, ROUNDS = 60000 };
	static int64_t expected[KEYS];
	unsigned int seed = 20, i, at;
	struct merge m = {};
	char key[16];

	TH_LOG("seed %u", seed);
	srand(seed);
	for (i = 0; i < ROUNDS; i++) {
		int64_t value = rand() - RAND_MAX / 2;

		at = rand() % KEYS;
		snprintf(key, sizeof(key), "key %u", at);
		expected[at] += value;
		ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, key, value));
	}
	merge_sort(&m);
	for (i = 1; i < m.n; i++)
		ASSERT_LT(merge_compare(&m.entry[i - 1], &m.entry[i]), 0);
	for (i = 0; i < m.n; i++) {
		ASSERT_EQ(1, sscanf((const char *)m.entry[i].key, "key %u",
				    &at));
		ASSERT_EQ(expected[at], (int64_t)m.entry[i].value.lo);
		expected[at] = 0;
	}
	for (i = 0; i < KEYS; i++)
		ASSERT_EQ(0, expected[i]);
	merge_free(&m);
}

TEST(merge_add__refuses_what_is_no_value)
{
	uint8_t bytes[AGGNET_VALUE_MAX] = { 9 };
	struct merge m = {};

	EXPECT_EQ(-EBADMSG, merge_add(&m, "k", 1, bytes, 17));
	m.shape.function = AGGNET_FN_AVERAGE;
	EXPECT_EQ(-EBADMSG, merge_add(&m, "k", 1, bytes, 0));
	EXPECT_EQ(-EBADMSG, merge_add(&m, "k", 1, bytes, 12));
	EXPECT_EQ(0, m.n);
	merge_free(&m);
}

TEST(merge_add__keys_may_hold_any_byte)
{
	const uint8_t one[] = { 1 };
	struct merge m = {};

	ASSERT_EQ(0, merge_add(&m, "a\0b", 3, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a\0c", 3, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a", 1, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a\0", 2, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a\0b", 3, one, 1));
	EXPECT_EQ(4, m.n);
	EXPECT_EQ(2, (int64_t)m.entry[0].value.lo);
	merge_free(&m);
}

TEST(result_overflow__in_any_order)
{
	struct merge m = {};

	EXPECT_EQ(NULL, result_overflow(&m));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "fine", INT64_MIN));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "big", INT64_MAX));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "big", INT64_MAX));
	ASSERT_NE(NULL, result_overflow(&m));
	EXPECT_EQ(0, memcmp("big", result_overflow(&m)->key, 3));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "big", INT64_MIN));
	EXPECT_EQ(NULL, result_overflow(&m));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "fine", -1));
	ASSERT_NE(NULL, result_overflow(&m));
	EXPECT_EQ(0, memcmp("fine", result_overflow(&m)->key, 4));
	merge_free(&m);
}

/* --- reasons -------------------------------------------------------------- */

TEST(status_text__names_the_node)
{
	struct aggnet_status st = {
		.reason = AGGNET_R_TIMEOUT,
		.origin = htonl(0x0a000003),
		.about = htonl(0x0a000003),
		.missing = 2,
	};
	char buf[AGGNET_TEXT_MAX], tiny[10];

	EXPECT_STREQ("timed out at 10.0.0.3: 2 sources missing",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	st.missing = 1;
	st.about = htonl(0x0a000104);
	EXPECT_STREQ("timed out at 10.0.0.3, because of 10.0.1.4: "
		     "1 source missing",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	st.names = 2;
	st.name[0] = st.about;
	st.name[1] = htonl(0x0a000105);
	EXPECT_STREQ("timed out at 10.0.0.3, because of 10.0.1.4: "
		     "1 source missing, not here: 10.0.1.4, 10.0.1.5",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	EXPECT_STREQ("timed out", aggnet_status_text(&st, tiny, sizeof(tiny)));
	st = (struct aggnet_status){
		.reason = AGGNET_R_TIMEOUT,
		.origin = htonl(0x0a000003),
		.about = htonl(0x0a000003),
	};
	EXPECT_STREQ("timed out at 10.0.0.3, where a local process never came",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	st = (struct aggnet_status){ .reason = 200 };
	EXPECT_STREQ("unknown reason",
		     aggnet_status_text(&st, buf, sizeof(buf)));
}

TEST(reason__each_has_an_errno_and_a_text)
{
	unsigned int r;

	EXPECT_EQ(0, aggnet_reason_errno(AGGNET_R_NONE));
	for (r = 1; r < __AGGNET_R_MAX; r++) {
		EXPECT_LT(aggnet_reason_errno(r), 0);
		EXPECT_NE(NULL, aggnet_reason_text(r));
	}
	EXPECT_EQ(-EOVERFLOW, aggnet_reason_errno(AGGNET_R_OVERFLOW));
	EXPECT_EQ(-EPROTO, aggnet_reason_errno(__AGGNET_R_MAX));
}

/* --- source --------------------------------------------------------------- */

FIXTURE(source) {
	struct aggnet_source *s;
	struct in_addr receiver;
	struct aggnet_options opt;
};

FIXTURE_SETUP(source)
{
	memset(&node, 0, sizeof(node));
	node.room = SIZE_MAX;
	node.done = true;
	self->receiver.s_addr = htonl(0x0a000001);
	self->s = NULL;
	memset(&self->opt, 0, sizeof(self->opt));
}

FIXTURE_TEARDOWN(source)
{
	aggnet_source_close(self->s);
}

static int add_numbered(struct aggnet_source *s, unsigned int from,
			unsigned int to)
{
	char key[16];
	int err = 0;

	for (; !err && from < to; from++) {
		snprintf(key, sizeof(key), "%08u", from);
		err = aggnet_source_add(s, key, 8, from);
	}
	return err;
}

/* The stream holds the records 0..n-1, once each, in order. */
static bool stream_holds(unsigned int n)
{
	struct record rec;
	size_t off = 0, len;
	unsigned int i;
	char key[16];

	for (i = 0; i < n; i++, off += len) {
		len = record_get(node.stream + off, node.len - off, &rec);
		snprintf(key, sizeof(key), "%08u", i);
		if (!len || aggnet_plain_get(rec.value, rec.vlen).lo != i ||
		    memcmp(rec.key, key, 8))
			return false;
	}
	return off == node.len;
}

TEST_F(source, finish__sends_all_and_waits)
{
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7, NULL));
	ASSERT_EQ(0, add_numbered(self->s, 0, 20000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(node.shut);
	EXPECT_TRUE(stream_holds(20000));
	EXPECT_EQ(20000, aggnet_source_records(self->s));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_EQ(-EPIPE, aggnet_source_add(self->s, "k", 1, 1));
}

TEST_F(source, finish__of_nothing)
{
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7, NULL));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(node.shut);
	EXPECT_EQ(0, node.len);
}

TEST_F(source, add__refuses_keys)
{
	char key[AGGNET_KEY_MAX + 1] = "";

	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7, NULL));
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, key, 0, 1));
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, key, sizeof(key), 1));
	EXPECT_STREQ("a key of 256 bytes: 1 to 255 are allowed",
		     aggnet_source_error(self->s));
	EXPECT_EQ(0, aggnet_source_add(self->s, key, AGGNET_KEY_MAX, 1));
	EXPECT_EQ(1, aggnet_source_records(self->s));
}

TEST_F(source, open__says_why_not)
{
	node.errors[0] = ENETUNREACH;
	EXPECT_EQ(-ENETUNREACH,
		  aggnet_source_open(&self->s, self->receiver, 7, NULL));
	EXPECT_STREQ("no entry for job 7 of receiver 10.0.0.1 on this node",
		     aggnet_source_error(self->s));
	EXPECT_EQ(-ENETUNREACH, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-ENETUNREACH, aggnet_source_finish(self->s));
}

TEST_F(source, newer_epoch__all_is_sent_again)
{
	const size_t points[] = { 1, 100000, 300000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		memset(&node, 0, sizeof(node));
		node.room = SIZE_MAX;
		node.done = true;
		node.lost = ESTALE;
		node.lose_at = points[i];
		node.errors[1] = ENETUNREACH;
		ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7,
						NULL));
		ASSERT_EQ(0, add_numbered(self->s, 0, 30000));
		ASSERT_EQ(0, aggnet_source_finish(self->s));
		EXPECT_EQ(3, node.joined);
		EXPECT_EQ(1, aggnet_source_replays(self->s));
		EXPECT_TRUE(stream_holds(30000));
		aggnet_source_close(self->s);
		self->s = NULL;
	}
}

TEST_F(source, newer_epoch__after_shutdown)
{
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7, NULL));
	ASSERT_EQ(0, add_numbered(self->s, 0, 10000));
	node.done = false;
	self->s->conn.opt.flags = AGGNET_OPT_NONBLOCK;
	EXPECT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	EXPECT_EQ(POLLIN, aggnet_source_events(self->s));
	node.lost = ESTALE;
	node.errors[1] = ESTALE;
	EXPECT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	EXPECT_EQ(self->s->conn.timer, aggnet_source_fd(self->s));
	node.lost = 0;
	node.done = true;
	EXPECT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(node.shut);
	EXPECT_TRUE(stream_holds(10000));
}

TEST_F(source, newer_epoch__callers_own_replay)
{
	int err;

	self->opt.flags = AGGNET_OPT_REPLAY;
	node.lost = ESTALE;
	node.lose_at = 50000;
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7,
					&self->opt));
	err = add_numbered(self->s, 0, 30000);
	EXPECT_EQ(-ESTALE, err);
	EXPECT_EQ(-1, self->s->spool);
	EXPECT_EQ(0, aggnet_source_records(self->s));
	ASSERT_EQ(0, add_numbered(self->s, 0, 30000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_holds(30000));
}

TEST_F(source, newer_epoch__does_not_come)
{
	self->opt.repair_ms = 1;
	node.lost = ESTALE;
	node.lose_at = 1;
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7,
					&self->opt));
	memset(node.errors, 0x7f, sizeof(node.errors));
	ASSERT_EQ(0, aggnet_source_add(self->s, "k", 1, 1));
	node.len = 1;
	EXPECT_EQ(-ESTALE, aggnet_source_finish(self->s));
	EXPECT_STREQ("a newer epoch is in force at 10.0.0.3: "
		     "2 sources missing", aggnet_source_error(self->s));
}

TEST_F(source, abort__of_another_node_is_the_end)
{
	struct aggnet_status st;

	node.lost = ETIMEDOUT;
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7, NULL));
	ASSERT_EQ(0, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
	EXPECT_STREQ("timed out at 10.0.0.3: 2 sources missing",
		     aggnet_source_error(self->s));
	EXPECT_EQ(1, node.joined);
	ASSERT_EQ(0, aggnet_source_status(self->s, &st));
	EXPECT_EQ(htonl(0x0a000003), st.origin);
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_add(self->s, "k", 1, 1));
}

TEST_F(source, nonblock__takes_each_record_once)
{
	unsigned int i = 0, refused = 0;
	int err;

	self->opt.flags = AGGNET_OPT_NONBLOCK;
	node.room = 1000;
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7,
					&self->opt));
	while (i < 30000) {
		err = add_numbered(self->s, i, i + 1);
		if (!err) {
			i++;
			continue;
		}
		ASSERT_EQ(-EAGAIN, err);
		EXPECT_EQ(POLLOUT, aggnet_source_events(self->s));
		node.room += 1000;
		refused++;
	}
	while ((err = aggnet_source_finish(self->s)) == -EAGAIN)
		node.room += 1000;
	EXPECT_EQ(0, err);
	EXPECT_GT(refused, 10);
	EXPECT_TRUE(stream_holds(30000));
}

TEST_F(source, timeout__is_told_as_ours)
{
	self->opt.timeout_ms = 1;
	node.done = false;
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7,
					&self->opt));
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
	EXPECT_STREQ("not over after 0.001 s on this node",
		     aggnet_source_error(self->s));
}

TEST_F(source, spool__cannot_be_made)
{
	self->opt.spool_dir = "/nonexistent";
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7,
					&self->opt));
	EXPECT_EQ(-ENOENT, add_numbered(self->s, 0, 30000));
	EXPECT_STREQ("making the spool of replays: No such file or directory",
		     aggnet_source_error(self->s));
}

/* --- sink ----------------------------------------------------------------- */

FIXTURE(sink) {
	struct aggnet_sink *k;
	struct in_addr any;
	struct aggnet_options opt;
};

FIXTURE_SETUP(sink)
{
	memset(&node, 0, sizeof(node));
	memset(&self->any, 0, sizeof(self->any));
	memset(&self->opt, 0, sizeof(self->opt));
	self->opt.flags = AGGNET_OPT_NONBLOCK;
	self->k = NULL;
	ASSERT_EQ(0, aggnet_sink_open(&self->k, self->any, 7, &self->opt));
}

FIXTURE_TEARDOWN(sink)
{
	aggnet_sink_close(self->k);
}

static void put_message(uint32_t type, uint32_t records, const void *body,
			size_t len)
{
	struct aggnet_msg head = { .type = type, .records = records };
	uint8_t *bytes = node.message[node.nmessages].bytes;

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, len);
	node.message[node.nmessages++].len = sizeof(head) + len;
}

static void put_records(const char *key, int64_t value, const char *key2,
			int64_t value2)
{
	uint8_t buf[2 * AGGNET_RECORD_MAX];
	size_t len = record_put(buf, key, strlen(key), value);

	len += record_put(buf + len, key2, strlen(key2), value2);
	put_message(AGGNET_MSG_RECORDS, 2, buf, len);
}

/* The identities behind the end mark are 10.1.0.0, 10.1.0.1, ... */
static void put_end_without(uint32_t sources, uint32_t of, uint32_t absent,
			    uint32_t named)
{
	struct {
		struct aggnet_end end;
		__be32 id[AGGNET_ABSENT_MAX];
	} end = {
		.end = {
			.sources = sources, .of = of, .partials = 1,
			.absent = absent, .records = 4,
		},
	};
	uint32_t i;

	for (i = 0; i < named; i++)
		end.id[i] = htonl(0x0a010000 + i);
	put_message(AGGNET_MSG_END, 0, &end,
		    sizeof(end.end) + named * sizeof(end.id[0]));
}

static void put_end(uint32_t sources, uint32_t of)
{
	put_end_without(sources, of, 0, 0);
}

TEST_F(sink, run__merges_and_leaves_the_end_mark)
{
	struct aggnet_entry e;

	put_records("b", 1, "a", 2);
	put_records("a", 3, "c", -4);
	EXPECT_EQ(-EAGAIN, aggnet_sink_run(self->k));
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(-EINVAL, aggnet_sink_commit(self->k));
	put_end(3, 3);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_FALSE(node.taken);
	EXPECT_EQ(3, aggnet_sink_result(self->k)->sources);
	EXPECT_EQ(1, aggnet_sink_result(self->k)->partials);
	EXPECT_EQ(3, aggnet_sink_result(self->k)->keys);
	aggnet_sink_sort(self->k);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ('a', *(const char *)e.key);
	EXPECT_EQ(5, e.value);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(1, e.value);
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(-4, e.value);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	ASSERT_EQ(0, aggnet_sink_commit(self->k));
	EXPECT_TRUE(node.taken);
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
}

TEST_F(sink, reset__forgets)
{
	struct aggnet_entry e;

	put_records("a", 1, "b", 2);
	put_message(AGGNET_MSG_RESET, 0, "", 0);
	put_records("c", 3, "c", 4);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(7, e.value);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
}

TEST_F(sink, newer_epoch__while_reading)
{
	struct aggnet_entry e;

	put_records("a", 1, "b", 2);
	node.message[node.nmessages++].error = ESTALE;
	put_records("c", 3, "c", 4);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(1, aggnet_sink_replays(self->k));
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(7, e.value);
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
}

TEST_F(sink, newer_epoch__before_commit)
{
	struct aggnet_entry e;

	put_records("a", 1, "a", 2);
	put_end(1, 1);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	node.message[node.next].error = ESTALE;
	put_records("a", 3, "a", 4);
	put_end(1, 1);
	EXPECT_EQ(-ESTALE, aggnet_sink_commit(self->k));
	EXPECT_FALSE(aggnet_sink_next(self->k, &e));
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	ASSERT_TRUE(aggnet_sink_next(self->k, &e));
	EXPECT_EQ(7, e.value);
	EXPECT_EQ(0, aggnet_sink_commit(self->k));
}

TEST_F(sink, overflow__names_the_key_and_tells_the_others)
{
	put_records("fine", INT64_MAX, "o\nver", INT64_MIN);
	put_records("fine", 0, "o\nver", -1);
	put_end(1, 1);
	EXPECT_EQ(-EOVERFLOW, aggnet_sink_run(self->k));
	EXPECT_STREQ("the value of key 'o\\x0aver' does not fit its type",
		     aggnet_sink_error(self->k));
	EXPECT_EQ(AGGNET_R_OVERFLOW, node.aborted);
	EXPECT_FALSE(node.taken);
	EXPECT_EQ(-EOVERFLOW, aggnet_sink_commit(self->k));
}

TEST_F(sink, run__refuses_an_incomplete_result)
{
	put_records("a", 1, "b", 2);
	put_end(2, 3);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_STREQ("only 2 of 3 sources came", aggnet_sink_error(self->k));
	EXPECT_FALSE(node.taken);
}

TEST_F(sink, end__tells_who_was_left_out)
{
	const struct in_addr *absent;
	size_t n;

	put_end_without(3, 5, 2, 2);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(3, aggnet_sink_result(self->k)->sources);
	EXPECT_EQ(5, aggnet_sink_result(self->k)->of);
	EXPECT_EQ(2, aggnet_sink_result(self->k)->absent);
	absent = aggnet_sink_absent(self->k, &n);
	ASSERT_EQ(2, n);
	EXPECT_EQ(htonl(0x0a010000), absent[0].s_addr);
	EXPECT_EQ(htonl(0x0a010001), absent[1].s_addr);
}

TEST_F(sink, end__names_no_more_than_fit)
{
	const struct in_addr *absent;
	size_t n;

	put_end_without(1, 101, 100, AGGNET_ABSENT_MAX);
	ASSERT_EQ(0, aggnet_sink_run(self->k));
	EXPECT_EQ(100, aggnet_sink_result(self->k)->absent);
	absent = aggnet_sink_absent(self->k, &n);
	ASSERT_EQ(AGGNET_ABSENT_MAX, n);
	EXPECT_EQ(htonl(0x0a010000 + AGGNET_ABSENT_MAX - 1),
		  absent[n - 1].s_addr);
}

TEST_F(sink, end__with_one_who_is_neither_here_nor_absent)
{
	put_end_without(3, 5, 1, 1);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
	EXPECT_STREQ("only 3 of 5 sources came", aggnet_sink_error(self->k));
}

TEST_F(sink, end__whose_names_are_cut)
{
	put_end_without(3, 5, 2, 1);
	EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
}

TEST_F(sink, run__refuses_malformed_messages)
{
	uint8_t record[AGGNET_RECORD_MAX];
	size_t len = record_put(record, "k", 1, 1000);
	const struct {
		uint32_t type;
		uint32_t records;
		size_t len;
	} cases[] = {
		{ AGGNET_MSG_RECORDS, 2, len },
		{ AGGNET_MSG_RECORDS, 0, len },
		{ AGGNET_MSG_RECORDS, 1, len - 1 },
		{ AGGNET_MSG_END, 0, 4 },
		{ 99, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		node.next = 0;
		node.nmessages = 0;
		put_message(cases[i].type, cases[i].records, record,
			    cases[i].len);
		EXPECT_EQ(-EBADMSG, aggnet_sink_run(self->k));
		self->k->conn.final = 0;
	}
}

TEST_F(sink, abort__says_it_to_the_node)
{
	EXPECT_EQ(0, aggnet_sink_abort(self->k, AGGNET_R_USER));
	EXPECT_EQ(AGGNET_R_USER, node.aborted);
	EXPECT_EQ(-ECANCELED, aggnet_sink_run(self->k));
	EXPECT_STREQ("aborted here: an application asked to stop",
		     aggnet_sink_error(self->k));
}

TEST_HARNESS_MAIN
