#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "aggctl host init" finds what a server of the page "Your cluster" lacks, and its commands
# provide it. The server is a network namespace with devices that lead nowhere.
# shellcheck disable=SC2317 # rows are called
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
page=$top/Documentation/cluster.rst
n=0 failed=0

# In a namespace of this user, who is root there.
if [ "${1:-}" != inside ]; then
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	cd "$tmp" && unshare -rn "$top/selftests/unit/${0##*/}" inside
	exit
fi

# check WHAT COMMAND...: a row, which passes if the command does
check()
{
	n=$((n + 1))
	if "${@:2}" > log 2>&1; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' log
		failed=1
	fi
}

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

	lacks '^ip route' "$(sed -n 's/^ *\(ip route .*\)/\1/p' "$page")" || return
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
check "routes have the identity as their source" routes
check "a route without it is not enough" no_source
check "a route over another network is kept" other_network
check "routes of a daemon, and of several next hops, are kept" daemon
check "a NIC's address as the identity needs no route" rack
echo "1..$n"
exit $failed
