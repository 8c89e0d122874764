// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the watch of devices: it closes what it has opened, once. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static int refuse(void)
{
	errno = EPERM;
	return -1;
}

#define bind(fd, addr, len) ((void)(addr), refuse())
#include "../../tools/aggctl/link_watch.c"
#include "../uapi/harness.h"

TEST(link_watch_open__closes_when_it_fails)
{
	struct link_watch watch;
	int before = dup(STDIN_FILENO), after;

	close(before);
	ASSERT_EQ(-1, link_watch_open(&watch));
	after = dup(STDIN_FILENO);
	EXPECT_EQ(before, after);
	/* The number is of a file of the caller now. */
	link_watch_close(&watch);
	EXPECT_NE(-1, fcntl(after, F_GETFD));
	link_watch_close(&watch);
	EXPECT_NE(-1, fcntl(STDIN_FILENO, F_GETFD));
}

TEST_HARNESS_MAIN
