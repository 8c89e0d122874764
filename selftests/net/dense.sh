#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Dense vectors: a block leaves as soon as all contributors have given it, so
# the receiver gets the first part while the rest is still to come. Each node
# emits each block once, and buffers may be far smaller than the vector.
# BCube(4,1), six senders.
. "$(dirname "$0")/lib.sh"

SENDERS="v2 v5 v9 v10 v11 v14"
ELEMENTS=24000
BLOCKS=$(((ELEMENTS + 12) / 13))
# More elements than the library collects before it sends them.
EARLY=10000

# vector OPTION...: plan a dense sum of $ELEMENTS elements
vector()
{
	plan dense --topology bcube:4,1 --method irs --receivers v0 --uid 0 \
		--senders "${SENDERS// /,}" --elements $ELEMENTS "$@"
}

# Print how many records v0's entry has handed to the application.
delivered()
{
	[ "$(aggctl -j -n v0 tree show --job $job | jq '.[].records_out')" -gt 0 ]
}

# The input comes through a pipe. The pipe ends only when the receiver has its
# first block.
early()
{
	local senders s i fd fds=() batch status=0

	vector || return
	for s in $SENDERS; do
		mkfifo "$TMP/pipe.$s"
		member "early.$s" "$s" send v0 "$TMP/pipe.$s"
	done > "$TMP/members"
	member early v0 recv v0 >> "$TMP/members"
	aggctl_batch < "$TMP/members" &
	batch=$!
	read -ra senders <<< "$SENDERS"
	for i in "${!senders[@]}"; do
		exec {fd}> "$TMP/pipe.${senders[i]}"
		fds+=("$fd")
		awk -v n=$EARLY 'NR <= n' "$TMP/in.${senders[i]}" >&"$fd"
	done
	wait_for delivered || status=1
	for i in "${!senders[@]}"; do
		fd=${fds[i]}
		awk -v n=$EARLY 'NR > n' "$TMP/in.${senders[i]}" >&"$fd"
		exec {fd}>&-
	done
	wait $batch && [ $status = 0 ] && sort "$TMP/early.out" |
		cmp - "$TMP/expected"
}

# entries FILTER: apply FILTER to the entries of all ends but the receiver
entries()
{
	local w

	for w in $(jq -r '.nodes | keys[] | select(startswith("v"))' \
		"$TMP/dense.json"); do
		[ "$w" = v0 ] || echo "$TMP/show.$w $TMP/show.err -j -n $w" \
			"tree show --job $job"
	done > "$TMP/shows"
	aggctl_batch < "$TMP/shows" && jq -s "$1" "$TMP"/show.v*
}

# A block that waited for all contributors leaves once. On a slow kernel a
# buffer may grow too late; its oldest blocks then leave unfinished.
once()
{
	local most=$BLOCKS

	[ "$SLOW" = 1 ] || most=$((BLOCKS + BLOCKS / 2))
	entries 'map(.[] | select(.records_out > 0) | .records_out) |
		unique' > "$TMP/once"
	cat "$TMP/once"
	jq -e --argjson least $BLOCKS --argjson most "$most" \
		'length > 0 and all(. >= $least and . <= $most)' "$TMP/once"
}

# A record of a block takes more than 200 bytes of a buffer.
bounded()
{
	local most

	vector --memory 128K && transfers dense sum v0 "$SENDERS" || return
	most=$(entries 'map(.[].memory_most) | max')
	say "at most $most bytes a node, $BLOCKS blocks" | tee "$TMP/bounded"
	[ "$most" -lt $((BLOCKS * 200 * 2 / 3)) ]
}

short()
{
	vector || return
	awk 'NR <= 5' "$TMP/in.v2" > "$TMP/in.short"
	start_recv short v0
	start_send short v2 v0 "$TMP/in.short"
	! wait "$send_pid" && ! wait "$recv_pid" || return
	cat "$TMP"/short*.err
	grep "only 5 of the vector's $ELEMENTS elements" "$TMP/short.v2.err"
}

disorder()
{
	vector || return
	printf '0\t7\n2\t7\n' > "$TMP/in.disorder"
	start_send disorder v2 v0 "$TMP/in.disorder"
	! wait "$send_pid" && grep "line 2: element 1 is next" \
		"$TMP/disorder.v2.err"
}

testbed bcube:4,1
files=()
for s in $SENDERS; do
	files+=("$TMP/in.$s")
done
gen "$SEED" $ELEMENTS 1 offset wide "${files[@]}"
reference sum "${files[@]}" > "$TMP/expected"
check "the receiver has the first blocks while the rest is to come" early
check "each block leaves each node once" once
withdraw dense
check "buffers smaller than the vector" bounded
[ ! -s "$TMP/bounded" ] || cat "$TMP/bounded"
withdraw dense
check "a vector that is too short" short
withdraw dense
check "elements out of order" disorder
withdraw dense
done_testing
