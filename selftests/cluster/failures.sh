#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four servers, each a machine, and the commands of the page "Your cluster" for a job with a
# supervisor on each: a cable is pulled in a transfer, and the result is exact; a source
# loses its power in a transfer, and the result is that of the other sources, with the
# missing one named; the server boots, and takes part again without a command typed there.
# The flows that were merged on a server that is killed come by another way.
set -o pipefail
. "$(dirname "$0")/page.sh"
. "$(dirname "$0")/supervised.sh"

MERGES=("node1 2" "node2 1")
PLAN_OF="On node1, for such a job"
RECV_OF="Receive on node1"
SEND_OF="Send on each other server, with the same \`\`--repair\`\`"

# The routes follow, as those of a routing protocol do.
cable_pulled()
{
	on node4 "$(block "On node4, before its cable at b1 is pulled")" > "$CLUSTER/said" &&
		in_force && begin || return
	cable node4 1 off
	wait_for "the loss of carrier" flagged node4 eth1 NO-CARRIER || return
	on node2 "$(block "On node2, after the cable of node4 is pulled")"
	end "${SOURCES[@]}" && exact "${SOURCES[@]}"
}

cable_back()
{
	cable node4 1 on
	wait_for "the carrier" flagged node4 eth1 LOWER_UP || return
	on node2 "$(block "is back")"
}

host_killed()
{
	in_force && begin || return
	power_off node4
	end node2 node3 && exact node2 node3 && absent node4
}

# The four servers are those of BCube(2,1), whose links have names.
labelled()
{
	sed -f "$TOP/selftests/lib/labelled.sed" "$CLUSTER/net" > "$CLUSTER/node4/home/bcube"
	on node4 "aggctl host init --topology @bcube --run
		aggctl -j link show | jq -e 'length == 2 and all(.[]; .name > 0)'
		aggctl host check" > "$CLUSTER/named" && settings node4 > "$CLUSTER/before" &&
		booted node4 && on node4 "$init" > "$CLUSTER/again"
}

again()
{
	on node1 "$(block "On node1" 2)" && spread_plan &&
		everywhere "aggctl apply plan.json" "${SERVERS[@]}" &&
		transfer && exact "${SOURCES[@]}" && on node2 "$(block "On node2 after the transfer")"
}

# The flow of node4 was merged there: it takes another way.
merger_killed()
{
	in_force && begin || return
	power_off node2
	end node3 node4 && exact node3 node4 && absent node2
}

needs_root
rows 10
status=0
up && everywhere "$(block "On each server")" "${SERVERS[@]}" > "$CLUSTER/ready" ||
	status=$?
inputs
unit_commands >> "$CLUSTER/node4/boot" &&
	settings node4 > "$CLUSTER/before" || status=$?
ok $status "four servers are prepared, one keeps its settings"
installed
capture
cable_pulled
ok $? "a cable is pulled in a transfer: the result is exact"
why_names node4 "port eth1: it is down or has no cable. Next: ip link set eth1 up"
ok $? "why names the device without a cable, and the next command"
withdraw "${SERVERS[@]}"
cable_back
host_killed
ok $? "a source is killed in a transfer: the result of the others, and its name"
withdraw node1 node2 node3
booted node4
ok $? "the server boots with node, ports, address and routes as before"
labelled
ok $? "it boots with the names of its links, if its topology gives them names"
again
ok $? "its flow is merged again"
withdraw "${SERVERS[@]}"
merger_killed
ok $? "a source that merges others' flows is killed: these are exact"
captured > "$CLUSTER/types"
ok $? "Wireshark's dissector decodes each packet"
sort "$CLUSTER/types" | uniq -c | sed 's/^/# packets of type: /'
unused "When a cable or a server fails" "Three racks, one NIC each"
ok $? "nothing of the section is not executed"
exit $((FAILED > 0))
