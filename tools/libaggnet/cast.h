/* SPDX-License-Identifier: GPL-2.0 */
/* Cast: what the library needs of the handles of broadcasts. */
#ifndef AGGNET_CAST_H
#define AGGNET_CAST_H

#include "aggnet_data.h"

struct conn;

struct conn *cast_conn(struct aggnet_cast *c);

/* The end mark of the round, or of the stream, has been seen: is it the last one? */
bool cast_is_last(const struct aggnet_cast *c);

#endif /* AGGNET_CAST_H */
