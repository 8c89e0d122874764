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
#   cable NAME N off|on           pull the cable of its N-th NIC, or plug it in
#   power_off NAME                cut its power
#   power_on NAME                 boot it again
#   capture                       record aggnet's packets at all NICs from now on
#   captured                      end that; print a name for each recorded packet, and fail
#                                 if Wireshark's dissector does not decode each of them
# With PACKAGES=1 the machines have the Debian packages, whose files $LAYER has, and see nothing
# of the source tree; else programs and modules are the tree's.
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

# A process for each wait would cost more than what is waited for.
exec {NAP}<> <(:)

# nap SECONDS
nap()
{
	read -r -t "$1" -u "$NAP" || :
}

MACHINES=() NAMESPACES=() CAPTURE='' LAYER=''
declare -A PID KERNEL_OF QEMU_OF

machines_begin()
{
	[ "${PACKAGES:-0}" = 0 ] || LAYER=$("$TOP/selftests/packages/layer.sh") || exit
	CLUSTER=$(mktemp -d "$BUILD/vm/cluster.XXXXXX")
	NETNS=aggnet-${CLUSTER##*.}
	trap machines_end EXIT
	ip netns add "$NETNS" && NAMESPACES+=("$NETNS")
}

# Runs when the script ends, however it does.
machines_end()
{
	local name

	trap - EXIT
	[ -z "$CAPTURE" ] || kill "$CAPTURE"
	for name in "${MACHINES[@]}"; do
		machine_end "$name"
	done
	for name in "${NAMESPACES[@]}"; do
		ip netns del "$name"
	done
	[ "${VM_KEEP:-0}" != 0 ] || rm -rf --one-file-system "$CLUSTER"
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
	local name=$1 dir=$CLUSTER/$1 tap qemu='' number=${#MACHINES[@]}
	local nic=0 switch

	KERNEL_OF[$name]=$2
	shift 2
	mkdir "$dir"
	[ -n "$LAYER" ] || "$VM_DIR/module.sh" product "${KERNEL_OF[$name]}" > "$dir/module" ||
		die "no module"
	mkfifo "$dir"/{monitor,wake}.{in,out}
	for switch in "$@"; do
		tap=t$number.$nic
		ip -n "$NETNS" tuntap add dev "$tap" mode tap
		ip -n "$NETNS" link set "$tap" master "$switch" up
		qemu+=" -netdev tap,id=n$nic,ifname=$tap,script=no,downscript=no"
		qemu+=" -device virtio-net-pci,netdev=n$nic"
		qemu+=",mac=52:54:00:00:$(printf '%02x:%02x' "$number" "$nic")"
		nic=$((nic + 1))
	done
	qemu+=" -chardev pipe,id=monitor,path=$dir/monitor -mon chardev=monitor"
	QEMU_OF[$name]=$qemu
	MACHINES+=("$name")
	power_on "$name"
}

power_on()
{
	local dir=$CLUSTER/$1 wake

	wake=" -chardev pipe,id=wake,path=$dir/wake"
	wake+=" -device virtserialport,chardev=wake,name=wake"
	[ -z "${PID[$1]}" ] || ! kill -0 "${PID[$1]}" 2> /dev/null || power_off "$1"
	rm -f "$dir"/{ready,command.*,output.*,status.*}
	KERNEL=${KERNEL_OF[$1]} VM_SMP=1 VM_MEM=${MACHINE_MEM:-512} VM_NO_MODULE=1 \
		VM_QEMU=${QEMU_OF[$1]}$wake VM_LAYER=$LAYER VM_TIMEOUT="${VM_TIMEOUT:-1800}" \
		ip netns exec "$NETNS" "$VM_DIR/run.sh" \
		"$TOP/selftests/cluster/machine.sh $dir $1" \
		> "$dir/log" 2>&1 &
	PID[$1]=$!
}

# A reset, after which QEMU ends: nothing is written and no peer is told.
power_off()
{
	local dir=$CLUSTER/$1 run

	start "$1" "echo b > /proc/sysrq-trigger"
	wait "${PID[$1]}" 2> /dev/null || :
	run=$(sed -n 's/.*logs are in //p' "$dir/log")
	[ "${VM_KEEP:-0}" != 0 ] || [ -z "$run" ] || rm -rf "$run"
}

cable()
{
	echo "set_link n$2 $3" > "$CLUSTER/$1/monitor.in"
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
			nap 0.1
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
	# Also if no emulator reads it.
	echo 1<> "$dir/wake.in"
}

finish()
{
	local dir=$CLUSTER/$1 n

	n=$(given "$1")

	until [ -s "$dir/status.$n" ]; do
		kill -0 "${PID[$1]}" 2> /dev/null || {
			cat "$dir/log"
			say "$1 has ended"
			return 255
		}
		nap 0.05
	done
	cat "$dir/output.$n"
	return "$(< "$dir/status.$n")"
}

capture()
{
	ip netns exec "$NETNS" dumpcap -q -i any -f "udp port 18016" \
		-w "$CLUSTER/packets" 2> "$CLUSTER/dumpcap" &
	CAPTURE=$!
	until grep -q '^File:' "$CLUSTER/dumpcap"; do
		kill -0 "$CAPTURE" || {
			cat "$CLUSTER/dumpcap"
			die "packets cannot be captured"
		}
		nap 0.1
	done
}

dissector()
{
	if [ -n "$LAYER" ]; then
		echo "$LAYER"/usr/lib/*/wireshark/plugins/aggnet.lua
	else
		echo "$TOP/tools/wireshark/aggnet.lua"
	fi
}

captured()
{
	local names

	kill -INT "$CAPTURE"
	wait "$CAPTURE" || :
	CAPTURE=''
	names=$(tshark -r "$CLUSTER/packets" \
		-X "lua_script:$(dissector)" -T fields \
		-e frame.protocols -e aggnet.type -e aggnet.malformed -e _ws.malformed \
		2> "$CLUSTER/tshark") || return
	awk -F '\t' '{ print $2 }
		$1 !~ /:aggnet/ || $2 == "" || $3 $4 != "" { bad++ }
		END { exit !NR || bad }' <<< "$names"
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
