// SPDX-License-Identifier: GPL-2.0
/* The acceptor's half of the channels: binds children, merges their DATA,
 * acknowledges it and grants credit.
 */
#include <linux/bsearch.h>
#include <linux/jiffies.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>

#include "core/fingerprint.h"
#include "core/packet.h"
#include "core/record.h"
#include "flow/channel.h"
#include "flow/host.h"
#include "flow/tree.h"

#define CHILD_REFUSED	(3 * HZ)	/* a refused child asks again before */
#define CHILD_SCAN	256	/* slots that one run checks */
#define CHILD_LOOKS	4	/* a check for silence covers 1/4 of them, */
#define CHILD_LOOK_MAX	4096	/* but at most these: 60000 instructions */

static struct aggnet_child *child_slot(const struct aggnet_tree *tree,
				       __be32 id)
{
	const struct aggnet_acceptor *a = &tree->acceptor;
	const hsiphash_key_t key = { { a->secret, tree->an->secret.key[0] } };
	u32 i = hsiphash(&id, sizeof(id), &key);
	struct aggnet_child *c;

	/*
	 * At most half of the slots are taken, so the loop ends. The hash has a
	 * secret, so a peer cannot choose identities with the same slot.
	 */
	for (;; i++) {
		c = &tree->acceptor.child[i & tree->acceptor.mask];
		if (!c->id || c->id == id)
			return c;
	}
}

/* A bound child keeps its slot and its identity until the tree is dead. */
static struct aggnet_child *child_find(const struct aggnet_tree *tree,
				       __be32 id)
{
	struct aggnet_child *c = tree->acceptor.last;

	if (c && c->id == id)
		return c;
	c = child_slot(tree, id);
	return c->id ? c : NULL;
}

static int child_cmp(const void *a, const void *b)
{
	u32 x = (__force u32)*(const __be32 *)a;
	u32 y = (__force u32)*(const __be32 *)b;

	return x < y ? -1 : x > y;
}

/* The child's place in the entry's list of children, NULL if it is not listed. */
static const __be32 *child_listed(const struct aggnet_tree *tree, __be32 id)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	if (!conf->nchildren)
		return NULL;
	return bsearch(&id, conf->children, conf->nchildren, sizeof(id),
		       child_cmp);
}

static void names_add(struct aggnet_names *names, __be32 id)
{
	u32 i;

	for (i = 0; i < names->n; i++)
		if (names->id[i] == id)
			return;
	if (i < AGGNET_NAMES_MAX)
		names->id[names->n++] = id;
}

void aggnet_acceptor_names(struct aggnet_tree *tree,
			   const struct aggnet_pkt *pkt, size_t fixed, u32 max)
{
	const __be32 *id = (const void *)(pkt->body + fixed);
	u32 n = min_t(u32, (pkt->length - fixed) / sizeof(*id), max);

	while (n--)
		names_add(&tree->outcome.lost, *id++);
}

void aggnet_acceptor_unbound(const struct aggnet_tree *tree,
			     struct aggnet_names *names)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 i = 0;

	names->n = 0;
	while (conf->nchildren && names->n < AGGNET_NAMES_MAX) {
		i = find_next_zero_bit(tree->acceptor.came, conf->nchildren, i);
		if (i == conf->nchildren)
			break;
		names_add(names, conf->children[i++]);
	}
}

/* Name the listed children that never came, and those that children reported as
 * missing, unless they are bound here.
 */
void aggnet_acceptor_lost(struct aggnet_tree *tree)
{
	struct aggnet_names lost = {};	/* user space gets all of it */
	u32 i;

	aggnet_acceptor_unbound(tree, &lost);
	for (i = 0; i < tree->outcome.lost.n; i++)
		if (!child_find(tree, tree->outcome.lost.id[i]))
			names_add(&lost, tree->outcome.lost.id[i]);
	tree->outcome.lost = lost;
}

/* Are children restricted to a list? An entry without planned children has an empty
 * one.
 */
static bool child_list_kept(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	return conf->nchildren || conf->contributors == !!conf->writers;
}

