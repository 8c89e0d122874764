// SPDX-License-Identifier: GPL-2.0
/* The socket on one node that sends to itself: what each call does, refuses
 * and waits for. Needs root and the module.
 */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <linux/capability.h>

#include "member.h"

/* Room that the receiver has to have for a message. */
#define LEAST	(sizeof(struct aggnet_msg) + AGGNET_RECORD_MAX)
#define NOBODY		65534

FIXTURE(node) {
	struct aggnet_ctl *ctl;
	struct message m;
};

FIXTURE_SETUP(node)
{
	self->ctl = make_node(NODE_A);
	ASSERT_NE(NULL, self->ctl);
}

FIXTURE_TEARDOWN(node)
{
	aggnet_ctl_close(self->ctl);
}

static short events(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN | POLLOUT };

	return poll(&pfd, 1, 0) < 0 ? -1 : pfd.revents;
}

/* Wait for an event; the harness ends a test that waits for ever. */
static short await(int fd, short wanted)
{
	struct pollfd pfd = { .fd = fd, .events = wanted };

	return poll(&pfd, 1, -1) < 0 ? -1 : pfd.revents;
}

/* --- joining --- */

TEST_F(node, socket__types)
{
	int fd = new_socket();

	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_ERRNO(EPROTONOSUPPORT, socket(AF_INET, SOCK_DGRAM,
					     IPPROTO_AGGNET));
	EXPECT_ERRNO(EPROTONOSUPPORT, socket(AF_INET, SOCK_STREAM,
					     IPPROTO_AGGNET));
}

TEST_F(node, connect__refuses)
{
	struct sockaddr_aggnet sag = transfer(NODE_A, JOB);
	const struct sockaddr *addr = (const struct sockaddr *)&sag;
	int fd = new_socket();

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	EXPECT_ERRNO(EINVAL, connect(fd, addr, sizeof(sag) - 1));
	EXPECT_ERRNO(ENETUNREACH, join(fd, NODE_A, JOB + 1, false));
	EXPECT_ERRNO(ENETUNREACH, join(fd, NODE_B, JOB, false));
	sag.sag_family = AF_INET6;
	EXPECT_ERRNO(EAFNOSUPPORT, connect(fd, addr, sizeof(sag)));
	sag = transfer(NODE_A, JOB);
	sag.sag_zero1 = 1;
	EXPECT_ERRNO(EINVAL, connect(fd, addr, sizeof(sag)));
	sag = transfer(NODE_A, JOB);
	sag.sag_zero2 = 1;
	EXPECT_ERRNO(EINVAL, connect(fd, addr, sizeof(sag)));
	EXPECT_EQ(0, join(fd, NODE_A, JOB, false));
	EXPECT_ERRNO(EISCONN, join(fd, NODE_A, JOB, false));
	EXPECT_ERRNO(EISCONN, join(fd, NODE_A, JOB, true));
	close(fd);
}

TEST_F(node, connect__where_nobody_sends)
{
	struct aggnet_tree_info e = entry(0);
	int fd = new_socket();

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	EXPECT_ERRNO(EADDRNOTAVAIL, join(fd, NODE_A, JOB, false));
	EXPECT_EQ(0, join(fd, NODE_A, JOB, true));
	close(fd);
}

TEST_F(node, bind__refuses)
{
	int fd = new_socket(), second = new_socket();

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	EXPECT_ERRNO(EADDRNOTAVAIL, join(fd, NODE_B, JOB, true));
	EXPECT_ERRNO(ENETUNREACH, join(fd, NODE_A, JOB + 1, true));
	EXPECT_EQ(0, join(fd, "0.0.0.0", JOB, true));
	EXPECT_ERRNO(EADDRINUSE, join(second, NODE_A, JOB, true));
	close(second);
	close(fd);
}

