#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server forwards packets for other nodes: along the planned link, around it
# when it is broken, by plain IP when there is no entry; and counts what it
# refuses. The network is drawn in forwarding.inc.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"

# refused COUNTER KEY=VALUE...: t drops the frame, counts it and sends nothing
refused()
{
	local why=$1

	shift
	counts t "$why" 1 frame "$@"
}

# The UDP socket leaves the checksum to the device; datagrams that GSO joined
# are split.
local_arrives()
{
	local n=$1 expected

	shift
	expected=$(line "$(mac 2 1)" "$(mac 3 0)" $A $B 63 9 7 |
		   sed 's/udp=good/udp=X/')
	watch b eth0 "$n" || return
	on a packet local src=$A receiver=$B to=$B job=7 "count=$n" "$@" ||
		return
	seen b
	same "$(yes "$expected" | head -n "$n")" \
		"$(sed 's/udp=good/udp=X/; s/udp=partial/udp=X/' <<< "$seen")"
}

# round ACCEPTOR: a frame bound to ACCEPTOR goes through d while the link is
# down. The entry sends no FIN, so the frame tells the cause.
round()
{
	counts t drop_link 1 arrives d eth0 \
		"$(line "$(mac 2 2)" "$(mac 4 0)" $A "$1" 63 9 7) fallback=link" \
		job=7 to="$1"
}

no_carrier()
{
	local status=0

	ip -n "s-$tag" link set p1 down
	wait_for carrier 0 && round $D || status=1
	ip -n "s-$tag" link set p1 up
	wait_for carrier 1 && wait_for forwarding s p1 p2 p3 && return $status
}

# link_down ACCEPTOR: the same with the link administratively down
link_down()
{
	local status=0

	ip -n "t-$tag" link set eth1 down
	round "$1" || status=1
	ip -n "t-$tag" link set eth1 up
	ip -n "t-$tag" neighbour replace 10.2.0.3 lladdr "$(mac 3 0)" dev eth1
	wait_for carrier 1 && wait_for forwarding s p1 p2 p3 && return $status
}

carrier()
{
	local up=0

	[[ "$(ip -n "t-$tag" link show dev eth1)" != *LOWER_UP* ]] || up=1
	[ $up = "$1" ]
}

# cannot_send KEY=VALUE...: sendto() of a process on t fails with EPERM
cannot_send()
{
	on t packet local receiver=$B to=$B "$@" 2> "$TMP/eperm" && return 1
	grep -q "not permitted" "$TMP/eperm"
}

redirected()
{
	local status=0

	on t nft -f - << END || return
table ip nat {
	chain out {
		type nat hook output priority -100
		udp dport 9 dnat to $B:$PORT
	}
}
END
	cannot_send src=$T port=9 || status=1
	on t nft delete table ip nat
	return $status
}

# can_send KEY=VALUE...: a process on t sends, b gets it, and t refuses nothing
can_send()
{
	local before

	before=$(counter t drop_local_out)
	watch b eth0 && on t packet local receiver=$B to=$B "$@" || return
	seen b
	[ -n "$seen" ] && same "$before" "$(counter t drop_local_out)"
}

# contained KEY=VALUE...: a process on a sends to a device of t that is not a
# port. t's source NAT replaces the source by t's identity.
contained()
{
	on t nft -f - << END || return
table ip nat {
	chain out {
		type nat hook postrouting priority 100
		ip saddr $A snat to $T
	}
}
END
	on a packet local src=$A receiver=$B to=$B "$@"
}

container_forges()
{
	local status=0

	agg t port del eth0 && counts t drop_local_out 1 contained id=$T ||
		status=1
	on t nft delete table ip nat
	agg t port add eth0 && return $status
}

# A datagram that does not name t as its source passes.
container_sends()
{
	local status=0

	agg t port del eth0 && watch b eth0 && contained id=$A && seen b &&
		[[ $seen == *" $T $B "* ]] || status=1
	on t nft delete table ip nat
	agg t port add eth0 && return $status
}

