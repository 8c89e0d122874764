// SPDX-License-Identifier: GPL-2.0
/* Socket of a source or of the receiver, or of the root or a member of a tree that
 * leads down: system calls, waiting and permission. tree.h and cast.h have their effects
 * on the flow.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/inet_common.h>
#include <net/protocol.h>
#include <net/sock.h>

#include "core/record.h"
#include "ctl/socket.h"
#include "flow/host.h"
#include "flow/tree.h"
#include "flow/tree_table.h"
#include "mem.h"
#include "netns.h"

/* Bytes that are copied between a tree and the caller's bounce buffer under one hold
 * of the tree's lock. This bounds the time with BH disabled.
 */
#define AGGNET_SLICE	(16u << 10)

#define AGGNET_POLL_ALL	(EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM | \
			 EPOLLERR | EPOLLHUP | EPOLLRDHUP)

/* The tree of a joined socket, which keeps it until close. */
static struct aggnet_tree *aggnet_sock_tree(struct sock *sk, u8 *role)
{
	struct aggnet_sock *as = aggnet_sk(sk);

	/* pairs with the release in aggnet_sock_join() */
	*role = smp_load_acquire(&as->role);
	return *role == AGGNET_SOCK_NEW ? NULL : as->tree;
}

/* --- joining -------------------------------------------------------------- */

static bool aggnet_sock_permitted(const struct net *net,
				  const struct aggnet_tree_conf *conf)
{
	if (uid_valid(conf->uid) && uid_eq(current_euid(), conf->uid))
		return true;
	if (gid_valid(conf->gid) && in_egroup_p(conf->gid))
		return true;
	return ns_capable(net->user_ns, CAP_NET_ADMIN);
}

static int aggnet_sock_join_tree(struct aggnet_sock *as, u8 role)
{
	const struct aggnet_tree_conf *conf = &as->tree->conf;

	if (conf->forward_only)
		return -EADDRNOTAVAIL;
	if (role == AGGNET_SOCK_READER)
		return aggnet_tree_join_reader(as->tree, &as->local);
	if (!conf->writers)
		return -EADDRNOTAVAIL;
	return aggnet_tree_join_writer(as->tree, &as->local);
}

static bool aggnet_sock_epoch_ok(const struct aggnet_sock *as,
				 const struct aggnet_tree_conf *conf)
{
	return !as->has_epoch || (conf->instance == as->epoch.instance &&
				  conf->attempt == as->epoch.attempt);
}

/*
 * Find the entry that a socket may join. A socket that is not permitted, or asks for
 * another epoch, gets no reference: it would keep the memory of an entry that has
 * been withdrawn.
 */
static int aggnet_sock_find(struct sock *sk, __be32 receiver, u32 job)
{
	struct aggnet_net *an = aggnet_net(sock_net(sk));
	struct aggnet_sock *as = aggnet_sk(sk);
	int err = 0;

	if (as->tree)
		aggnet_tree_put(as->tree);
	as->tree = aggnet_tree_table_get(an, (u64)job << 32 | ntohl(receiver));
	if (!as->tree)
		return -ENETUNREACH;
	if (!aggnet_sock_permitted(sock_net(sk), &as->tree->conf))
		err = -EACCES;
	else if (!aggnet_sock_epoch_ok(as, &as->tree->conf))
		err = -ESTALE;
	if (!err)
		return 0;
	aggnet_tree_put(as->tree);
	as->tree = NULL;
	return err;
}

/* Another thread may wait for what has changed on this socket. */
static void aggnet_sock_wake(struct sock *sk)
{
	wake_up_interruptible_poll(sk_sleep(sk), AGGNET_POLL_ALL);
}

/* A tree that refuses stays referenced until the next attempt or close, so that
 * AGGNET_SO_STATUS has the reason.
 */
