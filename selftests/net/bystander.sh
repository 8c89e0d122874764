#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Traffic of other protocols crosses attached ports unchanged and in order: TCP
# and UDP, IPv4 and IPv6, fragments, GSO and GRO, with VLAN tags, over a bridge
# and a bond, with nftables, NAT and conntrack in force. "make bench" measures
# its cost.
#
#     x ------ f ------ y       every device is an attached port; x and f, f and
#       eth0,1   eth2  eth0     y also have VLAN 5
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"

nodes=(x f y)

up()
{
	local node

	say "seed $SEED, a line of three"
	trap network_down EXIT
	for node in "${nodes[@]}"; do
		ip netns add "$node-$tag" || exit 1
		ip -n "$node-$tag" link set lo up
	done
	on f sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	wire x 1 0 eth0 f 2 0 eth0
	wire x 1 1 eth1 f 2 1 eth1
	wire f 2 2 eth2 y 3 0 eth0
	for node in x/eth0 x/eth1 f/eth0 f/eth1 f/eth2 y/eth0; do
		agg "${node%/*}" port add "${node#*/}" || exit 1
	done
	set_net x eth0 1 1
	set_net f eth0 1 2
	set_net f eth2 2 2
	set_net y eth0 2 3
	ways
}

# set_net NODE DEVICE NET HOST
set_net()
{
	ip -n "$1-$tag" address add "10.5.$3.$4/24" dev "$2" &&
		ip -n "$1-$tag" address add "fd05:$3::$4/64" dev "$2" nodad
}

# Default routes of x and y lead through f.
ways()
{
	ip -n "x-$tag" route replace default via 10.5.1.2
	ip -n "x-$tag" -6 route replace default via fd05:1::2
	ip -n "y-$tag" route replace default via 10.5.2.2
	ip -n "y-$tag" -6 route replace default via fd05:2::2
}

# reached ADDRESS: does a connection get to y, which refuses it?
reached()
{
	ip netns exec "x-$tag" bash -c ": < /dev/tcp/$1/9" 2> "$TMP/reached"
	grep -q refused "$TMP/reached"
}

# All streams cross, and f counts none of their packets as aggnet's.
cross()
{
	stream "$SEED" "x-$tag" "y-$tag" 10.5.2.3 fd05:2::3 &&
		same 0 "$(counter f rx_packets)"
}

# The rules use no sets: lockdep of 6.1 complains when nftables walks a set.
filters()
{
	on f nft -f - << END
table inet by {
	chain forward {
		type filter hook forward priority 0; policy drop;
		ct state established,related counter accept
		iif eth0 ct state new counter accept
		icmpv6 type nd-neighbor-solicit accept
		icmpv6 type nd-neighbor-advert accept
	}
	chain out {
		type nat hook postrouting priority 100;
		oif eth2 snat ip to 10.5.2.2
		oif eth2 snat ip6 to fd05:2::2
	}
}
END
}

conntrack_saw()
{
	on f nft list table inet by | grep -q "new counter packets [1-9]"
}

# offloads on|off
offloads()
{
	local at

	for at in x/eth0 f/eth0 f/eth2 y/eth0; do
		on "${at%/*}" ethtool -K "${at#*/}" gro "$1" \
			rx-udp-gro-forwarding "$1" > /dev/null || return
	done
}

# VLAN devices replace the untagged network; they are attached as ports as well.
vlans()
{
	local at node device

	for at in x/eth0/1/1 f/eth0/1/2 f/eth2/2/2 y/eth0/2/3; do
		node=${at%%/*} device=${at#*/} device=${device%%/*}
		ip -n "$node-$tag" address flush dev "$device" scope global
		ip -n "$node-$tag" link add link "$device" name "$device.5" \
			type vlan id 5 &&
			ip -n "$node-$tag" link set "$device.5" up &&
			agg "$node" port add "$device.5" || return
	done
	set_net x eth0.5 1 1 && set_net f eth0.5 1 2 && set_net f eth2.5 2 2 &&
		set_net y eth0.5 2 3 && ways
}

no_vlans()
{
	ip -n "x-$tag" link del eth0.5 && ip -n "f-$tag" link del eth0.5 &&
		ip -n "f-$tag" link del eth2.5 && ip -n "y-$tag" link del eth0.5
}

# A bridge puts x into the network of y.
bridge()
{
	ip -n "f-$tag" link add name br type bridge mcast_snooping 0 &&
		ip -n "f-$tag" link set dev eth0 master br &&
		ip -n "f-$tag" link set dev eth2 master br &&
		ip -n "f-$tag" link set dev br up && agg f port add br &&
		set_net x eth0 2 1 && set_net y eth0 2 3 &&
		wait_for forwarding f eth0 eth2
}

no_bridge()
{
	ip -n "f-$tag" link del dev br &&
		ip -n "x-$tag" address flush dev eth0 scope global
}

# bond NODE: bond its eth0 and eth1, which stay ports
bond()
{
	ip -n "$1-$tag" link add bond type bond mode active-backup miimon 10 &&
		ip -n "$1-$tag" link set dev eth0 down &&
		ip -n "$1-$tag" link set dev eth1 down &&
		ip -n "$1-$tag" link set dev eth0 master bond &&
		ip -n "$1-$tag" link set dev eth1 master bond &&
		ip -n "$1-$tag" link set dev bond up && agg "$1" port add bond
}

bonds()
{
	bond x && bond f && set_net x bond 1 1 && set_net f bond 1 2 &&
		set_net f eth2 2 2 && ways &&
		wait_for on x busybox ping -q -c 1 -W 1 10.5.1.2
}

up
# Wait for the neighbours: a new device may not answer the first packets yet.
wait_for reached 10.5.2.3 && wait_for reached fd05:2::3 || exit 1
check "routed" cross
check "filters, NAT and conntrack" filters
check "filtered" cross
check "conntrack has seen the streams" conntrack_saw
on f nft delete table inet by
check "GRO on" offloads on
check "with GRO" cross
check "GRO off" offloads off
check "VLANs" vlans
check "tagged" cross
check "no VLANs" no_vlans
check "a bridge" bridge
check "bridged" cross
check "no bridge" no_bridge
check "bonds" bonds
check "bonded" cross
done_testing
