#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "aggctl describe" makes of hosts' reports the networks of the page "Your cluster", with
# the same plans; reports that contradict each other are refused with both names.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
page=$top/Documentation/cluster.rst
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
n=0 failed=0

# result NAME FAULT: a row, which passes if FAULT is empty
result()
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: $2"
		failed=1
	fi
}

# report NAME DEVICE=ADDRESS/LENGTH[=GATEWAY[=MTU]]...: what this host reports
report()
{
	local name=$1

	shift
	printf '%s\n' "$@" | jq -R 'split("=") | {name: .[0],
		address: (.[1] | split("/")[0]),
		prefixlen: (.[1] | split("/")[1] | tonumber),
		mtu: (.[3] // "1500" | tonumber), up: true} +
		(if (.[2] // "") == "" then {} else {gateway: .[2]} end)' |
		jq -s --arg name "$name" '{name: $name, devices: .}'
}

# typed FILE: the literal block of the page that is this file
typed()
{
	awk -v head="The file \`\`$1\`\`::" '$0 == head { inside = 1; next }
		inside && /^[^ ]/ { exit }
		inside { print substr($0, 5) }' "$page" > "$1"
}

# plan NETWORK SENDERS RECEIVER: the entries, without what is random, and without the
# names that the description gives to switches
plan()
{
	"$aggctl" -j plan --topology "@$1" --job 7 --senders "$2" --receivers "$3" \
		--uid 0 --no-key | jq '.nodes | del(.[].trees[] |
			(.instance, .plan, .members,
			.link_to))'
}

# same WHAT FILE SENDERS RECEIVER: the description makes the plan of the typed one
same()
{
	typed "$2"
	plan "$2" "$3" "$4" > expected
	plan made "$3" "$4" > found
	result "$1" "$([ -s expected ] && diff expected found 2>&1)"
	[ -s expected ] || result "$1: the page has a network" "no"
}

four()
{
	report node1 ens1=192.168.10.1/24 ens2=192.168.20.1/24
	report node2 ens1=192.168.10.2/24 ens2=192.168.21.2/24
	report node3 ens2=192.168.11.3/24 ens1=192.168.20.3/24
	report node4 ens1=192.168.11.4/24 ens2=192.168.21.4/24
}

racks()
{
	report a1 eth0=10.1.0.1/24=10.1.0.254
	report b1 eth0=10.2.0.1/24=10.2.0.254
	report b2 eth0=10.2.0.2/24=10.2.0.254
	report c1 eth0=10.3.0.1/24=10.3.0.254
	report c2 eth0=10.3.0.2/24=10.3.0.254
}

# refused SENTENCE REPORT-COMMAND... [-- OPTION...]: of what this prints
refused()
{
	local sentence=$1 status=0 wrong=''

	"$aggctl" describe "${@:2}" - < reports > out 2> err || status=$?
	[ $status = "${want:-1}" ] || wrong="status $status"
	[ "$(cat err)" = "aggctl: describe: $sentence" ] || wrong+=" '$(cat err)'"
	[ ! -s out ] || wrong+=" with output"
	result "$sentence" "$wrong"
}

four > reports
"$aggctl" describe --identities 10.0.0.0/24 reports > made
same "four hosts with two ports: the plan of the page" net node2,node3,node4 node1
"$aggctl" describe --identities 10.0.0.0/24 - < reports > again
result "the same reports make the same description" "$(cmp made again 2>&1)"
jq -s . reports > array
"$aggctl" describe --identities 10.0.0.0/24 array > again
result "reports may be in an array" "$(cmp made again 2>&1)"
racks > reports
"$aggctl" describe reports > made
same "racks with routers: the plan of the page" racks b1,b2,c1,c2 a1

{ four; report bare docker0=172.17.0.1/16 ens1=192.168.10.9/24; } > reports
"$aggctl" describe --identities 10.0.0.0/24 reports > made
result "a subnet of one host is left out" \
	"$(grep -c '^# no other host is in 172.17.0.0/16, the subnet of docker0 of bare$' \
		made | grep -vx 1)"
result "a host with one port is known by its address" \
	"$(grep -c '^address bare 192.168.10.9$' made | grep -vx 1)"
four | jq -c 'select(.name == "node1") |= . + {identity: "10.0.0.3"}' > reports
"$aggctl" describe --identities 10.0.0.0/24 reports > made
result "an identity that a host has is kept, and not given to another" \
	"$(diff <(sed -n 's/^address \(node.\) /\1 /p' made) - << END
node1 10.0.0.3
node2 10.0.0.1
node3 10.0.0.2
node4 10.0.0.4
END
)"

four > reports
refused "--identities: it has addresses of 192.168.10.0/24, the subnet of ens1 of node1: use a subnet that no NIC is in" \
	--identities 192.168.8.0/22
refused "node1 has several ports and no identity: --identities SUBNET gives it one"
refused "--identities has no address left for node3" --identities 10.0.0.0/30
{ four; report node2 eth0=192.168.10.7/24; } > reports
refused "reports 2 and 5 are both of a host node2: 'aggctl host report --name' gives another name"
{ four; report five eth0=192.168.10.2/24; } > reports
refused "192.168.10.2 is the address of ens1 of node2 and of eth0 of five"
{ four; report five eth0=192.168.10.7/25; } > reports
refused "subnet 192.168.10.0/24 of ens1 of node1 and 192.168.10.0/25 of eth0 of five overlap: use one length"
{ four; report five eth0=192.168.10.7/24==9000; } > reports
refused "in 192.168.10.0/24 the MTU is 1500 at ens1 of node1 and 9000 at eth0 of five: use one"
{ four; report five eth0=192.168.10.7/24 eth1=192.168.10.8/24; } > reports
refused "eth0 and eth1 of five are both in 192.168.10.0/24: use one of them"
{ racks; report c3 eth0=10.3.0.3/24=10.3.0.253; } > reports
refused "in 10.3.0.0/24, c1 and c3 have different gateways: use one"
{ racks; report d1 eth0=10.4.0.1/24; } > reports
refused "no way from a1 to d1: they share no subnet, and not both have a gateway"
four | jq -c 'select(.name == "node1") |= . + {identity: "192.168.10.2"}' > reports
refused "192.168.10.2, the identity of node1, is an address of node2, too" \
	--identities 10.0.0.0/24
report node1 eth0=10.1.0.1/24 > reports
refused "a network has two hosts or more, and the reports are of 1: run 'aggctl host report' on the other hosts, too"
echo '{"name": "x"}' > reports
refused "report 1 has no name or no devices: is it of 'aggctl host report'?"
# wrong SENTENCE FILTER: of the reports of two hosts, after jq has spoilt the second one
wrong()
{
	{ report one eth0=10.1.0.1/24; report two eth0=10.1.0.2/24 | jq -c "$2"; } > reports
	refused "$1"
}

called="'aggctl host report --name' gives another name"
wrong "report 2: a host cannot be called 'x\\x0alink': $called" '.name = "x\nlink"'
wrong "report 2: a host cannot be called 'x y': $called" '.name = "x y"'
wrong "report 2: a host cannot be called 'switch1': $called" '.name = "switch1"'
wrong "the reports make no description: host 3com: a name begins with a letter and has letters, digits, '.', '_' and '-', 47 at most" \
	'.name = "3com"'
device="the report of two has a device, number 1,"
wrong "the report of two has no device: 'aggctl host report --all > FILE' on it also reports bridges and tunnels" \
	'.devices = []'
wrong "$device without the name of a device" 'del(.devices[0].name)'
wrong "$device without the name of a device" '.devices[0].name = "eth0\nlink x y"'
wrong "$device without prefixlen of 1 to 32" 'del(.devices[0].prefixlen)'
wrong "$device without an address that a host can have" 'del(.devices[0].address)'
wrong "$device without an address that a host can have" '.devices[0].address = "10.1.0.255"'
wrong "$device without an address that a host can have" '.devices[0].address = "224.1.0.2"'
wrong "$device with a gateway that is no address of a host" '.devices[0].gateway = "0.0.0.0"'
wrong "$device without an MTU of IPv4" '.devices[0].mtu = -1'
wrong "$device with a rate that is not 1 Mbit/s to 100 Tbit/s" '.devices[0].rate = -4000000'
wrong "$device with a rate that is not 1 Mbit/s to 100 Tbit/s" '.devices[0].rate = 500'
wrong "the report of two has an identity that is no address of a host" '.identity = "127.0.0.1"'
{ report a eth0=10.1.0.1/31=10.1.0.0; report b eth0=10.1.0.3/31=10.1.0.2; } > reports
"$aggctl" describe reports > made
result "links of two addresses, each to a router" "$(grep -c '^link .* routers$' made | grep -vx 2)"
echo '{' > reports
"$aggctl" describe reports > out 2> err
status=$?
result "JSON that is cut off" \
	"$(grep -q "^1 aggctl: reports: line " <(echo "$status $(< err)") || cat err)"

{ racks; printf '{\r\n"name":\r\n'; } > reports
"$aggctl" describe reports > out 2> err
result "JSON that is wrong in the last report" "$(grep -q "^aggctl: reports: line $(($(wc -l \
	< reports) + 1)): " err || cat err)"
racks | sed 's/$/\r/' > reports
"$aggctl" describe reports > again 2> err
racks > reports
"$aggctl" describe reports > made
result "lines may end with CR LF" "$(cmp made again 2>&1; cat err)"

# warned WARNING... [-- OPTION...]: the description of what this prints; each warning ends
# an error line
warned()
{
	local warnings=()

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		warnings+=("aggctl: describe: warning: $1")
		shift
	done
	"$aggctl" describe --identities 10.99.0.0/24 "${@:2}" reports > made 2> err ||
		echo "status $?"
	printf '%s\n' "${warnings[@]}" | grep . | diff - err
}

# A slow subnet for management, and fast ports, each with a router.
managed()
{
	for i in 1 2 3; do
		report n$i mgmt0=192.168.0.$i/24 eth1=10.$i.0.1/24 | jq \
			'.devices[0].rate = 1000000000 | .devices[1].rate = 100000000000'
	done
}

managed | jq '.devices[1].gateway = (.devices[1].address | sub("1$"; "254"))' > reports
result "fast ports with routers are described beside a subnet that all share" "$(warned \
	"mgmt0 of n1 is 100 times slower than eth1: '--not mgmt0' leaves it out"
	grep -c '^link n. switch. 100000M\|^link switch. routers$' made | grep -vx 6)"
