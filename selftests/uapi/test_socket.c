// SPDX-License-Identifier: GPL-2.0
/* The socket on one node: which users may join a transfer, names and options.
 * Needs root and the module.
 */
#include <grp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/capability.h>

#include "one_node.h"

/* The least buffer that a receiver must pass. */
#define LEAST	(sizeof(struct aggnet_msg) + AGGNET_RECORD_MAX)
/* struct aggnet_lookup before its status got the plan. */
#define OLD_LOOKUP	offsetof(struct aggnet_lookup, status.plan)
#define NOBODY		65534

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

TEST_F(node, connect__on_a_node_that_is_not_a_source)
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
	static const uint8_t none[AGGNET_PLAN_ID_LEN];
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
	EXPECT_EQ(0, memcmp(none, st.plan, sizeof(st.plan)));
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
	/* As in bind(), 0 is this node. */
	memset(&look.status, 0, sizeof(look.status));
	look.addr.sag_receiver = 0;
	ASSERT_EQ(0, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &look, &len));
	EXPECT_EQ(AGGNET_FN_AVERAGE, look.status.function);
	EXPECT_EQ(0, look.addr.sag_receiver);
	len = OLD_LOOKUP - 1;
	EXPECT_ERRNO(EINVAL, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &look,
					&len));
	len = sizeof(look);
	EXPECT_ERRNO(EFAULT, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, NULL,
					&len));
	look.addr.sag_zero1 = 1;
	EXPECT_ERRNO(EINVAL, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &look,
					&len));
	close(s);
}

/*
 * A socket that names an epoch does not join another one, and the entry in
 * force continues without it.
 */
TEST_F(node, options__epoch)
{
	struct aggnet_tree_info e = entry(1), now;
	struct aggnet_epoch only = { 1, 0 };
	int w = new_socket(), r = new_socket();

	EXPECT_ERRNO(EINVAL, setsockopt(w, SOL_AGGNET, AGGNET_SO_EPOCH, &only,
					sizeof(only) - 1));
	EXPECT_ERRNO(EFAULT, setsockopt(w, SOL_AGGNET, AGGNET_SO_EPOCH, NULL,
					sizeof(only)));
	ASSERT_EQ(0, setsockopt(w, SOL_AGGNET, AGGNET_SO_EPOCH, &only,
				sizeof(only)));
	ASSERT_EQ(0, setsockopt(r, SOL_AGGNET, AGGNET_SO_EPOCH, &only,
				sizeof(only)));
	e.instance = 2;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	EXPECT_ERRNO(ESTALE, join(w, NODE_A, JOB, false));
	EXPECT_ERRNO(ESTALE, join(r, NODE_A, JOB, true));
	only = (struct aggnet_epoch){ 2, 1 };
	ASSERT_EQ(0, setsockopt(w, SOL_AGGNET, AGGNET_SO_EPOCH, &only,
				sizeof(only)));
	EXPECT_ERRNO(ESTALE, join(w, NODE_A, JOB, false));
	close(r);
	ASSERT_EQ(0, aggnet_tree_get(self->ctl, e.incast_id, &now));
	EXPECT_EQ(AGGNET_TREE_IDLE, now.state);
	aggnet_tree_clear(&now);
	only.attempt = 0;
	ASSERT_EQ(0, setsockopt(w, SOL_AGGNET, AGGNET_SO_EPOCH, &only,
				sizeof(only)));
	ASSERT_EQ(0, join(w, NODE_A, JOB, false));
	EXPECT_ERRNO(EISCONN, setsockopt(w, SOL_AGGNET, AGGNET_SO_EPOCH, &only,
					 sizeof(only)));
	close(w);
}

