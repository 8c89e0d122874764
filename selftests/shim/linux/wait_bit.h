/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting: the condition must be true already. */
#ifndef _SHIM_LINUX_WAIT_BIT_H
#define _SHIM_LINUX_WAIT_BIT_H

#include <linux/bug.h>

#define wake_up_var(var)		((void)(var))
#define wait_var_event(var, cond)	WARN_ON(!(cond))

#endif /* _SHIM_LINUX_WAIT_BIT_H */