/* Is the child unplanned? No memory is reserved for the credit of such a child. */
static bool child_extra(const struct aggnet_tree *tree, __be32 id)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 planned = conf->contributors - !!conf->writers;

	if (child_list_kept(tree))
		return !child_listed(tree, id);
	return tree->acceptor.bound_total >= planned;
}

bool aggnet_acceptor_expects(const struct aggnet_tree *tree, __be32 id)
{
	return !child_list_kept(tree) || child_listed(tree, id) ||
	       child_find(tree, id);
}

/*
 * The acceptor's nonce for a child, a function of the child's nonce: it needs no
 * state until the child is bound. Each refusal for want of room changes the nonces
 * of unplanned children, so that an earlier PROBE of theirs cannot bind later.
 */
static u64 child_cookie(const struct aggnet_tree *tree, __be32 id, u64 nonce)
{
	const struct aggnet_child *c = child_find(tree, id);
	u64 refusals;

	if (c && c->nonce == nonce)
		return c->cookie;
	refusals = child_extra(tree, id) ? tree->acceptor.refusals : 0;
	return siphash_3u64(tree->acceptor.secret,
			    refusals << 32 | (__force u32)id, nonce,
			    &tree->an->secret);
}

u32 aggnet_acceptor_due(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	const struct aggnet_acceptor *a = &tree->acceptor;
	u32 planned = conf->nchildren ?: conf->contributors - !!conf->writers;

	return planned - (a->bound_total - a->unplanned);
}

/*
 * Is there a slot in the table of children, and memory for a credit? Both are
 * reserved for planned children.
 */
static bool child_fits(const struct aggnet_tree *tree, __be32 id)
{
	if (!child_extra(tree, id) || tree->state == AGGNET_TREE_ABORTED)
		return true;
	if (tree->acceptor.bound_total + aggnet_acceptor_due(tree) >
	    tree->acceptor.mask / 2)
		return false;
	return tree->store.ops->fits(tree, NULL);
}

bool aggnet_acceptor_refuses(const struct aggnet_tree *tree)
{
	return tree->acceptor.refused &&
	       time_before(jiffies, tree->acceptor.refused_at + CHILD_REFUSED);
}

/* The round that a packet to a child states. */
static u32 child_round(const struct aggnet_tree *tree, u8 type)
{
	if (type == AGGNET_ACCEPT || type == AGGNET_RST)
		return 0;
	return type == AGGNET_DONE ? tree->done.round : tree->round;
}

/*
 * Answer a packet: nonces and stamp are exchanged. A PROBE with the acceptor's nonce
 * binds, so only an ACCEPT reveals it; an RST repeats it if the packet had it.
 */
static void child_reply(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
			u8 type, u16 flags, const void *body, u16 length,
			struct aggnet_run *run)
{
	u64 cookie = child_cookie(tree, pkt->src, pkt->src_nonce);
	bool known = type != AGGNET_RST || pkt->dst_nonce == cookie;
	struct aggnet_pkt reply = {
		.type = type,
		.flags = flags,
		.hop = AGGNET_HOP_MAX,
		.length = length,
		.dst = pkt->src,
		.src_nonce = known ? cookie : 0,
		.dst_nonce = pkt->src_nonce,
		.stamp = aggnet_clock_us(),
		.echo = pkt->stamp,
		.round = child_round(tree, type),
		.key = pkt->key,
	};

	aggnet_host_make(tree, run, &reply, body, NULL, AGGNET_WAY_DIRECT);
}

void aggnet_acceptor_send_rst(struct aggnet_tree *tree,
			      const struct aggnet_pkt *pkt, u32 reason,
			      struct aggnet_run *run)
{
	struct aggnet_rst body = {
		.reason = cpu_to_be32(reason),
		.instance = cpu_to_be32(tree->conf.instance),
		.attempt = cpu_to_be32(tree->conf.attempt),
	};

	child_reply(tree, pkt, AGGNET_RST, 0, &body, sizeof(body), run);
}

/* Has the child finished the present round? */
static bool child_finished(const struct aggnet_tree *tree,
			   const struct aggnet_child *c)
{
	return c->left || c->rounds != tree->round;
}

