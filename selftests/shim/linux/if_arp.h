/* SPDX-License-Identifier: GPL-2.0 */
/* Kinds of devices. */
#ifndef _SHIM_LINUX_IF_ARP_H
#define _SHIM_LINUX_IF_ARP_H

#define ARPHRD_ETHER	1
#define ARPHRD_LOOPBACK	772

#endif /* _SHIM_LINUX_IF_ARP_H */
