/* SPDX-License-Identifier: GPL-2.0 */
/* ALIGN() is defined with other small arithmetic. */
#include <linux/kernel.h>