result "a device that is left out" "$(warned -- --not lo1,mgmt0
	grep -c '^link n. switch. 100000M' made | grep -vx 3; grep mgmt0 made)"
want=2 refused "--not: no host has a device mgmt" --not mgmt
managed > reports
result "fast ports without routers are not described" "$(warned \
	"all hosts are in each subnet, and are neighbours there: no server is on the way to merge" \
	"eth1 of n1, which is faster than mgmt0, is not in the description: no other host is in 10.1.0.0/24, and no gateway of it is known" \
	"eth1 of n2, which is faster than mgmt0, is not in the description: no other host is in 10.2.0.0/24, and no gateway of it is known" \
	"eth1 of n3, which is faster than mgmt0, is not in the description: no other host is in 10.3.0.0/24, and no gateway of it is known")"
four | jq -c '
	.devices += [{name: "eno1", address: ("172.16.0." + .name[4:]), prefixlen: 24,
		mtu: 1500, up: true}]' > reports
result "a subnet that all hosts share, beside others" "$(warned \
	"all hosts are in 172.16.0.0/24, the subnet of eno1 of node1, and are neighbours there: no server is on the way to merge; if it is for management, '--not eno1' leaves it out"
	warned -- --not eno1)"
for i in 1 2 3; do
	report n$i eth0=192.168.1.$i/24 eth1=192.168.2.$i/24
