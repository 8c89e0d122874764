// SPDX-License-Identifier: GPL-2.0
/* Rounds of a persistent tree: what the calls of its members take and give, and
 * many rounds along a line of nodes whose links lose and reorder packets. Needs
 * root, the module and tc. ROUNDS=N sets the number of rounds on the line.
 */
#include <stdlib.h>

#include "line_transfer.h"
#include "one_node.h"
#include "slow_kernel.h"

#define MANY	500	/* rounds on the line */
#define KEYS	8

static struct aggnet_tree_info persistent(uint32_t writers)
{
	struct aggnet_tree_info e = entry(writers);

	e.has |= AGGNET_HAS(AGGNET_A_TREE_PERSIST);
	e.persist = 1;
	return e;
}

static ssize_t end_round(int fd, int flags)
{
	return send(fd, NULL, 0, MSG_EOR | MSG_NOSIGNAL | flags);
}

/* Send a record and end the round with one call. */
static int last_record(int fd, int64_t value)
{
	uint8_t buf[64];
	size_t len = put_record(buf, "key", value);

	return send(fd, buf, len, MSG_EOR | MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

/* Read the end mark of a round. Return: is it that? */
static bool read_end(struct message *m, int fd, uint32_t round, uint32_t last)
{
	if (receive(fd, m, 0) < (ssize_t)(sizeof(m->head) + sizeof(m->end)))
		return false;
	return m->head.type == AGGNET_MSG_END && m->end.round == round &&
	       m->end.last == last;
}

/* --- one node --- */

TEST_F(node, rounds__one_after_the_other)
{
	struct aggnet_tree_info e = persistent(1);
	uint32_t i;
	int r, w;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	EXPECT_ERRNO(ENOMSG, receive(w, &self->m, 0));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(POLLOUT, events(w) & (POLLIN | POLLOUT));
		ASSERT_EQ(0, send_record(w, "key", i));
		ASSERT_EQ(0, last_record(w, 5));
		EXPECT_EQ(0, events(w) & (POLLIN | POLLOUT));
		EXPECT_ERRNO(EAGAIN, end_round(w, MSG_DONTWAIT));
		EXPECT_ERRNO(EAGAIN, receive(w, &self->m, MSG_DONTWAIT));
		EXPECT_EQ(5 + i, only_value(&self->m,
					    receive(r, &self->m, 0)));
		EXPECT_EQ(true, read_end(&self->m, r, i, 0));
		EXPECT_EQ(1, self->m.end.sources);
		EXPECT_EQ(2, self->m.end.records);
		EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT));
		EXPECT_EQ(POLLIN | POLLOUT, events(w) & (POLLIN | POLLOUT));
		EXPECT_EQ(0, receive(w, &self->m, 0));
		EXPECT_ERRNO(ENOMSG, receive(w, &self->m, 0));
	}
	ASSERT_EQ(0, end_round(w, 0));
	EXPECT_EQ(true, read_end(&self->m, r, 3, 0));
	EXPECT_EQ(0, self->m.end.records);
	ASSERT_EQ(0, send_record(w, "key", 9));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(9, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_EQ(true, read_end(&self->m, r, 4, 1));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	EXPECT_ERRNO(EPIPE, end_round(w, 0));
	close(r);
	close(w);
}

/* A call that waits for the next round goes on when it begins. */
TEST_F(node, rounds__a_writer_waits_for_the_next)
{
	struct aggnet_tree_info e = persistent(1);
	struct waiter end = {};
	int r, w;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	end.fd = r;
	ASSERT_EQ(0, end_round(w, 0));
	ASSERT_EQ(0, pthread_create(&end.thread, NULL, wait_in_recv, &end));
	ASSERT_EQ(0, last_record(w, 3));
	pthread_join(end.thread, NULL);
	EXPECT_EQ(AGGNET_MSG_END, end.m.head.type);
	EXPECT_EQ(3, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_EQ(true, read_end(&self->m, r, 1, 0));
	close(r);
	close(w);
}

/* Shut down between two rounds: the next one is the last, and empty. */
TEST_F(node, rounds__a_shutdown_between_them)
{
	struct aggnet_tree_info e = persistent(1);
	int r, w;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, last_record(w, 1));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EPIPE, send_record(w, "key", 1));
	EXPECT_EQ(1, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_EQ(true, read_end(&self->m, r, 0, 0));
	EXPECT_EQ(true, read_end(&self->m, r, 1, 1));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(r);
	close(w);
}

