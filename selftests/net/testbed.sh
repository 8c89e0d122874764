#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A testbed is as described, and leaves nothing behind, whatever happens.
# BCube(4,1):   v0..v15, each on a level-0 switch (w0..w3, eth0) and a level-1
#               switch (w4..w7, eth1); v14 reaches v0 as v14 w6 v2 w0 v0.
. "$(dirname "$0")/lib.sh"

no_namespaces()
{
	ip netns list
	[ -z "$(ip netns list)" ] && [ ! -e /run/aggnet/testbed.json ]
}

addresses()
{
	local i w

	for i in 0 6 15; do
		w=$((i / 4))
		aggctl testbed exec v$i -- ip -4 -o address > "$TMP/addr"
		cat "$TMP/addr"
		grep -q "lo  *inet 10.0.0.$((i + 1))/32" "$TMP/addr" &&
			grep -q "eth0  *inet 10.16.$w.$((i % 4 + 1))/24" \
				"$TMP/addr" || return 1
	done
}

# The route corrects the highest digit first.
routes()
{
	aggctl testbed exec v14 -- ip route get 10.0.0.1 | tee "$TMP/route"
	grep -q 'via 10.16.6.1 dev eth1 src 10.0.0.15' "$TMP/route" || return 1
	aggctl testbed exec v2 -- ip route get 10.0.0.1 | tee "$TMP/route"
	grep -q 'via 10.16.0.1 dev eth0' "$TMP/route"
}

# Packets of v14 to v0 pass w6 and w0, and no other switch sees them.
crosses()
{
	aggctl -j testbed traffic > "$TMP/before"
	aggctl testbed exec v14 -- bash -c \
		'for i in 1 2 3 4 5; do echo > /dev/udp/10.0.0.1/9; done'
	aggctl -j testbed traffic > "$TMP/after"
	jq -r -n --slurpfile a "$TMP/before" --slurpfile b "$TMP/after" '
		[$a[0], $b[0]] | transpose[] |
		select(.[1].rx_packets > .[0].rx_packets) | .[1] |
		"\(.node) \(.port)"' | sort > "$TMP/seen"
	cat "$TMP/seen"
	# The path there, and the path of v0's ICMP errors back through v12.
	diff "$TMP/seen" - << END
v0 eth0
v12 eth1
v14 eth0
v2 eth1
w0 p2
w3 p0
w4 p0
w6 p3
END
}

# v5 sends with v6's address on w1; the switch keeps its own entry for v6.
stays_put()
{
	ip netns exec v5 packet send eth0 smac=02:a6:00:00:00:06 &&
		bridge -n w1 fdb show br br > "$TMP/fdb" &&
		grep "02:a6:00:00:00:06.* p2 " "$TMP/fdb"
}

attached()
{
	[ "$(aggctl -j -n v5 port show | jq -c '[.[] | [.ifname, .level]]')" = \
		'[["eth0",0],["eth1",1]]' ] &&
		[ "$(aggctl -j -n v5 node show | jq -r .address)" = 10.0.0.6 ] &&
		[ "$(aggctl -j -n w5 node show | jq -r .role)" = switch ]
}

shapes()
{
	aggctl testbed shape --rate 10mbit --delay 1ms --loss 1% &&
		aggctl testbed show | grep '^delay' || return 1
	aggctl testbed exec w3 -- tc qdisc show dev p2 | tee "$TMP/qdisc"
	grep -q 'netem.*delay 1ms loss 1%' "$TMP/qdisc" &&
		grep -q 'tbf.*rate 10Mbit' "$TMP/qdisc" || return 1
	aggctl testbed shape && ! aggctl testbed show | grep '^delay' || return 1
	aggctl testbed exec w3 -- tc qdisc show dev p2 | tee "$TMP/qdisc"
	! grep -q -e netem -e tbf "$TMP/qdisc"
}

status_of_exec()
{
	local status=0

	aggctl testbed exec v3 -- sh -c 'exit 17' || status=$?
	[ $status = 17 ] && [ "$(aggctl testbed exec v3 ip -br link show eth0 |
		awk '{ print $1 }')" = eth0@if1027 ]
}

# A testbed leaves a namespace that it did not make alone.
taken()
{
	local status=0

	ip netns add v7
	refused 1 "namespace v7 exists already" \
		aggctl testbed up bcube:4,1 || status=1
	[ "$(ip netns list)" = v7 ] || status=1
	ip netns del v7
	return $status
}

# A testbed killed at any moment can be taken down.
killed()
{
	local pid n

	for n in 1 9 20; do
		aggctl testbed up bcube:4,1 > "$TMP/killed" 2>&1 &
		pid=$!
		until [ "$(ip netns list | wc -l)" -ge $n ]; do
			kill -0 $pid 2> "$TMP/kill" || break
		done
		kill -9 $pid 2> "$TMP/kill"
		wait $pid
		[ $n != 9 ] || refused 1 "half-made" \
			aggctl testbed up bcube:4,1 || return 1
		aggctl testbed down && no_namespaces || return 1
	done
}

# Of two that start at the same time one builds, and the other changes nothing.
race()
{
	local pids n built status=0

	for _ in 1 2 3 4 5 6; do
		pids=() built=0
		for n in 1 2; do
			aggctl testbed up bcube:2,1 > "$TMP/race.$n" 2>&1 &
			pids+=($!)
		done
		for n in "${pids[@]}"; do
			! wait "$n" || built=$((built + 1))
		done
		cat "$TMP"/race.[12]
		[ $built = 1 ] && [ "$(ip netns list | wc -l)" = 8 ] &&
			aggctl -j testbed show | jq -e .complete || status=1
		aggctl testbed down && no_namespaces || return 1
	done
	return $status
}

