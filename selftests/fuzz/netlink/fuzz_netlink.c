// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: requests of netlink sockets, in the order in which they are
 * sent. A refused request changes nothing; an accepted one is reported as
 * requested; requests made of the report restore the configuration; nothing
 * remains in the end.
 */
#include "../flow/work.h"
#include "../fuzzer.h"
#include "core.h"
#include "ctl/netlink.h"
#include "netns.h"
#include "stats.h"
#include "told.h"

#define DEVICE_GONE	(NLMSG_MIN_TYPE + 1)	/* rtnetlink deletes a device */
#define FAILS_MAX	64	/* sequence N: the N-th allocation fails */

static struct aggnet_net *net_node(void)
{
	return aggnet_net(&kernel_net);
}

/* Is there an object with the same attributes, as far as they may be given? */
static bool has(const struct answer *from, const struct answer *wanted, u8 cmd)
{
	const struct nlmsghdr *nlh;
	struct answer attrs;
	bool found = false;
	size_t at = 0;

	while (!found && (nlh = message_next(from, &at))) {
		given(&attrs, nlh, cmd);
		found = same(&attrs, wanted);
		answer_free(&attrs);
	}
	return found;
}

static void check_same(const struct answer *was, const struct answer *is, u8 cmd)
{
	const struct nlmsghdr *nlh;
	struct answer attrs;
	size_t at = 0;

	while ((nlh = message_next(was, &at))) {
		given(&attrs, nlh, cmd);
		INSIST(has(is, &attrs, cmd), "an object is not what was told");
		answer_free(&attrs);
	}
	INSIST(was->len == is->len, "there are objects more, or less is told");
}

/* --- what must hold ---------------------------------------------------------------- */

static void check_unchanged(const struct told *was, const struct told *is,
			    u8 cmd)
{
	INSIST(same(&was->ports, &is->ports), "refused, but a port changed");
	INSIST(same(&was->links, &is->links), "refused, but a link changed");
	INSIST(same(&was->trees, &is->trees), "refused, but a tree changed");
	/* Dropping a plan frees the memory that it had reserved. */
	INSIST(same(&was->node, &is->node) || cmd == AGGNET_CMD_PLAN_COMMIT,
	       "refused, but the node or its memory changed");
}

static u32 port_of(const struct nlmsghdr *nlh, int type)
{
	return *(const u32 *)nla_data(attr_of(nlh, type));
}

static bool has_port(const struct told *told, u32 ifindex)
{
	const struct nlmsghdr *nlh;
	unsigned int n = 0;
	size_t at = 0;

	while ((nlh = message_next(&told->ports, &at)))
		n += port_of(nlh, AGGNET_A_PORT_IFINDEX) == ifindex;
	INSIST(n < 2, "a device is two ports");
	return n;
}

/* A deleted port's links are deleted, and no links of other ports. */
static void check_links(const struct told *was, const struct told *is)
{
	const struct nlmsghdr *nlh;
	size_t at, kept = 0;

	for (at = 0; (nlh = message_next(&was->links, &at)); )
		kept += has_port(is, port_of(nlh, AGGNET_A_LINK_IFINDEX));
	for (at = 0; (nlh = message_next(&is->links, &at)); kept--)
		INSIST(has_port(is, port_of(nlh, AGGNET_A_LINK_IFINDEX)),
		       "a link has no port any more");
	INSIST(!kept, "a link went with the port of another");
}

/* A get returns what the dump returned; a switch may have several entries. */
static void check_get(const struct answer *dump, u8 cmd)
{
	const struct nlmsghdr *nlh, *one;
	struct answer attrs, got;
	size_t at = 0;

	while ((nlh = message_next(dump, &at))) {
		got = (struct answer) { 0 };
		given(&attrs, nlh, cmd);
		INSIST(!ask(cmd, 0, &attrs, 0, &got), "it is dumped, not there");
		one = (const struct nlmsghdr *)got.bytes;
		INSIST(one->nlmsg_len == nlh->nlmsg_len &&
		       !memcmp((u8 *)one + HEADERS, (u8 *)nlh + HEADERS,
			       nlh->nlmsg_len - HEADERS),
		       "a get tells something else than the dump");
		answer_free(&attrs);
		answer_free(&got);
	}
}

