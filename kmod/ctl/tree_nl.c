// SPDX-License-Identifier: GPL-2.0
/* Entries of trees over netlink: parse requests, fill in answers. */
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/user_namespace.h>
#include <net/sock.h>

#include "core/filter.h"
#include "core/reduce.h"
#include "ctl/netlink_gen.h"
#include "ctl/plan.h"
#include "flow/tree.h"
#include "flow/tree_table.h"
#include "mem.h"
#include "netns.h"

#define TREE_HOPS_MAX		(AGGNET_HOP_MAX - 2)
#define TREE_CHILDREN_MAX	16382	/* addresses in an attribute */

static bool tree_unicast(__be32 addr)
{
	return !ipv4_is_zeronet(addr) && !ipv4_is_loopback(addr) &&
	       !ipv4_is_multicast(addr) && !ipv4_is_lbcast(addr);
}

static u32 tree_u32(const struct genl_info *info, int attr, u32 otherwise)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : otherwise;
}

static u8 tree_u8(const struct genl_info *info, int attr, u8 otherwise)
{
	return info->attrs[attr] ? nla_get_u8(info->attrs[attr]) : otherwise;
}

/* --- requests -------------------------------------------------------------- */

static int tree_read_name(struct genl_info *info, struct aggnet_tree_conf *conf)
{
	int err = aggnet_nl_required(info, AGGNET_A_TREE_INCAST_ID);

	if (err)
		return err;
	conf->incast_id = nla_get_u64(info->attrs[AGGNET_A_TREE_INCAST_ID]);
	return 0;
}

/* Read epoch and plan of an entry. */
static int tree_read_plan(struct genl_info *info, struct aggnet_tree_conf *conf)
{
	const struct nlattr *plan = info->attrs[AGGNET_A_TREE_PLAN];
	int err = aggnet_nl_required(info, AGGNET_A_TREE_INSTANCE);

	if (err)
		return err;
	conf->instance = tree_u32(info, AGGNET_A_TREE_INSTANCE, 0);
	conf->attempt = tree_u32(info, AGGNET_A_TREE_ATTEMPT, 0);
	conf->has_plan = plan;
	if (plan)
		nla_memcpy(conf->plan, plan, sizeof(conf->plan));
	return 0;
}

static int tree_read_epoch(struct aggnet_net *an, struct genl_info *info,
			   struct aggnet_tree_conf *conf)
{
	int err = tree_read_name(info, conf) ?: tree_read_plan(info, conf);

	if (err)
		return err;
	if (!tree_unicast(htonl((u32)conf->incast_id)))
		return AGGNET_REFUSE(info, AGGNET_A_TREE_INCAST_ID, -EINVAL,
				     "receiver of the incast ID is not a unicast address");
	if (an->role == AGGNET_ROLE_SERVER && !an->identity)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_INCAST_ID,
				     -EADDRNOTAVAIL,
				     "this server has no identity: set the node's address first");
	return 0;
}

static bool tree_to_self(const struct aggnet_net *an,
			 const struct aggnet_tree_conf *conf)
{
	return an->role == AGGNET_ROLE_SERVER &&
	       htonl((u32)conf->incast_id) == an->identity;
}

static int tree_read_link(struct aggnet_net *an, struct genl_info *info,
			  struct aggnet_tree_conf *conf, u8 scheme)
{
	struct nlattr *port = info->attrs[AGGNET_A_TREE_LINK_IFINDEX];
	struct nlattr *neigh = info->attrs[AGGNET_A_TREE_LINK_NEIGHBOUR];

