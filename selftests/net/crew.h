/* SPDX-License-Identifier: GPL-2.0 */
/* Applications of one transfer, a thread each, in their nodes' namespaces. */
#ifndef NET_CREW_H
#define NET_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct app - a source or the receiver
 * @netns: descriptor of its namespace
 * @reader: it is the receiver
 * @receiver: identity, network order
 * @job: job ID
 * @first: number of a source's first key
 * @records: how many a source sends, each with another key and the value 1
 * @klen: bytes of a key, 4 at least; 0: 12
 * @done: records that it has sent or read
 * @sum: of the values that the receiver read
 * @seen: of the receiver: what it read of each key, or NULL
 * @each: what that must be in the end, for who looks
 * @result: 0: DONE or END; or an errno
 * @ended: the thread is at its end
 * @thread: it
 */
struct app {
	int netns;
	bool reader;
	uint32_t receiver;
	uint32_t job;
	uint32_t first;
	uint32_t records;
	uint8_t klen;
	atomic_uint done;
	uint64_t sum;
	uint32_t *seen;
	uint32_t each;
	int result;
	atomic_bool ended;
	pthread_t thread;
};

void app_start(struct app *app);

/* Wait for the end of the thread. Return: did it come within @seconds? */
bool app_join(struct app *app, int seconds);

/* Of a clock that only goes forward. */
long now_ms(void);

#endif
