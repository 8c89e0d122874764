/* SPDX-License-Identifier: GPL-2.0 */
/* Scripts: bytes that describe a run of the world. */
#ifndef _FLOW_SCRIPT_H
#define _FLOW_SCRIPT_H

#include <linux/types.h>

#define SCRIPT_HEAD	7	/* bytes of configuration; then two a step */

/* Return: the number of steps */
u32 script_run(const u8 *data, size_t size);

#endif /* _FLOW_SCRIPT_H */