	conf->scheme = tree_u8(info, AGGNET_A_TREE_SCHEME, scheme);
	conf->link_ifindex = port ? nla_get_u32(port) : 0;
	conf->link_neighbour = neigh ? nla_get_in_addr(neigh) : 0;
	if (tree_to_self(an, conf)) {
		if (port || neigh)
			return AGGNET_REFUSE(info, port ?
					     AGGNET_A_TREE_LINK_IFINDEX :
					     AGGNET_A_TREE_LINK_NEIGHBOUR,
					     -EINVAL,
					     "the receiver has no parent, so no link");
		return 0;
	}
	if (conf->scheme == AGGNET_SCHEME_ROUTE) {
		if (port || neigh)
			return AGGNET_REFUSE(info, AGGNET_A_TREE_SCHEME,
					     -EINVAL,
					     "scheme route takes no link");
		return 0;
	}
	if (!conf->link_ifindex)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_LINK_IFINDEX, -EINVAL,
				     "schemes exact, bloom and packet need the port of a link");
	if (conf->scheme == AGGNET_SCHEME_EXACT && !conf->link_neighbour)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_LINK_NEIGHBOUR,
				     -EINVAL,
				     "scheme exact needs the neighbour's address");
	return 0;
}

static int tree_read_filter(struct aggnet_net *an, struct genl_info *info,
			    struct aggnet_tree_conf *conf)
{
	bool packet = conf->scheme == AGGNET_SCHEME_PACKET;
	struct nlattr *filter = info->attrs[AGGNET_A_TREE_FILTER];
	const struct aggnet_filter *head;

	if (filter && (!packet || tree_to_self(an, conf)))
		return AGGNET_REFUSE(info, AGGNET_A_TREE_FILTER, -EINVAL,
				     "a filter is for what leaves by scheme packet");
	if (!filter && packet && !tree_to_self(an, conf))
		return AGGNET_REFUSE(info, AGGNET_A_TREE_SCHEME, -EINVAL,
				     "scheme packet needs a filter");
	if (!filter)
		return 0;
	head = nla_data(filter);
	if (!nla_len(filter) || nla_len(filter) % AGGNET_FILTER_UNIT ||
	    !aggnet_filter_ok(head, nla_len(filter)) ||
	    aggnet_filter_spent(head))
		return AGGNET_REFUSE(info, AGGNET_A_TREE_FILTER, -EINVAL,
				     "filter is malformed");
	conf->filter = aggnet_zalloc(nla_len(filter), GFP_KERNEL_ACCOUNT);
	if (!conf->filter)
		return -ENOMEM;
	conf->filter_size = nla_len(filter);
	memcpy(conf->filter, head, conf->filter_size);
	return 0;
}

static int tree_read_counts(struct aggnet_net *an, struct genl_info *info,
			    struct aggnet_tree_conf *conf)
{
	int err = aggnet_nl_required(info, AGGNET_A_TREE_CONTRIBUTORS) ?:
		  aggnet_nl_required(info, AGGNET_A_TREE_SOURCES);

	if (err)
		return err;
	conf->contributors = tree_u32(info, AGGNET_A_TREE_CONTRIBUTORS, 0);
	conf->sources = tree_u32(info, AGGNET_A_TREE_SOURCES, 0);
	conf->writers = tree_u32(info, AGGNET_A_TREE_WRITERS, 0);
	if (conf->contributors > conf->sources)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_CONTRIBUTORS, -EINVAL,
				     "contributors cannot exceed sources");
	if (info->attrs[AGGNET_A_TREE_MEMBERS]) {
		if (!tree_to_self(an, conf))
			return AGGNET_REFUSE(info, AGGNET_A_TREE_MEMBERS,
					     -EINVAL,
					     "members are for the receiver's entry");
		conf->members = tree_u32(info, AGGNET_A_TREE_MEMBERS, 0);
		conf->members_known = true;
	}
	return 0;
}

static int tree_read_shape(struct genl_info *info, struct aggnet_shape *shape)
{
	u32 k = tree_u32(info, AGGNET_A_TREE_K, 0);
	const struct nlattr *elements;
	const char *fault;
	int attr;

	elements = info->attrs[AGGNET_A_TREE_ELEMENTS];
	shape->function = tree_u8(info, AGGNET_A_TREE_FUNCTION, AGGNET_FN_SUM);
	shape->vtype = tree_u8(info, AGGNET_A_TREE_VTYPE, AGGNET_VTYPE_INT64);
	shape->layout = tree_u8(info, AGGNET_A_TREE_LAYOUT,
				AGGNET_LAYOUT_KEYED);
	shape->scale = tree_u8(info, AGGNET_A_TREE_SCALE, 0);
	shape->k = min_t(u32, k, U16_MAX);
	shape->elements = elements ? nla_get_u64(elements) : 0;
	attr = aggnet_shape_fault(shape, &fault);
	if (!attr)
		return 0;
	NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
	info->extack->_msg = fault;
	return -EINVAL;
}

