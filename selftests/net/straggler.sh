#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A missing or late source costs merging, never exactness; a source that does
# not come is named everywhere. failure_rounds.sh repeats this on a line.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/incast.inc"

planned()
{
	rm -f "$TMP"/x.*
	recv_pid=
	plan x --topology bcube:4,1 --method irs --receivers v0 --uid 0 \
		--senders "$(IFS=,; echo "${SENDERS[*]}")" "$@"
}

detach()
{
	aggctl -n "$1" port del eth0 && aggctl -n "$1" port del eth1
}

attach()
{
	aggctl -n "$1" port add eth0 && aggctl -n "$1" port add eth1 level 1
}

# start SENDER...: start members; the receiver's output is JSON
start()
{
	start_recv x v0 --json
	start_senders "$@"
}

# exact: all members exit with 0, and the result is that of all senders
exact()
{
	local status=0

	all_end_well || status=1
	reference sum "${SENDERS[@]/#/$TMP/in.}" > "$TMP/x.expected"
	jq -r '.lines[] | @tsv' "$TMP/x.out" | sort |
		cmp - "$TMP/x.expected" || status=1
	[ $status = 0 ] || cat "$TMP"/x.*err
	return $status
}

no_entry()
{
	local status=0

	planned && aggctl withdraw "$TMP/x.json" --node "$1" > "$TMP/x.none" ||
		return
	transfer x sum v0 "${SENDERS[@]}" || status=1
	aggctl apply "$TMP/x.json" --node "$1" > "$TMP/x.none" && withdraw x &&
		return $status
}

no_port()
{
	local status=0

	planned --give-up 8 && detach "$1" || return
	transfer x sum v0 "${SENDERS[@]}" || status=1
	attach "$1" && withdraw x && return $status
}

# v14 starts when v2 does not wait for it any longer.
straggler()
{
	local status=0

	planned "$@" && start v2 v5 v9 v10 v11 || return
	wait_for tree v2 '.state == "waiting"' || return
	start_send x v14 v0 "$TMP/in.v14"
	senders+=("$send_pid")
	exact || status=1
	jq -e '.partials >= 1 and .sources == 6 and .of == 6' \
		"$TMP/x.out" || status=1
	withdraw x && return $status
}

# all_fail TEXT: every member exits with 1, and its message has TEXT
all_fail()
{
	local failed=0 file

	all_exit 1 || failed=1
	for file in "$TMP"/x.*err; do
		grep -q "$1" "$file" || {
			echo "${file##*/}: $(< "$file")"
			failed=1
		}
	done
	return $failed
}

# told: has an event reported that the transfer failed? Skips events of other
# jobs.
told()
{
	jq -c --argjson job "$job" 'select(.kind == "tree-aborted" and
		.job == $job)' "$TMP/x.monitor" > "$TMP/x.event" &&
		[ -s "$TMP/x.event" ]
}

# v10 and v14 never start: each message and the events name them.
missing()
{
	local status=0 monitor

	planned --give-up 20 || return
	aggctl -n v0 -j monitor > "$TMP/x.monitor" &
	monitor=$!
	start v2 v5 v9 v11
	all_fail "timed out at 10.0.0.1, because of 10.0.0.1[15]: 2 sources missing, not here: 10.0.0.11, 10.0.0.15" || status=1
	wait_for told || status=1
	kill "$monitor"
	jq -e '.origin == "10.0.0.1" and .missing == 2 and
		(.missing_names | sort) == ["10.0.0.11", "10.0.0.15"]' \
		"$TMP/x.event" || status=1
	withdraw x && return $status
}

# A whole branch is missing: v1's children never start, so v1 never binds.
branch_missing()
{
	local status=0

	planned --give-up 20 || return
	start v2 v10 v14
	all_fail "timed out at 10.0.0.1, because of 10.0.0.2: 3 sources missing, not here: 10.0.0.2" || status=1
	withdraw x && return $status
}

# The receiver's process never starts.
no_receiver()
{
	local status=0

	planned --give-up 20 || return
	start_senders "${SENDERS[@]}"
	all_fail "timed out at 10.0.0.1, where a local process never joined" ||
		status=1
	withdraw x && return $status
}

# with JOB DIRECTORY COMMAND...: run it with jobs above JOB and files in
# DIRECTORY
with()
{
	local job=$1 TMP=$2

	shift 2
	"$@"
}

# aside NAME COMMAND...: run a row in the background, with its own jobs and
# files; its members wait until they give up
aside()
{
	mine || return
	mkdir "$TMP/$rows"
	ln "$TMP"/in.* "$TMP/$rows"
	with $((100 * rows)) "$TMP/$rows" "${@:2}" > "$TMP/$rows/said" 2>&1 &
	asides+=("$rows:$!:$1")
}

# aside_ended ROW:PID:NAME: wait for it
aside_ended()
{
	local pid=${1#*:}

	wait "${pid%%:*}" && return
	cat "$TMP/${1%%:*}/said"
	return 1
}

asides=()
inputs 2000 500
testbed bcube:4,1
mine && check "an aggregator without an entry" no_entry v1
mine && check "an aggregator without a port" no_port v1
mine && check "a straggler that binds after hold" straggler --hold 1
mine && check "a straggler without a configured hold" straggler --give-up 10
aside "sources that never come" missing
aside "a branch that never comes" branch_missing
aside "a receiver that never comes" no_receiver
for row in "${asides[@]}"; do
	check "${row#*:*:}" aside_ended "$row"
done
done_testing
