#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every Bloom table of the network matches everything: each result is exact, the
# traffic grows, copies stay within their bound and end, and copies that reach
# other nodes than their acceptor are counted. Most servers are members of some
# tree, so copies also reach members. BCube(4,1): v0..v15, each on an aggnet
# switch of level 0 (w0..w3, eth0) and one of level 1 (w4..w7, eth1).
#   ROUNDS=N  rounds of three transfers at once (20)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/decoys.inc"

ROUNDS=${ROUNDS:-$(scaled 20)}
RECORDS=400
SENDERS="v2 v5 v9 v10 v11 v14"
RECEIVERS="v0 v7 v12"
NODES=$(echo v{0..15} w{0..7})

# look NAME: save the counters of all nodes in $TMP/look.NAME
look()
{
	local node

	for node in $NODES; do
		aggctl -j -n "$node" stats show
	done > "$TMP/look.$1"
}

# total COUNTER NAME: the sum over all nodes in $TMP/look.NAME
# since COUNTER BEFORE AFTER: how much that sum grew between two looks
total()
{
	jq -s "map(.$1) | add" "$TMP/look.$2"
}

since()
{
	echo $(($(total "$1" "$3") - $(total "$1" "$2")))
}

# Give every link so many IDs that they set all 8 bits of its table. In one of
# millions of runs a bit stays clear.
lies()
{
	decoys lies trees '{"bits": 8, "hashes": 1}' 160
}

all_bits_set()
{
	local node

	for node in $NODES; do
		aggctl -j -n "$node" link show
	done | jq -s -e 'add | length == 64 and all(.bits_set == .bits)'
}

# Plan one tree to each receiver.
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

# Run one transfer to each receiver, all at the same time.
run()
{
	many_transfers $RECORDS < "$TMP/transfers" > "$TMP/transferred"
}

# Replace the trees by the same trees in a newer epoch.
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

# No node receives packets any more: the copies have ended.
quiet()
{
	local before

	before=$(total rx_packets after)
	look after
	[ "$(total rx_packets after)" = "$before" ]
}

# The copies of one round are within their bound: a packet that leaves with the
# hop field h crosses at most 1 + 3 + ... + 3^h links.
bounded()
{
	local true_copies=$1 lying_copies=$2 packets=$3 bound

	say "forwarded by tables: $true_copies; with saturated tables: $lying_copies," \
		"of $packets packets" >&3
	bound=$((packets * (3 ** 7 - 1) / 2))
	[ "$lying_copies" -gt $((2 * true_copies)) ] &&
		[ "$lying_copies" -lt $bound ]
}

exec 3>&1
testbed bcube:4,1
look begin
check "three trees" trees
check "transfers with tables that are not saturated" run
check "the trees are withdrawn" withdraw trees
look truth
check "no copy reached a node other than its acceptor" test "$(total misforwarded truth)" = 0
check "every table gets entries that fill it" lies
check "all bits are set" all_bits_set
check "results are exact with saturated tables" rounds
look after
check "the copies end" wait_for quiet
check "the traffic grew, within its bound" bounded \
	"$(since forwarded_bloom begin truth)" \
	$(($(since forwarded_bloom truth after) / ROUNDS)) \
	$(($(since tx_packets truth after) / ROUNDS))
check "copies that reached other nodes are counted" \
	test "$(total misforwarded after)" -gt 0
check "the trees are withdrawn" withdraw trees
check "the entries that fill the tables are withdrawn" withdraw lies
done_testing
