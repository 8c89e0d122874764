#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four servers, each a machine: the commands of the page "Your cluster", executed
# there, merge a transfer on a server that is not the receiver; and "node check" finds
# what is wrong on a server or its link. Two machines have kernel 6.1, two have 6.12.
set -o pipefail
. "$(dirname "$0")/machines.sh"

PAGE=$TOP/Documentation/cluster.rst
SERVERS=(node1 node2 node3 node4)
TESTS=0 FAILED=0

# ok STATUS WHAT: print a result
ok()
{
	TESTS=$((TESTS + 1))
	if [ "$1" = 0 ]; then
		echo "ok $TESTS - $2"
	else
		FAILED=$((FAILED + 1))
		echo "not ok $TESTS - $2"
	fi
}

# block INTRODUCTION [N]: print the N-th literal block after a paragraph whose last
# line is so
block()
{
	awk -v last="$1::" -v n="${2:-1}" '
		$0 == last || substr($0, length($0) - length(last)) == " " last {
			inside = ++seen == n
			next
		}
		inside && /^[^ ]/ { exit }
		inside && (/^    / || text) {
			text = text substr($0, 5) "\n"
		}
		END { sub(/\n+$/, "\n", text); printf "%s", text }' "$PAGE"
}

# everywhere COMMAND [SERVER...]: run it on each of them at the same time
everywhere()
{
	local command=$1 name status=0

	shift
	for name in "$@"; do
		start "$name" "$command"
	done
	for name in "$@"; do
		finish "$name" | sed "s/^/# $name: /" || status=1
	done
	return $status
}

# nics NAME ADDRESS...: what any server has: its NICs have addresses
nics()
{
	local name=$1 nic=0 address command=''

	shift
	for address in "$@"; do
		command+="ip address add $address/24 dev eth$nic; "
		nic=$((nic + 1))
	done
	on "$name" "cp $CLUSTER/net .; $command"
}

up()
{
	local name

	machines_begin
	for name in a0 a1 b0 b1; do
		switch "$name"
	done
	machine node1 6.12 a0 b0
	machine node2 6.1 a0 b1
	# Devices are not in the order of the description here.
	machine node3 6.12 b0 a1
	machine node4 6.1 a1 b1
	machines_wait
	block "The file \`\`net\`\`" > "$CLUSTER/net"
	nics node1 192.168.10.1 192.168.20.1 &&
		nics node2 192.168.10.2 192.168.21.2 &&
		nics node3 192.168.20.3 192.168.11.3 &&
		nics node4 192.168.11.4 192.168.21.4
}

spread_plan()
{
	local name

	for name in node2 node3 node4; do
		cp "$CLUSTER/node1/home/plan.json" "$CLUSTER/$name/home" || return
	done
}

inputs()
{
	local i

	for i in 2 3 4; do
		seq 5000 | sed "s/\$/\t$i/" > "$CLUSTER/node$i/home/counts.tsv"
	done
	seq 5000 | sed 's/$/\t9/' | LC_ALL=C sort > "$CLUSTER/expected"
}

transfer()
{
	start node1 "$(block "On node1, and wait")"
	everywhere "$(block "On each other server")" \
		node2 node3 node4 &&
		finish node1
}

# planted NAME WHAT COMMAND FINDING MEND: after COMMAND, which runs on the machine, or
# here if it is a function, "node check" fails and finds this; MEND mends it
planted()
{
	local status=0

	change "$1" "$3" && ! on "$1" "aggctl node check" > "$CLUSTER/found" &&
		grep -q "^no .*$4" "$CLUSTER/found" || status=$?
	sed 's/^/# /' "$CLUSTER/found"
	change "$1" "$5" && on "$1" "aggctl node check" | sed 's/^/# /' ||
		status=$?
	ok $status "node check: $2"
}

change()
{
	if [ "$(type -t "${2%% *}")" = function ]; then
		$2
	else
		on "$1" "$2" > "$CLUSTER/changed"
	fi
}

