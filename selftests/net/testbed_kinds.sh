#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A testbed of each kind of topology beside bcube and ghc: a plan for it, made without any
# address, comes into force, flows merge where it says, exactly, and nothing is left
# behind. Switches with links to each other form cycles and carry frames once.
# Leafspine(2,2,2): v0 v1 at w0, v2 v3 at w1; the spines w2 and w3 link both.
# Graph:            a at left, b and c at mid, d at left and right; a ring of switches.
. "$(dirname "$0")/lib.sh"

RECORDS=$(scaled 1000)

graph()
{
	cat << END
topology graph
host a
host b
host c
host d
switch left
switch mid
switch right
link a left 8M
link b mid
link c mid
link d left
link d right
link left mid
link mid right
link left right 4M
END
}

no_namespaces()
{
	ip netns list
	[ -z "$(ip netns list)" ] && [ ! -e /run/aggnet/testbed.json ]
}

# row NAME COMMAND...: check it; a testbed that it leaves is not in the way of others
row()
{
	local start=$SECONDS

	check "$@"
	! [ -e /run/aggnet/testbed.json ] || aggctl testbed down > "$TMP/down"
	say "$((SECONDS - start)) s"
}

# Write the names and identities of the servers, in the order of their numbers.
look()
{
	aggctl -j testbed show | jq -r '.nodes[] | select(.identity) |
		"\(.name) \(.identity)"' > "$TMP/given"
}

identity()
{
	sed -n "s/^$1 //p" "$TMP/given"
}

# Each server that merges flows of others has left fewer records than it got, and the
# flows that arrived are the planned ones.
merged()
{
	aggctl -j testbed entries > "$TMP/entries"
	jq -e --slurpfile plan "$TMP/kind.json" '
		($plan[0].nodes | map_values(.trees[0]) | to_entries |
			map(select(.value.contributors > 1 and
				.value.role != "receiver").key)) as $relays |
		($relays | length > 0) and
		all(.trees[]; .unplanned == 0) and
		all(.trees[]; .node as $node | ($relays | index($node) | not) or
			.records_in > .records_out)' "$TMP/entries" ||
		{ cat "$TMP/entries"; return 1; }
}

# All addresses of the plan are those of the testbed.
same_addresses()
{
	jq -r '.nodes | to_entries[] | "\(.key) \(.value.address)"' \
		"$TMP/kind.json" | sort > "$TMP/planned"
	[ -s "$TMP/planned" ] &&
		! comm -23 "$TMP/planned" <(sort "$TMP/given") | grep .
}

# reach FROM: plain IP of this server gets to all others, which refuse the connection. A
# packet that is lost, or a loop that ends early, is an error, too.
reach()
{
	# shellcheck disable=SC2016 # the inner bash
	ip netns exec "$1" bash -c '
		while read -r name to; do
			said=$(timeout 5 bash -c "echo > /dev/tcp/$to/9" 2>&1)
			[[ $said == *refused* ]] ||
				echo "$0 does not reach $name: $said"
		done
		echo done' "$1" < "$TMP/given" > "$TMP/reached" 2>&1
	cat "$TMP/reached"
	[ "$(< "$TMP/reached")" = "done" ]
}

# inputs NAME...: what these servers send; those of an earlier row are used again
inputs()
{
	local s

	for s; do
		[ -e "$TMP/in.$s" ] ||
			gen "$SEED" "$RECORDS" 500 mix small > "$TMP/in.$s"
	done
}

# kind TOPOLOGY METHOD [OPTION...]: the first servers send to the first one
kind()
{
	local topology=$1 method=$2 all

	aggctl testbed up "$topology" "${@:3}" || return
	look
	mapfile -t all < <(head -n 8 "$TMP/given" | cut -d ' ' -f 1)
	inputs "${all[@]:1}"
	reach "$(tail -n 1 "$TMP/given" | cut -d ' ' -f 1)" &&
		plan kind --topology "$topology" --function sum \
			--method "$method" --receivers "${all[0]}" --uid 0 \
			--senders "$(IFS=,; echo "${all[*]:1}")" &&
		same_addresses &&
		transfer kind sum "${all[0]}" "${all[@]:1}" && merged &&
		withdraw kind && aggctl testbed down && no_namespaces
}

