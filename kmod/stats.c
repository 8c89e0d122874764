// SPDX-License-Identifier: GPL-2.0
/* Per-CPU counters of a namespace. */
#include <linux/percpu.h>

#include "stats.h"

/* In the order of enum aggnet_stat, which the same list makes. */
static const char * const stat_name[] = {
#define X(name) #name,
	AGGNET_STATS(X)
#undef X
};

const char *aggnet_stat_name(unsigned int stat)
{
	return stat_name[stat];
}

u64 aggnet_stat_sum(const struct aggnet_stats __percpu *stats,
		    unsigned int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->value[stat]);
	return sum;
}
