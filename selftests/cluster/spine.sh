# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced after page.sh: the page's three racks of servers with one NIC each, behind Linux
# routers without aggnet, as machines.
#   racks_up                      boot its five servers
#   racks_transfer                the transfer of the page

SERVERS=(a1 b1 b2 c1 c2)
RECEIVER=a1
SOURCES=(b1 b2 c1 c2)

# router NETNS: a namespace that forwards packets
router()
{
	ip netns add "$1" && NAMESPACES+=("$1") &&
		ip netns exec "$1" sysctl -qw net.ipv4.ip_forward=1
}

# rack NAME N: a bridge, and its router, which leads to the spine
rack()
{
	local tor=$NETNS-$1

	switch "$1" && router "$tor" &&
		ip -n "$NETNS" link add "up-$1" type veth peer name hosts netns "$tor" &&
		ip -n "$NETNS" link set "up-$1" master "$1" up &&
		ip -n "$tor" address add "10.$2.0.254/24" dev hosts &&
		ip -n "$tor" link set hosts up &&
		ip -n "$tor" link add spine type veth peer name "$1" \
			netns "$NETNS-spine" &&
		ip -n "$tor" address add "10.9.$2.1/30" dev spine &&
		ip -n "$tor" link set spine up &&
		ip -n "$tor" route add default via "10.9.$2.2" &&
		ip -n "$NETNS-spine" address add "10.9.$2.2/30" dev "$1" &&
		ip -n "$NETNS-spine" link set "$1" up &&
		ip -n "$NETNS-spine" route add "10.$2.0.0/24" via "10.9.$2.1"
}

# server NAME N HOST KERNEL: one of the N-th rack
server()
{
	machine "$1" "$4" "tor-${1%?}" &&
		echo "ip address add 10.$2.0.$3/24 dev eth0
		ip route add default via 10.$2.0.254" > "$CLUSTER/$1/boot"
}

racks_up()
{
	local name

	machines_begin
	router "$NETNS-spine" && rack tor-a 1 && rack tor-b 2 && rack tor-c 3 &&
		server a1 1 1 6.12 && server b1 2 1 6.1 && server b2 2 2 6.12 &&
		server c1 3 1 6.12 && server c2 3 2 6.1 || return
	machines_wait
	for name in "${SERVERS[@]}"; do
		block "The file \`\`racks\`\`" > "$CLUSTER/$name/home/racks"
	done
}

racks_transfer()
{
	start a1 "$(block "On a1, until the result is there")"
	everywhere "$(block "On each of b1, b2, c1 and c2")" "${SOURCES[@]}" && finish a1
}
