/* SPDX-License-Identifier: GPL-2.0 */
/* Standard output, written through to the disk. */
#ifndef AGGCTL_SYNC_H
#define AGGCTL_SYNC_H

int sync_directory(void);
int sync_output(int dir);

#endif
