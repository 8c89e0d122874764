// SPDX-License-Identifier: GPL-2.0
/* Plain TCP: each source has a connection to the receiver. */
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

#define PORT	5001

static char buf[65536];

int peer_listen(int sources)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int one = 1;

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, sources))
		return -1;
	return fd;
}

int peer_connect(struct in_addr receiver)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr = receiver,
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return -1;
	return fd;
}

bool peer_send(int fd, size_t bytes)
{
	while (bytes) {
		ssize_t n = send(fd, buf, bytes < sizeof(buf) ? bytes :
					  sizeof(buf), MSG_NOSIGNAL);

		if (n < 0)
			return false;
		bytes -= (size_t)n;
	}
	return !shutdown(fd, SHUT_WR) && !recv(fd, buf, sizeof(buf), 0);
}

/* Return: how many bytes came; 0: the end, after which the socket is closed */
static ssize_t peer_drain(struct pollfd *p)
{
	ssize_t n = recv(p->fd, buf, sizeof(buf), 0);

	if (n <= 0) {
		close(p->fd);
		p->fd = -1;
	}
	return n;
}

bool peer_read(int listener, int sources, size_t bytes)
{
	struct pollfd *p = calloc((size_t)sources, sizeof(*p));
	int i, left = sources;
	bool good = p;
	size_t got = 0;
	ssize_t n;

	for (i = 0; good && i < sources; i++) {
		p[i].fd = accept(listener, NULL, NULL);
		p[i].events = POLLIN;
		good = p[i].fd >= 0;
	}
	while (good && left) {
		good = poll(p, (nfds_t)sources, -1) > 0;
		for (i = 0; good && i < sources; i++) {
			if (!p[i].revents)
				continue;
			n = peer_drain(&p[i]);
			good = n >= 0;
			got += good ? (size_t)n : 0;
			left -= !n;
		}
	}
	free(p);
	return good && got == bytes;
}
