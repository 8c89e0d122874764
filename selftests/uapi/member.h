/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of members share: a node in a namespace of its own, an entry,
 * and the calls of a source and of the receiver.
 */
#ifndef MEMBER_H
#define MEMBER_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#include <aggnet.h>
#include <aggnet_data.h>

#define JOB		7
#define NODE_A		"10.0.0.1"
#define NODE_B		"10.0.0.2"
#define BUF		65536

struct message {
	struct aggnet_msg head;
	union {
		struct aggnet_end end;
		uint8_t records[BUF];
	};
};

/* --- configuration --- */

struct in_addr ip(const char *text);

/* Make a namespace with an identity. Return: its control handle */
struct aggnet_ctl *make_node(const char *address);

/* Make a device a port. Return: 0 or -errno */
int attach(struct aggnet_ctl *ctl, const char *device, bool transit);

/* Return: a counter of the node; UINT64_MAX: no counter has that name */
uint64_t counter(struct aggnet_ctl *ctl, const char *name);

/* An entry of job JOB at NODE_A; the caller fills in what differs. */
struct aggnet_tree_info entry(uint32_t writers);

int add_entry(struct aggnet_ctl *ctl, const struct aggnet_tree_info *e,
	      bool replace);
int add_writers(struct aggnet_ctl *ctl, uint32_t writers);

/* --- socket calls --- */

struct sockaddr_aggnet transfer(const char *receiver, uint32_t job);
int new_socket(void);
int join(int fd, const char *receiver, uint32_t job, bool reader);
int joined(bool reader);
int writer(void);
int reader(void);
size_t put_record(uint8_t *buf, const char *key, int64_t value);
int send_record(int fd, const char *key, int64_t value);
ssize_t receive(int fd, struct message *m, int flags);

/* Return: the value of the only record in a message */
int64_t only_value(const struct message *m, ssize_t len);

/*
 * Return: why the transfer was aborted; @origin: by which node. UINT32_MAX:
 * unknown
 */
uint32_t reason(int fd, uint32_t *origin);

struct sender {
	int fd;
	unsigned int records;
	int failed;
	pthread_t thread;
};

/* Send many records at a time with blocking calls, then the end. */
void *send_many(void *arg);

/* --- waiting --- */

short events(int fd);

/* Wait for an event; the harness ends a test that waits for ever. */
short await(int fd, short wanted);

/* A thread that is in recv(). */
struct waiter {
	int fd;
	int flags;
	struct message m;
	ssize_t n;
	int error;
	pthread_t thread;
};

void *wait_in_recv(void *arg);

#define EXPECT_ERRNO(err, call)				\
	do {						\
		errno = 0;				\
		EXPECT_EQ(-1, (call));			\
		EXPECT_EQ(err, errno);			\
	} while (0)

#endif /* MEMBER_H */
