#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's half of bench.sh.
# Usage: guest.sh DIR
#
#   src eth0 ---- eth0 X       X: agg (the module), usr (userspace program with
#                              recvmmsg), gro (the same with UDP_GRO), xdp (XDP
#                              programs), off (drops at once)
#
# Each row compares the merged result with what the children have sent: records,
# keys, and a sum that depends on each key and value. A row that differs is left out, and
# the status is 1.
set -euo pipefail

. "$(dirname "$0")/lib.sh"

DIR=$1
PACKETS=6000
CHILDREN_MAX=64
# The workload that most rows share: LAYOUT:VALUES:KEY-BYTES:KEYS
KEYED=keyed:int64:8:4096
DENSE=dense:int64:0:4095
KEY=000102030405060708090a0b0c0d0e0f
# Without these a NAPI poll takes a single packet, and nothing is joined.
GRO_TIMEOUT_NS=150000
GRO_DEFER=1
SAMPLE_NS=10000
GOODPUT_RECORDS=200000
RECORD_BYTES=18
TASK_RECORDS=4000
TASK_RATE=10mbit

# pair NAME: set up a sender and a node, each with its identity
pair()
{
	local i

	ip netns add "$1.src"
	ip netns add "$1"
	ip -n "$1.src" link add eth0 address 02:00:00:00:00:02 type veth \
		peer name eth0 address 02:00:00:00:00:01 netns "$1"
	node "$1.src" 2 1
	node "$1" 1 2
	ip -n "$1.src" route add 10.9.0.1/32 via 10.9.1.1 dev eth0 src 10.9.0.2
	ip -n "$1" route add 10.9.0.0/24 via 10.9.1.2 dev eth0 src 10.9.0.1
	for ((i = 1; i < CHILDREN_MAX; i++)); do
		echo "addr add 10.9.0.$((2 + i))/32 dev lo"
	done | ip -n "$1.src" -batch -
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
END
}

# Every entry has a newer epoch than the previous one. The number is in a file,
# because most callers run in subshells.
next_instance()
{
	echo >> "$TMP/instances"
	instance=$(wc -l < "$TMP/instances")
}

# tree LOAD CHILDREN KEY: add a new entry at a receiver
tree()
{
	local layout vtype n elements=() key=()

	IFS=: read -r layout vtype _ n <<< "$1"
	[ "$layout" != dense ] || elements=(elements "$n")
	[ "$3" = - ] || key=(key "$3")
	next_instance
	aggctl -n agg tree add --job 1 --receiver 10.9.0.1 --replace \
		instance "$instance" contributors "$2" sources "$2" \
		scheme route uid 0 give_up 2000000 memory 16777216 \
		layout "$layout" vtype "$vtype" "${elements[@]}" "${key[@]}" \
		> /dev/null
}

# child NETNS LOAD CHILDREN KEY [-b]: run it; print its JSON
child()
{
	ip netns exec "$1.src" child -l "$2" -c "$3" -k "$4" -p $PACKETS \
		-i "${instance:-0}" "${@:5}" 10.9.0.2 10.9.0.1
}

# ready COMMAND...: run it in the background, with descriptor 9 as its input; return
# when it has printed a line, so that its start is in no figure. Descriptor 8 has the
# rest of its output.
ready()
{
	rm -f "$TMP/in" "$TMP/said"
	mkfifo "$TMP/in" "$TMP/said"
	"$@" < "$TMP/in" > "$TMP/said" &
	peer=$!
	exec 9> "$TMP/in" 8< "$TMP/said"
	read -r _ <&8
}

# Wait for that program, and print the rest of its output.
peer_said()
{
	exec 9>&-
	cat <&8
	exec 8<&-
	wait "$peer"
}

# --- one measurement: print what was sent, and the result, as two JSON values --------

# merge_module LOAD CHILDREN KEY
merge_module()
{
	tree "$@" && child agg "$@" &&
		ready ip netns exec agg result 10.9.0.1 1 "$1" && peer_said
}

