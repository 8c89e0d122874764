#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every allocation of the module can be made to fail: kmod/mem.c makes it, or is
# asked first where a function of the kernel makes it.
set -u

kmod=$(cd "$(dirname "$0")/../../kmod" && pwd)
allocators='kv?[mzc]alloc|kv?malloc_array|kmemdup|kstrdup|kasprintf|v[mz]alloc'
allocators+='|__get_free_pages?|alloc_pages?|kmem_cache_[a-z]+|alloc_skb'
allocators+='|skb_(clone|copy|share_check|unshare)|pskb_copy|[a-z]*nlmsg_new'
callers='skb_cow_head|skb_ensure_writable|pskb_may_pull|alloc_percpu'
callers+='|dst_cache_init|__skb_gso_segment'
n=0 failed=0

# none WHAT LINES: a row, which passes if there are no lines
none()
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

echo 1..3
found=$(grep -rnE "\<($allocators)\(" "$kmod" | grep -v '/mem\.[ch]:')
none "only mem.c allocates memory" "$found"
found=$(awk -v calls="[^a-z_](${callers})\\\\(" '
	$0 ~ calls && $0 !~ /aggnet_mem_fails/ && last !~ /aggnet_mem_fails/ {
		print FILENAME ":" FNR ": " $0
	}
	{ last = $0 }' "$kmod"/*.c "$kmod"/*/*.c)
none "aggnet_mem_fails() precedes functions that allocate" "$found"
# The words above must still be names of the code, or the tests prove nothing.
found=''
for word in kvzalloc alloc_skb pskb_copy; do
	grep -q "$word(" "$kmod/mem.c" || found+=" $word"
done
none "mem.c calls the allocators" "$found"
[ $failed = 0 ]
