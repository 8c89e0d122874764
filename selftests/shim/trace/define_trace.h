/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing to define. */
#ifndef _SHIM_TRACE_DEFINE_TRACE_H
#define _SHIM_TRACE_DEFINE_TRACE_H


#endif /* _SHIM_TRACE_DEFINE_TRACE_H */
