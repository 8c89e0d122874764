// SPDX-License-Identifier: GPL-2.0
/* How many descriptors the process may have. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "files.h"

/**
 * raise_files() - let the process have as many descriptors as it may
 *
 * A plan takes one of each of its nodes, supervision three.
 */
void raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/**
 * files_error() - as strerror(), but it names the limit that was met
 * @error: errno
 *
 * Return: a text that lasts until the next call.
 */
const char *files_error(int error)
{
	static char text[80];
	struct rlimit limit;

	if (error != EMFILE || getrlimit(RLIMIT_NOFILE, &limit))
		return strerror(error);
	snprintf(text, sizeof(text), "%s: the limit is %llu (ulimit -n)",
		 strerror(error), (unsigned long long)limit.rlim_cur);
	return text;
}
