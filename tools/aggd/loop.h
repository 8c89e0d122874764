/* SPDX-License-Identifier: GPL-2.0 */
/* The descriptors that the process waits for. */
#ifndef AGGD_LOOP_H
#define AGGD_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

/**
 * struct watch - a descriptor that is waited for; part of a larger object
 * @fd: the descriptor
 * @ready: called with EPOLLIN and so on; it may free any object
 */
struct watch {
	int fd;
	void (*ready)(struct watch *w, uint32_t events);
};

/* Return: 0, or -1 with errno */
int loop_open(void);
int loop_add(struct watch *w, uint32_t events);

void loop_change(struct watch *w, uint32_t events);
void loop_del(struct watch *w);

/* Serve one descriptor, or wait for @ms milliseconds; -1: without a limit */
void loop_once(int64_t ms);

#define container(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif
