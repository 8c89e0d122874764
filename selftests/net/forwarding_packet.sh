#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whole transfers whose packets carry a filter of their path are exact, without
# entries on switches and transits: by switches that run aggnet and others, by
# filters that name every link, past a server that knows none of its links, and
# around a switch that has failed.
# BCube(4,1):   v0..v15, each on a level-0 switch (w0..w3, eth0) and a level-1
#               switch (w4..w7, eth1). Each flow has a transit of its own:
#   v5 v1 v0     v10 v2 v0     v15 v3 v0
. "$(dirname "$0")/lib.sh"

SENDERS="v5 v10 v15"
TRANSITS="v1 v2 v3"

inputs()
{
	local s n=0

	for s in $SENDERS; do
		n=$((n + 1))
		gen $((SEED + n)) 1500 600 mix limits > "$TMP/in.$s"
	done
}

# planned OPTION...: plan packet.json without applying it
planned()
{
	job=$((job + 1))
	aggctl -j plan --job $job --topology bcube:4,1 --method unicast \
		--senders "${SENDERS// /,}" --receivers v0 --uid 0 \
		--scheme packet "$@" > "$TMP/packet.json"
}

# change FILTER: change packet.json by this filter of jq
change()
{
	jq "$1" "$TMP/packet.json" > "$TMP/changed.json" &&
		mv "$TMP/changed.json" "$TMP/packet.json"
}

# exact: apply the plan, run a transfer, withdraw the plan
exact()
{
	# shellcheck disable=SC2086
	aggctl apply "$TMP/packet.json" && transfer packet sum v0 $SENDERS &&
		withdraw packet
}

# more BEFORE COUNTER NODE...: has the sum of the counter grown beyond BEFORE?
more()
{
	[ "$(summed "$2" "${@:3}")" -gt "$1" ]
}

# Only ends have entries, and all ends are members of the plan.
no_entries()
{
	local node n=0

	aggctl apply "$TMP/packet.json" || return
	for node in $TRANSITS $(echo w{0..7}); do
		n=$((n + $(aggctl -j -n "$node" tree show | jq length)))
	done
	withdraw packet && [ $n = 0 ]
}

# every_link OPTION...: plan with these options; give packets filters of 8 set
# bits
every_link()
{
	planned "$@" && change '.nodes[].trees[] |=
		if .filter then .filter = "00080100ff000000" else . end'
}

# go NAME COUNTER NODES COMMAND...: COMMAND makes a plan; its transfer is exact,
# and COUNTER grows on NODES
go()
{
	local name=$1 counter=$2 nodes=$3 before

	check "$name: planned" "${@:4}"
	# shellcheck disable=SC2086
	before=$(summed "$counter" $nodes)
	check "$name: exact" exact
	# shellcheck disable=SC2086
	check "$name: $counter" more "$before" "$counter" $nodes
}

unnamed()
{
	planned --switches dumb && change '.nodes.v1.links = []'
}

# Links that earlier plans have named stay; delete them.
forget()
{
	local link neighbour

	while read -r link neighbour; do
		aggctl -n v1 link del "$link" ${neighbour:+neighbour $neighbour} ||
			return
	done < <(aggctl -j -n v1 link show |
		 jq -r '.[] | "\(.port) \(.neighbour // "")"')
}

# lacks TEXT: host check of the plan in v1 says so of links
lacks()
{
	! ip netns exec v1 aggctl host check "$TMP/packet.json" > "$TMP/asked" &&
		grep "^no  *link .*$1.*" "$TMP/asked"
}

