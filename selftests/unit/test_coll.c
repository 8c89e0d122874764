// SPDX-License-Identifier: GPL-2.0
/* Collectives of groups whose ranks are threads, on simulated trees: what each rank
 * gets, and which error each rank has if calls differ or something fails.
 */
#include <float.h>
#include <math.h>

#include "fake_trees.h"

#include "../lib/collectives.h"

#define RANKS		5u
#define ELEMENTS	400u
#define COUNT		17u	/* of a collective: no multiple of a block */

/**
 * struct rank - a thread
 * @conf: of its group
 * @g: its group
 * @body: what it does
 * @arg: for that
 * @err: result of @body
 * @text: sentence that goes with it
 */
struct rank {
	pthread_t thread;
	struct aggnet_group_conf conf;
	struct aggnet_group *g;
	int (*body)(struct rank *r);
	unsigned int arg;
	int err;
	char text[512];
};

static struct rank ranks[RANKS + 1];

static struct aggnet_group_conf conf_of(uint32_t rank, uint32_t n)
{
	return (struct aggnet_group_conf){
		.root = { htonl(0x0a000001) }, .up = FAKE_UP, .down = FAKE_DOWN,
		.rank = rank, .ranks = n,
		.function = fake_tree[0].shape.function,
		.vtype = fake_tree[0].shape.vtype,
	};
}

static void *rank_main(void *arg)
{
	struct rank *r = arg;

	r->err = aggnet_group_open(&r->g, &r->conf);
	if (!r->err && r->body)
		r->err = r->body(r);
	snprintf(r->text, sizeof(r->text), "%s", aggnet_group_error(r->g));
	if (!r->err)
		r->err = aggnet_group_finish(r->g);
	aggnet_group_close(r->g);
	return NULL;
}

static void ranks_begin(unsigned int n)
{
	uint32_t i;

	memset(ranks, 0, sizeof(ranks));
	for (i = 0; i < n; i++)
		ranks[i].conf = conf_of(i, n);
}

static void ranks_run_as(unsigned int n, void *(*body)(void *rank))
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&ranks[i].thread, NULL, body, &ranks[i]))
			abort();
	for (i = 0; i < n; i++)
		pthread_join(ranks[i].thread, NULL);
}

static void ranks_run(unsigned int n, int (*body)(struct rank *r),
		      unsigned int arg)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		ranks[i].body = body;
		ranks[i].arg = arg;
	}
	ranks_run_as(n, rank_main);
}

/* Run a group on new trees. Return: how many ranks had another result than @want */
static unsigned int group_of(unsigned int n, int (*body)(struct rank *r),
			     unsigned int arg, int want)
{
	unsigned int i, wrong = 0;

	ranks_begin(n);
	ranks_run(n, body, arg);
	for (i = 0; i < n; i++)
		if (ranks[i].err != want) {
			printf("# rank %u of %u, argument %u: %d, %s\n", i, n, arg,
			       ranks[i].err, ranks[i].text);
			fflush(stdout);
			wrong++;
		}
	return wrong;
}

FIXTURE(coll)
{
	int fds;
};

FIXTURE_SETUP(coll)
{
	fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS, RANKS);
	self->fds = open_fds();
}

FIXTURE_TEARDOWN(coll)
{
	fake_trees_end();
	EXPECT_EQ(self->fds, open_fds());
}

/* --- what each rank gets ---------------------------------------------------------- */

static int every_collective(struct rank *r)
{
	int err = collectives_run(r->g, &r->conf, COUNT);

	return err ?: aggnet_allreduce(r->g, NULL, NULL, 0);
}

TEST_F(coll, each__type_and_function)
{
	static const uint8_t functions[] = { AGGNET_FN_SUM, AGGNET_FN_MIN,
					     AGGNET_FN_MAX };
	static const unsigned int sizes[] = { 1, 2, RANKS };
	unsigned int f, v, n;

	for (f = 0; f < 3; f++)
		for (v = 0; v < __AGGNET_VTYPE_MAX; v++)
			for (n = 0; n < 3; n++) {
				fake_trees_end();
				fake_trees_begin(functions[f], v, ELEMENTS,
						 sizes[n]);
				EXPECT_EQ(0, group_of(sizes[n], every_collective,
						      0, 0)) {
					printf("# %s of %s, %u ranks\n",
					       aggnet_function_names[functions[f]],
					       aggnet_vtype_names[v], sizes[n]);
				}
			}
}

static int many(struct rank *r)
{
	int64_t sum, i;
	int err;

	for (i = 0; i < 200; i++) {
		sum = r->conf.rank * 1000 + i;
		err = aggnet_allreduce(r->g, &sum, &sum, 1);
		if (err)
			return err;
		if (sum != 10000 + RANKS * i)
			return -EDOM;
	}
	return 0;
}

TEST_F(coll, allreduce__two_hundred_times)
{
	EXPECT_EQ(0, group_of(RANKS, many, 0, 0));
}

/* As many elements as there may be, of each kind. */
static int most(struct rank *r)
{
	uint32_t kind;
	int err = 0;

	for (kind = 0; !err && kind <= AGGNET_COLL_ALLREDUCE; kind++) {
		size_t n = layout_has_data(kind) ?
			   aggnet_group_max(r->g, kind) : 0;
		int64_t *send = calloc(RANKS * (n + 1), sizeof(*send));
		int64_t *recv = calloc(RANKS * (n + 1), sizeof(*recv));
		struct aggnet_coll *c;

		err = aggnet_coll_start(r->g, kind, send, recv, n + 1, 1, &c);
		if (layout_has_data(kind))
			err = err == -EMSGSIZE ?
			      aggnet_coll_start(r->g, kind, send, recv, n, 1,
						&c) : -EDOM;
		err = err ?: aggnet_coll_wait(c);
		free(send);
		free(recv);
	}
	return err;
}