done > reports
result "hosts that are all in each subnet" "$(warned \
	"all hosts are in each subnet, and are neighbours there: no server is on the way to merge")"
"$aggctl" plan --topology @made --senders n1,n2 --receivers n3 2> err > out
result "plan: no server merges" "$(diff err - <<< \
	"aggctl: plan: note: no server merges flows of others, so nothing is saved")"
{
	"$aggctl" plan --topology @made --senders n1,n2 --receivers n3 --method unicast
	"$aggctl" plan --topology @made --senders n1 --receivers n3
} 2> err > out
result "plan: no server could merge" "$(cat err)"
four | jq 'if .name == "node2" then .devices[1].up = false else . end' > reports
result "a device that is down" \
	"$(warned "ens2 of node2 is down, and has a link in the description")"
racks | jq 'if .name == "a1" then .devices[0].mtu = 9000 else . end' > reports
result "racks of different MTUs" "$(warned \
	"routers join 10.1.0.0/24, with an MTU of 9000, and 10.2.0.0/24, with 1500: use one MTU, or see to it that routers answer packets that are too long with an ICMP error")"
four | jq 'if .name == "node2" then .devices[0].gateway = "10.7.0.1" else . end' > reports
result "a gateway outside of its subnet" "$(warned \
	"10.7.0.1, the gateway of ens1 of node2, is not in 192.168.10.0/24: it is not used")"

