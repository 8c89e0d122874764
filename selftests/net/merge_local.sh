#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Processes of one server merge before anything leaves it, and so does a
# receiver that sends: 8 map tasks with the same keys send an eighth of what
# they give, 80 an eightieth. BCube(4,1), v14 to v0, sums of ones: a value of 8
# or of 80 is as long as one of 1. Of 8 inputs with an aggregation ratio the keys leave
# that they have together.
. "$(dirname "$0")/lib.sh"

KEYS=1500

# tasks N: run N map tasks with the same keys on v14
tasks()
{
	local i

	plan local --topology bcube:4,1 --method irs --senders v14 \
		--receivers v0 --writers "$1" --uid 0 || return
	{
		member local v0 recv v0
		for ((i = 0; i < $1; i++)); do
			member "local.$i" v14 send v0 "$TMP/in.v14"
		done
	} > "$TMP/members"
	aggctl_batch < "$TMP/members" || {
		cat "$TMP"/local*.err
		return 1
	}
	awk -F '\t' -v n="$1" '{ print $1 "\t" n * $2 }' "$TMP/in.v14" |
		sort > "$TMP/expected"
	sort "$TMP/local.out" | cmp - "$TMP/expected"
}

# left NAME: print this counter of v14's entry
left()
{
	aggctl -j -n v14 tree show --job $job | jq ".[].$1"
}

# saves N PERCENT: of the records of N tasks v14 sends fewer by PERCENT (in
# thousandths), in as many packets as for one task. One more packet is allowed
# because the keys come in another order.
saves()
{
	local in out packets

	tasks "$1" || return
	in=$(left records_in) out=$(left records_out) packets=$(left packets_out)
	echo "$1 tasks: $in records in, $out out; $packets packets, of one" \
		"task $alone" | tee "$TMP/saved"
	[ "$in" = $(($1 * KEYS)) ] && [ "$out" = $KEYS ] &&
		[ $((100000 * (in - out) / in)) -ge "$2" ] &&
		[ "$packets" -le $((alone + 1)) ]
}

# ratio: run 8 map tasks with inputs of the ratio 0.25; exactly the keys that they
# have together leave v14, and no more bytes than one value of each takes. The keys
# are fewer than those of one task above: a buffer that must grow and cannot in time
# emits records early.
ratio()
{
	local i out bytes

	aggctl -j gen --senders 8 --records 500 --delta 0.25 --key-bytes 12 \
		--seed "$SEED" --out "$TMP/load" > "$TMP/load.json" &&
		plan local --topology bcube:4,1 --method irs --senders v14 \
			--receivers v0 --writers 8 --uid 0 || return
	{
		member local v0 recv v0
		for ((i = 0; i < 8; i++)); do
			member "local.$i" v14 send v0 "$TMP/load/source.$i"
		done
	} > "$TMP/members"
	aggctl_batch < "$TMP/members" || {
		cat "$TMP"/local*.err
		return 1
	}
	reference sum "$TMP"/load/source.* > "$TMP/expected"
	out=$(left records_out) bytes=$(left bytes_out)
	echo "$out records, $bytes bytes leave: $(jq -c . "$TMP/load.json")"
	sort "$TMP/local.out" | cmp - "$TMP/expected" &&
		jq -e --argjson out "$out" --argjson bytes "$bytes" '
			.union == $out and .union * .bytes / .records == $bytes
			' "$TMP/load.json"
}

# The receiver merges its own records in place: no packet leaves it.
receiver_sends()
{
	plan own --topology bcube:4,1 --method irs --senders v0,v5,v14 \
		--receivers v0 --uid 0 &&
		transfer own sum v0 v0 v5 v14
}

testbed bcube:4,1
gen "$SEED" $KEYS $KEYS 12 one "$TMP/in.v14"
gen "$SEED" 500 200 mix small "$TMP/in.v0" "$TMP/in.v5"
check "one task" tasks 1
alone=$(left packets_out)
withdraw local
check "8 tasks: at least 87 % less" saves 8 87000
say "$(cat "$TMP/saved")"
withdraw local
check "80 tasks: 98.75 % less" saves 80 98750
say "$(cat "$TMP/saved")"
withdraw local
check "8 tasks with the ratio 0.25: their keys leave" ratio
withdraw local
check "a receiver that also sends" receiver_sends
done_testing
