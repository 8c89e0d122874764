/* SPDX-License-Identifier: GPL-2.0 */
/* Owners: the user namespace is the initial one. */
#ifndef _SHIM_LINUX_UIDGID_H
#define _SHIM_LINUX_UIDGID_H

#include <linux/types.h>

typedef struct {
	uid_t val;
} kuid_t;

typedef struct {
	gid_t val;
} kgid_t;

#endif /* _SHIM_LINUX_UIDGID_H */
