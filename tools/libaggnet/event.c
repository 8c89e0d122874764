// SPDX-License-Identifier: GPL-2.0
/* Events that the namespace's node sends. */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "ctl.h"

/* Bytes of events that may wait for us. */
#define EVENT_QUEUE	(1024 * 1024)
#define EVENT_BYTES	8192

int aggnet_events_join(struct aggnet_ctl *ctl)
{
	const int size = EVENT_QUEUE;
	int group, ret;

	if (ctl->events)
		return aggnet_ctl_fail(ctl, -EALREADY,
				       "the handle has joined already");
	group = genl_ctrl_resolve_grp(ctl->sock, AGGNET_GENL_NAME,
				      AGGNET_MCGRP_EVENTS);
	if (group < 0)
		return aggnet_ctl_fail(ctl, -ENOENT, "group %s: %s",
				       AGGNET_MCGRP_EVENTS,
				       nl_geterror(group));
	ctl->events = nl_socket_alloc();
	if (!ctl->events)
		return aggnet_ctl_fail(ctl, -ENOMEM, "out of memory");
	errno = 0;
	ret = genl_connect(ctl->events);
	if (ret) {
		nl_socket_free(ctl->events);
		ctl->events = NULL;
		return aggnet_ctl_fail_socket(ctl, ret);
	}
	ret = nl_socket_set_buffer_size(ctl->events, EVENT_QUEUE, 0);
	/* More than net.core.rmem_max, for those that may have it. */
	setsockopt(nl_socket_get_fd(ctl->events), SOL_SOCKET, SO_RCVBUFFORCE,
		   &size, sizeof(size));
	if (!ret)
		ret = nl_socket_add_memberships(ctl->events, group, 0);
	if (!ret)
		return 0;
	nl_socket_free(ctl->events);
	ctl->events = NULL;
	return aggnet_ctl_fail(ctl, -EPERM, "group %s: %s",
			       AGGNET_MCGRP_EVENTS, nl_geterror(ret));
}

int aggnet_events_fd(const struct aggnet_ctl *ctl)
{
	return ctl->events ? nl_socket_get_fd(ctl->events) : -ENOTCONN;
}

void aggnet_event_clear(struct aggnet_event_info *event)
{
	aggnet_field_clear(&aggnet_noun_event, event);
}

/*
 * Events were lost. The socket drops all further events, without another
 * ENOBUFS, until its queue is empty: an earlier dump would miss events that are
 * dropped after it.
 */
static int events_lost(struct aggnet_ctl *ctl)
{
	char bytes[EVENT_BYTES];

	while (recv(aggnet_events_fd(ctl), bytes, sizeof(bytes),
		    MSG_DONTWAIT) >= 0 || errno == ENOBUFS || errno == EINTR)
		;
	return aggnet_ctl_fail(ctl, -ENOBUFS,
			       "events: some were lost: read the state by a dump");
}

/*
 * Take one datagram. Return: its bytes; 0: it is not the kernel's, another process
 * with privilege has sent it; -ENOBUFS as well for one that is not whole; another
 * negative errno
 */
static ssize_t events_take(struct aggnet_ctl *ctl, void *buf, size_t size)
{
	struct iovec iov = { buf, size };
	struct sockaddr_nl from = { 0 };
	struct msghdr msg = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	ssize_t len = recvmsg(aggnet_events_fd(ctl), &msg, 0);

	if (len < 0)
		return -errno;
	if (from.nl_pid)
		return 0;
	return msg.msg_flags & MSG_TRUNC ? -ENOBUFS : len;
}

int aggnet_events_next(struct aggnet_ctl *ctl,
		       struct aggnet_event_info *event)
{
	union {
		struct nlmsghdr h;
		char bytes[EVENT_BYTES];
	} buf;
	struct genlmsghdr *g;
	ssize_t len;
	int ret;

	if (!ctl->events)
		return aggnet_ctl_fail(ctl, -ENOTCONN,
				       "the handle has not joined the events");
	/* One message, one event: read it without libnl's callbacks. */
	do {
		len = events_take(ctl, &buf, sizeof(buf));
		if (len == -ENOBUFS)
			return events_lost(ctl);
		if (len < 0)
			return aggnet_ctl_fail(ctl, (int)len, "events: %s",
					       strerror((int)-len));
		g = nlmsg_data(&buf.h);
	} while (!nlmsg_ok(&buf.h, (int)len) ||
		 buf.h.nlmsg_type != ctl->family ||
		 nlmsg_datalen(&buf.h) < (int)sizeof(*g) ||
		 g->cmd != AGGNET_CMD_EVENT);
	ret = aggnet_field_take_all(&aggnet_noun_event, genlmsg_attrdata(g, 0),
				    genlmsg_attrlen(g, 0), event);
	if (ret)
		aggnet_ctl_fail(ctl, ret, "bad event: %s", strerror(-ret));
	return ret;
}
