/* SPDX-License-Identifier: GPL-2.0 */
/* Watch devices of a namespace: they go up and down, and are added and deleted.
 */
#ifndef AGGCTL_LINK_WATCH_H
#define AGGCTL_LINK_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#define LINK_NAME	16	/* IFNAMSIZ, which two headers define */

/**
 * struct link_watch - what is known of a namespace's devices
 * @fd: readable when there is news
 * @changed: devices changed while all of them were told
 * @link: the devices that were seen: @there is cleared when one has gone, and
 *	@told when all of them are asked for
 * @n: how many
 */
struct link_watch {
	int fd;
	bool changed;
	struct {
		int index;
		char name[LINK_NAME];
		bool there;
		bool told;
	} *link;
	size_t n;
};

/**
 * typedef link_heard - a device came up, or went down or away
 * @arg: of the caller
 * @name: its name
 * @up: it has carrier, too
 */
typedef void (*link_heard)(void *arg, const char *name, bool up);

int link_watch_open(struct link_watch *watch);
int link_watch_read(struct link_watch *watch, link_heard heard, void *arg);
const char *link_watch_name(const struct link_watch *watch, int index);
void link_watch_close(struct link_watch *watch);

#endif
