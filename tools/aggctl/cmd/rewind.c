// SPDX-License-Identifier: GPL-2.0
/* Standard output, taken back to where it began. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/rewind.h"

/**
 * rewind_start() - the position at which output begins
 *
 * Appended text begins at the end of the file, which the offset does not show
 * before the first byte is written.
 *
 * Return: the position, or -1 if standard output cannot be truncated.
 */
off_t rewind_start(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode))
		return -1;
	return lseek(STDOUT_FILENO, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
}

/**
 * rewind_to() - truncate what was printed
 * @start: what rewind_start() returned
 *
 * Return: 0, or -1 and errno.
 */
int rewind_to(off_t start)
{
	return fflush(stdout) || ftruncate(STDOUT_FILENO, start) ||
	       lseek(STDOUT_FILENO, start, SEEK_SET) < 0 ? -1 : 0;
}
