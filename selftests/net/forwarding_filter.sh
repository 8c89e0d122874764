#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets that carry a filter of their path, at nodes without an entry: a copy
# leaves by each link that the filter names, and a packet whose filter names no
# link is left to plain IP, its filter spent. Then a switch does the same. The
# network is drawn in forwarding.inc.
#
# Of t, links are named
#   a 10 (eth0, digit 0)   b 11 (eth1, digit 1)   d 12 (eth1, digit 2)
#   d 13 (eth2, digit 0, level 1)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"

GROUP=03:a6:60:00:00:01
JOB=7
# Filters of 8 bits: all bits set, none set, and all set but spent (no node
# reads it).
ALL=00080100ff000000 NONE=0008010000000000 SPENT=00080000ff000000

# names NAME...: print a filter of 400 bits that names these links
names()
{
	print_filter $JOB $B 400 7 0 - "$@"
}

# to_b HOP [DEST]: the line of a packet that t sends b on the link to b. DEST is
# its IP destination.
to_b()
{
	line "$(mac 2 1)" "$(mac 3 0)" $A "${2:-$B}" 63 "$1" $JOB
}

to_d_by_eth1()
{
	line "$(mac 2 1)" "$(mac 4 1)" $A $B 63 "$1" $JOB
}

to_d_by_eth2()
{
	line "$(mac 2 2)" "$(mac 4 0)" $A "${2:-$B}" 63 "$1" $JOB
}

# follows HOP FILTER KEY=VALUE...: one copy leaves, on the named link to b
follows()
{
	counts t forwarded_filter 1 arrives b eth0 "$(to_b "$1") filter=alive" \
		job=$JOB filter="$2" "${@:3}"
}

# left FILTER KEY=VALUE...: plain IP takes the packet, with its filter spent. Its
# header tells the cause, which is $why.
left()
{
	counts t filter_spent 1 arrives d eth0 \
		"$(to_d_by_eth2 9) filter=spent fallback=${why:-bloom}" \
		job=$JOB filter="$1" "${@:2}"
}

# untouched FILTER STATE KEY=VALUE...: plain IP takes the packet unchanged
untouched()
{
	counts t passed 1 arrives d eth0 "$(to_d_by_eth2 10) filter=$2" \
		job=$JOB filter="$1" "${@:3}"
}

# The filter names two links: each copy gets half of the remaining hops.
both()
{
	watch b eth0 && watch d eth0 &&
		frame job=$JOB filter="$(names 11 13)" hop=12 || return
	seen b
	same "$(to_b 5) filter=alive" "$seen" || return
	seen d
	same "$(to_d_by_eth2 5) filter=alive" "$seen"
}

bound()
{
	counts t filter_spent 1 arrives d eth0 \
		"$(to_d_by_eth2 9 $D) filter=spent fallback=bloom" \
		job=$JOB filter=$NONE to=$D
}

# nowhere KEY=VALUE...: the packet is dropped; b sees only the second of two
# frames
nowhere()
{
	watch b eth0 && counts t drop_route 1 frame job=$JOB filter=$NONE "$@" &&
		frame job=$JOB filter="$(names 11)" || return
	seen b
	same "$(to_b 9) filter=alive" "$seen"
}

# with_beside COMMAND...: run it while t has a route to 10.9.0.0/24 through a
# device that is not a port
with_beside()
{
	local status=0

	ip -n "t-$tag" link add beside type veth peer name beside1 &&
		ip -n "t-$tag" link set beside up &&
		ip -n "t-$tag" link set beside1 up &&
		ip -n "t-$tag" address add 10.9.0.1/24 dev beside || return
	"$@" || status=1
	ip -n "t-$tag" link del beside && return $status
}

beside()
{
	local status=0

	nowhere to=10.9.0.9 || status=1
	nowhere receiver=10.9.0.9 type=1 body=24 to=0.0.0.0 || status=1
	return $status
}

