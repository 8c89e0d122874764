// SPDX-License-Identifier: GPL-2.0
/*
 * The file that tells which plan is in force. It is locked while it is kept up
 * to date, and replaced as a whole: it has the one plan or the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggctl.h"
#include "plan/plan_store.h"

#define STORE_TRIES	10

/* A file that is written before it takes the place of the plan. */
#define NEW_FORMAT	".aggnet-plan.%016llx"
#define NEW_SIZE	sizeof(".aggnet-plan.0123456789abcdef")

/* Return: 1 if the name is that of the open file, or of none; 0; -errno */
static int is_name_of(const struct plan_store *store, const char *name, int fd)
{
	struct stat ours, there;

	if (fstat(fd, &ours))
		return -errno;
	if (fstatat(store->dir, name, &there, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 1 : -errno;
	return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

static int is_in_place(const struct plan_store *store)
{
	return is_name_of(store, store->name, store->file);
}

/* Symbolic links are followed once, here, and never again. */
static int open_dir(struct plan_store *store)
{
	char *real = realpath(store->path, NULL), *slash;

	if (!real)
		return -1;
	slash = strrchr(real, '/');
	store->name = strdup(slash + 1);
	slash[slash == real] = '\0';
	store->dir = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(real);
	if (!store->name)
		errno = ENOMEM;
	return store->name && store->dir >= 0 ? 0 : -1;
}

static int open_name(const struct plan_store *store, int mode)
{
	/* Not to wait for the writer of a pipe. */
	return openat(store->dir, store->name, mode | O_NOFOLLOW | O_NONBLOCK |
					       O_CLOEXEC);
}

static int open_file(struct plan_store *store)
{
	struct stat st;

	/* NFS locks as a whole only what is open for writing. */
	store->file = open_name(store, O_RDWR);
	if (store->file < 0 && (errno == EACCES || errno == EROFS))
		store->file = open_name(store, O_RDONLY);
	if (store->file < 0 || fstat(store->file, &st))
		return -1;
	store->uid = st.st_uid;
	store->gid = st.st_gid;
	return flock(store->file, LOCK_EX | LOCK_NB);
}

/**
 * plan_store_is_file() - whether a plan is in a file that can be kept up to date
 * @path: as the user names it
 *
 * A pipe is read as standard input is.
 */
bool plan_store_is_file(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && (stat(path, &st) || S_ISREG(st.st_mode));
}

/**
 * plan_store_lock() - open the file of a plan and lock it, unless it is locked
 * @store: filled in; plan_store_close() is due in any case
 * @path: the file, or a symbolic link to it; has to stay
 *
 * Return: 0, -EWOULDBLOCK if another process has it locked, or another -errno.
 */
int plan_store_lock(struct plan_store *store, const char *path)
{
	int i, there = 0;

	*store = (struct plan_store){ .path = path, .dir = -1, .file = -1 };
	if (open_dir(store))
		return -errno;
	/* The process that had the lock may have replaced the file meanwhile. */
	for (i = 0; i < STORE_TRIES && there <= 0; i++) {
		if (store->file >= 0)
			close(store->file);
		if (open_file(store))
			return -errno;
		there = is_in_place(store);
	}
	if (there > 0)
		return 0;
	return there < 0 ? there : -EBUSY;
}

/**
 * plan_store_open() - open and lock the file of a plan
 * @store: filled in; plan_store_close() is due in any case
 * @path: the file, or a symbolic link to it; has to stay
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_store_open(struct plan_store *store, const char *path)
{
	int error = plan_store_lock(store, path);

	if (!error)
		return 0;
	err("%s: %s", path, error == -EWOULDBLOCK ?
	    "another supervisor keeps this file, or it is being withdrawn" :
	    strerror(-error));
	return -1;
}

/* Under a name of its own: what has that name already is another's file. */
static int create(const struct plan_store *store, char *name, size_t size)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(name, size, NEW_FORMAT, (unsigned long long)number);
	return openat(store->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
					O_CLOEXEC, 0600);
}

/* An owner who is not root keeps the file; only root can give it. */
static int take_owner(const struct plan_store *store, int fd)
{
	if (fchown(fd, store->uid, store->gid) && store->uid != geteuid())
		return -1;
	errno = 0;
	return 0;
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);
	ssize_t n;

	for (; left; text += n, left -= (size_t)n) {
		n = write(fd, text, left);
		if (n < 0)
			return -1;
	}
	return 0;
}

/* At once: the library would write each word of a large plan by itself. */
static int dump(const json_t *json, int fd)
{
	char *text = json_dumps(json, JSON_INDENT(1));
	int error, ret;

	if (!text) {
		errno = ENOMEM;
		return -1;
	}
	ret = write_all(fd, text);
	error = errno;
	free(text);
	errno = error;
	return ret;
}

static int rename_in(const struct plan_store *store, const char *from,
		     const char *to, unsigned int flags)
{
	return renameat2(store->dir, from, store->dir, to, flags);
}

/*
 * The file @new takes the place of the old one, and of nothing else: they are
 * exchanged, and exchanged back if it was something else. Return: 0, or -1, with
 * EEXIST then
 */
static int put_in_place(const struct plan_store *store, const char *new)
{
	if (rename_in(store, new, store->name, RENAME_EXCHANGE)) {
		if (errno == ENOENT)
			return rename_in(store, new, store->name,
					 RENAME_NOREPLACE);
		/* Not every filesystem can exchange them, NFS for one. */
		return errno == EINVAL ?
		       rename_in(store, new, store->name, 0) : -1;
	}
	if (is_name_of(store, new, store->file) > 0) {
		unlinkat(store->dir, new, 0);
		return 0;
	}
	rename_in(store, new, store->name, RENAME_EXCHANGE);
	errno = EEXIST;
	return -1;
}

/* Return: the new file, written through and in its place, or -1. */
static int replace(const struct plan_store *store, const json_t *json)
{
	char new[NEW_SIZE];
	int error, fd = create(store, new, sizeof(new));

	if (fd < 0)
		return -1;
	if (!take_owner(store, fd) && !flock(fd, LOCK_EX | LOCK_NB) &&
	    !dump(json, fd) && !fsync(fd) && !put_in_place(store, new)) {
		fsync(store->dir);
		return fd;
	}
	error = errno ? errno : EIO;
	if (is_name_of(store, new, fd) > 0)
		unlinkat(store->dir, new, 0);
	close(fd);
	errno = error;
	return -1;
}

/**
 * plan_store_save() - have the file tell another plan
 * @store: the file
 * @json: the plan
 *
 * Whatever happens it tells the one plan or the other, to its owner only. What
 * has taken the place of the file is not replaced.
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_store_save(struct plan_store *store, const json_t *json)
{
	int fd = -1, there = is_in_place(store);

	if (there > 0)
		fd = replace(store, json);
	else
		errno = there < 0 ? -there : EEXIST;
	if (fd < 0) {
		err("%s: %s", store->path, errno == EEXIST ?
		    "something else has taken its place, it is left alone" :
		    strerror(errno));
		return -1;
	}
	close(store->file);
	store->file = fd;
	return 0;
}

/**
 * plan_store_close() - close the file: another one may keep it
 * @store: the file
 */
void plan_store_close(struct plan_store *store)
{
	if (store->file >= 0)
		close(store->file);
	if (store->dir >= 0)
		close(store->dir);
	free(store->name);
	*store = (struct plan_store){ .dir = -1, .file = -1 };
}
