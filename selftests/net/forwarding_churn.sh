#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ports, entries, links and at last the namespace change under a stream of
# packets: each change takes effect, what was there before comes back, and
# the kernel logs nothing (the runner reads its log). The network is drawn in
# forwarding.inc.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"

ROUNDS=${ROUNDS:-$((SLOW > 1 ? 2 : 5))}
FRAMES=$(scaled 20000)

stream()
{
	while frame job=7 count="$FRAMES"; do
		:
	done
}

# flows NAME: does this counter of t grow?
flows()
{
	local before

	before=$(counter t "$1")
	wait_for passes "$1" "$before"
}

passes()
{
	[ "$(counter t "$1")" -gt "$2" ]
}

entry()
{
	agg t tree add --job 7 --receiver $B --device eth1 instance "$1" "${@:2}"
}

ports_come_and_go()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		agg t port del eth0 && agg t port add eth0 && flows forwarded ||
			return
	done
}

entries_come_and_go()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		agg t tree del --job 7 --receiver $B && flows passed &&
			entry $((i + 2)) scheme exact \
				link_neighbour 10.2.0.3 &&
			flows forwarded || return
	done
}

tables_come_and_go()
{
	local i

	agg t tree del --job 7 --receiver $B || return
	for ((i = 0; i < ROUNDS; i++)); do
		agg t link add eth1 neighbour 10.2.0.3 &&
			entry 1 scheme bloom link_neighbour 10.2.0.3 &&
			flows forwarded_bloom &&
			agg t tree del --job 7 --receiver $B &&
			agg t link del eth1 neighbour 10.2.0.3 || return
	done
	entry 1 scheme exact link_neighbour 10.2.0.3
}

# No packet misses the entry's ID while a larger table replaces a smaller one.
table_grows()
{
	local i before job=100

	agg t tree del --job 7 --receiver $B &&
		agg t link add eth1 neighbour 10.2.0.3 bits 8 capacity 1 &&
		entry 1 scheme bloom link_neighbour 10.2.0.3 &&
		flows forwarded_bloom || return
	before=$(counter t drop_bloom_miss)
	for ((i = 1; i <= ROUNDS; i++)); do
		for ((; job < 100 + (1 << i); job++)); do
			agg t tree add --job $job --receiver $B --device eth1 				instance 1 scheme bloom \
				link_neighbour 10.2.0.3 || return
		done
		flows forwarded_bloom || return
	done
	same $((ROUNDS + 1)) "$(counter t bloom_grown)" &&
		same "$before" "$(counter t drop_bloom_miss)" || return
	while [ "$((--job))" -ge 100 ]; do
		agg t tree del --job $job --receiver $B || return
	done
	agg t tree del --job 7 --receiver $B &&
		agg t link del eth1 neighbour 10.2.0.3 &&
		entry 1 scheme exact link_neighbour 10.2.0.3
}

links_flap()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		ip -n "s-$tag" link set p1 down && flows drop_link &&
			ip -n "s-$tag" link set p1 up && flows forwarded ||
			return
	done
}

# The device is unregistered while packets use it.
device_goes()
{
	ip -n "t-$tag" link del eth1 && flows drop_link || return
	same '["eth0"]' "$(aggctl -j -n "t-$tag" port show |
			   jq -c '[.[].port]')"
}

namespace_goes()
{
	ip netns del "t-$tag" && ip netns add "t-$tag"
}

network_up
agg t node set address $T && agg t port add eth0 && agg t port add eth1 &&
	entry 1 scheme exact link_neighbour 10.2.0.3 || exit 1
stream > "$TMP/stream" 2>&1 &

check "the stream is forwarded" flows forwarded
check "a port is detached and attached" ports_come_and_go
check "an entry is deleted and added" entries_come_and_go
check "a Bloom table is added and deleted" tables_come_and_go
check "a Bloom table grows" table_grows
check "a link flaps" links_flap
check "the device of a port is deleted" device_goes
check "the namespace is deleted" namespace_goes
done_testing