TEST_F(node, names)
{
	struct sockaddr_aggnet sag;
	struct sockaddr *addr = (struct sockaddr *)&sag;
	socklen_t len = sizeof(sag);
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, getsockname(r, addr, &len));
	EXPECT_EQ(sizeof(sag), len);
	EXPECT_EQ(inet_addr(NODE_A), sag.sag_receiver);
	EXPECT_EQ(JOB, sag.sag_job);
	EXPECT_ERRNO(ENOTCONN, getpeername(r, addr, &len));
	memset(&sag, 0, sizeof(sag));
	ASSERT_EQ(0, getpeername(w, addr, &len));
	EXPECT_EQ(inet_addr(NODE_A), sag.sag_receiver);
	EXPECT_EQ(JOB, sag.sag_job);
	close(w);
	close(r);
}

TEST_F(node, calls_before_joining)
{
	struct aggnet_status st;
	socklen_t len = sizeof(st);
	uint32_t why = AGGNET_R_USER;
	int fd = new_socket();

	EXPECT_ERRNO(ENOTCONN, send_record(fd, "k", 1));
	EXPECT_ERRNO(ENOTCONN, receive(fd, &self->m, MSG_DONTWAIT));
	EXPECT_ERRNO(ENOTCONN, shutdown(fd, SHUT_WR));
	EXPECT_ERRNO(ENOTCONN, getsockopt(fd, SOL_AGGNET, AGGNET_SO_STATUS,
					  &st, &len));
	EXPECT_ERRNO(ENOTCONN, setsockopt(fd, SOL_AGGNET, AGGNET_SO_ABORT,
					  &why, sizeof(why)));
	EXPECT_EQ(POLLHUP, events(fd));
	EXPECT_ERRNO(EOPNOTSUPP, listen(fd, 1));
	EXPECT_ERRNO(EOPNOTSUPP, accept(fd, NULL, NULL));
	close(fd);
}

TEST_F(node, calls_of_the_other_side)
{
	struct sockaddr_aggnet sag = transfer(NODE_A, JOB);
	const struct sockaddr *addr = (const struct sockaddr *)&sag;
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	EXPECT_ERRNO(EOPNOTSUPP, send_record(r, "k", 1));
	EXPECT_ERRNO(EOPNOTSUPP, shutdown(r, SHUT_WR));
	EXPECT_ERRNO(EOPNOTSUPP, shutdown(w, SHUT_RD));
	EXPECT_ERRNO(EOPNOTSUPP, shutdown(w, SHUT_RDWR));
	EXPECT_ERRNO(EINVAL, shutdown(w, 99));
	EXPECT_ERRNO(EISCONN, sendto(w, "\1\0k", 3, 0, addr, sizeof(sag)));
	EXPECT_ERRNO(EOPNOTSUPP, send(w, "\1\0k", 3, MSG_OOB));
	EXPECT_ERRNO(EOPNOTSUPP, receive(w, &self->m, MSG_OOB));
	EXPECT_ERRNO(EMSGSIZE, recv(r, &self->m, LEAST - 1, MSG_DONTWAIT));
	EXPECT_ERRNO(EAGAIN, recv(r, &self->m, LEAST, MSG_DONTWAIT));
	close(w);
	close(r);
}

