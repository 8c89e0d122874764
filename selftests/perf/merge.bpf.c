// SPDX-License-Identifier: GPL-2.0
/* The XDP programs that the module is compared with: merge the records of a
 * DATA into a map and drop the packet. They check only what the verifier
 * demands, add integers of 64 bits without regard to overflow, and acknowledge
 * nothing.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include <linux/aggnet_packet.h>

#include "shape.h"

/* Ethernet, IP, UDP, and the two of DATA */
#define HEADERS	(14 + 20 + 8 + sizeof(struct aggnet_hdr) + \
		 sizeof(struct aggnet_data))

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PERF_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
} array_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PERF_ARRAY);
	__type(key, __u64);
	__type(value, __u64);
} hash_sums SEC(".maps");

struct vector {
	__u64 sum[PERF_ELEMENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vector);
} vector_sums SEC(".maps");

/* Correct only for keys that are small numbers. */
SEC("xdp")
int merge_array(struct xdp_md *ctx)
{
	unsigned char *end = (void *)(long)ctx->data_end;
	unsigned char *p = (void *)(long)ctx->data;
	__u64 *sum;
	__u32 key;
	int i;

	p += HEADERS;
	if (p + PERF_RECORDS * PERF_RECORD > end)
		return XDP_PASS;
	for (i = 0; i < PERF_RECORDS; i++, p += PERF_RECORD) {
		if (p + PERF_RECORD > end)
			return XDP_DROP;
		key = *(__u32 *)(p + 2) & (PERF_ARRAY - 1);
		sum = bpf_map_lookup_elem(&array_sums, &key);
		if (sum)
			*sum += *(__u64 *)(p + 2 + PERF_KEY);
	}
	return XDP_DROP;
}

/* Any 64-bit keys. */
SEC("xdp")
int merge_hash(struct xdp_md *ctx)
{
	unsigned char *end = (void *)(long)ctx->data_end;
	unsigned char *p = (void *)(long)ctx->data;
	__u64 key, value, *sum;
	int i;

	p += HEADERS;
	if (p + PERF_RECORDS * PERF_RECORD > end)
		return XDP_PASS;
	for (i = 0; i < PERF_RECORDS; i++, p += PERF_RECORD) {
		if (p + PERF_RECORD > end)
			return XDP_DROP;
		key = *(__u64 *)(p + 2);
		value = *(__u64 *)(p + 2 + PERF_KEY);
		sum = bpf_map_lookup_elem(&hash_sums, &key);
		if (sum)
			*sum += value;
		else
			bpf_map_update_elem(&hash_sums, &key, &value, BPF_ANY);
	}
	return XDP_DROP;
}

/* Blocks of a dense vector, added to one value that holds all of it. */
SEC("xdp")
int merge_vector(struct xdp_md *ctx)
{
	unsigned char *end = (void *)(long)ctx->data_end;
	unsigned char *p = (void *)(long)ctx->data;
	struct vector *vector;
	__u32 zero = 0, at;
	int i, j;

	vector = bpf_map_lookup_elem(&vector_sums, &zero);
	p += HEADERS;
	if (!vector || p + PERF_BLOCKS * PERF_BLOCK > end)
		return XDP_PASS;
	for (i = 0; i < PERF_BLOCKS; i++, p += PERF_BLOCK) {
		if (p + PERF_BLOCK > end)
			return XDP_DROP;
		at = (p[2] << 8 | p[3]) * AGGNET_BLOCK_ELEMENTS;
		if (at > PERF_ELEMENTS - AGGNET_BLOCK_ELEMENTS)
			return XDP_DROP;
#pragma unroll
		for (j = 0; j < AGGNET_BLOCK_ELEMENTS; j++)
			vector->sum[at + j] += *(__u64 *)(p + 4 + 8 * j);
	}
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