TEST_F(coll, each__of_the_most_elements)
{
	EXPECT_EQ(0, group_of(RANKS, most, 0, 0));
	EXPECT_EQ(387, layout_max(&fake_tree[0].shape, AGGNET_COLL_ALLREDUCE,
				  RANKS));
	EXPECT_EQ(65, layout_max(&fake_tree[0].shape, AGGNET_COLL_GATHER,
				 RANKS));
	EXPECT_EQ(77, layout_max(&fake_tree[0].shape, AGGNET_COLL_SCATTER,
				 RANKS));
}

/* --- results of several parts ------------------------------------------------------- */

#define PART		((GROUP_PART - AGREE_BYTES) / sizeof(int64_t))
#define LARGE		(3 * PART + 100)	/* elements */

static void large_begin(size_t limit)
{
	fake_trees_end();
	fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, AGREE_ELEMENTS + LARGE,
			 RANKS);
	fake_tree[0].limit = limit;
	fake_tree[1].limit = 20000;
}

/* An all-reduce of @n elements, whose buffers are @shift elements apart. */
static int large_reduce(struct rank *r, size_t n, long shift)
{
	int64_t *buf = calloc(n + 4, sizeof(*buf)), *send = buf + 2;
	int64_t *recv = send + shift;
	size_t i;
	int err;

	for (i = 0; i < n; i++)
		send[i] = (int64_t)(i * (r->conf.rank + 1)) << 44;
	err = aggnet_allreduce(r->g, send, recv, n);
	for (i = 0; !err && i < n; i++)
		if (recv[i] != (int64_t)(i * (RANKS * (RANKS + 1) / 2)) << 44)
			err = -EILSEQ;
	free(buf);
	return err;
}

/* Around the limits of parts, again and again. */
static int sizes(struct rank *r)
{
	static const size_t n[] = {
		1, PART - 1, PART, PART + 1, 2 * PART - 13, 2 * PART, 2 * PART + 1,
		LARGE, 12, LARGE - 1,
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(n); i++)
		err = large_reduce(r, n[i], 0);
	return err;
}

TEST_F(coll, parts__of_each_size)
{
	/* Nearly all that goes down early changes; some of it; nothing. */
	static const size_t limits[] = { 700, 100000, SIZE_MAX };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		large_begin(limits[i]);
		EXPECT_EQ(0, group_of(RANKS, sizes, 0, 0));
	}
}

/* From now on a round up of @LARGE elements does not end before something goes down. */
static int early_gate(struct rank *r)
{
	int err = aggnet_barrier(r->g);

	if (!err && !r->conf.rank) {
		pthread_mutex_lock(&fake_lock);
		fake_tree[0].gate = RANKS * (LARGE / 13) * 9 / 10;
		pthread_mutex_unlock(&fake_lock);
	}
	return err;
}

static int early(struct rank *r)
{
	return early_gate(r) ?: large_reduce(r, LARGE, 0);
}

TEST_F(coll, parts__go_down_before_the_end)
{
	large_begin(SIZE_MAX);
	EXPECT_EQ(0, group_of(RANKS, early, 0, 0));
}

/*
 * The kernel takes nothing of rank 3 before that has read a part, and the next one waits:
 * it lacks what rank 3 gives, and would overwrite it. The library has the front only.
 */
static void in_place_after(struct rank *r, const struct fake_sock *down)
{
	if (r->conf.rank != 3)
		return;
	pthread_mutex_lock(&fake_lock);
	fake_sock[source_conn(r->g->up)->fd].after = down;
	fake_sock[source_conn(r->g->up)->fd].bytes = GROUP_PART;
	pthread_mutex_unlock(&fake_lock);
}

static int in_place(struct rank *r)
{
	int err = aggnet_barrier(r->g);

	if (err)
		return err;
	in_place_after(r, &fake_sock[cast_conn(r->g->down)->fd]);
	err = large_reduce(r, LARGE, (long)r->arg - 1);
	if (!err)
		in_place_after(r, NULL);
	return err;
}

TEST_F(coll, parts__that_come_early_in_place)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		large_begin(20000);
		fake_tree[1].limit = SIZE_MAX;
		EXPECT_EQ(0, group_of(RANKS, in_place, i, 0));
	}
}

/* Rank 2 leaves when a part has gone down; then no rank has the result. */
static int leaves_early(struct rank *r)
{
	static int64_t x[RANKS][LARGE];
	struct aggnet_coll *c;
	int err = early_gate(r);

	if (err || r->conf.rank != 2)
		return err ?: aggnet_allreduce(r->g, x[r->conf.rank],
					       x[r->conf.rank], LARGE);
	err = aggnet_coll_start(r->g, AGGNET_COLL_ALLREDUCE, x[2], x[2], LARGE, 0,
				&c);
	while (!err && !c->whole && !c->taken)
		err = aggnet_coll_test(c) == -EAGAIN ? 0 : -EDOM;
	aggnet_group_close(r->g);
	r->g = NULL;
	return err ?: -ECONNABORTED;
}

TEST_F(coll, rank__that_leaves_between_parts)
{
	large_begin(SIZE_MAX);
	EXPECT_EQ(0, group_of(RANKS, leaves_early, 0, -ECONNABORTED));
}

/* A sum that does not fit is found at the end, when parts have gone down. */
static int overflows_early(struct rank *r)
{
	static int64_t x[RANKS][LARGE];
	int err = early_gate(r);

	x[r->conf.rank][LARGE - 1] = INT64_MAX;
	return err ?: aggnet_allreduce(r->g, x[r->conf.rank], x[r->conf.rank],
				       LARGE);
}

TEST_F(coll, sum__that_overflows_behind_parts)
{
	large_begin(SIZE_MAX);
	EXPECT_EQ(0, group_of(RANKS, overflows_early, 0, -EOVERFLOW));
}

/* A rank has another count, which rank 0 only knows at the end. */
static int differs_early(struct rank *r)
{
	static int64_t x[RANKS][LARGE];

	return aggnet_allreduce(r->g, x[r->conf.rank], x[r->conf.rank],
				LARGE - (r->conf.rank == 1));
}

TEST_F(coll, calls__that_differ_behind_parts)
{
	large_begin(100000);
	EXPECT_EQ(0, group_of(RANKS, differs_early, 0, -EPROTO));
}

