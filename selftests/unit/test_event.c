// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libaggnet's events: the library accepts messages of the kernel
 * only, and only whole ones.
 */
#include <errno.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/aggnet.h>

static ssize_t play_recvmsg(int fd, struct msghdr *msg, int flags);

#include "../../tools/libaggnet/spec_gen.c"
#include "../../tools/libaggnet/field.c"
#define recvmsg play_recvmsg
#include "../../tools/libaggnet/event.c"
#undef recvmsg

#include <kselftest_harness.h>

#define FAMILY	42

/**
 * struct datagram - a datagram that the socket gets, or an error
 * @error: what recvmsg() fails with, 0: it succeeds
 * @portid: the sender's, 0: the kernel
 * @flags: of struct msghdr
 * @type: of the message
 * @cmd: of the message
 * @ifindex: tells events apart
 */
struct datagram {
	int error;
	uint32_t portid;
	int flags;
	uint16_t type;
	uint8_t cmd;
	uint32_t ifindex;
};

/* The datagrams to come; after them EAGAIN. */
static const struct datagram *script;
static size_t left;

static size_t make(void *to, const struct datagram *d)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsghdr *h;
	size_t len;

	genlmsg_put(msg, 0, 0, d->type, 0, 0, d->cmd, 1);
	nla_put_u8(msg, AGGNET_A_EVENT_KIND, AGGNET_EVENT_PORT_GONE);
	nla_put_u32(msg, AGGNET_A_EVENT_IFINDEX, d->ifindex);
	h = nlmsg_hdr(msg);
	len = h->nlmsg_len;
	memcpy(to, h, len);
	nlmsg_free(msg);
	return len;
}

static ssize_t play_recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl from = { .nl_family = AF_NETLINK };
	const struct datagram *d = script;

	if (!left) {
		errno = EAGAIN;
		return -1;
	}
	script++;
	left--;
	errno = d->error;
	if (d->error)
		return -1;
	from.nl_pid = d->portid;
	memcpy(msg->msg_name, &from, sizeof(from));
	msg->msg_flags = d->flags;
	return make(msg->msg_iov->iov_base, d);
}

int aggnet_ctl_fail(struct aggnet_ctl *ctl, int error, const char *fmt, ...)
{
	return error;
}

int aggnet_ctl_fail_socket(struct aggnet_ctl *ctl, int nlerr)
{
	return nlerr;
}

FIXTURE(event) {
	struct aggnet_ctl ctl;
	struct aggnet_event_info info;
};

FIXTURE_SETUP(event)
{
	self->ctl.family = FAMILY;
	self->ctl.events = nl_socket_alloc();
	ASSERT_NE(NULL, self->ctl.events);
}

FIXTURE_TEARDOWN(event)
{
	aggnet_event_clear(&self->info);
	nl_socket_free(self->ctl.events);
}

#define PLAY(list) do { script = list; left = ARRAY_SIZE(list); } while (0)

static const struct datagram good = { 0, 0, 0, FAMILY, AGGNET_CMD_EVENT, 7 };

TEST_F(event, of_the_kernel_only)
{
	const struct datagram list[] = {
		{ 0, 1234, 0, FAMILY, AGGNET_CMD_EVENT, 8 },
		{ 0, 0, 0, FAMILY + 1, AGGNET_CMD_EVENT, 9 },
		{ 0, 0, 0, FAMILY, AGGNET_CMD_NODE_GET, 10 },
		good,
	};

	PLAY(list);
	ASSERT_EQ(0, aggnet_events_next(&self->ctl, &self->info));
	EXPECT_EQ(AGGNET_EVENT_PORT_GONE, self->info.kind);
	EXPECT_EQ(7, self->info.ifindex);
	EXPECT_EQ(0, left);
}

/*
 * The descriptor is readable, but not because of an event; the call does not
 * block.
 */
TEST_F(event, none_after_another_datagram)
{
	const struct datagram list[] = {
		{ 0, 1234, 0, FAMILY, AGGNET_CMD_EVENT, 8 },
		{ 0, 1234, MSG_TRUNC, FAMILY, AGGNET_CMD_EVENT, 8 },
	};

	PLAY(list);
	EXPECT_EQ(-EAGAIN, aggnet_events_next(&self->ctl, &self->info));
	EXPECT_EQ(0, left);
}

TEST_F(event, part_of_one_is_a_loss)
{
	const struct datagram list[] = {
		{ 0, 0, MSG_TRUNC, FAMILY, AGGNET_CMD_EVENT, 8 },
		good,
	};

	PLAY(list);
	EXPECT_EQ(-ENOBUFS, aggnet_events_next(&self->ctl, &self->info));
	ASSERT_EQ(0, aggnet_events_next(&self->ctl, &self->info));
	EXPECT_EQ(7, self->info.ifindex);
}

TEST_F(event, errors_of_the_socket)
{
	const struct datagram list[] = { { EINTR }, { ENOBUFS }, { ENOMEM }, good };

	PLAY(list);
	EXPECT_EQ(-EINTR, aggnet_events_next(&self->ctl, &self->info));
	EXPECT_EQ(-ENOBUFS, aggnet_events_next(&self->ctl, &self->info));
	EXPECT_EQ(-ENOMEM, aggnet_events_next(&self->ctl, &self->info));
	EXPECT_EQ(0, aggnet_events_next(&self->ctl, &self->info));
	EXPECT_EQ(-EAGAIN, aggnet_events_next(&self->ctl, &self->info));
}

TEST_HARNESS_MAIN
