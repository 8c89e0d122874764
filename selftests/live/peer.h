/* SPDX-License-Identifier: GPL-2.0 */
/* What a job does without aggnet: each source has a TCP connection to the
 * receiver. The receiver reads and discards, so that its time is the network's.
 */
#ifndef LIVE_PEER_H
#define LIVE_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

/* Listen for @sources connections. Return: a socket, or -1 with errno set */
int peer_listen(int sources);

/* Return: a connected socket, or -1 with errno set */
int peer_connect(struct in_addr receiver);

/* Send so many bytes, and wait until the receiver has closed. */
bool peer_send(int fd, size_t bytes);

/* Read from so many connections until all end. Did so many bytes come? */
bool peer_read(int listener, int sources, size_t bytes);

#endif