static int tree_read_way(struct genl_info *info, struct aggnet_tree_conf *conf)
{
	int err = tree_read_shape(info, &conf->shape);

	if (err)
		return err;
	if (conf->shape.layout == AGGNET_LAYOUT_SORTED &&
	    conf->sources > U16_MAX)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_SOURCES, -EINVAL,
				     "a sorted tree has 65535 sources at most");
	conf->persist = tree_u8(info, AGGNET_A_TREE_PERSIST, 0);
	if (conf->shape.layout == AGGNET_LAYOUT_SORTED && conf->persist)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_PERSIST, -EINVAL,
				     "a sorted tree serves one transfer: it cannot be persistent");
	conf->hops = tree_u8(info, AGGNET_A_TREE_HOPS, TREE_HOPS_MAX);
	conf->direction = tree_u8(info, AGGNET_A_TREE_DIRECTION, AGGNET_DIR_UP);
	return 0;
}

static void tree_read_limits(struct genl_info *info,
			     struct aggnet_tree_conf *conf)
{
	struct nlattr *memory = info->attrs[AGGNET_A_TREE_MEMORY];
	struct nlattr *key = info->attrs[AGGNET_A_TREE_KEY];

	conf->memory = memory ? nla_get_u64(memory) : AGGNET_MEMORY_DEFAULT;
	conf->hold_ms = tree_u32(info, AGGNET_A_TREE_HOLD, AGGNET_HOLD_DEFAULT);
	conf->give_up_ms = tree_u32(info, AGGNET_A_TREE_GIVE_UP,
				    AGGNET_GIVE_UP_DEFAULT);
	if (key)
		aggnet_secret_set(&conf->key, nla_data(key));
}

/*
 * Map IDs by the user namespace in which the socket was opened: a more privileged
 * process that was handed the socket does not lend its privilege to the request.
 */
static int tree_read_owner(struct genl_info *info,
			   struct aggnet_tree_conf *conf)
{
	struct user_namespace *ns = sk_user_ns(aggnet_nl_sock(info));
	struct nlattr *uid = info->attrs[AGGNET_A_TREE_UID];
	struct nlattr *gid = info->attrs[AGGNET_A_TREE_GID];

	if (uid) {
		conf->uid = make_kuid(ns, nla_get_u32(uid));
		if (!uid_valid(conf->uid))
			return AGGNET_REFUSE(info, AGGNET_A_TREE_UID, -EINVAL,
					     "user ID has no mapping in this user namespace");
	}
	if (gid) {
		conf->gid = make_kgid(ns, nla_get_u32(gid));
		if (!gid_valid(conf->gid))
			return AGGNET_REFUSE(info, AGGNET_A_TREE_GID, -EINVAL,
					     "group ID has no mapping in this user namespace");
	}
	return 0;
}

/* Compare in network byte order, as the search of the list does. */
static int child_cmp(const void *a, const void *b)
{
	u32 x = (__force u32)*(const __be32 *)a;
	u32 y = (__force u32)*(const __be32 *)b;

	return x < y ? -1 : x > y;
}

static int tree_check_children(struct aggnet_net *an, struct genl_info *info,
			       const struct aggnet_tree_conf *conf)
{
	u32 i;

	for (i = 0; i < conf->nchildren; i++) {
		if (!tree_unicast(conf->children[i]))
			return AGGNET_REFUSE(info, AGGNET_A_TREE_CHILDREN,
					     -EINVAL,
					     "a child is not a unicast address");
		if (conf->children[i] == an->identity)
			return AGGNET_REFUSE(info, AGGNET_A_TREE_CHILDREN,
					     -EINVAL,
					     "this server is listed as its own child");
		if (i && conf->children[i] == conf->children[i - 1])
			return AGGNET_REFUSE(info, AGGNET_A_TREE_CHILDREN,
					     -EINVAL,
					     "a child is listed twice");
	}
	return 0;
}

