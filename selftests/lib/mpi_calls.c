// SPDX-License-Identifier: GPL-2.0
/* A program of MPI that knows nothing of aggnet: calls whose results follow from the ranks.
 * Usage: mpi_calls COUNT WHAT...; it exits with 1 if a result is wrong.
 */
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <mpi.h>

/* Elements where COUNT does not matter, more than the default of AGGNET_MPI_MIN. */
#define VECTOR	4200

static int rank, size, count;
static bool wrong;

static void expect(bool good, const char *what, int at)
{
	if (good || wrong)
		return;
	fprintf(stderr, "rank %d: %s, element %d is wrong\n", rank, what, at);
	wrong = true;
}

/* --- each operation and type --------------------------------------------------------------- */

enum op { SUM, MIN, MAX };

static const MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX };

/* What rank @r gives, a number that each type holds. */
static int given(int r, int i)
{
	return (r * 7919 + i * 31) % 2003 - 1000;
}

static int merged(enum op op, int i)
{
	int r, x = given(0, i), all = x;

	for (r = 1; r < size; r++) {
		x = given(r, i);
		all = op == SUM ? all + x : (op == MIN) == (x < all) ? x : all;
	}
	return all;
}

/* TYPE_CALLS() - allreduce and reduce, with and without MPI_IN_PLACE, of one type. MPICH
 * 4.0.2 itself crashes in a reduce in place to another rank than 0.
 */
#define TYPE_CALLS(name, type, mpi)							\
static void name##_check(const type *x, enum op op, const char *what)			\
{											\
	int i;										\
											\
	for (i = 0; i < count; i++)							\
		expect(x[i] == (type)merged(op, i), what, i);				\
}											\
											\
static void name##_fill(type *x)							\
{											\
	int i;										\
											\
	for (i = 0; i < count; i++)							\
		x[i] = (type)given(rank, i);						\
}											\
											\
static void name##_reduce(type *x, type *y, enum op op)				\
{											\
	int root;									\
											\
	for (root = 0; root < size; root++) {						\
		name##_fill(x);								\
		MPI_Reduce(x, rank == root ? y : NULL, count, mpi, ops[op], root,	\
			   MPI_COMM_WORLD);						\
		if (rank == root)							\
			name##_check(y, op, #name " reduce");				\
	}										\
}											\
											\
static void name##_in_place(enum op op)						\
{											\
	type *x = calloc(count, sizeof(*x));						\
	int root;									\
											\
	for (root = 0; root < size; root++) {						\
		name##_fill(x);								\
		MPI_Reduce(rank == root ? MPI_IN_PLACE : x, rank == root ? x : NULL,	\
			   count, mpi, ops[op], root, MPI_COMM_WORLD);			\
		if (rank == root)							\
			name##_check(x, op, #name " reduce in place");			\
	}										\
	free(x);									\
}											\
											\
static void name##_calls(enum op op)							\
{											\
	type *x = calloc(count, sizeof(*x)), *y = calloc(count, sizeof(*y));		\
											\
	name##_fill(x);									\
	MPI_Allreduce(x, y, count, mpi, ops[op], MPI_COMM_WORLD);			\
	name##_check(y, op, #name " allreduce");					\
	MPI_Allreduce(MPI_IN_PLACE, x, count, mpi, ops[op], MPI_COMM_WORLD);		\
	name##_check(x, op, #name " allreduce in place");				\
	name##_reduce(x, y, op);							\
	free(x);									\
	free(y);									\
}

TYPE_CALLS(int32, int32_t, MPI_INT)
TYPE_CALLS(int64, int64_t, MPI_INT64_T)
TYPE_CALLS(float32, float, MPI_FLOAT)
TYPE_CALLS(float64, double, MPI_DOUBLE)

static void results(void)
{
	enum op op;

	for (op = SUM; op <= MAX; op++) {
		int32_calls(op);
		int64_calls(op);
		float32_calls(op);
		float64_calls(op);
	}
}