/*
 * parts_read() - have a rank read two parts of a result of ten elements
 * @part: the parts
 * @bytes: of the data of both
 *
 * Return: the outcome
 */
static int parts_read(const struct agree_part part[2], size_t bytes)
{
	static struct aggnet_group g;
	int64_t recv[10];
	struct aggnet_coll c = {
		.g = &g, .recv = (uint8_t *)recv,
		.layout = { .size = 8, .carriers = 1, .length = 10, .parts = 1,
			    .down = true, .takes = 10 },
	};
	size_t first = part[0].n * 8 < bytes ? part[0].n * 8 : bytes;

	memset(g.buf, 0, sizeof(g.buf));
	agree_put(&c.call, 0, &part[0], g.buf);
	agree_put(&c.call, 0, &part[1], g.buf + AGREE_BYTES + first);
	c.length = 2 * AGREE_BYTES + bytes;
	down_piece(&c);
	return c.status ?: c.part.more || c.whole < 10 || c.taken < c.part.n * 8 ?
	       down_end(&c) : 0;
}

TEST_F(coll, parts__that_are_malformed)
{
	const struct agree_part good[] = { { 0, 6, true }, { 6, 4, false } };
	const struct agree_part again[] = { { 0, 10, true }, { 3, 2, false } };
	const struct agree_part gap[] = { { 0, 5, true }, { 6, 4, false } };
	const struct agree_part far[] = { { 0, 6, true }, { 6, 5, false } };
	const struct agree_part none[] = { { 0, 0, true }, { 0, 10, false } };
	const struct agree_part more[] = { { 0, 6, true }, { 6, 4, true } };
	const struct agree_part less[] = { { 0, 6, true }, { 6, 3, false } };

	EXPECT_EQ(0, parts_read(good, 80));
	EXPECT_EQ(0, parts_read(again, 96));
	EXPECT_EQ(-EBADMSG, parts_read(gap, 72));
	EXPECT_EQ(-EBADMSG, parts_read(far, 88));
	EXPECT_EQ(-EBADMSG, parts_read(none, 80));
	EXPECT_EQ(-EBADMSG, parts_read(more, 80));
	EXPECT_EQ(-EBADMSG, parts_read(less, 72));
	EXPECT_EQ(-EBADMSG, parts_read(good, 72));
	EXPECT_EQ(-EBADMSG, parts_read(good, 88));
}

/* --- start and test ------------------------------------------------------------------ */

/* Return: the result, -EDOM: a call has returned something impossible */
static int tests(struct aggnet_coll *c)
{
	struct pollfd fd[AGGNET_COLL_FDS];
	int err;

	while ((err = aggnet_coll_test(c)) == -EAGAIN)
		if (aggnet_coll_poll(c, NULL, 0) > AGGNET_COLL_FDS ||
		    poll(fd, aggnet_coll_poll(c, fd, AGGNET_COLL_FDS),
			 aggnet_coll_timeout(c)) < 0)
			return -EDOM;
	return err;
}

static int started(struct rank *r)
{
	int64_t mine = 1 << r->conf.rank, all = 0;
	struct aggnet_coll *c, *other;
	int err;

	err = aggnet_coll_start(r->g, AGGNET_COLL_ALLREDUCE, &mine, &all, 1, 0,
				&c);
	if (err)
		return err;
	if (aggnet_coll_start(r->g, AGGNET_COLL_BARRIER, NULL, NULL, 0, 0,
			      &other) != -EBUSY || other ||
	    aggnet_barrier(r->g) != -EBUSY)
		return -EDOM;
	if (aggnet_coll_timeout(c) != -1)
		return -EDOM;
	err = tests(c);
	return err ?: all == (1 << RANKS) - 1 ? 0 : -EILSEQ;
}

TEST_F(coll, start__and_test)
{
	EXPECT_EQ(0, group_of(RANKS, started, 0, 0));
}

/* --- arguments -------------------------------------------------------------------------- */

static int wrong_arguments(struct rank *r)
{
	int64_t x[8] = { 1 };

	if (aggnet_broadcast(r->g, x, 1, RANKS) != -EINVAL ||
	    aggnet_broadcast(r->g, NULL, 1, 0) != -EINVAL ||
	    aggnet_allreduce(r->g, NULL, x, 1) != -EINVAL ||
	    aggnet_allreduce(r->g, x, NULL, 1) != -EINVAL ||
	    aggnet_allreduce(r->g, x, x, SIZE_MAX) != -EMSGSIZE ||
	    aggnet_broadcast(r->g, x, SIZE_MAX, 0) != -EMSGSIZE)
		return -EDOM;
	return aggnet_allreduce(r->g, x, x, 1) ?: x[0] == RANKS ? 0 : -EILSEQ;
}

TEST_F(coll, arguments__that_are_wrong_leave_the_group)
{
	EXPECT_EQ(0, group_of(RANKS, wrong_arguments, 0, 0));
}

static int after_the_end(struct rank *r)
{
	int err = aggnet_group_finish(r->g);

	if (err || aggnet_barrier(r->g) != -ENOTCONN)
		return -EDOM;
	return aggnet_group_finish(r->g);
}

TEST_F(coll, finish__ends_the_group)
{
	EXPECT_EQ(0, group_of(RANKS, after_the_end, 0, -ENOTCONN));
	EXPECT_STREQ("the group has ended", ranks[1].text);
	fake_trees_end();
	fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS, 1);
	EXPECT_EQ(0, group_of(1, after_the_end, 0, -ENOTCONN));
}

