/* SPDX-License-Identifier: GPL-2.0 */
/* Records of the usual workload, for programs of user space and of XDP. */
#ifndef PERF_SHAPE_H
#define PERF_SHAPE_H

#define PERF_PAYLOAD	1384	/* bytes of records in one DATA */
#define PERF_KEY	8	/* bytes of a key */
#define PERF_VALUE	8	/* bytes of a value, all of them used */
#define PERF_RECORD	(2 + PERF_KEY + PERF_VALUE)
#define PERF_RECORDS	(PERF_PAYLOAD / PERF_RECORD)
#define PERF_ARRAY	65536	/* keys of the array map */

/* Of a dense vector of int64: a record is a block, and its number has 2 bytes. */
#define PERF_ELEMENTS	4095	/* whole blocks */
#define PERF_BLOCK	(2 + 2 + AGGNET_BLOCK_ELEMENTS * PERF_VALUE)
#define PERF_BLOCKS	(PERF_PAYLOAD / PERF_BLOCK)

#endif
