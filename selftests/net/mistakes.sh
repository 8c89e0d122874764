#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mistakes of a user's first day: each is refused, or reported, with a sentence that names
# the object and the fault, and with the status of its kind: 2 for what was typed, 1 for the
# rest. The table at the end has them; three are elsewhere: a testbed that is half-made, and a
# host without a testbed (testbed.sh), and a link with too small an MTU (plan.sh).
# shellcheck disable=SC2016,SC2317 # the table's commands are expanded when they are executed
. "$(dirname "$0")/lib.sh"

# receives PID: this process has a receiving socket
receives()
{
	aggctl -n v0 host sockets | grep -w "$1"
}

# describe: the first four hosts have names, and so have their ports
describe()
{
	local i

	printf '%s\n' "topology graph" "switch s"
	for i in 1 2 3 4; do
		printf '%s\n' "host node$i" "link node$i s" "address node$i 10.0.0.$i" \
			"address node$i-s 10.16.0.$i"
	done
}

# sent: wait for the source in the background; it exits so, and says this
sent()
{
	local status=0

	wait "$send_pid" || status=$?
	cat "$TMP"/behind.*.err >&2
	return $status
}

# entry: what "host check" prints of the entry of this plan on v1
entry()
{
	aggctl -n v1 -j host check "$TMP/mine.json" > "$TMP/checked"
	jq -r '.[] | select(.host == "v1" and .what == "entry") |
		if .ok then "ok" else "\(.finding). Next: \(.fix)" end' "$TMP/checked"
}

# strict: the commands with which "host check" mends strict filters on v1
strict()
{
	aggctl -n v1 -j host check |
		jq -r '.[] | select(.what == "rp_filter" and (.ok | not)) | .fix'
}

# says PATTERN FILE: does a line of the file match? Variables of the table are replaced.
says()
{
	local pattern=$1 name line

	for name in job TMP release; do
		pattern=${pattern//"\$$name"/${!name}}
	done
	while read -r line; do
		# shellcheck disable=SC2053 # a pattern
		[[ $line != $pattern ]] || return 0
	done < "$2"
	echo "WRONG: no line is: $pattern"
	return 1
}

# exits STATUS: did the last command exit so? Then 0 is expected of $status again.
exits()
{
	local was=$status

	status=0
	[ "$was" = "$1" ] && return
	echo "WRONG: the status is $was, not $1"
	return 1
}

# row LINE...: do all commands of a row exit, and print, what the row has?
row()
{
	local status=0 failed=0 line

	for line in "$@"; do
		case $line in
		'$ '*)
			exits 0 || failed=1
			echo "$line"
			eval "${line#??}" > "$TMP/said.out" 2> "$TMP/said.err" || status=$?
			cat "$TMP/said.out" "$TMP/said.err"
			;;
		'> '*)
			says "${line#??}" "$TMP/said.out" || failed=1
			;;
		'+ '*)
			says "aggctl: ${line#??}" "$TMP/said.err" || failed=1
			;;
		*)
			exits "${line%% *}" || failed=1
			[[ $line != *' '* ]] || says "aggctl: ${line#* }" "$TMP/said.err" ||
				failed=1
			;;
		esac
	done
	exits 0 && return $failed
}

# table: check each row of the table
table()
{
	local name='' lines=() all line

	mapfile -t all
	for line in "${all[@]}" ''; do
		case $line in
		'# '*)
			name=${line#??} lines=()
			;;
		'')
			[ -z "$name" ] || check "$name" row "${lines[@]}"
			name=
			;;
		*)
			lines+=("$line")
			;;
		esac
	done
}

testbed bcube:4,1
seq 100 | sed 's/$/\t1/' > "$TMP/in"
cp "$TMP/in" "$TMP/in.v1"
: > "$TMP/empty"
describe > "$TMP/network"
# shellcheck disable=SC2034 # the table has it
release=$(< /sys/module/aggnet/version)
aggctl -j plan --topology bcube:4,1 --job 3999 --senders v1,v2 --receivers v0 > "$TMP/next.json"
jq '.release = "0.0.9"' "$TMP/next.json" > "$TMP/old.json"

