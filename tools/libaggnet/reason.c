// SPDX-License-Identifier: GPL-2.0
/* Reasons for which a transfer ends, as errno and as sentences. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "aggnet_data.h"

static const struct {
	int error;
	const char *text;
} reasons[__AGGNET_R_MAX] = {
	[AGGNET_R_NONE] = { 0, "no error" },
	[AGGNET_R_TIMEOUT] = { ETIMEDOUT, "timed out" },
	[AGGNET_R_MISMATCH] = { EBADMSG, "the merged records do not add up" },
	[AGGNET_R_OVERFLOW] = { EOVERFLOW, "a result does not fit its type" },
	[AGGNET_R_SENDER] = { ECONNABORTED,
			      "a source closed before it was finished" },
	[AGGNET_R_RECEIVER] = { EPIPE,
				"the receiver closed before it had the result" },
	[AGGNET_R_WITHDRAWN] = { ECANCELED, "the entry was withdrawn" },
	[AGGNET_R_STALE] = { ESTALE, "a newer epoch is in force" },
	[AGGNET_R_RESET] = { ECONNRESET,
			     "a node that held records lost them" },
	[AGGNET_R_PROTOCOL] = { EPROTO, "the members disagree" },
	[AGGNET_R_USER] = { ECANCELED, "an application asked to stop" },
	[AGGNET_R_FUNCTION] = { EPROTOTYPE,
				"the members disagree on function or value type" },
	[AGGNET_R_ROOM] = { ENOBUFS,
			    "no room at the receiver for a contributor that missed its planned end" },
	[AGGNET_R_LAG] = { ENOBUFS, "a member does not keep up" },
	[AGGNET_R_GONE] = { ESTALE,
			    "what a member lacks is not kept any more" },
};

const char *aggnet_reason_text(unsigned int reason)
{
	return reason < __AGGNET_R_MAX ? reasons[reason].text :
					 "unknown reason";
}

int aggnet_reason_errno(unsigned int reason)
{
	return reason < __AGGNET_R_MAX ? -reasons[reason].error : -EPROTO;
}

static void append(char *buf, size_t size, size_t *len, const char *before,
		   __be32 identity)
{
	char text[INET_ADDRSTRLEN];

	if (!identity || *len >= size)
		return;
	*len += snprintf(buf + *len, size - *len, "%s%s", before,
			 inet_ntop(AF_INET, &identity, text, sizeof(text)));
}

char *aggnet_status_text(const struct aggnet_status *st, char *buf,
			 size_t size)
{
	size_t len = snprintf(buf, size, "%s", aggnet_reason_text(st->reason));
	uint32_t i;

	append(buf, size, &len, " at ", st->origin);
	if (st->about != st->origin)
		append(buf, size, &len, ", because of ", st->about);
	if (st->reason == AGGNET_R_TIMEOUT && st->about == st->origin &&
	    st->origin && !st->missing && len < size)
		len += snprintf(buf + len, size - len,
				", where a local process never joined");
	/* A source or a node on the way that never bound names no other end. */
	if (st->reason == AGGNET_R_TIMEOUT && !st->about && st->origin &&
	    !st->missing && len < size)
		len += snprintf(buf + len, size - len,
				", which no node on the way to the receiver has answered");
	if (st->missing && len < size)
		len += snprintf(buf + len, size - len, ": %u source%s missing",
				st->missing, st->missing == 1 ? "" : "s");
	for (i = 0; i < st->names && i < AGGNET_NAMES_MAX; i++)
		append(buf, size, &len, i ? ", " : ", not here: ",
		       st->name[i]);
	return buf;
}