static int tree_read_children(struct aggnet_net *an, struct genl_info *info,
			      struct aggnet_tree_conf *conf)
{
	struct nlattr *list = info->attrs[AGGNET_A_TREE_CHILDREN];
	u32 flows = conf->contributors - !!conf->writers;

	if (!list)
		return 0;
	if (!nla_len(list) || nla_len(list) % sizeof(__be32))
		return AGGNET_REFUSE(info, AGGNET_A_TREE_CHILDREN, -EINVAL,
				     "children must be addresses of 4 bytes each");
	conf->nchildren = nla_len(list) / sizeof(__be32);
	if (flows > TREE_CHILDREN_MAX)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_CHILDREN, -EINVAL,
				     "a list has 16382 children at most: leave it out where there are more");
	if (conf->nchildren > flows)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_CHILDREN, -EINVAL,
				     "more children than contributors");
	conf->children = aggnet_zalloc(nla_len(list), GFP_KERNEL_ACCOUNT);
	if (!conf->children)
		return -ENOMEM;
	nla_memcpy(conf->children, list, nla_len(list));
	sort(conf->children, conf->nchildren, sizeof(__be32), child_cmp, NULL);
	return tree_check_children(an, info, conf);
}

static int tree_read_absent(struct aggnet_net *an, struct genl_info *info,
			    struct aggnet_tree_conf *conf)
{
	struct nlattr *list = info->attrs[AGGNET_A_TREE_ABSENT];

	if (!list)
		return 0;
	if (!tree_to_self(an, conf))
		return AGGNET_REFUSE(info, AGGNET_A_TREE_ABSENT, -EINVAL,
				     "absent sources are for the receiver's entry");
	if (!nla_len(list) || nla_len(list) % sizeof(__be32))
		return AGGNET_REFUSE(info, AGGNET_A_TREE_ABSENT, -EINVAL,
				     "absent must be addresses of 4 bytes each");
	conf->absent = aggnet_zalloc(nla_len(list), GFP_KERNEL_ACCOUNT);
	if (!conf->absent)
		return -ENOMEM;
	nla_memcpy(conf->absent, list, nla_len(list));
	conf->nabsent = nla_len(list) / sizeof(__be32);
	return 0;
}

static int tree_read_stripe(struct genl_info *info,
			    struct aggnet_tree_conf *conf)
{
	conf->stripe = tree_u8(info, AGGNET_A_TREE_STRIPE, 0);
	conf->stripes = tree_u8(info, AGGNET_A_TREE_STRIPES, 0);
	if (!info->attrs[AGGNET_A_TREE_STRIPE] ||
	    conf->stripe < conf->stripes)
		return 0;
	return AGGNET_REFUSE(info, AGGNET_A_TREE_STRIPE, -EINVAL,
			     "the number of a stripe must be less than the number of stripes");
}

/* What a stream cannot have. Return: the attribute, 0: there is none */
static int tree_down_attr(const struct genl_info *info)
{
	static const u8 up[] = {
		AGGNET_A_TREE_STRIPES, AGGNET_A_TREE_ABSENT,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(up); i++)
		if (info->attrs[up[i]])
			return up[i];
	return 0;
}

static int tree_check_down(struct aggnet_net *an, struct genl_info *info,
			   const struct aggnet_tree_conf *conf)
{
	bool bytes = conf->shape.layout == AGGNET_LAYOUT_BYTES;
	bool down = conf->direction == AGGNET_DIR_DOWN;
	int attr = tree_down_attr(info);

	if (down != bytes)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_LAYOUT, -EINVAL,
				     "layout bytes is for direction down, and no other layout is");
	if (!down)
		return 0;
	if (conf->scheme != AGGNET_SCHEME_EXACT &&
	    conf->scheme != AGGNET_SCHEME_ROUTE)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_SCHEME, -EINVAL,
				     "a tree that leads down has scheme exact or route");
	if (conf->hold_ms)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_HOLD, -EINVAL,
				     "a tree that leads down waits for all members: it has no hold");
	if (attr)
		return AGGNET_REFUSE(info, attr, -EINVAL,
				     "a tree that leads down has no stripes or absent sources");
	if (tree_to_self(an, conf) && conf->writers)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_WRITERS, -EINVAL,
				     "the root of a tree that leads down has no readers");
	if (conf->nchildren != conf->contributors - !!conf->writers)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_CHILDREN, -EINVAL,
				     "a tree that leads down needs the list of all children");
	return 0;
}