# of TOPOLOGY: only the nodes of a plan, of a network too large for a testbed
of_plan()
{
	local senders='v1 v100 v101 v2000 v2001'

	# shellcheck disable=SC2086
	inputs $senders
	aggctl -j plan --topology leafspine:200,2,100 --job 77 --uid 0 \
		--receivers v0 --senders "${senders// /,}" \
		--method getparent > "$TMP/kind.json" &&
		aggctl testbed up --of "$TMP/kind.json" --core 20mbit &&
		[ "$(ip netns list | wc -l)" = 10 ] &&
		aggctl apply "$TMP/kind.json" && look || return
	job=77
	# shellcheck disable=SC2086
	transfer kind sum v0 $senders && merged && aggctl testbed down &&
		no_namespaces
}

core_rates()
{
	aggctl testbed up leafspine:2,2,2 --rate 10mbit --core 40mbit || return
	shaped 'map(.options.rate) | index(1250000)' v0:eth0 w0:p0 &&
		shaped 'map(.options.rate) | index(5000000)' w0:p2 w2:p0 &&
		aggctl -j testbed show | jq -e '.core == 40000000' &&
		aggctl testbed show | grep '^core, bit/s  *40000000' &&
		aggctl testbed shape --core 80mbit || return
	shaped 'map(.options.rate) | index(10000000)' w0:p2 w2:p0 &&
		shaped 'all(.[]; .kind != "tbf")' v0:eth0 w0:p0 &&
		aggctl testbed down
}

described_rates()
{
	aggctl testbed up "@$TMP/graph" --rate 16mbit --core 24mbit || return
	shaped 'map(.options.rate) | index(1000000)' a:eth0 left:p0 &&
		shaped 'map(.options.rate) | index(500000)' left:p3 right:p2 &&
		shaped 'map(.options.rate) | index(2000000)' b:eth0 mid:p0 &&
		shaped 'map(.options.rate) | index(3000000)' left:p2 mid:p2 &&
		aggctl testbed down
}

sent_in_all()
{
	aggctl -j testbed traffic | jq 'map(.tx_packets) | add'
}

# round_trip: v0 asks v3, over all layers of switches. When the answer is there, they have
# handled what v0 sent before; a frame that went round would have been counted many times.
round_trip()
{
	ip netns exec v0 timeout 5 bash -c 'echo > /dev/tcp/10.0.0.4/9' 2>&1 |
		grep -q refused
}

# Broadcasts and frames for an unknown address do not pass a switch.
no_storm()
{
	local before trip after

	aggctl testbed up leafspine:2,2,2 &&
		ip -n v0 neigh replace 10.0.0.99 lladdr 02:00:00:00:00:99 \
			dev eth0 &&
		ip -n v0 route add 10.0.0.98/31 dev eth0 || return
	trip=$(sent_in_all)
	round_trip || return
	before=$(sent_in_all)
	trip=$((before - trip))
	# Nothing has the first address, which is asked for, and the other one is known.
	ip netns exec v0 bash -c \
		'echo > /dev/udp/10.0.0.98/9; echo > /dev/udp/10.0.0.99/9'
	round_trip || return
	after=$(($(sent_in_all) - trip))
	echo "$before, then $after packets; $trip for an answer"
	[ "$after" -gt "$before" ] && [ $((after - before)) -le 4 ] &&
		aggctl testbed down
}

wrong_uses()
{
	refused 2 "testbed up: --core: bcube:2,1 has no links between switches" \
		aggctl testbed up bcube:2,1 --core 1mbit &&
		refused 2 "testbed up: --core: 'fast' is not a rate like 10mbit or 1gbit" \
			aggctl testbed up racks:2,2 --core fast &&
		refused 2 "leafspine:50,2,40: 2000 servers and 52 switches; a testbed of such a network has at most 1024 of each; 'testbed up --of PLAN' makes those of a plan" \
			aggctl testbed up leafspine:50,2,40 &&
		refused 2 "racks:300,2: switch w300 has 300 ports; the addresses allow 253" \
			aggctl testbed up racks:300,2 || return
	{ graph; echo "address mid 192.0.2.1"; } > "$TMP/routed"
	refused 2 "graph: switch mid routes, as its line 'address mid 192.0.2.1' says; the switches of a testbed are bridges: leave the line out" \
		aggctl testbed up "@$TMP/routed" &&
		no_namespaces
}

