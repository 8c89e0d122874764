// SPDX-License-Identifier: GPL-2.0
/* The handle: its sockets, requests, answers and refusals. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "ctl.h"
#include "not_loaded.h"

/* Bytes of a request beside the attributes of an info. */
#define REQUEST_HEAD	4096
/* Of a whole one: two lists of addresses are its largest attributes. */
#define REQUEST_MAX	(2 * UINT16_MAX + REQUEST_HEAD)

/**
 * struct exchange - one request and its answers
 * @ctl: the handle
 * @request: the request
 * @noun: of its attributes, may be NULL
 * @take: called for each answer, may be NULL
 * @arg: of @take
 * @error: negative errno
 * @done: no more messages follow
 * @changed: the dumped state changed meanwhile
 */
struct exchange {
	struct aggnet_ctl *ctl;
	struct nl_msg *request;
	const struct aggnet_noun *noun;
	aggnet_ctl_take take;
	void *arg;
	int error;
	bool done;
	bool changed;
};

/**
 * aggnet_ctl_fail() - keep the sentence of a failure
 * @ctl: the handle
 * @error: negative errno
 * @fmt: the sentence, a printf format
 *
 * Return: @error.
 */
int aggnet_ctl_fail(struct aggnet_ctl *ctl, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctl->error, sizeof(ctl->error), fmt, ap);
	va_end(ap);
	return error;
}

const char *aggnet_ctl_error(const struct aggnet_ctl *ctl)
{
	return ctl ? ctl->error : "out of memory";
}

static int fail_nl(struct aggnet_ctl *ctl, const char *what, int nlerr)
{
	/* libnl's codes do not keep most errnos. */
	return aggnet_ctl_fail(ctl, nlerr == -NLE_NOMEM ? -ENOMEM : -EIO,
			       "%s: %s", what, nl_geterror(nlerr));
}

static const char *field_name(const struct aggnet_noun *noun, int type)
{
	size_t i;

	for (i = 0; noun && i < noun->n; i++)
		if (noun->field[i].attr == type)
			return noun->field[i].name;
	return NULL;
}

/* The name of the attribute at an offset into the request. */
static const char *blamed(const struct exchange *x, uint32_t offset)
{
	struct nlmsghdr *h = nlmsg_hdr(x->request);
	struct genlmsghdr *g = nlmsg_data(h);
	int left = genlmsg_attrlen(g, 0);
	struct nlattr *attr;

	nla_for_each_attr(attr, genlmsg_attrdata(g, 0), left, left) {
		uint32_t at = (uint32_t)((char *)attr - (char *)h);

		if (offset >= at && offset < at + (uint32_t)attr->nla_len)
			return field_name(x->noun, nla_type(attr));
	}
	return NULL;
}

/* Netlink refuses a user that lacks the capability without a sentence. */
static const char *errno_text(int error)
{
	return error == -EPERM ?
	       "not permitted: this needs CAP_NET_ADMIN in the network namespace" :
	       strerror(-error);
}

/* Keep an error's message and the attribute that it refers to. */
static void keep_refusal(struct exchange *x, int error,
			 const struct nlattr *tlvs, int len)
{
	const struct nlattr *text = NULL, *offset = NULL, *missing = NULL;
	const char *name = NULL;

	x->error = error;
	if (len > 0) {
		text = nla_find(tlvs, len, NLMSGERR_ATTR_MSG);
		offset = nla_find(tlvs, len, NLMSGERR_ATTR_OFFS);
		missing = nla_find(tlvs, len, NLMSGERR_ATTR_MISS_TYPE);
	}
	if (offset)
		name = blamed(x, nla_get_u32(offset));
	else if (missing)
		name = field_name(x->noun, (int)nla_get_u32(missing));
	aggnet_ctl_fail(x->ctl, error, "%s%s%s%s",
			text ? nla_get_string(text) : errno_text(error),
			!name ? "" : missing ? " (missing: " : " (attribute ",
			name ? name : "", name ? ")" : "");
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *h = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);
	size_t head = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(*e));
	struct exchange *x = arg;

	(void)from;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		head += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	x->done = true;
	keep_refusal(x, e->error, (struct nlattr *)((char *)h + head),
		     (h->nlmsg_flags & NLM_F_ACK_TLVS) &&
		     h->nlmsg_len > head ? (int)(h->nlmsg_len - head) : 0);
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->done = true;
	return NL_STOP;
}

/* The end of a dump may carry an error too. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct exchange *x = arg;
	int error, len = nlmsg_datalen(h);
	char *tlvs = (char *)nlmsg_data(h) + NLMSG_ALIGN(sizeof(error));

	x->done = true;
	if (len < (int)sizeof(error))
		return NL_STOP;
	memcpy(&error, nlmsg_data(h), sizeof(error));
	if (error < 0)
		keep_refusal(x, error, (struct nlattr *)tlvs,
			     len - (int)NLMSG_ALIGN(sizeof(error)));
	return NL_STOP;
}

static int on_changed(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->changed = true;
	return NL_OK;
}

static int on_answer(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *g = nlmsg_data(nlmsg_hdr(msg));
	struct exchange *x = arg;

	if (x->take && !x->error)
		x->error = x->take(genlmsg_attrdata(g, 0),
				   genlmsg_attrlen(g, 0), x->arg);
	if (x->error)
		aggnet_ctl_fail(x->ctl, x->error, "bad answer: %s",
				strerror(-x->error));
	/* Read on: the answers of this request must not meet the next. */
	return NL_OK;
}

