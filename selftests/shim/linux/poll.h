/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a socket. */
#ifndef _SHIM_LINUX_POLL_H
#define _SHIM_LINUX_POLL_H

#include <linux/types.h>
#include <sys/epoll.h>

typedef unsigned int __poll_t;

#endif /* _SHIM_LINUX_POLL_H */
