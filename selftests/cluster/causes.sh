#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four servers, each a machine: what keeps a transfer from being merged on one of them is
# named by "why" there, with the name of the server and the next command; once it is
# mended, a transfer is merged as planned. What only "host check" finds keeps no transfer
# from that.
set -o pipefail
. "$(dirname "$0")/page.sh"

JOB=100

# planned: a new plan is in force; its timers are short
planned()
{
	JOB=$((JOB + 1))
	on node1 "aggctl -j plan --topology @net --job $JOB --function sum \
		--senders node2,node3,node4 --receivers node1 --uid 0 --give-up 6 \
		> plan.json" && spread_plan &&
		everywhere "aggctl apply plan.json" "${SERVERS[@]}" > "$CLUSTER/applied"
}

# run_job: all members begin at once; how they end is in their files
run_job()
{
	local name

	start node1 "aggctl recv --job $JOB --receiver 10.0.0.1 --timeout 20 > result"
	for name in node2 node3 node4; do
		start "$name" "aggctl send --job $JOB --receiver 10.0.0.1 \
			--timeout 20 counts.tsv"
	done
	for name in "${SERVERS[@]}"; do
		finish "$name" || echo "$name: status $?"
	done > "$CLUSTER/job" 2>&1
}

# entry NAME FILTER: does "why" there name the server, and does the filter hold for its
# entry?
entry()
{
	on "$1" "aggctl -j why $JOB > why.json || :; aggctl why $JOB || :" \
		> "$CLUSTER/found"
	jq -e ".[0] | .node == \"$1\" and ($2)" "$CLUSTER/$1/home/why.json" \
		> "$CLUSTER/jq"
}

# says NAME TEXT: does "why" there say so of the node?
says()
{
	on "$1" "aggctl why $JOB || :" > "$CLUSTER/found"
	grep -q "^WRONG: $2" "$CLUSTER/found"
}

# merges: a transfer is exact and merged, and the entry has no finding
merges()
{
	planned && run_job &&
		LC_ALL=C sort "$CLUSTER/node1/home/result" | cmp - "$CLUSTER/expected" &&
		entry node2 ".bound == 1 and .findings == []" &&
		entry node4 ".findings == []"
}

# next_of NAME: the command that "why" has printed after its first fault there
next_of()
{
	local next

	next=$(sed -n '/WRONG/ { s/.* Next: //p; q }' "$CLUSTER/found")
	on "$1" "set -x; ${next/PLAN.json/plan.json}" 2>&1
}

# case_of NAME WHAT COMMAND entry|says WANTED [MEND]: after COMMAND a transfer is tried,
# and "why" has what is wanted. What it prints next mends it, or MEND if it is on another
# machine.
case_of()
{
	local status=0

	planned && change "$1" "$3" && run_job && "$4" "$1" "$5" || status=$?
	sed 's/^/# /' "$CLUSTER/found" "$CLUSTER/job"
	change "$1" "${6:-next_of $1}" || status=$?
	sed 's/^/# /' "$CLUSTER/changed"
	everywhere "aggctl withdraw plan.json || :" "${SERVERS[@]}" > "$CLUSTER/gone"
	[ $status = 0 ] && merges || status=1
	everywhere "aggctl withdraw plan.json || :" "${SERVERS[@]}" > "$CLUSTER/gone"
	# A device that was down has lost its routes, which only the fallback needs.
	on "$1" "$init" > "$CLUSTER/changed" || status=$?
	ok $status "why: $2"
}

# harmless NAME WHAT COMMAND MEND: after COMMAND a transfer is merged as planned, and "why"
# has no finding: "host check" has, because packets that miss their link would be lost
harmless()
{
	local status=0

	change "$1" "$3" && merges && ! on "$1" "aggctl host check" > "$CLUSTER/found" ||
		status=$?
	[ $status = 0 ] || sed 's/^/# /' "$CLUSTER/found" "$CLUSTER/job"
	everywhere "aggctl withdraw plan.json || :" "${SERVERS[@]}" > "$CLUSTER/gone"
	change "$1" "$4" || status=$?
	ok $status "why: nothing to name: $2"
}

# finding OBJECT CAUSE FIX: a filter for a finding with these words
finding()
{
	echo "any(.findings[]; (.object | test(\"$1\")) and (.cause | test(\"$2\")) and
		(.fix | test(\"$3\")))"
}

needs_root
echo 1..12
up && everywhere "$(block "On each server")" "${SERVERS[@]}" > "$CLUSTER/prepared"
ok $? "four servers are prepared"
everywhere "$(block "On each server, to keep the settings" | grep -v systemctl)" \
	"${SERVERS[@]}"
inputs
case_of node4 "a device that is down" "ip link set eth1 down" \
	entry "$(finding "port eth1" "it is down" "ip link set eth1 up")"
case_of node4 "a neighbour without an answer" "nic node2 1 down" \
	entry "$(finding packets "the planned link had no" "aggctl host check")" \
	"nic node2 1 up"
case_of node4 "a device that is not attached" "aggctl port del eth1" \
	entry "$(finding "port eth1" "not attached" "aggctl host init")"
case_of node2 "no entry on one server" "aggctl withdraw plan.json" \
	says "node: it has no entry of this transfer.*Next: aggctl apply"
case_of node2 "a server without identity and ports" "rmmod aggnet; modprobe aggnet" \
	says "node: it has no identity. Next: aggctl host init"
harmless node4 "no identity on lo" "ip address del 10.0.0.4/32 dev lo" "$init"
harmless node4 "a switch with a smaller MTU" "nic node2 1 mtu 1400" \
	"nic node2 1 mtu 1500"
harmless node2 "no forwarding" "sysctl -w net.ipv4.ip_forward=0" "$init"
harmless node2 "a strict reverse path filter" \
	"sysctl -w net.ipv4.conf.eth1.rp_filter=1" "$init"
harmless node2 "a firewall that does not forward" "nft add table ip wall
	nft 'add chain ip wall f { type filter hook forward priority 0; policy drop; }'" \
	"nft delete table ip wall"
harmless node4 "no route to the receiver" "ip route del 10.0.0.1" "$init"
exit $((FAILED > 0))
