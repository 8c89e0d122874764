/* SPDX-License-Identifier: GPL-2.0 */
/* A handle for commands that work in one namespace. */
#ifndef AGGCTL_CTL_OPEN_H
#define AGGCTL_CTL_OPEN_H

#include "aggnet.h"
#include "output.h"

/**
 * struct ctl_list - what a request for a list fills in
 * @info: the infos, to be freed
 * @n: how many
 */
struct ctl_list {
	void *info;
	size_t n;
};

struct aggnet_ctl *ctl_open(void);
int ctl_refused(struct aggnet_ctl *ctl, const char *what);
int ctl_ask(int (*request)(struct aggnet_ctl *ctl, void *arg), void *arg,
	    const char *what);
int ctl_show(const struct aggctl *ctl,
	     int (*list)(struct aggnet_ctl *ctl, void *list),
	     const struct aggnet_noun *noun, const char *what,
	     const struct column *cols, size_t ncols);
int ctl_port(const char *name, uint32_t *ifindex);

#endif
