/* SPDX-License-Identifier: GPL-2.0 */
/* Applications of one transfer, a thread each, in their nodes' namespaces. */
#ifndef NET_CREW_H
#define NET_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/aggnet.h>

/**
 * struct app - a source or the receiver
 * @netns: descriptor of its namespace
 * @reader: it is the receiver
 * @receiver: identity, network order
 * @job: job ID
 * @first: number of a source's first key
 * @records: how many a source sends, each with another key
 * @salt: makes the source's values its own
 * @klen: bytes of a key, 4 at least; 0: 12
 * @pause: after so many records it waits for app_go(); 0: it does not wait
 * @work: what it does; NULL: what the socket alone offers
 * @repair: app_replays(): milliseconds that it waits for a newer epoch
 * @quits: app_replays(): after the pause it closes without having finished
 * @done: records that it has sent or read
 * @seen: of the receiver: what it read of each key, in all; @keys of them
 * @keys: no source has a key as large as this
 * @foreign: of the receiver: records with another key
 * @result: 0: DONE or END; or an errno
 * @end: of the receiver: the end mark
 * @absent: of the receiver: the first source that was left out
 * @status: why it failed
 * @again: app_replays(): bytes that a source has sent again
 * @ended: the thread is at its end
 * @thread: it
 * @go: descriptor through which it is told to go on
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

/* The value that a source sends with the key of that number: 1 to 40. */
uint8_t app_value(const struct app *source, uint32_t key);

/* The receiver has read @value of that key. */
void app_take(struct app *reader, const uint8_t *key, uint64_t value);
/* A newer epoch: what was read does not count. */
void app_forget(struct app *reader);

/**
 * app_exact() - compare a result with its sources, key by key
 * @reader: it has read the result
 * @apps: the applications of the transfer, @reader among them or not
 * @n: how many
 * @left_out: bit i: application i is a source that is not in the result
 *
 * Return: is the result right? The first key that is not is printed.
 */
bool app_exact(const struct app *reader, const struct app *apps, unsigned int n,
	       uint32_t left_out);

/* It need not wait, or no longer. */
void app_go(struct app *app);

/* For those that do the app's work: wait for app_go(). */
void app_wait(struct app *app);

/* A @work by libaggnet: in a newer epoch it sends or reads everything again. */
int app_replays(struct app *app);

/* Wait for the end of the thread. Return: did it come within @seconds? */
bool app_join(struct app *app, int seconds);

/* Of a clock that only goes forward. */
long now_ms(void);

#endif