# What Prometheus would read of node2 has the records of the transfer: those of
# node4 and its own.
exported()
{
	on node2 "aggctl export --out metrics; aggctl export --out metrics
		ls -A" | grep '^metrics' > "$CLUSTER/found"
	[ "$(< "$CLUSTER/found")" = metrics ] &&
		/usr/bin/python3 - "$CLUSTER/node2/home/metrics" << 'END'
import sys
from prometheus_client.parser import text_string_to_metric_families

found = {}
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    assert family.documentation and family.type in ("counter", "gauge")
    for sample in family.samples:
        key = sample.name, *sorted(sample.labels.items())
        assert key not in found, key
        found[key] = sample.value

def value(name, **labels):
    values = [v for k, v in found.items()
              if k[0] == name and labels.items() <= dict(k[1:]).items()]
    assert len(values) == 1, (name, labels, values)
    return values[0]

assert value("aggnet_node_info", address="10.0.0.2", role="server") == 1
assert value("aggnet_tree_info", job="7", state="done", reason="none") == 1
assert value("aggnet_tree_records_in_total", job="7") == 10000
assert value("aggnet_tree_records_out_total", job="7") == 5000
assert value("aggnet_merged_records_total") == 5000 * 2
assert value("aggnet_drops_total", reason="tag") == 0
assert value("aggnet_port_taken_total", port="eth1", level="1") > 0
END
}

# The commands of the unit, as systemd executes them: without a shell.
unit_starts()
{
	local line

	line=$(sed -n 's/^ExecStart\(Pre\)\{0,1\}=//p' \
		"$TOP/tools/aggctl/aggnet.service")
	on node3 "$(block "On each server, to keep the settings" | grep -v systemctl)
		rmmod aggnet; ip route flush root 10.0.0.0/24
		ip address del 10.0.0.3/32 dev lo
		$line
		aggctl -j host init --topology @net | jq -e '.missing == []'" |
		sed 's/^/# /'
	ok $? "the unit restores a server"
}

init='aggctl host init --topology @net --run'
causes()
{
	planted node4 "a device that is down" "ip link set eth1 down" \
		"192.168.21.2: its device eth1 is down" \
		"ip link set eth1 up; $init"
	planted node4 "a neighbour without an answer" "nic node2 1 down" \
		"192.168.21.2: no answer on eth1" "nic node2 1 up"
	planted node4 "a switch with a smaller MTU" "nic node2 1 mtu 1400" \
		"packets of 1500 bytes are lost on eth1, short ones are not" \
		"nic node2 1 mtu 1500"
	planted node2 "a device with a smaller MTU" "ip link set eth0 mtu 1400" \
		"eth0: 1400" "ip link set eth0 mtu 1500"
	planted node2 "a strict reverse path filter" \
		"sysctl -w net.ipv4.conf.eth1.rp_filter=1" "eth1: strict" \
		"$init"
	planted node2 "no forwarding" "sysctl -w net.ipv4.ip_forward=0" \
		"ip_forward .*off" "$init"
	planted node4 "no route" "ip route del 10.0.0.1" \
		"to the receiver 10.0.0.1: there is none" "$init"
	planted node4 "no identity" "ip address del 10.0.0.4/32 dev lo" \
		"10.0.0.4: it is not an address of this host" "$init"
	planted node2 "a firewall" "nft add table ip wall
		nft 'add chain ip wall f { type filter hook forward priority 0;
		policy drop; }'" \
		"FORWARD policy .*drop" "nft delete table ip wall"
}

[ "$(id -u)" = 0 ] || {
	echo "1..0 # SKIP it needs root, to join machines by a network"
	exit 4
}
echo 1..22
status=0
up || status=$?
ok $status "four machines are up"
everywhere "$(block "On each server")" "${SERVERS[@]}"
ok $? "host init: what it prints is executed"
everywhere "aggctl -j host init --topology @net |
	jq -e '.settings == 12 and .missing == []'" "${SERVERS[@]}"
ok $? "host init: nothing is missing any more"
on node1 "$(block "On node1" 1)" | sed 's/^/# /' &&
	on node1 "$(block "On node1" 2)" && spread_plan
ok $? "a plan is made"
everywhere "$(block "On each server" 2)" "${SERVERS[@]}"
ok $? "it is applied on each server by its identity"
inputs
transfer
ok $? "all commands of the transfer succeed"
LC_ALL=C sort "$CLUSTER/node1/home/result" | cmp - "$CLUSTER/expected"
ok $? "the result is exact"
on node2 "$(block \
	"bound children and its own flow must be the planned number of contributors")"
ok $? "the flow of node4 was merged in node2"
everywhere "$(block "On each server no packet should have missed its planned link")" \
	"${SERVERS[@]}"
ok $? "no packet has left the planned path"
everywhere "$(block "On each server of the job")" "${SERVERS[@]}"
ok $? "why finds nothing that is not as planned"
exported
ok $? "Prometheus can read what is exported"
causes
everywhere "$(block "When the job is done, on each server")" \
	"${SERVERS[@]}"
ok $? "the plan is withdrawn"
unit_starts
exit $((FAILED > 0))
