#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a user watches a transfer with: "tree show" and "top" fit into 100 columns and
# have the numbers of the transfer, "monitor" prints when a thing has happened.
. "$(dirname "$0")/lib.sh"

# fits FILE: does each line have 100 columns at most?
fits()
{
	cat "$1"
	[ -s "$1" ] && ! grep -E '.{101}' "$1"
}

brief()
{
	aggctl -n v0 tree show > "$TMP/brief" && fits "$TMP/brief" &&
		grep -E "^$job +10.0.0.1 +sum +done +2/2 +[0-9]+ " "$TMP/brief"
}

details()
{
	aggctl -n v0 tree show -d > "$TMP/details" && fits "$TMP/details" &&
		grep -x 'flows that arrived  *2' "$TMP/details" &&
		grep -xE 'memory at most, bytes  *[1-9][0-9]*' "$TMP/details"
}

# A script gets the same members as ever.
json()
{
	aggctl -j -n v0 tree show --details |
		jq -e '.[0] | .channels == 2 and (has("bound") | not)'
}

table()
{
	aggctl -n v0 top --count 1 --interval 10ms > "$TMP/top" && fits "$TMP/top" &&
		[ "$(wc -l < "$TMP/top")" = 2 ]
}

# "top" runs before the transfer begins, and sees it.
rates()
{
	local pid status=0

	plan live --topology bcube:4,1 --uid 0 --senders v1,v2 --receivers v0 || return
	aggctl -j -n v0 top --interval 50ms > "$TMP/rates" &
	pid=$!
	wait_for test -s "$TMP/rates" && transfer live sum v0 v1 v2 &&
		wait_for moved || status=1
	kill $pid
	wait $pid
	return $status
}

moved()
{
	jq -se --argjson job $job 'flatten | map(select(.job == $job)) |
		any(.records_in_s > 0) and any(.mbit_in_s > 0)' "$TMP/rates"
}

events()
{
	aggctl -n v0 monitor --count 1 > "$TMP/event" &
	aggctl -n v0 monitor --count 1 --no-time > "$TMP/bare" &
	while jobs -r > "$TMP/running" && [ -s "$TMP/running" ]; do
		plan event --topology bcube:4,1 --uid 0 --senders v1 \
			--receivers v0 && withdraw event || return
	done
	cat "$TMP/event" "$TMP/bare"
	grep -E '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6}[+-][0-9]{4} [a-z]' \
		"$TMP/event" && grep -E '^[a-z]' "$TMP/bare"
}

# The screen is not cleared for a file: the table comes again and again.
watched()
{
	local pid status=0

	aggctl -n v0 tree show --watch > "$TMP/watched" &
	pid=$!
	wait_for again || status=1
	kill $pid
	wait $pid
	return $status
}

again()
{
	[ "$(grep -c '^job ' "$TMP/watched")" -ge 2 ]
}

# A process that has a socket of the module keeps it in use.
sockets()
{
	local pid status=0

	plan held --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 || return
	aggctl -n v0 recv --job $job > "$TMP/held" 2>&1 &
	pid=$!
	wait_for holds $pid || status=1
	kill $pid
	wait $pid
	wait_for none_holds || status=1
	withdraw held && return $status
}

holds()
{
	aggctl -j host sockets > "$TMP/sockets"
	cat "$TMP/sockets"
	jq -e --argjson pid "$1" 'length == 1 and (.[0] | .pid == $pid and
		.command == "aggctl" and .user == "root" and .fd > 2)' "$TMP/sockets"
}

none_holds()
{
	[ "$(aggctl -j host sockets)" = '[]' ]
}

none()
{
	aggctl -n v9 top --count 1 --interval 10ms &&
		[ "$(aggctl -j -n v9 top --count 2 --interval 10ms)" = $'[]\n[]' ]
}

testbed bcube:4,1
for s in v1 v2; do
	seq 20000 | sed 's/$/\t1/' > "$TMP/in.$s"
done
plan first --topology bcube:4,1 --uid 0 --senders v1,v2 --receivers v0
check "a transfer" transfer first sum v0 v1 v2
check "tree show is brief" brief
check "tree show -d has all, with units" details
check "tree show -j is as it was" json
check "tree show --watch" watched
check "top fits into 100 columns" table
check "top shows the rates of a transfer" rates
check "top without entries" none
check "monitor prints the time" events
check "host sockets names the processes that keep the module in use" sockets
done_testing
