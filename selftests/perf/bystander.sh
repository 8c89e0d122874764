#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What an attached port costs traffic that is not ours, in a guest that counts
# instructions: each kind crosses a server in turns without and with its ports
# attached. Prints a line for each; status 1 if one costs more than 2 % more.
# Usage: bystander.sh
#
#   a eth0 ---- eth0 fwd eth1 ---- eth0 b
set -euo pipefail

TMP=$(mktemp -d)
trap finish EXIT
PATH=$PWD/build/selftests/perf:$PATH
PACKETS=20000
RECORDS=100000
RECORD_BYTES=18
ROUNDS=7
LIMIT=2

# A process that still waits ends with this script.
finish()
{
	local pid

	for pid in $(jobs -p); do
		kill "$pid"
	done
	rm -rf "$TMP"
}

# end NAME DEVICE-OF-FWD NET: a host, and its link to fwd
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
	# Datagrams end here, and nobody answers.
	tc -n b qdisc add dev eth0 clsact
	tc -n b filter add dev eth0 ingress protocol ip flower ip_proto udp \
		action drop
	tc -n b filter add dev eth0 ingress protocol ipv6 flower \
		ip_proto udp action drop
}

# datagrams ADDRESS BYTES: seconds of one pass, before one that is not counted
datagrams()
{
	ip netns exec a flood "$1" 9 "$2" "$PACKETS" > "$TMP/warm"
	ip netns exec a flood "$1" 9 "$2" "$PACKETS"
}

stream()
{
	local pid

	rm -f "$TMP/ready"
	mkfifo "$TMP/ready"
	ip netns exec b goodput tcp-recv 10.8.2.2 - 0 "$RECORDS" > "$TMP/ready" &
	pid=$!
	exec 8< "$TMP/ready"
	read -r _ <&8
	ip netns exec a goodput tcp-send 10.8.1.2 10.8.2.2 0 "$RECORDS"
	wait "$pid"
	exec 8<&-
}

# median FILE
median()
{
	sort -g "$1" | sed -n "$(((ROUNDS + 1) / 2))p"
}

# compare NAME UNITS UNIT COMMAND...: in turns; instructions of a unit
compare()
{
	local name=$1 units=$2 unit=$3 round

	shift 3
	rm -f "$TMP/plain" "$TMP/attached"
	for ((round = 0; round < ROUNDS; round++)); do
		"$@" >> "$TMP/plain"
		aggctl -n fwd port add eth0 > "$TMP/said"
		aggctl -n fwd port add eth1 > "$TMP/said"
		"$@" >> "$TMP/attached"
		aggctl -n fwd port del eth0 > "$TMP/said"
		aggctl -n fwd port del eth1 > "$TMP/said"
	done
	jq -n -r --arg name "$name" --arg unit "$unit" --argjson units "$units" \
		--argjson plain "$(median "$TMP/plain")" \
		--argjson attached "$(median "$TMP/attached")" \
		--argjson limit $LIMIT 'def each: . * 1e9 / $units | round;
		(($attached / $plain - 1) * 100) as $more |
		"  \($name): not attached \($plain | each), attached " +
		"\($attached | each) instructions a \($unit): " +
		"\($more * 100 | round / 100) %",
		if $more > $limit then error("more than \($limit) %")
		else empty end'
}

# The guest's own ingress hook, which it has for guests of more CPUs: without it
# no device has one until a port is attached, and all that costs is counted.
nft delete table netdev hold
line_up
bad=0
echo "Bystanders, routed through a server:"
compare "UDP of 100 bytes" $PACKETS packet datagrams 10.8.2.2 100 || bad=1
compare "UDP of 1400 bytes" $PACKETS packet datagrams 10.8.2.2 1400 || bad=1
compare "UDP of 100 bytes, IPv6" $PACKETS packet datagrams fd08:2::2 100 ||
	bad=1
compare "TCP" $((RECORDS * RECORD_BYTES / 1000)) kilobyte stream || bad=1
exit $bad