/* Count a child without credit: it has a claim on the next, before idle credits. */
static void child_count_dry(struct aggnet_tree *tree, struct aggnet_child *c)
{
	bool dry = !c->left && !aggnet_child_outstanding(c);

	if (c->no_credit != dry) {
		c->no_credit = dry;
		tree->acceptor.no_credit += dry ? 1 : -1;
	}
}

static void child_grant(struct aggnet_tree *tree, struct aggnet_child *c,
			struct aggnet_run *run)
{
	bool starved;
	u32 more;

	if (child_finished(tree, c))
		return;
	more = tree->store.ops->grant(tree, c, run);
	c->credit += more;
	tree->acceptor.credits += more;
	child_count_dry(tree, c);
	starved = !aggnet_child_outstanding(c);
	if (c->waits_for_credit != starved) {
		c->waits_for_credit = starved;
		tree->acceptor.waits_for_credit += starved ? 1 : -1;
	}
}

/*
 * May a child that is not listed bind here? It could be an ancestor of this end.
 * Once the path from here to the receiver is fixed, it cannot lead through the
 * child.
 */
static bool child_rooted(const struct aggnet_tree *tree)
{
	return aggnet_tree_is_receiver(tree) || tree->up.rooted;
}

/* DONE of the newest round that is done, to the child that sent a packet. */
static void child_done(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		       struct aggnet_run *run)
{
	struct aggnet_done done = {
		.sources = cpu_to_be32(tree->done.sources),
		.partials = cpu_to_be32(tree->done.partials),
	};
	bool last = tree->conf.persist && tree->state == AGGNET_TREE_DONE;

	child_reply(tree, pkt, AGGNET_DONE, last ? AGGNET_F_LAST : 0, &done,
		    sizeof(done), run);
}

/* Answer with the state of the child's channel: DONE or ACK. */
static void child_answer(struct aggnet_tree *tree, struct aggnet_child *c,
			 const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	struct aggnet_ack ack;
	u16 flags = 0;

	c->asks = false;
	if (tree->state == AGGNET_TREE_DONE && child_finished(tree, c)) {
		child_done(tree, pkt, run);
		return;
	}
	child_grant(tree, c, run);
	aggnet_rxwin_ack(&c->win, &ack);
	ack.credit = cpu_to_be32(c->credit);
	if (child_finished(tree, c))
		flags |= AGGNET_F_FIN;
	if (child_rooted(tree))
		flags |= AGGNET_F_ROOTED;
	child_reply(tree, pkt, AGGNET_ACK, flags, &ack, sizeof(ack), run);
}

static void child_reply_abort(struct aggnet_tree *tree,
			      const struct aggnet_pkt *pkt,
			      struct aggnet_run *run)
{
	struct aggnet_abort_body body;
	u16 length = aggnet_put_abort(tree, &body);

	child_reply(tree, pkt, AGGNET_ABORT, AGGNET_F_REPLY, &body, length,
		    run);
}

/* Must an OPEN be dropped: neither answered nor passed on? */
static bool open_refused(struct aggnet_tree *tree,
			 const struct aggnet_pkt *pkt,
			 struct aggnet_run *run)
{
	struct aggnet_child *c = child_find(tree, pkt->src);

	/* A child that restarted cannot bind again: it would be counted twice. */
	if (c && c->nonce != pkt->src_nonce) {
		aggnet_stat_inc(tree->an, drop_nonce);
		return true;
	}
	/* Without a list it may be a planned child: it asks again, and by then the
	 * path from here to the receiver is fixed.
	 */
	if (!c && !child_list_kept(tree) && tree->acceptor.open &&
	    !child_rooted(tree)) {
		aggnet_tree_touch(tree, run);
		return true;
	}
	return false;
}

/* May a child that is not listed bind here, if there is room? */
static bool open_unlisted(const struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt)
{
	return child_rooted(tree) && (pkt->flags & AGGNET_F_ANY ||
				      !child_list_kept(tree));
}

static bool open_entitled(const struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt)
{
	return child_fits(tree, pkt->src) &&
	       (child_listed(tree, pkt->src) || open_unlisted(tree, pkt));
}

/*
 * The receiver is the last end on the path: an OPEN that it cannot serve is
 * refused.
 */
