#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whole transfers by Bloom tables are exact, with switches that run aggnet and
# others, and with tables so small that they have false positives: these cost
# traffic only.
# BCube(4,1):   v0..v15, each on a level-0 switch (w0..w3, eth0) and a level-1
#               switch (w4..w7, eth1).
. "$(dirname "$0")/lib.sh"

SENDERS=v2,v5,v9,v10,v11,v14
DECOYS=v1,v3,v4,v5,v6,v7,v8,v9,v10,v12,v13,v15

inputs()
{
	local s n=0

	for s in ${SENDERS//,/ }; do
		n=$((n + 1))
		gen $((SEED + n)) 3000 800 mix limits > "$TMP/in.$s"
	done
}

run()
{
	local name=$1

	shift
	check "$name: planned" plan bloom --topology bcube:4,1 --method irs \
		--function sum --senders $SENDERS --receivers v0 --uid 0 \
		--scheme bloom "$@"
	# shellcheck disable=SC2086
	check "$name: exact" transfer bloom sum v0 ${SENDERS//,/ }
}

# Did every switch that has an entry forward packets?
switches_worked()
{
	local node

	for node in $(jq -r '.nodes | keys[] | select(startswith("w"))' \
			"$TMP/bloom.json"); do
		[ "$(summed forwarded_bloom "$node")" -gt 0 ] || return
	done
}

# No server dropped a packet because no table of its links had the ID.
none_missed()
{
	[ "$(summed drop_bloom_miss v{0..15})" = 0 ] &&
		[ "$(summed drop_bloom_miss w{0..7})" = 0 ]
}

# Fill tables of 8 bits with the IDs of transfers that do not run: nearly every
# link then seems to lead to v0, whatever the seed.
lying_tables()
{
	local small='.nodes[].links[] += {bits: 8, hashes: 1}' n

	for n in 1 2 3; do
		job=$((job + 10))
		aggctl -j plan --job "$job" --topology bcube:4,1 --method irs \
			--senders random:6 --receivers "$DECOYS" --no-key \
			--seed $((SEED + n)) --scheme bloom --uid 0 \
			--memory 131072 \
			> "$TMP/decoy.whole" &&
			jq "$small" "$TMP/decoy.whole" > "$TMP/decoy$n.json" &&
			aggctl apply "$TMP/decoy$n.json" > "$TMP/decoy.apply" ||
			return
	done
}

copies()
{
	echo $(($(summed duplicates v{0..15}) + $(summed misforwarded v{0..15})))
}

copies_were_made()
{
	[ "$(copies)" -gt "$1" ]
}

testbed bcube:4,1
inputs
run "aggnet switches"
check "the switches took part" switches_worked
check "every incast ID was in a table" none_missed
withdraw bloom
run "dumb switches" --switches dumb
withdraw bloom
check "small tables are filled" lying_tables
before=$(copies)
run "tables that lie"
check "false positives made copies" copies_were_made "$before"
withdraw bloom
withdraw decoy1
withdraw decoy2
withdraw decoy3
done_testing
