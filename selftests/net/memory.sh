#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bounded memory loses nothing and blocks no other transfer.
# BCube(4,1); v1 and v4 are one hop from v0 (w0 and w4), v5 is behind both.
. "$(dirname "$0")/lib.sh"

# within BYTES COMMAND...: the trees of v0, v1 and v4 never hold more than BYTES
# on any of these nodes while COMMAND runs
within()
{
	local limit=$1 node used most=0 pid

	shift
	"$@" > "$TMP/most" 2>&1 &
	pid=$!
	while kill -0 $pid 2> "$TMP/kill"; do
		for node in v0 v1 v4; do
			used=$(aggctl -j -n $node tree show |
				jq 'map(.memory_used) | add // 0')
			[ "$used" -le "$most" ] || most=$used
		done
	done
	say "a tree held at most $most bytes"
	cat "$TMP/most"
	wait $pid || return
	[ "$most" -gt 0 ] && [ "$most" -le "$limit" ]
}

# Buffers are small, and the distinct keys have 4 MB: most of them leave as
# PARTIAL.
small_buffer()
{
	local s n=0 file

	for s in v5 v9 v14; do
		n=$((n + 1))
		gen $((SEED + n)) 40000 40000 24 one |
			sed "s/^/$s/" > "$TMP/in.$s"
	done
	file=$(cat "$TMP"/in.v5 "$TMP"/in.v9 "$TMP"/in.v14 | wc -c)
	say "$file bytes of distinct keys through 64 KiB"
	plan small --topology bcube:4,1 --method irs --senders v5,v9,v14 \
		--receivers v0 --memory 65536 --uid 0 &&
		within $((3 * 65536)) transfer small sum v0 v5 v9 v14
}

# X sends to Y and Y to X through the same servers, with the same small memory.
cross()
{
	local pids=() pid status=0 a b

	gen "$SEED" 20000 20000 24 small > "$TMP/in.x"
	gen $((SEED + 1)) 20000 20000 24 small > "$TMP/in.y"
	plan x --topology bcube:4,1 --method irs --senders v15,v12,v3 \
		--receivers v0 --memory 65536 --uid 0 || return
	a=$job
	start_recv x v0
	pids+=("$recv_pid")
	plan y --topology bcube:4,1 --method irs --senders v0,v3,v12 \
		--receivers v15 --memory 65536 --uid 0 || return
	b=$job
	start_recv y v15
	pids+=("$recv_pid")
	job=$a
	for s in v15 v12 v3; do
		start_send x $s v0 "$TMP/in.x"
		pids+=("$send_pid")
	done
	job=$b
	for s in v0 v3 v12; do
		start_send y $s v15 "$TMP/in.y"
		pids+=("$send_pid")
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	cat "$TMP"/[xy].*err
	reference sum "$TMP/in.x" "$TMP/in.x" "$TMP/in.x" > "$TMP/x.expected"
	reference sum "$TMP/in.y" "$TMP/in.y" "$TMP/in.y" > "$TMP/y.expected"
	sort "$TMP/x.out" | cmp - "$TMP/x.expected" &&
		sort "$TMP/y.out" | cmp - "$TMP/y.expected" &&
		return $status
}

# moved NODE...: print what the slow tree has taken in and sent on these nodes
moved()
{
	local node

	for node in "$@"; do
		aggctl -j -n "$node" tree show --job "$slow_job" |
			jq -c '.[0] | [.records_in, .records_out]'
	done
}

reading()
{
	[[ $(moved v0) = *,[1-9]* ]]
}

# slow_input: send the rest only when the reader stands still, so that the
# transfer does not end earlier
slow_input()
{
	head -n 1000 "$TMP/in.slow"
	read -r < "$TMP/slow.go"
	tail -n +1001 "$TMP/in.slow"
}

