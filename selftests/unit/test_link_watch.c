// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the watch of devices, with a socket that the test provides: the
 * watch closes each descriptor once, and finds what changed while messages were
 * lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWERS	16

/* A device; for other types than RTM_*LINK a message without one. */
struct answer {
	int error;
	unsigned short type;
	unsigned short flags;
	int index;
	const char *name;
	bool up;
};

/**
 * struct fake_socket - what the watch reads
 * @refuse: bind() fails
 * @answer: the queue
 * @n: how many
 * @next: the next one
 * @asked: dumps that were requested
 */
static struct fake_socket {
	bool refuse;
	struct answer answer[ANSWERS];
	unsigned int n;
	unsigned int next;
	unsigned int asked;
} queue;

static int fake_bind(void)
{
	errno = EPERM;
	return queue.refuse ? -1 : 0;
}

static ssize_t fake_send(size_t len)
{
	queue.asked++;
	return (ssize_t)len;
}

static ssize_t fake_recv(void *buf)
{
	const struct answer *a = &queue.answer[queue.next];
	struct {
		struct nlmsghdr h;
		struct ifinfomsg info;
		struct rtattr attr;
		char name[IFNAMSIZ];
	} msg = {
		.h = { sizeof(msg), a->type, a->flags, 0, 0 },
		.info.ifi_index = a->index,
		.info.ifi_flags = a->up ? IFF_UP | IFF_LOWER_UP : 0,
		.attr = { RTA_LENGTH(IFNAMSIZ), IFLA_IFNAME },
	};

	errno = queue.next == queue.n ? EAGAIN : a->error;
	if (errno) {
		queue.next += queue.next < queue.n;
		return -1;
	}
	queue.next++;
	if (a->name)
		strcpy(msg.name, a->name);
	memcpy(buf, &msg, sizeof(msg));
	return sizeof(msg);
}

#define bind(fd, addr, len) ((void)(addr), fake_bind())
#define send(fd, buf, len, flags) ((void)(buf), fake_send(len))
#define recv(fd, buf, len, flags) fake_recv(buf)
#include "../../tools/aggctl/supervise/link_watch.c"
#include "../uapi/harness.h"

static void put(struct answer answer)
{
	queue.answer[queue.n++] = answer;
}

static void put_link(int index, const char *name, bool up)
{
	put((struct answer){ .type = RTM_NEWLINK, .index = index, .name = name,
			     .up = up });
}

static void put_done(unsigned short flags)
{
	put((struct answer){ .type = NLMSG_DONE, .flags = flags });
}

struct said {
	char text[128];
};

static void say(void *arg, const char *name, bool up)
{
	struct said *said = arg;
	size_t len = strlen(said->text);

	snprintf(said->text + len, sizeof(said->text) - len, " %s%s",
		 up ? "+" : "-", name);
}

/* Take all that is in the queue. */
static int take_all(struct link_watch *watch, struct said *said)
{
	int ret = 0;

	memset(said, 0, sizeof(*said));
	while (!ret && queue.next < queue.n)
		ret = link_watch_read(watch, say, said);
	queue.n = 0;
	queue.next = 0;
	return ret;
}

FIXTURE(watch) {
	struct link_watch watch;
	struct said said;
};

FIXTURE_SETUP(watch)
{
	ASSERT_EQ(0, link_watch_open(&self->watch));
	put_link(1, "lo", true);
	put_link(2, "eth0", true);
	put_link(3, "eth1", true);
	put_done(0);
	ASSERT_EQ(0, take_all(&self->watch, &self->said));
	EXPECT_STREQ(" +lo +eth0 +eth1", self->said.text);
	EXPECT_EQ(1, queue.asked);
}

FIXTURE_TEARDOWN(watch)
{
	link_watch_close(&self->watch);
}

/*
 * A full socket drops messages until it is empty. The watch discards what is
 * queued and requests a dump of all devices; a deleted device is not in it.
 */
