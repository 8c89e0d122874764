/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of devices: no device is in a VRF. */
#ifndef _NETLINK_LINUX_INETDEVICE_H
#define _NETLINK_LINUX_INETDEVICE_H

#include <linux/netdevice.h>

#define __ip_dev_find(net, addr, ref)	((struct net_device *)NULL)

#endif /* _NETLINK_LINUX_INETDEVICE_H */
