// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the text files that "aggctl plan" reads, and of files that are
 * refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/plan.h"
#include "../uapi/harness.h"

/* Read a file with these bytes. Return: the text, to be freed */
static char *read_bytes(const char *bytes, size_t n)
{
	char path[] = "/tmp/aggnet-test-XXXXXX", *text = NULL;
	int fd = mkstemp(path);

	if (write(fd, bytes, n) == (ssize_t)n)
		text = plan_read_file("plan", path);
	close(fd);
	unlink(path);
	return text;
}

TEST(plan_read_file__text)
{
	char *text = read_bytes("v1\nv3", 5);

	EXPECT_STREQ("v1\nv3", text);
	free(text);
}

TEST(plan_read_file__none)
{
	EXPECT_EQ(NULL, plan_read_file("plan", "/nonexistent"));
	EXPECT_EQ(NULL, plan_read_file("plan", "/"));
	EXPECT_EQ(NULL, read_bytes("", 0));
}

TEST(plan_read_file__zero)
{
	EXPECT_EQ(NULL, read_bytes("", 1));
	EXPECT_EQ(NULL, read_bytes("v1\0v3", 5));
	EXPECT_EQ(NULL, read_bytes("v1\n", 4));
}

TEST_HARNESS_MAIN
