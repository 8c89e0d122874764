/* SPDX-License-Identifier: GPL-2.0 */
/* Whoever asks is in the initial user namespace. */
#ifndef _NETLINK_LINUX_CRED_H
#define _NETLINK_LINUX_CRED_H

struct user_namespace;

#define current_user_ns()	((struct user_namespace *)NULL)

#endif /* _NETLINK_LINUX_CRED_H */
