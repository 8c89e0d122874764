#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# First process of the guest: loads the module, runs the command, unloads the
# module, hands the status over its own channel and powers off.
# Usage: guest.sh TOP RUN KERNEL LAYER (from the initramfs)
#   LAYER  not empty: programs, libraries and modules are where packages install them
top=$1 run=$2 kernel=$3 layer=$4

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ -n "$layer" ] || PATH=$top/tools/aggctl:$PATH
export VM_INSIDE=1 HOME=/root LANG=C.UTF-8 KERNEL=$kernel TMPDIR=/tmp

# port NAME: print the device of this virtio-serial port
port()
{
	local name

	for name in /sys/class/virtio-ports/*/name; do
		[ "$(< "$name")" != "$1" ] || {
			name=${name%/name}
			echo "/dev/${name##*/}"
			return
		}
	done
}

mount_all()
{
	mkdir -p /dev/pts /dev/shm
	mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
	mount -t tmpfs shm /dev/shm
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mount -t bpf bpf /sys/fs/bpf
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing
	ln -sfn /proc/self/fd /dev/fd
	ln -sfn /proc/self/fd/0 /dev/stdin
	ln -sfn /proc/self/fd/1 /dev/stdout
	ln -sfn /proc/self/fd/2 /dev/stderr
	ln -sfn /proc/self/mounts /etc/mtab
} 2> /dev/null

# Install the modules of the running kernel only.
modules()
{
	local tree

	tree=$top/build/vm/$kernel/lib/modules/$(uname -r)
	[ -d "$tree" ] || return
	mkdir -p /lib/modules
	mount -t tmpfs modules /lib/modules
	ln -s "$tree" "/lib/modules/$(uname -r)"
}

load()
{
	local module=${VM_MODULE:-$top/build/$kernel/aggnet.ko}

	[ -e "$module" ] || return 0
	[ -z "$VM_NO_MODULE" ] || return 0
	# shellcheck disable=SC2086 # parameters
	insmod "$module" $VM_MODULE_ARGS
}

unload()
{
	[ -d /sys/module/aggnet ] || return 0
	rmmod aggnet
}

# Set a CPU limit, if the kernel has CPU limits.
hold_limit()
{
	local at=/sys/fs/cgroup

	grep -qw cpu $at/cgroup.controllers || return 0
	echo +cpu > $at/cgroup.subtree_control && mkdir $at/hold || return
	[ ! -e $at/hold/cpu.max ] || echo "1000000 1000000" > $at/hold/cpu.max
}

# others 0|1: put all CPUs but the first offline, or online again
others()
{
	local cpu

	for cpu in /sys/devices/system/cpu/cpu*/online; do
		[ ! -w "$cpu" ] || [ "$(cat "$cpu")" = "$1" ] || echo "$1" > "$cpu"
	done
}

# Attaching the first port, or detaching the last, patches a jump in the receive
# path, and the first CPU limit patches one in the scheduler. With one thread
# per CPU the emulator may execute the int3 of such a patch after the kernel has
# removed its handler; this is a panic that real machines do not have. One
# permanent user of each of these jumps keeps them unchanged, and no other CPU runs
# while they are patched for it. Tracing an event must not record the running thread
# either.
hold_jumps()
{
	others 0 &&
	nft -f - << 'END' &&
table netdev hold {
	chain ingress {
		type filter hook ingress device lo priority 0
	}
}
table ip hold {
	chain output {
		type filter hook output priority 0
	}
}
END
	ip link add hold type vxlan id 1 dstport 4799 &&
	ip link set hold up &&
	hold_limit &&
	echo 0 > /sys/kernel/tracing/options/record-cmd &&
	others 1
}

# Use a directory of the default search path: each other one costs a look-up for
# every library of every process.
library()
{
	local from=$top/build/tools/libaggnet/libaggnet.so.0

	[ ! -e "$from" ] || cp -L "$from" /usr/lib/
}

# Report unreferenced memory. Objects younger than five seconds are not
# reported, so there is a scan, a pause, and a second scan.
leaks()
{
	local file=/sys/kernel/debug/kmemleak

	[ -w $file ] || return 0
	# kmemleak disables itself if it gets no memory, and then finds nothing.
	echo scan > $file || echo "BUG: kmemleak is off"
	read -r -t 6 <> <(:)
	echo scan > $file
	cat $file
}

mount_all
if [ -z "$layer" ]; then
	modules
	library
fi
ip link set lo up
hostname aggnet-vm
cd "$top" || exit
status_port=$(port status)
output_port=$(port output)
# shellcheck source=/dev/null
. "$run/environment"
echo "vm: start" > /dev/kmsg
{
	load || echo "vm: aggnet.ko does not load" > /dev/kmsg
	# After loading the module, which must not need another module.
	hold_jumps || echo "vm: jumps are not held" > /dev/kmsg
	bash "$run/command"
} < /dev/null > "$output_port" 2>&1
status=$?
echo "vm: command ended with status $status" > /dev/kmsg
unload > "$output_port" 2>&1
unloaded=$?
# Not through /dev/kmsg, which accepts one kilobyte at a time and limits the
# rate.
{ dmesg; leaks; echo "vm: end"; } > "$run/dmesg"
echo "$status $unloaded" > "$status_port"
sync
exec 9<> <(:)
echo o > /proc/sysrq-trigger
# The machine powers off in a moment. The first process must not end before, and
# must not use the file system, which may be unmounted.
read -r -u 9
