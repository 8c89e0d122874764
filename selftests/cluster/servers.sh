#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four servers, each a machine: the commands of the page "Your cluster", executed
# there, merge a transfer on a server that is not the receiver; and "host check" finds
# what is wrong on a server or its link. Two machines have kernel 6.1, two have 6.12.
set -o pipefail
. "$(dirname "$0")/page.sh"

# mended NAME: what "host check" prints next, until it finds nothing
mended()
{
	on "$1" 'for i in 1 2 3; do
			! aggctl -j host check > check.json || exit 0
			jq -r ".[] | select(.ok | not) | .fix" check.json > fixes
			bash -ex fixes
		done
		aggctl host check' 2>&1
}

# planted NAME WHAT COMMAND FINDING [MEND]: after COMMAND, which runs on the machine, or
# here if it is a function, "host check" fails and finds this; the commands that it
# prints mend it, or MEND if it is on another machine
planted()
{
	local status=0

	change "$1" "$3" && ! on "$1" "aggctl host check" > "$CLUSTER/found" &&
		grep -q "^no .*$4" "$CLUSTER/found" || status=$?
	sed 's/^/# /' "$CLUSTER/found"
	change "$1" "${5:-mended $1}" && on "$1" "aggctl host check" > "$CLUSTER/good" ||
		status=$?
	sed 's/^/# /' "$CLUSTER/changed"
	ok $status "host check: $2"
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

# What the page's commands describe of the machines gives the same plan as the file of
# the page, but for the names of switches and the order of devices.
described()
{
	local name dir=$CLUSTER/node1/home/described status=0

	mkdir "$dir" || return
	everywhere "$(block "Each server reports its devices, without privilege")" \
		"${SERVERS[@]}" || status=1
	for name in "${SERVERS[@]}"; do
		cp "$CLUSTER/$name/home/$name.json" "$dir" || status=1
	done
	on node1 "planned() { $(block "On node1" 2 | sed 's/ > .*//') |
			jq '.nodes | del(.[].trees[] | (.instance, .plan, .members, .key,
				.link_port, .link_to))'
		}
		planned > typed.nodes
		cd described
		$(block "On node1, which has all the reports")
		planned | diff ../typed.nodes -" | sed 's/^/# /' || status=1
	return $status
}

# The commands of the unit, as systemd executes them: without a shell.
unit_starts()
{
	on node3 "rmmod aggnet; ip route flush root 10.0.0.0/24
		ip address del 10.0.0.3/32 dev lo
		$(unit_commands)
		aggctl -j host init --topology @net | jq -e '.missing == []'" |
		sed 's/^/# /'
	ok $? "the unit restores a server"
}

causes()
{
	planted node4 "a device that is down" "ip link set eth1 down" \
		"192.168.21.2 (node2): its device eth1 is down"
	planted node4 "a neighbour without an answer" "nic node2 1 down" \
		"192.168.21.2 (node2): no answer on eth1" "nic node2 1 up"
	planted node4 "a switch with a smaller MTU" "nic node2 1 mtu 1400" \
		"packets of 1500 bytes are lost on eth1, short ones are not" \
		"nic node2 1 mtu 1500"
	planted node2 "a device with a smaller MTU" "ip link set eth0 mtu 1400" \
		"eth0: 1400"
	planted node2 "a strict reverse path filter" \
		"sysctl -w net.ipv4.conf.eth1.rp_filter=1" \
		"eth1: strict"
	planted node2 "no forwarding" "sysctl -w net.ipv4.ip_forward=0" \
		"ip_forward .*off"
	planted node4 "no route" "ip route del 10.0.0.1" \
		"to the receiver 10.0.0.1 (node1): there is none"
	planted node4 "no identity" "ip address del 10.0.0.4/32 dev lo" \
		"10.0.0.4 (node4): it is not an address of this host"
	planted node2 "a firewall" "nft add table ip wall
		nft 'add chain ip wall f { type filter hook forward priority 0;
		policy drop; }'" \
		"FORWARD policy .*drop"
}

needs_root
echo 1..23
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
described
ok $? "host report, describe: they make the same plan as the typed file"
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
everywhere "$(block "On each server, to keep the settings" | grep -v systemctl)" \
	"${SERVERS[@]}"
exported
ok $? "Prometheus can read what is exported"
causes
everywhere "$(block "When the job is done, on each server")" \
	"${SERVERS[@]}"
ok $? "the plan is withdrawn"
unit_starts
exit $((FAILED > 0))