static void open_roomless(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  struct aggnet_run *run)
{
	if (aggnet_tree_is_receiver(tree) && tree->acceptor.open &&
	    open_unlisted(tree, pkt) && !child_fits(tree, pkt->src))
		tree->store.ops->refuse(tree, pkt->src, run);
}

static void open_check(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		       struct aggnet_run *run)
{
	const struct aggnet_open *open = (const void *)pkt->body;
	const struct aggnet_shape shape = {
		.function = open->function,
		.vtype = open->vtype,
		.layout = open->layout,
		.scale = open->scale,
		.k = be16_to_cpu(open->k),
		.elements = be64_to_cpu(open->elements),
	};

	aggnet_tree_touch(tree, run);
	if (aggnet_shape_equal(&shape, &tree->conf.shape) &&
	    open->direction == tree->conf.direction &&
	    open->persist == tree->conf.persist)
		return;
	aggnet_stat_inc(tree->an, drop_function);
	aggnet_tree_abort(tree, run, AGGNET_R_FUNCTION, aggnet_tree_self(tree),
			  pkt->src, 0);
}

bool aggnet_acceptor_open(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  struct aggnet_run *run)
{
	struct aggnet_accept accept = {
		.max_payload = cpu_to_be16(tree->packet.max_taken),
		.max_records = cpu_to_be16(tree->packet.max_records),
		.hop = min_t(u8, pkt->hop, AGGNET_HOP_MAX),
		.direction = tree->conf.direction,
	};

	if (open_refused(tree, pkt, run))
		return true;
	if (!child_find(tree, pkt->src)) {
		if (!open_entitled(tree, pkt)) {
			/* It may set F_ANY next: begin to get rooted. */
			aggnet_tree_touch(tree, run);
			open_roomless(tree, pkt, run);
			return false;
		}
		/* An aborted tree accepts, so that the child gets the ABORT. */
		if (tree->state != AGGNET_TREE_ABORTED && !tree->acceptor.open)
			return false;
	}
	if (tree->state != AGGNET_TREE_ABORTED)
		open_check(tree, pkt, run);
	child_reply(tree, pkt, AGGNET_ACCEPT, 0, &accept, sizeof(accept), run);
	return true;
}

/* Return: number of sources that a PROBE announces, plus 1; 0: it announces none */
static u32 probe_sources(const struct aggnet_pkt *pkt)
{
	const struct aggnet_probe *probe = (const void *)pkt->body;

	return pkt->length < sizeof(*probe) ? 0 : be32_to_cpu(probe->sources);
}

/*
 * At the receiver a flow has at most all sources. At another end it may have more
 * than the entry says: sources whose planned end is away bind elsewhere.
 */
static u32 child_sources(const struct aggnet_tree *tree, u32 sources)
{
	return aggnet_tree_is_receiver(tree) ?
	       min(sources, tree->conf.sources) : sources;
}

/*
 * Note how many sources a child's flow will have. If it is fewer than before, the
 * others may still come to the receiver by another path, and get the time that they
 * have after a bind. They get it once for each new minimum, so that a child cannot
 * postpone give_up for ever.
 */
static void child_expect(struct aggnet_tree *tree, struct aggnet_child *c,
			 u32 sources)
{
	sources = child_sources(tree, sources);
	tree->acceptor.told = tree->acceptor.told - c->sources + sources;
	c->sources = sources;
	if (sources >= c->fewest)
		return;
	c->fewest = sources;
	if (aggnet_tree_is_receiver(tree))
		tree->acceptor.bound_at = jiffies;
}

/* Take what a PROBE announces; it is the newest packet of the child. */
static void child_probe(struct aggnet_tree *tree, struct aggnet_child *c,
			const struct aggnet_pkt *pkt)
{
	const struct aggnet_probe *probe = (const void *)pkt->body;
	u32 sources = probe_sources(pkt);
	u32 names;

	if (!sources || child_finished(tree, c))
		return;
	child_expect(tree, c, sources - 1);
	names = min_t(u32, be32_to_cpu(probe->names), AGGNET_NAMES_MAX);
	aggnet_acceptor_names(tree, pkt, sizeof(*probe), names);
}