/* The process ends before the round is done, so nothing can end the next one later. */
TEST_F(node, rounds__a_writer_that_leaves_between_them)
{
	struct aggnet_tree_info e = persistent(1);
	int r, w;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, last_record(w, 1));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	close(w);
	EXPECT_EQ(1, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_EQ(true, read_end(&self->m, r, 0, 0));
	EXPECT_EQ(true, read_end(&self->m, r, 1, 1));
	close(r);
}

/* The first source that shuts down ends the tree for all, with its round. */
TEST_F(node, rounds__one_source_ends_them)
{
	struct aggnet_tree_info e = persistent(2);
	int r, one, two;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	one = writer();
	two = writer();
	ASSERT_EQ(0, last_record(one, 1));
	ASSERT_EQ(0, send_record(two, "key", 2));
	ASSERT_EQ(0, shutdown(two, SHUT_WR));
	EXPECT_EQ(3, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_EQ(true, read_end(&self->m, r, 0, 1));
	EXPECT_EQ(0, receive(one, &self->m, 0));
	EXPECT_ERRNO(EPIPE, send_record(one, "key", 1));
	EXPECT_EQ(0, shutdown(one, SHUT_WR));
	close(r);
	close(one);
	close(two);
}

/* A round that is done stays done: the error is that of the next one. */
TEST_F(node, rounds__the_reader_closes_between_them)
{
	struct aggnet_tree_info e = persistent(1);
	int r, w;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, last_record(w, 1));
	EXPECT_EQ(1, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_EQ(true, read_end(&self->m, r, 0, 0));
	close(r);
	EXPECT_ERRNO(EPIPE, send_record(w, "key", 1));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	EXPECT_ERRNO(EPIPE, receive(w, &self->m, 0));
	close(w);
}

/* A source that leaves without shutdown() ends all. */
TEST_F(node, rounds__a_source_closes_between_them)
{
	struct aggnet_tree_info e = persistent(1);
	int r, w;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, end_round(w, 0));
	EXPECT_EQ(true, read_end(&self->m, r, 0, 0));
	close(w);
	EXPECT_ERRNO(ECONNABORTED, receive(r, &self->m, 0));
	close(r);
}

TEST_F(node, rounds__status_tells_the_round)
{
	struct aggnet_tree_info e = persistent(1), tree;
	struct aggnet_status st;
	socklen_t len = sizeof(st);
	int r, w;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, end_round(w, 0));
	ASSERT_EQ(true, read_end(&self->m, r, 0, 0));
	ASSERT_EQ(0, getsockopt(w, SOL_AGGNET, AGGNET_SO_STATUS, &st, &len));
	EXPECT_EQ(sizeof(st), len);
	EXPECT_EQ(1, st.persist);
	EXPECT_EQ(1, st.round);
	ASSERT_EQ(0, aggnet_tree_get(self->ctl, e.incast_id, &tree));
	EXPECT_EQ(1, tree.persist);
	EXPECT_EQ(1, tree.round);
	close(r);
	close(w);
}

TEST_F(node, rounds__of_other_trees_are_refused)
{
	struct aggnet_tree_info e = persistent(1);
	int w;

	e.has |= AGGNET_HAS(AGGNET_A_TREE_LAYOUT);
	e.layout = AGGNET_LAYOUT_SORTED;
	EXPECT_EQ(-EINVAL, aggnet_tree_add(self->ctl, &e, false));
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	w = writer();
	EXPECT_ERRNO(EOPNOTSUPP, end_round(w, 0));
	close(w);
}

/* --- the library --- */

struct thread {
	struct aggnet_source *source;
	int err;
	pthread_t id;
};

