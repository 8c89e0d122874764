#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's half of live.sh: plays jobs on a testbed whose links have a rate, with
# and without aggregation, and adds a line of JSON for each to OUT.
# Usage: guest.sh OUT < JOBS; a line of JOBS:
#   TOPOLOGY RATE LAYOUT METHOD RECORDS DELTA TASKS RECEIVERS SENDERS
#	[NAME=VALUE...] [PLAN OPTIONS]
# LAYOUT as in members.c; with tcp METHOD must be existing: how IP routes.
# part:TOPOLOGY: a testbed of the nodes that the job needs, with the routes of IP. @FILE:
# the names of its servers must be v0, v1, ... in order. RECEIVERS and SENDERS as for
# plan; random:N/SEED: with this seed, which is that of both lists.
#   late=S     the first sender begins S seconds after the others
#   paths=M    IP routes along the trees of method M (part:TOPOLOGY)
#   row=NAME   is added to the row, as are the other words
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

bed='' stripes=1
echo '{}' > "$TMP/bed"
down()
{
	[ -z "$bed" ] || aggctl testbed down > "$TMP/down"
	bed=''
}

available()
{
	awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo
}

# part: make a testbed of the nodes that the job needs; what it takes is in its row
part()
{
	local began memory

	paths "${word[paths]:-existing}" > "$TMP/paths.json"
	memory=$(available) began=$EPOCHREALTIME
	aggctl testbed up --rate "$rate" \
		--of "$TMP/paths.json" "$TMP/plan.json" > "$TMP/up"
	jq -n --argjson began "$began" --argjson ended "$EPOCHREALTIME" \
		--argjson kilobytes $((memory - $(available))) \
		'{ bed: { seconds: ($ended - $began), $kilobytes } }' > "$TMP/bed"
}

# up: make the testbed of the job, unless it is the one that is up
up()
{
	if [[ $topology == part:* ]]; then
		down
		part
		bed=part
	elif [ "$bed" != "$topology $rate" ]; then
		down
		aggctl testbed up "$topology" --rate "$rate" > "$TMP/up"
		bed="$topology $rate"
	fi
}

# paths METHOD: print a plan of this method, for its paths and the names of members
paths()
{
	aggctl -j plan --topology "${topology#part:}" --method "$1" \
		--senders "${senders%/*}" --receivers "${receivers%/*}" \
		--seed "${seed:-1}"
}

# members senders|receivers: print their names
members()
{
	jq -r --arg list "$1" '.members[$list] | map("v\(.)") | join(",")' \
		"$TMP/members.json"
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
	local sizes=() form=() sender

	case $layout in
	dense) form=(--elements "$records") ;;
	sorted | combiner) form=(--sorted) ;;
	esac
	# A server merges its own tasks before it sends; with TCP each has a flow.
	if [ "$layout" = tcp ]; then
		for sender in ${senders//,/ }; do
			echo "$sender $tasks"
		done > "$TMP/sizes"
		sizes=(--sizes "$TMP/sizes")
	fi
	aggctl -j plan --topology "${topology#part:}" --method "$method" --job "$job" \
		--senders "$senders" --receivers "$receivers" --uid 0 \
		--writers "$tasks" --delta "$delta" --rate "$rate" \
		--flow-size "$(flow "$layout" "$records")" \
		"${sizes[@]}" "${form[@]}" "$@" > "$TMP/plan.json"
}

play()
{
	local good=true how=(late="${word[late]:-0}")

	case $layout in
	tcp) ;;
	combiner)
		jq -rf selftests/live/tree.jq "$TMP/plan.json" > "$TMP/tree"
		how+=(tree="$TMP/tree") ;;
	*)
		aggctl apply "$TMP/plan.json" > "$TMP/apply" ;;
	esac
	aggctl -j testbed traffic > "$TMP/before.json"
	build/selftests/live/members "$layout" "$job" "$records" "$delta" \
		"$tasks" "$receivers" "$senders" "${how[@]}" \
		> "$TMP/time.json" || good=false
	aggctl -j testbed traffic > "$TMP/after.json"
	[ ! -e "$TMP/apply" ] || aggctl withdraw "$TMP/plan.json" > "$TMP/withdraw"
	rm -f "$TMP/apply"
	$good || say "job $job ($layout, $method): a member reported an error"
}

row()
{
	jq -n --slurpfile b "$TMP/before.json" --slurpfile a "$TMP/after.json" \
		-f "$TRAFFIC" |
	jq -c --arg topology "$topology" --arg rate "$rate" \
		--arg layout "$layout" --arg method "$method" \
		--argjson records "$records" --argjson delta "$delta" \
		--argjson tasks "$tasks" --arg receivers "$receivers" \
		--arg senders "$senders" --arg options "$options" \
		--arg words "$words" --arg seed "${seed:-1}" \
		--slurpfile time "$TMP/time.json" --slurpfile bed "$TMP/bed" \
		--slurpfile plan "$TMP/plan.json" '
		($receivers | split(",")) as $receivers |
		{ $topology, $rate, $layout, $method, $records, $delta, $tasks,
		  receivers: ($receivers | length),
		  senders: ($senders | split(",") | length),
		  link_bytes: (map(.tx_bytes) | add),
		  scheme: $plan[0].scheme,
		  objective: ([$options | capture("--objective (?<o>[a-z]+)").o] |
			      first),
		  receiver_bytes: (map(select(.node | IN($receivers[]))) |
				   map(.rx_bytes) | add),
		  busiest_bytes: (map(.tx_bytes) | max),
		  planned_busiest_bytes: $plan[0].metrics.bottleneck_bytes,
		  stress: $plan[0].metrics.stress,
		  predicted: $plan[0].metrics.predicted_seconds,
		  seed: ($seed | tonumber) } +
		(if $plan[0].metrics.stress then
			{ links: map({ node, port, bytes: .tx_bytes }) }
		 else {} end) + $bed[0] + $time[0] +
		($words | split(" ") |
		 map(capture("(?<key>[^=]*)=(?<value>.*)")) | from_entries)'
}

declare -A word
# split_words WORDS...: into options of plan and NAME=VALUE
split_words()
{
	local one

	word=() words='' options=''
	for one in "$@"; do
		if [[ $one == [a-z]*=* ]]; then
			words+="${words:+ }$one"
			word[${one%%=*}]=${one#*=}
		else
			options+="${options:+ }$one"
		fi
	done
	stripes=1
	[[ $method != stripes:* ]] || stripes=${method#*:}
}

while read -r topology rate layout method records delta tasks receivers senders rest
do
	job=$((job + stripes))
	# shellcheck disable=SC2086
	split_words $rest
	seed=${senders#"${senders%/*}"} seed=${seed#/}
	paths existing > "$TMP/members.json"
	senders=$(members senders) receivers=$(members receivers)
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
