#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "aggctl host init" finds what a server of the page "Your cluster" lacks, and its commands
# provide it. The server is a network namespace with devices that lead nowhere. A script
# that prints rules stands for nft, and "host check" has to find the same.
# shellcheck disable=SC2317 # rows are called
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
page=$top/Documentation/cluster.rst
. "$top/selftests/lib/rows.sh"
# The rows change nothing outside of their directory.
export AGGNET_NETWORK=

# In a namespace of this user, who is root there.
if [ "${1:-}" != inside ]; then
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	cd "$tmp" && unshare -rn "$top/selftests/unit/${0##*/}" inside
	exit
fi

# missing PATTERN: the commands that "host init" prints, of those that match
missing()
{
	"$aggctl" -j host init --topology @net | jq -r '.missing[]' | grep -e "$1"
}

lacks()
{
	diff <(missing "$1") - <<< "$2"
}

is_there()
{
	! missing "$1"
}

# What is printed is executed, and nothing more is printed.
routes()
{
	local command

	lacks '^ip route' "$(sed -n '/^It prints::/,/^On each/s/^ *\(ip route .*\)/\1/p' "$page")" || return
	while read -r command; do
		$command || return
	done < <(missing '^ip ')
	is_there '^ip ' && ip route get 10.0.0.1 | grep "src 10.0.0.2 "
}

no_source()
{
	ip route replace 10.0.0.1/32 via 192.168.10.1 &&
		lacks '^ip route' 'ip route replace 10.0.0.1/32 via 192.168.10.1 src 10.0.0.2'
}

# As an earlier description had it.
stale()
{
	ip route replace 10.0.0.1/32 via 192.168.10.99 src 10.0.0.2 &&
		lacks '^ip route' 'ip route replace 10.0.0.1/32 via 192.168.10.1 src 10.0.0.2'
}

# Its routes are gone: they come after it.
down()
{
	ip link set eth1 down || return
	missing '^ip ' > told
	ip link set eth1 up
	diff told - <<< "ip link set eth1 up
$(missing '^ip ')" && [ "$(wc -l < told)" = 5 ] &&
		"$aggctl" -j host init --topology @net |
		jq -e '.missing | map(startswith("ip route")) | index(true) > 2'
}

# Another device, and its address.
other_network()
{
	ip link add mgmt type veth && ip address add 172.16.0.2/24 dev mgmt &&
		ip link set mgmt up && ip route replace 10.0.0.1/32 via 172.16.0.1 &&
		is_there '^ip route'
}

daemon()
{
	ip route replace 10.0.0.1/32 via 192.168.10.1 proto bird && is_there '^ip route' &&
		ip route replace 10.0.0.1/32 nexthop via 192.168.10.1 \
			nexthop via 192.168.21.4 && is_there '^ip route'
}

# The address of the NIC is the identity.
rack()
{
	ip link add rack type veth && ip address add 10.1.0.1/24 dev rack &&
		ip link set rack up && ip route add default via 10.1.0.254 &&
		"$aggctl" -j host init --topology @racks |
		jq -e '.host == "a1" and all(.missing[]; startswith("ip ") | not)'
}

# A default route by another device, for management, does not lead to the racks.
managed_rack()
{
	ip link add office type veth && ip address add 192.168.0.5/24 dev office &&
		ip link set office up && ip route replace default via 192.168.0.1 || return
	"$aggctl" -j host init --topology @racks | jq -r '.missing[]' | grep "^ip route" > told
	ip link del office && ip route add default via 10.1.0.254
	cat told
	grep -qx "ip route replace 10.2.0.1/32 via 10.1.0.254 src 10.1.0.1" told &&
		[ "$(wc -l < told)" = 4 ]
}

# In BCube(2,1) node2 is v1. Filters name the links to its neighbours by their digits.
links()
{
	sed -f "$top/selftests/lib/labelled.sed" net > bcube
	"$aggctl" -j host init --topology @bcube | jq -r '.missing[]' |
		grep '^aggctl link' > told
	"$aggctl" -j plan --topology @bcube --switches dumb --scheme packet --job 1 \
		--senders v1,v3 --receivers v0 | jq -r '.nodes.v1.links[] |
		"aggctl link add \(.port) neighbour \(.neighbour) bits \(.bits) hashes \(.hashes) capacity \(.capacity) name \(.name) digit \(.digit)"' |
		diff - told && [ "$(wc -l < told)" = 2 ] && is_there '^aggctl link'
}

