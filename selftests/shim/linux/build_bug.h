/* SPDX-License-Identifier: GPL-2.0 */
/* BUILD_BUG_ON() and static_assert(). */
#include <linux/bug.h>
