// SPDX-License-Identifier: GPL-2.0
/* Processes that run commands on other hosts, with pipes to each of them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggctl.h"
#include "files.h"
#include "remote/remote.h"

#define READS	128	/* at the end of a command: as much as a pipe holds */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * The terminal sends its signals to this process, too. The caller decides what they
 * mean for the command, which ends with its input.
 */
static void run(int in, int out, char *const argv[])
{
	sigset_t none;

	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(out, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	err("%s: %s", argv[0], strerror(errno));
	_exit(127);
}

static void close_all(struct remote *r)
{
	close_fd(&r->pidfd);
	close_fd(&r->input);
	close_fd(&r->output);
}

int remote_start(struct remote *r, const char *name, char *const argv[])
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };

	*r = (struct remote){ .name = name, .pidfd = -1, .input = -1,
			      .output = -1, .status = -1 };
	if (!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC)) {
		r->pid = fork();
		if (!r->pid)
			run(in[0], out[1], argv);
	}
	if (r->pid > 0)
		r->pidfd = pidfd_open(r->pid, 0);
	if (r->pidfd < 0)
		err("%s: %s", name, files_error(errno));
	close_fd(&in[0]);
	close_fd(&out[1]);
	r->input = in[1];
	r->output = out[0];
	if (r->pidfd >= 0) {
		fcntl(r->input, F_SETFL, O_NONBLOCK);
		fcntl(r->output, F_SETFL, O_NONBLOCK);
		return 0;
	}
	remote_end(r);
	return -1;
}

int remote_say(struct remote *r, const char *text)
{
	size_t left = r->text ? strlen(r->text + r->sent) : 0;
	size_t len = strlen(text);
	char *all = malloc(left + len + 2);

	if (!all) {
		err("out of memory");
		return -1;
	}
	if (left)
		memcpy(all, r->text + r->sent, left);
	memcpy(all + left, text, len);
	memcpy(all + left + len, "\n", 2);
	free(r->text);
	r->text = all;
	r->sent = 0;
	return 0;
}

void remote_hang_up(struct remote *r)
{
	r->last = true;
	if (!r->text)
		close_fd(&r->input);
}

/* A command that does not read any more has ended, or will say why. */
static void write_text(struct remote *r)
{
	size_t left = strlen(r->text + r->sent);
	ssize_t n = write(r->input, r->text + r->sent, left);

	if (n > 0)
		r->sent += (size_t)n;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		close_fd(&r->input);
	if (r->input >= 0 && r->text[r->sent])
		return;
	free(r->text);
	r->text = NULL;
	if (r->last)
		close_fd(&r->input);
}

static void end_line(struct remote *r,
		     void (*heard)(struct remote *, const char *, void *),
		     void *arg)
{
	/* The lines of ssh itself end as a terminal in raw mode needs it. */
	if (r->len && r->line[r->len - 1] == '\r')
		r->len--;
	r->line[r->len] = 0;
	r->len = 0;
	heard(r, r->line, arg);
}

/* Return: may there be more? */
static bool read_lines(struct remote *r,
		       void (*heard)(struct remote *, const char *, void *),
		       void *arg)
{
	char buf[REMOTE_LINE];
	ssize_t n = read(r->output, buf, sizeof(buf)), i;

	for (i = 0; i < n; i++) {
		if (buf[i] == '\n')
			end_line(r, heard, arg);
		else if (r->len + 1 < sizeof(r->line))
			r->line[r->len++] = buf[i];
	}
	if (n > 0)
		return true;
	if (!n || (errno != EAGAIN && errno != EINTR))
		close_fd(&r->output);
	return false;
}

static void end_process(struct remote *r,
			void (*heard)(struct remote *, const char *, void *),
			void *arg)
{
	unsigned int reads = 0;
	int status;

	while (r->output >= 0 && reads++ < READS && read_lines(r, heard, arg))
		;
	if (r->len)
		end_line(r, heard, arg);
	if (waitpid(r->pid, &status, 0) == r->pid)
		r->status = WIFEXITED(status) ? WEXITSTATUS(status) :
						128 + WTERMSIG(status);
	r->pid = 0;
	close_all(r);
	heard(r, NULL, arg);
}

static void look_at(struct pollfd *fds, const struct remote *r)
{
	fds[0] = (struct pollfd){ .fd = r->pidfd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = r->output, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = r->text ? r->input : -1,
				  .events = POLLOUT };
}

/* @fds: of the commands that are running, in their order */
static void wake_up(struct remote *r, size_t n, const struct pollfd *fds,
		    void (*heard)(struct remote *, const char *, void *),
		    void *arg)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!r[i].pid)
			continue;
		if (fds[2].revents)
			write_text(&r[i]);
		if (fds[0].revents)
			end_process(&r[i], heard, arg);
		else if (fds[1].revents)
			read_lines(&r[i], heard, arg);
		fds += 3;
	}
}

int remote_wait(struct remote *r, size_t n, int ms,
		void (*heard)(struct remote *, const char *, void *),
		void *arg)
{
	struct pollfd *fds = calloc(3 * n + 1, sizeof(*fds));
	size_t i, running = 0;
	int ready;

	if (!fds) {
		err("out of memory");
		return -1;
	}
	/* poll() refuses more entries than the process may have descriptors. */
	for (i = 0; i < n; i++)
		if (r[i].pid)
			look_at(&fds[3 * running++], &r[i]);
	ready = poll(fds, 3 * running, ms);
	if (ready > 0)
		wake_up(r, n, fds, heard, arg);
	free(fds);
	if (ready >= 0 || errno == EINTR)
		return ready ? 0 : -ETIMEDOUT;
	err("hosts: poll: %s", strerror(errno));
	return -1;
}

void remote_end(struct remote *r)
{
	if (r->pid > 0) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
	}
	if (r->name)
		close_all(r);
	free(r->text);
	*r = (struct remote){ .pidfd = -1, .input = -1, .output = -1 };
}
