#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Stripes: the halves of a vector come by two trees at once, both exactly, and no
# port sends as much as the busiest one does with one tree.
# BCube(4,1), all servers but the receiver send.
. "$(dirname "$0")/lib.sh"

SENDERS=$(echo v{1..15})
NODES=$(echo v{0..15} w{0..7})
HALF=$((SLOW > 1 ? 3000 : 12000))

vector() # NAME ELEMENTS OPTION...
{
	plan "$1" --topology bcube:4,1 --receivers v0 --uid 0 \
		--senders "${SENDERS// /,}" --elements "$2" "${@:3}"
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

one()
{
	vector one $((2 * HALF)) --method auto --objective time || return
	ports > "$TMP/one.before"
	transfer one sum v0 "$SENDERS" && busiest one
}

# Each half is a job of its own, with inputs and a result of its own.
two()
{
	local first half s status=0

	vector two "$HALF" --stripes 2 || return
	jq .metrics "$TMP/two.json"
	jq -e '.metrics | .stress == 1 and .cut_share == 1' \
		"$TMP/two.json" || return
	first=$job
	ports > "$TMP/two.before"
	for half in 0 1; do
		job=$((first + half))
		member "two.$half" v0 recv v0
		for s in $SENDERS; do
			member "two.$half.$s" "$s" send v0 "$TMP/half.$half.$s"
		done
	done > "$TMP/members"
	aggctl_batch < "$TMP/members" || {
		status=1
		cat "$TMP"/two*.err
	}
	for half in 0 1; do
		reference sum "$TMP/half.$half".v* > "$TMP/expected"
		[ -s "$TMP/expected" ] && sort "$TMP/two.$half.out" |
			cmp - "$TMP/expected" || status=1
	done
	[ $status = 0 ] && busiest two
}

# 0.5 to 0.6 as much: acknowledgements, packets that are sent again and blocks that
# leave before all contributors have given them are not in the plan. With two
# stripes on a port it would be 1 at least.
less_busy()
{
	local one two

	one=$(< "$TMP/one.bytes") two=$(< "$TMP/two.bytes")
	say "busiest port: $two bytes, with one tree $one" | tee "$TMP/said"
	[ "$one" -gt $((HALF * 8)) ] && [ $((10 * two)) -lt $((9 * one)) ]
}

inputs() # PREFIX ELEMENTS SEED
{
	local s files=()

	for s in $SENDERS; do
		files+=("$TMP/$1.$s")
	done
	gen "$3" "$2" 1 offset wide "${files[@]}"
}

testbed bcube:4,1
inputs in $((2 * HALF)) "$SEED"
inputs half.0 "$HALF" $((SEED + 1))
inputs half.1 "$HALF" $((SEED + 100))
check "a vector by the best single tree" one
withdraw one
check "its halves by two trees at once" two
withdraw two
check "no port sends as much as the busiest one with one tree" less_busy
[ ! -s "$TMP/said" ] || cat "$TMP/said"
done_testing
