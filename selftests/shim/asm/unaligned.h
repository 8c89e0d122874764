/* SPDX-License-Identifier: GPL-2.0 */
/* 6.1 has here what 6.12 has in linux/unaligned.h. */
#include <linux/unaligned.h>