static void no_limit(void)
{
	const struct {
		struct nlattr nla;
		u64 memory;
	} __packed limit = {
		{ sizeof(limit), AGGNET_A_NODE_MEMORY }, ~0ull,
	};
	struct answer attrs = { (u8 *)&limit, sizeof(limit) };

	INSIST(!ask(AGGNET_CMD_NODE_SET, 0, &attrs, 0, NULL),
	       "the limit cannot be raised");
}

/* Delete everything and make it again from the report. */
static void check_again(bool gone)
{
	struct told was, is, large;
	int err;

	no_limit();
	tell(&was, NLMSG_GOODSIZE);
	tell(&large, 1 << 20);
	INSIST(same(&was.trees, &large.trees) && same(&was.links, &large.links),
	       "the parts of a dump make another than the whole");
	check_get(&was.ports, AGGNET_CMD_PORT_GET);
	if (net_node()->role == AGGNET_ROLE_SERVER)
		check_get(&was.trees, AGGNET_CMD_TREE_GET);
	/*
	 * A switch has several entries of a tree: deleting the first deletes
	 * all.
	 */
	err = each(&was.trees, AGGNET_CMD_TREE_DEL);
	INSIST(!err || err == -ENOENT, "an entry cannot be deleted");
	INSIST(!each(&was.links, AGGNET_CMD_LINK_DEL),
	       "a link cannot be deleted");
	INSIST(!atomic64_read(&net_node()->memory_used),
	       "memory is accounted, but there is nothing");
	/*
	 * An entry whose port was deleted, or which could not grow, may differ.
	 */
	if (!gone && !aggnet_stat_sum(net_node()->stats,
				      AGGNET_STAT_bloom_crowded)) {
		INSIST(!each(&was.links, AGGNET_CMD_LINK_ADD) &&
		       !each(&was.trees, AGGNET_CMD_TREE_ADD),
		       "what was told is refused");
		tell(&is, NLMSG_GOODSIZE);
		check_same(&was.links, &is.links, AGGNET_CMD_LINK_ADD);
		check_same(&was.trees, &is.trees, AGGNET_CMD_TREE_ADD);
		told_free(&is);
	}
	told_free(&was);
	told_free(&large);
}

/*
 * --- what is accepted is reported
 * --------------------------------------------------
 */

static bool is_zero(const struct nlattr *nla)
{
	const u8 *bytes = nla_data(nla);
	int i;

	for (i = 0; i < nla_len(nla); i++)
		if (bytes[i])
			return false;
	return true;
}

/* An attribute that is 0 may be left out. */
static bool attr_same(const struct nlattr *a, const struct nlattr *b)
{
	if (a && b)
		return nla_len(a) == nla_len(b) &&
		       !memcmp(nla_data(a), nla_data(b), nla_len(a));
	return (!a || is_zero(a)) && (!b || is_zero(b));
}

/* The entry that a request refers to, by its epoch and its link. */
static const struct nlmsghdr *entry_of(const struct answer *trees,
				       const struct nlmsghdr *nlh)
{
	static const u8 name[] = {
		AGGNET_A_TREE_INCAST_ID, AGGNET_A_TREE_INSTANCE,
		AGGNET_A_TREE_ATTEMPT, AGGNET_A_TREE_LINK_IFINDEX,
		AGGNET_A_TREE_LINK_NEIGHBOUR,
	};
	const struct nlmsghdr *entry;
	size_t at = 0, i;

	while ((entry = message_next(trees, &at))) {
		for (i = 0; i < ARRAY_SIZE(name); i++)
			if (!attr_same(attr_of(entry, name[i]),
				       attr_of(nlh, name[i])))
				break;
		if (i == ARRAY_SIZE(name))
			return entry;
	}
	return NULL;
}

static int u32_cmp(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(u32));
}

/* The same children in any order. */
static bool same_children(const struct nlattr *a, const struct nlattr *b)
{
	size_t n = nla_len(a) / sizeof(u32);
	u32 *x, *y;
	bool same;

	if (nla_len(a) != nla_len(b))
		return false;
	x = memcpy(malloc(n * sizeof(u32)), nla_data(a), n * sizeof(u32));
	y = memcpy(malloc(n * sizeof(u32)), nla_data(b), n * sizeof(u32));
	qsort(x, n, sizeof(u32), u32_cmp);
	qsort(y, n, sizeof(u32), u32_cmp);
	same = !memcmp(x, y, n * sizeof(u32));
	free(x);
	free(y);
	return same;
}

