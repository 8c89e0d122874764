#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Stripes: one job by several trees at once, exactly, and no port sends as much as
# the busiest one does with one tree. A failure of one tree repeats only its part.
# BCube(4,1) with two stripes, BCube(2,2) with three.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/incast.inc"

ALL=$(echo v{1..15})
NODES=$(echo v{0..15} w{0..7})
ELEMENTS=$((SLOW > 1 ? 6000 : 24000))
RECORDS=$(scaled 20000)

striped() # NAME STRIPES SENDERS OPTION...
{
	plan "$1" --topology "$topology" --receivers v0 --uid 0 \
		--senders "${3// /,}" --stripes "$2" "${@:4}"
}

# Print the bytes that each port has sent.
ports()
{
	local n

	for n in $NODES; do
		ip -n "$n" -j -s link show | jq -r --arg n "$n" \
			'.[] | select(.ifname != "lo") |
			"\($n):\(.ifname) \(.stats64.tx.bytes)"' || return
	done | sort
}

# busiest NAME: write the most bytes that a port has sent since ports > NAME.before
busiest()
{
	ports > "$TMP/$1.after" || return
	join "$TMP/$1.before" "$TMP/$1.after" | awk '
		$3 - $2 > most { most = $3 - $2 }
		END { print most }' > "$TMP/$1.bytes"
}

# devices NODE: print its ports in BCube(4,1)
devices()
{
	local port=eth ports=2

	[[ $1 != w* ]] || port=p ports=4
	seq -f "$port%.0f" 0 $((ports - 1))
}

# count_stripe STRIPE DEVICE: print commands of tc that count the DATA of this stripe,
# first sent and sent again, when it leaves by the device
count_stripe()
{
	local again net=$((0xfff00000)) code

	for again in 0 2; do
		# Of the packet from its IP header on: the type, the job, AGGNET_F_REXMIT.
		code="9,48 0 0 $((net + 29)),21 0 6 3"
		code+=",32 0 0 $((net + 36)),21 0 4 $((job + $1))"
		code+=",40 0 0 $((net + 32)),84 0 0 2,21 0 1 $again"
		echo "filter add dev $2 egress pref $((1 + 2 * $1 + again / 2))" \
			"bpf bytecode \"$code,6 0 0 4294967295,6 0 0 0\" action pass"
	done
}

count_stripes()
{
	local n d

	for n in $NODES; do
		for d in $(devices "$n"); do
			echo "qdisc add dev $d clsact"
			count_stripe 0 "$d"
			count_stripe 1 "$d"
		done | tc -n "$n" -batch - || return
	done
}

# counted: print for each port NODE:NUMBER and the bytes of both stripes' DATA: of the
# first one, of these sent again, and the same of the second one
counted()
{
	local n d

	for n in $NODES; do
		for d in $(devices "$n"); do
			echo "filter show dev $d egress"
		done | tc -n "$n" -s -j -batch - | jq -rs --arg n "$n" '
			to_entries[] | .key as $port | [.value[].options |
				select(.actions).actions[0].stats.bytes] |
			"\($n):\($port) \(join(" "))"' || return
	done
}

one()
{
	plan one --topology $topology --receivers v0 --uid 0 \
		--senders "${ALL// /,}" --elements $ELEMENTS --method auto \
		--objective time || return
	ports > "$TMP/one.before"
	transfer one sum v0 "$ALL" && busiest one
}

# The job is that of one tree: the entries tell the members how many there are.
two()
{
	striped two 2 "$ALL" --elements $ELEMENTS || return
	jq .metrics "$TMP/two.json"
	jq -e '.metrics | .stress == 1 and .cut_share == 1' \
		"$TMP/two.json" || return
	ports > "$TMP/two.before"
	count_stripes || return
	transfer two sum v0 "$ALL" && busiest two && counted > "$TMP/stress"
}

# disjoint: each link and direction carries DATA of one tree at most, and each of the links
# in the plan those of one
disjoint()
{
	local links

	# A hop has two links.
	links=$(jq '[.trees[].edges | length] | add * 2' "$TMP/two.json")
	awk -v links="$links" '
		NF != 5 { print "not counted: " $0; bad = 1 }
		$2 && $4 { print "two trees: " $0; bad = 1 }
		$2 || $4 { n++ }
		END {
			if (n != links)
				print n " links carry DATA, planned " links
			exit bad || n != links
		}' "$TMP/stress"
}

# Half as much is planned, and 0.48 to 0.83 were measured, the most on a host with other
# guests: acknowledgements, packets that are sent again and blocks that leave before all
# contributors have given them are not in the plan. With two stripes on a port it would be
# 1 at least.
less_busy()
{
	local one two

	one=$(< "$TMP/one.bytes") two=$(< "$TMP/two.bytes")
	say "busiest port: $two bytes, with one tree $one" | tee "$TMP/said"
	[ "$one" -gt $((ELEMENTS * 4)) ] && [ $((20 * two)) -lt $((19 * one)) ]
}

# lose PERCENT NODE...: of the packets that leave by their first port
lose()
{
	local node

	for node in "${@:2}"; do
		tc -n "$node" qdisc replace dev eth0 root netem loss "$1%" ||
			return
	done
}

# keyed STRIPES SENDERS: with loss
keyed()
{
	lose 2 v0 v1 v2 v3 && striped keyed "$1" "$2" || return
	transfer keyed sum v0 "$2"
}

