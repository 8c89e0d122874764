/* SPDX-License-Identifier: GPL-2.0 */
/* Records of the benchmark's DATA, for programs of user space and of XDP. */
#ifndef PERF_SHAPE_H
#define PERF_SHAPE_H

#define PERF_PAYLOAD	1384	/* bytes of records in one DATA */
#define PERF_KEY	8	/* bytes of a key */
#define PERF_VALUE	8	/* bytes of a value, all of them used */
#define PERF_RECORD	(2 + PERF_KEY + PERF_VALUE)
#define PERF_RECORDS	(PERF_PAYLOAD / PERF_RECORD)

#endif