# v1 has no entry of the plan, and needs links by their names.
checked()
{
	forget && planned --switches dumb && lacks "there is none" &&
		ip netns exec v1 aggctl apply --node v1 "$TMP/packet.json" &&
		ip netns exec v1 aggctl host check "$TMP/packet.json" > "$TMP/asked"
	cat "$TMP/asked"
	! grep "^no  *link" "$TMP/asked" && grep "^yes  *link" "$TMP/asked" &&
		aggctl -n v1 link del eth0 neighbour 10.16.0.1 &&
		aggctl -n v1 link add eth0 neighbour 10.16.0.1 name 999 digit 0 &&
		lacks "it has not the name" && aggctl -n v1 link del eth0 neighbour 10.16.0.1
}

missing_links()
{
	aggctl -j -n v1 host init --topology bcube:4,1 | jq -r '.missing[]' | grep "^aggctl link"
}

# The names are those of the plan; a wrong one is replaced.
# shellcheck disable=SC2086 # words
restored()
{
	local command wrong="eth0 neighbour 10.16.0.1"

	forget && while read -r command; do
		ip netns exec v1 $command || return
	done < <(missing_links)
	! missing_links && planned --switches dumb &&
		diff <(jq -S '.nodes.v1.links | map(del(.capacity)) | sort_by(.name)' \
			"$TMP/packet.json") \
			<(aggctl -j -n v1 link show | jq -S 'map({port, neighbour,
				bits, hashes, name, digit}) | sort_by(.name)') || return
	aggctl -n v1 link del $wrong && aggctl -n v1 link add $wrong name 999 digit 0 || return
	missing_links > "$TMP/missing"
	cat "$TMP/missing"
	[ "$(head -n 1 "$TMP/missing")" = "aggctl link del $wrong" ] &&
		[ "$(wc -l < "$TMP/missing")" = 2 ]
}

# initialised: "host init" has settings to mend, and then none
initialised()
{
	aggctl -n v1 host init --topology bcube:4,1 --run &&
		! missing_links && [ "$(aggctl -j -n v1 link show | jq length)" = "$1" ]
}

# A port with a wrong level takes its links along; a neighbour has had another address.
moved()
{
	local links

	initialised 6 || return
	links=$(aggctl -j -n v1 link show | jq -r '.[] | select(.port == "eth0") |
		"name \(.name) digit \(.digit)"' | head -n 1)
	aggctl -n v1 port del eth0 && aggctl -n v1 port add eth0 level 5 &&
		initialised 6 || return
	# shellcheck disable=SC2086 # words
	aggctl -n v1 link add eth0 neighbour 10.16.0.200 $links &&
		[ "$(missing_links)" = "aggctl link del eth0 neighbour 10.16.0.200" ] &&
		initialised 6
}

# The path from v5 to v1 crosses w5, which fails; v5's link on eth1 has no name
# any more. The new plan uses another path.
around()
{
	local old=$TMP/packet.json

	planned && aggctl apply "$old" || return
	aggctl testbed exec w5 -- ip link del dev p1 || return
	aggctl -j plan --update "$old" failed:w5 > "$TMP/new.json" &&
		aggctl apply --replace "$TMP/new.json" || return
	jq -e '.nodes.v5.trees[0] | .attempt == 1 and .filter != null and
		.link_port == "eth0"' \
		"$TMP/new.json" || return
	mv "$TMP/new.json" "$old"
	# shellcheck disable=SC2086
	transfer packet sum v0 $SENDERS && withdraw packet
}

testbed bcube:4,1
inputs
check "transits and switches have no entries" eval 'planned && no_entries'
go "aggnet switches" forwarded_filter "$(echo w{0..7})" planned
go "dumb switches" forwarded_filter "$TRANSITS" planned --switches dumb
go "by the paper's rule" forwarded_filter "$TRANSITS" \
	planned --filter-rule paper
go "filters that name every link" duplicates v0 every_link
go "the same past dumb switches" duplicates v0 every_link --switches dumb
check "a server without named links" forget
go "a server without named links" passed v1 unnamed
check "host check names links that a plan lacks" checked
check "host init names the links of a server" restored
check "host init mends ports and links that have changed" moved
check "a path around a switch that has failed" around
done_testing