# aggnet uses another port: datagrams to the usual port are not aggnet's,
# neither from processes nor on the wire.
other_port()
{
	local status=0

	agg a node set address $A port 20000 || return
	on a packet local src=$A receiver=$B to=$B "port=$PORT" || status=1
	on a packet local src=$A receiver=$B to=$B port=20000 2> "$TMP/eperm" &&
		status=1
	grep -q "not permitted" "$TMP/eperm" || status=1
	same 20000 "$(aggctl -j -n "a-$tag" node show | jq .port)" || status=1
	agg a node set port "$PORT" address 0.0.0.0 && return $status
}

# Count the refusals after the second frame: the first has been handled by then.
not_ours()
{
	local before

	before=$(counter t rx_packets)
	frame job=7 "$@" || return
	refused drop_hop job=7 hop=0 || return
	same $((before + 1)) "$(counter t rx_packets)"
}

bystander()
{
	local before

	before=$(counter t rx_packets)
	on a busybox ping -q -c 3 -W 5 -s 4000 -I $A $B || return
	same "$before" "$(counter t rx_packets)"
}

# A monitor of the kernel's drops gets the cause if the kernel has a name for
# it.
monitored()
{
	local trace=/sys/kernel/tracing status=0

	echo > $trace/trace
	echo 1 > $trace/events/skb/kfree_skb/enable || return
	refused drop_udp_csum job=5 dst=$T to=$T udpsum=none || status=1
	echo 0 > $trace/events/skb/kfree_skb/enable
	grep -q "reason: UDP_CSUM" $trace/trace && return $status
}

# transit on|off: set it on the port that the frames come in by
transit()
{
	agg t port del eth0 && agg t port add eth0 transit "$1" &&
		same "$1" "$(aggctl -j -n "t-$tag" port show |
			     jq -r '.[] | select(.ifname == "eth0").transit')"
}

filtered()
{
	local status=0

	on t nft -f - << END || return
table ip only {
	chain forward {
		type filter hook forward priority 0
		udp dport $PORT counter drop
	}
}
END
	frame job=7 count=3 && wait_for dropped 3 || status=1
	on t nft delete table ip only
	return $status
}

dropped()
{
	on t nft list table ip only | grep -q "packets $1 "
}

# policy DIRECTION DESTINATION WORD...: add an IPsec policy of t for packets
# from a
policy()
{
	ip -n "t-$tag" xfrm policy add src $A dst "$2" dir "$1" "${@:3}"
}

# sealed COUNTER DIRECTION WORD...: with such a policy t must not send a packet
# in clear. Of two frames, to b and to d, only the second arrives.
sealed()
{
	local status=0

	watch b eth0 && watch d eth0 && policy "$2" $B "${@:3}" || return
	counts t "$1" 1 frame job=7 to=$D || status=1
	ip -n "t-$tag" xfrm policy flush
	frame job=7 hop=1 && frame job=6 || status=1
	seen b
	same "${planned/hop=9/hop=0}" "$seen" || status=1
	seen d
	same "$routed" "$seen" && return $status
}

# beside_policy COMMAND...: run it while t has a policy for another destination
beside_policy()
{
	local status=0

	policy out 192.0.2.1 action block || return
	"$@" || status=1
	ip -n "t-$tag" xfrm policy flush
	return $status
}

