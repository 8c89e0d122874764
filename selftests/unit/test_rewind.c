// SPDX-License-Identifier: GPL-2.0
/* Unit tests of truncating standard output: what the file had before remains.
 */
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/aggctl/cmd/rewind.c"
#include "../uapi/harness.h"

FIXTURE(output) {
	char path[32];
};

FIXTURE_SETUP(output)
{
	int fd;

	strcpy(self->path, "/tmp/aggnet-test-XXXXXX");
	fd = mkstemp(self->path);
	ASSERT_LE(0, fd);
	ASSERT_EQ(4, write(fd, "old\n", 4));
	close(fd);
}

FIXTURE_TEARDOWN(output)
{
	unlink(self->path);
}

/* Print to the file from now on; its earlier content stays. */
static int print_to(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | flags);

	__fpurge(stdout);
	return dup2(fd, STDOUT_FILENO);
}

static const char *content(const char *path)
{
	static char text[64];
	FILE *f = fopen(path, "r");

	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* The shell's ">>": writes go to the end, but the offset is 0. */
TEST_F(output, appended)
{
	off_t start;

	ASSERT_EQ(STDOUT_FILENO, print_to(self->path, O_APPEND));
	start = rewind_start();
	printf("void\n");
	ASSERT_EQ(0, rewind_to(start));
	EXPECT_STREQ("old\n", content(self->path));
	printf("new\n");
	ASSERT_EQ(0, fflush(stdout));
	EXPECT_STREQ("old\nnew\n", content(self->path));
}

TEST_F(output, from_a_place_in_the_file)
{
	off_t start;

	ASSERT_EQ(STDOUT_FILENO, print_to(self->path, 0));
	ASSERT_EQ(2, lseek(STDOUT_FILENO, 2, SEEK_SET));
	start = rewind_start();
	printf("void\n");
	ASSERT_EQ(0, fflush(stdout));
	EXPECT_STREQ("olvoid\n", content(self->path));
	ASSERT_EQ(0, rewind_to(start));
	EXPECT_STREQ("ol", content(self->path));
	printf("new\n");
	ASSERT_EQ(0, fflush(stdout));
	EXPECT_STREQ("olnew\n", content(self->path));
}

TEST(start__of_what_is_no_file)
{
	int fd[2];

	ASSERT_EQ(0, pipe(fd));
	ASSERT_EQ(STDOUT_FILENO, dup2(fd[1], STDOUT_FILENO));
	EXPECT_EQ(-1, rewind_start());
	ASSERT_EQ(0, close(STDOUT_FILENO));
	EXPECT_EQ(-1, rewind_start());
}

TEST_HARNESS_MAIN
