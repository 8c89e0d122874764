/* SPDX-License-Identifier: GPL-2.0 */
/* Owners: all IDs are mapped, and -1 is an invalid one. */
#ifndef _SHIM_LINUX_USER_NAMESPACE_H
#define _SHIM_LINUX_USER_NAMESPACE_H

#include <linux/uidgid.h>

struct user_namespace;

#define INVALID_UID	((kuid_t){ -1 })
#define INVALID_GID	((kgid_t){ -1 })

static inline kuid_t make_kuid(const struct user_namespace *ns, uid_t uid)
{
	return (kuid_t){ uid };
}

static inline kgid_t make_kgid(const struct user_namespace *ns, gid_t gid)
{
	return (kgid_t){ gid };
}

static inline bool uid_valid(kuid_t uid)
{
	return uid.val != (uid_t)-1;
}

static inline bool gid_valid(kgid_t gid)
{
	return gid.val != (gid_t)-1;
}

static inline uid_t from_kuid_munged(const struct user_namespace *ns,
				     kuid_t uid)
{
	return uid.val;
}

static inline gid_t from_kgid_munged(const struct user_namespace *ns,
				     kgid_t gid)
{
	return gid.val;
}

#endif /* _SHIM_LINUX_USER_NAMESPACE_H */
