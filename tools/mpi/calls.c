// SPDX-License-Identifier: GPL-2.0
/* Shim: the functions of MPI that programs call. Each goes to a group or to MPI as a
 * whole; nothing is tried again with MPI once a group has begun, because another rank may
 * have the result already.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define SHOWN	__attribute__((visibility("default")))

/* A collective of more elements is several, which bounds the memory of rank 0. */
#define PART_MAX	((size_t)8 << 20)

/* --- the calls of a group ---------------------------------------------------------------- */

/**
 * struct call - a call that a group gets
 * @sg: the group
 * @kind: of collective
 * @send: as of aggnet_coll_start()
 * @recv: likewise
 * @count: elements, of which a collective may have less
 * @root: rank, or 0
 */
struct call {
	struct shim_group *sg;
	enum aggnet_coll_kind kind;
	const void *send;
	void *recv;
	size_t count;
	int root;
};

static size_t vtype_size(uint32_t vtype)
{
	return vtype == AGGNET_VTYPE_INT32 || vtype == AGGNET_VTYPE_FLOAT32 ? 4 : 8;
}

static size_t element_size(const struct shim_group *sg)
{
	return vtype_size(sg->conf.vtype);
}

/* Elements of a part, the same at all ranks; 0: the vector has no room for data. */
static size_t part_max(const struct shim_group *sg, enum aggnet_coll_kind kind, int root)
{
	size_t max = sg->max[kind];

	if (kind == AGGNET_COLL_BARRIER || (kind == AGGNET_COLL_BROADCAST && !root) ||
	    max > PART_MAX)
		return PART_MAX;
	return max;
}

static int call_part(const struct call *call, size_t at, size_t count)
{
	size_t size = element_size(call->sg);
	struct aggnet_coll *c;
	int err;

	if (!call->sg->g)
		return -ENOTCONN;
	err = aggnet_coll_start(call->sg->g, call->kind,
				call->send ? (const char *)call->send + at * size : NULL,
				call->recv ? (char *)call->recv + at * size : NULL, count,
				(uint32_t)call->root, &c);
	return err ? err : shim_wait(c);
}

static int call_run(const struct call *call)
{
	size_t max = part_max(call->sg, call->kind, call->root), at = 0, n;
	int err;

	do {
		n = call->count - at < max ? call->count - at : max;
		err = call_part(call, at, n);
		at += n;
	} while (!err && at < call->count);
	return err;
}

/* --- which group ------------------------------------------------------------------------- */

/**
 * struct type - a type of MPI
 * @type: its handle
 * @vtype: of the group
 * @is_signed: also for an extreme; a sum has the same bits in any case
 */
static const struct type {
	MPI_Datatype type;
	uint32_t vtype;
	bool is_signed;
} types[] = {
	{ MPI_INT, AGGNET_VTYPE_INT32, true },
	{ MPI_INT32_T, AGGNET_VTYPE_INT32, true },
	{ MPI_UNSIGNED, AGGNET_VTYPE_INT32, false },
	{ MPI_UINT32_T, AGGNET_VTYPE_INT32, false },
	{ MPI_LONG, sizeof(long) == 8 ? AGGNET_VTYPE_INT64 : AGGNET_VTYPE_INT32, true },
	{ MPI_UNSIGNED_LONG, sizeof(long) == 8 ? AGGNET_VTYPE_INT64 : AGGNET_VTYPE_INT32,
	  false },
	{ MPI_LONG_LONG, AGGNET_VTYPE_INT64, true },
	{ MPI_INT64_T, AGGNET_VTYPE_INT64, true },
	{ MPI_UNSIGNED_LONG_LONG, AGGNET_VTYPE_INT64, false },
	{ MPI_UINT64_T, AGGNET_VTYPE_INT64, false },
	{ MPI_FLOAT, AGGNET_VTYPE_FLOAT32, true },
	{ MPI_DOUBLE, AGGNET_VTYPE_FLOAT64, true },
	{ MPI_INTEGER, AGGNET_VTYPE_INT32, true },
	{ MPI_REAL, AGGNET_VTYPE_FLOAT32, true },
	{ MPI_DOUBLE_PRECISION, AGGNET_VTYPE_FLOAT64, true },
};