static struct nl_cb *callbacks(struct exchange *x)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (!cb)
		return NULL;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, x);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, x);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, x);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_answer, x);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_changed, x);
	return cb;
}

/**
 * aggnet_ctl_msg() - begin a request
 * @ctl: the handle
 * @cmd: AGGNET_CMD_*
 * @flags: NLM_F_* beside those that every request has
 * @noun: of @info
 * @info: attributes, or NULL
 *
 * Return: the request, or NULL without memory.
 */
struct nl_msg *aggnet_ctl_msg(struct aggnet_ctl *ctl, int cmd, int flags,
			      const struct aggnet_noun *noun,
			      const void *info)
{
	size_t size = info ? aggnet_field_size(noun, info) : 0;
	struct nl_msg *msg = nlmsg_alloc_size(REQUEST_HEAD + size);

	if (!msg)
		return NULL;
	if (genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, ctl->family, 0,
			NLM_F_REQUEST | NLM_F_ACK | flags, (uint8_t)cmd,
			AGGNET_GENL_VERSION) &&
	    (!info || !aggnet_field_put_all(msg, noun, info)))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/**
 * aggnet_ctl_exchange() - send a request and wait for all its answers
 * @ctl: the handle
 * @msg: the request, is freed; NULL is a failure to make one
 * @noun: of its attributes, for the sentence of a refusal; may be NULL
 * @take: called for each answer, may be NULL
 * @arg: of @take
 *
 * Return: 0; -EAGAIN if what was dumped changed meanwhile; a negative errno.
 */
int aggnet_ctl_exchange(struct aggnet_ctl *ctl, struct nl_msg *msg,
			const struct aggnet_noun *noun, aggnet_ctl_take take,
			void *arg)
{
	struct exchange x = { ctl, msg, noun, take, arg, 0, false, false };
	struct nl_cb *cb = callbacks(&x);
	int nlerr = 0;

	ctl->error[0] = '\0';
	if (!msg || !cb) {
		x.error = aggnet_ctl_fail(ctl, -ENOMEM, "out of memory");
		goto out;
	}
	nlerr = nl_send_auto(ctl->sock, msg);
	while (nlerr >= 0 && !x.done)
		nlerr = nl_recvmsgs(ctl->sock, cb);
	if (nlerr < 0 && !x.error)
		x.error = fail_nl(ctl, "netlink", nlerr);
	if (!x.error && x.changed)
		x.error = aggnet_ctl_fail(ctl, -EAGAIN,
					  "it changes faster than it is read");
out:
	nl_cb_put(cb);
	nlmsg_free(msg);
	return x.error;
}

/**
 * aggnet_ctl_fail_socket() - keep the sentence of a socket that did not open
 * @ctl: the handle
 * @nlerr: of libnl, which has no code for too many descriptors
 *
 * Return: a negative errno.
 */
int aggnet_ctl_fail_socket(struct aggnet_ctl *ctl, int nlerr)
{
	struct rlimit limit;

	if (errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit))
		return fail_nl(ctl, "generic netlink", nlerr);
	return aggnet_ctl_fail(ctl, -EMFILE,
			       "too many open files: the limit is %llu (ulimit -n)",
			       (unsigned long long)limit.rlim_cur);
}

static int open_family(struct aggnet_ctl *ctl)
{
	const int on = 1;
	int ret;

	ctl->sock = nl_socket_alloc();
	if (!ctl->sock)
		return aggnet_ctl_fail(ctl, -ENOMEM, "out of memory");
	errno = 0;
	ret = genl_connect(ctl->sock);
	if (!ret)
		ret = nl_socket_set_buffer_size(ctl->sock, 0, REQUEST_MAX);
	if (ret)
		return aggnet_ctl_fail_socket(ctl, ret);
	/* Sentences are a comfort: without them there are still numbers. */
	setsockopt(nl_socket_get_fd(ctl->sock), SOL_NETLINK, NETLINK_EXT_ACK,
		   &on, sizeof(on));
	ret = genl_ctrl_resolve(ctl->sock, AGGNET_GENL_NAME);
	if (ret == -NLE_OBJ_NOTFOUND)
		return aggnet_ctl_fail(ctl, -ENOENT,
				       NOT_LOADED);
	if (ret < 0)
		return fail_nl(ctl, "family " AGGNET_GENL_NAME, ret);
	ctl->family = ret;
	return 0;
}

int aggnet_ctl_open(struct aggnet_ctl **ctl)
{
	*ctl = calloc(1, sizeof(**ctl));
	return *ctl ? open_family(*ctl) : -ENOMEM;
}

void aggnet_ctl_close(struct aggnet_ctl *ctl)
{
	if (!ctl)
		return;
	nl_socket_free(ctl->events);
	nl_socket_free(ctl->sock);
	free(ctl);
}
