/* SPDX-License-Identifier: GPL-2.0 */
/* Sentences for refusals: nobody reads them here. */
#ifndef _FLOW_LINUX_NETLINK_H
#define _FLOW_LINUX_NETLINK_H

#define NL_SET_ERR_MSG_MOD(extack, text)	((void)(extack))

#endif /* _FLOW_LINUX_NETLINK_H */
