/* SPDX-License-Identifier: GPL-2.0 */
/* Script: bytes, and the run of the world that they stand for. */
#ifndef _FLOW_SCRIPT_H
#define _FLOW_SCRIPT_H

#include <linux/types.h>

#define SCRIPT_HEAD	7	/* bytes of configuration; then two a step */

/* Return: steps that were made. */
u32 script_run(const u8 *data, size_t size);

#endif /* _FLOW_SCRIPT_H */