# This host's own report, of devices that are made for it, in a namespace.
# shellcheck disable=SC2317
own()
{
	ip link set lo up
	ip link add eth7 type veth peer name far && ip link set far up
	ip address add 192.0.2.7/24 dev eth7
	ip address add 192.0.2.8/24 dev eth7
	ip link set eth7 up mtu 1400 && ip route add default via 192.0.2.1
	ip link add eth8 type veth peer name far8 && ip link set far8 up
	ip address add 198.51.100.7/24 dev eth8 && ip link set eth8 up
	ip route add 10.0.0.9/32 via 198.51.100.9
	"$aggctl" host report --name seven --all && "$aggctl" host report --name seven
}
export -f own
export aggctl
unshare -rn bash -c own > self 2> err
result "host report: a device with its addresses and gateway" "$(jq -es '.[0].name == "seven"
	and (.[0].devices[:2] | map(.address) == ["192.0.2.7", "192.0.2.8"])
	and (.[0].devices[0] | .name == "eth7" and .mtu == 1400 and .up
		and .prefixlen == 24 and .gateway == "192.0.2.1"
		and (.mac | length) == 17)' self > said 2>&1 || cat self err)"
result "host report: a route to one host is not to a gateway" "$(jq -es '.[0].devices[2] |
	.name == "eth8" and has("gateway") == false' self > said 2>&1 || cat self err)"
result "host report: only hardware, unless all is asked for" \
	"$(jq -es '.[1].devices == []' self > said 2>&1 || cat self)"
# shellcheck disable=SC2016
unshare -ru bash -c 'printf "\xff" > /proc/sys/kernel/hostname
	"$aggctl" host report' > out 2> err
result "host report: a name that is not UTF-8" "$(diff - err <<< \
	"aggctl: host: the name of this host is not UTF-8: --name gives another one"; cat out)"

# The settings of packets' sources, before and after the commands that are printed.
# shellcheck disable=SC2317
sources()
{
	ip link add eth1 type veth peer name eth2
	ip address add 192.168.10.1/24 dev eth1 && ip link set eth1 up
	ip address add 192.168.20.1/24 dev eth2 && ip link set eth2 up
	sysctl -qw net.ipv4.conf.eth1.rp_filter=0 net.ipv4.conf.eth2.rp_filter=2
	sysctl -qw net.ipv4.conf.all.rp_filter=1
	ip link set eth2 mtu 1400
	"$aggctl" host init --topology @two | grep -e rp_filter -e mtu | tee commands
	sh commands > /dev/null
	"$aggctl" host init --topology @two | grep -e rp_filter -e mtu
}
export -f sources
four > reports
"$aggctl" describe --identities 10.0.0.0/24 reports > two
unshare -rn bash -c sources > out 2> err
result "host init: strict filters and small MTUs of ports, and of no other devices" \
	"$(diff - out <<< "sysctl -w net/ipv4/conf/eth1/rp_filter=2
ip link set eth2 mtu 1500"; cat err)"
jq -s '.[0] | del(.devices[2])' self > reports
report eight eth0=192.0.2.9/24 | jq '.devices[0].mtu = 1400' >> reports
"$aggctl" describe reports > made 2> err
result "host report and describe fit together" \
	"$(grep -qx 'address seven 192.0.2.7' made || cat made err)"
echo "1..$n"
exit $failed