# Print how many routes IP has made since boot, on all processors.
routes_made()
{
	local cpu sum=0

	while read -r -a cpu; do
		sum=$((sum + 16#${cpu[9]}))
	done < <(tail -n +2 /proc/net/stat/rt_cache)
	echo $sum
}

# All packets of a link share its route.
one_route()
{
	local before n=100

	before=$(routes_made)
	watch b eth0 $n && frame job=$JOB filter="$(names 11)" count=$n ||
		return
	seen b
	same $n "$(grep -c "$(to_b 9)" <<< "$seen")" || return
	n=$(($(routes_made) - before))
	[ $n -lt 50 ] || { echo "$n routes made"; return 1; }
}

# Two more links make five, not counting the one that the packet came in by.
too_many()
{
	local status=0

	agg t link add eth1 neighbour 10.2.0.101 bits 8 hashes 1 name 101 &&
		agg t link add eth1 neighbour 10.2.0.102 bits 8 hashes 1 \
			name 102 || return
	left $ALL || status=1
	agg t link del eth1 neighbour 10.2.0.101 &&
		agg t link del eth1 neighbour 10.2.0.102 && return $status
}

# The filter names a link that is down. The receiver may be behind it, so plain
# IP takes the packet.
broken()
{
	local status=0 why=link

	ip -n "s-$tag" link set p1 down
	counts t drop_link 1 left "$(names 11 13)" hop=20 || status=1
	ip -n "s-$tag" link set p1 up
	wait_for forwarding s p1 p2 p3 && return $status
}

transit_off()
{
	local status=0

	agg t port del eth0 && agg t port add eth0 transit off || return
	untouched "$(names 11)" alive || status=1
	agg t port del eth0 && agg t port add eth0 && return $status
}

refused()
{
	counts t "$1" 1 frame job=$JOB dst=$T to=$T "${@:2}"
}

# t has an entry for the transfer, but the packet's filter decides.
entry()
{
	agg t tree add --job $JOB --receiver $B --device eth2 instance 1 \
		scheme exact link_neighbour 10.3.0.4 || return
	follows 9 "$(names 11)" || return
	arrives d eth0 "$(to_d_by_eth2 9) filter=spent" job=$JOB filter=$SPENT
}

# With an entry this node is part of the plan, and IP may use any route.
entry_beside()
{
	counts t passed 1 frame job=$JOB filter=$NONE to=10.9.0.9
}

# --- the switch: t sends frames to the group
# -----------------------------------

group_frame()
{
	on t packet send eth1 dmac=$GROUP src=$A receiver=$B to=$B job=$JOB "$@"
}

# out: the line of a packet that leaves the switch towards a node, with this hop
# field
out()
{
	line "$(mac 5 "$1")" "$2" $A $B 63 "$3" $JOB
}

picks()
{
	watch b eth0 && counts s forwarded_filter 1 \
		group_frame filter="$(names 22)" || return
	seen b
	same "$(out 2 "$(mac 3 0)" 9) filter=alive" "$seen"
}

picks_both()
{
	watch b eth0 && watch d eth1 &&
		group_frame filter="$(names 22 23)" hop=11 || return
	seen b
	same "$(out 2 "$(mac 3 0)" 5) filter=alive" "$seen" || return
	seen d
	same "$(out 3 "$(mac 4 1)" 5) filter=alive" "$seen"
}

switch_drops()
{
	counts s drop_bloom_miss 1 group_frame filter="$1"
}

too_many_exits()
{
	local i

	for i in 1 2 3; do
		agg s link add p2 neighbour 10.2.0.$((100 + i)) \
			lladdr "$(mac 3 $((100 + i)))" name $((100 + i)) ||
			return
	done
	counts s forwarded_filter 4 counts s drop_copies 1 \
		group_frame filter=$ALL
}

network_up
agg t node set address $T && agg b node set address $B &&
	agg d node set address $D || exit 1
for device in eth0 eth1 eth2; do
	agg t port add $device level $((${device#eth} / 2)) || exit 1
done
agg b port add eth0 || exit 1
check "a server without named links leaves the packet unchanged" \
	untouched $ALL alive
small=(bits 8 hashes 1)
agg t link add eth0 neighbour 10.1.0.1 "${small[@]}" name 10 digit 0 || exit 1
agg t link add eth1 neighbour 10.2.0.3 "${small[@]}" name 11 digit 1 || exit 1
agg t link add eth1 neighbour 10.2.0.4 "${small[@]}" name 12 digit 2 || exit 1
agg t link add eth2 neighbour 10.3.0.4 "${small[@]}" name 13 digit 0 || exit 1

check "a copy leaves on the named link" follows 9 "$(names 11)"
check "an OPEN leaves on the named link" counts t forwarded_filter 1 arrives b eth0 \
	"$(to_b 9 | sed s/type=3/type=1/) filter=alive" job=$JOB type=1 \
	body=24 to=0.0.0.0 filter="$(names 11)"
check "the named link is another neighbour of the same port" arrives d eth1 \
	"$(to_d_by_eth1 9) filter=alive" job=$JOB filter="$(names 12)"
check "two links: two copies, which share the hops" both
check "many packets of a link use one route" one_route
check "the last hop" follows 0 "$(names 11)" hop=1
check "a hop field counts as 64 at most" follows 63 "$(names 11)" hop=255
check "hop field used up" counts t drop_hop 1 frame job=$JOB hop=0 filter=$ALL
check "TTL used up" counts t drop_ttl 1 frame job=$JOB ttl=1 filter=$ALL
check "no copy leaves on the port that the packet came in by" left "$(names 10)"
check "no link named: plain IP takes it to the receiver" left $NONE
check "no link named: plain IP takes it to its acceptor" bound
check "plain IP: not to a broadcast address" nowhere to=10.2.0.255
check "plain IP: not to the broadcast address of all networks" \
	nowhere to=255.255.255.255 src=10.2.0.2
check "plain IP: not to a multicast address" nowhere to=239.1.1.1 src=10.2.0.2
check "plain IP: not to an address of this node" nowhere to=10.3.0.2
check "plain IP: not to a receiver with a broadcast address" \
	nowhere receiver=10.2.0.255 type=1 body=24 to=0.0.0.0
check "plain IP: not through a device that is not a port" with_beside beside
check "more links named than copies allowed: plain IP" too_many
check "a named link is down: plain IP" broken
check "a spent filter: the node does not read it" untouched $SPENT spent
check "the receiver's digits choose among the links" \
	follows 9 "$(print_filter $JOB $B 8 1 0 1,7 10 11 12 13 \
		     14 15 16 17 18 19 20 21 22 23 24)"
check "the receiver's digits match no link" left "$(print_filter $JOB $B 8 1 0 7,7 10 11 12 13)"
check "transit off: plain IP takes it unchanged" transit_off
check "a packet for a node outside the plan is routed" counts t passed 1 \
	arrives d eth0 "$(to_d_by_eth2 10 $D) filter=alive" \
	job=$JOB filter=$ALL dst=$D to=$D
check "a packet type that carries no filter" \
	refused drop_filter type=4 body=48 filter=$ALL
check "a filter that is too large" refused drop_filter filter="${ALL}0000000000000000"
check "a filter with too few bits" refused drop_filter \
	filter=00070100ff000000
check "a filter with bits behind its end" refused drop_filter \
	filter=00080100ff010000
check "a filter takes precedence over an entry" entry
check "with an entry plain IP uses any device" with_beside entry_beside

agg s node set role switch || exit 1
for device in p1 p2 p3; do
	agg s port add $device || exit 1
done
agg s link add p1 neighbour 10.2.0.2 lladdr "$(mac 2 1)" name 21 || exit 1
agg s link add p2 neighbour 10.2.0.3 lladdr "$(mac 3 0)" name 22 || exit 1
agg s link add p3 neighbour 10.2.0.4 lladdr "$(mac 4 1)" name 23 || exit 1
check "a switch sends it to the named neighbour" picks
check "two neighbours: two copies" picks_both
check "no neighbour named: dropped, not flooded" switch_drops $NONE
check "the switch does not send it back to its port" switch_drops "$(names 21)"
check "the switch drops a spent filter sent to the group" switch_drops $SPENT
check "four copies at most" too_many_exits
done_testing
