#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs on links with a rate: the program that takes their time checks each record of
# the result, for every kind of load, and finds a result that is not exact.
. "$(dirname "$0")/../net/lib.sh"

TOP=$NET_DIR/../..
PATH=$TOP/build/selftests/live:$PATH

# The receivers of play.
RECEIVERS=v0

# play LEAST LAYOUT METHOD RECORDS DELTA TASKS [OPTIONS]: play it; it is exact, and the
# receiver gets LEAST bytes of records at least
play()
{
	local least=$1
	shift

	: > "$TMP/rows"
	(
		cd "$TOP" || exit
		echo "bcube:2,1 10mbit $1 $2 $3 $4 $5 $RECEIVERS v1,v2,v3 ${*:6} $PATIENCE" |
			selftests/live/guest.sh "$TMP/rows"
	) 2> "$TMP/said" || {
		cat "$TMP/said"
		return 1
	}
	jq -es --argjson least "$least" 'length == 1 and all(.[];
		.exact and .seconds > 0 and .predicted > 0 and
		.link_bytes >= .receiver_bytes and .receiver_bytes >= $least)' \
		"$TMP/rows" > "$TMP/good" || {
		cat "$TMP/said" "$TMP/rows"
		return 1
	}
}

# A merge that inverts a bit of a value, at a server on the way.
wrong()
{
	testbed bcube:2,1
	# shellcheck disable=SC2086
	aggctl -j plan --topology bcube:2,1 --method srs --job 9 --uid 0 \
		--senders v1,v2,v3 --receivers v0 $PATIENCE > "$TMP/wrong.json" &&
		aggctl apply "$TMP/wrong.json" > "$TMP/applied" || return
	jq -r '.trees[0].edges[] | select(.[1] != 0) | "v\(.[1])"' \
		"$TMP/wrong.json" > "$TMP/merges"
	plant_fault "$(head -n 1 "$TMP/merges")" flip || return
	if members keyed 9 400 0 1 v0 v1,v2,v3 > "$TMP/wrong" 2> "$TMP/why" ||
		! jq -e '.exact == false' "$TMP/wrong" > "$TMP/good"; then
		cat "$TMP/wrong" "$TMP/why"
		return 1
	fi
}

check "TCP, two tasks on each server" play $((6 * 18 * 500)) tcp existing 500 0 2
check "keyed, the same keys" play $((18 * 500)) keyed srs 500 0 2 --scheme bloom
check "keyed, half of the keys are a task's own" \
	play $((18 * (250 + 6 * 250))) keyed srs 500 0.5 2
check "dense" play $((8 * 2000)) dense auto 2000 0 2 --objective time
check "sorted, the first server late" \
	play $((18 * 500)) sorted srs 500 0 1 late=0.5
check "dense, two stripes" play $((8 * 2000)) dense stripes:2 2000 0 2
check "keyed, two stripes" play $((18 * 500)) keyed stripes:2 500 0 1
check "userspace programs merge" play $((18 * 500)) combiner m2 500 0 2
RECEIVERS=v0,v1
check "two receivers" play $((2 * 18 * 500)) keyed srs 500 0.5 1
check "a result that is not exact" wrong
done_testing
