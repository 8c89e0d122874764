// SPDX-License-Identifier: GPL-2.0
/* Changes requests by their structure, because few would stay valid after
 * random changes of bytes. It changes, drops or copies an attribute, repeats or
 * drops a request, or changes a header, and updates lengths.
 */
#include <net/genetlink.h>

#include "../fuzzer.h"
#include "ctl/netlink.h"

#define HEADERS		(NLMSG_HDRLEN + GENL_HDRLEN)
#define PAYLOAD_MAX	512

/**
 * struct input - bytes under change
 * @data: the bytes
 * @len: how many
 * @room: space for so many
 * @draw: random number, of which each choice uses a part
 */
struct input {
	uint8_t *data;
	size_t len;
	size_t room;
	uint64_t draw;
};

static uint32_t choose(struct input *in, uint32_t of)
{
	in->draw = in->draw * 6364136223846793005ull + 1442695040888963407ull;
	return (in->draw >> 33) % of;
}

/* Replace @old bytes by @n bytes. Return: false if there is not enough space */
static bool splice(struct input *in, size_t at, size_t old, const void *bytes,
		   size_t n)
{
	if (in->len - old + n > in->room)
		return false;
	memmove(in->data + at + n, in->data + at + old, in->len - at - old);
	if (n)
		memcpy(in->data + at, bytes, n);
	in->len += n - old;
	return true;
}

/*
 * Pick one of several objects in a row; @len returns the length of one, 0:
 * none.
 */
static bool pick(struct input *in, size_t from, size_t end, size_t *at,
		 size_t (*len)(const struct input *in, size_t at, size_t end))
{
	uint32_t n = 0;
	size_t step, i;

	for (i = from; (step = len(in, i, end)); i += step)
		n++;
	if (!n)
		return false;
	n = choose(in, n);
	for (*at = from; n; n--)
		*at += len(in, *at, end);
	return true;
}

static size_t request_len(const struct input *in, size_t at, size_t end)
{
	const struct nlmsghdr *nlh = (void *)(in->data + at);

	if (end - at < HEADERS || nlh->nlmsg_len < HEADERS ||
	    NLMSG_ALIGN(nlh->nlmsg_len) > end - at)
		return 0;
	return NLMSG_ALIGN(nlh->nlmsg_len);
}

static size_t attr_len(const struct input *in, size_t at, size_t end)
{
	const struct nlattr *nla = (void *)(in->data + at);

	if (end - at < NLA_HDRLEN || nla->nla_len < NLA_HDRLEN ||
	    (size_t)NLA_ALIGN(nla->nla_len) > end - at)
		return 0;
	return NLA_ALIGN(nla->nla_len);
}

static bool pick_request(struct input *in, size_t *at)
{
	return pick(in, 0, in->len, at, request_len);
}

static bool pick_attr(struct input *in, size_t request, size_t *at)
{
	return pick(in, request + HEADERS,
		    request + request_len(in, request, in->len), at, attr_len);
}

/* Set the length of the request's attribute at @at to @n; 0: remove it. */
static void attr_set(struct input *in, size_t request, size_t at, size_t old,
		     const void *bytes, size_t n)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)(in->data + request);

	if (splice(in, at, old, bytes, n))
		nlh->nlmsg_len = NLMSG_ALIGN(nlh->nlmsg_len) + n - old;
}

static void attr_change(struct input *in, size_t request, size_t at)
{
	struct {
		struct nlattr nla;
		uint8_t payload[PAYLOAD_MAX];
	} now = { 0 };
	size_t old = attr_len(in, at, in->len), n;

	memcpy(&now, in->data + at, old < sizeof(now) ? old : sizeof(now));
	n = now.nla.nla_len - NLA_HDRLEN;
	n = LLVMFuzzerMutate(now.payload, n < PAYLOAD_MAX ? n : PAYLOAD_MAX,
			     choose(in, 4) ? n : PAYLOAD_MAX);
	now.nla.nla_len = NLA_HDRLEN + n;
	attr_set(in, request, at, old, &now, NLA_ALIGN(now.nla.nla_len));
}

static void attrs_change(struct input *in, size_t request)
{
	uint8_t copy[NLA_HDRLEN + PAYLOAD_MAX];
	size_t other, at, n;

	switch (choose(in, 8)) {
	case 0:
		if (pick_attr(in, request, &at))
			attr_set(in, request, at, attr_len(in, at, in->len),
				 NULL, 0);
		break;
	case 1:
	case 2:
		if (!pick_request(in, &other) || !pick_attr(in, other, &at))
			break;
		n = attr_len(in, at, in->len);
		if (n > sizeof(copy))
			break;
		memcpy(copy, in->data + at, n);
		attr_set(in, request, request + HEADERS, 0, copy, n);
		break;
	default:
		if (pick_attr(in, request, &at))
			attr_change(in, request, at);
	}
}

static void request_change(struct input *in, size_t at)
{
	static const u16 flags[] = {
		NLM_F_REPLACE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_ECHO,
	};
	struct nlmsghdr *nlh = (struct nlmsghdr *)(in->data + at);
	struct genlmsghdr *genlh = nlmsg_data(nlh);
	size_t len = request_len(in, at, in->len);
	uint8_t copy[HEADERS + PAYLOAD_MAX];

	switch (choose(in, 10)) {
	case 0:
		genlh->cmd = choose(in, AGGNET_CMD_MAX + 2);
		break;
	case 1:
		nlh->nlmsg_flags ^= flags[choose(in, ARRAY_SIZE(flags))];
		break;
	case 2:
		nlh->nlmsg_pid = choose(in, 4);
		break;
	case 3:
	case 4:
		nlh->nlmsg_seq = choose(in, 12);	/* an allocation fails */
		break;
	case 5:
		/*
		 * A socket is closed or a device deleted; see fuzz_netlink.c.
		 */
		nlh->nlmsg_type = choose(in, 2) ? NLMSG_DONE :
						  NLMSG_MIN_TYPE + 1;
		break;
	case 6:
		splice(in, at, len, NULL, 0);
		break;
	default:
		if (len > sizeof(copy))
			break;
		memcpy(copy, nlh, len);
		if (pick_request(in, &at))
			splice(in, at, 0, copy, len);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t room,
			       unsigned int seed)
{
	struct input in = { data, len, room, seed };
	size_t at;

	if (!choose(&in, 16) || !pick_request(&in, &at))
		return LLVMFuzzerMutate(data, len, room);
	if (choose(&in, 2))
		attrs_change(&in, at);
	else
		request_change(&in, at);
	return in.len;
}
