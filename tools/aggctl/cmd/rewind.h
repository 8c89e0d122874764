/* SPDX-License-Identifier: GPL-2.0 */
/* Standard output, taken back to where it began. */
#ifndef AGGCTL_REWIND_H
#define AGGCTL_REWIND_H

#include <sys/types.h>

off_t rewind_start(void);
int rewind_to(off_t start);

#endif