TEST_F(coll, open__of_a_wrong_conf)
{
	struct aggnet_group_conf conf = conf_of(2, 2);
	struct aggnet_group *g;

	EXPECT_EQ(-EINVAL, aggnet_group_open(&g, &conf));
	EXPECT_STREQ("rank 2 is not one of 2 ranks", aggnet_group_error(g));
	aggnet_group_close(g);
	conf = conf_of(0, 2);
	conf.function = AGGNET_FN_COUNT;
	EXPECT_EQ(-EINVAL, aggnet_group_open(&g, &conf));
	aggnet_group_close(g);
	conf = conf_of(0, 2);
	conf.vtype = 99;
	EXPECT_EQ(-EINVAL, aggnet_group_open(&g, &conf));
	aggnet_group_close(g);
	conf = conf_of(0, 33026);
	conf.vtype = AGGNET_VTYPE_INT32;
	EXPECT_EQ(-EINVAL, aggnet_group_open(&g, &conf));
	EXPECT_STREQ("a group that adds int32 has at most 33025 ranks",
		     aggnet_group_error(g));
	aggnet_group_close(g);
	conf = conf_of(0, 1);
	conf.flags = AGGNET_GROUP_WRAP << 1 | AGGNET_GROUP_WRAP;
	EXPECT_EQ(-EINVAL, aggnet_group_open(&g, &conf));
	EXPECT_STREQ("unknown flags of a group, or reserved is not 0",
		     aggnet_group_error(g));
	aggnet_group_close(g);
	conf = conf_of(0, 1);
	conf.reserved[5] = 1;
	EXPECT_EQ(-EINVAL, aggnet_group_open(&g, &conf));
	EXPECT_STREQ("unknown flags of a group, or reserved is not 0",
		     aggnet_group_error(g));
	aggnet_group_close(g);
	aggnet_group_close(NULL);
	EXPECT_STREQ(strerror(ENOMEM), aggnet_group_error(NULL));
}

/* Go on as a program with other work does. */
static int poll_to_end(struct aggnet_coll *c)
{
	struct pollfd fd[AGGNET_COLL_FDS];
	int err;

	while ((err = aggnet_coll_test(c)) == -EAGAIN)
		poll(fd, aggnet_coll_poll(c, fd, AGGNET_COLL_FDS),
		     aggnet_coll_timeout(c));
	return err;
}

/* Open, call and finish without a call that waits. */
static int without_waiting(struct aggnet_group **g,
			   const struct aggnet_group_conf *conf)
{
	struct aggnet_coll *c, *other;
	int err = aggnet_group_open_start(g, conf, &c);

	if (err || aggnet_barrier(*g) != -EBUSY ||
	    aggnet_group_finish_start(*g, &other) != -EBUSY || other)
		return err ?: -EDOM;
	err = poll_to_end(c) ?: aggnet_barrier(*g) ?:
	      aggnet_group_finish_start(*g, &c) ?: poll_to_end(c);
	if (!err && aggnet_barrier(*g) != -ENOTCONN)
		return -EDOM;
	return err;
}

static void *without_waiting_main(void *arg)
{
	struct rank *r = arg;

	r->err = without_waiting(&r->g, &r->conf);
	aggnet_group_close(r->g);
	return NULL;
}

TEST_F(coll, open_and_finish__without_waiting)
{
	static const unsigned int sizes[] = { RANKS, 1 };
	unsigned int s, i;

	for (s = 0; s < 2; s++) {
		ranks_begin(sizes[s]);
		ranks_run_as(sizes[s], without_waiting_main);
		for (i = 0; i < sizes[s]; i++)
			EXPECT_EQ(0, ranks[i].err);
		fake_trees_end();
		fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS,
				 RANKS);
	}
}

TEST_F(coll, open_start__of_a_wrong_conf)
{
	struct aggnet_group_conf conf = conf_of(2, 2);
	struct aggnet_coll *c = (void *)&conf;
	struct aggnet_group *g;

	EXPECT_EQ(-EINVAL, aggnet_group_open_start(&g, &conf, &c));
	EXPECT_EQ(NULL, c);
	EXPECT_STREQ("rank 2 is not one of 2 ranks", aggnet_group_error(g));
	aggnet_group_close(g);
}

/* --- disagreement ------------------------------------------------------------------------ */

enum { OTHER_KIND, OTHER_ROOT, OTHER_COUNT, OTHER_ORDER, OTHER_FINISH, OTHERS };

/* Rank 3 makes another call than the others. */
static int another_call(struct rank *r)
{
	int64_t x[32] = { 0 }, y[256];
	bool other = r->conf.rank == 3;
	int err = aggnet_barrier(r->g);

	if (err)
		return err;
	if (r->arg == OTHER_KIND)
		err = other ? aggnet_allgather(r->g, x, y, 20) :
			      aggnet_allreduce(r->g, x, y, 20);
	if (r->arg == OTHER_ROOT)
		err = aggnet_reduce(r->g, x, y, 20, other);
	if (r->arg == OTHER_COUNT)
		err = aggnet_allreduce(r->g, x, y, 20 + other);
	if (r->arg == OTHER_ORDER && other)
		err = aggnet_barrier(r->g);
	if (r->arg == OTHER_ORDER && !err)
		err = aggnet_allreduce(r->g, x, y, 20);
	if (r->arg == OTHER_FINISH)
		err = other ? aggnet_group_finish(r->g) : aggnet_barrier(r->g);
	if (err && aggnet_barrier(r->g) != -ENOTCONN)
		return -EDOM;
	return err;
}

/* The call after the failed one has left its sentence. */
static int another_call_said(struct rank *r)
{
	int64_t x[32] = { 0 }, y[32];
	bool other = r->conf.rank == 3;

	return other ? aggnet_barrier(r->g) :
		       aggnet_reduce(r->g, x, y, 20, 2);
}