/* A new entry: has it the attributes of the request? */
static void check_entry(const struct told *was, const struct told *is,
			const struct nlmsghdr *nlh)
{
	const struct nlmsghdr *entry = entry_of(&is->trees, nlh);
	const struct nlattr *asked, *told;
	size_t at = 0;

	if (!entry || entry_of(&was->trees, nlh))
		return;
	while ((asked = attr_next(nlh, &at))) {
		asked = attr_of(nlh, nla_type(asked));
		told = attr_of(entry, nla_type(asked));
		if (nla_type(asked) == AGGNET_A_TREE_KEY)
			INSIST(attr_of(entry, AGGNET_A_TREE_KEYED),
			       "a key is not told of");
		else if (nla_type(asked) == AGGNET_A_TREE_CHILDREN && told)
			INSIST(same_children(asked, told),
			       "other children are told");
		else
			INSIST(attr_same(asked, told),
			       "it is not told what was asked for");
	}
}

/* --- the input ----------------------------------------------------------------------- */

/* A request; updates @told. Return: may a port have been deleted? */
static bool request(const struct nlmsghdr *nlh, struct told *told)
{
	u8 cmd = ((struct genlmsghdr *)nlmsg_data(nlh))->cmd;
	struct answer answer = { 0 };
	struct netlink_ext_ack extack;
	struct told now;
	int err;

	shim_alloc_fail = nlh->nlmsg_seq <= FAILS_MAX ? nlh->nlmsg_seq : 0;
	err = core_request(nlh, NLMSG_GOODSIZE, &answer, &extack);
	shim_alloc_fail = 0;
	answer_free(&answer);
	world_work();
	tell(&now, NLMSG_GOODSIZE);
	if (err)
		check_unchanged(told, &now, cmd);
	else if (cmd == AGGNET_CMD_TREE_ADD)
		check_entry(told, &now, nlh);
	else if (cmd == AGGNET_CMD_PORT_ADD || cmd == AGGNET_CMD_PORT_DEL)
		check_links(told, &now);
	told_free(told);
	*told = now;
	return !err && cmd == AGGNET_CMD_PORT_DEL;
}

/* A message to netlink; some do not reach the family. */
static bool message(const struct nlmsghdr *nlh, struct told *told)
{
	struct told now;

	if (nlh->nlmsg_type == NLMSG_DONE) {
		core_close(nlh->nlmsg_pid);
	} else if (nlh->nlmsg_type == DEVICE_GONE) {
		core_take_device(nlh->nlmsg_pid);
	} else {
		if (nlh->nlmsg_type < NLMSG_MIN_TYPE ||
		    !(nlh->nlmsg_flags & NLM_F_REQUEST) ||
		    nlh->nlmsg_len < HEADERS)
			return false;
		return request(nlh, told);
	}
	world_work();
	tell(&now, NLMSG_GOODSIZE);
	check_links(told, &now);
	told_free(told);
	*told = now;
	return nlh->nlmsg_type == DEVICE_GONE;
}

static size_t message_len(const uint8_t *data, size_t len)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)data;

	if (len < NLMSG_HDRLEN || nlh->nlmsg_len < NLMSG_HDRLEN ||
	    nlh->nlmsg_len > len)
		return 0;
	return min_t(size_t, NLMSG_ALIGN(nlh->nlmsg_len), len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct told told = { 0 };
	struct nlmsghdr *nlh;
	bool gone = false;
	u32 portid, used;
	size_t step;

	kernel_start();
	tell(&told, NLMSG_GOODSIZE);
	for (; (step = message_len(data, len)); data += step, len -= step) {
		used = ((const struct nlmsghdr *)data)->nlmsg_len;
		nlh = memcpy(malloc(used), data, used);
		nlh->nlmsg_pid %= PORTIDS;
		gone |= message(nlh, &told);
		free(nlh);
	}
	told_free(&told);
	for (portid = 0; portid < PORTIDS; portid++)
		core_close(portid);
	check_again(gone);
	kernel_end();
	return 0;
}