static void in_place(void)
{
	int32_in_place(SUM);
	int64_in_place(MIN);
	float32_in_place(MAX);
	float64_in_place(SUM);
}

/* Sums that do not fit, as C adds; unsigned numbers have the same bits. */
static void overflow(void)
{
	int32_t x[VECTOR], i;
	uint64_t y[VECTOR];
	double z[VECTOR];

	for (i = 0; i < VECTOR; i++) {
		x[i] = INT32_MAX;
		y[i] = UINT64_MAX - 1;
		z[i] = 1e308;
	}
	MPI_Allreduce(MPI_IN_PLACE, x, VECTOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, y, VECTOR, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, z, VECTOR, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < VECTOR; i++) {
		expect((uint32_t)x[i] == (uint32_t)size * INT32_MAX, "sum of int", i);
		expect(y[i] == -2 * (uint64_t)size, "sum of unsigned long", i);
		expect(isinf(z[i]) && z[i] > 0, "sum of double", i);
	}
}

/* The sum of these depends on their order, unless it is rounded once. */
static void exact(void)
{
	static const double given_of[] = { 1e16, 1, -1e16, 1 };
	double x[VECTOR];
	int i;

	for (i = 0; i < VECTOR; i++)
		x[i] = given_of[(rank + i) % 4];
	MPI_Allreduce(MPI_IN_PLACE, x, VECTOR, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < VECTOR; i++)
		expect(size != 4 || x[i] == 2, "sum of double", i);
}

/* --- broadcast ------------------------------------------------------------------------------ */

/* Odd ranks have their numbers in every second place. */
static void bcast_from(int root, MPI_Datatype gaps, int32_t *x)
{
	int i, step = rank % 2 ? 2 : 1;

	for (i = 0; i < 2 * count; i++)
		x[i] = rank == root && i % step == 0 ? i / step * 17 + root : -1;
	if (rank % 2)
		MPI_Bcast(x, 1, gaps, root, MPI_COMM_WORLD);
	else
		MPI_Bcast(x, count, MPI_INT, root, MPI_COMM_WORLD);
	for (i = 0; i < 2 * count; i++)
		expect(x[i] == (i % step || i / step >= count ?
				(rank == root && i % step == 0 ? x[i] : -1) :
				i / step * 17 + root),
		       "bcast", i);
}

static void bcast_bytes(int root, char *x)
{
	int i, n = count * 4 + 3;

	for (i = 0; i <= n; i++)
		x[i] = rank == root ? (char)(i * 7 + root) : 'x';
	MPI_Bcast(x, n, MPI_CHAR, root, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		expect(x[i] == (char)(i * 7 + root), "bcast of bytes", i);
	expect(rank == root || x[n] == 'x', "bcast of bytes", n);
}

static void bcast(void)
{
	int32_t *x = calloc(2 * count + 2, sizeof(*x));
	MPI_Datatype gaps;
	int root;

	MPI_Type_vector(count, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	for (root = 0; root < size; root++) {
		bcast_from(root, gaps, x);
		bcast_bytes(root, (char *)x);
	}
	MPI_Type_free(&gaps);
	free(x);
}

/* --- communicators --------------------------------------------------------------------------- */

static int sum_of_ones(MPI_Comm comm)
{
	static int32_t x[VECTOR];
	int i;

	for (i = 0; i < VECTOR; i++)
		x[i] = 1;
	MPI_Allreduce(MPI_IN_PLACE, x, VECTOR, MPI_INT, MPI_SUM, comm);
	return x[VECTOR - 1];
}

static void dup(void)
{
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	expect(sum_of_ones(comm) == size, "dup", 0);
	expect(sum_of_ones(comm) == size, "dup", 1);
	MPI_Comm_free(&comm);
}

/* Halves, the same ranks in another order, and both halves as an inter-communicator. */
static void split(void)
{
	MPI_Comm half, turned, inter;
	int n;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_size(half, &n);
	expect(sum_of_ones(half) == n, "split", 0);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
	expect(sum_of_ones(turned) == size, "another order", 0);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 1, &inter);
	MPI_Barrier(inter);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&turned);
	MPI_Comm_free(&half);
}

