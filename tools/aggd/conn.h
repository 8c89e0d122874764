/* SPDX-License-Identifier: GPL-2.0 */
/* Connections of programs: a request is a line, and an answer is a line. */
#ifndef AGGD_CONN_H
#define AGGD_CONN_H

#include <jansson.h>
#include <sys/queue.h>

#include "aggd.h"
#include "loop.h"

struct job;

/**
 * struct conn - a connection
 * @list: in all connections
 * @watch: of its socket
 * @uid: of its user, as the kernel knows it
 * @allowed: the user may submit jobs
 * @jobs: that end with it
 * @wait: job that the answer waits for; 0: none
 * @wait_end: for its end; false: until it is in force
 * @gone: the other end sends nothing any more
 * @last: it is closed after the answer
 * @since: when the last request or answer was complete, of now_ms()
 * @in: what was read of a request; NULL: nothing
 * @in_len: of it
 * @out: an answer; NULL: none. The next request is not read before it is written
 * @out_len: of it
 * @sent: of it
 */
struct conn {
	LIST_ENTRY(conn) list;
	struct watch watch;
	uint32_t uid;
	bool allowed;
	uint32_t jobs;
	uint32_t wait;
	bool wait_end;
	bool gone;
	bool last;
	int64_t since;
	char *in;
	size_t in_len;
	char *out;
	size_t out_len;
	size_t sent;
};

/* Listen. Return: 0, or -1 with @why */
int conn_listen(const char *path, struct text *why);

/* A job is in force or has ended: answer those that wait for it. */
void conn_job_changed(const struct job *job);

/* Close connections that are idle. Return: ms until one may be; -1: there is none */
int64_t conn_tick(int64_t now);

#endif
