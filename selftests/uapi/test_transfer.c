// SPDX-License-Identifier: GPL-2.0
/* A transfer of one node with itself: what each call takes and gives. Needs root and
 * the module.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "one_node.h"

/* --- one transfer --- */

TEST_F(node, transfer__whole)
{
	int r, w;
	ssize_t n;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 5));
	ASSERT_EQ(0, send_record(w, "key", -7));
	EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT));
	EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT | MSG_PEEK));
	EXPECT_ERRNO(EAGAIN, receive(w, &self->m, MSG_DONTWAIT));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EPIPE, send_record(w, "key", 1));

	EXPECT_ERRNO(EOPNOTSUPP, receive(r, &self->m, MSG_PEEK));
	n = receive(r, &self->m, 0);
	EXPECT_EQ(-2, only_value(&self->m, n));
	EXPECT_EQ(0, memcmp("key", self->m.records + 2, 3));
	EXPECT_ERRNO(EAGAIN, receive(w, &self->m, MSG_DONTWAIT));
	close(r);
	close(w);
}

/* --- the fingerprint --- */

static int get_check(int s, struct aggnet_check *check)
{
	socklen_t len = sizeof(*check);

	memset(check, 0xff, sizeof(*check));
	return getsockopt(s, SOL_AGGNET, AGGNET_SO_CHECK, check, &len);
}

static int set_check(int s, uint64_t value)
{
	return setsockopt(s, SOL_AGGNET, AGGNET_SO_CHECK, &value,
			  sizeof(value));
}

/* The receiver gets the sum of all writers, once nothing else comes. */
TEST_F(node, check__is_of_all_writers)
{
	const uint64_t prime = (1ull << 61) - 1;
	struct aggnet_check check, other;
	int r, one, two;

	ASSERT_EQ(0, add_writers(self->ctl, 2));
	r = new_socket();
	EXPECT_ERRNO(ENOTCONN, get_check(r, &check));
	EXPECT_ERRNO(ENOTCONN, set_check(r, 1));
	close(r);
	r = reader();
	one = writer();
	two = writer();
	EXPECT_ERRNO(ENOTCONN, set_check(r, 1));
	EXPECT_ERRNO(EINVAL, setsockopt(one, SOL_AGGNET, AGGNET_SO_CHECK,
					&check, 4));
	EXPECT_ERRNO(EFAULT, setsockopt(one, SOL_AGGNET, AGGNET_SO_CHECK, NULL,
					8));
	ASSERT_EQ(0, get_check(one, &check));
	EXPECT_EQ(AGGNET_FP_SUM, check.kind);
	ASSERT_EQ(0, get_check(r, &other));
	EXPECT_EQ(0, memcmp(check.key, other.key, sizeof(check.key)));
	EXPECT_NE(check.key[0], check.key[1]);
	ASSERT_EQ(0, send_record(one, "key", 5));
	ASSERT_EQ(0, set_check(one, 3));
	ASSERT_EQ(0, set_check(one, prime - 1));
	ASSERT_EQ(0, shutdown(one, SHUT_WR));
	EXPECT_ERRNO(EPIPE, set_check(one, 1));
	ASSERT_EQ(0, set_check(two, 7));
	ASSERT_EQ(0, get_check(r, &check));
	EXPECT_EQ(0, check.whole);
	EXPECT_EQ(0, check.value);
	ASSERT_EQ(0, shutdown(two, SHUT_WR));
	EXPECT_EQ(5, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_LT(0, receive(r, &self->m, MSG_PEEK));
	ASSERT_EQ(0, get_check(r, &check));
	EXPECT_EQ(1, check.whole);
	EXPECT_EQ(6, check.value);
	close(r);
	close(one);
	close(two);
}

/* One that gives records gives no fingerprint; the other one gives nothing. */
TEST_F(node, check__is_not_of_all_writers)
{
	struct aggnet_check check;
	int r, one, two;

	ASSERT_EQ(0, add_writers(self->ctl, 2));
	r = reader();
	one = writer();
	two = writer();
	ASSERT_EQ(0, send_record(one, "key", 5));
	ASSERT_EQ(0, shutdown(one, SHUT_WR));
	ASSERT_EQ(0, shutdown(two, SHUT_WR));
	EXPECT_EQ(5, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_EQ(0, get_check(r, &check));
	EXPECT_EQ(0, check.whole);
	EXPECT_EQ(0, check.value);
	close(r);
	close(one);
	close(two);
}

/* The receiver finds another one in the result: every member gets an error. */
TEST_F(node, check__mismatch_is_raised)
{
	const uint32_t mismatch = AGGNET_R_MISMATCH;
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 5));
	EXPECT_ERRNO(EINVAL, setsockopt(w, SOL_AGGNET, AGGNET_SO_ABORT,
					&mismatch, sizeof(mismatch)));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(5, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_EQ(0, setsockopt(r, SOL_AGGNET, AGGNET_SO_ABORT, &mismatch,
				sizeof(mismatch)));
	EXPECT_ERRNO(EBADMSG, receive(r, &self->m, 0));
	EXPECT_ERRNO(EBADMSG, receive(w, &self->m, 0));
	close(r);
	close(w);
}

/* A greatest value has none. */
TEST_F(node, check__of_a_function_that_is_not_linear)
{
	struct aggnet_tree_info e = entry(1);
	struct aggnet_check check;
	int r, w;

	e.has |= AGGNET_HAS(AGGNET_A_TREE_FUNCTION);
	e.function = AGGNET_FN_MAX;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, get_check(w, &check));
	EXPECT_EQ(AGGNET_FP_NONE, check.kind);
	EXPECT_ERRNO(EOPNOTSUPP, set_check(w, 1));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	ASSERT_LT(0, receive(r, &self->m, 0));
	ASSERT_EQ(0, get_check(r, &check));
	EXPECT_EQ(0, check.whole);
	close(r);
	close(w);
}

