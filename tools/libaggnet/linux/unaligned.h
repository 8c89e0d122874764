/* SPDX-License-Identifier: GPL-2.0 */
/* What the module's cores use of the kernel's header of this name. */
#ifndef AGGNET_LINUX_UNALIGNED_H
#define AGGNET_LINUX_UNALIGNED_H

#include <endian.h>
#include <string.h>

static inline u32 get_unaligned_le32(const void *p)
{
	u32 word;

	memcpy(&word, p, sizeof(word));
	return le32toh(word);
}

static inline u64 get_unaligned_le64(const void *p)
{
	u64 word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

static inline void put_unaligned_le64(u64 word, void *p)
{
	word = htole64(word);
	memcpy(p, &word, sizeof(word));
}

#endif /* AGGNET_LINUX_UNALIGNED_H */
