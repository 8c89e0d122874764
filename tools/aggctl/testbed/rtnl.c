// SPDX-License-Identifier: GPL-2.0
/* The batch: a socket, requests not yet sent, and the answers to them. */
#include <errno.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aggctl.h"
#include "testbed/rtnl.h"

#define BATCH_BYTES	(64 * 1024)
#define BATCH_MSGS	1024
#define ANSWER_BYTES	(64 * 1024)

/* How an error line names a request: a format with one %u at most. */
struct label {
	const char *what;
	unsigned int arg;
};

struct rtnl {
	int fd;
	const char *where;
	size_t len;
	struct nlmsghdr *last;
	unsigned int count;
	int failed;
	struct label labels[BATCH_MSGS];
	char buf[BATCH_BYTES];
	char answer[ANSWER_BYTES];
};

/**
 * rtnl_open() - open a batch in the network namespace of the caller
 * @where: name of the namespace, for error lines; has to stay
 *
 * Return: the batch, or NULL with an error line printed.
 */
struct rtnl *rtnl_open(const char *where)
{
	struct rtnl *r = malloc(sizeof(*r));
	const int on = 1, rcvbuf = 1 << 20;

	if (!r) {
		err("%s: out of memory", where);
		return NULL;
	}
	memset(r, 0, offsetof(struct rtnl, labels));
	r->where = where;
	r->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (r->fd < 0) {
		err("%s: rtnetlink: %s", where, strerror(errno));
		free(r);
		return NULL;
	}
	/* Errors here do not matter: these only improve messages. */
	setsockopt(r->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(r->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(r->fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof(rcvbuf));
	return r;
}

/**
 * rtnl_close() - close a batch; what was not committed is not sent
 * @r: the batch, NULL does nothing
 */
void rtnl_close(struct rtnl *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

static void report(struct rtnl *r, const struct nlmsghdr *h,
		   const struct nlmsgerr *e)
{
	const struct label *l = &r->labels[h->nlmsg_seq % BATCH_MSGS];
	const struct nlattr *why = NULL;
	char what[64];

	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		why = nla_find((const struct nlattr *)(e + 1),
			       (int)(h->nlmsg_len - NLMSG_HDRLEN - sizeof(*e)),
			       NLMSGERR_ATTR_MSG);
	snprintf(what, sizeof(what), l->what, l->arg);
	err("%s: %s: %s%s%s", r->where, what, strerror(-e->error),
	    why ? ": " : "", why ? (const char *)nla_data(why) : "");
}

/* Returns whether the batch's last request is answered. */
static bool take_answers(struct rtnl *r, int len)
{
	struct nlmsghdr *h = (struct nlmsghdr *)r->answer;
	bool last = false;

	for (; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
		const struct nlmsgerr *e = nlmsg_data(h);

		if (h->nlmsg_type != NLMSG_ERROR)
			continue;
		if (e->error && r->labels[h->nlmsg_seq % BATCH_MSGS].what &&
		    !r->failed++)
			report(r, h, e);
		last |= h->nlmsg_seq == r->last->nlmsg_seq;
	}
	return last;
}

/**
 * rtnl_commit() - send what the batch holds and wait for its answers
 * @r: the batch
 *
 * Return: 0 if all requests so far went well, else -1 and the first
 * refusal is printed.
 */
int rtnl_commit(struct rtnl *r)
{
	bool done = false;
	ssize_t len;

	if (!r->count)
		return r->failed ? -1 : 0;
	/* Requests are carried out in order: one answer is enough. */
	r->last->nlmsg_flags |= NLM_F_ACK;
	if (send(r->fd, r->buf, r->len, 0) < 0)
		goto bad;
	do {
		len = recv(r->fd, r->answer, sizeof(r->answer), 0);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			goto bad;
		done = take_answers(r, (int)len);
	} while (!done);
	r->count = 0;
	r->len = 0;
	return r->failed ? -1 : 0;
bad:
	r->failed++;
	err("%s: rtnetlink: %s", r->where, strerror(errno));
	return -1;
}

/**
 * rtnl_add() - put a request into the batch
 * @r: the batch
 * @msg: the request, is freed
 * @what: what it makes, for error lines; a format with at most one %u;
 *	NULL if it may be refused
 * @arg: the number for that format
 *
 * Return: 0, or -1 with an error line printed.
 */
int rtnl_add(struct rtnl *r, struct nl_msg *msg, const char *what,
	     unsigned int arg)
{
	struct nlmsghdr *h;
	size_t len;

	if (!msg) {
		err("%s: out of memory", r->where);
		r->failed++;
		return -1;
	}
	h = nlmsg_hdr(msg);
	len = NLMSG_ALIGN(h->nlmsg_len);
	if (r->len + len > BATCH_BYTES || r->count == BATCH_MSGS) {
		if (rtnl_commit(r)) {
			nlmsg_free(msg);
			return -1;
		}
	}
	h->nlmsg_flags |= NLM_F_REQUEST;
	h->nlmsg_seq = r->count;
	r->labels[r->count] = (struct label){ what, arg };
	r->last = memcpy(r->buf + r->len, h, len);
	r->len += len;
	r->count++;
	nlmsg_free(msg);
	return 0;
}

static int count_down(struct rtnl *r, int above, int len, bool *done)
{
	struct nlmsghdr *h = (struct nlmsghdr *)r->answer;
	int down = 0;

	for (; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
		const struct ifinfomsg *info = nlmsg_data(h);
		const struct nlattr *state;

		*done |= h->nlmsg_type == NLMSG_DONE ||
			 h->nlmsg_type == NLMSG_ERROR;
		/* Only links with a peer have carrier to wait for. */
		if (h->nlmsg_type != RTM_NEWLINK || info->ifi_index <= above ||
		    !nlmsg_find_attr(h, sizeof(*info), IFLA_LINK))
			continue;
		state = nlmsg_find_attr(h, sizeof(*info), IFLA_OPERSTATE);
		down += !state || nla_get_u8(state) != IF_OPER_UP;
	}
	return down;
}

/**
 * rtnl_links_down() - count the links that do not carry packets yet
 * @r: an empty batch
 * @above: skip links with this index or a lower one
 *
 * A link that was just set up drops packets until the kernel has seen its
 * carrier.
 *
 * Return: how many links of those with a peer; -1 with an error line printed.
 */
int rtnl_links_down(struct rtnl *r, int above)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg info;
	} request = {
		.h.nlmsg_len = sizeof(request),
		.h.nlmsg_type = RTM_GETLINK,
		.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	bool done = false;
	int down = 0;
	ssize_t len;

	if (send(r->fd, &request, sizeof(request), 0) < 0)
		goto bad;
	while (!done) {
		len = recv(r->fd, r->answer, sizeof(r->answer), 0);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			goto bad;
		down += count_down(r, above, (int)len, &done);
	}
	return down;
bad:
	err("%s: rtnetlink: %s", r->where, strerror(errno));
	return -1;
}
