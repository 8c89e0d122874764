// SPDX-License-Identifier: GPL-2.0
/* Named network namespaces: bind mounts under /run/netns. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggctl.h"
#include "files.h"
#include "netns.h"

#define NETNS_DIR	"/run/netns"
#define OWN_NETNS	"/proc/thread-self/ns/net"

static const char *netns_path(const char *name)
{
	static char path[PATH_MAX];

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	return path;
}

/**
 * netns_prepare() - prepare the directory of names
 *
 * It must be a shared mount point, so that other mount namespaces see names
 * appear and disappear.
 *
 * Return: 0, or -1 with an error line printed.
 */
int netns_prepare(void)
{
	if (mkdir(NETNS_DIR, 0755) && errno != EEXIST)
		goto bad;
	if (!mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL))
		return 0;
	if (errno != EINVAL)
		goto bad;
	if (mount(NETNS_DIR, NETNS_DIR, "none", MS_BIND | MS_REC, NULL) ||
	    mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL))
		goto bad;
	return 0;
bad:
	err(NETNS_DIR ": %s", strerror(errno));
	return -1;
}

/**
 * netns_exists() - whether there is such a namespace, or may be
 * @name: name or path of the namespace
 *
 * False only if it is certain: a path that may not be looked at may exist.
 */
bool netns_exists(const char *name)
{
	return !access(netns_path(name), F_OK) ||
	       (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG);
}

/**
 * netns_is_own() - whether this process is in a named namespace
 * @name: name of the namespace, which need not exist
 */
bool netns_is_own(const char *name)
{
	struct stat own, other;

	return !stat(OWN_NETNS, &own) && !stat(netns_path(name), &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/**
 * netns_create() - make a named namespace and enter it
 * @name: name of the namespace, not taken yet
 *
 * Return: a descriptor of it, or -1 with an error line printed.
 */
int netns_create(const char *name)
{
	const char *path = netns_path(name);
	int fd;

	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0) {
		err("namespace %s: %s", name, strerror(errno));
		return -1;
	}
	close(fd);
	if (unshare(CLONE_NEWNET) ||
	    mount(OWN_NETNS, path, "none", MS_BIND, NULL)) {
		err("namespace %s: %s", name, strerror(errno));
		unlink(path);
		return -1;
	}
	return netns_open(name);
}

/**
 * netns_open() - open a named namespace
 * @name: name or path of the namespace
 *
 * Return: a descriptor, or -1 with an error line printed.
 */
int netns_open(const char *name)
{
	int fd = open(netns_path(name), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err("namespace %s: %s", name, files_error(errno));
	return fd;
}

/**
 * netns_enter_fd() - enter a namespace
 * @fd: descriptor of it
 * @name: its name, for the error line
 *
 * Return: 0, or -1 with an error line printed.
 */
int netns_enter_fd(int fd, const char *name)
{
	if (!setns(fd, CLONE_NEWNET))
		return 0;
	err("namespace %s: %s", name, strerror(errno));
	return -1;
}

/**
 * netns_enter() - enter a namespace by its name
 * @name: name or path of the namespace
 *
 * Return: 0, or -1 with an error line printed.
 */
int netns_enter(const char *name)
{
	int fd = netns_open(name);
	int ret;

	if (fd < 0)
		return -1;
	ret = netns_enter_fd(fd, name);
	close(fd);
	return ret;
}

/**
 * netns_delete() - delete a name
 * @name: name of the namespace
 *
 * The namespace is deleted when nothing uses it any more. A missing name is not
 * an error.
 *
 * Return: 0, or -1 with an error line printed.
 */
int netns_delete(const char *name)
{
	const char *path = netns_path(name);

	/* A half-made name is a plain file without a mount. */
	if (umount2(path, MNT_DETACH) && errno != EINVAL && errno != ENOENT)
		goto bad;
	if (unlink(path) && errno != ENOENT)
		goto bad;
	return 0;
bad:
	err("namespace %s: %s", name, strerror(errno));
	return -1;
}

/**
 * netns_watch() - watch for deleted names
 *
 * Return: an inotify descriptor, or -1 with an error line printed.
 */
int netns_watch(void)
{
	int fd = inotify_init1(IN_CLOEXEC);

	if (fd >= 0 && inotify_add_watch(fd, NETNS_DIR, IN_DELETE) >= 0)
		return fd;
	err(NETNS_DIR ": %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