static int aggnet_sock_join(struct sock *sk, u8 role, __be32 receiver, u32 job)
{
	struct aggnet_sock *as = aggnet_sk(sk);
	int err = -EISCONN;

	lock_sock(sk);
	if (as->role != AGGNET_SOCK_NEW)
		goto unlock;
	err = aggnet_sock_find(sk, receiver, job);
	if (!err)
		err = aggnet_sock_join_tree(as, role);
	if (!err) {
		/* publishes as->tree */
		smp_store_release(&as->role, role);
		aggnet_sock_wake(sk);
	}
unlock:
	release_sock(sk);
	return err;
}

static int aggnet_sock_address(const struct sockaddr *addr, int len)
{
	const struct sockaddr_aggnet *sag = (const void *)addr;

	if (len < (int)sizeof(*sag))
		return -EINVAL;
	if (sag->sag_family != AF_INET)
		return -EAFNOSUPPORT;
	if (sag->sag_zero1 || sag->sag_zero2)
		return -EINVAL;
	return 0;
}

static int aggnet_sock_bind(struct socket *sock, struct sockaddr *addr, int len)
{
	const struct sockaddr_aggnet *sag = (const void *)addr;
	__be32 identity;
	int err;

	err = aggnet_sock_address(addr, len);
	if (err)
		return err;
	identity = READ_ONCE(aggnet_net(sock_net(sock->sk))->identity);
	if (!identity || (sag->sag_receiver && sag->sag_receiver != identity))
		return -EADDRNOTAVAIL;
	return aggnet_sock_join(sock->sk, AGGNET_SOCK_READER, identity,
				sag->sag_job);
}

static int aggnet_sock_connect(struct socket *sock, struct sockaddr *addr,
			       int len, int flags)
{
	const struct sockaddr_aggnet *sag = (const void *)addr;
	int err;

	err = aggnet_sock_address(addr, len);
	if (err)
		return err;
	err = aggnet_sock_join(sock->sk, AGGNET_SOCK_WRITER, sag->sag_receiver,
			       sag->sag_job);
	if (!err)
		sock->state = SS_CONNECTED;
	return err;
}

static int aggnet_sock_getname(struct socket *sock, struct sockaddr *addr,
			       int peer)
{
	struct sockaddr_aggnet *sag = (void *)addr;
	struct aggnet_tree *tree;
	u8 role;

	tree = aggnet_sock_tree(sock->sk, &role);
	if (peer && role != AGGNET_SOCK_WRITER)
		return -ENOTCONN;
	memset(sag, 0, sizeof(*sag));
	sag->sag_family = AF_INET;
	if (peer || role == AGGNET_SOCK_READER) {
		sag->sag_receiver = aggnet_tree_receiver(tree);
		sag->sag_job = tree->conf.incast_id >> 32;
	}
	return sizeof(*sag);
}

/* --- waiting -------------------------------------------------------------- */

/* Call after an attempt returned -EAGAIN that began after @wait was queued. */
static int aggnet_sock_wait(struct wait_queue_entry *wait, long *timeo)
{
	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	*timeo = wait_woken(wait, TASK_INTERRUPTIBLE, *timeo);
	return 0;
}

void aggnet_host_wake(struct aggnet_tree *tree)
{
	bool aborted = tree->state == AGGNET_TREE_ABORTED;
	struct aggnet_sock *as;
	struct socket_wq *wq;

	lockdep_assert_held(&tree->lock);
	rcu_read_lock();
	list_for_each_entry(as, &tree->local.list, local.list) {
		struct sock *sk = &as->inet.sk;

		if (aborted)
			WRITE_ONCE(sk->sk_err,
				   -aggnet_reason_errno(tree->outcome.reason));
		wq = rcu_dereference(sk->sk_wq);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_poll(&wq->wait, AGGNET_POLL_ALL);
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_IN);
	}
	rcu_read_unlock();
}

static __poll_t aggnet_sock_poll(struct file *file, struct socket *sock,
				 poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct aggnet_tree *tree;
	u8 role;

	sock_poll_wait(file, sock, wait);
	tree = aggnet_sock_tree(sk, &role);
	return tree ? aggnet_tree_poll(tree, &aggnet_sk(sk)->local) : EPOLLHUP;
}

