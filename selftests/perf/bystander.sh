#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What an attached port costs traffic that is not ours, in a guest that counts
# instructions: each kind crosses a server in turns without and with its ports
# attached. Prints a line for each; status 1 if one costs more than 2 % more, in tenths
# of a per cent, which is how well these figures repeat. Datagrams of others to our UDP
# port may cost 10 % more, as the module reads their headers.
# Usage: bystander.sh
#
#   a eth0 ---- eth0 fwd eth1 ---- eth0 b
set -euo pipefail

. "$(dirname "$0")/lib.sh"

PACKETS=20000
RECORDS=100000
RECORD_BYTES=18
ROUNDS=7
LIMIT=2
LIMIT_PORT=10
PORT=18016	# AGGNET_UDP_PORT
ports=(eth0 eth1)

# end NAME DEVICE-OF-FWD NET: set up a host and its link to fwd
end()
{
	ip netns add "$1"
	ip -n "$1" link set lo up
	ip -n "$1" link add eth0 type veth peer name "$2" netns fwd
	ip -n "$1" addr add "10.8.$3.2/24" dev eth0
	ip -n "$1" addr add "fd08:$3::2/64" dev eth0 nodad
	ip -n "$1" link set eth0 up
	ip -n fwd addr add "10.8.$3.1/24" dev "$2"
	ip -n fwd addr add "fd08:$3::1/64" dev "$2" nodad
	ip -n fwd link set "$2" up
	ip -n "$1" route add default via "10.8.$3.1"
	ip -n "$1" route add default via "fd08:$3::1"
}

line_up()
{
	ip netns add fwd
	ip netns exec fwd sysctl -qw net.ipv4.ip_forward=1 \
		net.ipv6.conf.all.forwarding=1
	end a eth0 1
	end b eth1 2
	drop_datagrams eth0
}

# drop_datagrams DEVICE: b drops them there, without an answer
drop_datagrams()
{
	local protocol

	tc -n b qdisc add dev "$1" clsact
	for protocol in ip ipv6; do
		tc -n b filter add dev "$1" ingress protocol $protocol flower \
			ip_proto udp action drop
	done
}

# Added on top of the line, because they are removed again.
vlans()
{
	local at

	for at in a/eth0/1.2 fwd/eth0/1.1 fwd/eth1/2.1 b/eth0/2.2; do
		vlan "${at%%/*}" "$(cut -d / -f 2 <<< "$at")" "${at##*/}"
	done
	ip -n a route add 10.8.12.0/24 via 10.8.11.1
}

# vlan NETNS DEVICE NET.HOST
vlan()
{
	ip -n "$1" link add link "$2" name "$2.5" type vlan id 5
	ip -n "$1" addr add "10.8.1$3/24" dev "$2.5"
	ip -n "$1" link set "$2.5" up
	[ "$1" != b ] || drop_datagrams eth0.5
}

no_vlans()
{
	ip -n a link del eth0.5
	ip -n fwd link del eth0.5
	ip -n fwd link del eth1.5
	ip -n b link del eth0.5
}

# Each flow has an entry, and a rule reads its state.
conntrack()
{
	ip netns exec fwd nft -f - << 'END'
table ip seen {
	chain forward {
		type filter hook forward priority 0
		ct state new,established counter accept
	}
}
END
}

no_conntrack()
{
	ip netns exec fwd nft delete table ip seen
}

# fwd reaches b through a bond of one device.
bond()
{
	ip -n fwd link add bond0 type bond mode active-backup miimon 10
	ip -n fwd link set eth1 down
	ip -n fwd link set eth1 master bond0
	ip -n fwd addr add 10.8.3.1/24 dev bond0
	ip -n fwd link set bond0 up
	ip -n b addr add 10.8.3.2/24 dev eth0
	ports=(eth0 eth1 bond0)
}

# A bridge makes a and b neighbours.
bridge()
{
	ip -n fwd link del bond0
	ip -n fwd link add br0 type bridge
	ip -n fwd link set eth0 master br0
	ip -n fwd link set eth1 up master br0
	ip -n fwd link set br0 up
	ip -n a addr add 10.8.4.1/24 dev eth0
	ip -n b addr add 10.8.4.2/24 dev eth0
	ports=(eth0 eth1 br0)
}

no_bridge()
{
	ip -n fwd link del br0
	ip -n a addr del 10.8.4.1/24 dev eth0
	ip -n b addr del 10.8.4.2/24 dev eth0
	ports=(eth0 eth1)
}

# Bytes that came to b.
received()
{
	ip netns exec b cat /sys/class/net/eth0/statistics/rx_bytes
}

# all_came BYTES: they do, at once or when fwd has joined packets
all_came()
{
	local i now

	for ((i = 0; i < 50; i++)); do
		now=$(received) || return
		[ "$now" -lt "$1" ] || return 0
		sleep 0.1
	done
	echo "b got $now bytes in place of $1" >&2
	return 1
}

