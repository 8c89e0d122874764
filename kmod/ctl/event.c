// SPDX-License-Identifier: GPL-2.0
/* Notifications to the multicast group "events". */
#include "ctl/event.h"
#include "ctl/netlink.h"
#include "flow/host.h"
#include "flow/tree.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

/* Upper bound: every attribute as if it were of the largest type. */
#define EVENT_SIZE (AGGNET_A_EVENT_MAX * nla_total_size_64bit(sizeof(u64)) + \
		    nla_total_size(AGGNET_NAMES_MAX * sizeof(__be32)))

static int event_fill_names(struct sk_buff *skb,
			    const struct aggnet_tree *tree)
{
	const struct aggnet_names *lost = &tree->outcome.lost;

	if (!lost->n)
		return 0;
	return nla_put(skb, AGGNET_A_EVENT_MISSING_NAMES,
		       lost->n * sizeof(__be32), lost->id);
}

static int event_fill_end(struct sk_buff *skb, const struct aggnet_tree *tree)
{
	if (nla_put_u8(skb, AGGNET_A_EVENT_REASON, tree->outcome.reason) ||
	    nla_put_in_addr(skb, AGGNET_A_EVENT_ORIGIN, tree->outcome.origin) ||
	    nla_put_in_addr(skb, AGGNET_A_EVENT_ABOUT, tree->outcome.about) ||
	    nla_put_u32(skb, AGGNET_A_EVENT_MISSING, tree->outcome.missing))
		return -EMSGSIZE;
	return event_fill_names(skb, tree);
}

static int event_fill_tree(struct sk_buff *skb, const struct aggnet_tree *tree,
			   enum aggnet_event kind)
{
	if (nla_put_u8(skb, AGGNET_A_EVENT_KIND, kind) ||
	    nla_put_u64_64bit(skb, AGGNET_A_EVENT_INCAST_ID,
			      tree->conf.incast_id, AGGNET_A_EVENT_PAD) ||
	    nla_put_u32(skb, AGGNET_A_EVENT_INSTANCE, tree->conf.instance) ||
	    nla_put_u32(skb, AGGNET_A_EVENT_ATTEMPT, tree->conf.attempt))
		return -EMSGSIZE;
	if (kind == AGGNET_EVENT_TREE_ABORTED)
		return event_fill_end(skb, tree);
	if (kind != AGGNET_EVENT_TREE_STALLED)
		return 0;
	if (nla_put_u32(skb, AGGNET_A_EVENT_MISSING,
			aggnet_tree_unfinished(tree)))
		return -EMSGSIZE;
	return event_fill_names(skb, tree);
}

/*
 * Entries end and ports go even after the family has been unregistered, when its
 * group may belong to another family. Read under RCU.
 */
static bool event_family;

void aggnet_event_start(void)
{
	WRITE_ONCE(event_family, true);
}

void aggnet_event_stop(void)
{
	WRITE_ONCE(event_family, false);
	synchronize_rcu();
}

/*
 * Return: NULL: there is no listener, or no memory. A listener that misses an event
 * gets ENOBUFS and then reads the state with a dump; netlink_broadcast() does the
 * same if a queue is full or a clone fails.
 */
static struct sk_buff *event_begin(const struct aggnet_net *an, void **hdr)
{
	struct sk_buff *skb;

	if (!READ_ONCE(event_family) ||
	    !genl_has_listeners(&aggnet_genl_family, an->net, AGGNET_NL_EVENTS))
		return NULL;
	skb = aggnet_genl_alloc(EVENT_SIZE, GFP_ATOMIC);
	if (!skb) {
		genl_set_err(&aggnet_genl_family, an->net, 0,
			     AGGNET_NL_EVENTS, -ENOBUFS);
		return NULL;
	}
	*hdr = genlmsg_put(skb, 0, 0, &aggnet_genl_family, 0,
			   AGGNET_CMD_EVENT);
	return skb;
}

static void event_send(const struct aggnet_net *an, struct sk_buff *skb,
		       void *hdr, int err)
{
	if (WARN_ON_ONCE(err)) {	/* EVENT_SIZE is too small */
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&aggnet_genl_family, an->net, skb, 0,
				AGGNET_NL_EVENTS, GFP_ATOMIC);
}

void aggnet_host_notify(struct aggnet_tree *tree, enum aggnet_event kind)
{
	struct sk_buff *skb;
	void *hdr;

	rcu_read_lock();
	skb = event_begin(tree->an, &hdr);
	if (skb)
		event_send(tree->an, skb, hdr,
			   event_fill_tree(skb, tree, kind));
	rcu_read_unlock();
}

static int event_fill_port(struct sk_buff *skb, u32 ifindex)
{
	if (nla_put_u8(skb, AGGNET_A_EVENT_KIND, AGGNET_EVENT_PORT_GONE) ||
	    nla_put_u32(skb, AGGNET_A_EVENT_IFINDEX, ifindex))
		return -EMSGSIZE;
	return 0;
}

void aggnet_port_notify(struct aggnet_net *an, u32 ifindex)
{
	struct sk_buff *skb;
	void *hdr;

	rcu_read_lock();
	skb = event_begin(an, &hdr);
	if (skb)
		event_send(an, skb, hdr, event_fill_port(skb, ifindex));
	rcu_read_unlock();
}