/* What the environment names is joined, and each fault of it has a sentence. */
TEST_F(coll, create__of_an_environment)
{
	static const struct {
		const char *group;
		const char *rank;
		const char *text;
	} wrong[] = {
		{ NULL, "0", "AGGNET_GROUP is not set: it has the line of 'aggctl job submit'" },
		{ "", "0", "AGGNET_GROUP: 'root' is missing" },
		{ "root=10.0.0.1,up=7,down=8", "0", "AGGNET_GROUP: 'ranks' is missing" },
		{ "root=10.0.0,up=7,down=8,ranks=1", "0",
		  "AGGNET_GROUP: 'root=10.0.0' is wrong" },
		{ "root=10.0.0.1,up=,down=8,ranks=1", "0",
		  "AGGNET_GROUP: 'up=' is wrong" },
		{ "root=10.0.0.1,up=-7,down=8,ranks=1", "0",
		  "AGGNET_GROUP: 'up=-7' is wrong" },
		{ "root=10.0.0.1,up=7,down=4294967296,ranks=1", "0",
		  "AGGNET_GROUP: 'down=4294967296' is wrong" },
		{ "root=10.0.0.1,up=7,down=8x,ranks=1", "0",
		  "AGGNET_GROUP: 'down=8x' is wrong" },
		{ "root=10.0.0.1,down=8,ranks=1,up=000000000000000000000000000000000000000000000000000000000000007",
		  "0",
		  "AGGNET_GROUP: 'up=000000000000000000000000000000000000000000000000000000000000...' is too long" },
		{ "root=10.0.0.1,up=7,up=7,down=8,ranks=1", "0",
		  "AGGNET_GROUP: 'up' is there twice" },
		{ "root=10.0.0.1,up=7,down=8,ranks=1", NULL,
		  "AGGNET_RANK is not set: it has the rank of this process" },
		{ "root=10.0.0.1,up=7,down=8,ranks=1", "x", "AGGNET_RANK: 'x' is wrong" },
		{ "root=10.0.0.1,up=7,down=8,ranks=1", "1", "rank 1 is not one of 1 ranks" },
	};
	struct aggnet_group_conf conf = conf_of(AGGNET_RANK_ENV, 9);
	struct aggnet_group *g;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		unsetenv("AGGNET_GROUP");
		unsetenv("AGGNET_RANK");
		if (wrong[i].group)
			setenv("AGGNET_GROUP", wrong[i].group, 1);
		if (wrong[i].rank)
			setenv("AGGNET_RANK", wrong[i].rank, 1);
		EXPECT_EQ(-EINVAL, aggnet_group_create(&g, &conf));
		EXPECT_STREQ(wrong[i].text, aggnet_group_error(g));
		EXPECT_EQ(-ENOTCONN, aggnet_barrier(g));
		aggnet_group_close(g);
	}
	setenv("AGGNET_GROUP", "later=x,ranks=2,down=98,up=99,root=10.0.0.1,", 1);
	setenv("AGGNET_RANK", "1", 1);
	/* It has read what it joins. */
	EXPECT_EQ(-ENETUNREACH, aggnet_group_create(&g, &conf));
	EXPECT_STREQ("no entry for job 99 of receiver 10.0.0.1 on this node: apply its plan here",
		     aggnet_group_error(g));
	aggnet_group_close(g);
	setenv("AGGNET_GROUP", "root=10.0.0.1,up=7,down=8,ranks=1", 1);
	conf.rank = 0;
	EXPECT_EQ(0, aggnet_group_create(&g, &conf));
	EXPECT_EQ(0, aggnet_barrier(g));
	EXPECT_EQ(0, aggnet_group_finish(g));
	aggnet_group_close(g);
	unsetenv("AGGNET_GROUP");
	unsetenv("AGGNET_RANK");
}

TEST_F(coll, calls__that_differ)
{
	unsigned int other;

	for (other = 0; other < OTHERS; other++) {
		fake_trees_end();
		fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS,
				 RANKS);
		EXPECT_EQ(0, group_of(RANKS, another_call, other, -EPROTO));
	}
	fake_trees_end();
	fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS, RANKS);
	EXPECT_EQ(0, group_of(RANKS, another_call_said, 0, -EPROTO));
	EXPECT_STREQ("the ranks disagree: call 1 is barrier here, call 1 is reduce of 20 elements with root 2 at rank 0",
		     ranks[3].text);
	EXPECT_STREQ("a rank does not agree with rank 0: call 1 is reduce of 20 elements with root 2",
		     ranks[2].text);
	EXPECT_STREQ(ranks[2].text, ranks[0].text);
}

/* Each function and type detects a difference of one rank, and of all but rank 0. */
TEST_F(coll, agreement__of_each_function_and_type)
{
	static const uint8_t functions[] = { AGGNET_FN_SUM, AGGNET_FN_MIN,
					     AGGNET_FN_MAX };
	unsigned int f, v;

	for (f = 0; f < 3; f++)
		for (v = 0; v < __AGGNET_VTYPE_MAX; v++) {
			fake_trees_end();
			fake_trees_begin(functions[f], v, ELEMENTS, RANKS);
			EXPECT_EQ(0, group_of(RANKS, another_call, OTHER_ROOT,
					      -EPROTO));
		}
}

/* Sums of other numbers may be equal, but not those of their squares, too. */
TEST_F(coll, agreement__of_a_sum_has_squares)
{
	struct agree a = { .kind = AGGNET_COLL_BARRIER, .ranks = RANKS };
	unsigned int v, i;

	for (v = 0; v < __AGGNET_VTYPE_MAX; v++)
		for (i = 0; i < AGREE_ELEMENTS - 1; i += 2) {
			uint32_t word = agree_element(&a, AGGNET_FN_SUM, v, i);

			EXPECT_EQ(word * word, agree_element(&a, AGGNET_FN_SUM, v,
							     i + 1));
		}
}

/* Such sums are exact, and of one rank more would not be. */
TEST_F(coll, agreement__of_the_most_ranks)
{
	const float exact = 17458 * 31 * 31;

	EXPECT_EQ(17458, agree_ranks_max(AGGNET_FN_SUM, AGGNET_VTYPE_FLOAT32));
	EXPECT_EQ(17458 * 31 * 31, (int)exact);
	EXPECT_LT(1 << 24, 17459 * 31 * 31);
	EXPECT_EQ(33025, agree_ranks_max(AGGNET_FN_SUM, AGGNET_VTYPE_INT32));
	EXPECT_GE(INT32_MAX, 33025ll * 255 * 255);
	EXPECT_LT(INT32_MAX, 33026ll * 255 * 255);
	EXPECT_EQ(UINT32_MAX, agree_ranks_max(AGGNET_FN_SUM,
					      AGGNET_VTYPE_INT64));
	EXPECT_EQ(UINT32_MAX, agree_ranks_max(AGGNET_FN_MAX,
					      AGGNET_VTYPE_FLOAT32));
}