/* Non-blocking and blocking calls of the same communicator. */
static void nonblocking(void)
{
	static int32_t x[VECTOR];
	MPI_Request request;

	x[VECTOR - 1] = rank;
	MPI_Iallreduce(MPI_IN_PLACE, x, VECTOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	expect(sum_of_ones(MPI_COMM_WORLD) == size, "between", 0);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	expect(x[VECTOR - 1] == size * (size - 1) / 2, "iallreduce", VECTOR - 1);
}

/* Rank 1 has its message before it calls: MPI sends it while rank 0 is in the call. */
static void progress(void)
{
	int n = 16 << 20;
	char *x = calloc(1, n);
	MPI_Request request;

	x[n - 1] = rank ? 0 : 'y';
	if (!rank)
		MPI_Isend(x, n, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
	if (rank == 1)
		MPI_Recv(x, n, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect(sum_of_ones(MPI_COMM_WORLD) == size, "allreduce", 0);
	expect(rank > 1 || x[n - 1] == 'y', "message", n - 1);
	if (!rank)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	free(x);
}

static void barriers(void)
{
	int i;

	for (i = 0; i < 10; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* --- errors ------------------------------------------------------------------------------------ */

/* The second call fails, and so does each one after it. */
static void error(void)
{
	char text[MPI_MAX_ERROR_STRING];
	static int32_t x[VECTOR];
	int i, err, class, len;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (i = 0; i < 3; i++) {
		err = MPI_Allreduce(MPI_IN_PLACE, x, VECTOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		expect(!err == !i, "error", i);
		if (i != 1 || !err)
			continue;
		MPI_Error_class(err, &class);
		expect(class > MPI_ERR_LASTCODE, "class of error", i);
		MPI_Error_string(err, text, &len);
		printf("rank %d: %s\n", rank, text);
	}
}

/* A broadcast needs a copy of these bytes, as they are no whole elements. */
static void no_memory(void)
{
	static const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	static const struct rlimit none = { 1 << 20, RLIM_INFINITY };
	char text[MPI_MAX_ERROR_STRING];
	static char x[(64 << 20) + 3];
	int i, err, len;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (i = 0; i < 2; i++) {
		setrlimit(RLIMIT_AS, &none);
		err = MPI_Bcast(x, sizeof(x), MPI_CHAR, 0, MPI_COMM_WORLD);
		setrlimit(RLIMIT_AS, &all);
		expect(err, "error", i);
		MPI_Error_string(err, text, &len);
		printf("rank %d: %s\n", rank, text);
	}
}

static void fatal(void)
{
	sum_of_ones(MPI_COMM_WORLD);
	sum_of_ones(MPI_COMM_WORLD);
}

static void endless(void)
{
	while (sum_of_ones(MPI_COMM_WORLD) == size)
		;
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "results", results }, { "in_place", in_place }, { "overflow", overflow },
	{ "exact", exact },
	{ "bcast", bcast }, { "dup", dup }, { "split", split },
	{ "nonblocking", nonblocking }, { "progress", progress }, { "barriers", barriers },
	{ "error", error }, { "no_memory", no_memory },
	{ "fatal", fatal }, { "endless", endless }, { "threads", dup },
};

static void run(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i].name)) {
			all[i].run();
			return;
		}
	fprintf(stderr, "unknown call '%s'\n", name);
	wrong = true;
}

int main(int argc, char **argv)
{
	int i, level;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[2], "threads"))
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	count = atoi(argv[1]);
	for (i = 2; i < argc; i++)
		run(argv[i]);
	MPI_Finalize();
	return wrong;
}
