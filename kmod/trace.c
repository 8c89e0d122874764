// SPDX-License-Identifier: GPL-2.0
/* Tracepoints of packets and trees, defined once. */
#define CREATE_TRACE_POINTS
#include "trace.h"
