#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Captures what the fuzzers begin with, from real transfers: packets of each
# type, DATA of each layout, and the requests of aggctl to the netlink family.
# The line is drawn in line.inc; a captures.
#   SEEDS=DIR   keep them in DIR (build/seeds: what the guest can write to)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"
. "$(dirname "$0")/line.inc"

KEY=000102030405060708090a0b0c0d0e0f
EVERY_LINK=00080100ff000000
SEEDS=${SEEDS:-$TMP/seeds}
TYPES=(open accept data ack fin "done")

# capture NODE NAME COMMAND...: capture what NODE sees while it runs, in
# $TMP/NAME
capture()
{
	local node=$1 name=$2 status=0 fd pid

	shift 2
	mkdir "$TMP/$name" && mkfifo "$TMP/$name.until" || return
	on "$node" capture "$TMP/$name" < "$TMP/$name.until" \
		> "$TMP/$name.ready" &
	pid=$!
	exec {fd}> "$TMP/$name.until"
	wait_for grep -q ready "$TMP/$name.ready" && "$@" || status=$?
	exec {fd}>&-
	wait $pid && return $status
}

# ended PID...: wait for r, a and s
ended()
{
	local pid status=0

	for pid in "$@"; do
		wait "$pid" || status=$?
	done
	[ $status = 0 ] || cat "$TMP"/{s,a,r}.err
	entries_gone && return $status
}

# run FILE COMMAND...: COMMAND adds the entries; a and s send the lines of FILE
run()
{
	local file=$1 pids=()

	"${@:2}" || return
	app r recv > "$TMP/out" 2> "$TMP/r.err" &
	pids+=($!)
	app a send "$file" 2> "$TMP/a.err" &
	pids+=($!)
	app s send "$file" 2> "$TMP/s.err" &
	pids+=($!)
	ended "${pids[@]}"
}

# broadcast FILE: r sends its bytes to a and s
broadcast()
{
	local pids=()

	entries direction 1 layout bytes || return
	app a recv > "$TMP/out.a" 2> "$TMP/a.err" &
	pids+=($!)
	app s recv > "$TMP/out.s" 2> "$TMP/s.err" &
	pids+=($!)
	agg r bcast --job $job --timeout "$TIMEOUT" "$1" 2> "$TMP/r.err" &
	pids+=($!)
	ended "${pids[@]}"
}

# taken NAME TYPE...: keep packets as NAME.TYPE; was there one of each type? That of a packet
# that has to do with a stream from the root is down.TYPE.
taken()
{
	local name=$1 type

	for type in "${@:2}"; do
		cp "$TMP/$name/$type" "$SEEDS/packet/$name.$type" || return
	done
}

# alone NAME: keep the records of NAME's DATA without their headers
alone()
{
	tail -c +73 "$TMP/$1/data" > "$SEEDS/library/$1"
}

# asked NAME [BASE]: keep requests as NAME, after those of BASE
asked()
{
	cat ${2:+"$TMP/$2/requests"} "$TMP/$1/requests" > "$SEEDS/netlink/$1"
}

# layout NAME KIND KEYS KLEN OPTION...: run a transfer and keep its DATA
layout()
{
	local name=$1

	gen "$SEED" 12 "$3" "$4" "$2" > "$TMP/in.$name"
	[ "$name" != sorted ] ||
		sort -o "$TMP/in.$name" -t "$(printf '\t')" -k1,1 "$TMP/in.$name"
	check "$name: transferred" \
		capture a "$name" run "$TMP/in.$name" entries "${@:5}"
	check "$name: its DATA" taken "$name" data
	check "$name: its requests" asked "$name" base
}

# other NODE OPTION...: replace its entry by one that differs in OPTION
other()
{
	local node=$1 way=(contributors 1 sources 1 hops 2 "${s_link[@]}")

	[ "$node" = s ] || way=(contributors 2 sources 2 children "$S" hops 1
		--device eth1 link_neighbour 10.3.0.4)
	agg "$node" tree del --job "$job" --receiver $R &&
		agg "$node" tree add --job "$job" --receiver $R uid 0 \
			instance "$instance" writers 1 "${way[@]}" "${@:2}"
}

# Entries with which packets to the receiver carry a filter.
filtered()
{
	entries hold 0 && other s scheme packet filter $EVERY_LINK &&
		other a scheme packet filter $EVERY_LINK
}

