/* SPDX-License-Identifier: GPL-2.0 */
/* A handle for commands that work in one namespace. */
#ifndef AGGCTL_CTL_OPEN_H
#define AGGCTL_CTL_OPEN_H

#include "aggnet.h"

struct aggnet_ctl *ctl_open(void);
int ctl_refused(struct aggnet_ctl *ctl, const char *what);
int ctl_port(const char *name, uint32_t *ifindex);

#endif