# The address of a group is no neighbour.
reported()
{
	ip route add 10.9.0.0/16 via 192.168.10.9 &&
		ip neighbour add 192.168.10.9 lladdr 02:00:00:00:00:09 dev eth0 &&
		ip neighbour add 224.0.0.9 lladdr 01:00:5e:00:00:09 dev eth0 nud noarp &&
		ip link add $'n\xff' type veth && ip link set $'n\xff' up &&
		ip address add 10.8.0.1/24 dev $'n\xff' &&
		ip route add 10.8.1.0/24 via 10.8.0.2 || return
	"$aggctl" host report --name v --all > told
	ip link del $'n\xff'
	cat told
	jq -e '.routes | any(.device == "n\\xff" and .to == "10.8.1.0")' told || return
	jq -e '(.routes | any(. == {device: "eth0", to: "10.9.0.0", prefixlen: 16,
			via: "192.168.10.9"}) and all(.via) and any(.to == "10.0.0.3")) and
		.neighbours == [{device: "eth0", mac: "02:00:00:00:00:09",
			address: "192.168.10.9"}]' told
}

# rules: the standard input as nft prints it. Lines are of FAMILY TABLE CHAIN; then, for a
# chain of a hook, "hook" HOOK POLICY; for others "chain"; for a rule its statements.
rules()
{
	jq -Rs '{nftables: (split("\n") | map(select(. != "") |
		capture("^(?<family>\\S+) (?<table>\\S+) (?<name>\\S+) (?<rest>.*)$") |
		({family, table} + (.rest |
			capture("^hook (?<hook>\\S+) (?<policy>\\S+)$") // {})) as $of |
		if .rest | test("^(hook .*|chain)$") then {chain: ({name} + $of)}
		else {rule: ({chain: .name,
			expr: ("[" + .rest + "]" | fromjson)} + $of)} end))}' > ruleset
}

# found: what --run would execute, and what is for the user to decide
found()
{
	"$aggctl" -j host init --topology "@${described:-net}" | jq -r '
		(.missing[] | select(test("^nft|^iptables")) | "run: " + .),
		(.advice[] | .finding, "    " + .command)' | sed 's/  *$//'
}

# drops TEXT: are these the findings for the rules on the standard input?
drops()
{
	rules && found | diff - <(printf '%s' "${1:+$1$'\n'}")
}

# checked [OK FINDING]...: are these the rows of "host check"?
checked()
{
	"$aggctl" -j host check | jq -r '.[] | select(.what == "firewall") |
		"\(.ok)\n\(.finding)"' | diff - <(printf '%s\n' "$@")
}

run='run: nft insert rule'
accept='udp dport 18016 accept comment aggnet'
routed='packets that are routed here'
for_this='packets for this host that come by no port of aggnet'
port='UDP to port 18016'

all_accepted()
{
	drops '' << 'END' && checked true "no chain of FORWARD, INPUT or OUTPUT drops $port"
inet filter input hook input accept
inet filter forward hook forward accept
inet filter output hook output accept
inet filter forward {"counter":{"packets":0,"bytes":0}}
inet filter forward {"match":{"op":"==","left":{"payload":{"protocol":"tcp","field":"dport"}},"right":22}},{"drop":null}
inet filter input {"match":{"op":"!=","left":{"payload":{"protocol":"tcp","field":"dport"}},"right":22}},{"drop":null}
inet filter input {"match":{"op":"==","left":{"&":[{"payload":{"protocol":"tcp","field":"flags"}},"syn"]},"right":"syn"}},{"drop":null}
inet filter input {"match":{"op":"==","left":{"meta":{"key":"l4proto"}},"right":{"set":["icmp",6]}}},{"drop":null}
inet filter input {"match":{"op":"==","left":{"meta":{"key":"nfproto"}},"right":"ipv6"}},{"drop":null}
inet filter input {"match":{"op":"==","left":{"meta":{"key":"pkttype"}},"right":"broadcast"}},{"drop":null}
inet filter input {"match":{"op":"==","left":{"fib":{"result":"type","flags":["daddr"]}},"right":"multicast"}},{"drop":null}
inet filter input {"match":{"op":"in","left":{"ct":{"key":"state"}},"right":"invalid"}},{"drop":null}
ip6 filter forward hook forward drop
bridge filter forward hook forward drop
ip raw prerouting hook prerouting drop
END
}