# A receiver that stops reading stops its own tree when all buffers on the path
# are full, and no other tree.
slow_reader()
{
	local slow_recv slow_send=() slow_job status=0 full pid

	gen "$SEED" 60000 60000 24 small > "$TMP/in.slow"
	gen $((SEED + 1)) 5000 500 mix small > "$TMP/in.v5"
	cp "$TMP/in.v5" "$TMP/in.v9"
	mkfifo "$TMP/slow.pipe" "$TMP/slow.go"
	plan slow --topology bcube:4,1 --method irs --senders v5,v9 \
		--receivers v0 --memory 65536 --uid 0 --give-up 600 || return
	slow_job=$job
	start_recv slow v0
	slow_recv=$recv_pid
	slow_input > "$TMP/slow.pipe" &
	start_send slow v5 v0 "$TMP/slow.pipe"
	slow_send+=("$send_pid")
	start_send slow v9 v0 "$TMP/in.slow"
	slow_send+=("$send_pid")
	wait_for reading || status=1
	kill -STOP "$slow_recv"
	echo > "$TMP/slow.go"
	wait_for at_rest moved v0 v1 v5 || status=1
	full=$rest
	plan quick --topology bcube:4,1 --method irs --senders v5,v9 \
		--receivers v0 --memory 65536 --uid 0 &&
		transfer quick sum v0 v5 v9 || status=1
	[ "$(moved v0 v1 v5)" = "$full" ] || status=1
	aggctl -j -n v5 tree show --job "$slow_job" |
		jq -e '.[0].state == "open"' || status=1
	say "stood still: $full"
	kill -CONT "$slow_recv"
	for pid in "${slow_send[@]}" "$slow_recv"; do
		wait "$pid" || status=1
	done
	cat "$TMP"/slow.*err
	reference sum "$TMP/in.slow" "$TMP/in.slow" > "$TMP/slow.expected"
	sort "$TMP/slow.out" | cmp - "$TMP/slow.expected" && return $status
}

held()
{
	aggctl -j node show | jq .memory_used
}

# grown BYTES: does the node hold more than BYTES?
grown()
{
	[ "$(held)" -gt "$1" ]
}

# A work item grows buffers when the process that added the entries is long
# gone. The memory is charged to that process's control group. The entries free
# it at the end of the transfer, so check while a reader that stands still keeps
# the transfer going.
charged()
{
	local root=/sys/fs/cgroup maker=/sys/fs/cgroup/maker used paid status=0

	gen "$SEED" 30000 30000 24 one > "$TMP/in.v5"
	echo +memory > $root/cgroup.subtree_control && mkdir $maker || return
	echo $BASHPID > $maker/cgroup.procs
	plan charged --topology bcube:4,1 --method irs --senders v5 \
		--receivers v0 --memory 8388608 --uid 0 || status=1
	echo $BASHPID > $root/cgroup.procs
	used=$(held)
	paid=$(< $maker/memory.current)
	start_recv charged v0
	kill -STOP "$recv_pid"
	start_send charged v5 v0 "$TMP/in.v5"
	wait_for grown $((used + 1000000)) || status=1
	used=$(($(held) - used))
	paid=$(($(< $maker/memory.current) - paid))
	say "buffers grew by $used bytes, the entries' control group by $paid"
	kill -CONT "$recv_pid"
	wait "$send_pid" && wait "$recv_pid" || status=1
	rmdir $maker && [ $status = 0 ] &&
		[ "$used" -gt 1000000 ] && [ "$paid" -gt $((used / 2)) ]
}

refused()
{
	! plan refused --topology bcube:4,1 --method existing \
		--senders v1,v2,v3,v4,v5,v6,v7,v8,v9,v10,v11,v12,v13,v14 \
		--receivers v0 --memory 65536 --uid 0 &&
		grep -q 'memory is too small' "$TMP/check"
}

testbed bcube:4,1
check "growth is charged to the control group that added the entry" charged
withdraw charged
check "64 KiB of buffer, 4 MB of distinct keys" small_buffer
withdraw small
check "X to Y and Y to X with tight memory" cross
withdraw x
withdraw y
check "a slow reader stops its own tree only" slow_reader
withdraw slow
withdraw quick
check "an entry with too little memory is refused with an error" refused
done_testing
