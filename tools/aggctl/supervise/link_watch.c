// SPDX-License-Identifier: GPL-2.0
/* Watch devices of a namespace: they go up and down, and are added and deleted.
 */
#include <errno.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aggctl.h"
#include "files.h"
#include "supervise/link_watch.h"

#define LINK_QUEUE	(1024 * 1024)
#define LINK_BYTES	32768
/* Deleted devices whose names are kept: messages about them may come late. */
#define LINK_GONE	64

/* Request a dump of all devices; its messages are handled like events. */
static int ask(struct link_watch *watch)
{
	const struct {
		struct nlmsghdr h;
		struct ifinfomsg info;
	} request = {
		.h = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
	};
	size_t i;

	watch->changed = false;
	for (i = 0; i < watch->n; i++)
		watch->link[i].told = false;
	return send(watch->fd, &request, sizeof(request), 0) < 0 ? -1 : 0;
}

/**
 * link_watch_close() - listen no longer
 * @watch: the watch
 */
void link_watch_close(struct link_watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	free(watch->link);
	*watch = (struct link_watch){ .fd = -1 };
}

/**
 * link_watch_open() - begin to listen in the namespace that we are in
 * @watch: filled in; link_watch_close() is due after success, and does nothing
 *	after a failure
 *
 * Return: 0, or -1 with an error line printed.
 */
int link_watch_open(struct link_watch *watch)
{
	const struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK,
	};
	const int size = LINK_QUEUE;

	memset(watch, 0, sizeof(*watch));
	watch->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	/* Without the right to more than net.core.rmem_max as much as that. */
	if (watch->fd >= 0 &&
	    (!setsockopt(watch->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size,
			 sizeof(size)) ||
	     !setsockopt(watch->fd, SOL_SOCKET, SO_RCVBUF, &size,
			 sizeof(size))) &&
	    !bind(watch->fd, (const struct sockaddr *)&addr, sizeof(addr)) &&
	    !ask(watch))
		return 0;
	err("devices: %s", files_error(errno));
	link_watch_close(watch);
	return -1;
}

/* Make room for one more device: of many deleted ones, drop the first. */
static void make_room(struct link_watch *watch)
{
	size_t i, gone = 0, first = 0;

	for (i = watch->n; i--; ) {
		if (watch->link[i].there)
			continue;
		gone++;
		first = i;
	}
	if (gone < LINK_GONE)
		return;
	watch->n--;
	memmove(&watch->link[first], &watch->link[first + 1],
		(watch->n - first) * sizeof(*watch->link));
}

/* Keep the name of a device, which may be deleted when it is needed. */
static const char *remember(struct link_watch *watch, int index,
			    const char *name, bool there)
{
	void *grown;
	size_t i;

	for (i = 0; i < watch->n && watch->link[i].index != index; i++)
		;
	if (i == watch->n) {
		make_room(watch);
		i = watch->n;
		grown = realloc(watch->link, (i + 1) * sizeof(*watch->link));
		if (!grown)
			return name;
		watch->link = grown;
		watch->link[watch->n++].index = index;
	}
	memset(watch->link[i].name, 0, LINK_NAME);
	memcpy(watch->link[i].name, name, strnlen(name, LINK_NAME - 1));
	watch->link[i].there = there;
	watch->link[i].told = there;
	return watch->link[i].name;
}

static void take_link(struct link_watch *watch, const struct nlmsghdr *h,
		      link_heard heard, void *arg)
{
	const struct ifinfomsg *info = NLMSG_DATA(h);
	const unsigned int up = IFF_UP | IFF_LOWER_UP;
	const bool there = h->nlmsg_type == RTM_NEWLINK;
	const struct rtattr *attr;
	int len = (int)IFLA_PAYLOAD(h);
	const char *name = NULL;

	/* A bridge sends messages about its ports in its own address family. */
	if (info->ifi_family != AF_UNSPEC)
		return;
	for (attr = IFLA_RTA(info); RTA_OK(attr, len);
	     attr = RTA_NEXT(attr, len))
		if (attr->rta_type == IFLA_IFNAME)
			name = remember(watch, info->ifi_index, RTA_DATA(attr),
					there);
	if (name)
		heard(arg, name, there && (info->ifi_flags & up) == up);
}

static bool is_told(const struct link_watch *watch, const char *name)
{
	size_t i;

	for (i = 0; i < watch->n; i++)
		if (watch->link[i].told && !strcmp(watch->link[i].name, name))
			return true;
	return false;
}

/*
 * The dump is complete: devices that it does not have were deleted while
 * messages were lost. Return: -1 if another dump is needed and cannot be
 * requested
 */
static int end_answers(struct link_watch *watch, link_heard heard, void *arg)
{
	size_t i;

	if (watch->changed)
		return ask(watch);
	for (i = 0; i < watch->n; i++) {
		if (!watch->link[i].there || watch->link[i].told)
			continue;
		watch->link[i].there = false;
		if (!is_told(watch, watch->link[i].name))
			heard(arg, watch->link[i].name, false);
	}
	return 0;
}

static int take(struct link_watch *watch, const struct nlmsghdr *h,
		link_heard heard, void *arg)
{
	watch->changed |= h->nlmsg_flags & NLM_F_DUMP_INTR;
	if (h->nlmsg_type == NLMSG_DONE)
		return end_answers(watch, heard, arg);
	if (h->nlmsg_type == RTM_NEWLINK || h->nlmsg_type == RTM_DELLINK)
		take_link(watch, h, heard, arg);
	return 0;
}

/*
 * Messages were lost. The socket drops messages until its queue is empty: only
 * then does a dump miss no later message.
 */
static int ask_again(struct link_watch *watch, void *buf, size_t size)
{
	while (recv(watch->fd, buf, size, MSG_DONTWAIT) >= 0 ||
	       errno == ENOBUFS || errno == EINTR)
		;
	return ask(watch);
}

/**
 * link_watch_read() - handle the messages that have arrived
 * @watch: the watch, readable
 * @heard: called for each device in the messages
 * @arg: for @heard
 *
 * Return: 0, or -1 with an error line printed.
 */
int link_watch_read(struct link_watch *watch, link_heard heard, void *arg)
{
	union {
		struct nlmsghdr h;
		char bytes[LINK_BYTES];
	} buf;
	const struct nlmsghdr *h = &buf.h;
	ssize_t len;
	int ret = 0;

	len = recv(watch->fd, &buf, sizeof(buf), MSG_DONTWAIT);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len < 0)
		ret = errno == ENOBUFS ? ask_again(watch, &buf, sizeof(buf)) :
					 -1;
	for (; !ret && NLMSG_OK(h, len); h = NLMSG_NEXT(h, len))
		ret = take(watch, h, heard, arg);
	if (ret)
		err("devices: %s", strerror(errno));
	return ret;
}

/**
 * link_watch_name() - name of a device, including deleted ones
 * @watch: the watch
 * @index: the device
 *
 * Return: the name, NULL if it was never seen.
 */
const char *link_watch_name(const struct link_watch *watch, int index)
{
	size_t i;

	for (i = 0; i < watch->n; i++)
		if (watch->link[i].index == index)
			return watch->link[i].name;
	return NULL;
}