/* It comes from another host, where -EAGAIN would make the others wait for ever. */
TEST_F(coll, agreement__with_an_outcome_that_is_none)
{
	const int none[] = { EAGAIN, EINTR, EINVAL, EMSGSIZE, EBUSY, 4096,
			     INT_MAX, INT_MIN };
	const struct agree a = { .kind = AGGNET_COLL_BARRIER, .ranks = RANKS };
	const struct agree_part part = { .first = 3, .n = 1ull << 40, .more = true };
	struct agree_part other;
	uint8_t buf[AGREE_BYTES];
	struct agree got;
	unsigned int i;
	int status;

	agree_put(&a, -ECONNABORTED, &part, buf);
	EXPECT_TRUE(agree_get(&got, &status, &other, buf));
	EXPECT_EQ(-ECONNABORTED, status);
	EXPECT_TRUE(agree_equal(&a, &got));
	EXPECT_TRUE(other.first == part.first && other.n == part.n && other.more);
	for (i = 0; i < ARRAY_SIZE(none); i++) {
		word_put(buf + 4, (uint32_t)none[i], 4);
		EXPECT_FALSE(agree_get(&got, &status, &other, buf));
	}
}

TEST_F(coll, open__with_another_conf)
{
	ranks_begin(RANKS);
	ranks[2].conf.function = AGGNET_FN_MAX;
	ranks_run(RANKS, NULL, 0);
	EXPECT_EQ(-EPROTO, ranks[0].err);
	EXPECT_EQ(-EPROTO, ranks[4].err);
	EXPECT_EQ(-EPROTO, ranks[2].err);
	EXPECT_STREQ("the ranks disagree: function max here, sum at rank 0",
		     ranks[2].text);
	fake_trees_end();
	fake_trees_begin(AGGNET_FN_MIN, AGGNET_VTYPE_FLOAT32, ELEMENTS, RANKS);
	ranks_begin(RANKS);
	ranks[1].conf.vtype = AGGNET_VTYPE_INT32;
	ranks_run(RANKS, NULL, 0);
	EXPECT_EQ(-EPROTO, ranks[0].err);
	EXPECT_STREQ("the ranks disagree: type int32 here, float32 at rank 0",
		     ranks[1].text);
	fake_trees_end();
	fake_trees_begin(AGGNET_FN_MAX, AGGNET_VTYPE_INT32, ELEMENTS, RANKS);
	ranks_begin(RANKS);
	ranks[4].conf.ranks++;
	ranks_run(RANKS, NULL, 0);
	EXPECT_EQ(-EPROTO, ranks[0].err);
	EXPECT_STREQ("the ranks disagree: 6 ranks here, 5 at rank 0",
		     ranks[4].text);
}

/* All ranks agree, but the plan is another one. */
TEST_F(coll, open__with_another_plan)
{
	unsigned int i;

	ranks_begin(RANKS);
	for (i = 0; i < RANKS; i++)
		ranks[i].conf.vtype = AGGNET_VTYPE_FLOAT64;
	ranks_run(RANKS, NULL, 0);
	for (i = 0; i < RANKS; i++)
		EXPECT_EQ(-EOPNOTSUPP, ranks[i].err);
	EXPECT_STREQ("the tree up has another function or type of elements than the group",
		     ranks[3].text);
	fake_trees_end();
	fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS, RANKS);
	ranks_begin(RANKS);
	for (i = 0; i < RANKS; i++)
		ranks[i].conf.ranks = RANKS + 3;
	ranks_run(RANKS, NULL, 0);
	for (i = 0; i < RANKS; i++)
		EXPECT_EQ(-EPROTO, ranks[i].err);
	EXPECT_STREQ("5 ranks have come, and the group has 8: plan a writer for each",
		     ranks[3].text);
}

/* An extreme of any number of ranks has the agreement of one. */
TEST_F(coll, open__of_an_extreme_with_another_number_of_ranks)
{
	static const uint8_t functions[] = { AGGNET_FN_MIN, AGGNET_FN_MAX };
	unsigned int f, v, i, n, right = 0;

	for (f = 0; f < 2; f++)
		for (v = 0; v < __AGGNET_VTYPE_MAX; v++)
			for (n = RANKS - 1; n <= RANKS + 1; n += 2) {
				fake_trees_end();
				fake_trees_begin(functions[f], v, ELEMENTS, RANKS);
				ranks_begin(RANKS);
				for (i = 0; i < RANKS; i++) {
					ranks[i].conf.ranks = n;
					ranks[i].conf.rank = i % n ?: !!i;
				}
				ranks_run(RANKS, NULL, 0);
				for (i = 0; i < RANKS; i++)
					right += ranks[i].err == -EPROTO;
				right += !strncmp("the group gave ",
						  ranks[1].text, 15);
			}
	EXPECT_EQ(2 * __AGGNET_VTYPE_MAX * 2 * (RANKS + 1), right);
}

/* Two ranks have one number, so another one is missing. */
static int roots(struct rank *r)
{
	int64_t x[2 * RANKS] = { 1 }, y[2] = { 0 };
	uint32_t root = r->arg / 2;

	return r->arg % 2 ? aggnet_scatter(r->g, x, y, 2, root) :
			    aggnet_broadcast(r->g, x, 2, root);
}

/* A vector without room for a gather: the data of a root are missing, or there twice. */
TEST_F(coll, root__with_the_number_of_another_rank)
{
	unsigned int i, arg;

	for (arg = 4; arg < 8; arg++) {
		fake_trees_end();
		fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64,
				 AGREE_ELEMENTS + 2 * RANKS, RANKS);
		ranks_begin(RANKS);
		ranks[2].conf.rank = 3;
		ranks_run(RANKS, roots, arg);
		for (i = 0; i < RANKS; i++)
			EXPECT_EQ(-EPROTO, ranks[i].err);
	}
	EXPECT_STREQ("the group gave 7 records, and 5 ranks give 6: plan a writer for each, and give it a number of its own",
		     ranks[1].text);
}

