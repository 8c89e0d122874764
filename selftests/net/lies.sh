#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bloom tables that say yes to everything, on every link of the network: each
# result is exact, the traffic grows, copies stay within their bound and end,
# and those that reach whom they are not for are counted. Most servers are
# members of some tree, so copies land on members, too.
# BCube(4,1): v0..v15, each on an aggnet switch of level 0 (w0..w3, eth0) and
# one of level 1 (w4..w7, eth1).
#   ROUNDS=N  rounds of three transfers at once (20)
. "$(dirname "$0")/lib.sh"

ROUNDS=${ROUNDS:-$(scaled 20)}
RECORDS=400
SENDERS="v2 v5 v9 v10 v11 v14"
RECEIVERS="v0 v7 v12"
NODES=$(echo v{0..15} w{0..7})

# look NAME: at the counters of all nodes, now
look()
{
	local node

	for node in $NODES; do
		aggctl -j -n "$node" stats show
	done > "$TMP/look.$1"
}

# total COUNTER NAME: over all nodes, then; since COUNTER BEFORE AFTER
total()
{
	jq -s "map(.$1) | add" "$TMP/look.$2"
}

since()
{
	echo $(($(total "$1" "$3") - $(total "$1" "$2")))
}

# Entries of transfers that nobody runs: on every link so many that they set all
# bits of its table of eight, but once in millions of runs.
lies()
{
	jq --argjson decoys 160 '
	def hex2: [(. / 16 | floor), . % 16] |
		map("0123456789abcdef"[. : . + 1]) | add;
	def decoys($link; $n): [range($decoys) | {
		job: (90000 + $n * $decoys + .), receiver: "10.9.9.9",
		instance: 1, attempt: 0, link_port: $link.port} +
		if $link.neighbour then {role: "switch",
			link_neighbour: $link.neighbour}
		else {role: "transit", contributors: 1, sources: 1,
			scheme: "bloom", hops: 2, writers: 0} end];
	def node($own): $own + {links: ($own.links | map(. +
		{bits: 8, hashes: 1})), trees: [$own.links | to_entries[] |
		decoys(.value; .key)[]]};
	def server($i): node({role: "server", address: "10.0.0.\($i + 1)",
		ports: [{name: "eth0", level: 0}, {name: "eth1", level: 1}],
		links: [{port: "eth0"}, {port: "eth1"}]});
	def switch($w): ($w / 4 | floor) as $l | node({role: "switch",
		ports: [range(4) | {name: "p\(.)", level: $l}],
		links: [range(4) | (if $l == 0 then $w * 4 + . else
			. * 4 + $w - 4 end) as $i | {port: "p\(.)",
			neighbour: "10.16.\($w).\(. + 1)",
			lladdr: "02:a6:00:\($l | hex2):00:\($i | hex2)"}]});
	.nodes = ([range(16) | {key: "v\(.)", value: server(.)}] +
		[range(8) | {key: "w\(.)", value: switch(.)}] | from_entries)
	' "$TMP/trees.json" > "$TMP/lies.json" &&
		aggctl apply "$TMP/lies.json" > "$TMP/lies.apply"
}

all_bits_set()
{
	local node

	for node in $NODES; do
		aggctl -j -n "$node" link show
	done | jq -s -e 'add | length == 64 and all(.bits_set == .bits)'
}

# A tree to each receiver.
trees()
{
	local r

	plan trees --topology bcube:4,1 --method irs --function sum --scheme bloom \
		--senders "${SENDERS// /,}" --receivers "${RECEIVERS// /,}" \
		--uid 0 --memory 262144 || return
	for r in $RECEIVERS; do
		echo "$job $(identity "$r") $r $SENDERS"
	done > "$TMP/transfers"
}

# A transfer to each receiver, at once.
run()
{
	mass $RECORDS < "$TMP/transfers" > "$TMP/mass"
}

# The same trees, in a newer epoch.
renew()
{
	jq '.instance += 1 | .nodes[].trees[].instance += 1' "$TMP/trees.json" \
		> "$TMP/newer.json" && mv "$TMP/newer.json" "$TMP/trees.json" &&
		aggctl apply --replace "$TMP/trees.json" > "$TMP/trees.apply"
}

rounds()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		renew && run && continue
		echo "round $i"
		return 1
	done
}

# No packet is on its way any more: copies do not go round for ever.
quiet()
{
	local before

	before=$(total rx_packets after)
	look after
	[ "$(total rx_packets after)" = "$before" ]
}

# What one round made: a packet that leaves with the hop field h is on
# its way over at most 1 + 3 + ... + 3^h links.
bounded()
{
	local true_copies=$1 lying_copies=$2 packets=$3 bound

	say "forwarded by tables: $true_copies; when they lie: $lying_copies," \
		"of $packets packets" >&3
	bound=$((packets * (3 ** 7 - 1) / 2))
	[ "$lying_copies" -gt $((2 * true_copies)) ] &&
		[ "$lying_copies" -lt $bound ]
}

exec 3>&1
testbed bcube:4,1
look begin
check "three trees" trees
check "tables that tell the truth" run
check "the trees go" withdraw trees
look truth
check "no copy went wrong" test "$(total misforwarded truth)" = 0
check "every table lies" lies
check "all bits are set" all_bits_set
check "results are exact" rounds
look after
check "the copies come to an end" wait_for quiet
check "the traffic grew, within its bound" bounded \
	"$(since forwarded_bloom begin truth)" \
	$(($(since forwarded_bloom truth after) / ROUNDS)) \
	$(($(since tx_packets truth after) / ROUNDS))
check "copies that went wrong are counted" \
	test "$(total misforwarded after)" -gt 0
check "the trees go" withdraw trees
check "and the lies" withdraw lies
done_testing
