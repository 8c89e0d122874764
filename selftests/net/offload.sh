#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whole transfers over packets as few devices make them: with nothing in the
# skb's linear part, with a checksum of all bytes that the device took
# (CHECKSUM_COMPLETE), over MTUs of 9000, 1500 and 584, and over a path that has
# a smaller MTU than the links at its ends. The kernel's own trace tells that the
# packets were such; how many bytes of records each carried is printed. The line
# is drawn in line.inc.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"
. "$(dirname "$0")/line.inc"

TRACE=/sys/kernel/tracing

# traced EVENT FILTER: trace it from now on
traced()
{
	echo > $TRACE/trace
	echo "$2" > "$TRACE/events/net/$1/filter" &&
		echo 1 > "$TRACE/events/net/$1/enable"
}

# was_traced EVENT: were at least a hundred packets traced?
was_traced()
{
	local n

	echo 0 > "$TRACE/events/net/$1/enable"
	echo 0 > "$TRACE/events/net/$1/filter"
	n=$(grep -c "$1:" $TRACE/trace)
	say "$n packets were such" >&3
	[ "$n" -gt 100 ]
}

# whole [MEMORY]: a transfer whose result is exact
whole()
{
	entries memory "${1:-131072}" && begin "$TMP/in.a" || return
	cat "$TMP/in.s" >&5
	end "$TMP/in.s" "$TMP/in.a"
}

# carried LEAST MOST: is the average size of the records in a packet of s and of
# a in this range?
carried()
{
	local node each

	for node in s a; do
		each=$(aggctl -j -n "$node-$tag" tree show --job $job |
			jq '.[0] | .bytes_out / .packets_out | floor')
		say "$each bytes of records in a packet of $node" >&3
		[ "$each" -ge "$1" ] && [ "$each" -le "$2" ] || return
	done
}

# over LEAST MOST: the same for a transfer with memory for long packets
over()
{
	whole 4194304 && carried "$@" && entries_gone
}

# No byte is in the linear part: data_len is the packet's length.
paged()
{
	local pid status=0

	on e sysctl -qw net.ipv4.ip_forward=0
	ip netns exec "e-$tag" nonlinear_relay eth0 "$(mac 1 0)" eth1 "$(mac 3 0)" \
		> "$TMP/relay" &
	pid=$!
	wait_for grep -q ready "$TMP/relay" &&
		traced netif_rx_entry 'name == "eth0" && data_len > 100' &&
		whole && entries_gone && was_traced netif_rx_entry || status=1
	kill $pid
	on e sysctl -qw net.ipv4.ip_forward=1
	return $status
}

# tunnel NODE OWN OTHER ADDRESS NEIGHBOUR MAC PEER-MAC: set up one end as a port
tunnel()
{
	ip -n "$1-$tag" link add vx0 address "$6" mtu 1400 type vxlan id 7 \
		local "$2" remote "$3" dstport 4789 udpcsum &&
		ip -n "$1-$tag" link set vx0 up &&
		address "$1" vx0 "$4" "$5" "$7" &&
		on "$1" ethtool -K eth0 tx off > /dev/null &&
		agg "$1" port add vx0
}

# s and a are connected by a tunnel. Its end has summed all bytes to check the
# outer checksum and passes the rest of the sum to the inner packet.
tunnels()
{
	on e ethtool -K eth0 tx off > /dev/null
	on e ethtool -K eth1 tx off > /dev/null
	ip -n "s-$tag" route add 10.2.0.3 via 10.1.0.2
	ip -n "a-$tag" route add 10.1.0.1 via 10.2.0.2
	tunnel s 10.1.0.1 10.2.0.3 10.9.0.1 10.9.0.3 "$(mac 1 7)" "$(mac 3 7)" &&
		tunnel a 10.2.0.3 10.1.0.1 10.9.0.3 10.9.0.1 "$(mac 3 7)" \
			"$(mac 1 7)" &&
		ip -n "s-$tag" route replace $A via 10.9.0.3 &&
		ip -n "s-$tag" route replace $R via 10.9.0.3 &&
		ip -n "a-$tag" route replace $S via 10.9.0.1
	s_link=(--device vx0 link_neighbour 10.9.0.3)
}

complete()
{
	traced napi_gro_receive_entry 'name == "vx0" && ip_summed == 2' &&
		whole && entries_gone && was_traced napi_gro_receive_entry
}

# mtu BYTES NODE/DEVICE...: set the MTU of devices
mtu()
{
	local device

	for device in "${@:2}"; do
		ip -n "${device%/*}-$tag" link set dev "${device#*/}" mtu "$1" ||
			return
	done
}

ALL="s/eth0 e/eth0 e/eth1 a/eth0 a/eth1 r/eth0"

line_up
members_up || exit 1
exec 3>&1
gen "$SEED" 2000 2000 mix small > "$TMP/in.a"
gen $((SEED + 1)) 20000 20000 mix small > "$TMP/in.s"
check "nothing is linear: result exact" paged
# shellcheck disable=SC2086
check "MTU 584" mtu 584 $ALL
check "MTU 584: result exact, packets full" over 440 468
# shellcheck disable=SC2086
check "MTU 9000" mtu 9000 $ALL
check "MTU 9000: result exact, packets full" over 7600 8192
check "MTU 9000: result exact, with little memory" whole
check "MTU 9000: packets of the usual length" carried 1300 1384
entries_gone
check "MTU 9000, but 1300 in the middle" mtu 1300 e/eth1 a/eth0
check "MTU 1300 in the middle: result exact" over 1100 8192
check "MTU 1000 in the middle" mtu 1000 e/eth1 a/eth0
check "MTU 1000 in the middle: result exact" over 440 8192
# shellcheck disable=SC2086
check "MTU 1500" mtu 1500 $ALL
check "MTU 1500: result exact, packets full" over 1300 1384
check "a tunnel" tunnels
check "the sum of all bytes is known: result exact" complete
done_testing