/* --- sending -------------------------------------------------------------- */

/* A member of this role sends; the other ones receive. */
static bool aggnet_sock_sends(const struct aggnet_tree *tree, u8 role)
{
	return (role == AGGNET_SOCK_READER) == aggnet_tree_leads_down(tree);
}

/* Bytes of the complete records at the front of a buffer, well formed or not. */
static size_t aggnet_sock_whole(const u8 *buf, size_t len)
{
	size_t off = 0;

	while (len - off >= 2) {
		size_t size = 2 + buf[off] + buf[off + 1];

		if (size > len - off)
			break;
		off += size;
	}
	return off;
}

/**
 * aggnet_sock_fetch() - copy the next whole records from the caller
 * @tree: joined by the writer
 * @msg: advanced by what was fetched
 * @buf: filled
 * @len: bytes left in @msg, at most the size of @buf
 * @records: set to the number of records
 *
 * If the tree leads down all bytes are fetched: they are no records.
 *
 * Return: bytes of the records, -EFAULT, -EINVAL: no well-formed record, or
 * -ERANGE: a value does not fit the tree's type
 */
static int aggnet_sock_fetch(const struct aggnet_tree *tree,
			     struct msghdr *msg, u8 *buf, size_t len,
			     int *records)
{
	size_t whole;

	if (!copy_from_iter_full(buf, len, &msg->msg_iter))
		return -EFAULT;
	*records = 0;
	if (aggnet_tree_leads_down(tree))
		return len;
	whole = aggnet_sock_whole(buf, len);
	iov_iter_revert(&msg->msg_iter, len - whole);
	*records = aggnet_parse_records(&tree->conf.shape, true, buf, whole,
					whole);
	if (*records == -ERANGE)
		return -ERANGE;
	return *records > 0 ? whole : -EINVAL;
}

/* Give what is in @buf to the tree. Return: bytes taken, or an errno */
static int aggnet_sock_put(struct sock *sk, struct aggnet_tree *tree,
			   const u8 *buf, size_t len, int records)
{
	if (aggnet_tree_leads_down(tree))
		return aggnet_cast_write(tree, buf, len);
	return aggnet_tree_write(tree, &aggnet_sk(sk)->local, buf, len, records);
}

/* Number of records in what is left of @buf. */
static int aggnet_sock_count(const struct aggnet_tree *tree, const u8 *buf,
			     size_t len)
{
	if (aggnet_tree_leads_down(tree))
		return 0;
	return aggnet_parse_records(&tree->conf.shape, true, buf, len, len);
}

/* Give all of @buf, and wait for room where needed. Return: bytes that were taken, or an
 * errno if there are none.
 */
static int aggnet_sock_push(struct sock *sk, struct aggnet_tree *tree,
			    const u8 *buf, size_t len, int records, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	size_t done = 0;
	int ret;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		ret = aggnet_sock_put(sk, tree, buf + done, len - done, records);
		if (ret > 0) {
			done += ret;
			if (done == len)
				break;
			records = aggnet_sock_count(tree, buf + done,
						    len - done);
			continue;
		}
		if (ret == -EAGAIN)
			ret = aggnet_sock_wait(&wait, timeo);
		if (ret)
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return done ? done : ret;
}

/* A slice of a stream fills its packets. */
static size_t aggnet_sock_slice(const struct aggnet_tree *tree)
{
	return aggnet_tree_leads_down(tree) ?
	       rounddown(AGGNET_SLICE, AGGNET_CAST_PAYLOAD) : AGGNET_SLICE;
}

/* Send records or bytes; returns as send() does. */
static int aggnet_sock_send(struct sock *sk, struct aggnet_tree *tree,
			    struct msghdr *msg, size_t len, long *timeo)
{
	size_t slice = min(len, aggnet_sock_slice(tree));
	size_t sent = 0;
	int ret = 0, records;
	u8 *buf;

