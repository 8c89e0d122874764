/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's; isascii() accepts the same in both. */
#ifndef _NETLINK_LINUX_CTYPE_H
#define _NETLINK_LINUX_CTYPE_H

#include <ctype.h>

#endif /* _NETLINK_LINUX_CTYPE_H */
