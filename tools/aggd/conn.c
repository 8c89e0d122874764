// SPDX-License-Identifier: GPL-2.0
/* Connections: bounded in number, and each in what it makes the process remember. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf.h"
#include "conn.h"
#include "job.h"
#include "request.h"

#define NOBODY	65534	/* users of other user namespaces have this ID */

static LIST_HEAD(, conn) conns = LIST_HEAD_INITIALIZER(conns);
static uint32_t n_conns;
static struct watch listener;

static void conn_ready(struct watch *w, uint32_t events);

/* --- closing and answering --------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	LIST_REMOVE(c, list);
	n_conns--;
	loop_del(&c->watch);
	close(c->watch.fd);
	job_detach(c);
	free(c->in);
	free(c->out);
	free(c);
}

/* Wait for what the connection does next. */
static void conn_watch(struct conn *c)
{
	uint32_t events = 0;

	if (c->out)
		events |= EPOLLOUT;
	else if (!c->wait)
		events |= EPOLLIN;
	if (!c->gone)
		events |= EPOLLRDHUP;
	loop_change(&c->watch, events);
}

static void conn_answer(struct conn *c, json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;

	json_decref(answer);
	c->since = now_ms();
	c->out = text ? realloc(text, len + 1) : NULL;
	if (!c->out) {
		free(text);
		c->last = true;
		return;
	}
	c->out[len] = '\n';
	c->out_len = len + 1;
	c->sent = 0;
}

/* Return: -1: the connection is of no use any more */
static int conn_write(struct conn *c)
{
	ssize_t n = send(c->watch.fd, c->out + c->sent, c->out_len - c->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	c->sent += (size_t)n;
	if (c->sent < c->out_len)
		return 0;
	free(c->out);
	c->out = NULL;
	return c->last ? -1 : 0;
}

/* --- requests ------------------------------------------------------------------------ */

/* Is there a request that may be answered now? Return: its end */
static char *conn_line(const struct conn *c)
{
	return c->in && !c->out && !c->wait ? memchr(c->in, '\n', c->in_len) : NULL;
}

/* Answer the first line that was read. */
static void conn_request(struct conn *c, const char *end)
{
	json_t *answer;
	size_t used;

	answer = request_answer(c, c->in, (size_t)(end - c->in));
	used = (size_t)(end - c->in) + 1;
	c->in_len -= used;
	memmove(c->in, c->in + used, c->in_len);
	if (!c->in_len) {
		free(c->in);
		c->in = NULL;
	}
	c->since = now_ms();
	if (answer)
		conn_answer(c, answer);
}

static void conn_refuse(struct conn *c, const char *sentence)
{
	c->last = true;
	conn_answer(c, request_refusal(true, sentence));
}

/* What was read is no request, and there is no more. */
static int conn_end(struct conn *c)
{
	if (!c->in_len)
		return -1;
	conn_refuse(c, "the request does not end with a newline");
	return 0;
}

/* Return: -1: the connection is of no use any more */
static int conn_read(struct conn *c)
{
	ssize_t n;

	if (!c->in)
		c->in = malloc(REQUEST_MAX);
	if (!c->in)
		return -1;
	n = recv(c->watch.fd, c->in + c->in_len, REQUEST_MAX - c->in_len, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (!n)
		return conn_end(c);
	c->in_len += (size_t)n;
	if (!memchr(c->in, '\n', c->in_len) && c->in_len == REQUEST_MAX)
		conn_refuse(c, "a request has at most 65536 bytes");
	return 0;
}

/* Return: -1: the connection is of no use any more */
static int conn_flush(struct conn *c)
{
	if (c->out && conn_write(c))
		return -1;
	return c->last && !c->out ? -1 : 0;
}

/*
 * Answer one request, as others wait for their turn, too: conn_tick() goes on with the
 * next one. Return: -1: the connection is of no use any more
 */
static int conn_go_on(struct conn *c)
{
	const char *end;

	if (conn_flush(c))
		return -1;
	end = conn_line(c);
	if (!end)
		return 0;
	conn_request(c, end);
	return conn_flush(c);
}

static void conn_ready(struct watch *w, uint32_t events)
{
	struct conn *c = container(w, struct conn, watch);

	if (events & (EPOLLHUP | EPOLLERR)) {
		conn_close(c);
		return;
	}
	if (events & EPOLLRDHUP) {
		c->gone = true;
		/* The end of its input is the end of what is attached to it. */
		job_detach(c);
		c->jobs = 0;
	}
	if (((events & EPOLLIN) && !c->out && !c->wait && !conn_line(c) &&
	     conn_read(c)) || conn_go_on(c))
		conn_close(c);
	else
		conn_watch(c);
}

void conn_job_changed(const struct job *job)
{
	struct conn *c;

	LIST_FOREACH(c, &conns, list) {
		if (c->wait != job->id || (c->wait_end && job->state != JOB_ENDED))
			continue;
		c->wait = 0;
		conn_answer(c, request_waited(job));
		conn_watch(c);
	}
}

int64_t conn_tick(int64_t now)
{
	struct conn *c, *next;
	int64_t left = -1, ms;

	for (c = LIST_FIRST(&conns); c; c = next) {
		next = LIST_NEXT(c, list);
		if (conn_line(c)) {
			if (conn_go_on(c)) {
				conn_close(c);
				continue;
			}
			conn_watch(c);
			if (conn_line(c))
				left = 0;
		}
		if (c->wait || c->jobs)
			continue;
		ms = c->since + conf.idle - now;
		if (ms <= 0)
			conn_close(c);
		else if (left < 0 || ms < left)
			left = ms;
	}
	return left;
}

/* --- new connections -------------------------------------------------------------------- */

/* May the user at the other end submit jobs? */
static bool peer_allowed(int fd, const struct ucred *peer)
{
	socklen_t len = 65536 * sizeof(gid_t);
	gid_t *gids = malloc(len);
	bool allowed;
	size_t n = 0;

	if (!gids)
		return false;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, gids, &len))
		n = len / sizeof(*gids);
	allowed = conf_allows(peer->uid, gids, n) ||
		  conf_allows(peer->uid, &peer->gid, 1);
	free(gids);
	return allowed;
}

