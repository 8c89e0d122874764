// SPDX-License-Identifier: GPL-2.0
/* Standard output, taken back to where it began. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewind.h"

/**
 * rewind_start() - where what is printed from now on begins
 *
 * What is appended to a file begins at its end, which the offset does not tell
 * before the first byte is written.
 *
 * Return: the place, or -1 if standard output cannot be taken back.
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
 * rewind_to() - take back what was printed
 * @start: what rewind_start() returned
 *
 * Return: 0, or -1 and errno.
 */
int rewind_to(off_t start)
{
	return fflush(stdout) || ftruncate(STDOUT_FILENO, start) ||
	       lseek(STDOUT_FILENO, start, SEEK_SET) < 0 ? -1 : 0;
}