/* --- the end mark --- */

TEST_F(node, end_mark__peek_then_take)
{
	const ssize_t size = sizeof(struct aggnet_msg) +
			     sizeof(struct aggnet_end);
	struct aggnet_status st;
	socklen_t len = sizeof(st);
	int r, w, i;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 5));
	ASSERT_EQ(0, send_record(w, "key", 6));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	ASSERT_LT(0, receive(r, &self->m, 0));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(size, receive(r, &self->m, MSG_PEEK));
		EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
		EXPECT_EQ(0, self->m.head.records);
		EXPECT_EQ(1, self->m.end.sources);
		EXPECT_EQ(1, self->m.end.of);
		EXPECT_EQ(0, self->m.end.partials);
		EXPECT_EQ(1, self->m.end.instance);
		EXPECT_EQ(2, self->m.end.records);
		EXPECT_ERRNO(EAGAIN, receive(w, &self->m, MSG_DONTWAIT));
	}
	ASSERT_EQ(size, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	ASSERT_EQ(0, getsockopt(w, SOL_AGGNET, AGGNET_SO_STATUS, &st, &len));
	EXPECT_EQ(AGGNET_TREE_DONE, st.state);
	EXPECT_EQ(1, st.contributors);
	EXPECT_EQ(1, st.writers);
	EXPECT_EQ(0, st.channels);
	EXPECT_EQ(2, st.records_in);
	EXPECT_EQ(0, st.packets_in);
	EXPECT_EQ(0, st.below[AGGNET_FALLBACK_LINK]);
	EXPECT_EQ(0, st.nunbound);
	close(r);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(w);
	w = new_socket();
	EXPECT_ERRNO(EALREADY, join(w, NODE_A, JOB, false));
	EXPECT_ERRNO(EALREADY, join(w, NODE_A, JOB, true));
	close(w);
}

/*
 * An end mark that cannot be copied to the program has no effect; records are
 * lost.
 */
TEST_F(node, end_mark__fault_then_take)
{
	long page = sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	int r, w;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 5));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(5, only_value(&self->m, receive(r, &self->m, 0)));
	EXPECT_ERRNO(EFAULT, recv(r, map, page, 0));
	EXPECT_ERRNO(EFAULT, recv(r, map, page, MSG_PEEK));
	EXPECT_ERRNO(EAGAIN, receive(w, &self->m, MSG_DONTWAIT));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(w);
	close(r);
	munmap(map, page);
}

TEST_F(node, transfer__of_nothing)
{
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send(w, "", 0, 0));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(0, self->m.end.records);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(r);
	close(w);
}

/* A receiver that joins late gets what was sent before. */
TEST_F(node, transfer__writer_first)
{
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 5));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	r = reader();
	EXPECT_EQ(5, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	close(r);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(w);
}

/*
 * Add an entry of a sorted transfer of this node to itself, with @writers
 * writers.
 */