/* The types of Fortran have the sizes that MPI was built with. */
static const struct type *type_find(MPI_Datatype type)
{
	int size;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].type != type || type == MPI_DATATYPE_NULL)
			continue;
		PMPI_Type_size(type, &size);
		return (size_t)size == vtype_size(types[i].vtype) ? &types[i] : NULL;
	}
	return NULL;
}

static bool function_of(MPI_Op op, uint32_t *function)
{
	*function = op == MPI_SUM ? AGGNET_FN_SUM :
		    op == MPI_MIN ? AGGNET_FN_MIN : AGGNET_FN_MAX;
	return op == MPI_SUM || op == MPI_MIN || op == MPI_MAX;
}

/* The open group that merges @type by @op in calls of this kind; NULL: none */
static struct shim_group *group_merging(MPI_Op op, MPI_Datatype type, int count,
					enum aggnet_coll_kind kind)
{
	const struct type *t = type_find(type);
	struct shim_group *sg;
	uint32_t function;

	if (!t || count <= 0 || !function_of(op, &function) ||
	    (!t->is_signed && op != MPI_SUM))
		return NULL;
	for (sg = shim.group; sg < shim.group + shim.groups; sg++)
		if (sg->used && sg->conf.function == function && sg->conf.vtype == t->vtype &&
		    (uint64_t)count * element_size(sg) >= shim.min && part_max(sg, kind, 0))
			return sg;
	return NULL;
}

/* Each element of a sum of reals is sent as a record, at many times the cost. */
static bool moves(const struct shim_group *sg, enum aggnet_coll_kind kind, int root)
{
	bool real = sg->conf.vtype == AGGNET_VTYPE_FLOAT32 ||
		    sg->conf.vtype == AGGNET_VTYPE_FLOAT64;

	return sg->used && part_max(sg, kind, root) &&
	       !(root && real && sg->conf.function == AGGNET_FN_SUM);
}

/* The open group that moves @bytes from @root; NULL: none */
static struct shim_group *group_moving(uint64_t bytes, enum aggnet_coll_kind kind, int root)
{
	struct shim_group *sg;

	if (bytes < shim.min || root < 0 || root >= shim.size)
		return NULL;
	for (sg = shim.group; sg < shim.group + shim.groups; sg++)
		if (moves(sg, kind, root))
			return sg;
	return NULL;
}

/* --- broadcast ----------------------------------------------------------------------------- */

/**
 * struct bytes - a buffer of a program as bytes
 * @buf: of the program
 * @count: of it
 * @type: of it
 * @size: bytes of its data
 * @room: bytes of whole elements of the group
 * @copy: NULL: @buf itself is used
 */
struct bytes {
	void *buf;
	int count;
	MPI_Datatype type;
	uint64_t size;
	uint64_t room;
	void *copy;
};

/* Is a buffer of the type its data, without gaps and in their order? */
static bool is_plain(MPI_Datatype type)
{
	int integers, addresses, types_, combiner, size;
	MPI_Aint lower, extent;

	PMPI_Type_get_envelope(type, &integers, &addresses, &types_, &combiner);
	PMPI_Type_get_extent(type, &lower, &extent);
	PMPI_Type_size(type, &size);
	return combiner == MPI_COMBINER_NAMED && !lower && extent == size;
}

/* Return: NULL, or why the group has to be left */
static const char *bytes_begin(struct bytes *b, size_t element, bool gives)
{
	int at = 0, size = (int)b->size;

	b->room = (b->size + element - 1) / element * element;
	b->copy = NULL;
	if (b->room == b->size && is_plain(b->type))
		return NULL;
	b->copy = calloc(1, b->room);
	if (!b->copy)
		return "the group was left: no memory for a copy of MPI_Bcast";
	/* Ranks have one byte order: packing is copying. */
	if (gives && (PMPI_Pack(b->buf, b->count, b->type, b->copy, size, &at, shim.comm) !=
		      MPI_SUCCESS || at != size))
		return "the group was left: MPI cannot pack the data of MPI_Bcast";
	return NULL;
}

static void bytes_end(struct bytes *b, bool takes)
{
	int at = 0;

	if (b->copy && takes)
		PMPI_Unpack(b->copy, (int)b->size, &at, b->buf, b->count, b->type, shim.comm);
	free(b->copy);
}