static struct aggnet_child *child_bind(struct aggnet_tree *tree,
				       const struct aggnet_pkt *pkt,
				       struct aggnet_run *run)
{
	struct aggnet_child *c = child_slot(tree, pkt->src);
	const __be32 *listed = child_listed(tree, pkt->src);
	bool extra;

	aggnet_tree_touch(tree, run);
	if (listed)
		__set_bit(listed - tree->conf.children, tree->acceptor.came);
	c->id = pkt->src;
	c->nonce = pkt->src_nonce;
	c->cookie = pkt->dst_nonce;
	c->stamp = pkt->stamp;
	c->heard = jiffies;
	c->credit = AGGNET_SEQ_FIRST;
	aggnet_rxwin_init(&c->win, AGGNET_SEQ_FIRST);
	extra = child_extra(tree, c->id);
	tree->acceptor.unplanned += extra;
	if (extra)
		tree->acceptor.refused = false;
	/* A child that announces no number is assumed to have all sources. */
	c->sources = (probe_sources(pkt) ?: tree->conf.sources + 1) - 1;
	c->sources = child_sources(tree, c->sources);
	c->fewest = c->sources;
	tree->acceptor.told += c->sources;
	tree->acceptor.bound++;
	tree->acceptor.bound_total++;
	tree->store.ops->bind(tree, c, extra);
	child_count_dry(tree, c);
	tree->acceptor.bound_at = jiffies;
	tree->acceptor.refused_child = 0;	/* if it still waits it asks again */
	return c;
}

/*
 * The answer repeats the child's reason, as this tree may be DONE and have none. Any
 * answer ends the child's retransmissions.
 */
static void child_abort(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
			struct aggnet_run *run)
{
	const struct aggnet_abort *body = (const void *)pkt->body;
	u32 reason = be32_to_cpu(body->reason);

	if (!reason || reason >= __AGGNET_R_MAX)
		reason = AGGNET_R_PROTOCOL;
	if (tree->state < AGGNET_TREE_DONE) {
		tree->outcome.lost.n = 0;
		aggnet_acceptor_names(tree, pkt, sizeof(*body),
				      AGGNET_NAMES_MAX);
	}
	aggnet_tree_abort(tree, run, reason, body->origin, body->about,
			  be32_to_cpu(body->missing));
	if (!(pkt->flags & AGGNET_F_REPLY))
		child_reply(tree, pkt, AGGNET_ABORT, AGGNET_F_REPLY, pkt->body,
			    pkt->length, run);
}

/* Find the child that sent a packet, or bind it. NULL: the packet was answered or
 * dropped.
 */
static struct aggnet_child *child_of(struct aggnet_tree *tree,
				     const struct aggnet_pkt *pkt,
				     struct aggnet_run *run)
{
	struct aggnet_child *c;

	if (pkt->dst_nonce != child_cookie(tree, pkt->src, pkt->src_nonce)) {
		aggnet_stat_inc(tree->an, drop_nonce);
		aggnet_acceptor_send_rst(tree, pkt, AGGNET_RST_NONCE, run);
		return NULL;
	}
	c = child_find(tree, pkt->src);
	if (c && c->nonce != pkt->src_nonce) {
		aggnet_stat_inc(tree->an, drop_nonce);
		return NULL;
	}
	if (tree->state == AGGNET_TREE_ABORTED) {
		if (!(pkt->flags & AGGNET_F_REPLY))
			child_reply_abort(tree, pkt, run);
		return NULL;
	}
	if (c) {
		tree->acceptor.last = c;
		return c;
	}
	/*
	 * Only a PROBE binds. Until it is answered the child has sent no DATA and
	 * may go elsewhere. An RST tells it to: after that no copy of its PROBE
	 * may bind.
	 */
	if (pkt->type == AGGNET_PROBE && pkt->round == tree->round &&
	    tree->acceptor.open && child_fits(tree, pkt->src))
		return child_bind(tree, pkt, run);
	if (pkt->type == AGGNET_ABORT) {
		child_abort(tree, pkt, run);
		return NULL;
	}
	aggnet_acceptor_send_rst(tree, pkt, AGGNET_RST_CLOSED, run);
	if (tree->acceptor.open) {
		tree->acceptor.refusals += child_extra(tree, pkt->src);
		/* An unbound child that sends ABORT or FIN needs no room. */
		if (pkt->type == AGGNET_PROBE)
			tree->store.ops->refuse(tree, pkt->src, run);
	}
	return NULL;
}