/* Give 1, 2, 3 in as many rounds, and then 4 in the last one. */
static void *give(void *arg)
{
	struct thread *t = arg;
	int64_t i;

	for (i = 1; i < 4 && !t->err; i++)
		t->err = aggnet_source_add(t->source, "key", 3, i) ?:
			 aggnet_source_round(t->source);
	if (!t->err)
		t->err = aggnet_source_add(t->source, "key", 3, 4) ?:
			 aggnet_source_finish(t->source);
	return NULL;
}

TEST_F(node, rounds__through_the_library)
{
	struct aggnet_tree_info e = persistent(2);
	struct in_addr receiver = ip(NODE_A);
	struct thread t[2] = {};
	struct aggnet_entry line;
	struct aggnet_sink *k;
	int64_t i;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	ASSERT_EQ(0, aggnet_sink_open(&k, receiver, JOB, NULL));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, aggnet_source_open(&t[i].source, receiver, JOB,
						NULL));
		ASSERT_EQ(0, pthread_create(&t[i].id, NULL, give, &t[i]));
	}
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, aggnet_sink_run(k)) {
			TH_LOG("%s", aggnet_sink_error(k));
		}
		EXPECT_EQ(i, aggnet_sink_result(k)->round);
		EXPECT_EQ(i == 3, aggnet_sink_result(k)->last);
		ASSERT_EQ(true, aggnet_sink_next(k, &line));
		EXPECT_EQ(2 * (i + 1), line.value);
		EXPECT_EQ(false, aggnet_sink_next(k, &line));
		ASSERT_EQ(0, aggnet_sink_commit(k));
		EXPECT_EQ(i == 3 ? -EPIPE : 0, aggnet_sink_round(k));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(t[i].id, NULL);
		EXPECT_EQ(0, t[i].err);
		aggnet_source_close(t[i].source);
	}
	aggnet_sink_close(k);
}

/* --- a line of nodes --- */

FIXTURE(line) {
	struct line_transfer t;
	uint32_t rounds;
};

FIXTURE_SETUP(line)
{
	const char *rounds = getenv("ROUNDS");

	self->rounds = rounds ? strtoul(rounds, NULL, 10) :
		       slow_kernel() ? MANY / 10 : MANY;
	self->t = (struct line_transfer) {
		.give_up = PATIENT, .slow = 1, .persist = true,
	};
	ASSERT_EQ(0, transfer_up(&self->t));
	ASSERT_EQ(0, transfer_begin(&self->t));
	ASSERT_EQ(0, transfer_join(&self->t, 0));
}

FIXTURE_TEARDOWN(line)
{
	transfer_end(&self->t);
	line_down(&self->t.line);
}

/* Both ends of all links lose, reorder and copy packets. */
static int make_bad(const struct line *line)
{
	static const char bad[] =
		"for d in l r; do ! ip link show dev $d > /dev/null 2>&1 ||"
		" tc qdisc add dev $d root netem delay 1ms 1ms loss 3% duplicate 1% || exit; done";
	int node, err = 0;

	for (node = 0; node < line->n; node++) {
		line_enter(line, node);
		err |= system(bad);
	}
	line_leave(line);
	return err;
}

/* In some rounds a source has nothing to give. */
static bool gives(int app, uint32_t round)
{
	return (round + app) % 5;
}

static int64_t value_of(int app, uint32_t round, unsigned int key)
{
	return (int64_t)round * 100 + app * 10 + key;
}

/**
 * struct source - a thread that sends all rounds
 * @fd: its socket
 * @app: its number
 * @rounds: how many
 * @done: those that were done
 * @error: of the first call that failed
 */
struct source {
	int fd;
	int app;
	uint32_t rounds;
	uint32_t done;
	int error;
	pthread_t thread;
};

static bool send_round(const struct source *s, uint32_t round)
{
	uint8_t buf[KEYS * 32];
	unsigned int key;
	size_t len = 0;
	char name[8];

	for (key = 0; gives(s->app, round) && key < KEYS; key++) {
		snprintf(name, sizeof(name), "%u", key);
		len += put_record(buf + len, name,
				  value_of(s->app, round, key));
	}
	return send(s->fd, buf, len, MSG_EOR | MSG_NOSIGNAL) == (ssize_t)len;
}

