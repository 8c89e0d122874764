#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four servers, each a machine: what can be wrong on one of them is planted, and a transfer
# is tried. "host check" and "why" name the cause, with the name of the server and the next
# command; once it is mended by these commands, a transfer is merged as planned.
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

# run_job [SECONDS]: all members begin at once; how they end is in their files
run_job()
{
	local name limit="--timeout ${1:-20}"

	start node1 "aggctl recv --job $JOB --receiver 10.0.0.1 $limit > result"
	for name in "${SOURCES[@]}"; do
		start "$name" "aggctl send --job $JOB --receiver 10.0.0.1 \
			$limit counts.tsv"
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

# merges: a transfer is exact and merged, and no server has a finding
merges()
{
	planned && run_job 120 && exact "${SOURCES[@]}" &&
		entry node2 ".bound == 1 and .findings == [] and .host == []" &&
		entry node4 ".findings == [] and .host == []" && return
	sed 's/^/# /' "$CLUSTER"/{applied,job,found}
	return 1
}

withdraw()
{
	everywhere "aggctl withdraw plan.json || :" "${SERVERS[@]}" > "$CLUSTER/gone"
}

# case_of NAME WHAT SERVER COMMAND CHECK WHY: after COMMAND on SERVER a transfer is tried.
# Then "host check" and "why" on NAME find this, and what they print mends it.
case_of()
{
	local status=0

	planned && change "$3" "$4" && run_job && asked "$1" && named "$1" "$5" "$6" || status=$?
	sed 's/^/# /' "$CLUSTER/job"
	mended "$1" > "$CLUSTER/mended" || status=$?
	[ $status = 0 ] || sed 's/^/# /' "$CLUSTER/mended"
	withdraw
	[ $status = 0 ] && merges || status=1
	withdraw
	ok $status "$2"
}

# other_release: a module of another release, which has another wire revision
other_release()
{
	local out=$CLUSTER/other

	mkdir "$out" && cp -r "$TOP"/{Kbuild,kmod,uapi} "$out" &&
		sed -i 's/^MODULE_VERSION.*/MODULE_VERSION("9.0.0");/' "$out/kmod/main.c" &&
		sed -i 's/^#define AGGNET_VERSION.*/#define AGGNET_VERSION 9/' \
			"$out/uapi/linux/aggnet_packet.h" &&
		make -s -C "$(kernel_kdir "${KERNEL_OF[node3]}")" M="$out" modules \
			> "$CLUSTER/built" 2>&1
}

# A host of another release refuses the plan. If it is forced, nothing is merged wrongly:
# its packets are dropped, and the others name the cause.
mixed()
{
	local status=0

	other_release && on node3 "rmmod aggnet; insmod $CLUSTER/other/aggnet.ko; $init" \
		> "$CLUSTER/changed" || return
	planned && status=1
	grep "node3: its module is of release 9.0.0, and the plan is of .*: install one release on all hosts" \
		"$CLUSTER/applied" || status=1
	on node3 "aggctl apply --force plan.json" && run_job || status=1
	[ ! -s "$CLUSTER/node1/home/result" ] || status=1
	on node1 "aggctl why $JOB || :" > "$CLUSTER/found"
	grep "^WRONG: .*(drop_version): another node has another version of aggnet" \
		"$CLUSTER/found" || status=1
	asked node3 && named node3 "module  *release 9.0.0 is loaded.*rmmod aggnet; modprobe aggnet" \
		"note: node3: module: release 9.0.0" || status=1
	[ $status = 0 ] || sed 's/^/# /' "$CLUSTER/applied" "$CLUSTER/job" "$CLUSTER/found"
	mended node3 > "$CLUSTER/mended" || status=1
	withdraw
	everywhere "rmmod aggnet; modprobe aggnet; $init" "${SERVERS[@]}" > "$CLUSTER/reset"
	merges || status=1
	withdraw
	return $status
}

needs_root
rows 16
up && everywhere "$(block "On each server")" "${SERVERS[@]}" > "$CLUSTER/prepared"
ok $? "four servers are prepared"
installed
capture
inputs
case_of node4 "a device that is down" node4 "ip link set eth1 down" "port  *eth1: it is down" \
	"WRONG: port eth1: it is down or has no cable. Next: ip link set eth1 up"
case_of node4 "a neighbour without an answer" node2 "ip link set eth1 down" \
	"neighbour .*(node2): no answer on eth1 .*ssh node2" \
	"note: node4: neighbour: .*\(node2\): no answer on eth1 .*Next: ssh node2"
case_of node4 "a neighbour with a smaller MTU" node2 "ip link set eth1 mtu 1400" \
	"neighbour .*(node2): packets of 1500 bytes do not pass whole.*ssh node2" \
	"note: node4: neighbour: .*\(node2\): packets of 1500 bytes do not pass whole"
case_of node4 "a device that is not attached" node4 "aggctl port del eth1" \
	"port  *eth1: .*it is not attached" "WRONG: port eth1: .*it is not attached. Next: aggctl host init"
case_of node2 "no entry on one server" node2 "aggctl withdraw plan.json" \
	"entry  *tree of job .*: there is none" \
	"WRONG: node2: it has no entry of this transfer.*Next: aggctl apply"
case_of node2 "a server without identity and ports" node2 "rmmod aggnet; modprobe aggnet" \
	"identity  *it has no identity" "WRONG: node2: it has no identity. Next: aggctl host init"
case_of node4 "no identity on lo" node4 "ip address del 10.0.0.4/32 dev lo" \
	"identity .*not an address of this host" "note: node4: identity: "
case_of node2 "no forwarding" node2 "sysctl -w net.ipv4.ip_forward=0" "ip_forward  *off" \
	"note: node2: ip_forward: off"
case_of node2 "a strict reverse path filter" node2 \
	"sysctl -w net.ipv4.conf.eth1.rp_filter=1" "rp_filter  *eth1: strict" \
	"note: node2: rp_filter: eth1: strict"
case_of node2 "a firewall that does not forward" node2 "nft add table ip wall
	nft 'add chain ip wall f { type filter hook forward priority 0; policy drop; }'
	nft add rule ip wall f ip protocol icmp accept" \
	"firewall  *chain f of table ip wall drops UDP .*(policy drop)" \
	"note: node2: firewall: chain f of table ip wall drops UDP"
on node2 "nft delete table ip wall"
case_of node2 "a firewall that rejects at the end of FORWARD" node2 "nft add table inet wall
	nft 'add chain inet wall f { type filter hook forward priority 0; }'
	nft add rule inet wall f ct state established,related accept
	nft add rule inet wall f tcp dport 22 accept
	nft add rule inet wall f meta l4proto icmp accept
	nft add rule inet wall f reject with icmpx type admin-prohibited" \
	"firewall  *chain f of table inet wall drops UDP .*(reject): .*nft insert rule inet wall f" \
	"note: node2: firewall: chain f of table inet wall drops UDP"
on node2 "nft delete table inet wall"
case_of node4 "a firewall with INPUT policy drop" node4 "nft add table inet wall
	nft 'add chain inet wall i { type filter hook input priority 0; policy drop; }'
	nft add rule inet wall i ct state established,related accept
	nft add rule inet wall i meta l4proto icmp accept
	nft add rule inet wall i iifname lo accept" \
	"firewall  *chain i of table inet wall drops UDP .*(policy drop): .*nft insert rule inet wall i" \
	"note: node4: firewall: chain i of table inet wall drops UDP"
on node4 "nft delete table inet wall"
case_of node4 "no route to the receiver" node4 "ip route del 10.0.0.1" \
	"route  *to the receiver 10.0.0.1 (node1): there is none" \
	"note: node4: route: to the receiver"
captured > "$CLUSTER/types"
ok $? "Wireshark's dissector decodes each packet"
sort "$CLUSTER/types" | uniq -c | sed 's/^/# packets of type: /'
mixed
ok $? "servers of two releases"
exit $((FAILED > 0))
