/* SPDX-License-Identifier: GPL-2.0 */
/* Errors: a message, and the attribute that it refers to. */
#ifndef _SHIM_LINUX_NETLINK_H
#define _SHIM_LINUX_NETLINK_H

#include_next <linux/netlink.h>

struct netlink_ext_ack {
	const char *_msg;
	const struct nlattr *bad_attr;
	unsigned int miss_type;
};

#define NL_SET_BAD_ATTR(extack, attr) do {				\
	if (extack)							\
		(extack)->bad_attr = (attr);				\
} while (0)
#define NL_SET_ERR_MSG_ATTR(extack, attr, text) do {			\
	struct netlink_ext_ack *__extack = (extack);			\
									\
	if (__extack) {							\
		__extack->_msg = (text);				\
		__extack->bad_attr = (attr);				\
	}								\
} while (0)
#define NL_SET_ERR_MSG(extack, text) do {				\
	struct netlink_ext_ack *__extack = (extack);			\
									\
	if (__extack)							\
		__extack->_msg = (text);				\
} while (0)
#define NL_SET_ERR_MSG_MOD(extack, text)	NL_SET_ERR_MSG(extack, text)
#define NL_SET_ERR_ATTR_MISS(extack, nest, attr)			\
	((void)(nest), (void)((extack)->miss_type = (attr)))

#endif /* _SHIM_LINUX_NETLINK_H */