/* Open compares the numbers, for collectives that cannot. */
TEST_F(coll, ranks__with_one_number)
{
	static const uint8_t functions[] = { AGGNET_FN_SUM, AGGNET_FN_MIN,
					     AGGNET_FN_MAX };
	unsigned int f, v, i, right = 0;

	for (f = 0; f < 3; f++)
		for (v = 0; v < __AGGNET_VTYPE_MAX; v++) {
			fake_trees_end();
			fake_trees_begin(functions[f], v, ELEMENTS, RANKS);
			ranks_begin(RANKS);
			ranks[2].conf.rank = 3;
			ranks_run(RANKS, NULL, 0);
			for (i = 0; i < RANKS; i++)
				right += ranks[i].err == -EPROTO;
		}
	EXPECT_EQ(3 * __AGGNET_VTYPE_MAX * RANKS, right);
	EXPECT_STREQ("parts are missing: each rank needs a number of its own",
		     ranks[1].text);
}

/* A socket that joins a tree of another kind and is closed would abort it. */
TEST_F(coll, open__joins_no_other_tree)
{
	fake_tree[1].down = false;
	EXPECT_EQ(0, group_of(2, NULL, 0, -EOPNOTSUPP));
	fake_tree[1].down = true;
	fake_tree[1].once = true;
	EXPECT_EQ(0, group_of(2, NULL, 0, -EOPNOTSUPP));
	fake_tree[1].once = false;
	fake_tree[0].once = true;
	EXPECT_EQ(0, group_of(2, NULL, 0, -EOPNOTSUPP));
	EXPECT_STREQ("job 7 has no rounds: plan it with --persist", ranks[0].text);
	fake_tree[0].once = false;
	fake_tree[0].stripes = 3;
	EXPECT_EQ(0, group_of(2, NULL, 0, -EOPNOTSUPP));
	fake_tree[0].stripes = 0;
	fake_tree[0].shape.elements = 12;
	EXPECT_EQ(0, group_of(2, NULL, 0, -EOPNOTSUPP));
	fake_tree[0].shape.layout = AGGNET_LAYOUT_KEYED;
	EXPECT_EQ(0, group_of(2, NULL, 0, -EOPNOTSUPP));
	EXPECT_EQ(0, fake_tree[0].joined);
	EXPECT_EQ(0, fake_tree[0].reason);
}

TEST_F(coll, open__without_an_entry)
{
	struct aggnet_group_conf conf = conf_of(1, 2);
	struct aggnet_group *g;

	conf.up = 99;
	EXPECT_EQ(-ENETUNREACH, aggnet_group_open(&g, &conf));
	EXPECT_STREQ("no entry for job 99 of receiver 10.0.0.1 on this node: apply its plan here",
		     aggnet_group_error(g));
	aggnet_group_close(g);
	conf = conf_of(1, 2);
	fake_tree[0].reason = AGGNET_R_STALE;
	EXPECT_EQ(-ECANCELED, aggnet_group_open(&g, &conf));
	aggnet_group_close(g);
}

/* --- failures ------------------------------------------------------------------------------ */

/* Rank @arg leaves; the others call. */
static int one_leaves(struct rank *r)
{
	int64_t x = 0;
	int err = aggnet_allreduce(r->g, &x, &x, 1);

	if (r->conf.rank != r->arg)
		return err ?: aggnet_allreduce(r->g, &x, &x, 1);
	aggnet_group_close(r->g);
	r->g = NULL;
	return err ?: -ECONNABORTED;
}

TEST_F(coll, rank__that_leaves)
{
	unsigned int i;

	for (i = 0; i < RANKS; i++) {
		fake_trees_end();
		fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS,
				 RANKS);
		EXPECT_EQ(0, group_of(RANKS, one_leaves, i, -ECONNABORTED));
		EXPECT_EQ(0, strncmp(ranks[!i].text, "a rank has left: ", 17));
	}
}

static int overflows(struct rank *r)
{
	int64_t x = INT64_MAX;

	return aggnet_allreduce(r->g, &x, &x, 1);
}

TEST_F(coll, sum__that_overflows)
{
	EXPECT_EQ(0, group_of(RANKS, overflows, 0, -EOVERFLOW));
	EXPECT_STREQ("the result of an element does not fit the type of the elements",
		     ranks[1].text);
}

/* As overflows(), in a group that wraps: 5 (2^63 - 1) = 2^63 - 5 mod 2^64. */
static int wraps(struct rank *r)
{
	int64_t x = INT64_MAX;
	int32_t y = INT32_MAX;
	bool small = r->conf.vtype == AGGNET_VTYPE_INT32;
	int err = small ? aggnet_allreduce(r->g, &y, &y, 1) :
			  aggnet_allreduce(r->g, &x, &x, 1);

	return err ?: (small ? y == INT32_MAX - 4 : x == INT64_MAX - 4) ? 0 : -EILSEQ;
}

static int is_infinite(struct rank *r)
{
	double x = r->arg ? -DBL_MAX : DBL_MAX;
	float y = r->arg ? -FLT_MAX : FLT_MAX;
	bool small = r->conf.vtype == AGGNET_VTYPE_FLOAT32;
	int err = small ? aggnet_allreduce(r->g, &y, &y, 1) :
			  aggnet_allreduce(r->g, &x, &x, 1);

	if (small)
		x = y;
	return err ?: isinf(x) && (x < 0) == r->arg ? 0 : -EILSEQ;
}

/* group_of_wrapping() - as group_of(), of a sum of @vtype that wraps */
static unsigned int group_of_wrapping(unsigned int vtype, int (*body)(struct rank *r),
				      unsigned int arg)
{
	unsigned int i, wrong = 0;

	fake_trees_end();
	fake_trees_begin(AGGNET_FN_SUM, vtype, ELEMENTS, RANKS);
	ranks_begin(RANKS);
	for (i = 0; i < RANKS; i++)
		ranks[i].conf.flags = AGGNET_GROUP_WRAP;
	ranks_run(RANKS, body, arg);
	for (i = 0; i < RANKS; i++)
		wrong += ranks[i].err != 0;
	return wrong;
}

