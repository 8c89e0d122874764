// SPDX-License-Identifier: GPL-2.0
/* Processes that run commands on other hosts, with pipes to each of them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggctl.h"
#include "files.h"
#include "remote/remote.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void run(int in, int out, char *const argv[])
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(out, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	err("%s: %s", argv[0], strerror(errno));
	_exit(127);
}

int remote_start(struct remote *r, const char *name, char *const argv[])
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };

	*r = (struct remote){ .name = name, .input = -1, .output = -1,
			      .status = -1 };
	if (!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC)) {
		r->pid = fork();
		if (!r->pid)
			run(in[0], out[1], argv);
		if (r->pid > 0) {
			close_fd(&in[0]);
			close_fd(&out[1]);
			r->input = in[1];
			r->output = out[0];
			fcntl(r->input, F_SETFL, O_NONBLOCK);
			fcntl(r->output, F_SETFL, O_NONBLOCK);
			return 0;
		}
	}
	err("%s: %s", name, files_error(errno));
	r->pid = 0;
	close_fd(&in[0]);
	close_fd(&in[1]);
	close_fd(&out[0]);
	close_fd(&out[1]);
	return -1;
}

int remote_say(struct remote *r, const char *text)
{
	size_t len = strlen(text);

	free(r->text);
	r->sent = 0;
	r->text = malloc(len + 2);
	if (!r->text) {
		err("out of memory");
		return -1;
	}
	memcpy(r->text, text, len);
	memcpy(r->text + len, "\n", 2);
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
	r->line[r->len] = 0;
	r->len = 0;
	heard(r, r->line, arg);
}

static void read_lines(struct remote *r,
		       void (*heard)(struct remote *, const char *, void *),
		       void *arg)
{
	char buf[REMOTE_LINE];
	ssize_t n = read(r->output, buf, sizeof(buf)), i;
	int status;

	for (i = 0; i < n; i++) {
		if (buf[i] == '\n')
			end_line(r, heard, arg);
		else if (r->len + 1 < sizeof(r->line))
			r->line[r->len++] = buf[i];
	}
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	if (r->len)
		end_line(r, heard, arg);
	close_fd(&r->output);
	close_fd(&r->input);
	if (waitpid(r->pid, &status, 0) == r->pid && WIFEXITED(status))
		r->status = WEXITSTATUS(status);
	r->pid = 0;
	heard(r, NULL, arg);
}

int remote_wait(struct remote *r, size_t n, int ms,
		void (*heard)(struct remote *, const char *, void *),
		void *arg)
{
	struct pollfd *fds = calloc(2 * n + 1, sizeof(*fds));
	int ready;
	size_t i;

	if (!fds) {
		err("out of memory");
		return -1;
	}
	for (i = 0; i < n; i++) {
		fds[2 * i] = (struct pollfd){
			.fd = r[i].pid ? r[i].output : -1, .events = POLLIN
		};
		fds[2 * i + 1] = (struct pollfd){
			.fd = r[i].pid && r[i].text ? r[i].input : -1,
			.events = POLLOUT
		};
	}
	ready = poll(fds, 2 * n, ms);
	for (i = 0; ready > 0 && i < n; i++) {
		if (fds[2 * i + 1].revents)
			write_text(&r[i]);
		if (fds[2 * i].revents)
			read_lines(&r[i], heard, arg);
	}
	free(fds);
	return ready ? 0 : -ETIMEDOUT;
}

void remote_end(struct remote *r)
{
	if (r->pid) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
		close_fd(&r->input);
		close_fd(&r->output);
	}
	free(r->text);
	*r = (struct remote){ .input = -1, .output = -1 };
}