TEST_F(node, options)
{
	struct aggnet_status st;
	socklen_t len = sizeof(st);
	uint32_t why = AGGNET_R_OVERFLOW;
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	memset(&st, 0xff, sizeof(st));
	ASSERT_EQ(0, getsockopt(w, SOL_AGGNET, AGGNET_SO_STATUS, &st, &len));
	EXPECT_EQ(sizeof(st), len);
	EXPECT_EQ(AGGNET_TREE_OPEN, st.state);
	EXPECT_EQ(AGGNET_R_NONE, st.reason);
	EXPECT_EQ(AGGNET_FN_SUM, st.function);
	EXPECT_EQ(1, st.instance);
	len = 4;
	ASSERT_EQ(0, getsockopt(w, SOL_AGGNET, AGGNET_SO_STATUS, &st, &len));
	EXPECT_EQ(4, len);
	EXPECT_ERRNO(EFAULT, getsockopt(w, SOL_AGGNET, AGGNET_SO_STATUS, NULL,
					&len));
	EXPECT_ERRNO(ENOPROTOOPT, getsockopt(w, SOL_AGGNET, AGGNET_SO_ABORT,
					     &st, &len));
	EXPECT_ERRNO(ENOPROTOOPT, getsockopt(w, SOL_AGGNET + 1,
					     AGGNET_SO_STATUS, &st, &len));
	EXPECT_ERRNO(ENOPROTOOPT, setsockopt(w, SOL_AGGNET, AGGNET_SO_STATUS,
					     &why, sizeof(why)));
	EXPECT_ERRNO(EINVAL, setsockopt(w, SOL_AGGNET, AGGNET_SO_ABORT,
					&why, 3));
	EXPECT_ERRNO(EINVAL, setsockopt(w, SOL_AGGNET, AGGNET_SO_ABORT,
					&why, sizeof(why)));
	why = AGGNET_R_RECEIVER;
	EXPECT_ERRNO(EINVAL, setsockopt(w, SOL_AGGNET, AGGNET_SO_ABORT,
					&why, sizeof(why)));
	why = AGGNET_R_SENDER;
	EXPECT_ERRNO(EINVAL, setsockopt(r, SOL_AGGNET, AGGNET_SO_ABORT,
					&why, sizeof(why)));
	why = AGGNET_R_NONE;
	EXPECT_ERRNO(EINVAL, setsockopt(r, SOL_AGGNET, AGGNET_SO_ABORT,
					&why, sizeof(why)));
	EXPECT_ERRNO(EFAULT, setsockopt(r, SOL_AGGNET, AGGNET_SO_ABORT, NULL,
					sizeof(why)));
	close(w);
	close(r);
}

TEST_F(node, options__lookup)
{
	struct aggnet_lookup look = { .addr = transfer(NODE_A, JOB) };
	struct aggnet_tree_info e = entry(1);
	socklen_t len = sizeof(look);
	int s = new_socket();

	EXPECT_ERRNO(ENETUNREACH, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP,
					     &look, &len));
	e.function = AGGNET_FN_AVERAGE;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	ASSERT_EQ(0, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &look, &len));
	EXPECT_EQ(AGGNET_FN_AVERAGE, look.status.function);
	EXPECT_EQ(AGGNET_LAYOUT_KEYED, look.status.layout);
	EXPECT_EQ(AGGNET_TREE_IDLE, look.status.state);
	len--;
	EXPECT_ERRNO(EINVAL, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &look,
					&len));
	len++;
	EXPECT_ERRNO(EFAULT, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, NULL,
					&len));
	look.addr.sag_zero1 = 1;
	EXPECT_ERRNO(EINVAL, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &look,
					&len));
	close(s);
}

/* --- permission --- */

/* Join as somebody else, without any capability. Return: errno, 0: permitted */
static int join_as(uid_t uid, gid_t gid, gid_t extra, bool as_reader)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(extra ? 1 : 0, &extra) ||
		    setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
			_exit(255);
		_exit(join(new_socket(), NODE_A, JOB, as_reader) ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(node, permission__nobody_by_default)
{
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	EXPECT_EQ(EACCES, join_as(NOBODY, NOBODY, 0, false));
	EXPECT_EQ(EACCES, join_as(NOBODY, NOBODY, 0, true));
}

TEST_F(node, permission__user)
{
	struct aggnet_tree_info e = entry(1);

	e.has |= AGGNET_HAS(AGGNET_A_TREE_UID);
	e.uid = 1234;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	EXPECT_EQ(EACCES, join_as(1235, 1234, 1234, true));
	EXPECT_EQ(0, join_as(1234, NOBODY, 0, true));
}

TEST_F(node, permission__group)
{
	struct aggnet_tree_info e = entry(1);

	e.has |= AGGNET_HAS(AGGNET_A_TREE_GID);
	e.gid = 1234;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	EXPECT_EQ(EACCES, join_as(1234, NOBODY, 1235, true));
	EXPECT_EQ(0, join_as(NOBODY, 1234, 0, true));
}

TEST_F(node, permission__supplementary_group)
{
	struct aggnet_tree_info e = entry(1);

	e.has |= AGGNET_HAS(AGGNET_A_TREE_GID);
	e.gid = 1234;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	EXPECT_EQ(0, join_as(NOBODY, NOBODY, 1234, true));
}

TEST_F(node, permission__root_without_capabilities)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = {};
	int fd = new_socket();

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	ASSERT_EQ(0, syscall(SYS_capset, &head, none));
	EXPECT_ERRNO(EACCES, join(fd, NODE_A, JOB, true));
	close(fd);
}

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
	close(r);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(w);
	w = new_socket();
	EXPECT_ERRNO(EALREADY, join(w, NODE_A, JOB, false));
	EXPECT_ERRNO(EADDRINUSE, join(w, NODE_A, JOB, true));
	close(w);
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