# pass ADDRESS BYTES [PORT]: print the seconds
pass()
{
	local before

	before=$(received) &&
		ip netns exec a flood "$1" "${3:-9}" "$2" "$PACKETS" &&
		all_came $((before + PACKETS * $2))
}

# datagrams ADDRESS BYTES [PORT]: print the seconds of one pass, after one that does
# not count: the first ones may meet a device or an address that is not ready
datagrams()
{
	local tries=0

	until pass "$@" > "$TMP/warm" 2>&1; do
		[ "$((tries += 1))" -lt 3 ] || return
	done
	pass "$@"
}

stream()
{
	local pid status=0

	rm -f "$TMP/ready"
	mkfifo "$TMP/ready" || return
	ip netns exec b goodput tcp-recv 10.8.2.2 - 0 "$RECORDS" > "$TMP/ready" &
	pid=$!
	exec 8< "$TMP/ready"
	read -r _ <&8 &&
		ip netns exec a goodput tcp-send 10.8.1.2 10.8.2.2 0 "$RECORDS" ||
		status=1
	[ "$status" = 0 ] || kill "$pid"
	wait "$pid" || status=1
	exec 8<&-
	return "$status"
}

# attach add|del
attach()
{
	local port

	for port in "${ports[@]}"; do
		aggctl -n fwd port "$1" "$port" > "$TMP/said" || return
	done
}

# in_turns COMMAND...: ROUNDS figures without ports and as many with them. A caller
# that looks at the status has switched errexit off.
in_turns()
{
	local round

	rm -f "$TMP/plain" "$TMP/attached"
	for ((round = 0; round < ROUNDS; round++)); do
		"$@" >> "$TMP/plain" && attach add &&
			"$@" >> "$TMP/attached" && attach del || return
	done
	[ "$(cat "$TMP/plain" "$TMP/attached" | wc -l)" = $((2 * ROUNDS)) ]
}

# median FILE
median()
{
	sort -g "$1" | sed -n "$(((ROUNDS + 1) / 2))p"
}

# compare NAME UNITS UNIT COMMAND...: run it in turns; print instructions per
# unit
compare()
{
	local name=$1 units=$2 unit=$3

	shift 3
	if ! in_turns "$@"; then
		echo "  $name: not measured: a step failed" >&2
		attach del 2> "$TMP/said" || true
		return 1
	fi
	jq -n -r --arg name "$name" --arg unit "$unit" --argjson units "$units" \
		--argjson plain "$(median "$TMP/plain")" \
		--argjson attached "$(median "$TMP/attached")" \
		--argjson limit "$LIMIT" 'def each: . * 1e9 / $units | round;
		(($attached / $plain - 1) * 100) as $more |
		"  \($name): not attached \($plain | each), attached " +
		"\($attached | each) instructions a \($unit): " +
		"\($more * 100 | round / 100) %",
		if ($more * 10 | round / 10) > $limit then error("more than \($limit) %")
		else empty end'
}

# Delete the ingress hook that the guest adds for guests with several CPUs.
# Without it devices have no hook until a port is attached, so that the hook's
# full cost is measured.
nft delete table netdev hold
line_up
bad=0
echo "Bystanders, routed through a server:"
compare "UDP of 100 bytes" $PACKETS packet datagrams 10.8.2.2 100 || bad=1
compare "UDP of 1400 bytes" $PACKETS packet datagrams 10.8.2.2 1400 || bad=1
compare "UDP of 100 bytes, IPv6" $PACKETS packet datagrams fd08:2::2 100 ||
	bad=1
compare "UDP of 4500 bytes, in fragments" $PACKETS datagram \
	datagrams 10.8.2.2 4500 || bad=1
compare "TCP, GSO" $((RECORDS * RECORD_BYTES / 1000)) kilobyte stream || bad=1
LIMIT=$LIMIT_PORT compare "UDP of 1400 bytes to our port" $PACKETS packet \
	datagrams 10.8.2.2 1400 $PORT || bad=1
conntrack
compare "UDP of 100 bytes, nftables and conntrack" $PACKETS packet \
	datagrams 10.8.2.2 100 || bad=1
no_conntrack
vlans
compare "UDP of 100 bytes, tagged" $PACKETS packet datagrams 10.8.12.2 100 ||
	bad=1
ports=(eth0 eth1 eth0.5 eth1.5)
compare "UDP of 100 bytes, tagged, VLAN devices attached, too" $PACKETS packet \
	datagrams 10.8.12.2 100 || bad=1
no_vlans
bond
compare "UDP of 100 bytes, to a bond" $PACKETS packet datagrams 10.8.3.2 100 ||
	bad=1
bridge
compare "UDP of 100 bytes, bridged" $PACKETS packet datagrams 10.8.4.2 100 ||
	bad=1
exit $bad
