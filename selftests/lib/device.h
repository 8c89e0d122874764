/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices in the namespace of the calling thread. */
#ifndef NET_DEVICE_H
#define NET_DEVICE_H

#include <stdbool.h>

/* Set it up or down. Return: 0, or -1 with errno set */
int device_set_up(const char *device, bool up);

/* Return: 0, or -1 with errno set */
int device_set_mtu(const char *device, int mtu);

/* Delete a device and its peer, if it exists. */
void device_delete(const char *device);

/*
 * Wait until a device can send. While the peer comes up, the kernel drops
 * packets until linkwatch's work has handled the carrier; on a busy host this
 * work waits long for the RTNL. Return: 0, or -1 with an error line printed
 */
int device_wait(const char *device);

#endif
