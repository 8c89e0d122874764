#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Random transfers for MINUTES while links, ports, nodes, members, memory and
# plans misbehave at random, up to three things in a transfer. A receiver that
# ends with 0 has the exact result; a source that ends with 0 has such a receiver;
# if only links were bad, no member fails. Then the tests that loop, with ROUNDS
# each, and long tests.
# BCube(4,1):   v0..v15, each on a level-0 switch (w0..w3, eth0) and a level-1
#               switch (w4..w7, eth1).
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/../net/lib.sh"

MINUTES=${MINUTES:-10}
ROUNDS=${ROUNDS:-100}
TIMEOUT=${SOAK_TIMEOUT:-120}
DEATHS=$((1 + ROUNDS / 20))	# each role is killed so often in each state
PACKETS=1000000
OPENS=1048576
RANDOM=$((SEED % 32768))
transfers=0 exact=0 failed=0 bytes=0 mismatches=0 dead=0
FAIL=/sys/kernel/debug/fail_aggnet
HARMLESS=(bad_links port_flaps plans_change memory_is_short)
HARMFUL=(node_restarts node_dies member_dies)
declare -A faults

# some N: set $drawn to a number below N
some()
{
	drawn=$((RANDOM % $1))
}

# pick WORD...: set $picked to one of them
pick()
{
	some $#
	shift "$drawn"
	picked=$1
}

# servers N: set $picked to N different servers in random order
servers()
{
	mapfile -t picked_list < <(printf 'v%d\n' {0..15} |
		shuf --random-source=<(yes "$RANDOM") -n "$1")
	picked="${picked_list[*]}"
}

fault()
{
	faults[$1]=$((${faults[$1]:-0} + 1))
}

kernel_memory()
{
	echo 3 > /proc/sys/vm/drop_caches
	awk '/^(Slab|Percpu|VmallocUsed|KernelStack|PageTables):/ { kb += $2 }
		END { print kb }' /proc/meminfo
}

later()
{
	[ $SECONDS -gt "$1" ]
}

# Has the memory not fallen within a second?
memory_rests()
{
	local before=$memory

	wait_for later $SECONDS
	memory=$(kernel_memory)
	[ "$memory" -ge "$before" ]
}

# Namespaces are deleted asynchronously, in order: earlier ones are gone when
# the last one's cable is gone.
namespaces_end()
{
	ip netns add last && ip link add last0 type veth peer name eth0 netns last &&
		ip netns del last && wait_for cable_gone
}

cable_gone()
{
	! ip link show last0 > "$TMP/cable" 2>&1
}

# look NAME: set $memory to the kernel's memory, and write its caches to
# $TMP/slabs.NAME
look()
{
	namespaces_end || return
	memory=$(kernel_memory)
	wait_for memory_rests
	awk 'NR > 2 { print $1, $15 * $6 * 4 }' /proc/slabinfo |
		sort > "$TMP/slabs.$1"
}

# Print the caches that grew most.
grown()
{
	join "$TMP/slabs.start" "$TMP/slabs.end" |
		awk '$3 > $2 { print $3 - $2, $1 }' | sort -rn |
		awk 'NR <= 4 { printf "%s%s %d KiB", s, $2, $1; s = ", " }'
}

# --- faults
# ---------------------------------------------------------------------

