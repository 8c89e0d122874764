#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Broadcasts: every reader gets the root's bytes, over bad links, with little memory,
# with late and slow readers; if a process or a node is lost, all get an error.
# BCube(4,1), the tree of the papers' example downwards, and a star.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/incast.inc"

SIZE=${SIZE:-$(scaled 3000000)}
WRITERS=1

# planned OPTION...: plan and apply a broadcast
planned()
{
	rm -f "$TMP"/x.*
	plan x --topology bcube:4,1 --method irs --collective bcast --root v0 --uid 0 \
		--receivers "$(IFS=,; echo "${SENDERS[*]}")" \
		--writers $WRITERS "$@"
}

# reads NODE: start its readers; $readers
reads()
{
	local i

	for ((i = 0; i < WRITERS; i++)); do
		aggctl -n "$1" recv --job $job --receiver "$(identity v0)" \
			--timeout "$TIMEOUT" > "$TMP/x.$1.$i.out" \
			2> "$TMP/x.$1.$i.err" &
		readers+=($!)
	done
}

# root [FILE]: start it; $root_pid
root()
{
	aggctl -n v0 bcast --job $job --timeout "$TIMEOUT" "$1" \
		2> "$TMP/x.v0.err" &
	root_pid=$!
}

# begin FILE [NODE]...: start the root and the readers of all, or of these nodes
begin()
{
	local file=$1 s

	shift
	readers=()
	root "$file"
	for s in "${@:-${SENDERS[@]}}"; do
		reads "$s"
	done
}

# all_exit_with STATUS: do the root and all readers?
all_exit_with()
{
	exit_with "$1" "$root_pid" "${readers[@]}" || { tail -n 3 "$TMP"/x.*err; return 1; }
}

# exact FILE: has each reader written what the root has sent?
exact()
{
	local s i status=0 want

	want=$(sha256sum < "$1")
	for s in "${SENDERS[@]}"; do
		for ((i = 0; i < WRITERS; i++)); do
			[ "$(sha256sum < "$TMP/x.$s.$i.out")" = "$want" ] && continue
			echo "$s.$i has $(wc -c < "$TMP/x.$s.$i.out") bytes"
			status=1
		done
	done
	return $status
}

# broadcast FILE OPTION...: one from plan to withdrawal
broadcast()
{
	local file=$1 status=0

	shift
	planned "$@" || return
	begin "$file"
	all_exit_with 0 || status=1
	exact "$file" || status=1
	withdraw x && return $status
}

over_bad_links()
{
	aggctl testbed shape --loss 3% --duplicate 3% --delay 1ms \
		--reorder 25% --corrupt 1% &&
		shaped 'any(.options | (."loss-random".loss > 0) and
			(.duplicate.duplicate > 0) and
			(.corrupt.corrupt > 0) and
			(.reorder.reorder > 0))' v5:eth0 w0:p0 && "$@"
}

several_readers()
{
	local WRITERS=3

	broadcast "$@"
}

# The root sends each packet to its two children once, whatever is below them.
once()
{
	local packets status=0

	packets=$(((SIZE + 1383) / 1384))
	planned || return
	begin "$TMP/in"
	all_exit_with 0 || status=1
	tree v0 ".packets_out >= 2 * $packets and .packets_out <= 2.2 * $packets and
		.bytes_out == 2 * $SIZE and .state == \"done\"" || status=1
	tree v1 ".bytes_in == $SIZE and .bytes_out == 2 * $SIZE" ||
		status=1
	[ $status = 0 ] || cat "$TMP/x.tree"
	withdraw x && return $status
}

sent()
{
	tree v0 ".packets_out > 0"
}

# The transfer that follows has all its readers: a command that is refused has not joined.
not_for_broadcasts()
{
	local root status=0

	root=$(identity v0)
	planned || return
	refused 2 "recv: --top is not for broadcasts" aggctl -n v5 recv \
		--job $job --receiver "$root" --top 3 || status=1
	refused 2 "send: --stats is not for broadcasts" aggctl -n v0 send \
		--job $job --receiver "$root" --stats "$TMP/byte" || status=1
	refused 1 "only the root sends" aggctl -n v5 send --job $job \
		--receiver "$root" "$TMP/byte" || status=1
	begin "$TMP/byte"
	all_exit_with 0 || status=1
	exact "$TMP/byte" || status=1
	withdraw x && return $status
}

