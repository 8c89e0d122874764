/* SPDX-License-Identifier: GPL-2.0 */
/* A warning ends the test. */
#ifndef _SHIM_LINUX_BUG_H
#define _SHIM_LINUX_BUG_H

#include <linux/compiler.h>
#include <stdio.h>
#include <stdlib.h>

#define WARN_ON(cond) ({						\
	bool __warn = !!(cond);						\
									\
	if (__warn) {							\
		fprintf(stderr, "WARNING: %s:%d: %s\n",			\
			__FILE__, __LINE__, #cond);			\
		abort();						\
	}								\
	__warn; })
#define WARN_ON_ONCE(cond)		WARN_ON(cond)
#define BUILD_BUG_ON(cond)		_Static_assert(!(cond), #cond)
#ifndef static_assert
#define static_assert(expr, ...)	_Static_assert(expr, #expr)
#endif

#endif /* _SHIM_LINUX_BUG_H */
