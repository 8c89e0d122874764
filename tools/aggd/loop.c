// SPDX-License-Identifier: GPL-2.0
/* One descriptor is served at a time: its callback may close any other. */
#include <limits.h>
#include <stddef.h>

#include "loop.h"

static int epoll = -1;

int loop_open(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	return epoll < 0 ? -1 : 0;
}

int loop_add(struct watch *w, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = w };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, w->fd, &e);
}

void loop_change(struct watch *w, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = w };

	epoll_ctl(epoll, EPOLL_CTL_MOD, w->fd, &e);
}

void loop_del(struct watch *w)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, w->fd, NULL);
}

void loop_once(int64_t ms)
{
	struct epoll_event e;
	struct watch *w;

	if (epoll_wait(epoll, &e, 1, ms > INT_MAX ? INT_MAX : (int)ms) != 1)
		return;
	w = e.data.ptr;
	w->ready(w, e.events);
}
