// SPDX-License-Identifier: GPL-2.0
/* Scripts: bytes that describe a run of the world. */
#include <linux/skbuff.h>

#include "core/fault.h"
#include "script.h"
#include "world.h"

#define POLITE	8	/* in the third byte: only what a network may do */
#define FAULTY	250	/* the seventh byte from here on: a fault occurs */

static u32 writer(u8 arg)
{
	return arg % WORLD_NODES;
}

/* What a network and a busy machine may do: results must not change. */
static void polite(u8 op, u8 arg)
{
	u32 n = world.packets;

	switch (op) {
	case 0 ... 11:		/* deliver some packets in order */
		for (n = min(n, arg % 16 + 1u); n; n--)
			world_deliver(0);
		break;
	case 12 ... 19:
		if (n)
			world_deliver(arg % n);
		break;
	case 20 ... 22:
		if (n)
			world_copy(arg % n);
		break;
	case 23 ... 25:
		if (n)
			world_lose(arg % n);
		break;
	case 26:
		if (n)
			world_corrupt(arg % n, arg * 97u);
		break;
	case 27 ... 29:
		if (n)
			world_stray(arg / WORLD_NODES % n, arg % WORLD_NODES);
		break;
	case 30 ... 33:
		world_wait(arg * 200);
		break;
	case 34:
		world_wait(arg * 2000);
		break;
	case 35 ... 37:
		world_write(writer(arg), 1 + arg / WORLD_NODES);
		break;
	case 38 ... 39:
		if (world_poll(writer(arg)))
			world_write(writer(arg), 1 + arg / WORLD_NODES);
		break;
	case 40 ... 42:
		world_shutdown(writer(arg));
		break;
	case 43 ... 45:
		world_read(arg % 8 + 1);
		break;
	case 46 ... 47:
		world_work();
		break;
	case 48:
		world.no_packet = true;
		break;
	case 49:
		/* Memory to grow is not available. */
		shim_alloc_fail = 1 + arg % 4;
		world_work();
		shim_alloc_fail = 0;
		break;
	case 50 ... 51:
		world_add(arg % WORLD_NODES);
		break;
	default:
		world_look(arg % WORLD_NODES);
	}
}

/* Events after which an error is a right outcome; a wrong result never is. */
static void harmful(u8 op, u8 arg)
{
	u32 node = arg % WORLD_NODES;

	world.harm = true;
	switch (op) {
	case 0:
		world_crash(node);
		world_add(node);
		break;
	case 1:
		world_crash(node);
		break;
	case 2:
		world_del(node);
		break;
	case 3:
		world_close(node);
		break;
	case 4:
		if (world.node[node].attempt < 8)
			world_renew(node);
		break;
	default:
		world_wait(arg * 40000);
	}
}

/* The values' type; states of all but the first two take several parts. */
static void script_values(struct world_conf *conf, u8 choice)
{
	static const u8 values[][2] = {
		{ AGGNET_FN_SUM, AGGNET_VTYPE_INT64 },
		{ AGGNET_FN_AVERAGE, AGGNET_VTYPE_INT64 },
		{ AGGNET_FN_SUM, AGGNET_VTYPE_FLOAT64 },
		{ AGGNET_FN_AVERAGE, AGGNET_VTYPE_FLOAT64 },
		{ AGGNET_FN_TOPK, AGGNET_VTYPE_INT64 },
		{ AGGNET_FN_NEAREST, AGGNET_VTYPE_INT64 },
	};

	/* Vectors have sums only. */
	choice %= ARRAY_SIZE(values);
	conf->function = conf->dense ? AGGNET_FN_SUM : values[choice][0];
	conf->vtype = values[choice][1];
}

static void script_conf(struct world_conf *conf, const u8 *data)
{
	*conf = (struct world_conf) {
		.chain = data[0] & 1,
		.lists = !(data[0] & 2),
		.keyed = data[0] & 4,
		.acceptor_writes = data[0] & 8,
		.in_turn = data[0] & 64,
		.hold_ms = data[0] & 16 ? 100 + data[1] * 4 : 0,
		.payload = data[0] & 32 ? AGGNET_PAYLOAD_MIN :
					  AGGNET_PAYLOAD_USUAL,
		.memory = 1 << (data[2] & 3),
		.records = data[3] * (data[2] & 4 ? 2 : 1),
		.keys = 1 + data[4] * 2,
		.dense = data[0] & 128,
		.sorted = !(data[0] & 128) && data[1] & 1,
		.faulty = data[5] % WORLD_NODES,
	};
	script_values(conf, data[6]);
	/* A quarter of the other runs has rounds, of fewer records. */
	if (!conf->sorted && data[1] & 2) {
		conf->rounds = 1 + data[1] / 4 % 4;
		conf->records /= conf->rounds;
	}
	/* Rarely, because an error is then always right. */
	if (data[6] >= FAULTY && !(data[2] & POLITE))
		conf->fault = data[6] & 1 ? AGGNET_FAULT_DROP :
					    AGGNET_FAULT_DOUBLE;
}

u32 script_run(const u8 *data, size_t size)
{
	struct world_conf conf;
	u32 steps = 0;
	u32 i;

	if (size < SCRIPT_HEAD)
		return 0;
	script_conf(&conf, data);
	world_start(&conf, data[5]);
	/* Nodes that do not exist at first are added later. */
	for (i = 0; i < WORLD_NODES; i++)
		if (!(data[2] & 8 << i) || i == RECEIVER)
			world_add(i);
	for (i = SCRIPT_HEAD; i + 1 < size; i += 2, steps++) {
		if (data[2] & POLITE || data[i] < 250)
			polite(data[i] % 52, data[i + 1]);
		else
			harmful(data[i] - 250, data[i + 1]);
	}
	world_settle();
	world_end();
	return steps;
}
