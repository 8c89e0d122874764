// SPDX-License-Identifier: GPL-2.0
/* aggd: plans, applies and withdraws aggregation jobs for users that may not. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "conn.h"
#include "engine.h"
#include "job.h"
#include "loop.h"
#include "store.h"
#include "watchdog.h"

#define TELL_MS		60000	/* between sentences about the same state of the store */

static bool stopped, unwatched;

static void stop(struct watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	stopped = true;
}

/* Without it children may go on when another aggd leads. */
static void watchdog_ended(struct watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	unwatched = true;
}

static int watch_watchdog(struct watch *w)
{
	if (!watchdog_runs())
		return 0;
	*w = (struct watch){ .fd = watchdog_fd(), .ready = watchdog_ended };
	return loop_add(w, 0);
}

static int watch_signals(struct watch *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	*w = (struct watch){ .fd = signalfd(-1, &set, SFD_CLOEXEC), .ready = stop };
	return w->fd < 0 || loop_add(w, EPOLLIN) ? -1 : 0;
}

/* Descriptors that are opened later must not become standard streams. */
static int hold_streams(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return -1;
	return 0;
}

static int open_all(struct watch *signals, struct watch *watchdog, struct text *why)
{
	/* It must not have the locks of the state. */
	if (conf.etcd && watchdog_start(conf.children, why))
		return -1;
	if (store_open(conf.state, why))
		return -1;
	/* Until here a signal ends the process: it may wait for one before it. */
	if (loop_open() || watch_signals(signals) || watch_watchdog(watchdog))
		return text_set(why, "epoll: %s", strerror(errno));
	return conn_listen(conf.socket, why);
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/*
 * Tell the journal what a shared store is now, and which aggd leads. What changes often, as an
 * etcd that answers some questions only, is told once a minute.
 */
static void tell(enum store_state state, const char *why)
{
	static enum store_state last = STORE_STANDBY;
	static struct text told;
	static int64_t next[STORE_LOST];

	if (!store_is_shared() || state == STORE_LOST ||
	    (state == last && (state != STORE_STANDBY || !strcmp(why, told.s))))
		return;
	if (state == STORE_READY) {
		note("%s", last == STORE_STANDBY ? "this aggd is the leader now" :
		     "etcd answers again");
	} else {
		if (now_ms() < next[state])
			return;
		next[state] = now_ms() + TELL_MS;
		note("%s", why);
		text_set(&told, "%s", why);
	}
	last = state;
}

/* Begin to lead, or end what only the leader may do. Return: 0, or -1 with @why */
static int follow_store(bool *loaded, struct text *why)
{
	enum store_state state = store_state(why);

	tell(state, why->s);
	switch (state) {
	case STORE_LOST:
		return -1;
	case STORE_FENCED:
		engine_kill_all();
		return 0;
	case STORE_READY:
		if (!*loaded && job_load(why))
			return -1;
		*loaded = true;
		return 0;
	default:
		return 0;
	}
}

/* Jobs stay in force: the next process goes on with them. Return: 0, or -1 with @why */
static int serve(struct text *why)
{
	bool loaded = false;
	int64_t now, ms;

	while (!stopped) {
		ms = store_tick(now_ms());
		if (follow_store(&loaded, why))
			return -1;
		if (unwatched)
			return text_set(why, "the watchdog of this aggd was ended");
		now = now_ms();
		ms = sooner(ms, job_tick(now));
		ms = sooner(ms, conn_tick(now));
		ms = sooner(ms, engine_tick(now));
		loop_once(ms);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct watch signals, watchdog;
	struct text why;
	int st;

	if (hold_streams())
		return ST_FAILED;
	umask(022);
	st = conf_read(argc, argv);
	if (st >= 0)
		return st;
	if (open_all(&signals, &watchdog, &why)) {
		note("%s", why.s);
		return ST_FAILED;
	}
	st = serve(&why) ? ST_FAILED : ST_DONE;
	if (st)
		note("%s", why.s);
	unlink(conf.socket);
	/* While a child may change nodes, no other process may lead. */
	if (!store_is_shared() || engine_end_all())
		store_close();
	return st;
}