void aggnet_acceptor_parse(const struct aggnet_tree *tree,
			   struct aggnet_pkt *pkt)
{
	u32 len = pkt->length - sizeof(struct aggnet_data);

	pkt->records = len > tree->packet.max_taken ? -EBADMSG :
		       aggnet_parse_lengths(&tree->conf.shape, false,
					    pkt->body + sizeof(struct aggnet_data),
					    len, tree->packet.max_records,
					    &pkt->lengths);
}

/* Check the whole DATA packet before any record of it is merged. */
static bool data_ok(const struct aggnet_tree *tree,
		    const struct aggnet_child *c, const struct aggnet_pkt *pkt)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	u32 records = be16_to_cpu(data->records);

	if (!aggnet_before(be32_to_cpu(data->seq), c->credit) ||
	    be32_to_cpu(data->seq) - AGGNET_SEQ_FIRST >=
	    AGGNET_SEQ_END - AGGNET_SEQ_FIRST) {
		aggnet_stat_inc(tree->an, drop_window);
		return false;
	}
	if (!records || pkt->records != (int)records ||
	    !data->weight == tree->store.ops->weighs ||
	    be64_to_cpu(data->represents) < records) {
		aggnet_stat_inc(tree->an, drop_body);
		return false;
	}
	return true;
}

static void child_data(struct aggnet_tree *tree, struct aggnet_child *c,
		       const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	u32 seq = be32_to_cpu(data->seq);

	c->asks = pkt->flags & AGGNET_F_ACK || seq != c->win.cum;
	switch (aggnet_rxwin_test(&c->win, seq)) {
	case AGGNET_SEQ_DUP:
		aggnet_stat_inc(tree->an, duplicates);
		break;
	case AGGNET_SEQ_OUTSIDE:
		aggnet_stat_inc(tree->an, drop_window);
		break;
	case AGGNET_SEQ_NEW:
		if (!data_ok(tree, c, pkt) ||
		    !tree->store.ops->merge(tree, c, pkt, run)) {
			c->asks = false;
			return;
		}
		aggnet_rxwin_mark(&c->win, seq);
		c->received++;
		tree->acceptor.credits--;
		child_count_dry(tree, c);
		tree->count.packets_in++;
		tree->count.bytes_in += pkt->length - sizeof(*data);
		tree->store.ops->moved(tree, run);
		break;
	}
}

/* Was DATA merged beyond the first hole? A FIN cannot end before that DATA. */
static bool child_holed(const struct aggnet_child *c)
{
	return c->received != c->win.cum - AGGNET_SEQ_FIRST;
}

/*
 * Has the FIN records but no source? Only an end that is not of the tree sends
 * that.
 */
static bool fin_sourceless(const struct aggnet_child *c,
			   const struct aggnet_fin *fin)
{
	return !fin->weight && (fin->records || fin->members || fin->check ||
				c->received);
}

/* Packets by plain IP, by cause; the sums stay at their highest value. */
static void child_fell_back(struct aggnet_tree *tree, const struct aggnet_fin *fin)
{
	enum aggnet_fallback why;

	for (why = AGGNET_FALLBACK_LINK; why < __AGGNET_FALLBACK_MAX; why++)
		aggnet_add_most(&tree->below[why],
				be32_to_cpu(fin->by_plain_ip[why - AGGNET_FALLBACK_LINK]));
}

static void child_check(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
			const struct aggnet_fin *fin)
{
	struct aggnet_books *b = &tree->books;

	if (pkt->flags & AGGNET_F_CHECK)
		b->check = aggnet_fp_add(aggnet_fp_kind(&tree->conf.shape),
					 b->check, be64_to_cpu(fin->check));
	else if (fin->weight)
		b->unchecked = true;
}

/*
 * The child sends no DATA any more in this round: take back its credit, which ends
 * with the round. The first one of the next round has its claim.
 */
