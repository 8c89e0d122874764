/* SPDX-License-Identifier: GPL-2.0 */
/* A network device of the namespace that the thread is in. */
#ifndef NET_DEVICE_H
#define NET_DEVICE_H

#include <stdbool.h>

/* Up, or down. Return: 0, or -1 with errno set */
int device_set_up(const char *device, bool up);

/* Return: 0, or -1 with errno set */
int device_set_mtu(const char *device, int mtu);

/* Take a device away, if it is there, and so its peer. */
void device_delete(const char *device);

/*
 * Wait until a device sends. The kernel drops what is sent by one whose peer has
 * come up until it has handled the carrier in linkwatch's work, which on a busy
 * host waits long for the RTNL. Return: 0, or -1 with an error line printed
 */
int device_wait(const char *device);

#endif
