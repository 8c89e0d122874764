/* SPDX-License-Identifier: GPL-2.0 */
/* Named network namespaces, the same ones that ip-netns(8) sees. */
#ifndef AGGCTL_NETNS_H
#define AGGCTL_NETNS_H

#include <stdbool.h>

int netns_prepare(void);
bool netns_exists(const char *name);
bool netns_is_own(const char *name);
int netns_create(const char *name);
int netns_open(const char *name);
int netns_enter_fd(int fd, const char *name);
int netns_enter(const char *name);
int netns_delete(const char *name);
int netns_watch(void);

#endif
