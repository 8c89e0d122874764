# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced: the page "Your cluster", its commands, and its four servers as machines.
#   ok STATUS WHAT                print a result
#   block INTRODUCTION [N]        print the N-th literal block after a paragraph
#   unused FIRST [LAST]           list the literal blocks from the one section to the other
#                                 that nothing has printed
#   rows N                        print the plan of N results, and of that of installed
#   installed                     with PACKAGES=1: a result, whether the machines have the
#                                 packages and use nothing else
#   up                            boot the four servers of the page
#   inputs                        a file of records for each source; their values differ
#   exact SOURCE...               does each key of the result have the sum of these?
#   spread_plan                   copy the receiver's plan to the sources
#   everywhere COMMAND SERVER...  run it on each of them at the same time
#   asked NAME...                 ask "host check" and "why $JOB" there, at the same time
#   named NAME CHECK WHY          did they say so?
#   mended NAME...                execute what "host check" prints next, until it finds
#                                 nothing
. "$(dirname "${BASH_SOURCE[0]}")/machines.sh"

PAGE=$TOP/Documentation/cluster.rst
SERVERS=(node1 node2 node3 node4)
RECEIVER=node1
SOURCES=(node2 node3 node4)
TESTS=0 FAILED=0
init='aggctl host init --topology @net --run'

needs_root()
{
	[ "$(id -u)" = 0 ] || {
		echo "1..0 # SKIP it needs root, to join machines by a network"
		exit 4
	}
}

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

rows()
{
	[ "${PACKAGES:-0}" = 0 ] || set -- $(($1 + 1))
	echo "1..$1"
}

# block INTRODUCTION [N]: print the N-th literal block after a paragraph whose last
# line is so
block()
{
	awk -v last="$1::" -v n="${2:-1}" -v used="$CLUSTER/used" '
		$0 == last || substr($0, length($0) - length(last)) == " " last {
			inside = ++seen == n
			if (inside)
				print NR >> used
			next
		}
		inside && /^[^ ]/ { exit }
		inside && (/^    / || text) {
			text = text substr($0, 5) "\n"
		}
		END { sub(/\n+$/, "\n", text); printf "%s", text }' "$PAGE"
}

