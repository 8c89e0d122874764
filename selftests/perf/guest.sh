#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's half of bench.sh.
# Usage: guest.sh DIR
#
#   src eth0 ---- eth0 X       X: agg (the module), usr (userspace program),
#                              xdp (XDP program), off (drops at once)
set -euo pipefail

. "$(dirname "$0")/lib.sh"

DIR=$1
PACKETS=6000
KEYS=4096
KEY=000102030405060708090a0b0c0d0e0f
GOODPUT_RECORDS=200000
RECORD_BYTES=18
TASK_RECORDS=4000
TASK_RATE=10mbit

# pair NAME: set up a sender and a node, each with its identity
pair()
{
	ip netns add "$1.src"
	ip netns add "$1"
	ip -n "$1.src" link add eth0 address 02:00:00:00:00:02 type veth \
		peer name eth0 address 02:00:00:00:00:01 netns "$1"
	node "$1.src" 2 1
	node "$1" 1 2
}

# node NETNS NUMBER OTHER: set up one of them
node()
{
	ip -n "$1" -batch - << END
link set lo up
addr add 10.9.0.$2/32 dev lo
addr add 10.9.1.$2/24 dev eth0
link set eth0 up
neigh add 10.9.1.$3 lladdr 02:00:00:00:00:0$3 dev eth0 nud permanent
route add 10.9.0.$3/32 via 10.9.1.$3 dev eth0 src 10.9.0.$2
END
}

# Every entry has a newer epoch than the previous one. The number is in a file,
# because most callers run in subshells.
next_instance()
{
	echo >> "$TMP/instances"
	instance=$(wc -l < "$TMP/instances")
}

# tree NETNS KEY: add a new entry with one contributor at a receiver
tree()
{
	local key=()

	next_instance
	[ "$2" = - ] || key=(key "$2")
	aggctl -n "$1" tree add --job 1 --receiver 10.9.0.1 --replace \
		instance "$instance" contributors 1 sources 1 scheme route \
		uid 0 give_up 2000000 memory 8388608 "${key[@]}" > /dev/null
}

# child NAME KEY [blast]: run it; print the seconds
child()
{
	ip netns exec "$1.src" child 10.9.0.2 10.9.0.1 10.9.0.1 1 \
		"${instance:-0}" \
		"$2" $KEYS $PACKETS "${@:3}"
}

merge_module()
{
	tree agg "$1"
	child agg "$1"
}

# merge_xdp array|hash: measure this XDP program
merge_xdp()
{
	ip -n xdp link set dev eth0 xdp off
	ip -n xdp link set dev eth0 xdp \
		obj build/selftests/perf/merge.bpf.o sec "$1"
	child xdp - blast
	xdp_merges
}

# Fail if IP has got the packets that the XDP program should have merged.
xdp_merges()
{
	local passed

	passed=$(ip netns exec xdp cat /proc/net/snmp |
		awk '$1 == "Ip:" && $4 ~ /^[0-9]+$/ { print $4 }')
	[ "$passed" -le $((PACKETS / 100)) ] && return
	echo "the XDP program has passed on $passed packets" >&2
	return 1
}

merge_user()
{
	local pid

	rm -f "$TMP/ready"
	mkfifo "$TMP/ready"
	ip netns exec usr merger 10.9.0.1 "$1" $PACKETS > "$TMP/ready" &
	pid=$!
	exec 8< "$TMP/ready"
	read -r _ <&8
	child usr "$1"
	wait $pid
	exec 8<&-
}

setup()
{
	local name

	for name in agg usr xdp off; do
		pair $name
	done
	aggctl -n agg node set address 10.9.0.1 memory 67108864 > /dev/null
	aggctl -n agg port add eth0 > /dev/null
	tc -n off qdisc add dev eth0 clsact
	tc -n off filter add dev eth0 ingress matchall action drop
}

# --- one channel -----------------------------------------------------------------

# goodput tcp|aggnet: print the sender's seconds
goodput()
{
	local pid job=2

	rm -f "$TMP/ready"
	mkfifo "$TMP/ready"
	if [ "$1" = aggnet ]; then
		next_instance
		aggctl -n gput tree add --job 2 --receiver 10.9.0.1 --replace \
			instance "$instance" contributors 1 sources 1 \
			scheme route uid 0 give_up 2000000 > /dev/null
		aggctl -n gput.src tree add --job 2 --receiver 10.9.0.1 \
			--replace instance "$instance" contributors 1 sources 1 \
			writers 1 scheme route hops 2 uid 0 give_up 2000000 \
			> /dev/null
	fi
	ip netns exec gput goodput "$1-recv" 10.9.0.1 - $job \
		$GOODPUT_RECORDS > "$TMP/ready" &
	pid=$!
	exec 8< "$TMP/ready"
	[ "$1" = aggnet ] || read -r _ <&8
	ip netns exec gput.src goodput "$1-send" 10.9.0.2 10.9.0.1 $job \
		$GOODPUT_RECORDS
	wait $pid
	exec 8<&-
}