late_readers()
{
	local status=0

	planned --memory 64K || return
	begin "$TMP/in" v2 v9 v11
	wait_for sent || status=1
	reads v5
	reads v10
	reads v14
	all_exit_with 0 || status=1
	exact "$TMP/in" || status=1
	withdraw x && return $status
}

# out_at_rest: does the root send nothing more?
out_count()
{
	tree v0 .packets_out && cat "$TMP/x.jq"
}

# A reader whose output is not read stops all, and nothing is lost.
slow_reader()
{
	local status=0

	planned --memory 64K || return
	mkfifo "$TMP/x.pipe"
	readers=()
	root "$TMP/in"
	exec 6<> "$TMP/x.pipe"
	aggctl -n v11 recv --job $job --receiver "$(identity v0)" \
		--timeout "$TIMEOUT" > "$TMP/x.pipe" 2> "$TMP/x.v11.0.err" 6<&- &
	readers+=($!)
	for s in v2 v5 v9 v10 v14; do
		reads $s 6<&-
	done
	wait_for sent && wait_for at_rest out_count || status=1
	tree v0 ".bytes_out < $SIZE" || status=1
	head -c "$SIZE" <&6 > "$TMP/x.v11.0.out"
	all_exit_with 0 || status=1
	exec 6<&-
	exact "$TMP/in" || status=1
	withdraw x && return $status
}

# stopped COMMAND...: all members end with an error after the command, which is run when
# the root has filled the rings: v14 has not come
stopped()
{
	local status=0

	planned --memory 64K --give-up "$((SLOW * 10))" || return
	begin "$TMP/in" v2 v5 v9 v10 v11
	wait_for sent || status=1
	"$@" || status=1
	all_exit_with 1 || status=1
	aggctl withdraw "$TMP/x.json" > "$TMP/x.withdraw" 2>&1
	return $status
}

lost_reader()
{
	kill -9 "${readers[1]}"
	wait "${readers[1]}"
	unset 'readers[1]'
}

lost_root()
{
	kill -9 "$root_pid"
	wait "$root_pid"
	root_pid=
}

reason()
{
	cat "$TMP"/x.v9.0.err
	grep -q "$1" "$TMP/x.v9.0.err"
}

stopped_because()
{
	local text=$1

	shift
	stopped "$@" && reason "$text"
}

# --- rounds ------------------------------------------------------------------

ROUNDS=${ROUNDS:-50}

# round_files: input of each round; some have no bytes
round_files()
{
	local i at=0 len

	rounds=()
	for ((i = 0; i < ROUNDS; i++)); do
		len=$((i % 7 == 3 ? 0 : (SIZE / 200 + 97) * (i % 4) + i + 1))
		tail -c +$((at + 1)) "$TMP/in" | head -c $len > "$TMP/round.$i"
		at=$((at + len))
		rounds+=("$TMP/round.$i")
	done
}

# cast NODE ARGUMENT...: run a process of the broadcast there in the background
cast()
{
	local node=$1

	shift
	TIMEOUT=$TIMEOUT aggctl testbed exec "$node" -- cast_rounds "$@" \
		2> "$TMP/x.$node.err" > "$TMP/x.$node.done" &
}

# rounds_begin send|hold [NODE]...: start the root, and readers of all or of these nodes
rounds_begin()
{
	local what=$1 s

	shift
	readers=()
	cast v0 "$what" $job "${rounds[@]}"
	root_pid=$!
	for s in "${@:-${SENDERS[@]}}"; do
		rounds_read "$s"
	done
}

rounds_read()
{
	cast "$1" recv $job "$(identity v0)" "$TMP/x.$1"
	readers+=($!)
}

