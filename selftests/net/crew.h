/* SPDX-License-Identifier: GPL-2.0 */
/* Applications of one transfer, a thread each, in their nodes' namespaces. */
#ifndef NET_CREW_H
#define NET_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/aggnet.h>

#include "../lib/clock.h"

/**
 * struct app - a source or the receiver
 * @netns: descriptor of its namespace
 * @reader: it is the receiver
 * @receiver: identity, network order
 * @job: job ID
 * @first: number of a source's first key
 * @records: how many records a source sends, each with another key
 * @salt: makes the source's values differ from others'
 * @klen: bytes of a key, at least 4; 0: 12
 * @pause: after so many records it waits for app_go(); 0: it does not wait
 * @work: the function that sends or reads; NULL: one that uses the socket only
 * @repair: app_replays(): milliseconds that it waits for a newer epoch
 * @quits: app_replays(): after the pause it closes without having finished
 * @done: records that it has sent or read
 * @seen: receiver: the sum of the values that it read, by key; @keys of them
 * @keys: no source has a key as large as this
 * @foreign: receiver: records with another key
 * @result: 0: DONE or END; or an errno
 * @end: receiver: the end mark
 * @absent: receiver: the first source that was left out
 * @status: why it failed
 * @again: app_replays(): bytes that a source has sent again
 * @ended: the thread has ended
 * @thread: it
 * @go: descriptor with which app_go() wakes it
 */
struct app {
	int netns;
	bool reader;
	uint32_t receiver;
	uint32_t job;
	uint32_t first;
	uint32_t records;
	uint32_t salt;
	uint8_t klen;
	uint32_t pause;
	int (*work)(struct app *app);
	unsigned int repair;
	bool quits;
	atomic_uint done;
	uint64_t *seen;
	uint32_t keys;
	uint32_t foreign;
	int result;
	struct aggnet_end end;
	uint32_t absent;
	struct aggnet_status status;
	uint64_t again;
	atomic_bool ended;
	pthread_t thread;
	int go;
};

void app_start(struct app *app);

/* The value, 1 to 40, that a source sends with the key of this number. */
uint8_t app_value(const struct app *source, uint32_t key);

/* The receiver has read @value with this key. */
void app_take(struct app *reader, const uint8_t *key, uint64_t value);
/* A newer epoch began: drop what was read. */
void app_forget(struct app *reader);

/**
 * app_exact() - compare a result with its sources, key by key
 * @reader: it has read the result
 * @apps: the applications of the transfer; @reader may be among them
 * @n: how many
 * @left_out: bit i: application i is a source that is not in the result
 *
 * Return: true if the result is right; prints the first key that is not
 */
bool app_exact(const struct app *reader, const struct app *apps, unsigned int n,
	       uint32_t left_out);

/* End its pause, or let it skip the pause. */
void app_go(struct app *app);

/* Wait for app_go(). For functions that are an app's @work. */
void app_wait(struct app *app);

/*
 * A @work that uses libaggnet: in a newer epoch it sends or reads everything
 * again.
 */
int app_replays(struct app *app);

/* Wait for the end of the thread. Return: true if it ended within @seconds */
bool app_join(struct app *app, int seconds);

#endif