# While another command runs nothing is built or removed.
locked()
{
	local lock=/run/aggnet/testbed.lock text="another 'aggctl testbed'"

	refused 1 "$text" flock $lock aggctl testbed up bcube:2,1 &&
		no_namespaces && aggctl testbed up bcube:2,1 &&
		refused 1 "$text" flock $lock aggctl testbed down &&
		refused 1 "$text" flock $lock aggctl testbed shape &&
		aggctl testbed down && no_namespaces
}

# far FILE JOB OPTIONS...: plan a job in a network of 262144 servers
far()
{
	aggctl -j plan --topology bcube:8,5 --senders v9,v70000,v262143 \
		--receivers v0 --uid 0 --job "$2" "${@:3}" > "$TMP/$1"
}

# The nodes of two plans, in a network that is too large for a testbed.
partial_up()
{
	far existing.json 1 --method existing &&
		far merged.json 2 --method srs &&
		aggctl testbed up --of "$TMP/existing.json" \
			--of "$TMP/merged.json" || return
	aggctl -j testbed show > "$TMP/show"
	jq -c '[.partial, .servers, .switches]' "$TMP/show"
	jq -e '.partial and .servers < 30 and .switches < 30 and
		([.nodes[].name] | contains(["v0", "v9", "v70000", "v262143"]))' \
		"$TMP/show" && [ "$(ip netns list | wc -l)" = \
		"$(jq '.servers + .switches' "$TMP/show")" ]
}

# Plain IP takes the way of the first plan, in both directions.
partial_routes()
{
	aggctl testbed exec v262143 -- ip route get 10.0.0.1 &&
		aggctl testbed exec v0 -- ip route get 10.4.0.0 &&
		aggctl testbed exec v0 -- ip route get 10.1.17.113
}

partial_transfer()
{
	local sender pids=() pid status=0

	aggctl apply "$TMP/merged.json" || return
	aggctl -n v0 recv --job 2 --timeout "$TIMEOUT" > "$TMP/sum" &
	pids+=($!)
	for sender in v9 v70000 v262143; do
		printf 'a\t1\nb\t2\n' | aggctl -n $sender send --job 2 \
			--receiver v0 --timeout "$TIMEOUT" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	sort "$TMP/sum" | diff - <(printf 'a\t3\nb\t6\n') || status=1
	aggctl withdraw "$TMP/merged.json" && [ $status = 0 ]
}

partial_refuses()
{
	far other.json 3 --method srs --senders v1000 &&
		refused 1 "it has those of its plans only" \
			aggctl apply "$TMP/other.json" &&
		aggctl apply "$TMP/merged.json" &&
		refused 1 "the testbed has the nodes of its plans only" \
			aggctl supervise "$TMP/merged.json" &&
		aggctl withdraw "$TMP/merged.json"
}

partial_shape()
{
	aggctl testbed shape --rate 10mbit &&
		tc -n v262143 qdisc show | grep -q 'tbf.*rate 10Mbit' &&
		aggctl testbed down && no_namespaces
}

# Nothing is made if a plan is not one, or is of another network.
partial_plans()
{
	echo '{}' > "$TMP/empty.json"
	aggctl -j plan --topology bcube:2,1 --senders v1 --receivers v0 \
		> "$TMP/small.json"
	refused 1 "empty.json: not a plan" \
		aggctl testbed up --of "$TMP/empty.json" &&
		refused 1 "small.json: its topology is bcube:2,1" aggctl testbed \
			up --of "$TMP/merged.json" "$TMP/small.json" &&
		refused 2 "one TOPOLOGY" aggctl testbed up bcube:2,1 bcube:2,1 &&
		no_namespaces
}

testbed bcube:4,1
check "addresses" addresses
check "routes" routes
check "packets take the planned path only" crosses
check "a forged source address does not move a neighbour" stays_put
check "identities and ports" attached
check "shapes are set and removed" shapes
check "exec: status" status_of_exec
check "exec: no such node" refused 2 "unknown node 'v16'" \
	aggctl testbed exec v16 -- true
check "only one at a time" refused 1 "a testbed is up already" \
	aggctl testbed up bcube:4,1
check "down" aggctl testbed down
check "nothing is left" no_namespaces
check "down without one" refused 1 "no testbed is up" aggctl testbed down
aggctl -j plan --topology bcube:4,1 --senders v1,v2 --receivers v0 --job 7 > "$TMP/v0.json"
check "apply without one" refused 1 "no testbed is up, and this host has no identity: 'aggctl host init --topology @FILE --run' gives it one, or --node names its node in the plan" \
	aggctl apply "$TMP/v0.json"
check "bad topology" refused 2 "bcube:4" aggctl testbed up bcube:4
check "too large" refused 2 "at most" aggctl testbed up bcube:8,5
check "bad option" refused 2 "--mtu" aggctl testbed up --mtu 10 bcube:4,1
check "a taken name" taken
check "killed" killed
check "two at once" race
check "locked" locked
check "of plans" partial_up
check "of plans: routes" partial_routes
check "of plans: a transfer" partial_transfer
check "of plans: what needs other nodes is refused" partial_refuses
check "of plans: shape and down" partial_shape
check "of plans: of bad ones" partial_plans
check "dumb switches" aggctl testbed up --switches dumb bcube:2,1
check "dumb switches are not attached" \
	test "$(aggctl -j -n w0 port show | jq length)" = 0
done_testing
