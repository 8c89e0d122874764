#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mistakes that somebody makes on the first day: each is refused, or reported, with a
# sentence that names the object and the fault, and with the status of its kind.
. "$(dirname "$0")/lib.sh"

# says STATUS SENTENCE COMMAND...: it exits so, and a line of its errors begins with this
says()
{
	local want=$1 sentence="aggctl: $2" status=0 line

	shift 2
	"$@" > "$TMP/said.out" 2> "$TMP/said" || status=$?
	echo "status $status"
	cat "$TMP/said"
	while read -r line; do
		[[ $line != "$sentence"* ]] || [ $status != "$want" ] || return 0
	done < "$TMP/said"
	return 1
}

# Two of three sources never start.
two_missing()
{
	local pid status=0

	plan two --topology bcube:4,1 --uid 0 --senders v1,v2,v3 --receivers v0 \
		--give-up 3 || return
	aggctl -n v1 send --job $job --receiver v0 "$TMP/in" > "$TMP/v1" 2>&1 &
	pid=$!
	says 1 "recv: timed out at 10.0.0.1, because of 10.0.0.3: 2 sources missing, not here: 10.0.0.3, 10.0.0.4" \
		aggctl -n v0 recv --job $job || status=1
	! wait $pid || status=1
	grep "^aggctl: recv: 'aggctl why $job' names the cause" "$TMP/said" || status=1
	aggctl -n v0 why $job > "$TMP/why"
	grep "WRONG: children: 1 of 3 planned flows have arrived, not here: 10.0.0.3, 10.0.0.4. Next: ssh 10.0.0.3 aggctl why $job" \
		"$TMP/why" || status=1
	withdraw two && return $status
}

# The device of the only way is down.
no_answer()
{
	local status=0

	plan down --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 \
		--give-up 2 || return
	ip -n v1 link set eth0 down
	ip -n v1 link set eth1 down
	says 1 "send: timed out at 10.0.0.2, which no node on the way to the receiver has answered" \
		aggctl -n v1 send --job $job --receiver v0 "$TMP/in" || status=1
	says 1 "v1: the planned link eth0 to 10.16.0.1 cannot be used: the device is down or has no cable: see 'ip link show eth0', or apply the plan with --force" \
		aggctl apply "$TMP/next.json" || status=1
	ip -n v1 link set eth0 up
	ip -n v1 link set eth1 up
	return $status
}

over()
{
	plan over --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 &&
		transfer over sum v0 v1 &&
		says 1 "recv: job $job is over on this node" \
			aggctl -n v0 recv --job $job &&
		says 1 "send: job $job of receiver 10.0.0.1 is over on this node" \
			aggctl -n v1 send --job $job --receiver v0 "$TMP/in"
}

twice()
{
	aggctl apply "$TMP/over.json" > "$TMP/twice" && cat "$TMP/twice" &&
		grep '^already in force: ' "$TMP/twice" && withdraw over
}

unprivileged()
{
	says 1 "trees: not permitted: this needs CAP_NET_ADMIN in the network namespace" \
		ip netns exec v1 setpriv --reuid 1000 --regid 1000 --clear-groups \
		aggctl tree show
}

nothing_here()
{
	says 1 "send: no entry for job 4000 of receiver 10.0.0.1 on this node" \
		aggctl -n v1 send --job 4000 --receiver v0 "$TMP/in" &&
		says 1 "recv: no entry for job 4000 on this node" \
			aggctl -n v0 recv --job 4000
}

# receives PID: this process has a receiving socket
receives()
{
	aggctl -n v0 host sockets | grep -w "$1"
}

second_receiver()
{
	local pid status=0

	plan taken --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 || return
	aggctl -n v0 recv --job $job > "$TMP/first" 2>&1 &
	pid=$!
	wait_for receives $pid &&
		says 1 "recv: job $job has a receiving socket already" \
			aggctl -n v0 recv --job $job || status=1
	kill $pid
	! wait $pid && withdraw taken && return $status
}

other_entry()
{
	plan mine --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 || return
	says 1 "tree: this job and receiver have an entry: replace or delete it" \
		aggctl -n v0 tree add --job $job --receiver v0 instance 1 attempt 0 \
		contributors 1 sources 1 &&
		withdraw mine
}

