// SPDX-License-Identifier: GPL-2.0
/* Applications of one transfer, a thread each, in their nodes' namespaces. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/aggnet.h>
#include <linux/aggnet_packet.h>

#include "crew.h"

#define BUFFER	16384

uint8_t app_value(const struct app *source, uint32_t key)
{
	return 1 + (key * 7 + source->salt * 11) % 40;
}

void app_take(struct app *reader, const uint8_t *key, uint64_t value)
{
	uint32_t number;

	memcpy(&number, key, sizeof(number));
	if (number < reader->keys)
		reader->seen[number] += value;
	else
		reader->foreign++;
}

void app_forget(struct app *reader)
{
	memset(reader->seen, 0, reader->keys * sizeof(*reader->seen));
	reader->foreign = 0;
	reader->done = 0;
}

bool app_exact(const struct app *reader, const struct app *apps, unsigned int n,
	       uint32_t left_out)
{
	uint64_t value;
	unsigned int i;
	uint32_t key;

	for (key = 0; key < reader->keys; key++) {
		value = 0;
		for (i = 0; i < n; i++)
			if (!apps[i].reader && !(i < 32 && left_out >> i & 1) &&
			    key - apps[i].first < apps[i].records)
				value += app_value(&apps[i], key);
		if (reader->seen[key] == value)
			continue;
		fprintf(stderr, "job %u: key %u is %llu, not %llu\n",
			reader->job, key, (unsigned long long)reader->seen[key],
			(unsigned long long)value);
		return false;
	}
	if (reader->foreign)
		fprintf(stderr, "job %u: %u records of no source\n",
			reader->job, reader->foreign);
	return !reader->foreign;
}

static size_t put_record(uint8_t *at, uint8_t klen, uint32_t key, uint8_t value)
{
	at[0] = klen;
	at[1] = 1;
	memcpy(at + 2, &key, sizeof(key));
	memset(at + 6, 'k', klen - sizeof(key));
	at[2 + klen] = value;
	return 3 + klen;
}

/* The number of records at which the next batch must end. */
static uint32_t until(const struct app *app)
{
	return app->done < app->pause ? app->pause : app->records;
}

static int source(struct app *app, int fd)
{
	uint8_t buf[BUFFER];

	while (app->done < app->records) {
		size_t len = 0, at = 0;
		uint32_t n;

		if (app->pause && app->done == app->pause)
			app_wait(app);
		for (n = app->done; n < until(app) && len < 3000; n++)
			len += put_record(buf + len, app->klen ?: 12,
					  app->first + n,
					  app_value(app, app->first + n));
		while (at < len) {
			ssize_t sent = send(fd, buf + at, len - at, 0);

			if (sent <= 0)
				return errno;
			at += (size_t)sent;
		}
		app->done = n;
	}
	if (shutdown(fd, SHUT_WR))
		return errno;
	return recv(fd, buf, 1, 0) ? errno : 0;
}

/* Values are small and not negative in these tests. */
static void take(struct app *app, const uint8_t *at, uint32_t records)
{
	for (; records--; at += 2 + at[0] + at[1]) {
		uint64_t value = 0;
		unsigned int i;

		for (i = at[1]; i-- > 0;)
			value = value << 8 | at[2 + at[0] + i];
		app_take(app, at + 2, value);
		app->done++;
	}
}

static int sink(struct app *app, int fd)
{
	uint8_t buf[BUFFER];
	struct aggnet_msg head;
	ssize_t len;

	for (;;) {
		len = recv(fd, buf, sizeof(buf), 0);
		if (len < 0)
			return errno;
		memcpy(&head, buf, sizeof(head));
		if (head.type == AGGNET_MSG_END)
			memcpy(&app->end, buf + sizeof(head), sizeof(app->end));
		if (head.type != AGGNET_MSG_RECORDS)
			return head.type == AGGNET_MSG_END ? 0 : EPROTO;
		take(app, buf + sizeof(head), head.records);
	}
}

static int take_part(struct app *app)
{
	struct sockaddr_aggnet at = {
		.sag_family = AF_INET,
		.sag_receiver = app->receiver,
		.sag_job = app->job,
	};
	const struct sockaddr *addr = (const struct sockaddr *)&at;
	socklen_t len = sizeof(app->status);
	int fd, result;

	fd = socket(AF_INET, SOCK_RDM, IPPROTO_AGGNET);
	if (fd < 0)
		return errno;
	if (app->reader ? bind(fd, addr, sizeof(at)) :
			  connect(fd, addr, sizeof(at)))
		result = errno;
	else
		result = app->reader ? sink(app, fd) : source(app, fd);
	if (result)
		getsockopt(fd, SOL_AGGNET, AGGNET_SO_STATUS, &app->status, &len);
	close(fd);
	return result;
}

static void *run(void *arg)
{
	struct app *app = arg;

	if (setns(app->netns, CLONE_NEWNET))
		app->result = errno;
	else
		app->result = app->work ? app->work(app) : take_part(app);
	app->ended = true;
	return NULL;
}

void app_go(struct app *app)
{
	if (app->go >= 0)
		eventfd_write(app->go, 1);
}

/* One app_go() ends this wait and all later ones. */
void app_wait(struct app *app)
{
	eventfd_t n;

	if (!eventfd_read(app->go, &n))
		eventfd_write(app->go, n);
}

void app_start(struct app *app)
{
	app->done = 0;
	if (app->reader)
		app_forget(app);
	app->ended = false;
	app->go = app->pause ? eventfd(0, EFD_CLOEXEC) : -1;
	if (pthread_create(&app->thread, NULL, run, app)) {
		perror("thread");
		exit(1);
	}
}

bool app_join(struct app *app, int seconds)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += seconds;
	if (pthread_timedjoin_np(app->thread, NULL, &end))
		return false;
	if (app->go >= 0)
		close(app->go);
	app->go = -1;
	return true;
}