/* An attribute of the request that an entry which only forwards must not have. */
static int tree_flow_attr(const struct genl_info *info)
{
	static const u8 flow[] = {
		AGGNET_A_TREE_CONTRIBUTORS, AGGNET_A_TREE_SOURCES,
		AGGNET_A_TREE_CHILDREN, AGGNET_A_TREE_FUNCTION,
		AGGNET_A_TREE_VTYPE, AGGNET_A_TREE_HOPS, AGGNET_A_TREE_WRITERS,
		AGGNET_A_TREE_UID, AGGNET_A_TREE_GID, AGGNET_A_TREE_MEMORY,
		AGGNET_A_TREE_HOLD, AGGNET_A_TREE_GIVE_UP, AGGNET_A_TREE_KEY,
		AGGNET_A_TREE_MEMBERS, AGGNET_A_TREE_LAYOUT,
		AGGNET_A_TREE_SCALE, AGGNET_A_TREE_K, AGGNET_A_TREE_ELEMENTS,
		AGGNET_A_TREE_ABSENT, AGGNET_A_TREE_FILTER,
		AGGNET_A_TREE_PERSIST,
		AGGNET_A_TREE_STRIPE, AGGNET_A_TREE_STRIPES,
		AGGNET_A_TREE_DIRECTION,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flow); i++)
		if (info->attrs[flow[i]])
			return flow[i];
	return 0;
}

static int tree_read_forward(struct aggnet_net *an, struct genl_info *info,
			     struct aggnet_tree_conf *conf)
{
	int err, attr = tree_flow_attr(info);

	conf->forward_only = true;
	if (an->role == AGGNET_ROLE_SWITCH && attr)
		return AGGNET_REFUSE(info, attr, -EINVAL,
				     "a switch only forwards: it takes no attribute of a flow");
	if (an->role == AGGNET_ROLE_SWITCH &&
	    tree_u8(info, AGGNET_A_TREE_SCHEME, AGGNET_SCHEME_BLOOM) !=
	    AGGNET_SCHEME_BLOOM)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_SCHEME, -EINVAL,
				     "a switch forwards by Bloom tables only");
	err = tree_read_link(an, info, conf, AGGNET_SCHEME_BLOOM);
	return err ? err : tree_read_filter(an, info, conf);
}

static int tree_read(struct aggnet_net *an, struct genl_info *info,
		     struct aggnet_tree_conf *conf)
{
	int err = tree_read_epoch(an, info, conf);

	conf->uid = INVALID_UID;
	conf->gid = INVALID_GID;
	if (err)
		return err;
	if (an->role == AGGNET_ROLE_SWITCH ||
	    (!tree_flow_attr(info) && !tree_to_self(an, conf)))
		return tree_read_forward(an, info, conf);
	tree_read_limits(info, conf);
	err = tree_read_counts(an, info, conf) ?:
	      tree_read_link(an, info, conf, AGGNET_SCHEME_ROUTE) ?:
	      tree_read_filter(an, info, conf) ?:
	      tree_read_way(info, conf) ?:
	      tree_read_stripe(info, conf) ?:
	      tree_read_owner(info, conf) ?:
	      tree_read_children(an, info, conf) ?:
	      tree_read_absent(an, info, conf) ?:
	      tree_check_down(an, info, conf);
	conf->forward_only = conf->contributors == 1 && !conf->writers &&
			     !tree_to_self(an, conf);
	return err;
}

void aggnet_nl_tree_forget(struct genl_info *info)
{
	struct nlattr *key = info->attrs[AGGNET_A_TREE_KEY];

	if (key)
		memzero_explicit(nla_data(key), nla_len(key));
}

