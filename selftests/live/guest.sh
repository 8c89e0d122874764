#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's half of live.sh: plays jobs on a testbed whose links have a rate, with
# and without aggregation, and adds a line of JSON for each to OUT.
# Usage: guest.sh OUT < JOBS; a line of JOBS:
#   TOPOLOGY RATE LAYOUT METHOD RECORDS DELTA TASKS RECEIVER SENDERS [PLAN OPTIONS]
# LAYOUT as in members.c; with tcp METHOD must be existing: how IP routes. @TOPOLOGY: a
# testbed of the nodes that the job needs, with the routes of IP. SENDERS as for plan;
# random:N/SEED: with this seed.
set -euo pipefail
export LC_ALL=C

OUT=$1
TRAFFIC=selftests/demo/traffic.jq
TMP=$(mktemp -d)
job=0

say()
{
	printf 'live: %s\n' "$*" >&2
}

bed=''
down()
{
	[ -z "$bed" ] || aggctl testbed down > "$TMP/down"
	bed=''
}

# up: make the testbed of the job, unless it is the one that is up
up()
{
	if [ "${topology#@}" != "$topology" ]; then
		down
		existing > "$TMP/existing.json"
		aggctl testbed up --rate "$rate" \
			--of "$TMP/existing.json" "$TMP/plan.json" > "$TMP/up"
		bed=part
	elif [ "$bed" != "$topology $rate" ]; then
		down
		aggctl testbed up "$topology" --rate "$rate" > "$TMP/up"
		bed="$topology $rate"
	fi
}

# existing: print the plan of the routes of IP, which also has the names of all members
existing()
{
	aggctl -j plan --topology "${topology#@}" --method existing \
		--senders "${senders%/*}" --receivers "$receiver" \
		--seed "${seed:-1}"
}

# flow LAYOUT RECORDS: print the bytes of a task's records in packets
flow()
{
	local record=18

	[ "$1" != dense ] || record=8
	echo $((record * $2))
}

# plan OPTIONS...: write the plan of a job to $TMP/plan.json
plan()
{
	local sizes=() vector=() sender

	[ "$layout" != dense ] || vector=(--elements "$records")
	# A server merges its own tasks before it sends; with TCP each has a flow.
	if [ "$layout" = tcp ]; then
		for sender in ${senders//,/ }; do
			echo "$sender $tasks"
		done > "$TMP/sizes"
		sizes=(--sizes "$TMP/sizes")
	fi
	aggctl -j plan --topology "${topology#@}" --method "$method" --job "$job" \
		--senders "$senders" --receivers "$receiver" --uid 0 \
		--writers "$tasks" --delta "$delta" --rate "$rate" \
		--flow-size "$(flow "$layout" "$records")" \
		"${sizes[@]}" "${vector[@]}" "$@" > "$TMP/plan.json"
}

play()
{
	local good=true

	[ "$layout" = tcp ] || aggctl apply "$TMP/plan.json" > "$TMP/apply"
	aggctl -j testbed traffic > "$TMP/before.json"
	# shellcheck disable=SC2086
	build/selftests/live/members "$layout" "$job" "$records" "$delta" \
		"$tasks" "$receiver" ${senders//,/ } > "$TMP/time.json" ||
		good=false
	aggctl -j testbed traffic > "$TMP/after.json"
	[ "$layout" = tcp ] || aggctl withdraw "$TMP/plan.json" > "$TMP/withdraw"
	$good || say "job $job ($layout, $method): a member reported an error"
}

row()
{
	jq -n --slurpfile b "$TMP/before.json" --slurpfile a "$TMP/after.json" \
		-f "$TRAFFIC" |
	jq -c --arg topology "$topology" --arg rate "$rate" \
		--arg layout "$layout" --arg method "$method" \
		--argjson records "$records" --argjson delta "$delta" \
		--argjson tasks "$tasks" --arg receiver "$receiver" \
		--arg senders "$senders" --arg options "$options" \
		--slurpfile time "$TMP/time.json" \
		--slurpfile plan "$TMP/plan.json" '
		{ $topology, $rate, $layout, $method, $records, $delta, $tasks,
		  $receiver, senders: ($senders | split(",") | length),
		  link_bytes: (map(.tx_bytes) | add),
		  scheme: $plan[0].scheme,
		  objective: ([$options | capture("--objective (?<o>[a-z]+)").o] |
			      first),
		  receiver_bytes: (map(select(.node == $receiver)) |
				   map(.rx_bytes) | add),
		  predicted: $plan[0].metrics.predicted_seconds } + $time[0]'
}

while read -r topology rate layout method records delta tasks receiver senders options
do
	job=$((job + 1))
	seed=${senders#"${senders%/*}"} seed=${seed#/}
	senders=$(existing | jq -r '.members.senders | map("v\(.)") | join(",")')
	# shellcheck disable=SC2086
	plan $options
	up
	play
	row | tee -a "$OUT" | jq -r '"live: \(.layout) \(.method): " +
		"\(.seconds * 100 | round / 100) s, " +
		"\(.predicted * 100 | round / 100) predicted"' >&2
done
down
rm -rf "$TMP"
