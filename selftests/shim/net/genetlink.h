/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink: a family, its requests, its answers. */
#ifndef _SHIM_NET_GENETLINK_H
#define _SHIM_NET_GENETLINK_H

#include <linux/genetlink.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <net/net_namespace.h>
#include <net/netlink.h>

#define GENL_MCAST_CAP_NET_ADMIN	1

struct genl_info {
	u32 snd_portid;
	const struct nlmsghdr *nlhdr;
	struct genlmsghdr *genlhdr;
	struct nlattr **attrs;
	struct net *net;
	void *user_ptr[2];
	struct netlink_ext_ack *extack;
};

struct genl_ops {
	u8 cmd;
	u8 flags;
	unsigned int maxattr;
	const struct nla_policy *policy;
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*start)(struct netlink_callback *cb);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
};

struct genl_multicast_group {
	const char *name;
	u8 flags;
};

struct genl_family {
	const char *name;
	u8 version;
	bool netnsok;
	bool parallel_ops;
	void *module;
	const struct genl_ops *ops;
	unsigned int n_ops;
	const struct genl_multicast_group *mcgrps;
	unsigned int n_mcgrps;
	u8 resv_start_op;
};

#define genl_info_net(info)		((info)->net)
#define genl_has_listeners(family, net, group)	((void)(group), true)
#define genl_dump_check_consistent(cb, hdr)	((cb)->prev_seq = (cb)->seq, (void)(hdr))

int genl_register_family(struct genl_family *family);
int genl_unregister_family(const struct genl_family *family);
int netlink_register_notifier(struct notifier_block *nb);
int netlink_unregister_notifier(struct notifier_block *nb);

void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq,
		  const struct genl_family *family, int flags, u8 cmd);
#define genlmsg_put_reply(skb, info, family, flags, cmd)		\
	genlmsg_put(skb, (info)->snd_portid, (info)->nlhdr->nlmsg_seq, family, \
		    flags, cmd)
void genlmsg_end(struct sk_buff *skb, void *hdr);
void genlmsg_cancel(struct sk_buff *skb, void *hdr);
void nlmsg_free(struct sk_buff *skb);
int genlmsg_reply(struct sk_buff *skb, struct genl_info *info);
int genlmsg_multicast_netns(const struct genl_family *family, struct net *net,
			    struct sk_buff *skb, u32 portid,
			    unsigned int group, gfp_t gfp);
int genl_set_err(const struct genl_family *family, struct net *net, u32 portid,
		 u32 group, int code);

#endif /* _SHIM_NET_GENETLINK_H */