# A plan for another description has other nodes or links.
other_graph()
{
	{ graph; echo "host e"; echo "link e mid"; } > "$TMP/other"
	aggctl testbed up "@$TMP/other" || return
	aggctl -j plan --topology "@$TMP/graph" --job 3 --receivers a \
		--senders b,c > "$TMP/kind.json" &&
		aggctl -j plan --topology "@$TMP/other" --job 3 --receivers a \
			--senders b,c > "$TMP/own.json" &&
		refused 1 "the plan and the testbed are of different descriptions: make both from the same file" \
			aggctl apply "$TMP/kind.json" &&
		refused 1 "supervise: only in a testbed of bcube or ghc it can send plain IP around what has failed" \
			aggctl supervise "$TMP/own.json" &&
		aggctl testbed down
}

# A refusal has the names of the plan's description, but for the one with which it begins.
named_refusal()
{
	{
		graph
		printf 'address %s 192.0.2.%s\n' a 1 b 2 c 3 d 4 d-left 5 d-right 6
	} > "$TMP/named"
	aggctl testbed up "@$TMP/named" || return
	aggctl -j plan --topology "@$TMP/named" --job 4 --receivers a \
		--senders b > "$TMP/kind.json" && aggctl apply "$TMP/kind.json" &&
		aggctl -j plan --topology "@$TMP/named" --job 4 --receivers a \
			--senders b,c > "$TMP/own.json" &&
		aggctl -n a tree del --job 4 --receiver 192.0.2.1 &&
		refused 1 "b: tree of job 4 to 192.0.2.1 (a): another plan of this job is in force: withdraw that one, or apply this plan with --replace" \
			aggctl apply "$TMP/own.json" &&
		aggctl testbed down
}

# Of a network with labels, too, a plan made by name names other servers.
other_addresses()
{
	{
		echo topology bcube:2,0
		echo address v0 192.0.2.10
		echo address v1 192.0.2.11
		echo address v0-w0 198.51.100.10
		echo address v1-w0 198.51.100.11
	} > "$TMP/addressed"
	aggctl testbed up "@$TMP/addressed" && look || return
	grep 'v1 192.0.2.11' "$TMP/given" &&
		aggctl -j plan --topology bcube:2,0 --job 3 --receivers v0 \
			--senders v1 > "$TMP/kind.json" &&
		aggctl -j plan --topology "@$TMP/addressed" --job 3 --receivers v0 \
			--senders v1 > "$TMP/own.json" &&
		refused 1 "the plan and the testbed are of different descriptions: make both from the same file" \
			aggctl apply "$TMP/kind.json" &&
		aggctl apply "$TMP/own.json" && aggctl testbed down &&
		aggctl testbed up --of "$TMP/own.json" && look &&
		grep 'v1 192.0.2.11' "$TMP/given" &&
		aggctl apply "$TMP/own.json" && aggctl testbed down
}

say "seed $SEED"
trap finish EXIT
hash gen reference_reduce pairs aggctl_batch || exit 1
graph > "$TMP/graph"
row "leafspine" kind leafspine:2,2,2 getparent --rate 20mbit --core 40mbit
row "fattree" kind fattree:4 getparent
row "racks" kind racks:2,3 getparent
row "fbfly" kind fbfly:2,3,2 irs
row "hyperx" kind hyperx:3,2:1 irs
row "camcube" kind camcube:2,2,2 getparent
row "dcell" kind dcell:2,1 getparent
row "a described graph" kind "@$TMP/graph" getparent
row "the nodes of a plan" of_plan
row "a rate of links between switches" core_rates
row "the rates of a description" described_rates
row "addresses of a description, and a plan without them" other_addresses
row "frames without a fixed entry are not flooded" no_storm
row "wrong uses are refused" wrong_uses
row "a refusal has the names of the description" named_refusal
row "a plan for another graph, and a supervisor, are refused" other_graph
done_testing
