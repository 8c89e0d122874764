#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A transfer from t to b whose planned link breaks while it runs continues by
# plain IP, to the acceptor that it is bound to, and its result is exact. The
# network is drawn in forwarding.inc.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"

# members OPTION...: add entries of t, which alone sends, and of b
members()
{
	job=$((job + 1))
	agg b tree add --job $job --receiver $B instance 1 contributors 1 \
		sources 1 uid 0 &&
		agg t tree add --job $job --receiver $B instance 1 \
			contributors 1 sources 1 writers 1 uid 0 hops 1 "$@"
}

# The sender reads a pipe: the test decides when it has input.
start()
{
	mkfifo "$TMP/pipe.$job" || return
	agg b recv --job $job --receiver $B --timeout "$TIMEOUT" \
		> "$TMP/out" 2> "$TMP/recv.err" &
	recv_pid=$!
	agg t send --job $job --receiver $B --timeout "$TIMEOUT" \
		"$TMP/pipe.$job" 2> "$TMP/send.err" &
	send_pid=$!
	exec 5> "$TMP/pipe.$job"
}

finish_transfer()
{
	local status=0

	cat "$TMP/in" >&5
	exec 5>&-
	wait "$send_pid" || status=$?
	wait "$recv_pid" || status=$?
	[ $status = 0 ] || cat "$TMP"/{send,recv}.err
	reference sum "$TMP/in" > "$TMP/expected"
	sort "$TMP/out" | cmp - "$TMP/expected" && return $status
}

bound()
{
	[ "$(aggctl -j -n "b-$tag" tree show --job $job | jq '.[].channels')" = 1 ]
}

# fell_back CAUSE: packets of t's entry left by plain IP for this cause (none: for none)
# and for no other
fell_back()
{
	aggctl -j -n "t-$tag" tree show --job $job > "$TMP/entry" || return
	jq -e --arg cause "$1" '.[0] | with_entries(select(.key |
		startswith("fallback_"))) | length == 4 and
		all(to_entries[]; (.key == "fallback_" + $cause) == (.value > 0))' \
		"$TMP/entry" || {
		cat "$TMP/entry"
		return 1
	}
}

# t is bound to b and has sent no DATA when the link breaks.
breaks()
{
	local before status=0

	start && wait_for bound || return
	ip -n "s-$tag" link set p1 down
	before=$(counter t drop_link)
	finish_transfer || status=1
	[ "$(counter t drop_link)" -gt "$before" ] && fell_back link || status=1
	ip -n "s-$tag" link set p1 up
	wait_for forwarding s p1 p2 p3 && return $status
}

whole()
{
	start && finish_transfer && fell_back "${1:-none}"
}

# secure NODE IDENTITY SPI PEER PEER-SPI: encrypt all traffic between the two
secure()
{
	local node=$1-$tag key=0x000102030405060708090a0b0c0d0e0f

	one_way()
	{
		ip -n "$node" xfrm state add src "$2" dst "$3" proto esp \
			spi "$4" mode transport auth 'hmac(sha256)' $key \
			enc 'cbc(aes)' $key &&
			ip -n "$node" xfrm policy add src "$2" dst "$3" \
				dir "$1" tmpl proto esp mode transport
	}
	one_way out "$2" "$4" "$3" && one_way in "$4" "$2" "$5"
}

# taken NODE DEVICE: print how many packets the hook of this port has taken
taken()
{
	aggctl -j -n "$1-$tag" port show |
		jq ".[] | select(.ifname == \"$2\").rx"
}

# Plain IP carries the transfer encrypted; no hook takes its packets.
encrypted()
{
	local left in_b in_t status=0

	left=$(counter t passed_policy) in_b=$(taken b eth0) in_t=$(taken t eth1)
	secure t $T 1 $B 2 && secure b $B 2 $T 1 && whole policy || status=1
	[ "$(counter t passed_policy)" -gt "$left" ] || status=1
	same "$in_b $in_t" "$(taken b eth0) $(taken t eth1)" || status=1
	for node in t b; do
		ip -n "$node-$tag" xfrm policy flush
		ip -n "$node-$tag" xfrm state flush
	done
	return $status
}

network_up
# Answers avoid the link that breaks.
ip -n "b-$tag" route replace $T via 10.2.0.4
for node in t b; do
	id=${node^^}
	agg $node node set address "${!id}" || exit 1
done
agg t port add eth1 && agg b port add eth0 || exit 1
agg s node set role switch && agg s port add p1 && agg s port add p2 || exit 1
agg s link add p2 neighbour 10.2.0.3 lladdr "$(mac 3 0)" || exit 1
agg t link add eth1 || exit 1
gen "$SEED" 10000 10000 mix limits > "$TMP/in"

check "exact entries" members scheme exact \
	link_neighbour 10.2.0.3 --device eth1
check "exact: the transfer is whole" whole
check "exact entries again" members scheme exact \
	link_neighbour 10.2.0.3 --device eth1
check "exact: the link breaks" breaks
check "exact entries for IPsec" members scheme exact \
	link_neighbour 10.2.0.3 --device eth1
check_ipsec "exact: a transfer protected by IPsec is whole" encrypted
check "entries by route" members scheme route
check "route: the transfer is whole" whole
check "entries by Bloom table" members scheme bloom --device eth1
check "the switch's entry" agg s tree add --job $job --receiver $B --device p2 \
	instance 1 link_neighbour 10.2.0.3
check "bloom: the link breaks" breaks
check "t without a port" agg t port del eth1
check "b without a port" agg b port del eth0
check "entries on nodes without ports" members scheme route
check "through the UDP socket: the transfer is whole" whole
done_testing
