// SPDX-License-Identifier: GPL-2.0
/* The XDP programs that the module is compared with: merge the records of a
 * DATA into a map and drop the packet. They check only what the verifier
 * demands, and acknowledge nothing.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include <linux/aggnet_packet.h>

#include "shape.h"

/* Ethernet, IP, UDP, and the two of DATA */
#define HEADERS	(14 + 20 + 8 + sizeof(struct aggnet_hdr) + \
		 sizeof(struct aggnet_data))
#define KEYS	65536

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KEYS);
	__type(key, __u32);
	__type(value, __u64);
} dense SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KEYS);
	__type(key, __u64);
	__type(value, __u64);
} sums SEC(".maps");

/* Correct only for keys that are small numbers: the cheapest possible merge. */
SEC("array")
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
		key = *(__u32 *)(p + 2) & (KEYS - 1);
		sum = bpf_map_lookup_elem(&dense, &key);
		if (sum)
			*sum += *(__u64 *)(p + 2 + PERF_KEY);
	}
	return XDP_DROP;
}

/* Any 64-bit keys. */
SEC("hash")
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
		sum = bpf_map_lookup_elem(&sums, &key);
		if (sum)
			*sum += value;
		else
			bpf_map_update_elem(&sums, &key, &value, BPF_ANY);
	}
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
