// SPDX-License-Identifier: GPL-2.0
/* Broadcast: a file or pipe that the root sends, and that members write out. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "aggnet_data.h"
#include "cmd/bcast.h"
#include "cmd/cmd.h"
#include "cmd/sync.h"
#include "cmd/transfer_stats.h"
#include "output.h"

#define BCAST_PART	(64 << 10)

static int refused(const char *command, const struct aggnet_cast *cast, int error,
		   uint32_t job)
{
	return transfer_failed(command, aggnet_cast_error(cast),
			       error == -ETIMEDOUT, job);
}

static int open_input(const char *command, const char *path)
{
	int fd;

	if (!path || !strcmp(path, "-"))
		return STDIN_FILENO;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("%s: %s: %s", command, path, strerror(errno));
	return fd;
}

/* Return: 0, or an errno of the transfer */
static int write_all(struct aggnet_cast *cast, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = aggnet_cast_write(cast, data, len);
		if (n < 0 && n != -EINTR)
			return (int)n;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* If the input cannot be read, closing the handle ends the transfer at all members. */
static int send_input(const char *command, struct aggnet_cast *cast, int fd,
		      uint32_t job)
{
	static char part[BCAST_PART];
	int error = 0;
	ssize_t n;

	while (!error && (n = read(fd, part, sizeof(part))) != 0) {
		if (n > 0)
			error = write_all(cast, part, (size_t)n);
		else if (errno != EINTR)
			return fail("%s: input: %s", command, strerror(errno));
	}
	while (!error) {
		error = aggnet_cast_finish(cast);
		if (!error)
			return ST_DONE;
		if (error == -EINTR)
			error = 0;
	}
	return refused(command, cast, error, job);
}

int bcast_send(const char *command, uint32_t job, const char *path,
	       uint32_t timeout_ms)
{
	const struct aggnet_options options = { .timeout_ms = timeout_ms };
	int error, st, fd = open_input(command, path);
	struct aggnet_cast *cast;

	if (fd < 0)
		return ST_FAILED;
	error = aggnet_cast_root(&cast, job, &options);
	st = error ? refused(command, cast, error, job) :
		     send_input(command, cast, fd, job);
	aggnet_cast_close(cast);
	if (fd != STDIN_FILENO)
		close(fd);
	return st;
}

static bool print_all(const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(STDOUT_FILENO, data, len);
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return true;
}

static int print_stream(const char *command, struct aggnet_cast *cast,
			uint32_t job, int dir)
{
	static char part[BCAST_PART];
	int error = 0;
	ssize_t n;

	while ((n = aggnet_cast_read(cast, part, sizeof(part))) != 0) {
		if (n < 0 && n != -EINTR)
			return refused(command, cast, (int)n, job);
		if (n > 0 && !print_all(part, (size_t)n))
			return fail("%s: standard output: %s", command,
				    strerror(errno));
	}
	if (dir >= 0 && sync_output(dir))
		return fail("%s: --sync: standard output: %s", command,
			    strerror(errno));
	do
		error = aggnet_cast_commit(cast);
	while (error == -EINTR);
	if (error)
		return refused(command, cast, error, job);
	if (!aggnet_cast_round(cast))
		return fail("%s: this is one round of a persistent broadcast, and others follow: read them with aggnet_cast_round(), see libaggnet(3)",
			    command);
	return ST_DONE;
}

int bcast_receive(const char *command, struct in_addr root, uint32_t job,
		  uint32_t timeout_ms, int dir)
{
	const struct aggnet_options options = { .timeout_ms = timeout_ms };
	struct aggnet_cast *cast;
	int error, st;

	error = aggnet_cast_join(&cast, root, job, &options);
	st = error ? refused(command, cast, error, job) :
		     print_stream(command, cast, job, dir);
	aggnet_cast_close(cast);
	return st;
}
