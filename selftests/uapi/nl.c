// SPDX-License-Identifier: GPL-2.0
/* A client of the family that gives access to everything that the kernel
 * answers.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nl.h"

#define MODULE	"aggnet: "

static const void *payload(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static size_t payload_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

/* Attributes between two addresses, by type. */
static void parse(const struct nlattr **attr, const char *p, const char *end)
{
	const struct nlattr *a;
	int type;

	memset(attr, 0, NL_ATTR_MAX * sizeof(*attr));
	while (end - p >= NLA_HDRLEN) {
		a = (const struct nlattr *)p;
		if (a->nla_len < NLA_HDRLEN || a->nla_len > end - p)
			return;
		type = a->nla_type & NLA_TYPE_MASK;
		if (type < NL_ATTR_MAX)
			attr[type] = a;
		p += NLA_ALIGN(a->nla_len);
	}
}

static void parse_message(struct nl *nl, const struct nlmsghdr *h)
{
	parse(nl->attr, (const char *)NLMSG_DATA(h) + GENL_HDRLEN,
	      (const char *)h + h->nlmsg_len);
}

void nl_put(struct nl *nl, uint16_t type, const void *data, size_t len)
{
	struct nlmsghdr *h = &nl->request.head;
	struct nlattr *a;

	a = (struct nlattr *)(nl->request.bytes + NLMSG_ALIGN(h->nlmsg_len));
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memset((char *)a + NLA_HDRLEN, 0, NLA_ALIGN(len));
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	h->nlmsg_len = NLMSG_ALIGN(h->nlmsg_len) + NLA_ALIGN(a->nla_len);
}

