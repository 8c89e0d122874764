/* SPDX-License-Identifier: GPL-2.0 */
/* Ethernet addresses. */
#ifndef _SHIM_LINUX_ETHERDEVICE_H
#define _SHIM_LINUX_ETHERDEVICE_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <string.h>

static inline bool is_zero_ether_addr(const u8 *addr)
{
	static const u8 zero[ETH_ALEN];

	return !memcmp(addr, zero, ETH_ALEN);
}

static inline bool is_valid_ether_addr(const u8 *addr)
{
	return !(addr[0] & 1) && !is_zero_ether_addr(addr);
}

static inline void ether_addr_copy(u8 *to, const u8 *from)
{
	memcpy(to, from, ETH_ALEN);
}

#endif /* _SHIM_LINUX_ETHERDEVICE_H */
