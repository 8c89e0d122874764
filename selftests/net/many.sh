#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many contributors at one server, many trees at once.
# BCube(8,1): v0..v63; without aggregation on the way every sender's flow ends
# at the receiver, which sends too: 64 contributors.
. "$(dirname "$0")/lib.sh"

everybody()
{
	local s list=() names

	for ((s = 0; s < 64; s++)); do
		list+=("v$s")
		gen $((SEED + s)) 300 200 mix small > "$TMP/in.v$s"
	done
	names="${list[*]}"
	plan all --topology bcube:8,1 --method existing --function "$1" \
		--senders "${names// /,}" --receivers v0 --uid 0 &&
		transfer all "$1" v0 "${list[@]}"
}

# Eight receivers, the same senders: eight trees, all at the same time.
eight()
{
	local s senders="v1 v10 v19 v28 v37 v46 v55"
	local receivers="v0 v9 v18 v27 v36 v45 v54 v63"

	for s in $senders; do
		gen $((SEED + ${s#v})) 1000 400 mix small > "$TMP/in.$s"
	done
	plan eight --topology bcube:8,1 --method srs \
		--senders "${senders// /,}" --receivers "${receivers// /,}" \
		--uid 0 && transfers eight sum "$receivers" "$senders"
}

testbed bcube:8,1 --loss 1%
check "64 contributors at one server: sum" everybody sum
withdraw all
check "8 trees at once" eight
withdraw eight
done_testing
