# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: machines, each a guest with a kernel of its own, joined by bridges in a
# network namespace of their own. A bridge is a switch that knows nothing of aggnet.
#   machines_begin                a namespace; everything ends with the script
#   switch NAME                   add a bridge
#   machine NAME KERNEL SWITCH... boot a machine with a NIC at each switch: eth0, ...
#   machines_wait                 until all of them take commands
#   on NAME COMMAND               run it there, print its output; its status
#   start NAME COMMAND            begin it there
#   finish NAME                   wait for it, print its output; its status
#   nic NAME N LINK-OPTION...     change the switch's end of its N-th NIC
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

MACHINES=()
declare -A PID

machines_begin()
{
	CLUSTER=$(mktemp -d "$BUILD/vm/cluster.XXXXXX")
	NETNS=aggnet-${CLUSTER##*.}
	trap machines_end EXIT
	ip netns add "$NETNS"
}

# Runs when the script ends, however it does.
machines_end()
{
	local name

	trap - EXIT
	for name in "${MACHINES[@]}"; do
		machine_end "$name"
	done
	ip netns del "$NETNS"
	[ "${VM_KEEP:-0}" != 0 ] || rm -rf "$CLUSTER"
}

# A machine that answers powers off; another one is killed.
machine_end()
{
	local dir=$CLUSTER/$1

	: > "$dir/end"
	start "$1" true
	[ -e "$dir/ready" ] || kill "${PID[$1]}" 2> /dev/null
	wait "${PID[$1]}" 2> /dev/null || :
}

switch()
{
	ip -n "$NETNS" link add "$1" type bridge mcast_snooping 0 &&
		ip -n "$NETNS" link set "$1" up
}

machine()
{
	local name=$1 kernel=$2 dir=$CLUSTER/$1 tap qemu='' number=${#MACHINES[@]}
	local nic=0 switch

	shift 2
	"$VM_DIR/module.sh" product "$kernel" > "$TMP/module"
	mkdir "$dir"
	for switch in "$@"; do
		tap=t$number.$nic
		ip -n "$NETNS" tuntap add dev "$tap" mode tap
		ip -n "$NETNS" link set "$tap" master "$switch" up
		qemu+=" -netdev tap,id=n$nic,ifname=$tap,script=no,downscript=no"
		qemu+=" -device virtio-net-pci,netdev=n$nic"
		qemu+=",mac=52:54:00:00:$(printf '%02x:%02x' "$number" "$nic")"
		nic=$((nic + 1))
	done
	MACHINES+=("$name")
	KERNEL=$kernel VM_SMP=1 VM_MEM=512 VM_NO_MODULE=1 VM_QEMU=$qemu \
		VM_TIMEOUT="${VM_TIMEOUT:-900}" \
		ip netns exec "$NETNS" "$VM_DIR/run.sh" \
		"$TOP/selftests/cluster/machine.sh $dir $name" \
		> "$dir/log" 2>&1 &
	PID[$name]=$!
}

machines_wait()
{
	local name

	for name in "${MACHINES[@]}"; do
		until [ -e "$CLUSTER/$name/ready" ]; do
			kill -0 "${PID[$name]}" 2> /dev/null || {
				cat "$CLUSTER/$name/log"
				die "$name does not boot"
			}
			read -r -t 0.1 <> <(:)
		done
	done
}

# given NAME: print how many commands the machine was given
given()
{
	local n=0

	while [ -e "$CLUSTER/$1/command.$((n + 1))" ]; do
		n=$((n + 1))
	done
	echo $n
}

start()
{
	local dir=$CLUSTER/$1 n=$(($(given "$1") + 1))

	printf '%s\n' "$2" > "$dir/command.new"
	mv "$dir/command.new" "$dir/command.$n"
}

finish()
{
	local dir=$CLUSTER/$1 n

	n=$(given "$1")

	until [ -e "$dir/status.$n" ]; do
		kill -0 "${PID[$1]}" 2> /dev/null || {
			cat "$dir/log"
			say "$1 has ended"
			return 255
		}
		read -r -t 0.05 <> <(:)
	done
	cat "$dir/output.$n"
	return "$(< "$dir/status.$n")"
}

nic()
{
	local i=0

	until [ "${MACHINES[i]}" = "$1" ]; do
		i=$((i + 1))
	done
	ip -n "$NETNS" link set "t$i.$2" "${@:3}"
}

on()
{
	start "$1" "$2"
	finish "$1"
}