policy()
{
	local input="chain input of table inet filter drops $port (policy drop): $for_this are lost"
	local output="chain output of table inet filter drops $port (policy drop): packets of this host are lost"

	drops "$run inet filter forward $accept
$input
    nft insert rule inet filter input $accept
$output
    nft insert rule inet filter output $accept" << 'END' &&
inet filter input hook input drop
inet filter forward hook forward drop
inet filter output hook output drop
END
		checked false "$input" false "chain forward of table inet filter drops $port (policy drop): $routed are lost" \
			false "$output"
}

several()
{
	drops "run: nft 'insert rule ip a f $accept; insert rule inet b f $accept'" << 'END'
ip a f hook forward drop
inet b f hook forward drop
ip c f hook forward accept
END
}

# Before it are rules for other packets, and those of flows that are known already.
rejected_at_the_end()
{
	drops "$run ip filter FORWARD $accept" << 'END' &&
ip filter FORWARD hook forward accept
ip filter FORWARD {"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["established","related"]}},{"accept":null}
ip filter FORWARD {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"lo"}},{"accept":null}
ip filter FORWARD {"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":{"set":[53,{"range":[1000,18015]}]}}},{"accept":null}
ip filter FORWARD {"match":{"op":">","left":{"payload":{"protocol":"udp","field":"dport"}},"right":18016}},{"accept":null}
ip filter FORWARD {"reject":{"type":"icmpx","expr":"admin-prohibited"}}
END
		checked false "chain FORWARD of table ip filter drops $port (reject): $routed are lost"
}

# By iptables-nft. This is how releases of nft print it that do not know its matches.
ufw()
{
	drops "$run ip filter FORWARD $accept" << 'END' &&
ip filter FORWARD hook forward drop
ip filter ufw-before-forward chain
ip filter ufw-user-forward chain
ip filter ufw-after-logging-forward chain
ip filter FORWARD {"counter":{}},{"jump":{"target":"ufw-before-forward"}}
ip filter FORWARD {"counter":{}},{"jump":{"target":"ufw-after-logging-forward"}}
ip filter ufw-before-forward {"xt":null},{"counter":{}},{"accept":null}
ip filter ufw-before-forward {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"protocol"}},"right":"icmp"}},{"xt":null},{"counter":{}},{"accept":null}
ip filter ufw-before-forward {"counter":{}},{"jump":{"target":"ufw-user-forward"}}
ip filter ufw-after-logging-forward {"limit":{"rate":3,"per":"minute"}},{"counter":{}},{"xt":null}
END
		checked false "chain FORWARD of table ip filter may drop $port (policy drop): $routed would be lost"
}

# Rules for devices that are not the network's.
docker()
{
	drops "$run ip filter FORWARD $accept
chain INPUT of table ip filter drops $port (REJECT): $for_this are lost
    nft insert rule ip filter INPUT $accept" << 'END'
ip filter INPUT hook input accept
ip filter FORWARD hook forward drop
ip filter DOCKER chain
ip filter DOCKER-USER chain
ip filter DOCKER-ISOLATION-STAGE-1 chain
ip filter DOCKER-ISOLATION-STAGE-2 chain
ip filter FORWARD {"counter":{}},{"jump":{"target":"DOCKER-USER"}}
ip filter FORWARD {"counter":{}},{"jump":{"target":"DOCKER-ISOLATION-STAGE-1"}}
ip filter FORWARD {"match":{"op":"==","left":{"meta":{"key":"oifname"}},"right":"docker0"}},{"xt":{"type":"match","name":"conntrack"}},{"counter":{}},{"accept":null}
ip filter FORWARD {"match":{"op":"==","left":{"meta":{"key":"oifname"}},"right":"docker0"}},{"counter":{}},{"jump":{"target":"DOCKER"}}
ip filter FORWARD {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"docker0"}},{"match":{"op":"!=","left":{"meta":{"key":"oifname"}},"right":"docker0"}},{"counter":{}},{"accept":null}
ip filter DOCKER-ISOLATION-STAGE-1 {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"docker0"}},{"match":{"op":"!=","left":{"meta":{"key":"oifname"}},"right":"docker0"}},{"counter":{}},{"jump":{"target":"DOCKER-ISOLATION-STAGE-2"}}
ip filter DOCKER-ISOLATION-STAGE-1 {"counter":{}},{"return":null}
ip filter DOCKER-ISOLATION-STAGE-2 {"match":{"op":"==","left":{"meta":{"key":"oifname"}},"right":"docker0"}},{"counter":{}},{"drop":null}
ip filter DOCKER-USER {"counter":{}},{"return":null}
ip filter INPUT {"counter":{}},{"xt":{"type":"target","name":"LOG"}}
ip filter INPUT {"counter":{}},{"xt":{"type":"target","name":"REJECT"}}
END
}

