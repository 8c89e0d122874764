#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hosts of two racks, with known delays and rates between them, measure each other:
# the description has these racks, their links are slower than those of hosts, and a
# plan merges once a rack.
. "$(dirname "$0")/lib.sh"

HOSTS="h1=10.9.0.1 h2=10.9.0.2 h3=10.9.0.3 h4=10.9.0.4"
NAMES="h1 h2 h3 h4 rack1 rack2 core"

# wire A B OPTION...: a link between two namespaces, whose ends delay or limit packets
wire()
{
	ip link add "$2" netns "$1" type veth peer name "$1" netns "$2" &&
		ip -n "$1" link set "$2" up && ip -n "$2" link set "$1" up &&
		tc -n "$1" qdisc add dev "$2" root netem "${@:3}" limit 1000 &&
		tc -n "$2" qdisc add dev "$1" root netem "${@:3}" limit 1000
}

bridge()
{
	local port

	ip -n "$1" link add name br0 type bridge &&
		ip -n "$1" link set br0 up || return
	for port in "${@:2}"; do
		ip -n "$1" link set "$port" master br0 || return
	done
}

network()
{
	local n

	for n in $NAMES; do
		ip netns add "$n" || return
	done
	for n in 1 2 3 4; do
		wire h$n rack$(((n + 1) / 2)) rate 20mbit || return
		ip -n h$n addr add 10.9.0.$n/24 dev rack$(((n + 1) / 2)) || return
	done
	wire rack1 core delay 20ms rate 4mbit &&
		wire rack2 core delay 20ms rate 4mbit &&
		bridge rack1 h1 h2 core && bridge rack2 h3 h4 core &&
		bridge core rack1 rack2
}

measure()
{
	local n

	for n in 1 2 3 4; do
		# shellcheck disable=SC2086
		aggctl -n h$n probe measure $HOSTS > "$TMP/h$n.probe" || return
	done
	cat "$TMP"/h?.probe
	[ "$(cat "$TMP"/h?.probe | wc -l)" = 12 ] &&
		aggctl probe group "$TMP"/h?.probe > "$TMP/racks"
}

described()
{
	cat "$TMP/racks"
	[ "$(awk '$1 == "link" { print $2, $3 }' "$TMP/racks" | tr '\n' ,)" = \
		"h1 rack-1,h2 rack-1,h3 rack-2,h4 rack-2,core rack-1,core rack-2," ] &&
		awk '$1 == "link" && $2 == "core" { if ($4 > most) most = $4 }
			$1 == "link" && $2 != "core" { if (!least || $4 < least) least = $4 }
			END { exit !(most && most < least) }' "$TMP/racks"
}

# The flows of h3 and h4 leave their rack as one.
merged()
{
	aggctl -j plan --topology "@$TMP/racks" --method getparent \
		--senders h2,h3,h4 --receivers h1 > "$TMP/plan" &&
		jq -e '.metrics.aggregating_servers == 1 and .metrics.cost <
			.metrics.existing' "$TMP/plan"
}

silent()
{
	# shellcheck disable=SC2086
	! aggctl -n h1 probe measure $HOSTS h5=10.9.0.5 > "$TMP/out" 2> "$TMP/why" &&
		grep -q 10.9.0.5 "$TMP/why"
}

check "a network of two racks" network
check "each host measures the others" measure
check "the description has the racks" described
check "a plan merges once a rack" merged
check "a host that does not answer is named" silent
for name in $NAMES; do
	ip netns del "$name"
done
done_testing
