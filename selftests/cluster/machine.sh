#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The command of a guest that is one machine of a cluster: it runs what machines.sh
# leaves for it, until it is told to end.
# Usage: machine.sh DIR NAME
#   DIR/command.N   the N-th command, which runs in DIR/home and ends with the
#                   first error; DIR/output.N and DIR/status.N are its output and
#                   status
#   DIR/etc         its /etc/aggnet, which a reboot keeps
#   DIR/boot        commands that it executes when it boots
dir=$1

# hide: with the packages it sees nothing of the source tree but the machines' directories
hide()
{
	local cluster=${dir%/*} top=${dir%/build/*}

	mkdir /run/cluster && mount --bind "$cluster" /run/cluster &&
		mount -t tmpfs hidden "$top" && mkdir -p "$cluster" &&
		mount --move /run/cluster "$cluster" || exit
	# guest.sh writes there.
	# shellcheck disable=SC2064 # now
	trap "cd /; umount -l '$top'" EXIT
}

hostname "$2"
[ -z "$VM_LAYER" ] || hide
mkdir -p "$dir/home" "$dir/etc"
ln -sfn "$dir/etc" /etc/aggnet
cd "$dir/home" || exit
modprobe -q virtio_net
for nic in /sys/class/net/eth*; do
	ip link set "${nic##*/}" up
done
[ ! -e "$dir/boot" ] || bash "$dir/boot" > "$dir/booted" 2>&1 < /dev/null
for port in /sys/class/virtio-ports/*/name; do
	[ "$(< "$port")" != wake ] || wake=${port%/name}
done
exec {wake}< "/dev/${wake##*/}"
echo ready > "$dir/ready"
for ((n = 1; ; n++)); do
	# A line comes with each command. To look for it many times a second would cost
	# the emulator a tenth of a CPU.
	until [ -e "$dir/command.$n" ]; do
		read -r -t 5 -u "$wake"
	done
	# The emulator needs a fifth of a second to start a program.
	(
		set -e
		# shellcheck source=/dev/null
		. "$dir/command.$n"
	) > "$dir/output.$n" 2>&1 < /dev/null {wake}<&-
	echo $? > "$dir/status.$n"
	[ ! -e "$dir/end" ] || exit 0
done