int aggnet_nl_tree_add(struct aggnet_net *an, struct genl_info *info)
{
	struct aggnet_step *step;
	int err;

	step = aggnet_step_alloc(AGGNET_STEP_TREE_ADD, info->attrs);
	if (!step)
		return -ENOMEM;
	step->replace = info->nlhdr->nlmsg_flags & NLM_F_REPLACE;
	err = tree_read(an, info, &step->conf);
	if (!err)
		return aggnet_plan_step(an, info, step);
	aggnet_step_free(step);
	return err;
}

int aggnet_nl_tree_del(struct aggnet_net *an, struct genl_info *info)
{
	bool only = info->attrs[AGGNET_A_TREE_INSTANCE] ||
		    info->attrs[AGGNET_A_TREE_ATTEMPT] ||
		    info->attrs[AGGNET_A_TREE_PLAN];
	struct aggnet_tree_conf conf = {};
	struct aggnet_step *step;
	int err;

	err = tree_read_name(info, &conf);
	if (!err && only)
		err = tree_read_plan(info, &conf);
	if (err)
		return err;
	step = aggnet_step_alloc(AGGNET_STEP_TREE_DEL, info->attrs);
	if (!step)
		return -ENOMEM;
	step->only = only;
	step->conf = conf;
	return aggnet_plan_step(an, info, step);
}

/* --- answers --------------------------------------------------------------- */

/**
 * struct tree_told - argument of tree_fill()
 * @tree: entry
 * @users: user namespace of the reader's socket
 */
struct tree_told {
	struct aggnet_tree *tree;
	struct user_namespace *users;
};

static int tree_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, AGGNET_A_TREE_PAD);
}

/* Numbers that are 0, and lists that are empty, are left out. */
static int tree_put_some(struct sk_buff *skb, int attr, u32 value)
{
	return value ? nla_put_u32(skb, attr, value) : 0;
}

static int tree_put_list(struct sk_buff *skb, int attr, u32 bytes,
			 const void *list)
{
	return bytes ? nla_put(skb, attr, bytes, list) : 0;
}

static size_t tree_size(const struct aggnet_tree *tree)
{
	/* Upper bound: each attribute as if of the largest type, and the lists. */
	return AGGNET_A_TREE_MAX * nla_total_size_64bit(sizeof(u64)) +
	       nla_total_size(AGGNET_PLAN_LEN) +
	       nla_total_size(tree->conf.nchildren * sizeof(__be32)) +
	       nla_total_size(tree->conf.nabsent * sizeof(__be32)) +
	       nla_total_size(tree->conf.filter_size) +
	       2 * nla_total_size(AGGNET_NAMES_MAX * sizeof(__be32));
}

static int tree_fill_name(struct sk_buff *skb,
			  const struct aggnet_tree_conf *conf)
{
	return tree_put_u64(skb, AGGNET_A_TREE_INCAST_ID, conf->incast_id) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_INSTANCE, conf->instance) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_ATTEMPT, conf->attempt) ?:
	       tree_put_list(skb, AGGNET_A_TREE_PLAN,
			     conf->has_plan ? sizeof(conf->plan) : 0,
			     conf->plan);
}

static int tree_fill_link(struct sk_buff *skb,
			  const struct aggnet_tree_conf *conf)
{
	int err = nla_put_u8(skb, AGGNET_A_TREE_SCHEME, conf->scheme) ?:
		  tree_put_some(skb, AGGNET_A_TREE_LINK_IFINDEX,
				conf->link_ifindex);

	if (!err && conf->link_neighbour)
		err = nla_put_in_addr(skb, AGGNET_A_TREE_LINK_NEIGHBOUR,
				      conf->link_neighbour);
	return err ?: tree_put_list(skb, AGGNET_A_TREE_FILTER,
				    conf->filter_size, conf->filter);
}

static int tree_fill_fallback(struct sk_buff *skb, struct aggnet_tree *tree)
{
	enum aggnet_fallback why;
	int err = 0;

	BUILD_BUG_ON(AGGNET_A_TREE_FALLBACK_ROUND - AGGNET_A_TREE_FALLBACK_LINK !=
		     AGGNET_FALLBACK_ROUND - AGGNET_FALLBACK_LINK);
	for (why = AGGNET_FALLBACK_LINK; why < __AGGNET_FALLBACK_MAX; why++)
		err = err ?: nla_put_u32(skb, AGGNET_A_TREE_FALLBACK_LINK +
					 why - AGGNET_FALLBACK_LINK,
					 atomic_read(&tree->fallback[why]));
	return err;
}

