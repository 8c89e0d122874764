// SPDX-License-Identifier: GPL-2.0
/* CRC32C by the CPU's instruction where it has one, else by the kernel's. */
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/types.h>

#include "core/crc.h"

#ifdef __x86_64__
#include <asm/cpufeature.h>

/* The instruction takes its operand from memory of any alignment. */
struct word {
	u64 bits;
} __packed;

/* Works on general registers: no kernel_fpu_begin(), hence any context. */
static __always_inline u64 crc_word(u64 crc, const u8 *p)
{
	asm("crc32q %1, %0" : "+r" (crc) : "m" (*(const struct word *)p));
	return crc;
}

static __always_inline u32 crc_byte(u32 crc, u8 byte)
{
	asm("crc32b %1, %0" : "+r" (crc) : "rm" (byte));
	return crc;
}

static u32 crc_by_instruction(u32 preset, const u8 *p, size_t len)
{
	u64 crc = preset;

	for (; len >= 64; len -= 64, p += 64) {
		crc = crc_word(crc, p);
		crc = crc_word(crc, p + 8);
		crc = crc_word(crc, p + 16);
		crc = crc_word(crc, p + 24);
		crc = crc_word(crc, p + 32);
		crc = crc_word(crc, p + 40);
		crc = crc_word(crc, p + 48);
		crc = crc_word(crc, p + 56);
	}
	for (; len >= 8; len -= 8, p += 8)
		crc = crc_word(crc, p);
	for (; len; len--, p++)
		crc = crc_byte((u32)crc, *p);
	return (u32)crc;
}

#endif

u32 aggnet_crc32c(const void *data, size_t len)
{
#ifdef __x86_64__
	if (likely(static_cpu_has(X86_FEATURE_XMM4_2)))
		return ~crc_by_instruction(~0u, data, len);
#endif
	return ~__crc32c_le(~0u, data, len);
}