static void *send_rounds(void *arg)
{
	struct source *s = arg;
	char byte;

	while (s->done < s->rounds) {
		if (!send_round(s, s->done) || recv(s->fd, &byte, 1, 0)) {
			s->error = errno;
			return NULL;
		}
		s->done++;
	}
	if (shutdown(s->fd, SHUT_WR) || recv(s->fd, &byte, 1, 0))
		s->error = errno;
	return NULL;
}

static void add_records(int64_t *sum, const struct message *m)
{
	const uint8_t *record = m->records;
	unsigned int i;
	int64_t value;

	for (i = 0; i < m->head.records; i++) {
		value = 0;
		memcpy(&value, record + 2 + record[0], record[1]);
		if (record[0] == 1 && record[2] < '0' + KEYS)
			sum[record[2] - '0'] += value;
		record += 2 + record[0] + record[1];
	}
}

/* Read one round. Return: is it that round, and right? */
static bool read_round(int fd, uint32_t round)
{
	static struct message m;
	int64_t sum[KEYS] = {};
	unsigned int key;
	int64_t want;

	for (;;) {
		if (receive(fd, &m, 0) <= 0)
			return false;
		if (m.head.type == AGGNET_MSG_END)
			break;
		add_records(sum, &m);
	}
	for (key = 0; key < KEYS; key++) {
		want = (gives(APP_C, round) ?
			value_of(APP_C, round, key) : 0) +
		       (gives(APP_AGG, round) ?
			value_of(APP_AGG, round, key) : 0);
		if (sum[key] != want)
			return false;
	}
	return m.end.round == round && !m.end.last && m.end.sources == 2;
}

/* Netlink events would be messages of the control plane. */
static bool is_quiet(struct aggnet_ctl *ctl)
{
	struct pollfd p = { .fd = aggnet_events_fd(ctl), .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

TEST_F_TIMEOUT(line, rounds__along_a_line, LONG)
{
	struct source source[] = {
		{ .fd = self->t.app[APP_C].fd, .app = APP_C },
		{ .fd = self->t.app[APP_AGG].fd, .app = APP_AGG },
	};
	int fd = self->t.app[APP_R].fd;
	struct aggnet_tree_info tree;
	uint64_t most[NODES] = {};
	struct message m;
	uint32_t round;
	int node, i;

	ASSERT_EQ(0, make_bad(&self->t.line));
	for (node = 0; node < NODES; node++)
		ASSERT_EQ(0, aggnet_events_join(self->t.line.ctl[node]));
	for (i = 0; i < 2; i++) {
		source[i].rounds = self->rounds;
		ASSERT_EQ(0, pthread_create(&source[i].thread, NULL,
					    send_rounds, &source[i]));
	}
	for (round = 0; round < self->rounds; round++) {
		ASSERT_EQ(true, read_round(fd, round)) {
			TH_LOG("round %u, errno %d", round, errno);
		}
		for (node = 0; round == 20 && node < NODES; node++)
			most[node] = transfer_look(&self->t, node).memory_most;
	}
	for (node = 0; node < NODES; node++) {
		EXPECT_EQ(true, is_quiet(self->t.line.ctl[node]));
		if (node == NODE_T)
			continue;
		tree = transfer_look(&self->t, node);
		EXPECT_EQ(most[node], tree.memory_most);
		EXPECT_LE(self->rounds - 1, tree.round);
	}
	EXPECT_EQ(true, read_end(&m, fd, self->rounds, 1));
	for (i = 0; i < 2; i++) {
		pthread_join(source[i].thread, NULL);
		EXPECT_EQ(0, source[i].error);
		EXPECT_EQ(self->rounds, source[i].done);
	}
	EXPECT_LT(0, transfer_look(&self->t, NODE_C).rexmits);
}

TEST_HARNESS_MAIN
