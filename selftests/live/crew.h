/* SPDX-License-Identifier: GPL-2.0 */
/* Processes of a job on the nodes of a testbed, which begin together. */
#ifndef LIVE_CREW_H
#define LIVE_CREW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct crew - processes, and the clock of their job
 * @ready: each process writes a byte: 1 if it has joined, else 0
 * @go: the end of this pipe begins the job
 * @n: processes
 * @joined: those that are known to have joined
 * @result: of each receiver; written by it, read by the caller
 */
struct crew {
	int ready[2];
	int go[2];
	unsigned int n;
	unsigned int joined;
	struct crew_result {
		double ended;
		bool exact;
	} *result;
};

int crew_init(struct crew *crew, uint32_t receivers);

/* Join in the namespace of the node, wait for the beginning, do the work. */
typedef bool (*crew_join)(void *arg, uint32_t index);
typedef bool (*crew_work)(void *arg, uint32_t index);

/**
 * crew_start() - start a process of a node
 * @crew: the crew
 * @node: name of the node's network namespace
 * @join: called first; false ends the process with an error
 * @work: called when the job begins
 * @arg: for both
 * @index: for both
 *
 * Return: false with an error line printed
 */
bool crew_start(struct crew *crew, const char *node, crew_join join,
		crew_work work, void *arg, uint32_t index);

/* Wait until all that were started have joined. Return: false if one has not */
bool crew_joined(struct crew *crew);

/* Begin the job. Return: crew_clock() */
double crew_begin(struct crew *crew);

/* Wait for all. Return: did all succeed? */
bool crew_wait(struct crew *crew);

/* Seconds of the monotonic clock. */
double crew_clock(void);

void crew_sleep(double seconds);

#endif
