// SPDX-License-Identifier: GPL-2.0
/*
 * A supervisor has a socket with an abstract name, which has the job's number. Such a name
 * belongs to the network namespace, and it ends with the process.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "aggctl.h"
#include "supervise/presence.h"

#define NAME	"aggnet-supervise/%u/"

int presence_open(uint32_t job)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), len;

	len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, NAME "%d",
		       job, getpid());
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&name, (socklen_t)
			     (offsetof(struct sockaddr_un, sun_path) + 1 +
			      (size_t)len)))
		return fd;
	err("warning: 'aggctl withdraw --hosts' does not find this supervisor: %s",
	    strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

bool presence_found(uint32_t job)
{
	FILE *f = fopen("/proc/self/net/unix", "re");
	char name[48], line[256];
	bool found = false;

	snprintf(name, sizeof(name), " @" NAME, job);
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, name);
	if (f)
		fclose(f);
	return found;
}