/* A receiver that comes late finds what was sent before. */
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

/* A page that cannot be read follows: what is before it may be taken. */
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

/* --- waiting --- */

struct waiter {
	int fd;
	int flags;
	struct message m;
	ssize_t n;
	int error;
	pthread_t thread;
};

static void *wait_in_recv(void *arg)
{
	struct waiter *waiter = arg;

	waiter->n = receive(waiter->fd, &waiter->m, waiter->flags);
	waiter->error = errno;
	return NULL;
}

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

/* Send keys of their own until the node has no room. Return: how many went. */
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

/* Read until there is nothing, or the end. Return: records read. */
static uint64_t drain(int r, struct message *m)
{
	uint64_t records = 0;

	while (receive(r, m, MSG_DONTWAIT) > 0 &&
	       m->head.type == AGGNET_MSG_RECORDS)
		records += m->head.records;
	return records;
}

TEST_F_TIMEOUT(node, back_pressure__the_reader_makes_room, SLOW)
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

TEST_F_TIMEOUT(node, back_pressure__blocked_writers, SLOW)
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

TEST_F_TIMEOUT(node, back_pressure__send_time_is_bounded, SLOW)
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
	/* Memory may still have been growing: try until there is none. */
	ASSERT_EQ(0, setsockopt(w, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
	while (send(w, buf, len, 0) > 0)
		buf[2]++;
	EXPECT_EQ(EAGAIN, errno);
	close(r);
	close(w);
}

/* --- the end of a transfer that fails --- */

static int so_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) ? -1 : err;
}

TEST_F(node, close__of_a_writer_aborts)
{
	uint32_t origin;
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 1));
	close(w);
	EXPECT_EQ(POLLERR, await(r, POLLIN) & POLLERR);
	EXPECT_EQ(ECONNABORTED, so_error(r));
	EXPECT_ERRNO(ECONNABORTED, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_R_SENDER, reason(r, &origin));
	EXPECT_EQ(inet_addr(NODE_A), origin);
	close(r);
}

TEST_F(node, close__of_the_reader_aborts)
{
	uint32_t origin;
	int r, w, late;

	ASSERT_EQ(0, add_writers(self->ctl, 2));
	r = reader();
	w = writer();
	close(r);
	EXPECT_EQ(POLLERR, await(w, POLLIN) & POLLERR);
	EXPECT_ERRNO(EPIPE, send_record(w, "key", 1));
	EXPECT_ERRNO(EPIPE, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EPIPE, receive(w, &self->m, 0));
	late = new_socket();
	EXPECT_ERRNO(EPIPE, join(late, NODE_A, JOB, false));
	EXPECT_EQ(AGGNET_R_RECEIVER, reason(late, &origin));
	EXPECT_EQ(inet_addr(NODE_A), origin);
	close(late);
	close(w);
}

/* A crash closes too. */
TEST_F(node, close__by_a_killed_process)
{
	int r, w, status;
	pid_t pid;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	pid = fork();
	if (!pid) {
		raise(SIGKILL);
		_exit(1);
	}
	close(w);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_ERRNO(ECONNABORTED, receive(r, &self->m, 0));
	close(r);
}

