/* SPDX-License-Identifier: GPL-2.0 */
/* No locks: the simulation has one thread. */
#ifndef _FLOW_LINUX_MUTEX_H
#define _FLOW_LINUX_MUTEX_H

struct mutex {
	char nothing;
};

#endif /* _FLOW_LINUX_MUTEX_H */
