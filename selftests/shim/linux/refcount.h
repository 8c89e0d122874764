/* SPDX-License-Identifier: GPL-2.0 */
/* Reference counts; using one that has reached 0 is a bug. */
#ifndef _SHIM_LINUX_REFCOUNT_H
#define _SHIM_LINUX_REFCOUNT_H

#include <linux/bug.h>
#include <linux/types.h>

typedef struct {
	int refs;
} refcount_t;

static inline void refcount_set(refcount_t *r, int n)
{
	r->refs = n;
}

static inline void refcount_inc(refcount_t *r)
{
	WARN_ON(r->refs <= 0);
	r->refs++;
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	return r->refs && r->refs++;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	WARN_ON(r->refs <= 0);
	return !--r->refs;
}

#endif /* _SHIM_LINUX_REFCOUNT_H */