# A new plan of a job whose old plan is in force.
other_plan()
{
	plan first --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 &&
		aggctl -j plan --topology bcube:4,1 --uid 0 --job $job --senders v1,v2 \
			--receivers v0 > "$TMP/second.json" || return
	says 1 "v0: tree of job $job to 10.0.0.1: another plan of this job is in force: withdraw that one, or apply this plan with --replace" \
		aggctl apply "$TMP/second.json" && aggctl apply --replace "$TMP/second.json" &&
		withdraw second
}

# A host whose module is of another release than the plan.
other_release()
{
	jq '.release = "0.0.9"' "$TMP/next.json" > "$TMP/old.json"
	says 1 "v0: its module is of release $(< /sys/module/aggnet/version), and the plan is of 0.0.9: install one release on all hosts, or apply the plan with --force" \
		aggctl apply "$TMP/old.json" &&
		aggctl apply --force "$TMP/old.json" && aggctl withdraw "$TMP/old.json"
}

# found NAME: is there a row of a failed check of this plan with this finding?
found()
{
	aggctl -n v1 -j host check "$TMP/mine.json" > "$TMP/checked"
	cat "$TMP/checked"
	jq -e --arg finding "$1" --arg fix "$2" 'any(.[]; (.ok | not) and .host == "v1" and
		.what == "entry" and .finding == $finding and .fix == $fix)' "$TMP/checked"
}

# "host check" of a plan: it is in force, it is not, and another one is.
not_in_force()
{
	local tree="tree of job $((job + 1)) to 10.0.0.1" status=0

	plan mine --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 || return
	! found "" "" && jq -e 'any(.[]; .what == "entry" and .ok)' "$TMP/checked" || status=1
	aggctl -n v1 tree del --job $job --receiver v0 &&
		found "$tree: there is none: this host merges nothing of it" \
			"aggctl apply $TMP/mine.json" || status=1
	aggctl apply "$TMP/mine.json" &&
		jq '.nodes.v1.trees[].instance += 1' "$TMP/mine.json" > "$TMP/newer" &&
		mv "$TMP/newer" "$TMP/mine.json" &&
		found "$tree: the one in force is not of this plan" \
			"aggctl apply --replace $TMP/mine.json" || status=1
	aggctl -n v0 tree del --job $job --receiver v0 &&
		aggctl -n v1 tree del --job $job --receiver v0 && return $status
}

# With --timeout the application ends the wait.
too_late()
{
	plan late --topology bcube:4,1 --uid 0 --senders v1,v2 --receivers v0 || return
	says 1 "recv: not over after 1 s on this node" \
		aggctl -n v0 recv --job $job --timeout 1 &&
		grep "^aggctl: recv: planned, and not here: 10.0.0.2, 10.0.0.3$" "$TMP/said" &&
		grep "^aggctl: recv: 'aggctl why $job' names the cause" "$TMP/said" &&
		withdraw late
}

foreign_identity()
{
	says 1 "node: address 192.0.2.9: identity is not an address of this host" \
		aggctl -n v1 node set address 192.0.2.9 &&
		says 2 "node: address: '192.0.2' is not a valid value" aggctl -n v1 node set address 192.0.2
}

empty_input()
{
	local status=0

	plan none --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 || return
	start_recv none v0
	says 0 "send: $TMP/empty has no records: this source contributes none" \
		aggctl -n v1 send --job $job --receiver v0 "$TMP/empty" || status=1
	wait $recv_pid && [ ! -s "$TMP/none.out" ] && withdraw none && return $status
}

# A port that was forgotten: the result is exact, and the source says what it missed.
by_plain_ip()
{
	local status=0

	plan forgot --topology bcube:4,1 --uid 0 --senders v1,v2 --receivers v0 &&
		aggctl -n v2 port del eth0 || return
	start_recv forgot v0
	start_send other v1 v0 "$TMP/in"
	says 0 "send: " aggctl -n v2 send --job $job --receiver v0 "$TMP/in" || status=1
	wait $recv_pid && wait $send_pid || status=1
	grep -E "^aggctl: send: [1-9][0-9]* packets of this node left by plain IP: the planned link had no carrier, neighbour or route. Next: aggctl host check" \
		"$TMP/said" || status=1
	aggctl -n v2 port add eth0 level 0 && withdraw forgot && return $status
}

