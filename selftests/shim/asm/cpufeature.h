/* SPDX-License-Identifier: GPL-2.0 */
/* CPU features by the compiler's own test. */
#ifndef _SHIM_ASM_CPUFEATURE_H
#define _SHIM_ASM_CPUFEATURE_H

#define X86_FEATURE_XMM4_2	"sse4.2"

#define static_cpu_has(feature)	__builtin_cpu_supports(feature)

#endif /* _SHIM_ASM_CPUFEATURE_H */