firewalld()
{
	drops "$run inet firewalld filter_FORWARD $accept
chain filter_INPUT of table inet firewalld drops $port (reject): $for_this are lost
    nft insert rule inet firewalld filter_INPUT $accept" << 'END'
inet firewalld filter_INPUT hook input accept
inet firewalld filter_FORWARD hook forward accept
inet firewalld filter_OUTPUT hook output accept
inet firewalld filter_INPUT_ZONES chain
inet firewalld filter_IN_public chain
inet firewalld filter_IN_public_allow chain
inet firewalld filter_INPUT {"match":{"op":"==","left":{"ct":{"key":"state"}},"right":{"set":["established","related"]}}},{"accept":null}
inet firewalld filter_INPUT {"match":{"op":"in","left":{"ct":{"key":"status"}},"right":"dnat"}},{"accept":null}
inet firewalld filter_INPUT {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"lo"}},{"accept":null}
inet firewalld filter_INPUT {"match":{"op":"in","left":{"ct":{"key":"state"}},"right":"invalid"}},{"drop":null}
inet firewalld filter_INPUT {"jump":{"target":"filter_INPUT_ZONES"}}
inet firewalld filter_INPUT {"reject":{"type":"icmpx","expr":"admin-prohibited"}}
inet firewalld filter_INPUT_ZONES {"goto":{"target":"filter_IN_public"}}
inet firewalld filter_IN_public {"jump":{"target":"filter_IN_public_allow"}}
inet firewalld filter_IN_public {"match":{"op":"==","left":{"meta":{"key":"l4proto"}},"right":{"set":["icmp","ipv6-icmp"]}}},{"accept":null}
inet firewalld filter_IN_public_allow {"match":{"op":"==","left":{"payload":{"protocol":"tcp","field":"dport"}},"right":22}},{"accept":null}
inet firewalld filter_FORWARD {"match":{"op":"==","left":{"ct":{"key":"state"}},"right":{"set":["established","related"]}}},{"accept":null}
inet firewalld filter_FORWARD {"reject":{"type":"icmpx","expr":"admin-prohibited"}}
inet firewalld filter_OUTPUT {"match":{"op":"==","left":{"meta":{"key":"oifname"}},"right":"lo"}},{"accept":null}
END
}

# A program decides: --run does not take this from it. Other targets end no chain.
queue()
{
	local finding="chain f of table ip filter may drop $port (queue): $routed would be lost"

	drops "$finding
    nft insert rule ip filter f $accept" << 'END' && checked true "$finding" &&
ip filter f hook forward accept
ip filter f {"queue":{"num":1}}
END
		drops "$run ip filter f $accept" << 'END'
ip filter f hook forward drop
ip filter f {"xt":{"type":"target","name":"DSCP"}}
ip filter f {"xt":{"type":"target","name":"CT"}}
END
}

# What is in a set that has a name is not known, nor what is in no other element.
named_sets()
{
	local left finding="chain f of table ip filter may drop $port (drop): $routed would be lost"

	for left in meta:iifname meta:l4proto meta:nfproto meta:protocol meta:pkttype ct:state; do
		drops "$finding
    nft insert rule ip filter f $accept" << END || return
ip filter f hook forward accept
ip filter f {"match":{"op":"==","left":{"${left%:*}":{"key":"${left#*:}"}},"right":"@set"}},{"drop":null}
END
	done
	drops "$finding
    nft insert rule ip filter f $accept" << 'END'
ip filter f hook forward accept
ip filter f {"vmap":{"key":{"meta":{"key":"iifname"}},"data":{"set":[["lo",{"accept":null}],["*",{"drop":null}]]}}}
END
}