static void add_sorted(struct aggnet_ctl *ctl, uint32_t writers, uint64_t memory)
{
	struct aggnet_tree_info e = entry(writers);

	e.has |= AGGNET_HAS(AGGNET_A_TREE_LAYOUT);
	e.layout = AGGNET_LAYOUT_SORTED;
	e.memory = memory;
	if (add_entry(ctl, &e, false))
		abort();
}

TEST_F(node, sorted__order)
{
	int r, w;

	add_sorted(self->ctl, 1, 1 << 20);
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "b", 5));
	EXPECT_ERRNO(EILSEQ, send_record(w, "ab", 1));
	ASSERT_EQ(0, send_record(w, "b", -7));
	EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT));
	EXPECT_EQ(0, events(r));
	ASSERT_EQ(0, send_record(w, "ba", 1));
	EXPECT_EQ(POLLIN, events(r));
	EXPECT_EQ(-2, only_value(&self->m, receive(r, &self->m, MSG_DONTWAIT)));
	EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(1, only_value(&self->m, receive(r, &self->m, MSG_DONTWAIT)));
	ASSERT_LT(0, receive(r, &self->m, MSG_DONTWAIT));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(3, self->m.end.records);
	EXPECT_EQ(0, receive(w, &self->m, MSG_DONTWAIT));
	close(r);
	close(w);
}

/* A writer with a full run waits until half of the run is merged. */
TEST_F(node, sorted__writers_wait_for_each_other)
{
	uint32_t sent = 0, got = 0;
	char key[] = "00000000";
	int r, w[2];
	ssize_t n;

	add_sorted(self->ctl, 2, 65536);
	r = reader();
	w[0] = writer();
	w[1] = writer();
	for (; events(w[0]) & POLLOUT; sent++) {
		snprintf(key, sizeof(key), "%07u", sent);
		ASSERT_EQ(0, send_record(w[0], key, 1));
	}
	ASSERT_LT(100, sent);
	EXPECT_EQ(0, events(r));
	ASSERT_EQ(0, shutdown(w[1], SHUT_WR));
	EXPECT_EQ(POLLIN, events(r));
	/*
	 * Work that exceeds the limit of one locked section is done in a later
	 * one.
	 */
	while (got < sent - 1) {
		ASSERT_TRUE(await(r, POLLIN) & POLLIN);
		n = receive(r, &self->m, MSG_DONTWAIT);
		ASSERT_LT(0, n);
		got += self->m.head.records;
	}
	EXPECT_EQ(sent - 1, got);
	EXPECT_TRUE(await(w[0], POLLOUT) & POLLOUT);
	ASSERT_EQ(0, shutdown(w[0], SHUT_WR));
	ASSERT_TRUE(await(r, POLLIN) & POLLIN);
	ASSERT_LT(0, receive(r, &self->m, MSG_DONTWAIT));
	EXPECT_EQ(1, self->m.head.records);
	ASSERT_LT(0, receive(r, &self->m, MSG_DONTWAIT));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	close(r);
	close(w[0]);
	close(w[1]);
}

TEST_F(node, writers__all_are_merged)
{
	enum { WRITERS = 3 };
	int r, w[WRITERS], late, i;

	ASSERT_EQ(0, add_writers(self->ctl, WRITERS));
	r = reader();
	for (i = 0; i < WRITERS; i++) {
		w[i] = writer();
		ASSERT_LE(0, w[i]);
	}
	late = new_socket();
	EXPECT_ERRNO(EUSERS, join(late, NODE_A, JOB, false));
	close(late);
	for (i = 0; i < WRITERS; i++) {
		ASSERT_EQ(0, send_record(w[i], "key", 1 << i));
		EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT));
		ASSERT_EQ(0, shutdown(w[i], SHUT_WR));
	}
	EXPECT_EQ(7, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(1, self->m.end.sources);
	EXPECT_EQ(3, self->m.end.records);
	for (i = 0; i < WRITERS; i++) {
		EXPECT_EQ(0, receive(w[i], &self->m, 0));
		close(w[i]);
	}
	close(r);
}

/*
 * A writer that has shut down cannot send again, although another still sends.
 */
