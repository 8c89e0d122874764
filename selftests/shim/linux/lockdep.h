/* SPDX-License-Identifier: GPL-2.0 */
/* No locks: the tests have one thread. */
#ifndef _SHIM_LINUX_LOCKDEP_H
#define _SHIM_LINUX_LOCKDEP_H

#define lockdep_assert_held(lock)	((void)(lock))
#define lockdep_is_held(lock)		((void)(lock), 1)

#endif /* _SHIM_LINUX_LOCKDEP_H */