TEST_F(node, abort__by_an_application)
{
	const struct {
		uint32_t why;
		bool by_reader;
		int error;
	} cases[] = {
		{ AGGNET_R_OVERFLOW, true, EOVERFLOW },
		{ AGGNET_R_USER, true, ECANCELED },
		{ AGGNET_R_RECEIVER, true, EPIPE },
		{ AGGNET_R_USER, false, ECANCELED },
		{ AGGNET_R_SENDER, false, ECONNABORTED },
	};
	unsigned int i;
	int fd, r, w;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct aggnet_tree_info e = entry(1);

		e.instance = i + 1;
		ASSERT_EQ(0, add_entry(self->ctl, &e, i > 0));
		r = reader();
		w = writer();
		fd = w;
		if (cases[i].by_reader)
			fd = r;
		ASSERT_EQ(0, setsockopt(fd, SOL_AGGNET, AGGNET_SO_ABORT,
					&cases[i].why, sizeof(cases[i].why)));
		EXPECT_ERRNO(cases[i].error, receive(r, &self->m, 0));
		EXPECT_ERRNO(cases[i].error, receive(w, &self->m, 0));
		close(r);
		close(w);
	}
}

TEST_F(node, recv__a_fault_loses_the_transfer)
{
	void *map = mmap(NULL, BUF, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	int r, w;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 1));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EFAULT, recv(r, map, BUF, 0));
	EXPECT_ERRNO(EPIPE, receive(r, &self->m, 0));
	EXPECT_ERRNO(EPIPE, receive(w, &self->m, 0));
	close(r);
	close(w);
}

TEST_F(node, recv__a_fault_of_peek_loses_nothing)
{
	void *map = mmap(NULL, BUF, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	int r, w;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EFAULT, recv(r, map, BUF, MSG_PEEK));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(r);
	close(w);
}

TEST_F(node, entry__withdrawn_under_the_sockets)
{
	struct waiter *r = calloc(1, sizeof(*r));
	int w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r->fd = reader();
	w = writer();
	ASSERT_EQ(0, pthread_create(&r->thread, NULL, wait_in_recv, r));
	ASSERT_EQ(0, aggnet_tree_del(self->ctl,
				     aggnet_incast_id(JOB, ip(NODE_A))));
	ASSERT_EQ(0, pthread_join(r->thread, NULL));
	EXPECT_EQ(-1, r->n);
	EXPECT_EQ(ECANCELED, r->error);
	EXPECT_ERRNO(ECANCELED, send_record(w, "key", 1));
	EXPECT_ERRNO(ECANCELED, receive(w, &self->m, 0));
	close(r->fd);
	close(w);
	free(r);
}

TEST_F(node, entry__newer_epoch)
{
	struct aggnet_tree_info e = entry(1);
	int r, w, r2, w2;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 1));
	e.has |= AGGNET_HAS(AGGNET_A_TREE_ATTEMPT);
	e.attempt = 1;
	ASSERT_EQ(0, add_entry(self->ctl, &e, true));
	EXPECT_ERRNO(ESTALE, send_record(w, "key", 1));
	EXPECT_ERRNO(ESTALE, receive(w, &self->m, 0));
	EXPECT_ERRNO(ESTALE, receive(r, &self->m, 0));
	r2 = reader();
	w2 = writer();
	ASSERT_LE(0, r2);
	ASSERT_LE(0, w2);
	ASSERT_EQ(0, send_record(w2, "key", 4));
	ASSERT_EQ(0, shutdown(w2, SHUT_WR));
	EXPECT_EQ(4, only_value(&self->m, receive(r2, &self->m, 0)));
	ASSERT_LT(0, receive(r2, &self->m, 0));
	EXPECT_EQ(1, self->m.end.attempt);
	EXPECT_EQ(0, receive(w2, &self->m, 0));
	close(r);
	close(w);
	close(r2);
	close(w2);
}

TEST_F(node, module__stays_while_there_are_sockets)
{
	int fd = new_socket();

	ASSERT_LE(0, fd);
	EXPECT_ERRNO(EWOULDBLOCK, syscall(SYS_delete_module, "aggnet",
					  O_NONBLOCK));
	close(fd);
}

TEST_HARNESS_MAIN