# A stripe's own job is refused, and the transfer goes on.
not_the_first()
{
	striped first 2 "v1 v2" || return
	! aggctl -n v1 send --job $((job + 1)) --receiver v0 "$TMP/in.v1" \
		2> "$TMP/first.err" || return
	cat "$TMP/first.err"
	grep "job $((job + 1)) is stripe 2 of job $job: give that job" \
		"$TMP/first.err" && transfer first sum v0 "v1 v2"
}

# v3 lacks the entry of one stripe, so that it joins none.
one_is_missing()
{
	striped lack 2 "v1 v3" && aggctl -n v3 tree del --job $((job + 1)) \
		--receiver "$(identity v0)" || return
	start_send lack v3 v0 "$TMP/in.v3"
	! wait "$send_pid" && grep "stripe 2 of 2: no entry for job $((job + 1))" \
		"$TMP/lack.v3.err" &&
		tree v3 '.state == "idle" and .job == '"$job" &&
		aggctl -n v3 tree del --job "$job" --receiver "$(identity v0)"
}

# hold SENDER: its input stays open, by descriptor 5, after 1000 lines
hold()
{
	rm -f "$TMP/x.pipe"
	mkfifo "$TMP/x.pipe"
	start_send x "$1" v0 "$TMP/x.pipe" --repair 60
	senders+=("$send_pid")
	exec 5> "$TMP/x.pipe"
	head -n 1000 "$TMP/in.$1" >&5
}

closed_early()
{
	senders=()
	striped x 2 "v1 v2" || return
	start_recv x v0
	start_senders v1
	hold v2
	wait_for tree v0 ".channels > 0" && kill -KILL "$recv_pid" || return
	wait "$recv_pid"
	recv_pid=
	exec 5>&-
	all_exit 1 && grep "the receiver closed" "$TMP/x.v1.err"
}

# v5, v6 -> v4 -> v0 is in the second stripe only, and v8, too: v4 dies. The other
# stripe's attempt goes on, and what is sent again is of this stripe only.
repaired()
{
	local four="v5 v6 v9 v10" s status=0 size files=()

	rm -f "$TMP"/x.*
	senders=()
	striped x 2 "$four" --give-up 10 || return
	jq -e '[.trees[] | [.edges[][] == 4] | any] == [false, true]' \
		"$TMP/x.json" || return
	start_recv x v0 --repair 60
	for s in v5 v6 v9; do
		aggctl -n $s -j send --job $job --receiver "$(identity v0)" \
			--timeout "$TIMEOUT" --repair 60 "$TMP/in.$s" \
			> "$TMP/x.$s.json" 2> "$TMP/x.$s.err" &
		senders+=($!)
	done
	hold v10
	aggctl -j supervise "$TMP/x.json" > "$TMP/x.log" 2> "$TMP/x.why" 5>&- &
	supervise_pid=$!
	wait_for grep -q listening "$TMP/x.log" &&
		wait_for tree v4 ".records_in > 0" || return
	ip netns del v4
	wait_for grep -q '"event":"repaired"' "$TMP/x.log" || {
		cat "$TMP/x.why" "$TMP/x.log"
		return 1
	}
	tail -n +1001 "$TMP/in.v10" >&5
	exec 5>&-
	all_exit 0 || status=1
	wait "$supervise_pid" || status=1
	cat "$TMP/x.why" "$TMP/x.log" "$TMP"/x.v*.json "$TMP"/x.*err
	jq -e '.trees | .[0].attempt == 0 and .[1].attempt > 0' \
		"$TMP/x.json" || status=1
	jq -se 'map(select(.event == "repaired"))[0].trees == 1' "$TMP/x.log" ||
		status=1
	for s in v5 v6 v9; do
		size=$(stat -c %s "$TMP/in.$s")
		jq -e --argjson size "$size" \
			'.replays == 1 and .resent <= $size / 2 + 65536' \
			"$TMP/x.$s.json" || status=1
	done
	for s in $four; do
		files+=("$TMP/in.$s")
	done
	reference sum "${files[@]}" > "$TMP/x.expected"
	sort "$TMP/x.out" | cmp - "$TMP/x.expected" || status=1
	return $status
}

# values SENDERS: an input with keys for each
values()
{
	local s n=0

	for s in $1; do
		n=$((n + 1))
		gen $((SEED + n)) "$RECORDS" 3000 mix small > "$TMP/in.$s" ||
			return
	done
}

topology=bcube:4,1
testbed $topology
files=()
for s in $ALL; do
	files+=("$TMP/in.$s")
done
gen "$SEED" $ELEMENTS 1 offset wide "${files[@]}"
check "a vector by the best single tree" one
withdraw one
check "the same vector by two trees at once" two
withdraw two
check "each link carries one tree in each direction" disjoint
check "no port sends as much as the busiest one with one tree" less_busy
[ ! -s "$TMP/said" ] || cat "$TMP/said"
values "$ALL"
check "keyed records by two trees, with loss" keyed 2 "$ALL"
withdraw keyed
check "the job of a stripe is refused" not_the_first
withdraw first
check "a source without the entry of one stripe" one_is_missing
withdraw lack
check "a receiver that closes early" closed_early
withdraw x
check "a server of one stripe dies: only that stripe begins anew" repaired
aggctl testbed down > "$TMP/down"
topology=bcube:2,2
testbed $topology
check "keyed records by three trees, with loss" keyed 3 "$(echo v{1..7})"
done_testing