# DATA of an entry whose tables match on two links: a policy applies to the first, and
# the second one's neighbour cannot be reached. Plain IP must not take them to their
# acceptor, which the policy does not name. The other trees fill the second table.
sealed_copies()
{
	local lost=10.2.0.77 n status=0
	local add=(tree add --receiver "$B" --device eth1 instance 1 contributors 1
		   sources 1 scheme bloom memory 65536 link_neighbour)

	ip -n "t-$tag" neighbour replace $lost nud failed dev eth1 &&
		agg t link add eth1 neighbour 10.2.0.3 &&
		agg t link add eth1 neighbour $lost bits 8 hashes 1 || return
	agg t "${add[@]}" 10.2.0.3 --job 10 || return
	for n in {501..580}; do
		agg t "${add[@]}" $lost --job "$n" || return
	done
	watch d eth0 && policy out $B action block &&
		counts t passed_policy 1 counts t drop_link 2 \
			frame job=10 to=$D || status=1
	ip -n "t-$tag" xfrm policy flush
	frame job=6 || status=1
	seen d
	same "$routed" "$seen" || status=1
	for n in 10 {501..580}; do
		agg t tree del --job "$n" --receiver $B || status=1
	done
	agg t link del eth1 neighbour 10.2.0.3 &&
		agg t link del eth1 neighbour $lost && return $status
}

# The same policy for packets that t itself receives.
sealed_in()
{
	local open=(job=9 "receiver=$T" to=0.0.0.0 type=1 body=24) status=0

	agg t tree add --job 9 --receiver $T instance 1 contributors 1 \
		sources 1 uid 0 && policy in $T action block || return
	refused drop_policy "${open[@]}" || status=1
	ip -n "t-$tag" xfrm policy flush
	refused rx_local "${open[@]}" || status=1
	agg t tree del --job 9 --receiver $T && return $status
}

# The same for a device that policies do not apply to.
unsealed()
{
	local status=0

	on t sysctl -qw net.ipv4.conf.eth0.disable_policy=1 &&
		policy fwd $B action block || return
	arrives b eth0 "$planned" job=7 || status=1
	ip -n "t-$tag" xfrm policy flush
	on t sysctl -qw net.ipv4.conf.eth0.disable_policy=0 && return $status
}

network_up
PORT=$(aggctl -j -n "t-$tag" node show | jq .port)
for node in a t b d; do
	id=${node^^}
	[ $node = a ] || agg $node node set address "${!id}" || exit 1
done
for device in eth0 eth1 eth2; do
	agg t port add $device || exit 1
done
agg b port add eth0 || exit 1
agg t tree add --job 7 --receiver $B --device eth1 instance 1 scheme exact \
	link_neighbour 10.2.0.3 || exit 1
agg t tree add --job 8 --receiver $B --device eth0 instance 1 scheme exact \
	link_neighbour 10.1.0.1 || exit 1
agg t tree add --job 12 --receiver $B --device eth0 instance 1 contributors 2 \
	sources 2 scheme exact link_neighbour 10.1.0.1 || exit 1

planned=$(line "$(mac 2 1)" "$(mac 3 0)" $A $B 63 9 7)
routed=$(line "$(mac 2 2)" "$(mac 4 0)" $A $B 63 10 6)
opened=${routed/type=3/type=1}

check "an entry's packet leaves by the planned link" \
	counts t forwarded 1 arrives b eth0 "$planned" job=7
check "a packet without an entry is routed, unchanged" \
	counts t passed 1 arrives d eth0 "$routed" job=6
check "an OPEN leaves by the planned link" \
	arrives b eth0 "${planned/type=3/type=1}" job=7 type=1 body=24 to=0.0.0.0
check "a packet for a node outside the plan is routed" \
	arrives d eth0 "$(line "$(mac 2 2)" "$(mac 4 0)" $A $D 63 10 7)" \
	job=7 dst=$D to=$D
check "padding behind the datagram is not forwarded" \
	arrives b eth0 "$planned" job=7 pad=9
check "hop 1 is the last forward" \
	arrives b eth0 "${planned/hop=9/hop=0}" job=7 hop=1
check "a checksum left to the device stays partial" local_arrives 1
check "datagrams joined by GSO are split" local_arrives 3 glue=1
check "link without carrier: plain IP takes it to the acceptor" no_carrier
check "link down: plain IP takes it to the receiver" link_down $B
check "link up again: packets take the planned link" arrives b eth0 "$planned" job=7
check "no packet goes back through the port that it came in by" \
	counts t drop_link 1 arrives d eth0 \
	"$(line "$(mac 2 2)" "$(mac 4 0)" $A $B 63 9 8) fallback=link" job=8
