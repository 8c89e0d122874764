#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's half of the demo: every transfer by every method on one testbed.
# Usage: guest.sh DIR (made by demo.sh; results go to DIR/run)
set -euo pipefail
export LC_ALL=C

DIR=$1
TOPOLOGY=bcube:4,1
SENDERS=v2,v5,v9,v10,v11,v14
METHODS="existing unicast irs srs"
TIMEOUT=240
job=0

say()
{
	printf 'demo: %s\n' "$*" >&2
}

identity()
{
	echo "10.0.$(((${1#v} + 1) / 256)).$(((${1#v} + 1) % 256))"
}

# start_all DIR RECEIVERS: start every member as its own process, as a job
# scheduler would; sets pids
start_all()
{
	local sender receiver

	pids=()
	for receiver in $2; do
		aggctl -n "$receiver" recv --job "$job" \
			--receiver "$(identity "$receiver")" \
			--timeout $TIMEOUT > "$1/$receiver.out" &
		pids+=($!)
		for sender in ${SENDERS//,/ }; do
			aggctl -n "$sender" send --job "$job" \
				--receiver "$(identity "$receiver")" \
				--timeout $TIMEOUT \
				"$DIR/in/$transfer/$receiver/$sender" &
			pids+=($!)
		done
	done
}

# exact DIR RECEIVERS: is every result what sort and uniq counted?
exact()
{
	local receiver

	for receiver in $2; do
		sort "$1/$receiver.out" |
			cmp -s - "$DIR/in/$transfer/$receiver/expected" || {
			echo false
			return
		}
	done
	echo true
}

# run TRANSFER METHOD RECEIVERS: run one transfer and add its row
run()
{
	local transfer=$1 method=$2 receivers=$3
	local name=$1-$2 out=/tmp/$1-$2 begin end pid ok=true

	job=$((job + 1))
	mkdir -p "$out"
	aggctl -j plan --topology $TOPOLOGY --method "$method" --job $job \
		--senders $SENDERS --receivers "${receivers// /,}" \
		--function sum --uid 0 > "$out/plan.json"
	aggctl -j plan --topology $TOPOLOGY --method "$method" --job $job \
		--senders $SENDERS --receivers "${receivers// /,}" \
		--delta "$(< "$DIR/in/$transfer/delta")" > "$out/delta.json"
	aggctl apply "$out/plan.json" > /dev/null
	aggctl -j testbed traffic > "$out/before.json"
	begin=$EPOCHREALTIME
	start_all "$out" "$receivers"
	for pid in "${pids[@]}"; do
		wait "$pid" || ok=false
	done
	end=$EPOCHREALTIME
	aggctl -j testbed traffic > "$out/after.json"
	aggctl withdraw "$out/plan.json" > /dev/null
	[ $ok = true ] || say "$name: a member reported an error"
	[ $ok = false ] || ok=$(exact "$out" "$receivers")
	jq -n --slurpfile b "$out/before.json" --slurpfile a "$out/after.json" \
		-f selftests/demo/traffic.jq > "$DIR/run/$name.traffic.json"
	# Save the plan without its entries, because they hold the key.
	jq 'del(.nodes) | .entries.keyed = false' "$out/plan.json" > "$DIR/run/$name.plan.json"
	jq -f selftests/demo/row.jq --arg transfer "$transfer" \
		--arg topology $TOPOLOGY --arg method "$method" \
		--argjson exact "$ok" --argjson began "$begin" \
		--argjson ended "$end" --arg receivers "$receivers" \
		--argjson delta "$(< "$DIR/in/$transfer/delta")" \
		--slurpfile plan "$out/plan.json" \
		--slurpfile at_delta "$out/delta.json" \
		"$DIR/run/$name.traffic.json" > "$DIR/run/$name.row.json"
	say "$name: exact $ok, $(jq -r '"\(.link_bytes) bytes on all links, " +
		"\(.seconds) s"' "$DIR/run/$name.row.json")"
}

aggctl testbed up $TOPOLOGY >&2
for method in $METHODS; do
	run incast "$method" "v0"
done
for method in $METHODS; do
	run shuffle "$method" "v0 v3 v8"
done
aggctl testbed down >&2
