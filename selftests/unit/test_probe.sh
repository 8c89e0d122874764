#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "aggctl probe group" groups members by the largest gap of round trips, gives links the
# rates that were measured, and names what it refuses.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
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

# links NAME EXPECTED OPTION... < LINES: the links of the description
links()
{
	local got

	cat > lines
	got=$("$aggctl" probe group "${@:3}" lines 2>&1 |
		awk '$1 == "link" { printf "%s-%s-%s ", $2, $3, $4 }')
	result "$1" "$([ "$got" = "$2" ] || echo "$got")"
}

# refused NAME SENTENCE < LINES
refused()
{
	local got

	cat > lines
	if got=$("$aggctl" probe group lines 2>&1); then
		got="accepted: $got"
	fi
	result "$1" "$(grep -qF -- "$2" <<< "$got" || echo "$got")"
}

links "two racks" "a-rack-1-9000 c-rack-2-8000 b-rack-1-9000 d-rack-2-8000 core-rack-1-700 core-rack-2-700 " <<- END
a 10.0.0.1 c 10.0.0.3 900000 600
a 10.0.0.1 b 10.0.0.2 100000 9000
c 10.0.0.3 d 10.0.0.4 130000 8000
d 10.0.0.4 b 10.0.0.2 800000 700
c 10.0.0.3 d 10.0.0.4 110000 0
c 10.0.0.3 b 10.0.0.2 990000 500
END
links "one rack, without rates" "a-rack-1- b-rack-1- c-rack-1- " <<- END
a 10.0.0.1 b 10.0.0.2 100000 0
b 10.0.0.2 c 10.0.0.3 150000 0
END
links "a limit instead of the gap" "a-rack-1- b-rack-1- c-rack-2- core-rack-1- core-rack-2- " \
	--within 120us <<- END
a 10.0.0.1 b 10.0.0.2 100000 0
b 10.0.0.2 c 10.0.0.3 150000 0
END
links "three racks, of which one has one member" \
	"a-rack-1- b-rack-1- c-rack-2- d-rack-2- e-rack-3- core-rack-1- core-rack-2- core-rack-3- " <<- END
a 10.0.0.1 b 10.0.0.2 10 0
b 10.0.0.2 c 10.0.0.3 200 0
c 10.0.0.3 d 10.0.0.4 12 0
d 10.0.0.4 e 10.0.0.5 210 0
END
refused "a line of something else" "line 2 is refused" <<- END
a 10.0.0.1 b 10.0.0.2 100000 0
a 10.0.0.1 b 10.0.0.2 soon 0
END
refused "too many words" "line 1 is refused" <<< "a 10.0.0.1 b 10.0.0.2 100000 0 x"
refused "a wrong address" "line 1 is refused" <<< "a 10.0.0 b 10.0.0.2 100000 0"
refused "a member and itself" "line 1 is refused" <<< "a 10.0.0.1 a 10.0.0.1 5 0"
refused "two addresses of a member" "member 'a' has two addresses" <<- END
a 10.0.0.1 b 10.0.0.2 100000 0
a 10.0.0.3 b 10.0.0.2 100000 0
END
refused "a number with a sign" "line 1 is refused" <<< "a 10.0.0.1 b 10.0.0.2 -5 0"
refused "a number of more than 64 bits" "line 1 is refused" \
	<<< "a 10.0.0.1 b 10.0.0.2 99999999999999999999 0"
mkdir directory
got=$("$aggctl" probe group directory 2>&1)
result "a file that cannot be read" \
	"$([[ $? = 1 && $got == *"directory: Is a directory"* ]] || echo "$got")"
refused "no line at all" "nothing was measured" < /dev/null
got=$("$aggctl" probe measure a=203.0.113.1 b=203.0.113.2 2>&1)
result "no member is this host" \
	"$(grep -qF "no member has an address of this host" <<< "$got" || echo "$got")"
# With ip_nonlocal_bind each address can be bound.
bound()
{
	sysctl -qw net.ipv4.ip_nonlocal_bind=1 && ip link set lo up &&
		ip address add 10.1.1.2/32 dev lo &&
		"$aggctl" probe measure a=10.1.1.9 b=10.1.1.2
}
export aggctl
export -f bound
got=$(unshare -rn bash -c bound 2>&1)
result "an address that is only bound is not of this host" \
	"$(grep -q "^aggctl: probe: 10.1.1.9: " <<< "$got" || echo "$got")"
got=$("$aggctl" probe measure a= b=192.0.2.2 2>&1)
result "a member without an address" \
	"$([[ $? = 2 && $got == *"'a=' is not"* ]] || echo "$got")"
echo "1..$n"
exit $failed