merge_recvmmsg()
{
	ready ip netns exec usr merger -l "$1" -c "$2" -k "$3" 10.9.0.1 &&
		child usr "$@" && peer_said
}

merge_gro()
{
	ready ip netns exec gro merger -g -l "$1" -c "$2" -k "$3" 10.9.0.1 &&
		child gro "$@" && peer_said
}

# merge_xdp PROGRAM LOAD CHILDREN KEY
merge_xdp()
{
	ready ip netns exec xdp xdp build/selftests/perf/merge.bpf.o "$1" eth0 &&
		child xdp "${@:2}" -b && peer_said
}

# --- rows ---------------------------------------------------------------------------

# generator LOAD CHILDREN: print the seconds of sending to a device that drops. There
# is no pipe, whose other end would start meanwhile.
generator()
{
	local file=$TMP/generator.$1.$2

	[ -e "$file" ] || child off "$1" "$2" - -b > "$file"
	jq .seconds "$file"
}

# row NAME LOAD CHILDREN KEY COMMAND...: print a row as JSON. If it fails, the other
# rows still run.
row()
{
	local peer=

	measure "$@" && return
	echo "$1: no row" >&2
	echo "$1" >> "$TMP/failed"
	[ -z "$peer" ] || kill "$peer" || :
}

measure()
{
	"${@:5}" "$2" "$3" "$4" > "$TMP/row" || return
	jq -s --arg name "$1" --arg load "$2" --argjson children "$3" \
		--arg mac "$([ "$4" = - ] && echo crc || echo key)" \
		--argjson generator "$(generator "$2" "$3")" \
		-f selftests/perf/row.jq "$TMP/row"
}

# both NAME LOAD CHILDREN COMMAND...: a row without and one with a key
both()
{
	row "$1" "$2" "$3" - "${@:4}"
	row "$1" "$2" "$3" $KEY "${@:4}"
}

rows()
{
	local n

	both aggnet $KEYED 1 merge_module
	both peer_recvmmsg $KEYED 1 merge_recvmmsg
	both peer_gro $KEYED 1 merge_gro
	row xdp_hash $KEYED 1 - merge_xdp hash
	row xdp_array $KEYED 1 - merge_xdp array
	for n in 4 16 32; do
		both aggnet_key$n keyed:int64:$n:4096 1 merge_module
		both peer_recvmmsg_key$n keyed:int64:$n:4096 1 merge_recvmmsg
	done
	for n in 4 16 64; do
		both aggnet_children$n $KEYED $n merge_module
		both peer_recvmmsg_children$n $KEYED $n merge_recvmmsg
	done
	both aggnet_dense $DENSE 1 merge_module
	both peer_recvmmsg_dense $DENSE 1 merge_recvmmsg
	row xdp_dense $DENSE 1 - merge_xdp vector
	for n in int32 float64; do
		both aggnet_dense_$n dense:$n:0:4095 1 merge_module
		both peer_recvmmsg_dense_$n dense:$n:0:4095 1 merge_recvmmsg
	done
}

# sampled COMMAND...: run it while the kernel is sampled
sampled()
{
	perf record -q -a -e cpu-clock:k -c $SAMPLE_NS -o "$TMP/samples" -- "$@"
}

# functions UNITS: print the functions that were sampled, with the instructions that a
# unit takes in each. "module" marks those of aggnet.
functions()
{
	perf script -i "$TMP/samples" -F ip,sym,dso |
		awk '{ print $2, $NF == "([aggnet])" ? "true" : "false" }' |
		sort | uniq -c | sort -rn > "$TMP/functions"
	jq -R -n --argjson sample $SAMPLE_NS --argjson units "$1" \
		-f selftests/perf/functions.jq "$TMP/functions"
}

# profile LOAD KEY: print the functions of merging, for a packet
profile()
{
	tree "$1" 1 "$2"
	sampled ip netns exec agg.src child -l "$1" -k "$2" -p $PACKETS \
		-i "$instance" 10.9.0.2 10.9.0.1 > "$TMP/profiled"
	functions $PACKETS
}