static void child_take_back(struct aggnet_tree *tree, struct aggnet_child *c)
{
	tree->acceptor.credits -= aggnet_child_outstanding(c);
	c->credit -= aggnet_child_outstanding(c);
	if (c->waits_for_credit) {
		c->waits_for_credit = false;
		tree->acceptor.waits_for_credit--;
	}
	child_count_dry(tree, c);
}

/* Only the root ends a tree that leads down, and its FIN has told so. */
static bool fin_ends_other_round(const struct aggnet_tree *tree,
				 const struct aggnet_pkt *pkt)
{
	return aggnet_tree_leads_down(tree) && tree->conf.persist &&
	       !!(pkt->flags & AGGNET_F_LAST) != tree->last;
}

static void child_fin(struct aggnet_tree *tree, struct aggnet_child *c,
		      const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	const struct aggnet_fin *fin = (const void *)pkt->body;

	if (child_finished(tree, c) || be32_to_cpu(fin->final) != c->win.cum)
		goto answer;
	if (child_holed(c) || fin_sourceless(c, fin) ||
	    fin_ends_other_round(tree, pkt)) {
		aggnet_tree_abort(tree, run, AGGNET_R_PROTOCOL,
				  aggnet_tree_self(tree), c->id, 0);
		return;
	}
	c->rounds++;
	c->left = !tree->conf.persist || pkt->flags & AGGNET_F_LAST;
	tree->last |= c->left;
	/* An end without sources may sleep again: later rounds do not wait for it. */
	if (!fin->weight) {
		c->left = true;
		tree->acceptor.empty++;
	}
	child_take_back(tree, c);
	if (!tree->store.ops->fin(tree, c, be32_to_cpu(fin->weight), run))
		return;
	tree->acceptor.bound--;
	child_expect(tree, c, be32_to_cpu(fin->weight));
	tree->acceptor.told -= c->sources;
	tree->books.weight += be32_to_cpu(fin->weight);
	tree->books.members += be32_to_cpu(fin->members);
	tree->books.records += be64_to_cpu(fin->records);
	tree->books.partials += be32_to_cpu(fin->partials);
	child_fell_back(tree, fin);
	child_check(tree, pkt, fin);
	aggnet_acceptor_names(tree, pkt, sizeof(*fin), AGGNET_NAMES_MAX);
	aggnet_tree_advance(tree, run);
	aggnet_acceptor_feed(tree, run);
	if (tree->state == AGGNET_TREE_ABORTED)
		return;
answer:
	child_answer(tree, c, pkt, run);
}

/*
 * A packet of another round. Only a child whose DONE was lost is in the round before,
 * or, without sources, in an earlier one, and it repeats its FIN; all else of that
 * round came late. What an ABORT says holds in any round.
 */
static void child_other_round(struct aggnet_tree *tree,
			      const struct aggnet_pkt *pkt,
			      struct aggnet_run *run)
{
	if (pkt->type == AGGNET_ABORT)
		child_abort(tree, pkt, run);
	else if (pkt->type == AGGNET_FIN && pkt->round < tree->round)
		child_done(tree, pkt, run);
	else
		aggnet_stat_inc(tree->an, drop_round);
}

void aggnet_acceptor_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
			struct aggnet_run *run)
{
	struct aggnet_child *c = child_of(tree, pkt, run);
	bool fresh;

	if (!c)
		return;
	fresh = aggnet_fresh(&c->stamp, pkt->stamp, c->heard,
			     tree->conf.give_up_ms);
	if (fresh)
		c->heard = jiffies;
	/* By a node that only forwards, which sends no FIN */
	if (fresh && pkt->fallback)
		aggnet_add_most(&tree->below[pkt->fallback], 1);
	if (pkt->round != tree->round) {
		child_other_round(tree, pkt, run);
		return;
	}
	switch (pkt->type) {
	case AGGNET_DATA:
		child_data(tree, c, pkt, run);
		break;
	case AGGNET_FIN:
		child_fin(tree, c, pkt, run);
		break;
	case AGGNET_ABORT:
		child_abort(tree, pkt, run);
		break;
	case AGGNET_ACK:
		aggnet_branch_ack(tree, c, pkt, fresh, run);
		return;
	default:
		if (fresh)
			child_probe(tree, c, pkt);
		child_answer(tree, c, pkt, run);
	}
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, run);
	/*
	 * Packets that left have made room, so that one ACK tells custody and credit.
	 * If the room is short nevertheless, more packets are to leave.
	 */
	if (c->asks && tree->state != AGGNET_TREE_ABORTED) {
		child_answer(tree, c, pkt, run);
		if (aggnet_tree_may_emit(tree))
			aggnet_uplink_push(tree, run);
	}
	if (pkt->type != AGGNET_DATA)
		aggnet_uplink_tell(tree, false, run);
}