# A row is a name, and commands. Behind a command there may be
#   STATUS [SENTENCE] how it exits, and a line of its errors without "aggctl: "
#   + SENTENCE        another line
#   > LINE            a line of its output
# Without a status it exits with 0. Sentences and lines are patterns.
table << 'END'
# sources that never start are named, and the next command
$ plan two --topology bcube:4,1 --uid 0 --senders v1,v2,v3 --receivers v0 --give-up 3
$ start_send behind v1 v0 "$TMP/in"
$ AGGNET_NETWORK=$TMP/network aggctl -n v0 recv --job $job
1 recv: timed out at 10.0.0.1 (node1), because of 10.0.0.3 (node3): 2 sources missing, not here: 10.0.0.3 (node3), 10.0.0.4 (node4)
+ recv: 'aggctl why $job' names the cause, here or on the nodes that are named
$ sent
1 send: timed out at 10.0.0.1, because of 10.0.0.3: 2 sources missing, not here: 10.0.0.3, 10.0.0.4
+ send: 'aggctl why $job' names the cause, here or on the nodes that are named
$ aggctl -n v0 why $job
3
> WRONG: children: 1 of 3 planned flows have arrived, not here: 10.0.0.3, 10.0.0.4. Next: ssh 10.0.0.3 aggctl why $job
$ withdraw two

# a source without an answer
$ plan down --topology bcube:4,1 --uid 0 --senders v1 --receivers v0 --give-up 2
$ ip -n v1 link set eth0 down
$ ip -n v1 link set eth1 down
$ aggctl -n v1 send --job $job --receiver v0 "$TMP/in"
1 send: timed out at 10.0.0.2, which no node on the way to the receiver has answered
$ aggctl apply "$TMP/next.json"
1 v1: the planned link eth0 to 10.16.0.1 cannot be used: the device is down or has no cable: see 'ip link show eth0', or apply the plan with --force
$ ip -n v1 link set eth0 up
$ ip -n v1 link set eth1 up

# a transfer that is over
$ plan over --topology bcube:4,1 --uid 0 --senders v1 --receivers v0
$ transfer over sum v0 v1
$ aggctl -n v0 recv --job $job
1 recv: job $job is over on this node: make a new plan, or a persistent one, for another transfer
$ aggctl -n v1 send --job $job --receiver v0 "$TMP/in"
1 send: job $job of receiver 10.0.0.1 is over on this node: make a new plan, or a persistent one, for another transfer

# a plan that is in force already
$ aggctl apply "$TMP/over.json"
> already in force: *
$ withdraw over

