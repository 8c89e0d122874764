// SPDX-License-Identifier: GPL-2.0
/* A transfer of one node with itself: what calls wait for, and back-pressure.
 * Needs root and the module.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/time.h>

#include "one_node.h"

/* --- waiting --- */

TEST_F(node, recv__blocks_until_whole)
{
	struct waiter *r = calloc(1, sizeof(*r)), *w = calloc(1, sizeof(*w));

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r->fd = reader();
	w->fd = writer();
	ASSERT_EQ(0, pthread_create(&r->thread, NULL, wait_in_recv, r));
	ASSERT_EQ(0, pthread_create(&w->thread, NULL, wait_in_recv, w));
	ASSERT_EQ(0, send_record(w->fd, "key", 9));
	ASSERT_EQ(0, shutdown(w->fd, SHUT_WR));
	ASSERT_EQ(0, pthread_join(r->thread, NULL));
	EXPECT_EQ(9, only_value(&r->m, r->n));
	ASSERT_LT(0, receive(r->fd, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	ASSERT_EQ(0, pthread_join(w->thread, NULL));
	EXPECT_EQ(0, w->n);
	close(r->fd);
	close(w->fd);
	free(r);
	free(w);
}

TEST_F(node, recv__blocked_peek_sees_the_end)
{
	struct waiter *r = calloc(1, sizeof(*r));
	int w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r->fd = reader();
	r->flags = MSG_PEEK;
	w = writer();
	ASSERT_EQ(0, pthread_create(&r->thread, NULL, wait_in_recv, r));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	ASSERT_EQ(0, pthread_join(r->thread, NULL));
	ASSERT_LT(0, r->n);
	EXPECT_EQ(AGGNET_MSG_END, r->m.head.type);
	close(r->fd);
	close(w);
	free(r);
}

TEST_F(node, recv__time_is_bounded)
{
	const struct timeval tv = { .tv_usec = 20000 };
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, setsockopt(r, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	ASSERT_EQ(0, setsockopt(w, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	EXPECT_ERRNO(EAGAIN, receive(r, &self->m, 0));
	EXPECT_ERRNO(EAGAIN, receive(w, &self->m, 0));
	close(r);
	close(w);
}

static void on_alarm(int sig)
{
}

TEST_F(node, recv__a_signal_interrupts)
{
	const struct itimerval often = {
		.it_value.tv_usec = 20000,
		.it_interval.tv_usec = 20000,
	};
	const struct timeval tv = { .tv_sec = 1000 };
	struct sigaction sa = { .sa_handler = on_alarm };
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, setsockopt(r, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	ASSERT_EQ(0, sigaction(SIGALRM, &sa, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_ERRNO(EINTR, receive(r, &self->m, 0));
	EXPECT_ERRNO(EINTR, receive(w, &self->m, 0));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &(struct itimerval){}, NULL));
	close(r);
	close(w);
}

TEST_F(node, poll__through_a_transfer)
{
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	EXPECT_EQ(0, events(r));
	EXPECT_EQ(POLLOUT, events(w));
	ASSERT_EQ(0, send_record(w, "key", 1));
	EXPECT_EQ(0, events(r));
	EXPECT_EQ(POLLOUT, events(w));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(0, events(w) & (POLLIN | POLLOUT));
	EXPECT_EQ(POLLIN, await(r, POLLIN));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(POLLIN, await(r, POLLIN));
	EXPECT_EQ(0, events(w) & POLLIN);
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(POLLIN, await(w, POLLIN) & (POLLIN | POLLERR));
	close(r);
	close(w);
}

TEST_F(node, epoll__edges)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct epoll_event got;
	int r, w, ep = epoll_create1(0);

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ev.data.fd = r;
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, r, &ev));
	ev.data.fd = w;
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, w, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &got, 1, 0));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	ASSERT_EQ(1, epoll_wait(ep, &got, 1, -1));
	EXPECT_EQ(r, got.data.fd);
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	do {
		ASSERT_EQ(1, epoll_wait(ep, &got, 1, -1));
	} while (got.data.fd != w);
	EXPECT_TRUE(got.events & EPOLLIN);
	close(ep);
	close(r);
	close(w);
}

/* --- back-pressure --- */

/* Send distinct keys until the node has no room. Return: how many were sent */
static unsigned int fill(int w, unsigned int from)
{
	char key[64];
	unsigned int i;

	for (i = from;; i++) {
		snprintf(key, sizeof(key), "a rather long key, so that few fit: "
			 "%010u", i);
		if (send_record(w, key, 1))
			return i - from;
	}
}

/* Read until nothing is left, or to the end. Return: records read */
static uint64_t drain(int r, struct message *m)
{
	uint64_t records = 0;

	while (receive(r, m, MSG_DONTWAIT) > 0 &&
	       m->head.type == AGGNET_MSG_RECORDS)
		records += m->head.records;
	return records;
}

/* Events of a socket that joins after it was added to an epoll. */
static int joins_in_epoll(int ep, int fd, bool reads)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	struct epoll_event got = {};

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		return 0;
	/* That of a socket that has not joined. */
	epoll_wait(ep, &got, 1, 0);
	if (join(fd, NODE_A, JOB, reads))
		return 0;
	got.events = 0;
	epoll_wait(ep, &got, 1, 5000);
	epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL);
	return got.events;
}

