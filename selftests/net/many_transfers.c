// SPDX-License-Identifier: GPL-2.0
/* Many transfers at once, with all their applications in this process. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crew.h"

#define APPS_MAX	8192
#define BLANK		" \r\n"
#define BOUND		3600	/* seconds: a longer wait is a hang */

static struct app apps[APPS_MAX];
static unsigned int n;

static int open_netns(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void add(const char *netns, uint32_t job, const char *receiver,
		bool reader, uint32_t records)
{
	if (n == APPS_MAX) {
		fputs("too many applications\n", stderr);
		exit(1);
	}
	apps[n++] = (struct app) {
		.netns = open_netns(netns),
		.reader = reader,
		.receiver = inet_addr(receiver),
		.job = job,
		.records = records,
	};
}

/*
 * "JOB RECEIVER NETNS SENDER-NETNS...": the receiver's application comes first.
 */
static void read_transfer(char *line, uint32_t records)
{
	char *job = strtok(line, BLANK), *receiver = strtok(NULL, BLANK);
	char *netns = strtok(NULL, BLANK);
	unsigned int first = n;

	if (!netns) {
		fputs("a line is JOB RECEIVER NETNS SENDER-NETNS...\n", stderr);
		exit(2);
	}
	add(netns, (uint32_t)strtoul(job, NULL, 0), receiver, true, records);
	while ((netns = strtok(NULL, BLANK))) {
		add(netns, apps[first].job, receiver, false, records);
		apps[n - 1].salt = n - first;
	}
}

/* Check one transfer: the senders stand between this receiver and the next. */
static bool right(const struct app *app)
{
	unsigned int senders = 0;

	while (app + 1 + senders < apps + n && !app[1 + senders].reader)
		senders++;
	return app_exact(app, app + 1, senders, 0);
}

static void judge(struct app *app)
{
	if (!app_join(app, BOUND)) {
		fprintf(stderr, "job %u: an application does not return\n",
			app->job);
		exit(1);
	}
	if (app->result) {
		fprintf(stderr, "job %u: %s: %s\n", app->job,
			app->reader ? "receiver" : "source",
			strerror(app->result));
		exit(1);
	}
	if (app->reader && !right(app))
		exit(1);
}

/*
 * many_transfers RECORDS [KEY-BYTES] < TRANSFERS: prints the number and the
 * time.
 */
int main(int argc, char **argv)
{
	struct rlimit files = { 4 * APPS_MAX, 4 * APPS_MAX };
	unsigned int i, transfers = 0;
	uint32_t records;
	char line[16384];
	long began;

	if (argc != 2 && argc != 3) {
		fputs("usage: many_transfers RECORDS [KEY-BYTES] < TRANSFERS\n", stderr);
		return 2;
	}
	records = (uint32_t)strtoul(argv[1], NULL, 0);
	if (setrlimit(RLIMIT_NOFILE, &files)) {
		perror("limit of files");
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		read_transfer(line, records);
		transfers++;
	}
	for (i = 0; i < n; i++) {
		apps[i].klen = argc > 2 ? (uint8_t)atoi(argv[2]) : 0;
		if (apps[i].reader)
			apps[i].seen = calloc(records, sizeof(*apps->seen));
		apps[i].keys = records;
	}
	began = now_ms();
	for (i = 0; i < n; i++)
		app_start(&apps[i]);
	for (i = 0; i < n; i++)
		judge(&apps[i]);
	printf("%u transfers, %u applications, %u records each: %ld ms\n",
	       transfers, n, records, now_ms() - began);
	return transfers == 0;
}
