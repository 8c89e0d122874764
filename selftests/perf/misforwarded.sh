#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What false positives cost in real transfers: ten of them at once on BCube(4,1)
# with aggnet switches, six senders each, by exact links, by Bloom tables with 40
# trees by each link, and by filters in the packets. In the guest.
# Usage: misforwarded.sh [SEED]
SEED=${1:-1}
. "$(dirname "$0")/../net/lib.sh"
. "$(dirname "$0")/../net/decoys.inc"

SENDERS="v2 v5 v9 v10 v11 v14"
RECEIVERS="v0 v1 v3 v4 v6 v7 v8 v12 v13 v15"
TREES=40
RECORDS=400

# look NAME: save the counters of all nodes
look()
{
	local node

	for node in v{0..15} w{0..7}; do
		aggctl -j -n "$node" stats show
	done | jq -s . > "$TMP/look.$1"
}

# since COUNTER: print how much it grew over all nodes
since()
{
	jq -n --slurpfile b "$TMP/look.before" --slurpfile a "$TMP/look.after" \
		"(\$a[0] | map(.$1) | add) - (\$b[0] | map(.$1) | add)"
}

# planned NAME OPTION...: plan the ten transfers
planned()
{
	plan "$1" --topology bcube:4,1 --method irs --seed "$SEED" \
		--senders "${SENDERS// /,}" --receivers "${RECEIVERS// /,}" \
		--uid 0 --memory 262144 "${@:2}"
}

# row SCHEME TEXT: run the plan in force; fail if a result is not exact
row()
{
	local r

	for r in $RECEIVERS; do
		echo "$job $(identity "$r") $r $SENDERS"
	done > "$TMP/transfers"
	look before
	many_transfers $RECORDS < "$TMP/transfers" > "$TMP/said" || return
	look after
	printf '%-7s %-22s %9d %9d %9d %13d %10d\n' "$1" "$2" \
		"$(since tx_packets)" "$(since rx_packets)" \
		"$(($(since forwarded_bloom) + $(since forwarded_filter)))" \
		"$(since misforwarded)" "$(since duplicates)"
}

# by_tables RATE: rows of Bloom tables with this rate of false positives
by_tables()
{
	local table

	table=$(aggctl -j plan --topology bcube:4,1 --senders v1 --receivers v0 \
		--scheme bloom --bloom-rate "$1" --bloom-trees $TREES --no-key |
		jq -c '.nodes.v1.links[0] | {bits, hashes}') &&
		decoys decoys true "$table" $((TREES - 10)) &&
		planned bloom --scheme bloom &&
		row bloom "rate $1" && withdraw bloom && withdraw decoys
}

# by_packets TEXT OPTION...: a row of filters in packets
by_packets()
{
	planned packet --scheme packet "${@:2}" && row packet "$1" &&
		withdraw packet
}

testbed bcube:4,1
printf '%-7s %-22s %9s %9s %9s %13s %10s\n' scheme "" made seen "by filter" \
	misforwarded duplicates
planned true && row exact "" && withdraw true || exit 1
for rate in 0.5 0.1 0.01 0.001; do
	by_tables $rate || exit 1
done
by_packets "as planned" || exit 1
for bits in 8 16 32; do
	by_packets "$bits bits" --filter-bits $bits || exit 1
done
tests=1