	if (!len)
		return 0;
	buf = aggnet_zalloc(slice, GFP_KERNEL_ACCOUNT);
	if (!buf)
		return -ENOMEM;
	while (sent < len) {
		int got = aggnet_sock_fetch(tree, msg, buf,
					    min(len - sent, slice), &records);

		ret = got;
		if (got > 0)
			ret = aggnet_sock_push(sk, tree, buf, got, records,
					       timeo);
		if (ret > 0)
			sent += ret;
		if (ret < got || ret < 0)
			break;
	}
	aggnet_free(buf);
	return sent ? sent : ret;
}

/*
 * End the sender's part of the present round; wait for the round to begin. If bytes of
 * this call (@sent) are in a round that another thread has ended, nothing is left to do.
 */
static int aggnet_sock_end_round(struct sock *sk, struct aggnet_tree *tree,
				 int sent, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int ret;

	add_wait_queue(sk_sleep(sk), &wait);
	do {
		ret = aggnet_tree_leads_down(tree) ?
		      aggnet_cast_end(tree, false) :
		      aggnet_tree_end_round(tree, &aggnet_sk(sk)->local);
		if (ret == -EAGAIN && sent && aggnet_tree_leads_down(tree))
			ret = 0;
		if (ret != -EAGAIN)
			break;
		ret = aggnet_sock_wait(&wait, timeo);
	} while (!ret);
	remove_wait_queue(sk_sleep(sk), &wait);
	return ret;
}

static int aggnet_sock_sendmsg(struct socket *sock, struct msghdr *msg,
			       size_t len)
{
	struct sock *sk = sock->sk;
	struct aggnet_tree *tree;
	int sent, err = 0;
	long timeo;
	u8 role;

	tree = aggnet_sock_tree(sk, &role);
	if (!tree)
		return -ENOTCONN;
	if (!aggnet_sock_sends(tree, role) || msg->msg_flags & MSG_OOB ||
	    (msg->msg_flags & MSG_EOR && !tree->conf.persist))
		return -EOPNOTSUPP;
	if (msg->msg_namelen)
		return -EISCONN;
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	sent = aggnet_sock_send(sk, tree, msg,
				min_t(size_t, len, AGGNET_SEND_MAX), &timeo);
	/* A round ends with all bytes of the call, or goes on. */
	if (msg->msg_flags & MSG_EOR && sent == (ssize_t)len)
		err = aggnet_sock_end_round(sk, tree, sent, &timeo);
	return err ?: sent;
}

static int aggnet_sock_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct aggnet_tree *tree;
	u8 role;
	int err;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	tree = aggnet_sock_tree(sk, &role);
	if (!tree)
		return -ENOTCONN;
	if (!aggnet_sock_sends(tree, role) || how != SHUT_WR)
		return -EOPNOTSUPP;
	err = aggnet_tree_leads_down(tree) ? aggnet_cast_end(tree, true) :
	      aggnet_tree_shutdown(tree, &aggnet_sk(sk)->local);
	if (!err)
		aggnet_sock_wake(sk);
	return err;
}

/* --- receiving ------------------------------------------------------------ */

/* Wait for the outcome as the one that sends. Return: 0: DONE */
static int aggnet_sock_await(struct sock *sk, struct aggnet_tree *tree,
			     int flags)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int ret;

	add_wait_queue(sk_sleep(sk), &wait);
	do {
		ret = aggnet_tree_outcome(tree, &aggnet_sk(sk)->local,
					  flags & MSG_PEEK);
		if (ret)
			break;
		ret = aggnet_sock_wait(&wait, &timeo);
	} while (!ret);
	remove_wait_queue(sk_sleep(sk), &wait);
	return ret > 0 ? 0 : ret;
}

/* Get the next message. Return: its bytes behind the head, or an errno */
static int aggnet_sock_get(struct sock *sk, struct aggnet_tree *tree,
			   struct aggnet_msg *head, u8 *buf, size_t len,
			   bool peek)
{
	if (aggnet_tree_leads_down(tree))
		return aggnet_cast_read(tree, &aggnet_sk(sk)->local, head, buf,
					len, peek);
	return aggnet_tree_read(tree, head, buf, len, peek);
}

