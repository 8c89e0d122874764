/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing to define. */
#ifndef _FLOW_TRACE_DEFINE_TRACE_H
#define _FLOW_TRACE_DEFINE_TRACE_H


#endif /* _FLOW_TRACE_DEFINE_TRACE_H */