TEST_F(node, epoll__joins_after_it_was_added)
{
	int ep = epoll_create1(0), r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	w = new_socket();
	EXPECT_LT(0, joins_in_epoll(ep, w, false) & EPOLLOUT);
	ASSERT_EQ(0, send_record(w, "key", 9));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	r = new_socket();
	EXPECT_LT(0, joins_in_epoll(ep, r, true) & EPOLLIN);
	close(r);
	close(w);
	close(ep);
}

/* A thread that is blocked in send(). */
struct blocked {
	pthread_t thread;
	int fd;
	pid_t tid;
	int error;
};

static void *block_in_send(void *arg)
{
	uint8_t record[2 + 5 + 8];
	struct blocked *b = arg;
	size_t n = put_record(record, "large", INT64_MAX);

	__atomic_store_n(&b->tid, gettid(), __ATOMIC_RELEASE);
	b->error = send(b->fd, record, n, MSG_NOSIGNAL) < 0 ? errno : 0;
	return NULL;
}

/* Does this thread wait in send()? */
static bool is_blocked(const struct blocked *b)
{
	pid_t tid = __atomic_load_n(&b->tid, __ATOMIC_ACQUIRE);
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	stat = tid ? fopen(path, "r") : NULL;
	if (stat) {
		if (fscanf(stat, "%*d %*s %c", &state) != 1)
			state = 0;
		fclose(stat);
	}
	return state == 'S';
}

/* At a node that is not the receiver, and has no path to it. */
TEST_F(node, send__blocked_sees_a_shutdown)
{
	struct aggnet_tree_info e = entry(1);
	struct blocked b = {};

	e.incast_id = aggnet_incast_id(JOB, ip(NODE_B));
	e.scheme = AGGNET_SCHEME_ROUTE;
	e.has |= AGGNET_HAS(AGGNET_A_TREE_SCHEME);
	e.memory = AGGNET_MEMORY_MIN;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	b.fd = new_socket();
	ASSERT_EQ(0, join(b.fd, NODE_B, JOB, false));
	ASSERT_LT(0, fill(b.fd, 0));
	ASSERT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, pthread_create(&b.thread, NULL, block_in_send, &b));
	while (!is_blocked(&b))
		usleep(1000);
	ASSERT_EQ(0, shutdown(b.fd, SHUT_WR));
	ASSERT_EQ(0, pthread_join(b.thread, NULL));
	EXPECT_EQ(EPIPE, b.error);
	close(b.fd);
}