check "an end that forwards a packet by plain IP does not tell it in the packet" \
	counts t drop_link 1 arrives d eth0 \
	"$(line "$(mac 2 2)" "$(mac 4 0)" $A $B 63 9 12)" job=12

check "plain IP: not to a broadcast address" \
	refused drop_route job=8 to=10.2.0.255

check_ipsec "IPsec: a policy refuses what t sends" \
	sealed passed_policy out action block
check_ipsec "IPsec: without a key t's packet does not leave" \
	sealed passed_policy out tmpl proto esp mode transport
check_ipsec "IPsec: a policy refuses what t forwards" \
	sealed drop_policy fwd action block
check_ipsec "IPsec: a policy refuses what came in clear" \
	sealed drop_policy fwd tmpl proto esp mode transport
check_ipsec "IPsec: a policy applies to one of two copies" sealed_copies
check_ipsec "IPsec: a policy refuses what t receives" sealed_in
check_ipsec "IPsec: a device may be exempt" unsealed
check_ipsec "IPsec: a link that is down is not taken for a policy" \
	beside_policy link_down $D

check "transit off: the port is attached again" transit off
check "transit off: plain IP takes it unchanged" \
	counts t passed 1 arrives d eth0 "${routed/job=6/job=7}" job=7
check "transit off: plain IP takes an OPEN" counts t passed 1 arrives d eth0 \
	"${opened/job=6/job=7}" job=7 type=1 body=24 to=0.0.0.0
check "transit off: the FORWARD chain filters packets" filtered
check "transit on" transit on

check "hop field used up" refused drop_hop job=7 hop=0
check "TTL used up" refused drop_ttl job=7 ttl=1
check "the header's source is not the IP source" refused drop_identity job=7 id=$D
check "a packet for this node, without an entry" refused drop_no_tree job=5 dst=$T to=$T
check "IP destination this node, header destination another" \
	refused drop_identity job=5 dst=$T to=$D
check "no UDP checksum" monitored
check "unknown version" refused drop_version job=5 dst=$T to=$T version=9
check "unknown type" refused drop_type job=5 dst=$T to=$T type=77
check "unknown flag" refused drop_flags job=5 dst=$T to=$T flags=0x8000
check "shorter than it says" refused drop_truncated dst=$T to=$T lie=1
check "longer than it says" refused drop_length dst=$T to=$T lie=-1
check "a body of a length that the type does not allow" refused drop_body dst=$T to=$T body=3
check "to an address of this host that is not an identity" \
	refused drop_identity dst=10.1.0.2 to=$D
check "a bound packet that missed its acceptor" \
	counts b misforwarded 1 frame job=7 to=$D
check "IP counts a wrong IP checksum" \
	not_ours ipsum=bad
check "a frame with a VLAN tag is left alone" not_ours vlan=5
check "a frame for another MAC is left alone" not_ours "dmac=$(mac 9 9)"
check "a fragment is left alone" not_ours frag=0x2000

check "a process cannot send a packet of this node" \
	counts t drop_local_out 1 cannot_send src=$T
check "a process cannot send one with another address of this host" \
	counts t drop_local_out 1 cannot_send src=10.3.0.2
check "a process cannot send one among datagrams that GSO splits" \
	counts t drop_local_out 1 cannot_send src=$T glue=1 count=3
check "a process cannot send one to a port that NAT changes to aggnet's" \
	counts t drop_local_out 1 redirected
check "other datagrams to the port pass" \
	can_send src=$T version=9
check "a datagram with another node's identity passes" can_send src=$T id=$A
check "a datagram with a wrong length passes" can_send src=$T lie=1
check "a container behind NAT cannot send a packet of this node" \
	container_forges
check "other datagrams of the container pass" container_sends
check "a node with another UDP port" other_port
check "other traffic passes" bystander
done_testing