void aggnet_acceptor_feed(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_acceptor *a = &tree->acceptor;
	u32 n = min(a->mask + 1, (u32)CHILD_SCAN);
	struct aggnet_pkt pkt = {};
	struct aggnet_child *c;

	a->unfed = false;
	/* The next run begins with the first child that got no credit. */
	for (; n && a->waits_for_credit; n--, a->cursor++) {
		c = &a->child[a->cursor & a->mask];
		if (!c->waits_for_credit)
			continue;
		if (skb_queue_len(&run->packets) >= AGGNET_PACKETS) {
			a->unfed = true;
			break;
		}
		if (!tree->store.ops->fits(tree, c)) {
			if (tree->store.ops->shared)
				break;
			continue;
		}
		pkt.src = c->id;
		pkt.src_nonce = c->nonce;
		child_answer(tree, c, &pkt, run);
	}
}

void aggnet_acceptor_tell_on(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_acceptor *a = &tree->acceptor;
	u32 slots = a->mask + 1;
	u32 end = min(slots, a->tell + CHILD_SCAN);
	struct aggnet_abort_body abort;
	struct aggnet_pkt pkt = {};
	struct aggnet_child *c;
	u16 length;

	length = aggnet_put_abort(tree, &abort);
	while (a->tell < end && skb_queue_len(&run->packets) < AGGNET_PACKETS) {
		c = &a->child[a->tell++];
		if (!c->id)
			continue;
		pkt.src = c->id;
		pkt.src_nonce = c->nonce;
		if (tree->state == AGGNET_TREE_ABORTED)
			child_reply(tree, &pkt, AGGNET_ABORT, 0, &abort, length,
				    run);
		else
			child_done(tree, &pkt, run);
		/* The first credit of the round. */
		if (tree->state < AGGNET_TREE_DONE)
			child_answer(tree, c, &pkt, run);
	}
	a->told_all = a->tell == slots;
}

void aggnet_acceptor_tell(struct aggnet_tree *tree, struct aggnet_run *run)
{
	tree->acceptor.tell = 0;
	aggnet_acceptor_tell_on(tree, run);
}

void aggnet_acceptor_next_round(struct aggnet_tree *tree)
{
	struct aggnet_acceptor *a = &tree->acceptor;

	/* All have finished the round before with what they had announced. */
	a->told = tree->books.weight;
	a->bound = a->bound_total - a->empty;
}

u32 aggnet_acceptor_looks(const struct aggnet_tree *tree)
{
	return max_t(u32, 1, (tree->acceptor.mask + 1) / CHILD_LOOKS /
			     CHILD_LOOK_MAX);
}

/*
 * The timer expires eight times in give_up, and each time a quarter of the slots is
 * checked, so all are in half of give_up. If a quarter is more than one run may
 * check, the timer expires more often, up to 128 times.
 */
struct aggnet_child *aggnet_acceptor_silent(struct aggnet_tree *tree,
					    unsigned long silence)
{
	struct aggnet_acceptor *a = &tree->acceptor;
	u32 slots = a->mask + 1;
	u32 n = min(slots, clamp_t(u32, slots / CHILD_LOOKS, CHILD_SCAN,
				   CHILD_LOOK_MAX));
	struct aggnet_child *c;

	for (; n; n--) {
		c = &a->child[a->silence_cursor++ & a->mask];
		if (c->id && !child_finished(tree, c) &&
		    time_after(jiffies, c->heard + silence))
			return c;
	}
	return NULL;
}
