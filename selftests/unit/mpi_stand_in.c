// SPDX-License-Identifier: GPL-2.0
/* In the place of libaggnet for the shim of MPI: groups whose collectives are MPI's own,
 * which begin when all ranks have come; until then nothing here lets MPI go on. Ranks
 * count themselves in the file STAND_IN_SHARED, which is empty before.
 * STAND_IN has what fails: WHAT=RANK of lookup, denied, join, open, and call=NUMBER, at all ranks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mpi.h>

#include "aggnet_coll.h"

/* Of each collective but a broadcast of rank 0. */
#define ELEMENTS	3000

struct aggnet_coll {
	struct aggnet_group *g;
	enum aggnet_coll_kind kind;
	const void *send;
	void *recv;
	int count;
	int root;
	bool begun;
	MPI_Request request;
	int err;
};

struct aggnet_group {
	struct aggnet_group_conf conf;
	MPI_Comm comm;
	struct aggnet_coll coll;
	bool opens;
	bool ended;
	const char *error;
};

static int calls;

/* How often ranks have come to a collective, in all, and this one. */
static int *come;
static int came;

/* fails() - does STAND_IN say that @what of @number fails? */
static bool fails(const char *what, int number)
{
	const char *env = getenv("STAND_IN");
	size_t len = strlen(what);

	return env && !strncmp(env, what, len) && env[len] == '=' &&
	       atoi(env + len + 1) == number;
}

static void count_begin(void)
{
	int fd = open(getenv("STAND_IN_SHARED"), O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*come)))
		abort();
	come = mmap(NULL, sizeof(*come), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (come == MAP_FAILED)
		abort();
	close(fd);
}

static int rank(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank;
}

int aggnet_lookup(struct in_addr receiver, uint32_t job, struct aggnet_status *st)
{
	*st = (struct aggnet_status){ .function = job / 10 % 10, .vtype = job / 100 % 10 };
	if (fails("denied", rank()))
		return -EACCES;
	return fails("lookup", rank()) || !receiver.s_addr ? -ENETUNREACH : 0;
}

const char *aggnet_group_error(const struct aggnet_group *g)
{
	return g ? g->error : strerror(ENOMEM);
}

int aggnet_group_open_start(struct aggnet_group **g, const struct aggnet_group_conf *conf,
			    struct aggnet_coll **c)
{
	if (!come)
		count_begin();
	*g = calloc(1, sizeof(**g));
	(*g)->conf = *conf;
	(*g)->error = "the group cannot be joined";
	(*g)->comm = MPI_COMM_NULL;
	(*g)->opens = true;
	*c = &(*g)->coll;
	(*c)->g = *g;
	return fails("join", (int)conf->rank) ? -EUSERS : 0;
}

size_t aggnet_group_max(const struct aggnet_group *g, enum aggnet_coll_kind kind)
{
	(void)g;
	return kind == AGGNET_COLL_BARRIER ? SIZE_MAX / 8 : ELEMENTS;
}

static MPI_Datatype type_of(const struct aggnet_group_conf *c)
{
	switch (c->vtype) {
	case AGGNET_VTYPE_INT32:
		return MPI_INT;
	case AGGNET_VTYPE_INT64:
		return MPI_LONG_LONG;
	case AGGNET_VTYPE_FLOAT32:
		return MPI_FLOAT;
	default:
		return MPI_DOUBLE;
	}
}

static MPI_Op op_of(const struct aggnet_group_conf *c)
{
	return c->function == AGGNET_FN_SUM ? MPI_SUM :
	       c->function == AGGNET_FN_MIN ? MPI_MIN : MPI_MAX;
}

static void coll_come(struct aggnet_coll *c, enum aggnet_coll_kind kind)
{
	c->kind = kind;
	c->begun = false;
	__atomic_fetch_add(come, 1, __ATOMIC_SEQ_CST);
	came++;
}

static bool all_have_come(const struct aggnet_coll *c)
{
	return __atomic_load_n(come, __ATOMIC_SEQ_CST) >= came * (int)c->g->conf.ranks;
}

static void coll_begin(struct aggnet_coll *c)
{
	const struct aggnet_group_conf *conf = &c->g->conf;
	bool has = (int)conf->rank == c->root || c->kind == AGGNET_COLL_ALLREDUCE;
	const void *send = has && c->send == c->recv ? MPI_IN_PLACE : c->send;
	MPI_Datatype type = type_of(conf);

	c->begun = true;
	if (c->kind == AGGNET_COLL_BARRIER)
		PMPI_Ibarrier(c->g->comm, &c->request);
	else if (c->kind == AGGNET_COLL_BROADCAST)
		PMPI_Ibcast(c->recv, c->count, type, c->root, c->g->comm, &c->request);
	else if (c->kind == AGGNET_COLL_REDUCE)
		PMPI_Ireduce(send, c->recv, c->count, type, op_of(conf), c->root, c->g->comm,
			     &c->request);
	else
		PMPI_Iallreduce(send, c->recv, c->count, type, op_of(conf), c->g->comm,
				&c->request);
}

int aggnet_coll_start(struct aggnet_group *g, enum aggnet_coll_kind kind, const void *send,
		      void *recv, size_t count, uint32_t root, struct aggnet_coll **c)
{
	*c = &g->coll;
	if (g->ended || (count > ELEMENTS && (kind != AGGNET_COLL_BROADCAST || root)))
		return g->ended ? -ENOTCONN : -EMSGSIZE;
	g->coll.err = fails("call", ++calls) ? -ETIMEDOUT : 0;
	g->coll.send = send;
	g->coll.recv = recv;
	g->coll.count = (int)count;
	g->coll.root = (int)root;
	coll_come(&g->coll, kind);
	return 0;
}

int aggnet_group_finish_start(struct aggnet_group *g, struct aggnet_coll **c)
{
	*c = &g->coll;
	if (g->ended)
		return -ENOTCONN;
	g->coll.err = 0;
	coll_come(&g->coll, AGGNET_COLL_BARRIER);
	return 0;
}

/* The first round: all ranks have joined. */
static int coll_open(struct aggnet_group *g)
{
	g->opens = false;
	g->error = "a rank did not come";
	PMPI_Comm_dup(MPI_COMM_WORLD, &g->comm);
	return fails("open", (int)g->conf.rank) ? -ETIMEDOUT : 0;
}

int aggnet_coll_test(struct aggnet_coll *c)
{
	int done;

	if (c->g->opens)
		return coll_open(c->g);
	if (!c->begun && !all_have_come(c))
		return -EAGAIN;
	if (!c->begun)
		coll_begin(c);
	PMPI_Test(&c->request, &done, MPI_STATUS_IGNORE);
	if (!done)
		return -EAGAIN;
	c->g->ended = c->err;
	c->g->error = c->err ? "node 10.0.0.9 does not answer" : "";
	return c->err;
}

unsigned int aggnet_coll_poll(const struct aggnet_coll *c, struct pollfd *fd, unsigned int n)
{
	(void)c;
	(void)fd;
	(void)n;
	return 0;
}

void aggnet_group_close(struct aggnet_group *g)
{
	if (g && g->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&g->comm);
	free(g);
}
