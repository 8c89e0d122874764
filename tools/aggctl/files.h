/* SPDX-License-Identifier: GPL-2.0 */
/* How many descriptors the process may have. */
#ifndef AGGCTL_FILES_H
#define AGGCTL_FILES_H

void raise_files(void);
const char *files_error(int error);

#endif
