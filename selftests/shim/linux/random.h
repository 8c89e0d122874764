/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that repeat: shim_random_seed() starts the sequence. */
#ifndef _SHIM_LINUX_RANDOM_H
#define _SHIM_LINUX_RANDOM_H

#include <linux/types.h>

void shim_random_seed(u64 seed);
void get_random_bytes(void *buf, size_t len);
u32 get_random_u32(void);
u64 get_random_u64(void);

#endif /* _SHIM_LINUX_RANDOM_H */