TEST_F(node, back_pressure__the_reader_makes_room)
{
	struct aggnet_tree_info e = entry(1);
	uint64_t sent = 0, got = 0;
	int r, w, rounds;

	e.memory = AGGNET_MEMORY_MIN;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	for (rounds = 0; rounds < 20; rounds++) {
		unsigned int n = fill(w, sent);

		ASSERT_EQ(EAGAIN, errno);
		sent += n;
		EXPECT_EQ(POLLIN, await(r, POLLIN));
		got += drain(r, &self->m);
		EXPECT_EQ(POLLOUT, await(w, POLLOUT));
	}
	EXPECT_LT(AGGNET_MEMORY_MIN / 64, sent);
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	while (self->m.head.type != AGGNET_MSG_END) {
		ASSERT_LT(0, receive(r, &self->m, 0));
		got += self->m.head.records;
	}
	EXPECT_EQ(sent, got);
	EXPECT_EQ(sent, self->m.end.records);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(r);
	close(w);
}

TEST_F(node, back_pressure__blocked_writers)
{
	enum { WRITERS = 3, RECORDS = 3000 };
	struct sender s[WRITERS] = {};
	struct aggnet_tree_info e = entry(WRITERS);
	uint64_t got = 0;
	int r, i;

	e.memory = AGGNET_MEMORY_MIN;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	for (i = 0; i < WRITERS; i++) {
		s[i].fd = writer();
		s[i].records = RECORDS;
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, send_many,
					    &s[i]));
	}
	do {
		ASSERT_LT(0, receive(r, &self->m, 0));
		got += self->m.head.records;
	} while (self->m.head.type != AGGNET_MSG_END);
	EXPECT_EQ(WRITERS * RECORDS, got);
	EXPECT_EQ(WRITERS * RECORDS, self->m.end.records);
	for (i = 0; i < WRITERS; i++) {
		ASSERT_EQ(0, pthread_join(s[i].thread, NULL));
		EXPECT_EQ(0, s[i].failed);
		close(s[i].fd);
	}
	close(r);
}

TEST_F(node, back_pressure__send_time_is_bounded)
{
	const struct timeval tv = { .tv_usec = 20000 };
	struct aggnet_tree_info e = entry(1);
	uint8_t buf[AGGNET_RECORD_MAX];
	size_t len = put_record(buf, "one more", 1);
	int r, w;

	e.memory = AGGNET_MEMORY_MIN;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	fill(w, 0);
	/* The memory may still grow: try until it does not. */
	ASSERT_EQ(0, setsockopt(w, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
	while (send(w, buf, len, 0) > 0)
		buf[2]++;
	EXPECT_EQ(EAGAIN, errno);
	close(r);
	close(w);
}

/*
 * A writer that polls before it sends is never refused, and it is woken when
 * there is room. Other nodes' claims leave it less than the level at which all
 * writers wait.
 */
TEST_F(node, back_pressure__a_writer_that_polls)
{
	struct aggnet_tree_info e = entry(1);
	uint32_t sent = 0, got = 0, rounds;
	char key[AGGNET_KEY_MAX + 1];
	int r, w;

	e.memory = AGGNET_MEMORY_MIN;
	e.contributors = 3;
	e.sources = 3;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	for (rounds = 0; rounds < 5; rounds++) {
		for (; events(w) & POLLOUT; sent++) {
			snprintf(key, sizeof(key), "%0200u", sent);
			ASSERT_EQ(0, send_record(w, key, 1));
		}
		EXPECT_EQ(POLLIN, await(r, POLLIN));
		got += drain(r, &self->m);
		EXPECT_EQ(POLLOUT, await(w, POLLOUT));
	}
	EXPECT_LT(rounds, sent);
	EXPECT_LT(0, got);
	close(r);
	close(w);
}

TEST_HARNESS_MAIN
