#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Three racks of servers with one NIC each, and the page's commands for a job with a
# supervisor on each: the cable of a source is pulled in a transfer; the source that merges
# the flows of its rack loses its power in a transfer. The result is that of the other
# sources, with the missing one named. The server boots, and merges again.
set -o pipefail
. "$(dirname "$0")/page.sh"
. "$(dirname "$0")/spine.sh"
. "$(dirname "$0")/supervised.sh"

MERGES=("a1 2" "b1 1" "c1 1")
PLAN_OF="On a1, for a job that goes on without a lost server"
RECV_OF="On a1, which waits for other paths"
SEND_OF="On each of these sources, b1, b2, c1 and c2"

# A server without a cable is told nothing: its own members end by themselves.
cable_pulled()
{
	in_force && begin || return
	cable c2 0 off
	wait_for "the loss of carrier" flagged c2 eth0 NO-CARRIER || return
	end b1 b2 c1 && exact b1 b2 c1 && absent c2
}

send_fails()
{
	local home=$CLUSTER/c2/home status=0

	: > "$home/go"
	wait_for "the end of c2" there "$home/send.status" || status=1
	[ "$(< "$home/send.status")" != 0 ] && [ -s "$home/send.log" ] || status=1
	sed 's/^/# c2: /' "$home"/*.log "$home/send.status"
	return $status
}

# With its cable it is a server as before.
cable_back()
{
	cable c2 0 on
	wait_for "the carrier" flagged c2 eth0 LOWER_UP || return
	withdraw "${SERVERS[@]}" &&
		wait_for "the end of the supervisor of c2" there \
			"$CLUSTER/c2/home/supervise.status" &&
		in_force &&
		everywhere "aggctl host check plan.json" "${SERVERS[@]}" > "$CLUSTER/found"
}

merger_killed()
{
	begin || return
	power_off b1
	end b2 c1 c2 && exact b2 c1 c2 && absent b1
}

again()
{
	on a1 "$(block "On a1" 1)" && spread_plan &&
		everywhere "$(block "On each server of the racks" 2)" "${SERVERS[@]}" \
			> "$CLUSTER/found" &&
		racks_transfer && exact "${SOURCES[@]}" && on a1 "$(block "On a1" 2)"
}

needs_root
rows 10
status=0
racks_up && everywhere "$(block "On each server of the racks" 1)" "${SERVERS[@]}" \
	> "$CLUSTER/ready" || status=$?
inputs
unit_commands >> "$CLUSTER/b1/boot" && settings b1 > "$CLUSTER/before" || status=$?
ok $status "five servers in three racks are prepared, one keeps its settings"
installed
capture
cable_pulled
ok $? "the only cable of a source is pulled in a transfer: the result of the others, and its name"
send_fails
ok $? "the source without a cable ends with an error"
why_names c2 "port eth0: it is down or has no cable. Next: ip link set eth0 up"
ok $? "why names the device without a cable, and the next command"
cable_back
ok $? "with its cable host check finds nothing"
merger_killed
ok $? "the source that merges the flows of its rack is killed: the others' are exact, and its name"
withdraw a1 b2 c1 c2
booted b1
ok $? "the server boots with node, port, address and routes as before"
again
ok $? "it merges the flows of its rack again"
captured > "$CLUSTER/types"
ok $? "Wireshark's dissector decodes each packet"
unused "When a server of a rack fails"
ok $? "nothing of the section is not executed"
exit $((FAILED > 0))