static int aggnet_sock_pull(struct sock *sk, struct aggnet_tree *tree,
			    struct aggnet_msg *head, u8 *buf, size_t len,
			    int flags)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int ret;

	add_wait_queue(sk_sleep(sk), &wait);
	do {
		ret = aggnet_sock_get(sk, tree, head, buf, len,
				      flags & MSG_PEEK);
		if (ret != -EAGAIN)
			break;
		ret = aggnet_sock_wait(&wait, &timeo);
	} while (!ret);
	remove_wait_queue(sk_sleep(sk), &wait);
	return ret;
}

/*
 * Note whether a message was copied out (@fault: it was not). Records that were not
 * copied are lost, which ends the transfer. The end mark, in @buf, can be read
 * again; DONE is raised only after it was copied.
 */
static int aggnet_sock_taken(struct sock *sk, struct aggnet_tree *tree, u8 type,
			     const u8 *buf, bool fault)
{
	const struct aggnet_end *end = (const void *)buf;

	if (type == AGGNET_MSG_END && !fault && aggnet_tree_leads_down(tree))
		return aggnet_cast_take_end(tree, &aggnet_sk(sk)->local,
					    end->round);
	if (type == AGGNET_MSG_END)
		return fault ? -EFAULT : aggnet_tree_end(tree, end->round);
	aggnet_tree_taken(tree, fault);
	return fault ? -EFAULT : 0;
}

static int aggnet_sock_read(struct sock *sk, struct aggnet_tree *tree,
			    struct msghdr *msg, size_t len, int flags)
{
	struct aggnet_msg head = {};
	int ret, err = 0;
	size_t room;
	bool fault;
	u8 *buf;

	if (len < sizeof(head) + AGGNET_RECORD_MAX)
		return -EMSGSIZE;
	room = flags & MSG_PEEK ? AGGNET_RECORD_MAX :
	       min_t(size_t, len - sizeof(head), AGGNET_SLICE);
	buf = aggnet_zalloc(room, GFP_KERNEL_ACCOUNT);
	if (!buf)
		return -ENOMEM;
	ret = aggnet_sock_pull(sk, tree, &head, buf, room, flags);
	if (ret < 0)
		goto free;
	fault = copy_to_iter(&head, sizeof(head), &msg->msg_iter) !=
		sizeof(head) || copy_to_iter(buf, ret, &msg->msg_iter) != ret;
	if (!(flags & MSG_PEEK))
		err = aggnet_sock_taken(sk, tree, head.type, buf, fault);
	else if (fault)
		err = -EFAULT;
	ret = err ?: ret + (int)sizeof(head);
free:
	aggnet_free(buf);
	return ret;
}

static int aggnet_sock_recvmsg(struct socket *sock, struct msghdr *msg,
			       size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct aggnet_tree *tree;
	u8 role;

	msg->msg_namelen = 0;
	tree = aggnet_sock_tree(sk, &role);
	if (!tree)
		return -ENOTCONN;
	if (flags & (MSG_OOB | MSG_ERRQUEUE))
		return -EOPNOTSUPP;
	if (!aggnet_sock_sends(tree, role))
		return aggnet_sock_read(sk, tree, msg, len, flags);
	return aggnet_sock_await(sk, tree, flags);
}

/* --- options -------------------------------------------------------------- */

/* May a member of this role end the transfer for this reason? */
static bool aggnet_sock_may_raise(const struct aggnet_tree *tree, u8 role,
				  u32 reason)
{
	switch (reason) {
	case AGGNET_R_USER:
		return true;
	case AGGNET_R_SENDER:
		return aggnet_sock_sends(tree, role);
	case AGGNET_R_MISMATCH:
	case AGGNET_R_OVERFLOW:
	case AGGNET_R_RECEIVER:
		return !aggnet_sock_sends(tree, role);
	}
	return false;
}

