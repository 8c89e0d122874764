// SPDX-License-Identifier: GPL-2.0
/* Did the host keep a CPU from running its threads? One thread on each CPU
 * measures it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "stall.h"

#define TICK_MS		10

static long cpus;
static _Atomic int64_t *ticked;	/* by CPU: when its thread ran last */
static _Atomic int64_t longest;

/* A thread cannot report a stall that lasts; stall_longest() does. */
static void look(long cpu, int64_t now)
{
	int64_t stall = now - ticked[cpu] - TICK_MS, most = longest;

	while (stall > most)
		if (atomic_compare_exchange_weak(&longest, &most, stall))
			break;
}

static void *watch_cpu(void *arg)
{
	long cpu = (long)arg;
	cpu_set_t set;
	int64_t now;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
	for (;;) {
		now = now_ms();
		look(cpu, now);
		ticked[cpu] = now;
		usleep(TICK_MS * 1000);
	}
	return NULL;
}

void stall_watch(void)
{
	pthread_t thread;
	long cpu;

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ticked = calloc((size_t)cpus, sizeof(*ticked));
	for (cpu = 0; ticked && cpu < cpus; cpu++) {
		ticked[cpu] = now_ms();
		if (pthread_create(&thread, NULL, watch_cpu, (void *)cpu))
			break;
	}
	if (cpu == cpus)
		return;
	perror("a thread on each CPU");
	exit(1);
}

void stall_forget(void)
{
	longest = 0;
}

int64_t stall_longest(void)
{
	int64_t now = now_ms();
	long cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		look(cpu, now);
	return longest;
}
