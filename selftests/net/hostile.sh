#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Of 10^5 packets of a running transfer that a neighbour changes, repeats and
# forges, of packets of a local user without privilege, and of OPENs of 2^20
# children that do not exist, each is refused for a reason that is counted;
# memory does not grow, and the result is exact. The line is drawn in line.inc;
# the neighbour is e.
#   PACKETS=N   in all: mutated by the neighbour with a key (70 %) and without
#               (15 %), and by users (5 % each) (100000)
#   OPENS=N     in each flood, from as many children, up to 2^20 (2^20)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"
. "$(dirname "$0")/line.inc"

PACKETS=${PACKETS:-$(scaled 100000)}
OPENS=${OPENS:-$(scaled 1048576)}
PACKETS_USER=$((PACKETS / 20))
KEY=000102030405060708090a0b0c0d0e0f
TIMEOUT=$((TIMEOUT > 300 ? TIMEOUT : 300))

# snmp NODE NAME...: print the sum of these IP counters of the namespace
snmp()
{
	local node=$1

	shift
	on "$node" cat /proc/net/snmp /proc/net/netstat | awk -v names="$*" '
		BEGIN { split(names, list); for (i in list) want[list[i]] }
		!($1 in head) { head[$1] = $0; next }
		{ split(head[$1], name)
		  for (i = 2; i <= NF; i++) if (name[i] in want) sum += $i }
		END { print sum + 0 }'
}

# refusals: print how many packets all members refused, for any reason
refusals()
{
	local node

	for node in "${MEMBERS[@]}"; do
		aggctl -j -n "$node-$tag" stats show
	done | jq -s '[.[] | to_entries[] |
		select(.key | startswith("drop_") or . == "misforwarded") |
		.value] | add'
}

bad_ip()
{
	local node sum=0

	for node in "${MEMBERS[@]}"; do
		sum=$((sum + $(snmp "$node" InHdrErrors InTruncatedPkts)))
	done
	echo $sum
}

# Packets that did not reach a member because its queue was full.
overflows()
{
	local dropped sum=0

	while read -r _ dropped _; do
		sum=$((sum + 16#$dropped))
	done < /proc/net/softnet_stat
	echo $sum
}

memory_used()
{
	local node

	for node in "${MEMBERS[@]}"; do
		aggctl -j -n "$node-$tag" node show
	done | jq -s -c 'map(.memory_used)'
}

within()
{
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ] && return
	echo "$2 is not in $1..$3"
	return 1
}

# attacked COUNT keyed|unkeyed OPTION...: a transfer during which the neighbour
# injects COUNT packets is exact, and each of them is refused and counted
attacked()
{
	local refused harmless bad before ip lost used count=$1 how=$2

	shift 2
	entries memory 131072 "$@" && begin "$TMP/in.a" || return
	before=$(refusals) ip=$(bad_ip) lost=$(overflows) used=$(memory_used)
	on e hostile inject "$SEED" "$count" "$how" "$TMP/corpus" \
		"$TMP/sent" eth0 "$(mac 1 0)" eth1 "$(mac 3 0)" \
		< "$TMP/in.s" >&5 || return
	read -r _ refused harmless bad < "$TMP/sent"
	say "$(< "$TMP/sent"): sent, to be refused, harmless, not IP" >&3
	same "$used" "$(memory_used)" &&
		end "$TMP/in.s" "$TMP/in.a" || return
	lost=$(($(overflows) - lost))
	within $((refused - lost)) $(($(refusals) - before)) \
		$((refused + harmless)) &&
		within $((bad - lost)) $(($(bad_ip) - ip)) "$bad"
}

# aborted NODE: has its transfer failed with a timeout?
aborted()
{
	aggctl -j -n "$1-$tag" tree show --job $job |
		jq -e '.[0] | .state == "aborted" and .reason == "timeout"'
}

# The path between s and a is cut, and the neighbour replays the few hundred
# packets that it has seen. Both nodes must give up although they receive valid
# packets.
played_back()
{
	local pid node status=0 repair=0
	local -A before

	entries memory 131072 give_up 1000 key $KEY && begin "$TMP/in.a" &&
		on e hostile inject "$SEED" 320 keyed "$TMP/corpus" \
			"$TMP/sent" eth0 "$(mac 1 0)" eth1 "$(mac 3 0)" \
			< "$TMP/in.s" >&5 || return
	on e sysctl -qw net.ipv4.ip_forward=0
	for node in s a; do
		before[$node]=$(counter $node rx_packets)
	done
	ip netns exec "e-$tag" hostile replay "$SEED" "$TMP/corpus" \
		eth0 "$(mac 1 0)" eth1 "$(mac 3 0)" &
	pid=$!
	wait_for aborted s && wait_for aborted a || status=1
	kill $pid || status=1
	for node in s a; do
		within "$(scaled 50)" \
			$(($(counter $node rx_packets) - before[$node])) \
			100000 || status=1
	done
	on e sysctl -qw net.ipv4.ip_forward=1
	exec 5>&-
	for pid in "$s_pid" "$a_pid" "$recv_pid"; do
		wait "$pid" && status=1
	done
	return $status
}

# flooded none|random COUNTER OPTION...: OPENs from up to 2^20 children arrive
# while a transfer runs. a refuses each, or answers it and keeps no state.
flooded()
{
	local before lost used how=$1 name=$2 memory=$3 expected

	shift 3
	entries memory "$memory" "$@" && begin "$TMP/in.a" || return
	wait_for bound_at_a || return
	before=$(counter a "$name") lost=$(overflows) used=$(memory_used)
	on e hostile open "$OPENS" eth1 "$(mac 3 0)" $R $job $instance "$how" \
		> "$TMP/sent" || return
	lost=$(($(overflows) - lost)) expected=$((before + OPENS))
	wait_for at_least a "$name" $((expected - lost)) &&
		same "$used" "$(memory_used)" &&
		same 1 "$(aggctl -j -n "a-$tag" tree show --job $job |
			  jq '.[0].channels')" || return
	cat "$TMP/in.s" >&5
	end "$TMP/in.s" "$TMP/in.a"
}