static int aggnet_sock_set_abort(struct sock *sk, sockptr_t optval,
				 unsigned int len)
{
	struct aggnet_tree *tree;
	u32 reason;
	u8 role;

	if (len != sizeof(reason))
		return -EINVAL;
	if (copy_from_sockptr(&reason, optval, sizeof(reason)))
		return -EFAULT;
	tree = aggnet_sock_tree(sk, &role);
	if (!tree)
		return -ENOTCONN;
	if (!aggnet_sock_may_raise(tree, role, reason))
		return -EINVAL;
	aggnet_tree_abort_user(tree, reason);
	return 0;
}

static int aggnet_sock_set_epoch(struct sock *sk, sockptr_t optval,
				 unsigned int len)
{
	struct aggnet_sock *as = aggnet_sk(sk);
	struct aggnet_epoch epoch;
	int err = 0;

	if (len != sizeof(epoch))
		return -EINVAL;
	if (copy_from_sockptr(&epoch, optval, sizeof(epoch)))
		return -EFAULT;
	lock_sock(sk);
	if (as->role == AGGNET_SOCK_NEW) {
		as->epoch = epoch;
		as->has_epoch = true;
	} else {
		err = -EISCONN;
	}
	release_sock(sk);
	return err;
}

static int aggnet_sock_set_check(struct sock *sk, sockptr_t optval,
				 unsigned int len)
{
	struct aggnet_tree *tree;
	u64 check;
	u8 role;

	if (len != sizeof(check))
		return -EINVAL;
	if (copy_from_sockptr(&check, optval, sizeof(check)))
		return -EFAULT;
	tree = aggnet_sock_tree(sk, &role);
	if (!tree || !aggnet_sock_sends(tree, role))
		return -ENOTCONN;
	if (aggnet_tree_leads_down(tree))
		return aggnet_cast_set_check(tree, check);
	return aggnet_tree_set_check(tree, &aggnet_sk(sk)->local, check);
}

static int aggnet_sock_setsockopt(struct socket *sock, int level, int name,
				  sockptr_t optval, unsigned int len)
{
	if (level == SOL_AGGNET && name == AGGNET_SO_ABORT)
		return aggnet_sock_set_abort(sock->sk, optval, len);
	if (level == SOL_AGGNET && name == AGGNET_SO_EPOCH)
		return aggnet_sock_set_epoch(sock->sk, optval, len);
	if (level == SOL_AGGNET && name == AGGNET_SO_CHECK)
		return aggnet_sock_set_check(sock->sk, optval, len);
	return -ENOPROTOOPT;
}

/* Describe a transfer to a process that may join it. */
static int aggnet_sock_lookup(struct sock *sk, char __user *optval,
			      int __user *optlen, int len)
{
	struct aggnet_net *an = aggnet_net(sock_net(sk));
	struct aggnet_lookup look = {};
	struct aggnet_tree *tree;
	__be32 receiver;
	int err;

	/* The status has grown: an older program has a smaller buffer. */
	if (len < (int)offsetofend(struct aggnet_lookup, status.pad))
		return -EINVAL;
	len = min_t(int, len, sizeof(look));
	if (copy_from_user(&look.addr, optval, sizeof(look.addr)))
		return -EFAULT;
	err = aggnet_sock_address((struct sockaddr *)&look.addr,
				  sizeof(look.addr));
	if (err)
		return err;
	/* As for bind(): 0 means this node. */
	receiver = look.addr.sag_receiver ?: READ_ONCE(an->identity);
	tree = aggnet_tree_table_get(an, (u64)look.addr.sag_job << 32 |
				    ntohl(receiver));
	if (!tree)
		return -ENETUNREACH;
	if (aggnet_sock_permitted(sock_net(sk), &tree->conf))
		aggnet_tree_status(tree, &look.status);
	else
		err = -EACCES;
	aggnet_tree_put(tree);
	if (!err && (put_user(len, optlen) || copy_to_user(optval, &look, len)))
		err = -EFAULT;
	return err;
}