strict_fix()
{
	aggctl -n v1 -j host check |
		jq -r '.[] | select(.what == "rp_filter" and (.ok | not)) | .fix'
}

# A full stop separates the words of a sysctl, too.
strict_filter()
{
	local command status=0

	ip -n v1 link add link eth0 name eth0.5 type vlan id 5 &&
		aggctl -n v1 port add eth0.5 &&
		ip netns exec v1 sysctl -qw net/ipv4/conf/eth0.5/rp_filter=1 || return
	command=$(strict_fix)
	echo "$command"
	[ -n "$command" ] && ip netns exec v1 sh -c "$command" &&
		[ -z "$(strict_fix)" ] || status=1
	aggctl -n v1 port del eth0.5 && ip -n v1 link del eth0.5 && return $status
}

# The kind of a mistake decides about the status: 2 for what was typed, 1 for the rest.
statuses()
{
	says 1 "$TMP/missing.json: No such file" aggctl apply "$TMP/missing.json" &&
		says 2 "plan: --senders: server v99: bcube:4,1 has v0..v15" \
			aggctl plan --topology bcube:4,1 --senders v99 --receivers v0 &&
		says 2 "plan: --topology: bcube:4: expected bcube:N,K" \
			aggctl plan --topology bcube:4 --senders v1 --receivers v0 &&
		says 2 "testbed up: bcube:4: expected" aggctl testbed up bcube:4 &&
		says 2 "plan: --method: 'best' is not one of" aggctl plan \
			--topology bcube:4,1 --method best --senders v1 --receivers v0 &&
		says 2 "port add: needs" aggctl -n v0 port add &&
		says 1 "none0: No such device" aggctl -n v0 port add none0 &&
		says 2 "link: bits: 'x' is not" aggctl -n v0 link add eth0 bits x &&
		says 2 "testbed exec: unknown node 'v99'" aggctl testbed exec v99 true &&
		says 2 "plan: server v99: bcube:4,1 has v0..v15" \
			aggctl plan --update "$TMP/next.json" leave:v99 &&
		says 2 "v99 has no part in the plan" aggctl apply --node v99 "$TMP/next.json" &&
		says 2 "v99 has no part in the plan" aggctl withdraw --node v99 "$TMP/next.json" &&
		says 2 "v99 has no part in the plan" aggctl supervise --node v99 "$TMP/next.json"
}

# In a node's namespace: another node of the testbed is meant by mistake.
wrong_place()
{
	says 1 "--node v2: this is the namespace of v1, another node of the testbed" \
		ip netns exec v1 aggctl apply --node v2 "$TMP/next.json" &&
		[ "$(aggctl -n v2 -j tree show)" = '[]' ] &&
		ip netns exec v1 aggctl apply --node v1 "$TMP/next.json" &&
		aggctl withdraw --node v1 "$TMP/next.json"
}

testbed bcube:4,1
seq 100 | sed 's/$/\t1/' > "$TMP/in"
cp "$TMP/in" "$TMP/in.v1"
: > "$TMP/empty"
aggctl -j plan --topology bcube:4,1 --job 3999 --senders v1,v2 --receivers v0 > "$TMP/next.json"
check "sources that never start are named, and the next command" two_missing
check "a source without an answer" no_answer
check "a transfer that is over" over
check "a plan that is in force already" twice
check "a user without privilege" unprivileged
check "no entry" nothing_here
check "a second receiver" second_receiver
check "an entry that is there" other_entry
check "another plan of the same job" other_plan
check "a plan of another release" other_release
check "a plan that is not in force" not_in_force
check "an application that waits for no longer" too_late
check "an identity that the host has not" foreign_identity
check "an input without records" empty_input
check "a port that is not attached" by_plain_ip
check "a strict filter on a device with a full stop in its name" strict_filter
check "the status says whose mistake it is" statuses
check "another node, from a node's namespace" wrong_place
done_testing
