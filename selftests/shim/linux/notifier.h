/* SPDX-License-Identifier: GPL-2.0 */
/* Chains of notifiers with one member each. */
#ifndef _SHIM_LINUX_NOTIFIER_H
#define _SHIM_LINUX_NOTIFIER_H

#define NOTIFY_DONE	0

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event,
			     void *data);
};

#endif /* _SHIM_LINUX_NOTIFIER_H */
