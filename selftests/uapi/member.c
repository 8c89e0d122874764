// SPDX-License-Identifier: GPL-2.0
/* See member.h. */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "member.h"

struct in_addr ip(const char *text)
{
	return (struct in_addr){ inet_addr(text) };
}

static int set_loopback(const char *address)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	struct sockaddr_in *sin = (struct sockaddr_in *)&ifr.ifr_addr;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int err;

	sin->sin_family = AF_INET;
	sin->sin_addr = ip(address);
	err = ioctl(fd, SIOCSIFADDR, &ifr);
	sin->sin_addr.s_addr = INADDR_NONE;
	err = err ?: ioctl(fd, SIOCSIFNETMASK, &ifr);
	err = err ?: ioctl(fd, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags |= IFF_UP;
	err = err ?: ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return err;
}

struct aggnet_ctl *make_node(const char *address)
{
	struct aggnet_node_info node = {
		.has = AGGNET_HAS(AGGNET_A_NODE_ADDRESS),
		.address = ip(address),
	};
	struct aggnet_ctl *ctl;

	if (unshare(CLONE_NEWNET) || set_loopback(address))
		return NULL;
	if (aggnet_ctl_open(&ctl) || aggnet_node_set(ctl, &node)) {
		fprintf(stderr, "# %s\n", aggnet_ctl_error(ctl));
		aggnet_ctl_close(ctl);
		return NULL;
	}
	return ctl;
}

int attach(struct aggnet_ctl *ctl, const char *device, bool transit)
{
	struct aggnet_port_info port = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX) |
		       AGGNET_HAS(AGGNET_A_PORT_TRANSIT),
		.ifindex = if_nametoindex(device),
		.transit = transit,
	};

	return aggnet_port_add(ctl, &port);
}

uint64_t counter(struct aggnet_ctl *ctl, const char *name)
{
	uint64_t value = UINT64_MAX;
	struct aggnet_stat *list;
	size_t i, n;

	if (aggnet_stats_list(ctl, &list, &n))
		return value;
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			value = list[i].value;
	free(list);
	return value;
}

struct aggnet_tree_info entry(uint32_t writers)
{
	return (struct aggnet_tree_info){
		.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID) |
		       AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
		       AGGNET_HAS(AGGNET_A_TREE_CONTRIBUTORS) |
		       AGGNET_HAS(AGGNET_A_TREE_SOURCES) |
		       AGGNET_HAS(AGGNET_A_TREE_FUNCTION) |
		       AGGNET_HAS(AGGNET_A_TREE_WRITERS) |
		       AGGNET_HAS(AGGNET_A_TREE_MEMORY),
		.incast_id = aggnet_incast_id(JOB, ip(NODE_A)),
		.instance = 1,
		.contributors = 1,
		.sources = 1,
		.function = AGGNET_FN_SUM,
		.writers = writers,
		.memory = 1 << 20,
	};
}

int add_entry(struct aggnet_ctl *ctl,
	      const struct aggnet_tree_info *e, bool replace)
{
	int err = aggnet_tree_add(ctl, e, replace);

	if (err)
		fprintf(stderr, "# tree add: %s\n", aggnet_ctl_error(ctl));
	return err;
}

int add_writers(struct aggnet_ctl *ctl, uint32_t writers)
{
	struct aggnet_tree_info e = entry(writers);

	return add_entry(ctl, &e, false);
}

struct sockaddr_aggnet transfer(const char *receiver, uint32_t job)
{
	return (struct sockaddr_aggnet){
		.sag_family = AF_INET,
		.sag_receiver = inet_addr(receiver),
		.sag_job = job,
	};
}

int new_socket(void)
{
	return socket(AF_INET, SOCK_RDM, IPPROTO_AGGNET);
}

int join(int fd, const char *receiver, uint32_t job, bool reader)
{
	struct sockaddr_aggnet sag = transfer(receiver, job);
	const struct sockaddr *addr = (const struct sockaddr *)&sag;

	return reader ? bind(fd, addr, sizeof(sag)) :
			connect(fd, addr, sizeof(sag));
}

int joined(bool reader)
{
	int fd = new_socket();

	if (fd < 0 || join(fd, NODE_A, JOB, reader))
		return -1;
	return fd;
}

int writer(void)
{
	return joined(false);
}

int reader(void)
{
	return joined(true);
}

size_t put_record(uint8_t *buf, const char *key, int64_t value)
{
	size_t klen = strlen(key);

	buf[0] = klen;
	buf[1] = sizeof(value);
	memcpy(buf + 2, key, klen);
	memcpy(buf + 2 + klen, &value, sizeof(value));
	return 2 + klen + sizeof(value);
}

int send_record(int fd, const char *key, int64_t value)
{
	uint8_t buf[AGGNET_RECORD_MAX];
	size_t len = put_record(buf, key, value);

	return send(fd, buf, len, MSG_DONTWAIT) == (ssize_t)len ? 0 : -1;
}

ssize_t receive(int fd, struct message *m, int flags)
{
	return recv(fd, m, sizeof(*m), flags);
}

int64_t only_value(const struct message *m, ssize_t len)
{
	const uint8_t *record = m->records;
	uint64_t value = 0;
	unsigned int i;

	if (m->head.type != AGGNET_MSG_RECORDS || m->head.records != 1 ||
	    len != (ssize_t)sizeof(m->head) + 2 + record[0] + record[1])
		return INT64_MIN;
	for (i = record[1]; i-- > 0;)
		value = value << 8 | record[2 + record[0] + i];
	if (record[1] && record[1] < 8 &&
	    record[2 + record[0] + record[1] - 1] & 0x80)
		value |= ~UINT64_C(0) << (8 * record[1]);
	return value;
}

uint32_t reason(int fd, uint32_t *origin)
{
	struct aggnet_status st;
	socklen_t len = sizeof(st);

	if (getsockopt(fd, SOL_AGGNET, AGGNET_SO_STATUS, &st, &len))
		return UINT32_MAX;
	*origin = st.origin;
	return st.reason;
}

void *send_many(void *arg)
{
	struct sender *s = arg;
	uint8_t buf[4096];
	unsigned int i = 0;
	char key[32];

	while (i < s->records) {
		size_t off = 0, done = 0;
		ssize_t n;

		for (; off < 4000 && i < s->records; i++) {
			snprintf(key, sizeof(key), "fd %d key %u", s->fd, i);
			off += put_record(buf + off, key, 1);
		}
		for (; done < off; done += n) {
			n = send(s->fd, buf + done, off - done, 0);
			if (n <= 0)
				goto fail;
		}
	}
	if (shutdown(s->fd, SHUT_WR) || recv(s->fd, buf, 1, 0))
		goto fail;
	return NULL;
fail:
	s->failed = errno ? errno : EIO;
	return NULL;
}

short events(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN | POLLOUT };

	return poll(&pfd, 1, 0) < 0 ? -1 : pfd.revents;
}

short await(int fd, short wanted)
{
	struct pollfd pfd = { .fd = fd, .events = wanted };

	return poll(&pfd, 1, -1) < 0 ? -1 : pfd.revents;
}

void *wait_in_recv(void *arg)
{
	struct waiter *waiter = arg;

	waiter->n = receive(waiter->fd, &waiter->m, waiter->flags);
	waiter->error = errno;
	return NULL;
}
