/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes: policies, reading and writing, as the kernel documents them. */
#ifndef _SHIM_NET_NETLINK_H
#define _SHIM_NET_NETLINK_H

#include <linux/kernel.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/string.h>

enum {
	NLA_UNSPEC,
	NLA_U8,
	NLA_U16,
	NLA_U32,
	NLA_U64,
	NLA_NUL_STRING,
	NLA_BINARY,
	NLA_REJECT,
	NLA_BE32,
};

/**
 * struct nla_policy - the rule for an attribute
 * @type: NLA_*
 * @ranged: @min and @max bytes of an NLA_BINARY
 * @len: NLA_NUL_STRING, NLA_BINARY: maximum bytes, 0: any number
 */
struct nla_policy {
	u8 type;
	bool ranged;
	u16 len;
	u16 min;
	u16 max;
};

#define NLA_POLICY_EXACT_LEN(n) \
	{ .type = NLA_BINARY, .ranged = true, .min = (n), .max = (n) }

#define NETLINK_URELEASE	1
#define NLMSG_GOODSIZE		3776

struct netlink_notify {
	struct net *net;
	u32 portid;
	int protocol;
};

/**
 * struct netlink_callback - the state of a dump
 * @skb: request
 * @nlh: its header
 * @extack: of the current part
 * @min_dump_alloc: least size of a part
 * @seq: number of the configuration that a part shows
 * @prev_seq: the same of the previous part
 * @args: the dump's own
 */
struct netlink_callback {
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	struct netlink_ext_ack *extack;
	u32 min_dump_alloc;
	u32 seq;
	u32 prev_seq;
	long args[6];
};

#define NETLINK_CB(skb)		(*(skb))

static inline void *nlmsg_data(const struct nlmsghdr *nlh)
{
	return (u8 *)nlh + NLMSG_HDRLEN;
}

static inline int nlmsg_attrlen(const struct nlmsghdr *nlh, int hdrlen)
{
	return nlh->nlmsg_len - NLMSG_HDRLEN - NLMSG_ALIGN(hdrlen);
}

static inline struct nlattr *nlmsg_attrdata(const struct nlmsghdr *nlh,
					    int hdrlen)
{
	return (void *)((u8 *)nlh + NLMSG_HDRLEN + NLMSG_ALIGN(hdrlen));
}

static inline void *nla_data(const struct nlattr *nla)
{
	return (u8 *)nla + NLA_HDRLEN;
}

static inline int nla_len(const struct nlattr *nla)
{
	return nla->nla_len - NLA_HDRLEN;
}

static inline int nla_type(const struct nlattr *nla)
{
	return nla->nla_type & NLA_TYPE_MASK;
}

static inline int nla_total_size(int payload)
{
	return NLA_ALIGN(NLA_HDRLEN + payload);
}

/* As on machines that align 64 bits: with the attribute that pads. */
static inline int nla_total_size_64bit(int payload)
{
	return nla_total_size(payload) + nla_total_size(0);
}

/*
 * --- reading: no checks, except before copying -------------------------------
 */

int nla_memcpy(void *to, const struct nlattr *nla, int count);
ssize_t nla_strscpy(char *to, const struct nlattr *nla, size_t size);

static inline u16 nla_get_u16(const struct nlattr *nla)
{
	return *(const u16 *)nla_data(nla);
}

static inline u8 nla_get_u8(const struct nlattr *nla)
{
	return *(u8 *)nla_data(nla);
}

static inline u32 nla_get_u32(const struct nlattr *nla)
{
	return *(u32 *)nla_data(nla);
}

static inline __be32 nla_get_in_addr(const struct nlattr *nla)
{
	return *(__be32 *)nla_data(nla);
}

static inline u64 nla_get_u64(const struct nlattr *nla)
{
	u64 value;

	nla_memcpy(&value, nla, sizeof(value));
	return value;
}

/* --- writing ------------------------------------------------------------------ */

int nla_put(struct sk_buff *skb, int type, int len, const void *data);
int nla_put_u64_64bit(struct sk_buff *skb, int type, u64 value, int pad);

static inline int nla_put_u16(struct sk_buff *skb, int type, u16 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static inline int nla_put_u8(struct sk_buff *skb, int type, u8 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static inline int nla_put_u32(struct sk_buff *skb, int type, u32 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static inline int nla_put_in_addr(struct sk_buff *skb, int type, __be32 addr)
{
	return nla_put(skb, type, sizeof(addr), &addr);
}

static inline int nla_put_flag(struct sk_buff *skb, int type)
{
	return nla_put(skb, type, 0, NULL);
}

static inline int nla_put_string(struct sk_buff *skb, int type,
				 const char *text)
{
	return nla_put(skb, type, strlen(text) + 1, text);
}

struct nlattr *nla_nest_start(struct sk_buff *skb, int type);
void nla_nest_end(struct sk_buff *skb, struct nlattr *nest);

#endif /* _SHIM_NET_NETLINK_H */