# each_round_exact: has each reader each round, and an empty one behind it?
each_round_exact()
{
	local s i

	for s in "${SENDERS[@]}"; do
		for ((i = 0; i < ROUNDS; i++)); do
			cmp "$TMP/round.$i" "$TMP/x.$s.$i" || return
		done
		[ ! -s "$TMP/x.$s.$i" ] || return
	done
}

round_is()
{
	tree v0 ".round >= $1"
}

# most_memory: print the most memory of each entry
most_memory()
{
	local s

	for s in v0 v1 "${SENDERS[@]}"; do
		tree "$s" .memory_most && cat "$TMP/x.jq"
	done
}

# many_rounds OPTION...: v14 comes late; the memory of an entry is that of its first rounds
many_rounds()
{
	local status=0 before

	planned --persist "$@" || return
	rounds_begin send v2 v5 v9 v10 v11
	wait_for sent || status=1
	rounds_read v14
	wait_for round_is 5 || status=1
	before=$(most_memory)
	all_exit_with 0 || status=1
	each_round_exact || status=1
	[ "$before" = "$(most_memory)" ] || status=1
	tree v14 ".round == $ROUNDS" || status=1
	withdraw x && return $status
}

all_rounds_done()
{
	[ "$(wc -l < "$TMP/x.v0.done")" = "$ROUNDS" ]
}

# lost_between_rounds REASON COMMAND...: all get an error after the command
lost_between_rounds()
{
	local status=0 reason=$1

	shift
	planned --persist --give-up "$((SLOW * 5))" || return
	rounds_begin hold
	wait_for all_rounds_done || status=1
	# The tree lives between two rounds for longer than give_up.
	sleep $((SLOW * 7))
	tree v0 '.state == "open"' || status=1
	"$@" || status=1
	all_exit_with 1 || status=1
	each_round_exact || status=1
	grep -q "$reason" "$TMP/x.v9.err" || status=1
	aggctl withdraw "$TMP/x.json" > "$TMP/x.withdraw" 2>&1
	return $status
}

seed_file()
{
	gen $((SEED + 1)) $((SIZE / 10 + 1000)) 100000 mix small |
		head -c "$SIZE" > "$TMP/in"
	[ "$(wc -c < "$TMP/in")" = "$SIZE" ]
	: > "$TMP/empty"
	printf x > "$TMP/byte"
}

testbed bcube:4,1
seed_file || exit 1
check "each reader gets the stream" broadcast "$TMP/in"
check "each child gets each packet once" once
check "an empty stream" broadcast "$TMP/empty"
check "a stream of one byte" broadcast "$TMP/byte"
check "without a key" broadcast "$TMP/in" --no-key
check "a star" broadcast "$TMP/in" --method existing
check "several readers on each node" several_readers "$TMP/in"
check "64 KiB of memory" broadcast "$TMP/in" --memory 64K
check "what is not for a broadcast is refused" not_for_broadcasts
check "readers that come late" late_readers
check "a slow reader" slow_reader
check "a reader is lost" stopped_because "receiver" lost_reader
check "the root is lost" stopped_because "a source closed" lost_root
check "an entry is withdrawn" stopped_because "withdrawn" \
	aggctl withdraw "$TMP/x.json" --node v1
check "a reader never comes" stopped_because "timed out" true
round_files
check "$ROUNDS rounds, 64 KiB of memory, a late reader" many_rounds --memory 64K
check "$ROUNDS rounds of a star" many_rounds --method existing
check "the root dies between two rounds" lost_between_rounds "Software caused" \
	lost_root
check "an entry is withdrawn between two rounds" lost_between_rounds "canceled" \
	aggctl withdraw "$TMP/x.json" --node v1
check "over bad links" over_bad_links broadcast "$TMP/in"
check "over bad links, 64 KiB of memory" broadcast "$TMP/in" --memory 64K
check "over bad links, a star" broadcast "$TMP/in" --method existing
check "over bad links, $ROUNDS rounds" over_bad_links many_rounds
done_testing
