#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A plan for switches with servers of their own, on one Ethernet: the switches
# forward frames by themselves, entries name the servers of each switch.
# BCube(8,0):   v0..v7 at one switch, which stands for all four.
. "$(dirname "$0")/lib.sh"

SENDERS="v1 v2 v3 v5 v6 v7"

describe()
{
	local i

	echo "topology fbfly:2,3,2"
	for i in 0 1 2 3 4 5 6 7; do
		echo "address v$i-w$((i / 2)) 10.16.0.$((i + 1))"
	done
}

# on_each VERB NAME [OPTION...]: run it for each node with its part of the plan
on_each()
{
	local verb=$1 name=$2 node

	shift 2
	for node in $(jq -r '.nodes | keys[]' "$TMP/$name.json"); do
		aggctl -n "$node" "$verb" "$TMP/$name.json" --node "$node" \
			"$@" > "$TMP/$name.$node" || return 1
	done
}

# Switches w1, w2 and w3 each use a sender for merging, w0 the receiver.
leans()
{
	[ "$(jq -c '[.nodes[].trees[] | .switch // empty] | sort' \
		"$TMP/flat.json")" = '["w1","w2","w3"]' ]
}

testbed bcube:8,0
describe > "$TMP/square"
for s in $SENDERS; do
	gen $((SEED + ${s#v})) 500 200 mix small > "$TMP/in.$s"
done
job=1
aggctl -j plan --topology "@$TMP/square" --method irs \
	--senders "${SENDERS// /,}" --receivers v0 > "$TMP/flat.json"
check "each aggregating switch uses one server" leans
check "each node applies its part" on_each apply flat
# shellcheck disable=SC2086
check "a transfer" transfer flat sum v0 $SENDERS
aggctl -j plan --update "$TMP/flat.json" failed:v7 receiver:v0=v4 \
	> "$TMP/next.json"
check "an update moves entries" on_each apply next --replace
check "another transfer" transfer next sum v4 v1 v2 v3 v5 v6
check "each node withdraws its part" on_each withdraw next
done_testing