states()
{
	drops "$run ip filter f $accept" << 'END' &&
ip filter f hook forward accept
ip filter n chain
ip filter f {"vmap":{"key":{"ct":{"key":"state"}},"data":{"set":[["established",{"accept":null}],["new",{"jump":{"target":"n"}}]]}}}
ip filter n {"match":{"op":"!=","left":{"ct":{"key":"state"}},"right":"established"}},{"drop":null}
END
		drops '' << 'END'
ip filter f hook forward drop
ip filter f {"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["established","new"]}},{"accept":null}
END
}

# Is this the one drop for a rule that accepts untracked packets? Others are here, too.
untracked_drop()
{
	{
		cat << 'END'
ip filter f hook forward drop
ip filter f {"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["established","untracked"]}},{"accept":null}
ip raw p chain
END
		echo "ip raw p $1"
	} | drops "$run ip filter f $accept" &&
		checked false "chain f of table ip filter $2 $port (policy drop): $routed $3 lost"
}

untracked()
{
	local tcp='{"match":{"op":"==","left":{"meta":{"key":"l4proto"}},"right":"tcp"}}'

	untracked_drop '{"counter":null}' drops are &&
		untracked_drop "$tcp,"'{"notrack":null}' drops are &&
		untracked_drop '{"notrack":null}' "may drop" "would be" &&
		untracked_drop '{"xt":{"type":"target","name":"CT"}}' "may drop" "would be"
}

# For a subnet with the identities, for this port, and for all devices of the network. A
# set with a name, in a rule for this port, is taken to have the right addresses.
accepted()
{
	drops '' << 'END'
ip a f hook forward drop
ip a f {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":{"prefix":{"addr":"10.0.0.0","len":24}}}},{"accept":null}
ip b f hook forward drop
ip b f {"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":18016}},{"accept":null}
ip c f hook forward drop
ip c f {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"@cluster"}},{"match":{"op":"==","left":{"payload":{"protocol":"th","field":"dport"}},"right":{"range":[18000,18100]}}},{"accept":null}
ip d f hook forward drop
ip d f {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth*"}},{"match":{"op":"==","left":{"meta":{"key":"oif"}},"right":{"set":["eth0","eth1"]}}},{"accept":null}
ip e f hook forward drop
ip e f {"vmap":{"key":{"payload":{"protocol":"udp","field":"dport"}},"data":{"set":[[53,{"drop":null}],[18016,{"accept":null}]]}}}
ip g f hook forward drop
ip g f {"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":{"set":[53,{"elem":{"val":18016,"comment":"aggnet"}}]}}},{"vmap":{"key":{"payload":{"protocol":"ip","field":"saddr"}},"data":{"set":[["10.0.0.1",{"accept":null}],[{"prefix":{"addr":"10.0.0.2","len":31}},{"accept":null}],["10.0.0.4",{"accept":null}]]}}}
END
}

# A rule that accepts the port, and has a condition that is not about addresses: in a
# statement of its own, an element of a set, or a map.
conditions()
{
	local dport='"left":{"payload":{"protocol":"udp","field":"dport"}}'
	local named='{"match":{"op":"==",'$dport',"right":18016}},' condition rule

	while read -r condition; do
		case $condition in
		*18016*) rule=$condition ;;
		*) rule=$named$condition,'{"accept":null}' ;;
		esac
		echo "$rule"
		drops "chain i of table ip filter may drop $port (policy drop): $for_this would be lost
    nft insert rule ip filter i $accept" << END || return
