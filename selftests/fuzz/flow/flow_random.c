// SPDX-License-Identifier: GPL-2.0
/* Random scripts of fuzz_flow, without a fuzzer's overhead: prints how many
 * steps they took, and how fast.
 * Usage: flow_random SEED RUNS [RUN]	(only that one)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/random.h"
#include "script.h"
#include "world.h"

#define STEPS_MAX	1500

static unsigned long long state;

static u64 next(void)
{
	return splitmix64(&state);
}

/* The seed and its number determine a run. */
static u32 run(u64 seed, u64 number)
{
	u8 script[SCRIPT_HEAD + 2 * STEPS_MAX];
	u32 size, i, harm;

	state = seed * 1000003 + number;
	size = SCRIPT_HEAD + 2 * (next() % STEPS_MAX);
	for (i = 0; i < size; i++)
		script[i] = next() >> 56;
	/* Harm is so rare that transfers are running when it is done. */
	harm = 1u << next() % 12;
	for (i = SCRIPT_HEAD; i < size; i += 2)
		if (script[i] >= 250 && next() % harm)
			script[i] -= 52;
	return script_run(script, size);
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static u64 seed, number;

static void told(int signal)
{
	printf("not ok - seed %llu, run %llu\n", (unsigned long long)seed,
	       (unsigned long long)number);
	fflush(stdout);
	_exit(1);
}

int main(int argc, char **argv)
{
	u64 start = now_ms(), steps = 0, runs, ms;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: %s SEED RUNS [RUN]\n", argv[0]);
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	runs = strtoull(argv[argc - 1], NULL, 0);
	signal(SIGABRT, told);
	/* A fixed number of runs: a seed does the same work on each machine. */
	for (number = argc == 4 ? runs : 1; number <= runs; number++)
		steps += run(seed, number);
	ms = now_ms() - start;
	printf("# seed %llu: %llu runs, %llu steps, %llu deliveries in %llu ms\n",
	       (unsigned long long)seed, (unsigned long long)runs,
	       (unsigned long long)steps,
	       (unsigned long long)world.deliveries, (unsigned long long)ms);
	printf("# %llu million steps and deliveries a minute\n",
	       (unsigned long long)((steps + world.deliveries) * 60 / (ms + 1) /
				    1000));
	return 0;
}