static int tree_fill_owner(struct sk_buff *skb,
			   const struct aggnet_tree_conf *conf,
			   struct user_namespace *ns)
{
	int err = 0;

	if (uid_valid(conf->uid))
		err = nla_put_u32(skb, AGGNET_A_TREE_UID,
				  from_kuid_munged(ns, conf->uid));
	if (!err && gid_valid(conf->gid))
		err = nla_put_u32(skb, AGGNET_A_TREE_GID,
				  from_kgid_munged(ns, conf->gid));
	return err;
}

static int tree_fill_shape(struct sk_buff *skb,
			   const struct aggnet_shape *shape)
{
	int err = nla_put_u8(skb, AGGNET_A_TREE_FUNCTION, shape->function) ?:
		  nla_put_u8(skb, AGGNET_A_TREE_VTYPE, shape->vtype) ?:
		  nla_put_u8(skb, AGGNET_A_TREE_LAYOUT, shape->layout) ?:
		  tree_put_some(skb, AGGNET_A_TREE_K, shape->k);

	if (!err && shape->scale)
		err = nla_put_u8(skb, AGGNET_A_TREE_SCALE, shape->scale);
	if (!err && shape->elements)
		err = tree_put_u64(skb, AGGNET_A_TREE_ELEMENTS,
				   shape->elements);
	return err;
}

static int tree_fill_stripe(struct sk_buff *skb,
			    const struct aggnet_tree_conf *conf)
{
	if (!conf->stripes)
		return 0;
	return nla_put_u8(skb, AGGNET_A_TREE_STRIPE, conf->stripe) ?:
	       nla_put_u8(skb, AGGNET_A_TREE_STRIPES, conf->stripes);
}

static int tree_fill_flow(struct sk_buff *skb,
			  const struct aggnet_tree_conf *conf,
			  struct user_namespace *users)
{
	int err = nla_put_u32(skb, AGGNET_A_TREE_CONTRIBUTORS,
			      conf->contributors) ?:
		  nla_put_u32(skb, AGGNET_A_TREE_SOURCES, conf->sources) ?:
		  nla_put_u32(skb, AGGNET_A_TREE_WRITERS, conf->writers) ?:
		  nla_put_u8(skb, AGGNET_A_TREE_HOPS, conf->hops) ?:
		  tree_put_u64(skb, AGGNET_A_TREE_MEMORY, conf->memory) ?:
		  nla_put_u32(skb, AGGNET_A_TREE_HOLD, conf->hold_ms) ?:
		  nla_put_u32(skb, AGGNET_A_TREE_GIVE_UP, conf->give_up_ms) ?:
		  tree_fill_shape(skb, &conf->shape) ?:
		  tree_fill_stripe(skb, conf) ?:
		  tree_fill_owner(skb, conf, users);

	if (!err && conf->members_known)
		err = nla_put_u32(skb, AGGNET_A_TREE_MEMBERS, conf->members);
	if (!err && conf->persist)
		err = nla_put_u8(skb, AGGNET_A_TREE_PERSIST, 1);
	if (!err && conf->direction)
		err = nla_put_u8(skb, AGGNET_A_TREE_DIRECTION, conf->direction);
	/* Say whether there is a key; never give the key. */
	if (!err && conf->key.keyed)
		err = nla_put_flag(skb, AGGNET_A_TREE_KEYED);
	return err ?: tree_put_list(skb, AGGNET_A_TREE_CHILDREN,
				    conf->nchildren * sizeof(__be32),
				    conf->children) ?:
		      tree_put_list(skb, AGGNET_A_TREE_ABSENT,
				    conf->nabsent * sizeof(__be32),
				    conf->absent);
}

static int tree_fill_abort(struct sk_buff *skb,
			   const struct aggnet_outcome *o)
{
	return nla_put_u8(skb, AGGNET_A_TREE_REASON, o->reason) ?:
	       nla_put_in_addr(skb, AGGNET_A_TREE_ORIGIN, o->origin) ?:
	       nla_put_in_addr(skb, AGGNET_A_TREE_ABOUT, o->about) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_MISSING, o->missing) ?:
	       tree_put_list(skb, AGGNET_A_TREE_MISSING_NAMES,
			     o->lost.n * sizeof(__be32), o->lost.id);
}