/* Get the status or the fingerprint of the transfer that the socket has joined. */
static int aggnet_sock_tell(struct sock *sk, int name, char __user *optval,
			    int __user *optlen, int len)
{
	union {
		struct aggnet_status status;
		struct aggnet_check check;
	} told = {};
	struct aggnet_tree *tree;

	lock_sock(sk);
	tree = aggnet_sk(sk)->tree;
	if (tree && name == AGGNET_SO_CHECK)
		aggnet_tree_check(tree, &told.check);
	else if (tree)
		aggnet_tree_status(tree, &told.status);
	release_sock(sk);
	if (!tree)
		return -ENOTCONN;
	len = min_t(int, len, name == AGGNET_SO_CHECK ? sizeof(told.check) :
							sizeof(told.status));
	if (put_user(len, optlen) || copy_to_user(optval, &told, len))
		return -EFAULT;
	return 0;
}

static int aggnet_sock_getsockopt(struct socket *sock, int level, int name,
				  char __user *optval, int __user *optlen)
{
	int len;

	if (level != SOL_AGGNET)
		return -ENOPROTOOPT;
	switch (name) {
	case AGGNET_SO_STATUS:
	case AGGNET_SO_LOOKUP:
	case AGGNET_SO_CHECK:
		break;
	default:
		return -ENOPROTOOPT;
	}
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (name == AGGNET_SO_LOOKUP)
		return aggnet_sock_lookup(sock->sk, optval, optlen, len);
	return aggnet_sock_tell(sock->sk, name, optval, optlen, len);
}

/* --- life ----------------------------------------------------------------- */

static int aggnet_sock_init(struct sock *sk)
{
	INIT_LIST_HEAD(&aggnet_sk(sk)->local.list);
	return 0;
}

static void aggnet_sock_close(struct sock *sk, long timeout)
{
	struct aggnet_sock *as = aggnet_sk(sk);

	if (as->role != AGGNET_SOCK_NEW)
		aggnet_tree_leave(as->tree, &as->local);
	if (as->tree)
		aggnet_tree_put(as->tree);
	as->tree = NULL;
	sk_common_release(sk);
}

/* sk_common_release() calls these; sockets are not hashed. */
static int aggnet_sock_hash(struct sock *sk)
{
	return 0;
}

static void aggnet_sock_unhash(struct sock *sk)
{
}

static struct proto aggnet_prot = {
	.name = "AGGNET",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct aggnet_sock),
	.init = aggnet_sock_init,
	.close = aggnet_sock_close,
	.hash = aggnet_sock_hash,
	.unhash = aggnet_sock_unhash,
};

static const struct proto_ops aggnet_sock_ops = {
	.family = PF_INET,
	.owner = THIS_MODULE,
	.release = inet_release,
	.bind = aggnet_sock_bind,
	.connect = aggnet_sock_connect,
	.socketpair = sock_no_socketpair,
	.accept = sock_no_accept,
	.getname = aggnet_sock_getname,
	.poll = aggnet_sock_poll,
	.ioctl = sock_no_ioctl,
	.listen = sock_no_listen,
	.shutdown = aggnet_sock_shutdown,
	.setsockopt = aggnet_sock_setsockopt,
	.getsockopt = aggnet_sock_getsockopt,
	.sendmsg = aggnet_sock_sendmsg,
	.recvmsg = aggnet_sock_recvmsg,
	.mmap = sock_no_mmap,
};

static struct inet_protosw aggnet_protosw = {
	.type = SOCK_RDM,
	.protocol = IPPROTO_AGGNET,
	.prot = &aggnet_prot,
	.ops = &aggnet_sock_ops,
};

int aggnet_socket_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct sockaddr_aggnet) !=
		     sizeof(struct sockaddr_in));
	BUILD_BUG_ON(sizeof(struct aggnet_end) +
		     AGGNET_ABSENT_MAX * sizeof(__be32) > AGGNET_RECORD_MAX);
	err = proto_register(&aggnet_prot, 1);
	if (err)
		return err;
	inet_register_protosw(&aggnet_protosw);
	return 0;
}

void aggnet_socket_exit(void)
{
	inet_unregister_protosw(&aggnet_protosw);
	proto_unregister(&aggnet_prot);
}