ip filter i hook input drop
ip filter i $rule
END
	done << END
{"limit":{"rate":3,"per":"minute"}}
{"quota":{"val":1,"val_unit":"mbytes"}}
{"ct count":{"val":10}}
{"meter":{"key":1,"stmt":{"limit":{"rate":3,"per":"minute"}}}}
{"xt":null}
{"xt":{"type":"match","name":"limit"}}
{"match":{"op":"==","left":{"meta":{"key":"mark"}},"right":7}}
{"match":{"op":"==","left":{"ct":{"key":"mark"}},"right":7}}
{"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"mgmt"}}
{"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"sport"}},"right":7}}
{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":{"set":[{"elem":{"val":{"prefix":{"addr":"10.0.0.0","len":24}},"limit":{"rate":3,"per":"minute"}}}]}}}
{"match":{"op":"==",$dport,"right":{"set":[{"elem":{"val":18016,"limit":{"rate":3,"per":"minute"}}}]}}},{"accept":null}
{"limit":{"rate":3,"per":"minute"}},{"vmap":{"key":{"payload":{"protocol":"udp","field":"dport"}},"data":{"set":[[18016,{"accept":null}]]}}}
$named{"vmap":{"key":{"meta":{"key":"mark"}},"data":{"set":[[7,{"accept":null}]]}}}
END
}

# Rules for some packets, which may be those of aggnet.
may_drop()
{
	local finding="chain f of table ip filter may drop $port (drop): $routed would be lost"

	drops "$finding
    nft insert rule ip filter f $accept" << 'END' &&
ip filter f hook forward accept
ip filter f {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"@some"}},{"drop":null}
END
		checked true "$finding" && drops "${finding/(drop)/(novelty)}
    nft insert rule ip filter f $accept" << 'END' &&
ip filter f hook forward accept
ip filter f {"limit":{"rate":3,"per":"minute"}},{"novelty":null}
END
		drops "$run ip filter f $accept" << 'END'
ip filter f hook forward drop
ip filter f {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":{"prefix":{"addr":"192.0.2.0","len":24}}}},{"accept":null}
ip filter f {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth0"}},{"accept":null}
ip filter f {"match":{"op":"!=","left":{"payload":{"protocol":"udp","field":"dport"}},"right":1}},{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"192.0.2.7"}},{"accept":null}
END
}

# One port, or one way through the host, is enough. INPUT is for what comes by no port.
ports()
{
	drops "$run ip filter f $accept" << 'END' &&
ip filter f hook forward accept
ip filter f {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth1"}},{"match":{"op":"==","left":{"meta":{"key":"oifname"}},"right":"eth0"}},{"drop":null}
END
		drops "chain o of table ip filter drops $port (drop): packets of this host are lost
    nft insert rule ip filter o $accept" << 'END' &&
ip filter o hook output accept
ip filter o {"match":{"op":"==","left":{"meta":{"key":"oifname"}},"right":"eth1"}},{"drop":null}
ip filter o {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth0"}},{"drop":null}
END
		drops "chain i of table ip filter may drop $port (drop): $for_this would be lost
    nft insert rule ip filter i $accept
chain j of table ip filter drops $port (policy drop): $for_this are lost
    nft insert rule ip filter j $accept" << 'END'
ip filter i hook input accept
ip filter i {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth0"}},{"drop":null}
ip filter i {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"mgmt"}},{"drop":null}
ip filter j hook input drop
ip filter j {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":{"set":["eth0","eth1"]}}},{"accept":null}
END
}

# A range that has this host's identity may not have the others'.
ranges()
{
	drops "$run ip filter f $accept" << 'END' &&
ip filter f hook forward drop
ip filter f {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":{"prefix":{"addr":"10.0.0.2","len":31}}}},{"accept":null}
END
		drops '' << 'END'
ip filter f hook forward drop
ip filter f {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":{"prefix":{"addr":"10.0.0.0","len":29}}}},{"accept":null}
END
}

# A rule may be for one member. Those that are for no member count for nothing.
members()
{
	local from='"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right"'
	local named='{"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":18016}}'
	local lost="drops $port, such as from 10.0.0.3 to 10.0.0.2"

	drops "chain i of table ip filter $lost (policy drop): $for_this are lost
    nft insert rule ip filter i $accept
chain o of table ip filter drops $port, such as from 10.0.0.2 to 10.0.0.4 (drop): packets of this host are lost
    nft insert rule ip filter o $accept
chain k of table ip filter $lost (drop): $for_this are lost
    nft insert rule ip filter k $accept" << END &&
ip filter f hook forward drop
ip filter i hook input drop
ip filter o hook output accept
ip filter k hook input accept
ip filter f {$from:{"set":["10.0.0.1","10.0.0.2"]}}},{"accept":null}
ip filter f {$from:"10.0.0.3"}},{"accept":null}
ip filter f {$from:"10.0.0.4"}},{"accept":null}
ip filter f {$from:{"prefix":{"addr":"10.0.0.0","len":24}}}},{"drop":null}
ip filter i {$from:"10.0.0.1"}},$named,{"accept":null}
ip filter i {$from:"192.0.2.7"}},$named,{"accept":null}
ip filter o {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"daddr"}},"right":"10.0.0.4"}},{"drop":null}
ip filter o {$from:"10.0.0.3"}},{"drop":null}
ip filter k {$from:"10.0.0.4"}},$named,{"accept":null}
ip filter k {$from:"192.0.2.7"}},{"drop":null}
ip filter k {$from:"10.0.0.3"}},{"drop":null}
END
		drops "$run ip filter f $accept" << END