void nl_u8(struct nl *nl, uint16_t type, uint8_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_u16(struct nl *nl, uint16_t type, uint16_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_u32(struct nl *nl, uint16_t type, uint32_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_u64(struct nl *nl, uint16_t type, uint64_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_str(struct nl *nl, uint16_t type, const char *value)
{
	nl_put(nl, type, value, strlen(value) + 1);
}

static void begin(struct nl *nl, uint16_t family, uint8_t cmd, uint16_t flags)
{
	struct genlmsghdr *g = NLMSG_DATA(&nl->request.head);

	memset(&nl->request, 0, NLMSG_SPACE(GENL_HDRLEN));
	nl->request.head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	nl->request.head.nlmsg_type = family;
	nl->request.head.nlmsg_flags = NLM_F_REQUEST | flags;
	nl->request.head.nlmsg_seq = ++nl->seq;
	g->cmd = cmd;
	g->version = AGGNET_GENL_VERSION;
}

void nl_begin(struct nl *nl, uint8_t cmd, uint16_t flags)
{
	begin(nl, nl->family, cmd, flags);
}

static void take_sentence(struct nl *nl, const char *tlv, const char *end)
{
	const struct nlattr *attr[NL_ATTR_MAX];
	const char *text;

	parse(attr, tlv, end);
	if (!attr[NLMSGERR_ATTR_MSG])
		return;
	text = payload(attr[NLMSGERR_ATTR_MSG]);
	/* Some errors begin with the module's name. */
	if (!strncmp(text, MODULE, strlen(MODULE)))
		text += strlen(MODULE);
	strncpy(nl->text, text, sizeof(nl->text) - 1);
}

/* Read the error of a refused request. */
static void parse_refusal(struct nl *nl, const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = NLMSG_DATA(h);
	const struct nlattr *attr[NL_ATTR_MAX];
	const char *tlv = (const char *)(e + 1);
	uint32_t offset;

	nl->text[0] = 0;
	nl->blamed = 0;
	nl->missing = 0;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	/* The ACK repeats the request, unless NETLINK_CAP_ACK left it out. */
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		tlv += NLMSG_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	parse(attr, tlv, (const char *)h + h->nlmsg_len);
	take_sentence(nl, tlv, (const char *)h + h->nlmsg_len);
	if (attr[NLMSGERR_ATTR_OFFS]) {
		memcpy(&offset, payload(attr[NLMSGERR_ATTR_OFFS]),
		       sizeof(offset));
		nl->blamed = ((struct nlattr *)(nl->request.bytes + offset))
				     ->nla_type;
	}
	if (attr[NLMSGERR_ATTR_MISS_TYPE])
		nl->missing = *(const uint32_t *)
				payload(attr[NLMSGERR_ATTR_MISS_TYPE]);
}

/*
 * Take one message. Return: 1 if more of the answer follows, 0 at its end, or
 * -errno. Skips messages of other requests and events.
 */
static int take(struct nl *nl, const struct nlmsghdr *h,
		void (*each)(struct nl *nl, void *arg), void *arg)
{
	int error;

	if (h->nlmsg_seq != nl->seq)
		return 1;
	nl->flags |= h->nlmsg_flags;
	switch (h->nlmsg_type) {
	case NLMSG_ERROR:
		parse_refusal(nl, h);
		return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
	case NLMSG_DONE:
		memcpy(&error, NLMSG_DATA(h), sizeof(error));
		if (h->nlmsg_flags & NLM_F_ACK_TLVS)
			take_sentence(nl, (const char *)NLMSG_DATA(h) +
				      NLMSG_ALIGN(sizeof(error)),
				      (const char *)h + h->nlmsg_len);
		return error;
	default:
		parse_message(nl, h);
		if (each)
			each(nl, arg);
		return 1;
	}
}

int nl_dump_next(struct nl *nl, void (*each)(struct nl *nl, void *arg),
		 void *arg)
{
	struct nlmsghdr *h = &nl->answer.head;
	ssize_t len;
	int left, more = 1;

	len = recv(nl->fd, &nl->answer, sizeof(nl->answer), 0);
	if (len < 0)
		return -errno;
	for (left = len; more > 0 && NLMSG_OK(h, (unsigned int)left);
	     h = NLMSG_NEXT(h, left))
		more = take(nl, h, each, arg);
	return more;
}

static int send_request(struct nl *nl)
{
	ssize_t n;

	nl->flags = 0;
	memset(nl->attr, 0, sizeof(nl->attr));
	nl->text[0] = 0;
	nl->blamed = 0;
	nl->missing = 0;
	n = send(nl->fd, &nl->request, nl->request.head.nlmsg_len, 0);
	return n < 0 ? -errno : 0;
}

static int talk(struct nl *nl, void (*each)(struct nl *nl, void *arg),
		void *arg)
{
	int err = send_request(nl);

	if (err)
		return err;
	do {
		err = nl_dump_next(nl, each, arg);
	} while (err > 0);
	return err;
}

/* An answer comes before its ACK, in another datagram: keep it. */
static void keep(struct nl *nl, void *arg)
{
	const char *first = NULL, *end = NULL;
	int i;

	for (i = 0; i < NL_ATTR_MAX; i++) {
		const struct nlattr *a = nl->attr[i];

		if (a && (!first || (const char *)a < first))
			first = (const char *)a;
		if (a && (const char *)a + a->nla_len > end)
			end = (const char *)a + a->nla_len;
	}
	(void)arg;
	nl->kept_len = first ? end - first : 0;
	if (first)
		memcpy(nl->kept, first, nl->kept_len);
}

int nl_talk(struct nl *nl)
{
	int err;

	nl->kept_len = 0;
	nl->request.head.nlmsg_flags |= NLM_F_ACK;
	err = talk(nl, keep, NULL);
	parse(nl->attr, nl->kept, nl->kept + nl->kept_len);
	return err;
}

int nl_do(struct nl *nl, uint8_t cmd)
{
	nl_begin(nl, cmd, 0);
	return nl_talk(nl);
}

void nl_dump_send(struct nl *nl)
{
	send_request(nl);
}

int nl_dump(struct nl *nl, uint8_t cmd,
	    void (*each)(struct nl *nl, void *arg), void *arg)
{
	nl_begin(nl, cmd, NLM_F_DUMP);
	return talk(nl, each, arg);
}

int nl_join(struct nl *nl)
{
	if (setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group,
		       sizeof(nl->group)))
		return -errno;
	return 0;
}

bool nl_event(struct nl *nl, int ms)
{
	struct pollfd p = { .fd = nl->fd, .events = POLLIN };

	if (poll(&p, 1, ms) != 1 ||
	    recv(nl->fd, &nl->answer, sizeof(nl->answer), 0) <= 0)
		return false;
	parse_message(nl, &nl->answer.head);
	return true;
}

static uint32_t find_group(const struct nlattr *list)
{
	const char *p = payload(list), *end = p + payload_len(list);
	const struct nlattr *attr[NL_ATTR_MAX];
	const struct nlattr *a;

	for (; end - p >= NLA_HDRLEN; p += NLA_ALIGN(a->nla_len)) {
		a = (const struct nlattr *)p;
		parse(attr, payload(a), (const char *)a + a->nla_len);
		if (!strcmp(payload(attr[CTRL_ATTR_MCAST_GRP_NAME]),
			    AGGNET_MCGRP_EVENTS))
			return *(const uint32_t *)
				payload(attr[CTRL_ATTR_MCAST_GRP_ID]);
	}
	return 0;
}

static int resolve(struct nl *nl)
{
	int err;

	begin(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	nl_str(nl, CTRL_ATTR_FAMILY_NAME, AGGNET_GENL_NAME);
	err = nl_talk(nl);
	if (err)
		return err;
	nl->family = *(const uint16_t *)nl_data(nl, CTRL_ATTR_FAMILY_ID);
	nl->group = find_group(nl->attr[CTRL_ATTR_MCAST_GROUPS]);
	return 0;
}

int nl_open(struct nl *nl)
{
	const struct timeval limit = { .tv_sec = 20 };
	const int one = 1;
	int err;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	/* If the kernel does not answer, the test fails and does not hang. */
	setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	err = resolve(nl);
	if (err)
		nl_close(nl);
	return err;
}

void nl_close(struct nl *nl)
{
	close(nl->fd);
	nl->fd = -1;
}

void nl_enter(struct nl *nl, int type)
{
	const struct nlattr *nest = nl->attr[type];

	parse(nl->attr, payload(nest), (const char *)nest + nest->nla_len);
}

bool nl_has(const struct nl *nl, int type)
{
	return nl->attr[type];
}

size_t nl_len(const struct nl *nl, int type)
{
	return nl->attr[type] ? payload_len(nl->attr[type]) : 0;
}

const void *nl_data(const struct nl *nl, int type)
{
	return nl->attr[type] ? payload(nl->attr[type]) : NULL;
}

uint8_t nl_get_u8(const struct nl *nl, int type)
{
	return nl->attr[type] ? *(const uint8_t *)payload(nl->attr[type]) : 0;
}

uint16_t nl_get_u16(const struct nl *nl, int type)
{
	uint16_t value = 0;

	if (nl->attr[type])
		memcpy(&value, payload(nl->attr[type]), sizeof(value));
	return value;
}

uint32_t nl_get_u32(const struct nl *nl, int type)
{
	uint32_t value = 0;

	if (nl->attr[type])
		memcpy(&value, payload(nl->attr[type]), sizeof(value));
	return value;
}

uint64_t nl_get_u64(const struct nl *nl, int type)
{
	uint64_t value = 0;

	if (nl->attr[type])
		memcpy(&value, payload(nl->attr[type]), sizeof(value));
	return value;
}
