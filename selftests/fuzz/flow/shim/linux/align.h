/* SPDX-License-Identifier: GPL-2.0 */
/* ALIGN() is where the other small arithmetic is. */
#include <linux/kernel.h>