# refused_answer ADDRESS COUNT: until a is rooted it leaves such an OPEN to r
refused_answer()
{
	on e hostile open 1 eth1 "$(mac 3 0)" $R $job "$instance" none "$1" \
		> "$TMP/sent" && at_least a drop_route "$2"
}

# unanswered ADDRESS...: a does not answer an OPEN with this source, which is
# not the address of one other host
unanswered()
{
	local address before

	entries memory 4194304 && begin "$TMP/in.a" &&
		wait_for bound_at_a || return
	for address; do
		before=$(counter a drop_route)
		wait_for refused_answer "$address" $((before + 1)) || return
	done
	cat "$TMP/in.s" >&5
	end "$TMP/in.s" "$TMP/in.a"
}

bound_at_a()
{
	aggctl -j -n "a-$tag" tree show --job $job | jq -e '.[0].channels == 1'
}

at_least()
{
	[ "$(counter "$1" "$2")" -ge "$3" ]
}

# user NODE: of the datagrams that a process there sends to the port, aggnet
# refuses those that are packets of the node, and no others
user()
{
	local before id=${1^^} forged

	before=$(counter "$1" drop_local_out)
	on "$1" hostile local "$SEED" $PACKETS_USER "$TMP/corpus" "${!id}" \
		$S $A $R 127.0.0.1 > "$TMP/forged" || return
	forged=$(< "$TMP/forged")
	[ "$forged" -gt $((PACKETS_USER / 20)) ] &&
		same $((before + forged)) "$(counter "$1" drop_local_out)"
}

line_up
exec 3>&1
sysctl -qw net.core.netdev_max_backlog=100000
members_up || exit 1
# e drops answers to hosts that do not exist.
ip -n "a-$tag" route add 11.0.0.0/8 via 10.2.0.2
ip -n "e-$tag" route add blackhole 11.0.0.0/8
gen "$SEED" 2000 2000 mix small > "$TMP/in.a"
gen $((SEED + 1)) 12000 12000 mix small > "$TMP/in.s"
check "with a key: all refused, memory as before, result exact" \
	attacked $((PACKETS * 7 / 10)) keyed key $KEY
check "the entries are withdrawn" entries_gone
check "without a key: the same, as long as no CRC is right" \
	attacked $((PACKETS * 3 / 20)) unkeyed
check "the entries are withdrawn" entries_gone
for node in "${MEMBERS[@]}"; do
	check "a local user at $node" user "$node"
done
check "replayed packets do not count as signs of life" played_back
check "the entries are withdrawn" entries_gone
check "with a key: OPENs of children that do not exist are refused" \
	flooded random drop_tag 131072 key $KEY
check "the entries are withdrawn" entries_gone
# a has memory for a credit, so it answers; it keeps no state.
check "without a key: OPENs of children that do not exist leave no state" \
	flooded none tx_packets 4194304
check "the entries are withdrawn" entries_gone
check "without a key: no answer to a broadcast, multicast or own address" \
	unanswered 10.2.0.255 255.255.255.255 224.0.0.1 10.3.0.3
check "the entries are withdrawn" entries_gone
done_testing