bad_links()
{
	local words=()

	some 4
	[ "$drawn" = 0 ] || words+=(--loss "$((drawn * 2))%")
	some 3
	[ "$drawn" = 0 ] || words+=(--duplicate "$((drawn * 2))%")
	some 3
	[ "$drawn" = 0 ] || words+=(--delay 1ms --reorder "$((drawn * 10))%")
	some 3
	[ "$drawn" = 0 ] || words+=(--corrupt "$drawn%")
	aggctl testbed shape "${words[@]}" || return
	[ ${#words[@]} = 0 ] || fault shape
}

# A port of a switch goes down and up again.
port_flaps()
{
	local node port

	some 8
	node=w$drawn
	some 4
	port=p$drawn
	ip -n $node link set $port down && ip -n $node link set $port up &&
		fault flap
}

# A node's entries are deleted and added again, as by a restart.
node_restarts()
{
	# shellcheck disable=SC2086 # a list of words
	pick $nodes
	aggctl withdraw "$TMP/soak.json" --node "$picked" > "$TMP/restart" 2>&1
	aggctl apply "$TMP/soak.json" --node "$picked" >> "$TMP/restart" 2>&1
	fault restart
}

# A node is deleted with all its processes; the next transfer has a new one.
node_dies()
{
	local i

	# shellcheck disable=SC2086 # a list of words
	pick $nodes
	for i in "${!pids[@]}"; do
		[ "${places[i]}" != "$picked" ] ||
			kill -KILL "${pids[i]}" 2> "$TMP/kill"
	done
	ip netns del "$picked" 2> "$TMP/kill" && fault death
	dead=1
}

member_dies()
{
	pick "${pids[@]}"
	kill -KILL "$picked" 2> "$TMP/kill" && fault kill
}

# other_plan N: apply and withdraw a plan on the nodes of the transfer
other_plan()
{
	aggctl -j plan --job $((900000 + $1)) --topology bcube:4,1 --method irs \
		--uid 0 --senders v1,v6,v11 --receivers v12 \
		> "$TMP/other.$1.json" &&
		aggctl apply "$TMP/other.$1.json" > "$TMP/other.$1" &&
		aggctl withdraw "$TMP/other.$1.json" > "$TMP/other.$1"
}

# Three plans at the same time; a node that all of them use may refuse one.
plans_change()
{
	local i pid other=()

	for i in 1 2 3; do
		other_plan $i 2> "$TMP/other.$i.err" &
		other+=($!)
	done
	for pid in "${other[@]}"; do
		wait "$pid" && fault plan
	done
}

# Take three quarters of the free memory and free it again.
memory_is_short()
{
	local free

	free=$(awk '/^MemAvailable:/ { print int($2 * 3 / 4) }' /proc/meminfo)
	head -c "${free}K" /dev/zero | tail -c "${free}K" > /dev/null &&
		echo 3 > /proc/sys/vm/drop_caches && fault memory
}

# On the debug kernel 2 % of the module's allocations fail from now on.
allocations_fail()
{
	echo 0 > $FAIL/verbose
	echo -1 > $FAIL/times
	echo 2 > $FAIL/probability
	fault allocation
}

# Draw up to three faults, $troubles, and give_up: without harm no member may
# fail; with harm members must not wait long for silent ones.
draw_trouble()
{
	local n kinds=("${HARMLESS[@]}" "${HARMFUL[@]}")

	[ ! -d $FAIL ] || kinds+=(allocations_fail)
	troubles=() harm=0 dead=0 give_up=20
	some 4
	for ((n = drawn; n > 0; n--)); do
		pick "${kinds[@]}"
		troubles+=("$picked")
		[[ " ${HARMLESS[*]} " = *" $picked "* ]] || harm=1 give_up=4
	done
}

# --- a transfer ------------------------------------------------------------------

make_plan()
{
	local senders function method scheme memory words=()

	pick 1 1 2 3
	receivers=$picked
	some 6
	servers $((receivers + 2 + drawn))
	receivers="${picked_list[*]:0:receivers}"
	senders="${picked_list[*]:$(wc -w <<< "$receivers")}"
	pick sum min max count
	function=$picked
	pick irs irs existing srs
	method=$picked
	[ "$method" != srs ] || [[ $receivers = *' '* ]] || method=irs
	pick exact bloom packet
	scheme=$picked
	pick 65536 262144 1048576
	memory=$picked
	some 4
	[ "$drawn" != 0 ] || words+=(--hold 1)
	text="$method $function $scheme, $memory bytes ${words[*]}: $senders > $receivers"
	the_function=$function
	the_senders=$senders
	plan soak --topology bcube:4,1 --method "$method" \
		--function "$function" --scheme "$scheme" --memory "$memory" \
		--senders "${senders// /,}" --receivers "${receivers// /,}" \
		--uid 0 --give-up "$give_up" --seed "$RANDOM" "${words[@]}" \
		2> "$TMP/plan.err"
}

inputs()
{
	local s

	for s in $the_senders; do
		some 8
		gen "$RANDOM" $((drawn * 300)) $((drawn * 100 + 1)) mix small \
			> "$TMP/in.$s"
	done
}

start_all()
{
	local r s

	pids=() names=() places=()
	for r in $receivers; do
		start_recv "soak.$r" "$r"
		pids+=("$recv_pid") names+=("recv.$r") places+=("$r")
		for s in $the_senders; do
			start_send "soak.$r" "$s" "$r" "$TMP/in.$s"
			pids+=("$send_pid") names+=("send.$r") places+=("$s")
		done
	done
}

mismatch()
{
	mismatches=$((mismatches + 1))
	say "MISMATCH: $1 ($text)"
	cat "$TMP"/soak.*err
}

# Judge each tree alone: its receiver's result and its sources' status.
judge()
{
	local i r files=() s sent

	for s in $the_senders; do
		files+=("$TMP/in.$s")
	done
	reference "$the_function" "${files[@]}" > "$TMP/expected"
	for r in $receivers; do
		transfers=$((transfers + 1))
		sent=0
		for i in "${!names[@]}"; do
			[ "${names[i]}" != "send.$r" ] ||
				[ "${statuses[i]}" != 0 ] || sent=$((sent + 1))
			[ "${names[i]}" != "recv.$r" ] || got=${statuses[i]}
		done
		if [ "$got" = 0 ]; then
			sort "$TMP/soak.$r.out" | cmp -s - "$TMP/expected" ||
				mismatch "$r has a wrong result"
			exact=$((exact + 1))
			bytes=$((bytes + $(cat "${files[@]}" | wc -c)))
		else
			failed=$((failed + 1))
			# The receiver may have been killed after the end mark.
			[ "$sent" = 0 ] || [ "$got" = 137 ] ||
				mismatch "$r failed, $sent sources did not"
			[ "$harm" = 1 ] || mismatch "$r failed for no reason"
		fi
	done
}

round()
{
	local pid trouble

	if [ $dead = 1 ]; then
		aggctl testbed down > "$TMP/down" 2>&1
		testbed bcube:4,1
	fi
	draw_trouble
	bad_links || return
	if ! make_plan; then
		grep -q 'too small' "$TMP/plan.err" && return
		cat "$TMP/plan.err"
		return 1
	fi
	nodes=$(jq -r '.nodes | keys[]' "$TMP/soak.json")
	inputs
	rm -f "$TMP"/soak.*err "$TMP"/soak.*out
	start_all
	for trouble in "${troubles[@]}"; do
		$trouble
	done
	statuses=()
	for pid in "${pids[@]}"; do
		wait "$pid"
		statuses+=($?)
	done
	[ ! -d $FAIL ] || echo 0 > $FAIL/probability
	judge
	withdraw soak 2> "$TMP/withdraw.err" || [ $harm = 1 ]
}

soak()
{
	local end=$((SECONDS + MINUTES * 60))

	while [ $SECONDS -lt $end ] && [ $mismatches = 0 ]; do
		round || return
	done
	[ $mismatches = 0 ] && [ $exact -gt 0 ]
}

report()
{
	local kind all='' sum=0

	for kind in "${!faults[@]}"; do
		all+=" $kind ${faults[$kind]}"
		sum=$((sum + faults[$kind]))
	done
	say "$transfers transfers: $exact exact, $failed ended in an error;" \
		"$bytes bytes in; $sum faults:${all:- none};" \
		"mismatches: $mismatches"
	say "kernel memory: $memory_start KiB at the start, $memory_end at the end;" \
		"of the caches grew most: $(grown)"
}

# Has the kernel freed its memory, apart from what its caches keep?
memory_came_back()
{
	[ -n "$memory_end" ] &&
		[ "$memory_end" -lt $((memory_start + memory_start / 8 + 4096)) ]
}

loops()
{
	local file

	for file in "$NET_DIR"/*.sh; do
		grep -q '^ROUNDS=' "$file" || continue
		check "${file##*/}, $ROUNDS rounds" env ROUNDS="$ROUNDS" "$file"
	done
	check "test_kill, $DEATHS times" env ROUNDS=$DEATHS \
		"$NET_DIR/../../build/uapi/test_kill"
	check "hostile.sh, $PACKETS packets, $OPENS OPENs" \
		env PACKETS=$PACKETS OPENS=$OPENS "$NET_DIR/hostile.sh"
	check "scale.sh, full sizes" env FULL=1 "$NET_DIR/scale.sh"
	check "sorted.sh, full sizes" env FULL=1 "$NET_DIR/sorted.sh"
}

# Run once before measuring, so that memory which the kernel keeps is counted.
testbed bcube:4,1
bad_links && aggctl testbed down > "$TMP/down" || exit 1
look start || exit 1
memory_start=$memory memory_end=
testbed bcube:4,1
faults=()
soak > "$TMP/soak.log" 2>&1
status=$?
cat "$TMP/soak.log"
result $status "$MINUTES minutes of transfers"
aggctl testbed down > "$TMP/down" && look end && memory_end=$memory
trap 'rm -rf "$TMP"' EXIT
report
check "kernel memory came back" memory_came_back
[ "$ROUNDS" = 0 ] || loops
done_testing
