/* SPDX-License-Identifier: GPL-2.0 */
/* No signal comes. */
#ifndef _FLOW_LINUX_SCHED_SIGNAL_H
#define _FLOW_LINUX_SCHED_SIGNAL_H

#define fatal_signal_pending(task)	false

#endif /* _FLOW_LINUX_SCHED_SIGNAL_H */