# The planned link of s cannot be used: its packets leave by plain IP.
detoured()
{
	entries hold 0 && agg s port del eth0
}

# Entries that disagree: each node gets an error.
disagreeing()
{
	entries hold 0 && other s scheme exact function max
}

refused()
{
	local repair=1

	! run "$TMP/in.crc" disagreeing
}

# Ask a node for its settings and for all that is in force.
looked_at()
{
	agg a node show && agg a port show && agg a link show &&
		agg a tree show && agg a stats show
}

# Ask for links and for the entries of a plan, which the node adds as a whole.
planned()
{
	aggctl -j plan --job 1 --topology bcube:2,1 --method irs --uid 0 \
		--receivers v0,v1,v3 --senders v2 "$@" > "$TMP/plan.json" &&
		agg a apply --node v2 "$TMP/plan.json" && looked_at &&
		agg a withdraw --node v2 "$TMP/plan.json"
}

# e is an aggnet switch only here.
switched()
{
	agg e node set role switch label w0 memory 8388608 &&
		agg e port add eth0 level 0 && agg e port add eth1 level 0 &&
		agg e link add eth0 neighbour 10.1.0.1 lladdr "$(mac 1 0)" &&
		agg e link add eth1 neighbour 10.2.0.3 bits 256 hashes 3 \
			capacity 20 name 7 digit 1 lladdr "$(mac 3 0)" &&
		agg e tree add --job 9 --receiver $R --device eth1 \
			link_neighbour 10.2.0.3 instance 1 &&
		agg e tree add --replace --job 9 --receiver $R --device eth0 \
			link_neighbour 10.1.0.1 instance 1 attempt 1 &&
		agg e tree show && agg e link show &&
		agg e tree del --job 9 --receiver $R &&
		agg e link del eth0 neighbour 10.1.0.1 && agg e port del eth0
}

# Add an entry with every attribute, then replace it in a newer epoch.
replaced()
{
	local name=(--job 9 --receiver "$R")
	local way=(--device eth1 link_neighbour 10.3.0.4 instance 7 sources 5
		contributors 3 writers 2 children "$S,$E" hops 4 uid 5 gid 6
		hold 500 memory 131072)

	agg a node set label a memory 8388608 &&
		agg a tree add "${name[@]}" "${way[@]}" scheme exact \
			give_up 9000 &&
		agg a tree add --replace "${name[@]}" "${way[@]}" \
			scheme exact attempt 1 key $KEY && agg a tree show &&
		agg a tree del "${name[@]}" && agg a port del eth1
}

if ! ip link add nlmon0 type nlmon; then
	echo "1..0 # SKIP this kernel has no nlmon"
	exit 0
fi
ip link del nlmon0
line_up
mkdir -p "$SEEDS"/{library,netlink,packet}
for node in a e; do
	on $node ip link add nlmon0 type nlmon || exit 1
	on $node ip link set nlmon0 up
done
check "members" capture a base members_up

layout crc small 9 6
layout key small 9 6 key $KEY
layout average small 9 6 function average
layout topk pairs 4 6 function topk k 4
layout float64 real 4 6 vtype float64
layout dense small 1 offset layout dense elements 12
layout sorted small 9 6 layout sorted
check "crc: all types" taken crc "${TYPES[@]}" probe
check "key: all types" taken key "${TYPES[@]}"
check "filter: transferred" capture a filter run "$TMP/in.crc" filtered
check "filter: all types with one" taken filter open data fin
check "filter: its requests" asked filter base
check "entries that disagree" capture a disagree refused
check "entries that disagree: ABORT" taken disagree abort
check "bcast: transferred" capture a bcast broadcast "$TMP/in.crc"
check "bcast: DATA, ACK and FIN" taken bcast down.data down.ack down.fin
check "detour: transferred" capture a detour run "$TMP/in.crc" detoured
check "detour: FIN" taken detour fin
for name in crc sorted; do
	check "$name: records alone" alone $name
done
check "a plan" capture a plan planned --scheme bloom
check "a plan: its requests" asked plan base
check "an entry and the next" capture a entry replaced
check "an entry and the next: their requests" asked entry base
check "a switch" capture e switch switched
check "a switch: its requests" asked switch
done_testing