# The same of one channel, both ends, for a record.
profile_channel()
{
	local busy

	# The clock of an idle guest races: the receiver would give up while the host
	# reads perf's files. User space is not sampled.
	chrt -i 0 sh -c 'while :; do :; done' &
	busy=$!
	goodput aggnet keyed sampled > "$TMP/profiled"
	kill $busy
	wait $busy || :
	functions $GOODPUT_RECORDS
}

setup()
{
	local name

	for name in agg usr gro xdp off; do
		pair $name
	done
	aggctl -n agg node set address 10.9.0.1 memory 134217728 > /dev/null
	aggctl -n agg port add eth0 > /dev/null
	tc -n off qdisc add dev eth0 clsact
	tc -n off filter add dev eth0 ingress matchall action drop
	ip netns exec gro bash -s << END
ethtool -K eth0 gro on rx-udp-gro-forwarding on
echo $GRO_DEFER > /sys/class/net/eth0/napi_defer_hard_irqs
echo $GRO_TIMEOUT_NS > /sys/class/net/eth0/gro_flush_timeout
END
}

# --- one channel -----------------------------------------------------------------

# goodput tcp|aggnet [LAYOUT [COMMAND]]: print the sender's seconds; LAYOUT (keyed) is that
# of the tree, COMMAND runs the sender
goodput()
{
	local job=2 layout=${2:-keyed}

	if [ "$1" = aggnet ]; then
		next_instance
		aggctl -n gput tree add --job 2 --receiver 10.9.0.1 --replace \
			instance "$instance" contributors 1 sources 1 \
			layout "$layout" scheme route uid 0 give_up 2000000 \
			> /dev/null
		aggctl -n gput.src tree add --job 2 --receiver 10.9.0.1 \
			--replace instance "$instance" contributors 1 sources 1 \
			writers 1 layout "$layout" scheme route hops 2 uid 0 \
			give_up 2000000 > /dev/null
	fi
	ready ip netns exec gput goodput "$1-recv" 10.9.0.1 - $job \
		$GOODPUT_RECORDS
	"${@:3}" ip netns exec gput.src goodput "$1-send" 10.9.0.2 10.9.0.1 \
		$job $GOODPUT_RECORDS
	peer_said > "$TMP/received"
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
rows > "$DIR/rows.json"
setup_goodput
tcp=$(goodput tcp)
channel=$(goodput aggnet)
sorted=$(goodput aggnet sorted)
profile $KEYED - > "$TMP/profile.crc"
profile $KEYED $KEY > "$TMP/profile.key"
profile $DENSE - > "$TMP/profile.dense"
profile_channel > "$TMP/profile.channel"
# Together they are longer than an argument may be.
jq -n --slurpfile crc "$TMP/profile.crc" --slurpfile key "$TMP/profile.key" \
	--slurpfile dense "$TMP/profile.dense" \
	--slurpfile channel "$TMP/profile.channel" \
	'$ARGS.named | map_values(.[0])' > "$TMP/profiles"

setup_tasks
tasks=$(for n in 8 80; do
	jq -n --argjson n $n --argjson merged "$(tasks 1000 $n 0)" \
		--argjson apart "$(tasks 2000 $n 1)" '$ARGS.named'
done | jq -s .)

jq -n --arg kernel "$(uname -r)" --argjson packets $PACKETS \
	--slurpfile rows "$DIR/rows.json" --slurpfile profiles "$TMP/profiles" \
	--argjson bytes $((GOODPUT_RECORDS * RECORD_BYTES)) \
	--argjson tcp "$tcp" --argjson channel "$channel" --argjson sorted "$sorted" \
	--argjson tasks "$tasks" --argjson task_records $TASK_RECORDS \
	--arg rate $TASK_RATE '$ARGS.named | .profiles |= .[0]' > "$DIR/bench.json"
[ ! -e "$TMP/failed" ]
