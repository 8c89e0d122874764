/* SPDX-License-Identifier: GPL-2.0 */
/* Records: what the sources of the world send, and what its reader has got. */
#ifndef _FLOW_RECORDS_H
#define _FLOW_RECORDS_H

#include <linux/types.h>

#include "core/shape.h"

#define RECORD_MAX	192	/* bytes of a source's record */

struct aggnet_shape records_shape(void);

/* Write record @n of a source in a round. Return: its bytes */
u32 records_put(u8 *buf, u32 node, u32 n, u32 round);

void records_forget(void);			/* drop what was read */
void records_take(const u8 *data, u32 records);	/* the reader got these */
bool records_all(u32 round);	/* has it each record of each source once? */

#endif /* _FLOW_RECORDS_H */
