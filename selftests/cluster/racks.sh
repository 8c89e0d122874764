#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Three racks of servers with one NIC each, behind Linux routers without aggnet: the
# commands of the page's section on racks merge the flows of each rack into one; and "host
# check" finds what is wrong behind the first router, or in the description.
set -o pipefail
. "$(dirname "$0")/page.sh"
. "$(dirname "$0")/spine.sh"

# spine_mtu MTU: of the spine's link to the second rack
spine_mtu()
{
	ip -n "$NETNS-spine" link set tor-b mtu "$1" &&
		ip -n "$NETNS-tor-b" link set spine mtu "$1"
}

# found NAME PATTERN: "host check" of the plan fails there with a line as this pattern says
found()
{
	local status=0

	on "$1" "aggctl host check plan.json" > "$CLUSTER/found" && status=1
	grep -q "^no  *$2" "$CLUSTER/found" || status=1
	[ $status = 0 ] || sed 's/^/# /' "$CLUSTER/found"
	return $status
}

# The first router takes packets of full length, the spine does not.
small_spine()
{
	local status=0

	spine_mtu 1400 &&
		found a1 "member  *10.2.0.1 (b1): packets of 1500 bytes .* the next link of 10.9.1.2 has an MTU of 1400" &&
		found b1 "member  *10.1.0.1 (a1): packets of 1500 bytes .* the next link of 10.2.0.254 (tor-b) has an MTU of 1400" || status=1
	# What was asked has left no path MTU behind.
	spine_mtu 1500 && everywhere "aggctl host check plan.json" "${SERVERS[@]}" || status=1
	return $status
}

# The plan leads to servers behind a gateway, which forwards echo requests to them.
undescribed()
{
	local status=0

	on a1 "grep -v 'address tor' racks > flat
		aggctl -j plan --topology @flat --job 8 --function sum \
			--senders b1,b2,c1,c2 --receivers a1 --uid 0 > flat.json" \
			> "$CLUSTER/refused" 2>&1 || return
	grep "plan: note: .*if tor-[abc] routes, add 'address tor-[abc] A.B.C.D'" \
		"$CLUSTER/refused" || status=1
	cp "$CLUSTER/a1/home/flat.json" "$CLUSTER/b1/home" || return
	on b1 "aggctl apply flat.json" > "$CLUSTER/refused" 2>&1 &&
		status=1
	grep "b1: the planned link eth0 to 10.1.0.1 .*behind gateway 10.2.0.254.*'address tor-b 10.2.0.254'" \
		"$CLUSTER/refused" || status=1
	on b1 "aggctl apply --force flat.json" || status=1
	found b1 "neighbour  *10.1.0.1 (a1): it is behind gateway 10.2.0.254" || status=1
	on b1 "aggctl withdraw flat.json" || status=1
	[ $status = 0 ] || sed 's/^/# /' "$CLUSTER/refused"
	return $status
}

needs_root
rows 11
racks_up
ok $? "five machines in three racks are up"
capture
everywhere "$(block "On each server of the racks" 1)" "${SERVERS[@]}" &&
	on a1 "$(block "On a1" 1)"
ok $? "the servers are prepared, and a plan is made"
installed
spread_plan
everywhere "$(block "On each server of the racks" 2)" "${SERVERS[@]}"
ok $? "the plan is in force, and host check finds nothing"
small_spine
ok $? "host check: a spine with a smaller MTU"
undescribed
ok $? "apply, host check: a description without the addresses of switches"
inputs
racks_transfer
ok $? "all commands of the transfer succeed"
exact "${SOURCES[@]}"
ok $? "the result is exact"
on a1 "$(block "On a1" 2)"
ok $? "one flow of each rack has arrived"
everywhere "$(block "On each server of the racks" 3)" "${SERVERS[@]}"
ok $? "why finds nothing that is not as planned"
captured > "$CLUSTER/types"
ok $? "Wireshark's dissector decodes each packet"
unused "Three racks, one NIC each" "When a server of a rack fails"
ok $? "nothing in the page's section is not executed"
exit $((FAILED > 0))