TEST_F(watch, lost__a_device_has_gone)
{
	put((struct answer){ .error = ENOBUFS });
	put_link(2, "eth0", false);
	put((struct answer){ .error = ENOBUFS });
	put_link(2, "eth0", true);
	ASSERT_EQ(0, link_watch_read(&self->watch, say, &self->said));
	EXPECT_EQ(queue.n, queue.next);
	EXPECT_EQ(2, queue.asked);
	put_link(1, "lo", true);
	put_link(3, "eth1", false);
	put_done(0);
	ASSERT_EQ(0, take_all(&self->watch, &self->said));
	EXPECT_STREQ(" +lo -eth1 -eth0", self->said.text);
	EXPECT_STREQ("eth0", link_watch_name(&self->watch, 2));
	/* It is reported only once. */
	put_done(0);
	ASSERT_EQ(0, take_all(&self->watch, &self->said));
	EXPECT_STREQ("", self->said.text);
}

/*
 * After many deletions the watch knows the latest ones, and all devices that
 * exist.
 */
TEST_F(watch, gone__not_all_are_remembered)
{
	const int many = 4 * LINK_GONE;
	int index;

	for (index = 10; index < 10 + many; index++) {
		put_link(index, "veth0", true);
		put((struct answer){ .type = RTM_DELLINK, .index = index,
				     .name = "veth0" });
		ASSERT_EQ(0, take_all(&self->watch, &self->said));
		EXPECT_STREQ(" +veth0 -veth0", self->said.text);
	}
	EXPECT_GE(3 + LINK_GONE, self->watch.n);
	EXPECT_STREQ("veth0", link_watch_name(&self->watch, index - 1));
	EXPECT_STREQ("veth0", link_watch_name(&self->watch, index - LINK_GONE));
	EXPECT_EQ(NULL, link_watch_name(&self->watch, 10));
	EXPECT_STREQ("eth0", link_watch_name(&self->watch, 2));
}

/* Another device has its name. */
TEST_F(watch, lost__a_device_came_in_its_place)
{
	put((struct answer){ .error = ENOBUFS });
	put_link(1, "lo", true);
	ASSERT_EQ(0, link_watch_read(&self->watch, say, &self->said));
	put_link(1, "lo", true);
	put_link(3, "eth1", true);
	put_link(4, "eth0", true);
	put_done(0);
	ASSERT_EQ(0, take_all(&self->watch, &self->said));
	EXPECT_STREQ(" +lo +eth1 +eth0", self->said.text);
}

/* The dump was interrupted by a change: the watch requests it again. */
TEST_F(watch, lost__devices_change_meanwhile)
{
	put((struct answer){ .error = ENOBUFS });
	ASSERT_EQ(0, take_all(&self->watch, &self->said));
	put_link(1, "lo", true);
	put_done(NLM_F_DUMP_INTR);
	ASSERT_EQ(0, take_all(&self->watch, &self->said));
	EXPECT_STREQ(" +lo", self->said.text);
	EXPECT_EQ(3, queue.asked);
	put_link(1, "lo", true);
	put_link(2, "eth0", true);
	put_done(0);
	ASSERT_EQ(0, take_all(&self->watch, &self->said));
	EXPECT_STREQ(" +lo +eth0 -eth1", self->said.text);
}

TEST(link_watch_open__closes_when_it_fails)
{
	struct link_watch watch;
	int before = dup(STDIN_FILENO), after;

	close(before);
	queue.refuse = true;
	ASSERT_EQ(-1, link_watch_open(&watch));
	after = dup(STDIN_FILENO);
	EXPECT_EQ(before, after);
	/* Another file of the caller has this descriptor number now. */
	link_watch_close(&watch);
	EXPECT_NE(-1, fcntl(after, F_GETFD));
	link_watch_close(&watch);
	EXPECT_NE(-1, fcntl(STDIN_FILENO, F_GETFD));
}

TEST_HARNESS_MAIN
