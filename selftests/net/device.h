/* SPDX-License-Identifier: GPL-2.0 */
/* A network device of the namespace that the thread is in. */
#ifndef NET_DEVICE_H
#define NET_DEVICE_H

#include <stdbool.h>

/* Up, or down. Return: 0, or -1 with errno set */
int device_set_up(const char *device, bool up);

#endif
