/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints that do nothing. */
#ifndef _SHIM_LINUX_TRACEPOINT_H
#define _SHIM_LINUX_TRACEPOINT_H

#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)
#define TP_STRUCT__entry(...)
#define TP_fast_assign(...)
#define TP_printk(...)

#define TRACE_EVENT(name, proto, ...) \
	static inline void trace_##name(proto) {}
#define DECLARE_EVENT_CLASS(name, ...)
#define DEFINE_EVENT(class, name, proto, ...) \
	static inline void trace_##name(proto) {}

#endif /* _SHIM_LINUX_TRACEPOINT_H */
