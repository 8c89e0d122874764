/* SPDX-License-Identifier: GPL-2.0 */
/* What the CPU can do; a test may deny it (shim_cpu_plain). */
#ifndef _SHIM_ASM_CPUFEATURE_H
#define _SHIM_ASM_CPUFEATURE_H

#include <linux/types.h>

extern bool shim_cpu_plain;

#define X86_FEATURE_XMM4_2	"sse4.2"
#define boot_cpu_has(feature) \
	(!shim_cpu_plain && __builtin_cpu_supports(feature))
#define static_cpu_has(feature)	boot_cpu_has(feature)

#endif /* _SHIM_ASM_CPUFEATURE_H */