# unused FIRST [LAST]: list the literal blocks from one section to another that nothing has
# printed. A drawing follows a line of its own with two colons.
unused()
{
	awk -v first="$1" -v last="${2:-}" 'FILENAME == ARGV[1] { used[$1]; next }
		/^=+$/ { if (title == first) on = 1; if (title == last) off = 1 }
		{ title = $0 }
		on && !off && /[^:]::$/ && !(FNR in used) {
			print "# nothing executes: " FNR ": " $0
			n++
		}
		END { exit !on || (last != "" && !off) || n > 0 }' "$CLUSTER/used" "$PAGE"
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
	echo "$command" > "$CLUSTER/$name/boot"
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

# of_packages: the commands that find out, on a machine whose module is loaded, whether
# what it has and executes is of the packages
of_packages()
{
	cat << 'END'
	packages="aggnet aggnet-dkms libaggnet0 libaggtree0"
	dpkg-query -W -f '${Package} ${Version} ${Status}\n' $packages
	[ "$(dpkg-query -W -f '${Status}\n' $packages | uniq)" = "install ok installed" ]
	[ -z "$(dpkg --verify $packages)" ]
	[ "$(command -v aggctl)" = /usr/bin/aggctl ]
	dpkg -S /usr/bin/aggctl
	module=/lib/modules/$(uname -r)/updates/dkms/aggnet.ko
	[ "$(modinfo -n aggnet)" = "$module" ]
	[ "$(modinfo -F srcversion aggnet)" = "$(< /sys/module/aggnet/srcversion)" ]
END
	cat << END
	[ -z "\$(ldd /usr/bin/aggctl | grep $TOP)" ]
	[ -z "\$(find $TOP -name '*.ko' -o -name '*.so*' -o -name 'aggctl*')" ]
END
}

installed()
{
	[ -n "$LAYER" ] || return 0
	everywhere "$(of_packages)" "${SERVERS[@]}"
	ok $? "the packages are installed, and nothing of the source tree is used"
}

spread_plan()
{
	local name

	for name in "${SOURCES[@]}"; do
		cp "$CLUSTER/$RECEIVER/home/plan.json" "$CLUSTER/$name/home" || return
	done
}

# records VALUE: 5000 keys, each with this value
records()
{
	seq 5000 | sed "s/\$/\t$1/"
}

# The values are powers of two: a sum tells whose records it has.
inputs()
{
	local i

	for i in "${!SOURCES[@]}"; do
		records $((1 << i)) > "$CLUSTER/${SOURCES[i]}/home/counts.tsv"
	done
}

# exact SOURCE...: does each key of the result have the sum of these?
exact()
{
	local i sum=0

	for i in "${!SOURCES[@]}"; do
		[[ " $* " != *" ${SOURCES[i]} "* ]] || sum=$((sum + (1 << i)))
	done
	records $sum | LC_ALL=C sort > "$CLUSTER/expected"
	LC_ALL=C sort "$CLUSTER/$RECEIVER/home/result" | cmp - "$CLUSTER/expected"
}

# unit_commands: print what systemd executes for the unit
unit_commands()
{
	local unit=$TOP/tools/aggctl/aggnet.service

	[ -z "$LAYER" ] || unit=$LAYER/usr/lib/systemd/system/aggnet.service
	sed -n 's/^ExecStart\(Pre\)\{0,1\}=//p' "$unit"
}

transfer()
{
	start node1 "$(block "On node1, and wait")"
	everywhere "$(block "On each other server")" \
		node2 node3 node4 &&
		finish node1
}

change()
{
	if [ "$(type -t "${2%% *}")" = function ]; then
		$2
	else
		on "$1" "$2"
	fi > "$CLUSTER/changed"
}

# asked NAME...: "host check" of the plan has to fail there. What it and "why" print is in
# files of the machine.
asked()
{
	everywhere "status=0
		aggctl host check plan.json > found && status=1
		aggctl why $JOB > reasons || :
		exit \$status" "$@"
}

# named NAME CHECK WHY: has what was asked there lines as these patterns say, with the name
# of the server?
named()
{
	local status=0 home=$CLUSTER/$1/home

	grep -q "^no  *$2.* $1 *$" "$home/found" || status=1
	grep -qw "$1" "$home/reasons" && grep -qE "$3" "$home/reasons" || status=1
	[ $status = 0 ] || sed 's/^/# /' "$home/found" "$home/reasons"
	return $status
}

# mended NAME...: execute what "host check" prints next there, until it finds nothing. It
# may be a command for another server: what is found there is mended there.
mended()
{
	local round name fix fixes failed others

	for ((round = 0; round < 4; round++)); do
		failed=() others=()
		for name in "$@"; do
			start "$name" "aggctl -j host check plan.json > check.json"
		done
		for name in "$@"; do
			finish "$name" || failed+=("$name")
		done
		[ ${#failed[@]} != 0 ] || return 0
		for name in "${failed[@]}"; do
			fixes=''
			while read -r fix; do
				echo "$name: $fix"
				case $fix in
				"ssh "*" aggctl host check")
					read -r _ fix _ <<< "$fix"
					others+=("$fix") ;;
				*)
					fixes+="$fix || :"$'\n' ;;
				esac
			done < <(jq -r '.[] | select(.ok | not) | .fix // empty' \
				"$CLUSTER/$name/home/check.json" | uniq)
			start "$name" "$fixes"
		done
		for name in "${failed[@]}"; do
			finish "$name"
		done
		[ ${#others[@]} = 0 ] || mended "${others[@]}" || return
		set -- "${failed[@]}"
	done
	on "$1" "aggctl host check plan.json"
	return 1
}
