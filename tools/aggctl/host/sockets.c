// SPDX-License-Identifier: GPL-2.0
/* Looks through the descriptors of all processes for sockets of aggnet. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/aggnet.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggctl.h"
#include "host/sockets.h"

static bool is_ours(int fd)
{
	int protocol = 0;
	socklen_t len = sizeof(protocol);

	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) &&
	       protocol == IPPROTO_AGGNET;
}

/* A copy of the descriptor answers; it is closed at once. */
static bool holds(int pidfd, int fd)
{
	int copy = pidfd_getfd(pidfd, fd, 0);
	bool found = copy >= 0 && is_ours(copy);

	if (copy >= 0)
		close(copy);
	return found;
}

static json_t *user_json(const char *path)
{
	const struct passwd *user;
	struct stat st;
	json_t *name;

	if (stat(path, &st))
		return json_null();
	user = getpwuid(st.st_uid);
	name = user ? json_string(user->pw_name) : NULL;
	return name ? name : json_sprintf("%u", (unsigned int)st.st_uid);
}

/* "?" if the process has ended meanwhile, or if its name is no text. */
static json_t *command_json(const char *path)
{
	char name[300], line[64] = "";
	json_t *command;
	FILE *f;

	snprintf(name, sizeof(name), "%s/comm", path);
	f = fopen(name, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	command = line[0] ? json_string(line) : NULL;
	return command ? command : json_string("?");
}

static void look_into(json_t *rows, const char *pid, int pidfd, DIR *fds)
{
	const struct dirent *entry;
	char path[280], to[16];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%s", pid);
	while ((entry = readdir(fds))) {
		len = readlinkat(dirfd(fds), entry->d_name, to, sizeof(to));
		if (len < 8 || memcmp(to, "socket:[", 8) ||
		    !holds(pidfd, atoi(entry->d_name)))
			continue;
		json_array_append_new(rows, json_pack(
			"{s:i, s:o, s:o, s:i}", "pid", atoi(pid), "command",
			command_json(path), "user", user_json(path), "fd",
			atoi(entry->d_name)));
	}
}

static void look_at(json_t *rows, const char *pid, size_t *unseen)
{
	char path[280];
	int pidfd;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path);
	pidfd = fds ? pidfd_open(atoi(pid), 0) : -1;
	if (pidfd >= 0)
		look_into(rows, pid, pidfd, fds);
	else if (errno != ENOENT && errno != ESRCH)
		(*unseen)++;
	if (pidfd >= 0)
		close(pidfd);
	if (fds)
		closedir(fds);
}

json_t *host_sockets(size_t *unseen)
{
	json_t *rows = json_array();
	const struct dirent *entry;
	DIR *proc = opendir("/proc");

	*unseen = 0;
	if (!proc) {
		err("host: /proc: %s", strerror(errno));
		json_decref(rows);
		return NULL;
	}
	while ((entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			look_at(rows, entry->d_name, unseen);
	closedir(proc);
	return rows;
}
