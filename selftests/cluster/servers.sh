#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four servers, each a machine: the commands of the page "Your cluster", executed
# there, merge a transfer on a server that is not the receiver; and "host check" finds
# what is wrong on a server or its link. Two machines have kernel 6.1, two have 6.12.
set -o pipefail
. "$(dirname "$0")/page.sh"

JOB=7	# of the page
PATIENCE=300s	# an emulator without a CPU of its own needs minutes for four logins

# planted NAME...: "host check" and "why" are asked on each NAME; then the commands that they
# print mend it. MEND mends a switch before. MENDED is the status.
planted()
{
	MENDED=0
	asked "$@" && ${MEND:-true} && mended "$@" > "$CLUSTER/mended" || MENDED=$?
	[ $MENDED = 0 ] || sed 's/^/# /' "$CLUSTER/mended"
}

# cause NAME WHAT CHECK WHY: a row: was this named there, and mended?
cause()
{
	named "$1" "$3" "$4" && [ $MENDED = 0 ]
	ok $? "host check, why: $2"
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

assert value("aggnet_node_info", address="10.0.0.2", role="server", host="node2") == 1
assert value("aggnet_tree_info", job="7", state="done", reason="none", receiver_host="node1") == 1
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

# The commands of the unit that the page enables, as systemd executes them: without a shell.
unit_starts()
{
	block "On each server, to keep the settings" |
		grep -qx "systemctl enable --now aggnet" &&
		on node3 "rmmod aggnet; ip route flush root 10.0.0.0/24
		ip address del 10.0.0.3/32 dev lo
		$(unit_commands)
		aggctl -j host init --topology @net | jq -e '.missing == []'" |
		sed 's/^/# /'
	ok $? "the unit restores a server"
}

# Causes that do not hide each other are there at the same time, as each round of questions
# costs an emulator seconds.
causes()
{
	on node2 "ip link set eth1 down"
	planted node2 node4
	cause node2 "a device that is down" "port  *eth1: it is down.*ip link set eth1 up" \
		"node2: port: eth1: it is down or has no cable. Next: ip link set eth1 up"
	cause node4 "a neighbour without an answer" \
		"neighbour  *192.168.21.2 (node2): no answer on eth1 .*ssh node2" \
		"node4: neighbour: 192.168.21.2 \(node2\): no answer on eth1 .*Next: ssh node2"

	on node2 "ip link set eth1 mtu 1400"
	planted node2 node4
	cause node2 "a device with a smaller MTU" \
		"MTU  *eth1: 1400" "node2: MTU: eth1: 1400.*Next: ip link set eth1 mtu 1500"
	cause node4 "a neighbour with a smaller MTU" \
		"neighbour .*(node2): packets of 1500 bytes do not pass whole on eth1, .*ssh node2" \
		"node4: neighbour: .*\(node2\): packets of 1500 bytes do not pass whole .*Next: ssh node2"

	nic node2 1 mtu 1400
	on node2 "aggctl withdraw plan.json"
	on node3 "ip address del 10.0.0.3/32 dev lo"
	on node4 "ip route del 10.0.0.1"
	MEND="nic node2 1 mtu 1500" planted node2 node3 node4
	cause node4 "a switch with a smaller MTU" \
		"neighbour .*(node2): packets of 1500 bytes do not pass whole on eth1, " \
		"node4: neighbour: .*\(node2\): packets of 1500 bytes do not pass whole"
	cause node4 "no route" "route  *to the receiver 10.0.0.1 (node1): there is none" \
		"node4: route: to the receiver 10.0.0.1 \(node1\): there is none. Next: aggctl host init"
	cause node2 "no entry on one server" \
		"entry  *tree of job 7 to 10.0.0.1 (node1): there is none.*aggctl apply plan.json" \
		"^WRONG: node2: it has no entry of this transfer.*Next: aggctl apply"
	cause node3 "no identity on lo" \
		"identity  *10.0.0.3 (node3): it is not an address of this host" \
		"node3: identity: 10.0.0.3: .*Next: ip address add 10.0.0.3/32 dev lo"

	on node2 "sysctl -w net.ipv4.conf.eth1.rp_filter=1
		sysctl -w net.ipv4.ip_forward=0
		nft add table ip wall
		nft 'add chain ip wall f { type filter hook forward priority 0; policy drop; }'"
	on node3 "rmmod aggnet; modprobe aggnet"
	planted node2 node3
	cause node2 "a strict reverse path filter" "rp_filter  *eth1: strict" \
		"node2: rp_filter: eth1: strict.*Next: sysctl -w"
	cause node2 "no forwarding" "ip_forward .*off" "node2: ip_forward: off.*Next: sysctl -w"
	cause node2 "a firewall" \
		"firewall .*chain f of table ip wall drops UDP to port 18016 (policy drop): .*nft insert rule" \
		"node2: firewall: chain f of table ip wall drops .*Next: nft insert rule"
	cause node3 "a module without identity and ports" "identity  *it has no identity.*aggctl host init" \
		"^WRONG: node3: it has no identity. Next: aggctl host init"
	# It lets aggnet's packets pass now, and no others.
	on node2 "nft delete table ip wall"
}

# printed: what "host init" prints on a fresh server is on the page: the command loads the
# module
printed()
{
	on node2 "! lsmod | grep aggnet
		$(block "On node2")" | diff - <(block "It prints")
}

# ssh_begin: each machine takes commands by ssh, as servers do. Their keys are made here.
ssh_begin()
{
	local name keys=$CLUSTER/keys i=0

	mkdir "$keys" && ssh-keygen -q -t ed25519 -N '' -f "$keys/id_ed25519" || return
	for name in "${SERVERS[@]}"; do
		i=$((i + 1))
		echo "10.0.0.$i $name" >> "$keys/hosts"
		dropbearkey -t ed25519 -f "$keys/$name" > "$keys/$name.log" 2>&1 || return
	done
	# What this host's root has, or lets a group write, is not for the machines. An
	# emulator may need ten seconds at each login for what the host's .bashrc does.
	everywhere "umask 077
		rm -rf /root/.ssh /root/.bashrc
		mkdir /root/.ssh
		chown root: /root
		chmod go-w /root
		cp $keys/id_ed25519* /root/.ssh
		cp $keys/id_ed25519.pub /root/.ssh/authorized_keys
		echo 'StrictHostKeyChecking accept-new' > /root/.ssh/config
		cat $keys/hosts >> /etc/hosts
		[ -e /usr/bin/aggctl ] || ln -s $TOP/tools/aggctl/aggctl /usr/bin
		dropbear -s -r $keys/\$(hostname)" "${SERVERS[@]}"
}

# by_ssh: reports are collected, and the plan comes and goes on all hosts, by one command
by_ssh()
{
	block "that one" > "$CLUSTER/node1/home/hosts"
	on node1 "mkdir asked && cd asked && cp ../hosts . &&
		$(block "On node1, in place of both commands") --timeout $PATIENCE &&
		diff ../described/net net" | sed 's/^/# /' &&
	on node1 "$(block "On node1" 2)" && spread_plan &&
		on node1 "$(block "On node1, in place of \`\`apply\`\` on each server") \
			--timeout $PATIENCE" &&
		everywhere "aggctl host check plan.json" "${SERVERS[@]}" &&
		transfer && exact "${SOURCES[@]}" &&
		everywhere "$(block "On each server of the job")" "${SERVERS[@]}" &&
		on node1 "$(block "On node1, of all servers") --timeout $PATIENCE" &&
		on node1 "$(block "Or on node1, for all of them") --timeout $PATIENCE" &&
		everywhere "aggctl -j tree show | jq -e '. == []'" "${SERVERS[@]}"
}

needs_root
rows 30
status=0
up || status=$?
ok $status "four machines are up"
capture
printed
ok $? "host init: it prints what the page has"
everywhere "$(block "On each server")" "${SERVERS[@]}"
ok $? "host init: what it prints is executed"
installed
everywhere "aggctl -j host init --topology @net |
	jq -e '.settings == 17 and .missing == []'" "${SERVERS[@]}"
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
exact "${SOURCES[@]}"
ok $? "the result is exact"
on node2 "$(block "On node2 after the transfer")"
ok $? "the flow of node4 was merged in node2"
everywhere "$(block "For each server of the job")" "${SERVERS[@]}"
ok $? "each server has its planned flows, and no packet has left by plain IP"
everywhere "$(block "On each server of the job")" "${SERVERS[@]}"
ok $? "why finds nothing that is not as planned"
exported
ok $? "Prometheus can read what is exported"
causes
everywhere "$(block "When the job is done, on each server")" \
	"${SERVERS[@]}"
ok $? "the plan is withdrawn"
ssh_begin && by_ssh
ok $? "by ssh servers are described, the plan is applied, a transfer is merged, and the plan is withdrawn"
unit_starts
captured > "$CLUSTER/types"
ok $? "Wireshark's dissector decodes each packet"
sort "$CLUSTER/types" | uniq -c | sed 's/^/# packets of type: /'
unused "The network" "When a cable or a server fails"
ok $? "nothing on the page is not executed"
exit $((FAILED > 0))