TEST_F(coll, sum__that_wraps)
{
	EXPECT_EQ(0, group_of_wrapping(AGGNET_VTYPE_INT64, wraps, 0));
	EXPECT_EQ(0, group_of_wrapping(AGGNET_VTYPE_INT32, wraps, 0));
	EXPECT_EQ(0, group_of_wrapping(AGGNET_VTYPE_FLOAT64, is_infinite, 0));
	EXPECT_EQ(0, group_of_wrapping(AGGNET_VTYPE_FLOAT32, is_infinite, 1));
}

static int overflows_by_mistake(struct rank *r)
{
	int64_t x[2] = { INT64_MAX, INT64_MAX };

	return aggnet_allreduce(r->g, x, x, r->conf.rank == 1 ? 2 : 1);
}

TEST_F(coll, calls__that_differ_and_overflow)
{
	EXPECT_EQ(0, group_of(RANKS, overflows_by_mistake, 0, -EPROTO));
	EXPECT_EQ(0, strncmp(ranks[2].text, "a rank does not agree with rank 0: ", 35));
}

/* Only the rank whose call fails has this errno; to the others it has left. */
static int no_memory(struct rank *r)
{
	int64_t x = 1;
	int err = aggnet_barrier(r->g);

	if (err)
		return err;
	if (r->conf.rank == 2) {
		pthread_mutex_lock(&fake_lock);
		fake_tree[0].lost = ENOMEM;
		pthread_mutex_unlock(&fake_lock);
	}
	err = aggnet_allreduce(r->g, &x, &x, 1);
	return err == -ENOMEM || err == -ECONNABORTED ? -ECONNABORTED : err;
}

TEST_F(coll, call__without_memory_in_the_kernel)
{
	EXPECT_EQ(0, group_of(RANKS, no_memory, 0, -ECONNABORTED));
}

/* Its message down cannot be sent. */
static int no_memory_down(struct rank *r)
{
	int err = aggnet_barrier(r->g);

	if (err)
		return err;
	if (!r->conf.rank) {
		pthread_mutex_lock(&fake_lock);
		fake_tree[1].lost = ENOMEM;
		pthread_mutex_unlock(&fake_lock);
	}
	return aggnet_barrier(r->g);
}

TEST_F(coll, message__without_memory_in_the_kernel)
{
	ranks_begin(RANKS);
	ranks_run(RANKS, no_memory_down, 0);
	EXPECT_EQ(-ENOMEM, ranks[0].err);
	EXPECT_STREQ("no memory here or in the kernel for a call of the group",
		     ranks[0].text);
	EXPECT_EQ(-ECONNABORTED, ranks[1].err);
	EXPECT_EQ(0, strncmp(ranks[1].text, "a rank has left: ", 17));
}

/* The numbers of packets of a channel have been used up, or the nodes disagree. */
static int tree_of_protocol(struct rank *r)
{
	int err = aggnet_barrier(r->g);

	if (!err && r->conf.rank == 2) {
		pthread_mutex_lock(&fake_lock);
		fake_abort(&fake_tree[r->arg], AGGNET_R_PROTOCOL);
		fake_leave_lock(0);
	}
	return err ?: aggnet_barrier(r->g);
}

TEST_F(coll, tree__that_ends_with_EPROTO)
{
	unsigned int i, tree;

	for (tree = 0; tree < 2; tree++) {
		fake_trees_end();
		fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS,
				 RANKS);
		EXPECT_EQ(0, group_of(RANKS, tree_of_protocol, tree, -EPROTO));
		for (i = 0; i < RANKS; i++)
			EXPECT_EQ(0, strncmp("a tree of the group has ended: ",
					     ranks[i].text, 31));
	}
}

static int flipped(struct rank *r)
{
	int64_t x[40], y[40];
	int err = aggnet_barrier(r->g);

	for (y[0] = 0; y[0] < 40; y[0]++)
		x[y[0]] = 1;
	if (!err && !r->conf.rank) {
		pthread_mutex_lock(&fake_lock);
		fake_tree[r->arg].flip = true;
		pthread_mutex_unlock(&fake_lock);
	}
	return err ?: aggnet_allreduce(r->g, x, y, 40);
}

TEST_F(coll, bit__that_is_flipped)
{
	EXPECT_EQ(0, group_of(RANKS, flipped, 0, -EBADMSG));
	fake_trees_end();
	fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS, RANKS);
	EXPECT_EQ(0, group_of(RANKS, flipped, 1, -EBADMSG));
}

/* A rank waits until the others have timed out. */
static pthread_barrier_t all_late;

static int one_is_late(struct rank *r)
{
	struct aggnet_coll *c;
	int64_t x = 0;
	int err = 0;

	/* With both kinds of calls. */
	if (r->conf.rank % 2 && r->conf.rank != r->arg) {
		err = aggnet_coll_start(r->g, AGGNET_COLL_ALLREDUCE, &x, &x, 1, 0,
					&c);
		err = err ?: tests(c);
	} else if (r->conf.rank != r->arg) {
		err = aggnet_allreduce(r->g, &x, &x, 1);
	}
	pthread_barrier_wait(&all_late);
	if (r->conf.rank != r->arg)
		return err;
	/* The trees have ended. */
	return aggnet_allreduce(r->g, &x, &x, 1) ? -ETIMEDOUT : 0;
}

TEST_F(coll, rank__that_does_not_call)
{
	unsigned int i, late;

	for (late = 0; late < 2; late++) {
		fake_trees_end();
		fake_trees_begin(AGGNET_FN_SUM, AGGNET_VTYPE_INT64, ELEMENTS,
				 RANKS);
		pthread_barrier_init(&all_late, NULL, RANKS);
		ranks_begin(RANKS);
		for (i = 0; i < RANKS; i++)
			ranks[i].conf.timeout_ms = 500;
		ranks_run(RANKS, one_is_late, late);
		for (i = 0; i < RANKS; i++)
			EXPECT_TRUE(ranks[i].err == -ETIMEDOUT ||
				    ranks[i].err == -ECONNABORTED);
		EXPECT_EQ(-ETIMEDOUT, ranks[late].err);
		pthread_barrier_destroy(&all_late);
	}
}

TEST_HARNESS_MAIN