ip filter f hook forward accept
ip filter f $named,{$from:"10.0.0.4"}},{"accept":null}
ip filter f $named,{"vmap":{"key":{"payload":{"protocol":"ip","field":"saddr"}},"data":{"set":[["10.0.0.1",{"accept":null}],["10.0.0.3",{"drop":null}]]}}}
END
}

# Of many members not all pairs are looked at, but each member is.
many_members()
{
	local from='"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right"'
	local described=many i

	{
		echo "topology graph"
		echo "switch a0"
		for i in {1..20}; do
			echo "host node$i"
			echo "link node$i a0"
			echo "address node$i 10.0.0.$i"
			echo "address node$i-a0 192.168.10.$i"
		done
	} > many
	for i in 1 3 11 20; do
		drops "$run ip filter f $accept
chain i of table ip filter drops $port, such as from 10.0.0.$i to 10.0.0.2 (drop): $for_this are lost
    nft insert rule ip filter i $accept" << END || return
ip filter f hook forward accept
ip filter i hook input accept
ip filter f {$from:"10.0.0.$i"}},{"drop":null}
ip filter i {$from:"10.0.0.$i"}},{"drop":null}
END
		rules << END
ip filter f hook forward accept
ip filter f {${from/saddr/daddr}:"10.0.0.$i"}},{"drop":null}
END
		found | grep -x "$run ip filter f $accept" || return
	done
}

# A rule that gives packets another address or port; another field of theirs is not asked for.
rewritten()
{
	drops "chain f of table ip filter may drop $port (a rule that sets an address or a port): $routed would be lost
    nft insert rule ip filter f $accept" << 'END'
ip filter f hook forward accept
ip filter f {"mangle":{"key":{"payload":{"protocol":"ip","field":"daddr"}},"value":"192.0.2.7"}}
ip filter i hook input accept
ip filter i {"mangle":{"key":{"payload":{"protocol":"ip","field":"dscp"}},"value":"cs1"}}
END
}

# A return, a goto, and a jump that goes round, which the kernel would not take.
jumps()
{
	drops "$run ip filter f $accept
chain i of table ip filter may drop $port (a jump that cannot be followed): $for_this would be lost
    nft insert rule ip filter i $accept" << 'END'
ip filter f hook forward drop
ip filter i hook input accept
ip filter a chain
ip filter b chain
ip filter c chain
ip filter f {"jump":{"target":"a"}}
ip filter f {"goto":{"target":"b"}}
ip filter f {"accept":null}
ip filter a {"return":null}
ip filter a {"accept":null}
ip filter b {"counter":null}
ip filter i {"jump":{"target":"c"}}
ip filter c {"jump":{"target":"c"}}
END
}

dormant()
{
	rules <<< 'ip filter f hook forward drop'
	jq '.nftables |= [{table: {family: "ip", name: "filter", flags: "dormant"}}] + .' \
		ruleset > asleep && mv asleep ruleset && [ -z "$(found)" ]
}

# Commands of others would be refused.
owned()
{
	rules <<< 'inet firewalld f hook forward drop'
	jq '.nftables |= [{table: {family: "inet", name: "firewalld",
		flags: ["owner", "persist"]}}] + .' ruleset > own && mv own ruleset
	found | diff - <(printf '%s\n\n' "chain f of table inet firewalld drops $port (policy drop): $routed are lost; a program owns the table: permit the port there")
}

# No command has what a shell would execute.
odd_name()
{
	drops "chain f;reboot of table ip filter drops $port (policy drop): $routed are lost"$'\n' \
		<<< 'ip filter f;reboot hook forward drop'
}