/*
 * A user that may not submit gets this as an answer, but does not take the place of
 * those that may.
 */
static bool stranger_has_room(uint32_t mine, uint32_t strangers)
{
	return mine < 2 && strangers < (conf.connections + 7) / 8;
}

/* Return: why the connection is refused, or NULL */
static const char *peer_fault(const struct ucred *peer, bool allowed)
{
	uint32_t n = 0, strangers = 0;
	const struct conn *c;

	if (peer->uid == NOBODY)
		return "aggd does not know the user, who is nobody or in another user namespace";
	LIST_FOREACH(c, &conns, list) {
		n += c->uid == peer->uid;
		strangers += !c->allowed;
	}
	if (!allowed && !stranger_has_room(n, strangers))
		return "users that may not submit jobs have as many connections as they may";
	if (n >= conf.user_connections && !conf_is_admin(peer->uid))
		return "the user has as many connections as a user may have";
	/* The administrator is let in to see who has the others. */
	return n_conns < conf.connections + (conf_is_admin(peer->uid) ? 16 : 0) ?
	       NULL : "there are as many connections as there may be: try again later";
}

static void refuse(int fd, const char *sentence)
{
	json_t *answer = request_refusal(false, sentence);
	char *text = json_dumps(answer, JSON_COMPACT);

	if (text) {
		send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
		send(fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	free(text);
	json_decref(answer);
	close(fd);
}

static void accept_one(struct watch *w, uint32_t events)
{
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer = { .uid = NOBODY };
	socklen_t len = sizeof(peer);
	const char *fault;
	struct conn *c;
	bool allowed;

	(void)events;
	if (fd < 0)
		return;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	allowed = peer_allowed(fd, &peer);
	fault = peer_fault(&peer, allowed);
	c = fault ? NULL : calloc(1, sizeof(*c));
	if (!c) {
		refuse(fd, fault ? fault : "out of memory");
		return;
	}
	c->watch = (struct watch){ .fd = fd, .ready = conn_ready };
	c->uid = peer.uid;
	c->allowed = allowed;
	c->since = now_ms();
	if (loop_add(&c->watch, EPOLLIN | EPOLLRDHUP)) {
		close(fd);
		free(c);
		return;
	}
	LIST_INSERT_HEAD(&conns, c, list);
	n_conns++;
}

/* A socket that no process listens at was left by one that has been killed. */
static int remove_stale(int fd, const struct sockaddr_un *addr, struct text *why)
{
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		return text_set(why, "%s: another process listens there",
				addr->sun_path);
	if (errno != ECONNREFUSED)
		return 0;
	unlink(addr->sun_path);
	return 0;
}

static void make_parent(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return;
	*slash = 0;
	mkdir(dir, 0755);
}

int conn_listen(const char *path, struct text *why)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int probe, fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return text_set(why, "%s: longer than the %zu bytes of a socket's name",
				path, sizeof(addr.sun_path) - 1);
	strcpy(addr.sun_path, path);
	make_parent(path);
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = probe < 0 || fd < 0 ? text_set(why, "socket: %s", strerror(errno)) :
				    remove_stale(probe, &addr, why);
	if (probe >= 0)
		close(probe);
	if (err)
		return err;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    chmod(path, 0666) || listen(fd, SOMAXCONN))
		return text_set(why, "%s: %s", path, strerror(errno));
	listener = (struct watch){ .fd = fd, .ready = accept_one };
	return loop_add(&listener, EPOLLIN) ? text_set(why, "epoll: %s", strerror(errno)) :
					      0;
}
