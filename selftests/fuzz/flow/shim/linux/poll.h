/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a socket. */
#ifndef _FLOW_LINUX_POLL_H
#define _FLOW_LINUX_POLL_H

#include <linux/types.h>
#include <sys/epoll.h>

typedef unsigned int __poll_t;

#endif /* _FLOW_LINUX_POLL_H */
