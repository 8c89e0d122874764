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

LIMIT=180	# seconds until a condition that does not come is a failure

# wait_for WHAT COMMAND...: until it succeeds
wait_for()
{
	local until=$((SECONDS + LIMIT)) what=$1

	shift
	until "$@"; do
		[ $SECONDS -lt $until ] || {
			echo "# $what: not after $LIMIT s"
			return 1
		}
		nap 0.2
	done
}

there()
{
	[ -s "$1" ]
}

# in_force: a plan, applied on each server, with a supervisor on each. They keep its file
# in a directory of the server: what is written into the shared one may be seen only when
# the file is closed.
in_force()
{
	on node1 "$(block "On node1, for such a job")" && spread_plan &&
		everywhere "home=\$PWD
		rm -f go *.status *.log
		cp plan.json /root
		cd /root
		rm -f supervise.log
		cat > watch << 'END'
$(block "server, until the result is there")
END
		{ bash -e watch > supervise.log 2>&1 || status=\$?
		cp supervise.log \$home
		echo \${status:-0} > \$home/supervise.status; } > /dev/null 2>&1 &
		until grep -q listening supervise.log || [ -e \$home/supervise.status ]; do
			sleep 0.1
		done
		grep -q listening supervise.log" "${SERVERS[@]}"
}

# begin: the sources hold back the second half of their records, as a program does that
# computes them: their file is a FIFO
begin()
{
	local name

	on node1 "{ { $(block "waits for these, too")
		} 2> recv.log || status=\$?
		echo \${status:-0} > recv.status; } > /dev/null 2>&1 &"
	for name in node2 node3 node4; do
		on "$name" "home=\$PWD
		cd /root
		rm -f counts.tsv
		mkfifo counts.tsv
		{ head -n 2500 \$home/counts.tsv
		until [ -e \$home/go ]; do sleep 0.1; done
		tail -n +2501 \$home/counts.tsv; } > counts.tsv 2> /dev/null &
		{ { $(block "On each other server, with the same patience")
		} 2> \$home/send.log || status=\$?
		echo \${status:-0} > \$home/send.status; } > /dev/null 2>&1 &"
	done
	wait_for "the planned flows" merged
}

# merged: are the planned flows bound, at the receiver and at node2?
merged()
{
	on node1 "aggctl -j why 8 | jq -e '.[0].bound == 2'" > "$CLUSTER/bound" &&
		on node2 "aggctl -j why 8 | jq -e '.[0].bound == 1'" \
			> "$CLUSTER/bound"
}

# end SOURCE...: the rest of the records; all these members succeed
end()
{
	local name status=0

	for name in "$@"; do
		: > "$CLUSTER/$name/home/go"
	done
	wait_for "the result" there "$CLUSTER/node1/home/recv.status" || status=1
	for name in "$@"; do
		wait_for "the end of $name" there \
			"$CLUSTER/$name/home/send.status" || status=1
	done
	for name in node1 "$@"; do
		wait_for "the end of the supervisor of $name" there \
			"$CLUSTER/$name/home/supervise.status" || status=1
	done
	for name in node1 "$@"; do
		! grep -Hv '^0$' "$CLUSTER/$name"/home/*.status || status=1
		sed "s/^/# $name: /" "$CLUSTER/$name"/home/*.log
	done
	return $status
}

# exact SUM: does each key have this sum?
exact()
{
	seq 5000 | sed "s/\$/\t$1/" | LC_ALL=C sort > "$CLUSTER/expected"
	LC_ALL=C sort "$CLUSTER/node1/home/result" | cmp - "$CLUSTER/expected"
}

withdraw()
{
	everywhere "cd /root
	$(block "When the job is done, on each server")" "$@"
}

# The routes follow, as those of a routing protocol do.
cable_pulled()
{
	on node4 "$(block "On node4, before its cable at b1 is pulled")" > "$CLUSTER/said" &&
		in_force && begin || return
	cable node4 1 off
	on node4 "until ip link show eth1 | grep -q NO-CARRIER; do sleep 0.1; done"
	on node2 "$(block "On node2, when that of node4 is pulled")"
	end node2 node3 node4 && exact 9
}

cable_back()
{
	cable node4 1 on
	on node4 "until ip link show eth1 | grep -q LOWER_UP; do sleep 0.1; done"
	on node2 "$(block "is back")"
}

# why_names NAME CAUSE: "why" fails there, and names the server and the cause
why_names()
{
	on "$1" "aggctl why 8" > "$CLUSTER/found"
	[ $? = 3 ] && grep -q " at $1 (" "$CLUSTER/found" &&
		grep -q "WRONG: $2" "$CLUSTER/found" && return
	sed 's/^/# /' "$CLUSTER/found"
	return 1
}

host_killed()
{
	in_force && begin || return
	power_off node4
	end node2 node3 && exact 5 &&
		grep -q "absent: 10.0.0.4" "$CLUSTER/node1/home/recv.log"
}

# What a server has without a plan; each part is there. Links come with the plans of some
# schemes.
settings()
{
	on node4 "aggctl -j node show | jq -e .
		aggctl -j port show | jq -e 'map({port, level}) | if length == 2 then . else null end'
		aggctl -j link show | jq -e 'length == 0'
		ip -4 route show | grep '10.0.0'
		ip -4 address show lo | grep 10.0.0.4"
}

host_back()
{
	power_on node4
	machines_wait
	settings > "$CLUSTER/after" && diff "$CLUSTER/before" "$CLUSTER/after"
}

again()
{
	on node1 "$(block "On node1" 2)" && spread_plan &&
		everywhere "aggctl apply plan.json" "${SERVERS[@]}" &&
		transfer && exact 9 && on node2 "$(block "On node2 after the transfer")"
}

# The flow of node4 was merged there: it takes another way.
merger_killed()
{
	in_force && begin || return
	power_off node2
	end node3 node4 && exact 7 &&
		grep -q "absent: 10.0.0.2" "$CLUSTER/node1/home/recv.log"
}

needs_root
rows 9
status=0
up && everywhere "$(block "On each server")" "${SERVERS[@]}" > "$CLUSTER/ready" ||
	status=$?
inputs
unit_commands >> "$CLUSTER/node4/boot" &&
	settings > "$CLUSTER/before" || status=$?
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
host_back
ok $? "the server boots with node, ports, address and routes as before, and without links"
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
