// SPDX-License-Identifier: GPL-2.0
/* Standard output, written through to the disk. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/sync.h"

/* Is standard output the file of this name in the directory? */
static bool names_output(int dir, const char *name)
{
	struct stat there, here;

	return !fstatat(dir, name, &there, 0) &&
	       !fstat(STDOUT_FILENO, &here) && S_ISREG(here.st_mode) &&
	       there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/**
 * sync_directory() - open the directory that standard output is in
 *
 * Return: a descriptor for sync_output(), or -1: it is not a file with a name
 */
int sync_directory(void)
{
	char path[PATH_MAX];
	ssize_t len;
	char *name;
	int dir;

	len = readlink("/proc/self/fd/1", path, sizeof(path) - 1);
	if (len < 0)
		return -1;
	path[len] = '\0';
	name = strrchr(path, '/');
	if (!name)
		return -1;
	*name++ = '\0';
	dir = open(*path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || names_output(dir, name))
		return dir;
	close(dir);
	return -1;
}

/**
 * sync_output() - sync the printed file
 * @dir: what sync_directory() returned
 *
 * A new file is lost with its directory entry, so both are synced.
 *
 * Return: 0, or -1 and errno.
 */
int sync_output(int dir)
{
	return fflush(stdout) || fsync(STDOUT_FILENO) || fsync(dir) ? -1 : 0;
}
