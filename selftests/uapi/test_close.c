// SPDX-License-Identifier: GPL-2.0
/* Transfers of one node with itself that do not end well: each call returns
 * with the right error. Needs root and the module.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "one_node.h"

/* --- the end of a transfer that fails --- */

static int so_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) ? -1 : err;
}

TEST_F(node, close__of_a_writer_aborts)
{
	uint32_t origin;
	int r, w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 1));
	close(w);
	EXPECT_EQ(POLLERR, await(r, POLLIN) & POLLERR);
	EXPECT_EQ(ECONNABORTED, so_error(r));
	EXPECT_ERRNO(ECONNABORTED, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_R_SENDER, reason(r, &origin));
	EXPECT_EQ(inet_addr(NODE_A), origin);
	close(r);
}

TEST_F(node, close__of_the_reader_aborts)
{
	uint32_t origin;
	int r, w, late;

	ASSERT_EQ(0, add_writers(self->ctl, 2));
	r = reader();
	w = writer();
	close(r);
	EXPECT_EQ(POLLERR, await(w, POLLIN) & POLLERR);
	EXPECT_ERRNO(EPIPE, send_record(w, "key", 1));
	EXPECT_ERRNO(EPIPE, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EPIPE, receive(w, &self->m, 0));
	late = new_socket();
	EXPECT_ERRNO(EPIPE, join(late, NODE_A, JOB, false));
	EXPECT_EQ(AGGNET_R_RECEIVER, reason(late, &origin));
	EXPECT_EQ(inet_addr(NODE_A), origin);
	close(late);
	close(w);
}

/* A process that is killed closes its socket, too. */
TEST_F(node, close__by_a_killed_process)
{
	int r, w, status;
	pid_t pid;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	pid = fork();
	if (!pid) {
		raise(SIGKILL);
		_exit(1);
	}
	close(w);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_ERRNO(ECONNABORTED, receive(r, &self->m, 0));
	close(r);
}

TEST_F(node, abort__by_an_application)
{
	const struct {
		uint32_t why;
		bool by_reader;
		int error;
	} cases[] = {
		{ AGGNET_R_OVERFLOW, true, EOVERFLOW },
		{ AGGNET_R_USER, true, ECANCELED },
		{ AGGNET_R_RECEIVER, true, EPIPE },
		{ AGGNET_R_USER, false, ECANCELED },
		{ AGGNET_R_SENDER, false, ECONNABORTED },
	};
	unsigned int i;
	int fd, r, w;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct aggnet_tree_info e = entry(1);

		e.instance = i + 1;
		ASSERT_EQ(0, add_entry(self->ctl, &e, i > 0));
		r = reader();
		w = writer();
		fd = w;
		if (cases[i].by_reader)
			fd = r;
		ASSERT_EQ(0, setsockopt(fd, SOL_AGGNET, AGGNET_SO_ABORT,
					&cases[i].why, sizeof(cases[i].why)));
		EXPECT_ERRNO(cases[i].error, receive(r, &self->m, 0));
		EXPECT_ERRNO(cases[i].error, receive(w, &self->m, 0));
		close(r);
		close(w);
	}
}

TEST_F(node, recv__a_fault_loses_the_transfer)
{
	void *map = mmap(NULL, BUF, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	int r, w;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 1));
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EFAULT, recv(r, map, BUF, 0));
	EXPECT_ERRNO(EPIPE, receive(r, &self->m, 0));
	EXPECT_ERRNO(EPIPE, receive(w, &self->m, 0));
	close(r);
	close(w);
}

TEST_F(node, recv__a_fault_of_peek_loses_nothing)
{
	void *map = mmap(NULL, BUF, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	int r, w;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r = reader();
	w = writer();
	ASSERT_EQ(0, shutdown(w, SHUT_WR));
	EXPECT_ERRNO(EFAULT, recv(r, map, BUF, MSG_PEEK));
	ASSERT_LT(0, receive(r, &self->m, 0));
	EXPECT_EQ(AGGNET_MSG_END, self->m.head.type);
	EXPECT_EQ(0, receive(w, &self->m, 0));
	close(r);
	close(w);
}

TEST_F(node, entry__withdrawn_under_the_sockets)
{
	struct waiter *r = calloc(1, sizeof(*r));
	int w;

	ASSERT_EQ(0, add_writers(self->ctl, 1));
	r->fd = reader();
	w = writer();
	ASSERT_EQ(0, pthread_create(&r->thread, NULL, wait_in_recv, r));
	ASSERT_EQ(0, aggnet_tree_del(self->ctl,
				     aggnet_incast_id(JOB, ip(NODE_A))));
	ASSERT_EQ(0, pthread_join(r->thread, NULL));
	EXPECT_EQ(-1, r->n);
	EXPECT_EQ(ECANCELED, r->error);
	EXPECT_ERRNO(ECANCELED, send_record(w, "key", 1));
	EXPECT_ERRNO(ECANCELED, receive(w, &self->m, 0));
	close(r->fd);
	close(w);
	free(r);
}

TEST_F(node, entry__newer_epoch)
{
	struct aggnet_tree_info e = entry(1);
	int r, w, r2, w2;

	ASSERT_EQ(0, add_entry(self->ctl, &e, false));
	r = reader();
	w = writer();
	ASSERT_EQ(0, send_record(w, "key", 1));
	e.has |= AGGNET_HAS(AGGNET_A_TREE_ATTEMPT);
	e.attempt = 1;
	ASSERT_EQ(0, add_entry(self->ctl, &e, true));
	EXPECT_ERRNO(ESTALE, send_record(w, "key", 1));
	EXPECT_ERRNO(ESTALE, receive(w, &self->m, 0));
	EXPECT_ERRNO(ESTALE, receive(r, &self->m, 0));
	r2 = reader();
	w2 = writer();
	ASSERT_LE(0, r2);
	ASSERT_LE(0, w2);
	ASSERT_EQ(0, send_record(w2, "key", 4));
	ASSERT_EQ(0, shutdown(w2, SHUT_WR));
	EXPECT_EQ(4, only_value(&self->m, receive(r2, &self->m, 0)));
	ASSERT_LT(0, receive(r2, &self->m, 0));
	EXPECT_EQ(1, self->m.end.attempt);
	EXPECT_EQ(0, receive(w2, &self->m, 0));
	close(r);
	close(w);
	close(r2);
	close(w2);
}

TEST_F(node, module__stays_while_there_are_sockets)
{
	int fd = new_socket();

	ASSERT_LE(0, fd);
	EXPECT_ERRNO(EWOULDBLOCK, syscall(SYS_delete_module, "aggnet",
					  O_NONBLOCK));
	close(fd);
}

TEST_HARNESS_MAIN