static int bcast(struct bytes *b, struct shim_group *sg, int root, MPI_Comm comm)
{
	struct call call = {
		.sg = sg, .kind = AGGNET_COLL_BROADCAST, .root = root,
	};
	int err;

	/* It may have been left before. */
	if (sg->g)
		sg->left = bytes_begin(b, element_size(sg), shim.rank == root);
	if (sg->left) {
		free(b->copy);
		/* This ends the group for the other ranks, which wait. */
		aggnet_group_close(sg->g);
		sg->g = NULL;
		return shim_raise(comm, sg, "MPI_Bcast");
	}
	call.recv = b->copy ? b->copy : b->buf;
	call.count = b->room / element_size(sg);
	err = call_run(&call);
	bytes_end(b, !err && shim.rank != root);
	return err ? shim_raise(comm, sg, "MPI_Bcast") : MPI_SUCCESS;
}

/*
 * Ranks may give their data different types: only the number of bytes is the same. A larger
 * buffer than PMPI_Pack() counts goes to MPI.
 */
static uint64_t bcast_bytes(int count, MPI_Datatype type)
{
	int size;

	if (count <= 0 || type == MPI_DATATYPE_NULL ||
	    PMPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0)
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

SHOWN int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	struct bytes b = { .buf = buf, .count = count, .type = type };
	struct shim_group *sg = NULL;

	if (shim_has(comm))
		b.size = bcast_bytes(count, type);
	if (b.size && b.size <= INT32_MAX)
		sg = group_moving(b.size, AGGNET_COLL_BROADCAST, root);
	if (!sg) {
		shim_count(shim.by_mpi, SHIM_BCAST);
		return PMPI_Bcast(buf, count, type, root, comm);
	}
	shim_count(shim.by_group, SHIM_BCAST);
	return bcast(&b, sg, root, comm);
}

/* --- the others ------------------------------------------------------------------------------ */

SHOWN int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
			MPI_Comm comm)
{
	struct call call = { .kind = AGGNET_COLL_ALLREDUCE, .recv = recv };

	if (shim_has(comm))
		call.sg = group_merging(op, type, count, call.kind);
	if (!call.sg) {
		shim_count(shim.by_mpi, SHIM_ALLREDUCE);
		return PMPI_Allreduce(send, recv, count, type, op, comm);
	}
	shim_count(shim.by_group, SHIM_ALLREDUCE);
	call.send = send == MPI_IN_PLACE ? recv : send;
	call.count = (size_t)count;
	return call_run(&call) ? shim_raise(comm, call.sg, "MPI_Allreduce") : MPI_SUCCESS;
}

SHOWN int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
		     int root, MPI_Comm comm)
{
	struct call call = { .kind = AGGNET_COLL_REDUCE, .root = root };

	if (shim_has(comm) && root >= 0 && root < shim.size)
		call.sg = group_merging(op, type, count, call.kind);
	if (!call.sg) {
		shim_count(shim.by_mpi, SHIM_REDUCE);
		return PMPI_Reduce(send, recv, count, type, op, root, comm);
	}
	shim_count(shim.by_group, SHIM_REDUCE);
	/* Elsewhere @recv need not be a buffer. */
	call.recv = shim.rank == root ? recv : NULL;
	call.send = send == MPI_IN_PLACE ? call.recv : send;
	call.count = (size_t)count;
	return call_run(&call) ? shim_raise(comm, call.sg, "MPI_Reduce") : MPI_SUCCESS;
}

SHOWN int MPI_Barrier(MPI_Comm comm)
{
	struct call call = { .kind = AGGNET_COLL_BARRIER };

	if (shim_has(comm))
		call.sg = group_moving(0, call.kind, 0);
	if (!call.sg) {
		shim_count(shim.by_mpi, SHIM_BARRIER);
		return PMPI_Barrier(comm);
	}
	shim_count(shim.by_group, SHIM_BARRIER);
	return call_run(&call) ? shim_raise(comm, call.sg, "MPI_Barrier") : MPI_SUCCESS;
}

/* --- the first and the last call --------------------------------------------------------------- */

SHOWN int MPI_Init(int *argc, char ***argv)
{
	int err = PMPI_Init(argc, argv);

	if (err == MPI_SUCCESS)
		shim_begin();
	return err;
}

SHOWN int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err = PMPI_Init_thread(argc, argv, required, provided);

	if (err == MPI_SUCCESS)
		shim_begin();
	return err;
}

SHOWN int MPI_Finalize(void)
{
	shim_end();
	return PMPI_Finalize();
}