setup_goodput()
{
	pair gput
	aggctl -n gput node set address 10.9.0.1 > /dev/null
	aggctl -n gput.src node set address 10.9.0.2 > /dev/null
	aggctl -n gput port add eth0 > /dev/null
	aggctl -n gput.src port add eth0 > /dev/null
}

# --- tasks of one server -------------------------------------------------------

# task_tree NETNS JOB WRITERS: add an entry
task_tree()
{
	local writers=()

	[ "$3" = 0 ] || writers=(writers "$3" hops 2)
	aggctl -n "$1" tree add --job "$2" --receiver 10.9.0.1 \
		instance "$instance" contributors 1 sources 1 scheme route \
		uid 0 give_up 2000000 memory 524288 "${writers[@]}" > /dev/null
}

# tasks JOB N STEP: N tasks with the same keys, with jobs STEP apart; print the
# seconds and the bytes that leave, as JSON
tasks()
{
	local pid seconds bytes i jobs=$(($3 ? $2 : 1))

	next_instance
	for ((i = 0; i < jobs; i++)); do
		task_tree gput $(($1 + i)) 0
		task_tree gput.src $(($1 + i)) $(($3 ? 1 : $2))
	done
	ip netns exec gput goodput aggnet-recv 10.9.0.1 - "$1" $TASK_RECORDS \
		$jobs 1 > "$TMP/readers" &
	pid=$!
	seconds=$(ip netns exec gput.src goodput aggnet-send 10.9.0.2 10.9.0.1 \
		"$1" $TASK_RECORDS "$2" "$3")
	wait $pid
	bytes=$(aggctl -j -n gput.src tree show | jq --argjson job "$1" \
		--argjson jobs "$jobs" 'map(select(.job >= $job and
		.job < $job + $jobs) | .bytes_out) | add')
	for ((i = 0; i < jobs; i++)); do
		aggctl -n gput tree del --job $(($1 + i)) --receiver 10.9.0.1
		aggctl -n gput.src tree del --job $(($1 + i)) --receiver 10.9.0.1
	done > /dev/null
	echo "{\"seconds\": $seconds, \"bytes\": $bytes}"
}

# The link is slower than the server, as in the paper.
setup_tasks()
{
	aggctl -n gput node set memory 67108864 > /dev/null
	aggctl -n gput.src node set memory 67108864 > /dev/null
	tc -n gput.src qdisc add dev eth0 root tbf rate $TASK_RATE \
		burst 20kb latency 100ms
}

setup
generator=$(child off - blast)
xdp_array=$(merge_xdp array)
xdp_hash=$(merge_xdp hash)
module=$(merge_module -)
user=$(merge_user -)
module_key=$(merge_module $KEY)
user_key=$(merge_user $KEY)
merged=$(aggctl -n agg -j stats show)
records=$(jq '.merged_records / .merged_packets' <<< "$merged")

setup_goodput
tcp=$(goodput tcp)
channel=$(goodput aggnet)

setup_tasks
tasks=$(for n in 8 80; do
	jq -n --argjson n $n --argjson merged "$(tasks 1000 $n 0)" \
		--argjson apart "$(tasks 2000 $n 1)" '$ARGS.named'
done | jq -s .)

jq -n --arg kernel "$(uname -r)" --argjson packets $PACKETS \
	--argjson records "$records" --argjson keys $KEYS \
	--argjson bytes $((GOODPUT_RECORDS * RECORD_BYTES)) \
	--argjson generator "$generator" --argjson xdp_array "$xdp_array" \
	--argjson xdp_hash "$xdp_hash" --argjson module "$module" --argjson user "$user" \
	--argjson module_key "$module_key" --argjson user_key "$user_key" \
	--argjson tcp "$tcp" --argjson channel "$channel" \
	--argjson tasks "$tasks" --argjson task_records $TASK_RECORDS \
	--arg rate $TASK_RATE \
	--argjson stats "$merged" '$ARGS.named' > "$DIR/bench.json"
