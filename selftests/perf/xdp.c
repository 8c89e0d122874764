// SPDX-License-Identifier: GPL-2.0
/* Runs a program of merge.bpf.c on a device until its input ends, then prints the
 * sums of its map as JSON.
 * Usage: xdp OBJECT array|hash|vector DEVICE
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"
#include "workload.h"

static struct perf_result result;

static void add_array(int map)
{
	static u64 sum[PERF_ARRAY];
	u32 key;

	for (key = 0; key < PERF_ARRAY; key++)
		if (!bpf_map_lookup_elem(map, &key, &sum[key]) && sum[key])
			perf_result_add_key(&result, key, sum[key]);
}

static void add_hash(int map)
{
	u64 key, sum, *from = NULL;

	for (; !bpf_map_get_next_key(map, from, &key); from = &key) {
		if (bpf_map_lookup_elem(map, &key, &sum))
			perf_die("map");
		perf_result_add_key(&result, key, sum);
	}
}

static void add_vector(int map)
{
	static u64 sum[PERF_ELEMENTS];
	u32 i, zero = 0;

	if (bpf_map_lookup_elem(map, &zero, sum))
		perf_die("map");
	for (i = 0; i < PERF_ELEMENTS; i++) {
		perf_result_add_element(&result, i, sum[i]);
		result.keys += !(i % AGGNET_BLOCK_ELEMENTS) && sum[i];
	}
}

static void print_sums(struct bpf_object *object, const char *name)
{
	char text[32];
	int map;

	snprintf(text, sizeof(text), "%s_sums", name);
	map = bpf_object__find_map_fd_by_name(object, text);
	if (map < 0)
		perf_die(text);
	if (!strcmp(name, "array"))
		add_array(map);
	else if (!strcmp(name, "hash"))
		add_hash(map);
	else
		add_vector(map);
	printf("{");
	perf_result_print(&result);
	printf("}\n");
}

int main(int argc, char **argv)
{
	struct bpf_program *program;
	struct bpf_object *object;
	char text[32];
	int device;

	if (argc != 4) {
		fprintf(stderr, "usage: xdp OBJECT array|hash|vector DEVICE\n");
		return 2;
	}
	device = if_nametoindex(argv[3]);
	object = bpf_object__open_file(argv[1], NULL);
	if (!device || !object || bpf_object__load(object))
		perf_die("XDP object");
	snprintf(text, sizeof(text), "merge_%s", argv[2]);
	program = bpf_object__find_program_by_name(object, text);
	if (!program ||
	    bpf_xdp_attach(device, bpf_program__fd(program), 0, NULL))
		perf_die("XDP program");
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, text, sizeof(text)) > 0)
		;
	if (bpf_xdp_detach(device, 0, NULL))
		perf_die("detach");
	print_sums(object, argv[2]);
	return 0;
}
