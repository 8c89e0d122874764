/* SPDX-License-Identifier: GPL-2.0 */
/* CRC32C, as the kernel's: no inversion before or after. */
#ifndef _SHIM_LINUX_CRC32C_H
#define _SHIM_LINUX_CRC32C_H

#include <linux/types.h>

u32 crc32c(u32 crc, const void *data, unsigned int len);

#endif /* _SHIM_LINUX_CRC32C_H */