TEST_F(node, writers__one_has_shut_down)
{
	int r, w[2];

	ASSERT_EQ(0, add_writers(self->ctl, 2));
	r = reader();
	w[0] = writer();
	w[1] = writer();
	ASSERT_EQ(0, send_record(w[0], "key", 1));
	ASSERT_EQ(0, shutdown(w[0], SHUT_WR));
	EXPECT_ERRNO(EPIPE, send_record(w[0], "key", 2));
	ASSERT_EQ(0, send_record(w[1], "key", 4));
	ASSERT_EQ(0, shutdown(w[1], SHUT_WR));
	EXPECT_EQ(5, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(2, self->m.end.records);
	close(r);
	close(w[0]);
	close(w[1]);
}

/*
 * A record refused after shutdown() does not hold back the merge of the other
 * run.
 */
TEST_F(node, sorted__one_has_shut_down)
{
	int r, w[2];

	add_sorted(self->ctl, 2, 1 << 20);
	r = reader();
	w[0] = writer();
	w[1] = writer();
	ASSERT_EQ(0, shutdown(w[0], SHUT_WR));
	EXPECT_ERRNO(EPIPE, send_record(w[0], "b", 1));
	EXPECT_ERRNO(EPIPE, send_record(w[0], "c", 1));
	EXPECT_ERRNO(EAGAIN, receive(r, &self->m, MSG_DONTWAIT));
	ASSERT_EQ(0, send_record(w[1], "a", 4));
	ASSERT_EQ(0, shutdown(w[1], SHUT_WR));
	EXPECT_EQ(4, only_value(&self->m, receive(r, &self->m, MSG_DONTWAIT)));
	ASSERT_LT(0, receive(r, &self->m, MSG_DONTWAIT));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(1, self->m.end.records);
	close(r);
	close(w[0]);
	close(w[1]);
}

/* --- what send() takes --- */

TEST_F(node, send__whole_records_from_the_front)
{
	uint8_t buf[3 * AGGNET_RECORD_MAX];
	size_t one, two;
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	one = put_record(buf, "key", 1);
	two = one + put_record(buf + one, "key", 2);
	EXPECT_EQ(one, send(w, buf, two - 1, 0));
	EXPECT_ERRNO(EINVAL, send(w, buf + one, two - one - 1, 0));
	EXPECT_EQ(two - one, send(w, buf + one, two - one, 0));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(3, only_value(&self->m, receive(r, &self->m, 0)));
	close(w);
	close(r);
}

TEST_F(node, send__refuses)
{
	const uint8_t no_key[] = { 0, 1, 1 };
	const uint8_t long_value[] = { 1, 17, 'k', [19] = 0 };
	const uint8_t wide_value[] = { 1, 9, 'k', [11] = 1 };
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	EXPECT_ERRNO(EINVAL, send(w, "\1", 1, 0));
	EXPECT_ERRNO(EINVAL, send(w, no_key, sizeof(no_key), 0));
	EXPECT_ERRNO(EINVAL, send(w, long_value, sizeof(long_value), 0));
	EXPECT_ERRNO(ERANGE, send(w, wide_value, sizeof(wide_value), 0));
	EXPECT_ERRNO(EFAULT, send(w, (void *)8, 100, 0));
	ASSERT_EQ(0, send_record(w, "key", 1));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(1, only_value(&self->m, receive(r, &self->m, 0)));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(1, self->m.end.records);
	close(w);
	close(r);
}

/* A page that cannot be read follows: send() takes the records before it. */
TEST_F(node, send__fault_in_the_middle)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 9 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t off = 0, len;
	int r, w;
	ssize_t n;

	ASSERT_NE(MAP_FAILED, map);
	for (len = put_record(map, "key", 1); off + 2 * len <= 8 * page;)
		off += put_record(map + off, "key", 1);
	ASSERT_EQ(0, mprotect(map + 8 * page, page, PROT_NONE));
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	n = send(w, map, 9 * page, 0);
	EXPECT_EQ(0, n % len);
	EXPECT_LT(0, n);
	EXPECT_ERRNO(EFAULT, send(w, map + 8 * page, page, 0));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(n / len, only_value(&self->m, receive(r, &self->m, 0)));
	close(w);
	close(r);
}

TEST_F(node, send__at_most_so_many_bytes)
{
	uint8_t *buf = malloc(3 * AGGNET_SEND_MAX);
	size_t off = 0, len = put_record(buf, "key", 1);
	int r, w;

	while (off < 2 * AGGNET_SEND_MAX)
		off += put_record(buf + off, "key", 1);
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	EXPECT_EQ(AGGNET_SEND_MAX / len * len, send(w, buf, off, 0));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_EQ(AGGNET_SEND_MAX / len,
		  only_value(&self->m, receive(r, &self->m, 0)));
	free(buf);
	close(w);
	close(r);
}

TEST_HARNESS_MAIN
