/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks: none is ever called. */
#ifndef _SHIM_LINUX_NETFILTER_H
#define _SHIM_LINUX_NETFILTER_H

struct nf_hook_ops {
	char nothing;
};

#endif /* _SHIM_LINUX_NETFILTER_H */
