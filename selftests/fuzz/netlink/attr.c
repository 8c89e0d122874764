// SPDX-License-Identifier: GPL-2.0
/* Attributes and messages: copying them, and adding them where there is space.
 */
#include <net/genetlink.h>

#include "mem.h"

/* --- attributes --------------------------------------------------------------- */

int nla_memcpy(void *to, const struct nlattr *nla, int count)
{
	int some = min(count, nla_len(nla));

	memcpy(to, nla_data(nla), some);
	memset((u8 *)to + some, 0, count - some);
	return some;
}

ssize_t nla_strscpy(char *to, const struct nlattr *nla, size_t size)
{
	size_t len = strnlen(nla_data(nla), nla_len(nla));

	len = min(len, size - 1);
	memcpy(to, nla_data(nla), len);
	memset(to + len, 0, size - len);
	return len;
}

static void *skb_take(struct sk_buff *skb, u32 len)
{
	void *at = skb->data + skb->len;

	if (len > skb->size - skb->len)
		return NULL;
	skb->len += len;
	return memset(at, 0, len);
}

int nla_put(struct sk_buff *skb, int type, int len, const void *data)
{
	struct nlattr *nla = skb_take(skb, nla_total_size(len));

	if (!nla)
		return -EMSGSIZE;
	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy(nla_data(nla), data, len);
	return 0;
}

/* As on machines that align 64 bits, and misaligned here: the largest case. */
int nla_put_u64_64bit(struct sk_buff *skb, int type, u64 value, int pad)
{
	if (nla_put(skb, pad, 0, NULL))
		return -EMSGSIZE;
	return nla_put(skb, type, sizeof(value), &value);
}

struct nlattr *nla_nest_start(struct sk_buff *skb, int type)
{
	struct nlattr *nest = (struct nlattr *)(skb->data + skb->len);

	return nla_put(skb, type | NLA_F_NESTED, 0, NULL) ? NULL : nest;
}

void nla_nest_end(struct sk_buff *skb, struct nlattr *nest)
{
	nest->nla_len = skb->data + skb->len - (u8 *)nest;
}

/* --- messages ----------------------------------------------------------------- */

struct sk_buff *aggnet_genl_alloc(size_t payload, gfp_t gfp)
{
	struct sk_buff *skb = kzalloc(sizeof(*skb), gfp);

	if (!skb)
		return NULL;
	skb->size = NLMSG_HDRLEN + GENL_HDRLEN + NLMSG_ALIGN(payload);
	skb->data = kmalloc(skb->size, gfp);
	if (skb->data)
		return skb;
	kfree(skb);
	return NULL;
}

void nlmsg_free(struct sk_buff *skb)
{
	kfree(skb->data);
	kfree(skb);
}

void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq,
		  const struct genl_family *family, int flags, u8 cmd)
{
	struct nlmsghdr *nlh = skb_take(skb, NLMSG_HDRLEN + GENL_HDRLEN);
	struct genlmsghdr *genlh;

	if (!nlh)
		return NULL;
	nlh->nlmsg_type = NLMSG_MIN_TYPE;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = seq;
	nlh->nlmsg_pid = portid;
	genlh = nlmsg_data(nlh);
	genlh->cmd = cmd;
	genlh->version = family->version;
	return (u8 *)genlh + GENL_HDRLEN;
}

static struct nlmsghdr *header_of(void *hdr)
{
	return (struct nlmsghdr *)((u8 *)hdr - GENL_HDRLEN - NLMSG_HDRLEN);
}

void genlmsg_end(struct sk_buff *skb, void *hdr)
{
	struct nlmsghdr *nlh = header_of(hdr);

	nlh->nlmsg_len = skb->data + skb->len - (u8 *)nlh;
}

void genlmsg_cancel(struct sk_buff *skb, void *hdr)
{
	skb->len = (u8 *)header_of(hdr) - skb->data;
}