unreadable()
{
	local said="the rules of nftables cannot be read: 'nft -j list ruleset' fails"

	echo '{"nftables": [' > ruleset && checked false "$said" &&
		found | diff - <(printf '%s\n    nft -j list ruleset\n' "$said") &&
		"$aggctl" -j host check | jq -e 'any(.[]; .what == "firewall" and
			.fix == "nft -j list ruleset")'
}

# The command installs the description, and replaces another one; a pipe has no second text.
installed()
{
	local -x AGGNET_NETWORK=$PWD/"etc of 'us'"/network

	is_there '^install' && return 1
	missing '^install' > typed && cat typed &&
		sh -e typed && cmp net "$AGGNET_NETWORK" && is_there '^install' &&
		[ "$(stat -c %a "$AGGNET_NETWORK")" = 644 ] &&
		"$aggctl" -j host init --topology "@$AGGNET_NETWORK" |
		jq -e 'all(.missing[]; startswith("install") | not)' || return
	echo "# changed" >> net
	missing '^install' > typed && sh -e typed && cmp net "$AGGNET_NETWORK" &&
		[ "$(ls "${AGGNET_NETWORK%/*}")" = network ] || return
	AGGNET_NETWORK=$PWD/there
	lacks '^install' "install -D -m 644 net $PWD/there.new && mv $PWD/there.new $PWD/there" &&
		! "$aggctl" host init --topology @<(cat net) | grep ^install
}

# --run executes all, also if one fails: here the module cannot be loaded. nft lists once.
not_opened()
{
	rules << 'END'
inet filter input hook input drop
inet filter forward hook forward drop
END
	: > asked
	printf '#!/bin/sh\nexit 1\n' > modprobe
	chmod +x modprobe
	! "$aggctl" host init --topology @net --run > said 2>&1
	set -- $?
	cat said asked
	[ "$1" = 0 ] && diff asked - <<< "-j list ruleset
insert rule inet filter forward $accept" &&
		grep -x "aggctl: host: 'modprobe aggnet' failed" said &&
		grep -x "#     nft insert rule inet filter input $accept" said &&
		grep -m 1 -B 1 '^# for you' said | head -n 1 |
			grep -x "nft insert rule inet filter forward $accept"
}

typed()
{
	awk -v head="The file \`\`$1\`\`::" '$0 == head { inside = 1; next }
		inside && /^[^ ]/ { exit }
		inside { print substr($0, 5) }' "$page" > "$1"
}

typed net
typed racks
ip link set lo up
# The other end of each is down at first.
for device in eth0=192.168.10.2 eth1=192.168.21.2; do
	ip link add "${device%=*}" mtu 1500 type veth
	ip address add "${device#*=}/24" dev "${device%=*}"
	ip link set "${device%=*}" up
done
printf '#!/bin/sh\necho "$*" >> asked\ncat ruleset\n' > nft
chmod +x nft
PATH=$PWD:$PATH
rules < /dev/null
check "a device that is down comes first, routes come after the module" down
check "routes have the identity as their source" routes
check "a route without it is not enough" no_source
check "a route by a gateway of an earlier description is not enough" stale
check "a route over another network is kept" other_network
check "routes of a daemon, and of several next hops, are kept" daemon
check "a NIC's address as the identity needs no route" rack
check "a default route by another device does not lead to the racks" managed_rack
ip route del default
check "the names of links, as plans of scheme packet name them" links
check "a report has routes and neighbours" reported
check "rules for other packets" all_accepted
check "chains with policy drop: one command for forwarding, advice for the others" policy
check "several chains that forward: one transaction" several
check "a rule at the end that rejects" rejected_at_the_end
check "ufw" ufw
check "docker" docker
check "firewalld" firewalld
check "a queue" queue
check "sets with names" named_sets
check "states of connections" states
check "packets that are not tracked" untracked
check "rules that accept the packets" accepted
check "rules for the port with other conditions" conditions
check "rules that may drop the packets" may_drop
check "rules for some ports" ports
check "ranges of addresses" ranges
check "rules for some members" members
check "rules for some of many members" many_members
check "rules that change packets" rewritten
check "jumps" jumps
check "a table that sleeps" dormant
check "a table that a program owns" owned
check "a name that cannot be typed" odd_name
check "rules that cannot be read" unreadable
check "input is not opened by --run" not_opened
check "the description is installed" installed
end_rows
