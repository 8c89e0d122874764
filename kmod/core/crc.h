/* SPDX-License-Identifier: GPL-2.0 */
/* CRC32C (Castagnoli) by the CPU's instruction where it has one. Pure. */
#ifndef _AGGNET_CRC_H
#define _AGGNET_CRC_H

#include <linux/types.h>

/**
 * aggnet_crc32c() - CRC32C as in iSCSI: preset and inverted
 * @data: any alignment
 * @len: bytes
 *
 * Any context; uses no FPU state. Return: the CRC; of "123456789" 0xe3069283
 */
u32 aggnet_crc32c(const void *data, size_t len);

#endif /* _AGGNET_CRC_H */