static int tree_fill_state(struct sk_buff *skb,
			   const struct aggnet_tree_info *now)
{
	const struct aggnet_tree_count *n = &now->count;

	return nla_put_u8(skb, AGGNET_A_TREE_STATE, now->state) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_ROUND, now->round) ?:
	       tree_fill_abort(skb, &now->outcome) ?:
	       nla_put(skb, AGGNET_A_TREE_BELOW, sizeof(now->below), now->below) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_PARTIALS, now->partials) ?:
	       nla_put_in_addr(skb, AGGNET_A_TREE_ACCEPTOR, now->acceptor) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_WEIGHT, now->weight) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_CHANNELS, now->channels) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_UNPLANNED, now->unplanned) ?:
	       tree_put_list(skb, AGGNET_A_TREE_UNBOUND,
			     now->unbound.n * sizeof(__be32), now->unbound.id) ?:
	       nla_put_u32(skb, AGGNET_A_TREE_KEYS, now->keys) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_MEMORY_USED, now->memory_used) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_MEMORY_MOST, now->memory_most) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_RECORDS_IN, n->records_in) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_RECORDS_OUT, n->records_out) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_PACKETS_IN, n->packets_in) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_PACKETS_OUT, n->packets_out) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_BYTES_IN, n->bytes_in) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_BYTES_OUT, n->bytes_out) ?:
	       tree_put_u64(skb, AGGNET_A_TREE_REXMITS, n->rexmits);
}

static int tree_fill(struct sk_buff *skb, struct aggnet_net *an,
		     const void *object)
{
	const struct tree_told *told = object;
	struct aggnet_tree *tree = told->tree;
	struct aggnet_tree_info now;
	int err;

	err = tree_fill_name(skb, &tree->conf) ?:
	      tree_fill_link(skb, &tree->conf) ?:
	      tree_fill_fallback(skb, tree);
	/* An entry that only forwards has no configuration of a flow. */
	if (err || !tree->conf.sources)
		return err;
	err = tree_fill_flow(skb, &tree->conf, told->users);
	if (err || tree->conf.forward_only)
		return err;
	aggnet_tree_info(tree, &now);
	return tree_fill_state(skb, &now);
}

int aggnet_nl_tree_get(struct aggnet_net *an, struct genl_info *info)
{
	struct tree_told told = { .users = sk_user_ns(aggnet_nl_sock(info)) };
	struct aggnet_tree_conf name;
	int err;

	err = tree_read_name(info, &name);
	if (err)
		return err;
	told.tree = aggnet_tree_table_first(aggnet_tree_table_in_force(an),
					    name.incast_id);
	if (!told.tree)
		return AGGNET_REFUSE(info, AGGNET_A_TREE_INCAST_ID, -ENOENT,
				     "no entry of that incast ID");
	return aggnet_nl_reply(an, info, tree_size(told.tree), tree_fill,
			       &told);
}

int aggnet_nl_tree_walk(struct sk_buff *skb, struct netlink_callback *cb,
			struct aggnet_net *an)
{
	struct tree_told told = { .users = sk_user_ns(NETLINK_CB(cb->skb).sk) };
	struct aggnet_tree_table *trees = aggnet_tree_table_in_force(an);
	u32 pos = cb->args[0];
	int err;

	while ((told.tree = aggnet_tree_table_next(trees, &pos))) {
		err = aggnet_nl_dump_one(skb, cb, an, tree_fill, &told);
		if (err)
			return err;
		cb->args[0] = pos;
	}
	return 0;
}

size_t aggnet_nl_tree_largest(struct aggnet_net *an)
{
	struct aggnet_tree_table *trees = aggnet_tree_table_in_force(an);
	struct aggnet_tree *tree;
	size_t largest = 0;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(trees, &pos))) {
		cond_resched();
		largest = max(largest, tree_size(tree));
	}
	return largest;
}