/* Programs with a shorter and with a longer struct than the kernel's. */
TEST_F(node, options__the_plan)
{
	struct {
		struct aggnet_lookup look;
		uint8_t more[8];
	} large = { .look.addr = transfer(NODE_A, JOB) };
	struct aggnet_status *st = &large.look.status;
	static const uint8_t none[AGGNET_PLAN_ID_LEN];
	struct aggnet_tree_info e = entry(1);
	socklen_t len = OLD_LOOKUP;
	int s = new_socket();
	unsigned int i;

	e.has |= AGGNET_HAS(AGGNET_A_TREE_PLAN) |
		 AGGNET_HAS(AGGNET_A_TREE_STRIPE) |
		 AGGNET_HAS(AGGNET_A_TREE_STRIPES);
	e.stripe = 1;
	e.stripes = 3;
	for (i = 0; i < AGGNET_PLAN_LEN; i++)
		e.plan[i] = 0xa0 + i;
	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	ASSERT_EQ(0, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &large, &len));
	EXPECT_EQ(OLD_LOOKUP, len);
	EXPECT_EQ(1, st->instance);
	EXPECT_EQ(0, memcmp(none, st->plan, sizeof(none)));
	len = sizeof(large);
	ASSERT_EQ(0, getsockopt(s, SOL_AGGNET, AGGNET_SO_LOOKUP, &large, &len));
	EXPECT_EQ(sizeof(large.look), len);
	EXPECT_EQ(0, memcmp(e.plan, st->plan, sizeof(none)));
	EXPECT_EQ(1, st->stripe);
	EXPECT_EQ(3, st->stripes);
	close(s);
	s = reader();
	memset(st, 0, sizeof(*st));
	len = sizeof(*st);
	ASSERT_EQ(0, getsockopt(s, SOL_AGGNET, AGGNET_SO_STATUS, st, &len));
	EXPECT_EQ(0, memcmp(e.plan, st->plan, sizeof(none)));
	memset(st, 0, sizeof(*st));
	len = offsetof(struct aggnet_status, plan);
	ASSERT_EQ(0, getsockopt(s, SOL_AGGNET, AGGNET_SO_STATUS, st, &len));
	EXPECT_EQ(offsetof(struct aggnet_status, plan), len);
	EXPECT_EQ(1, st->instance);
	EXPECT_EQ(0, memcmp(none, st->plan, sizeof(none)));
	close(s);
}

/* --- permission --- */

/* Join as another user, without any capability. Return: errno, 0: permitted */
static int join_fd_as(int fd, uid_t uid, gid_t gid, gid_t extra, bool as_reader)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(extra ? 1 : 0, &extra) ||
		    setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
			_exit(255);
		_exit(join(fd, NODE_A, JOB, as_reader) ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int join_as(uid_t uid, gid_t gid, gid_t extra, bool as_reader)
{
	int fd = new_socket();
	int err = join_fd_as(fd, uid, gid, extra, as_reader);

	close(fd);
	return err;
}

TEST_F(node, permission__no_user_by_default)
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

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = {};

	return syscall(SYS_capset, &head, none);
}

/* A socket that may not join cannot read the status either. */
TEST_F(node, permission__root_without_capabilities)
{
	struct aggnet_status st;
	socklen_t len = sizeof(st);
	int fd = new_socket();

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	ASSERT_EQ(0, drop_capabilities());
	EXPECT_ERRNO(EACCES, join(fd, NODE_A, JOB, true));
	EXPECT_ERRNO(ENOTCONN, getsockopt(fd, SOL_AGGNET, AGGNET_SO_STATUS,
					  &st, &len));
	close(fd);
}

/* A refused join() keeps no memory of an entry that is then withdrawn. */
TEST_F(node, permission__refused_holds_no_memory)
{
	struct aggnet_node_info node;
	int fd = new_socket();

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	EXPECT_EQ(EACCES, join_fd_as(fd, NOBODY, NOBODY, 0, false));
	ASSERT_EQ(0, aggnet_tree_del(self->ctl,
				     aggnet_incast_id(JOB, ip(NODE_A))));
	do {
		ASSERT_EQ(0, aggnet_node_get(self->ctl, &node));
	} while (node.memory_used);
	close(fd);
}

TEST_HARNESS_MAIN
