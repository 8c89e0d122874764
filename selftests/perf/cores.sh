#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two children on two CPUs: how much more they get through together than one of
# them alone, in a tree each and in one tree, whose lock they then share; and, to
# tell what of it is the machine's, when all is dropped at once. In a VM with two
# CPUs of which each is a thread: medians, and coarse ones, so the least and the
# most are told beside them.
# Usage: cores.sh DIR
#
#   src1 eth0 ---- eth1 agg eth2 ---- eth0 src2
set -euo pipefail

DIR=$1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
PATH=$PWD/build/selftests/perf:$PATH
PACKETS=8000
LOAD=keyed:int64:8:4096
ROUNDS=7

# source_up N: set up its namespace, its link to agg and its identity 10.9.0.N
source_up()
{
	ip netns add "src$1"
	ip -n "src$1" link add eth0 address "02:00:00:00:0$1:02" type veth \
		peer name "eth$1" address "02:00:00:00:0$1:01" netns agg
	ip -n "src$1" -batch - << END
link set lo up
addr add 10.9.0.$1/32 dev lo
addr add 10.9.$1.2/24 dev eth0
link set eth0 up
neigh add 10.9.$1.1 lladdr 02:00:00:00:0$1:01 dev eth0 nud permanent
route add 10.9.0.9/32 via 10.9.$1.1 dev eth0 src 10.9.0.$1
END
	ip -n agg -batch - << END
addr add 10.9.$1.1/24 dev eth$1
link set eth$1 up
neigh add 10.9.$1.2 lladdr 02:00:00:00:0$1:02 dev eth$1 nud permanent
route add 10.9.0.$1/32 via 10.9.$1.2 dev eth$1 src 10.9.0.9
END
	aggctl -n agg port add "eth$1"
}

# tree JOB CONTRIBUTORS: add an entry at agg, in the next epoch
tree()
{
	echo >> "$TMP/instances"
	instance=$(wc -l < "$TMP/instances")
	aggctl -n agg tree add --job "$1" --receiver 10.9.0.9 --replace \
		instance "$instance" contributors "$2" sources "$2" \
		scheme route uid 0 give_up 2000000 memory 8388608
	eval "instance$1=$instance"
}

# child_of N JOB [-b]: run it on its own CPU; its JSON is in $TMP/N
child_of()
{
	local at=instance$2

	ip netns exec "src$1" taskset -c $(($1 - 1)) child -j "$2" -i "${!at}" \
		-l $LOAD -p $PACKETS "${@:3}" "10.9.0.$1" 10.9.0.9 > "$TMP/$1"
}

# alone JOB [-b]: print packets per second
alone()
{
	child_of 1 "$@"
	jq '.packets / .seconds' "$TMP/1"
}

# together JOB1 JOB2 [-b]: print packets per second of both
together()
{
	child_of 1 "$1" "${@:3}" &
	child_of 2 "$2" "${@:3}"
	wait $!
	jq -s '(map(.packets) | add) / (map(.seconds) | max)' "$TMP/1" "$TMP/2"
}

# drops add|del: make agg drop all packets that come in
drops()
{
	local device

	for device in eth1 eth2; do
		tc -n agg qdisc "$1" dev $device clsact
		[ "$1" = del ] || tc -n agg filter add dev $device ingress \
			matchall action drop
	done
}

ip netns add agg
ip -n agg link set lo up
ip -n agg addr add 10.9.0.9/32 dev lo
aggctl -n agg node set address 10.9.0.9 memory 67108864
source_up 1
source_up 2
for ((round = 0; round < ROUNDS; round++)); do
	tree 1 1
	tree 2 1
	drops add
	alone 1 -b >> "$TMP/drop"
	together 1 2 -b >> "$TMP/drops"
	drops del
	alone 1 >> "$TMP/alone"
	tree 1 1
	together 1 2 >> "$TMP/apart"
	tree 1 2
	together 1 1 >> "$TMP/one"
done
# Each ratio is of two values of the same round.
for name in drop drops alone apart one; do
	jq -s --arg name "$name" '{ ($name): . }' "$TMP/$name"
done | jq -s 'add |
	def told: sort | { median: .[length / 2 | floor], least: .[0],
		most: .[-1] };
	def ratio($a; $b): [$a, $b] | transpose | map(.[0] / .[1]) | told;
	. as $r | map_values(told) + {
		dropped_scale: ratio($r.drops; $r.drop),
		apart_scale: ratio($r.apart; $r.alone),
		one_scale: ratio($r.one; $r.alone),
		contention: ratio($r.one; $r.apart),
		rounds: ($r.drop | length) }' > "$DIR/cores.json"