# hosts have the names that the description has
$ aggctl apply "$TMP/next.json"
$ AGGNET_NETWORK=$TMP/network aggctl -n v1 node show
> address +( )10.0.0.2 (node2)
$ aggctl -n v1 link add eth0 neighbour 10.16.0.1
$ AGGNET_NETWORK=$TMP/network aggctl -n v1 link show
> eth0 * 10.16.0.1 (node1) *
$ AGGNET_NETWORK=$TMP/network aggctl -n v1 tree show
> 3999 * node1 *
$ AGGNET_NETWORK=$TMP/network aggctl -n v1 tree show --job 3999 --receiver node1
> 3999 * node1 *
$ AGGNET_NETWORK=$TMP/network aggctl -n v1 send --job 3999 --receiver node9 "$TMP/in"
2 send: --receiver: 'node9' is neither an IPv4 address nor the name of a host in $TMP/network
$ AGGNET_NETWORK=$TMP/network aggctl -n v1 export
> aggnet_node_info{address="10.0.0.2",role="server",label="v1",host="node2"} 1
> aggnet_tree_info{job="3999",receiver="10.0.0.1",*,receiver_host="node1",*
$ aggctl -n v1 link show
> eth0 * 10.16.0.1 * -*
$ aggctl -j -n v1 link show
> "neighbour": "10.16.0.1",
$ aggctl -n v1 link del eth0 neighbour 10.16.0.1
$ aggctl withdraw "$TMP/next.json"

# a user without privilege
$ ip netns exec v1 setpriv --reuid 1000 --regid 1000 --clear-groups aggctl tree show
1 trees: not permitted: this needs CAP_NET_ADMIN in the network namespace

# no entry
$ aggctl -n v1 send --job 4000 --receiver v0 "$TMP/in"
1 send: no entry for job 4000 of receiver 10.0.0.1 on this node: apply its plan here
$ aggctl -n v0 recv --job 4000
1 recv: no entry for job 4000 on this node: apply its plan here

# a second receiver
$ plan taken --topology bcube:4,1 --uid 0 --senders v1 --receivers v0
$ start_recv first v0
$ wait_for receives $recv_pid
$ aggctl -n v0 recv --job $job
1 recv: job $job has a receiving socket already: 'aggctl host sockets' names its process
$ kill $recv_pid
$ ! wait $recv_pid
$ withdraw taken

# an entry that is there
$ plan mine --topology bcube:4,1 --uid 0 --senders v1 --receivers v0
$ aggctl -n v0 tree add --job $job --receiver v0 instance 1 attempt 0 contributors 1 sources 1
1 tree: this job and receiver have an entry: replace or delete it (attribute incast_id)
$ withdraw mine

# another plan of the same job
$ plan first --topology bcube:4,1 --uid 0 --senders v1 --receivers v0
$ aggctl -j plan --topology bcube:4,1 --uid 0 --job $job --senders v1,v2 --receivers v0 > "$TMP/second.json"
$ aggctl apply "$TMP/second.json"
1 v0: tree of job $job to 10.0.0.1: another plan of this job is in force: withdraw that one, or apply this plan with --replace
$ AGGNET_NETWORK=$TMP/network aggctl apply "$TMP/second.json"
1 v0: tree of job $job to 10.0.0.1 (node1): another plan of this job is in force: withdraw that one, or apply this plan with --replace
$ aggctl apply --replace "$TMP/second.json"
$ aggctl -n v1 withdraw "$TMP/second.json" --node v2
1 --node v2: this is the namespace of v1, another node of the testbed: leave it, or use 'ip netns exec v2'
$ withdraw second

# a plan of another release
$ aggctl apply "$TMP/old.json"
1 v0: its module is of release $release, and the plan is of 0.0.9: install one release on all hosts, or apply the plan with --force
$ aggctl apply --force "$TMP/old.json"
$ aggctl withdraw "$TMP/old.json"

# a plan that is in force
$ plan mine --topology bcube:4,1 --uid 0 --senders v1 --receivers v0
$ entry
> ok

# a plan that is not in force
$ aggctl -n v1 tree del --job $job --receiver v0
$ entry
> tree of job $job to 10.0.0.1: there is none: this host merges nothing of it. Next: aggctl apply $TMP/mine.json

# a plan in whose place another one is in force
$ aggctl apply "$TMP/mine.json"
$ jq '.nodes.v1.trees[].instance += 1' "$TMP/mine.json" > "$TMP/newer"
$ mv "$TMP/newer" "$TMP/mine.json"
$ entry
> tree of job $job to 10.0.0.1: the one in force is not of this plan. Next: aggctl apply --replace $TMP/mine.json
$ aggctl -n v0 tree del --job $job --receiver v0
$ aggctl -n v1 tree del --job $job --receiver v0

# an application that waits for no longer
$ plan late --topology bcube:4,1 --uid 0 --senders v1,v2 --receivers v0
$ aggctl -n v0 recv --job $job --timeout 1
1 recv: not over after 1 s on this node
+ recv: planned, and not here: 10.0.0.2, 10.0.0.3
+ recv: 'aggctl why $job' names the cause, here or on the nodes that are named
$ withdraw late

# an identity that the host has not
$ aggctl -n v1 node set address 192.0.2.9
1 node: address 192.0.2.9: identity is not an address of this host (attribute address)
$ aggctl -n v1 node set address 192.0.2
2 node: address: '192.0.2' is not a valid value

# an input without records
$ plan none --topology bcube:4,1 --uid 0 --senders v1 --receivers v0
$ start_recv none v0
$ aggctl -n v1 send --job $job --receiver v0 "$TMP/empty"
0 send: $TMP/empty has no records: this source contributes none
$ wait $recv_pid
$ test ! -s "$TMP/none.out"
$ withdraw none

# a port that is not attached: the result is exact, and the source says what it missed
$ plan forgot --topology bcube:4,1 --uid 0 --senders v1,v2 --receivers v0
$ aggctl -n v2 port del eth0
$ start_recv forgot v0
$ start_send other v1 v0 "$TMP/in"
$ aggctl -n v2 send --job $job --receiver v0 "$TMP/in"
0 send: [1-9]*([0-9]) packets of this node left by plain IP: the planned link had no carrier, neighbour or route. Next: aggctl host check
$ wait $recv_pid
$ cat "$TMP/forgot.recv.err" >&2
+ recv: [1-9]*([0-9]) packets of other nodes left by plain IP: the planned link had no carrier, neighbour or route. Next: aggctl why $job --hosts FILE
$ wait $send_pid
$ aggctl -n v2 port add eth0 level 0
$ withdraw forgot

# a port that is not attached on a node that only forwards
$ plan way --topology bcube:4,1 --uid 0 --senders v5 --receivers v0
$ jq -e '.nodes.v4.trees[].role == "transit"' "$TMP/way.json"
$ start_recv way v0
$ aggctl -n v4 port del eth1
$ aggctl -n v5 send --job $job --receiver v0 "$TMP/in"
$ wait $recv_pid
$ cat "$TMP/way.recv.err" >&2
+ recv: [1-9]*([0-9]) packets of other nodes left by plain IP: the planned link had no carrier, neighbour or route. Next: aggctl why $job --hosts FILE
$ aggctl -n v4 tree show --job $job
> * forwards * 0/0 *
$ aggctl -n v4 why $job
3
> job $job to 10.0.0.1 at v4 (forwards, idle): not as planned
$ aggctl -n v4 port add eth1 level 1
$ withdraw way

# a strict filter on a device with a full stop in its name
$ ip -n v1 link add link eth0 name eth0.5 type vlan id 5
$ aggctl -n v1 port add eth0.5
$ ip netns exec v1 sysctl -qw net/ipv4/conf/eth0.5/rp_filter=1
$ strict
> *eth0.5*
$ ip netns exec v1 sh -c "$(strict)"
$ test -z "$(strict)"
$ aggctl -n v1 port del eth0.5
$ ip -n v1 link del eth0.5

# a file that is not there
$ aggctl apply "$TMP/missing.json"
1 $TMP/missing.json: No such file or directory

# a device that is not there
$ aggctl -n v0 port add none0
1 none0: No such device

# arguments of plan
$ aggctl plan --topology bcube:4,1 --senders v99 --receivers v0
2 plan: --senders: server v99: bcube:4,1 has v0..v15
$ aggctl plan --topology bcube:4 --senders v1 --receivers v0
2 plan: --topology: bcube:4: expected bcube:N,K
$ aggctl plan --topology bcube:4,1 --method best --senders v1 --receivers v0
2 plan: --method: 'best' is not one of those that 'aggctl plan --method list' prints
$ aggctl plan --update "$TMP/next.json" leave:v99
2 plan: server v99: bcube:4,1 has v0..v15

# arguments of a testbed
$ aggctl testbed up bcube:4
2 testbed up: bcube:4: expected bcube:N,K
$ aggctl testbed exec v99 true
2 testbed exec: unknown node 'v99'

# arguments of ports and links
$ aggctl -n v0 port add
2 port add: needs DEVICE \[level N\] \[transit on|off\]
$ aggctl -n v0 link add eth0 bits x
2 link: bits: 'x' is not a valid value

# a node without a part in the plan
$ aggctl apply --node v99 "$TMP/next.json"
2 v99 has no part in the plan
$ aggctl withdraw --node v99 "$TMP/next.json"
2 v99 has no part in the plan
$ aggctl supervise --node v99 "$TMP/next.json"
2 v99 has no part in the plan

# another node, from a node's namespace
$ ip netns exec v1 aggctl apply --node v2 "$TMP/next.json"
1 --node v2: this is the namespace of v1, another node of the testbed: leave it, or use 'ip netns exec v2'
$ test "$(aggctl -n v2 -j tree show)" = '[]'
$ ip netns exec v1 aggctl apply --node v1 "$TMP/next.json"
$ aggctl withdraw --node v1 "$TMP/next.json"
END
done_testing
