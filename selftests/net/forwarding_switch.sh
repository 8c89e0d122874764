#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bloom forwarding: a server sends to the group MAC, the switch role looks the
# incast ID up in its links' tables, and nothing is ever flooded.
# The network is drawn in forwarding.inc.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"

GROUP=03:a6:60:00:00:01

# entry JOB [OPTION...]: add an entry of the transit t, with its link to the
# switch
entry()
{
	local number=$1

	shift
	agg t tree add --job "$number" --receiver $B --device eth1 instance 1 \
		scheme bloom "$@"
}

# exit_by JOB DEVICE NEIGHBOUR: add an entry of the switch
exit_by()
{
	agg s tree add --job "$1" --receiver $B --device "$2" instance 1 \
		link_neighbour "$3"
}

# switch_drops WHY NODE DEVICE KEY=VALUE...: the switch drops and counts the
# frame; the next frame is the first that arrives at NODE
switch_drops()
{
	local why=$1 node=$2 device=$3

	shift 3
	watch "$node" "$device" || return
	counts s "$why" 1 frame "$@" || return
	frame job=9 || return
	seen "$node"
	case $seen in
	*" job=9 "*) return ;;
	esac
	echo "seen: $seen"
	return 1
}

# t itself would send to the group's MAC; make such a frame by hand.
group_frame()
{
	on t packet send eth1 dmac=$GROUP src=$A receiver=$B to=$B "$@"
}

both()
{
	watch b eth0 && watch d eth1 && frame job=9 || return
	seen b
	same "$(line "$(mac 5 2)" "$(mac 3 0)" $A $B 62 8 9)" "$seen" || return
	seen d
	same "$(line "$(mac 5 3)" "$(mac 4 1)" $A $B 62 8 9)" "$seen"
}

# Six links of the switch have the incast ID; four copies leave.
too_many()
{
	local i status=0

	for i in 1 2 3 4 5; do
		agg s link add p2 neighbour 10.2.0.$((100 + i)) \
			lladdr "$(mac 3 $((100 + i)))" || return
		exit_by 12 p2 10.2.0.$((100 + i)) || return
	done
	exit_by 12 p2 10.2.0.3 || return
	counts s forwarded 4 counts s drop_copies 2 frame job=12 || status=1
	return $status
}

broken_exit()
{
	local status=0

	ip -n "b-$tag" link set eth0 down
	counts s drop_link 1 frame job=7 || status=1
	ip -n "b-$tag" link set eth0 up
	ip -n "b-$tag" route add $A via 10.2.0.2
	ip -n "b-$tag" neighbour replace 10.2.0.2 lladdr "$(mac 2 1)" dev eth0
	wait_for forwarding s p1 p2 p3 && return $status
}

broken_link()
{
	local status=0

	ip -n "s-$tag" link set p1 down
	counts t drop_link 1 arrives d eth0 \
		"$(line "$(mac 2 2)" "$(mac 4 0)" $A $D 63 9 7) fallback=link" \
		job=7 to=$D || status=1
	ip -n "s-$tag" link set p1 up
	wait_for forwarding s p1 p2 p3 && return $status
}

# Other entries set 6 of the table's 8 bits: it matches most IDs.
lies()
{
	local i

	agg s link add p3 neighbour 10.2.0.99 lladdr "$(mac 4 99)" bits 8 \
		hashes 1 || return
	for i in {1000..1063}; do
		exit_by "$i" p3 10.2.0.99 || return
	done
	counts s forwarded_bloom 2 arrives b eth0 "${planned}" job=7 || return
	for i in {1000..1063}; do
		agg s tree del --job "$i" --receiver $B || return
	done
	counts s forwarded_bloom 1 arrives b eth0 "${planned}" job=7
}

bystander()
{
	local before

	before=$(counter s rx_packets)
	on a busybox ping -q -c 3 -W 5 -s 4000 -I $A $B || return
	on t packet send eth1 "dmac=$(mac 3 0)" src=$A receiver=$B to=$B || return
	same "$before" "$(counter s rx_packets)"
}

network_up
agg s node set role switch || exit 1
agg t node set address $T || exit 1
for device in p1 p2 p3; do
	agg s port add $device || exit 1
done
for device in eth0 eth1 eth2; do
	agg t port add $device || exit 1
done
agg s link add p1 neighbour 10.2.0.2 lladdr "$(mac 2 1)" || exit 1
agg s link add p2 neighbour 10.2.0.3 lladdr "$(mac 3 0)" || exit 1
agg s link add p3 neighbour 10.2.0.4 lladdr "$(mac 4 1)" || exit 1
agg t link add eth1 || exit 1
agg t link add eth1 neighbour 10.2.0.4 || exit 1
for number in 7 8 9 10 12; do
	entry $number || exit 1
done
agg t tree add --job 13 --receiver $B --device eth1 instance 1 scheme bloom \
	link_neighbour 10.2.0.4 || exit 1
exit_by 7 p2 10.2.0.3 || exit 1
exit_by 9 p2 10.2.0.3 || exit 1
exit_by 9 p3 10.2.0.4 || exit 1
exit_by 10 p1 10.2.0.2 || exit 1

planned=$(line "$(mac 5 2)" "$(mac 3 0)" $A $B 62 8 7)

check "a server sends to the group" arrives s p1 \
	"$(line "$(mac 2 1)" $GROUP $A $B 63 9 7)" job=7
check "the switch sends it to the one neighbour with the ID" \
	counts s forwarded_bloom 1 arrives b eth0 "$planned" job=7
check "a link with a neighbour: unicast, as behind any switch" arrives d eth1 \
	"$(line "$(mac 2 1)" "$(mac 4 1)" $A $B 63 9 13)" job=13
check "two links have it: two copies" both
check "no link has it: dropped, not flooded" \
	switch_drops drop_bloom_miss b eth0 job=8
check "no link has it: not sent to another port" switch_drops drop_bloom_miss d eth1 job=8
check "the switch does not send it back to its port" \
	switch_drops drop_bloom_miss b eth0 job=10
check "hop field used up at the switch" \
	switch_drops drop_hop b eth0 job=7 hop=1
check "TTL used up at the switch" switch_drops drop_ttl b eth0 job=7 ttl=2
check "the switch drops malformed frames to the group" \
	counts s drop_version 1 group_frame job=7 version=9
check "the switch drops frames with a forged header" \
	counts s drop_identity 1 group_frame job=7 id=$D
check "the switch does not forward packets that go down a tree" \
	counts s drop_role 1 group_frame job=7 dst=$D
check "the switch's link has no carrier" broken_exit
check "t's link has no carrier: plain IP takes it around" broken_link
check "four copies at most" too_many
check "a full table makes copies until its entries are deleted" lies
check "other traffic and unicast frames pass" bystander
done_testing
