/* SPDX-License-Identifier: GPL-2.0 */
/* CRC32C as the kernel has it without the crypto module. */
#ifndef _SHIM_LINUX_CRC32_H
#define _SHIM_LINUX_CRC32_H

#include <linux/crc32c.h>

static inline u32 __crc32c_le(u32 crc, const unsigned char *p, size_t len)
{
	return crc32c(crc, p, len);
}

#endif /* _SHIM_LINUX_CRC32_H */
