#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A bare Debian 12, as two machines with systemd: the packages are built and installed as
# README says, DKMS builds the module, and the machines boot with it. The commands of the page
# "Your cluster" enable the unit, apply a plan by ssh, and merge a transfer; after a reboot
# the servers have their settings, and merge again; a purge leaves nothing. The commands
# take five minutes at most.
#
# What compiles runs in the machines' root directory on this host's CPU, before it becomes
# their disk: an emulated CPU would need ten times as long. All else runs on the machines.
set -o pipefail
. "$(dirname "$0")/page.sh"

WANTED=systemd-sysv,udev,dbus,iproute2,jq,kmod,procps,linux-image-amd64,openssh-server
BARE=$CACHE/debian-12.$(cksum <<< "$WANTED" | cut -d ' ' -f 1).tar
SERVERS=(p1 p2)
LIMIT=300	# seconds for the commands, and what other programs use of the CPUs then
PATIENCE=300s	# an emulator without a CPU of its own needs long for a login

# bare: the root directory of a Debian 12 without anything of this tree, made once
bare()
{
	local root=$CLUSTER/root

	if [ ! -s "$BARE" ]; then
		say "making a bare Debian 12 (two minutes)"
		mkdir -p "$CACHE"
		mmdebstrap -q --variant=minbase --include="$WANTED" bookworm \
			"$BARE.new.tar" && mv "$BARE.new.tar" "$BARE" || return
	fi
	mkdir "$root" && tar -x -C "$root" -f "$BARE" && mkdir "$root/share" &&
		agent "$root" && mount -t proc proc "$root/proc" &&
		mount --bind /dev "$root/dev" && cp /etc/resolv.conf "$root/etc" &&
		cp -r /etc/apt/apt.conf.d "$root/etc/apt" &&
		echo 'APT::Get::Assume-Yes "true";' > "$root/etc/apt/apt.conf.d/99yes"
}

# The directory of the machines must not be deleted while /dev is mounted in it.
packages_end()
{
	mountpoint -q "$CLUSTER/root/dev" && umount -l "$CLUSTER/root/dev"
	mountpoint -q "$CLUSTER/root/proc" && umount -l "$CLUSTER/root/proc"
	machines_end
}

# readme_packages: print what README says to build and install packages
readme_packages()
{
	# shellcheck disable=SC2016 # backquotes of README
	tr '\n' ' ' < "$TOP/README.md" | sed -n 's/.*`\(apt build-dep [^`]*\)`.*/\1/p'
}

# inside COMMAND: run it in the root directory
inside()
{
	DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$CLUSTER/root" \
		/bin/sh -e -c "cd /root; $1"
}

built()
{
	local aggnet=$CLUSTER/root/root/aggnet

	clone "$aggnet" &&
		timed inside "apt update" &&
		timed inside "apt install linux-headers-amd64" &&
		[ -n "$(readme_packages)" ] &&
		timed inside "cd aggnet; $(readme_packages)" &&
		inside "ls /lib/modules/*/updates/dkms/aggnet.ko
		rm /etc/apt/apt.conf.d/99yes"
}

# disk: what both machines boot from; each has a copy of what it writes
disk()
{
	local root=$CLUSTER/root

	umount "$root/dev" "$root/proc" && cp -L "$root"/boot/vmlinuz-* "$DISK.vmlinuz" &&
		cp -L "$root"/boot/initrd.img-* "$DISK.initrd" &&
		inside "ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519
		cat .ssh/id_ed25519.pub > .ssh/authorized_keys
		echo 'StrictHostKeyChecking accept-new' > .ssh/config
		printf '10.1.0.1 p1\n10.1.0.2 p2\n' >> /etc/hosts" &&
		mke2fs -q -F -t ext4 -d "$root" "$DISK" 4000M > "$CLUSTER/said" && rm -rf "$root"
}

# foreign: the hundredths of CPU seconds that all processes but those of this script, which are
# a process group, have used so far
foreign()
{
	cat /proc/stat /proc/[0-9]*/stat 2> "$CLUSTER/ended" |
		awk -v group="$(cut -d ' ' -f 5 /proc/$$/stat)" '
		$1 == "cpu" { n += $2 + $3 + $4 + $7 + $8 + $9 }
		sub(/^[0-9]+ \(.*\) /, "") && $3 == group { n -= $12 + $13 + $14 + $15 }
		END { print n }'
}

# timed COMMAND...: adds its time to $TIME, and to $OTHERS what others have used of the CPUs
timed()
{
	local begin=$SECONDS others status=0

	others=$(foreign)
	"$@" > "$CLUSTER/said" 2>&1 < /dev/null || status=$?
	TIME=$((TIME + SECONDS - begin))
	OTHERS=$((OTHERS + $(foreign) - others))
	echo "# $((SECONDS - begin)) s: ${2%%[$'\n\t']*}"
	[ $status = 0 ] || tail -n 40 "$CLUSTER/said" | sed 's/^/# /'
	return $status
}

# agent ROOT: the service that executes our commands, and a configured network
agent()
{
	mkdir -p "$1/root/.ssh"
	cat > "$1/etc/systemd/system/agent.service" << 'END'
[Unit]
After=multi-user.target
[Service]
ExecStartPre=sh -c 'mountpoint -q /share || mount -t 9p -o trans=virtio,version=9p2000.L share /share'
ExecStart=/share/agent.sh
KillMode=process
Restart=on-failure
[Install]
WantedBy=multi-user.target
END
	systemctl -q --root="$1" enable agent systemd-networkd
}

# In place of a guest that shares this host's files. A machine has its own copy of the disk.
# QEMU ends when the machine reboots: after a reset it would need minutes to boot.
power_on()
{
	local dir=$CLUSTER/$1

	mkdir -p "$dir/home"
	cp "$TOP/selftests/cluster/agent.sh" "$dir"
	[ -e "$DISK.$1" ] || cp --sparse=always "$DISK" "$DISK.$1"
	# shellcheck disable=SC2086 # words
	ip netns exec "$NETNS" timeout --foreground -k 5 "${VM_TIMEOUT:-1800}" \
		qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max,-cx16 \
		-smp 2 -m 1024 -nodefaults -no-user-config -display none -no-reboot \
		-serial "file:$dir/console" \
		-kernel "$DISK.vmlinuz" -initrd "$DISK.initrd" \
		-append "root=/dev/vda rw console=ttyS0 net.ifnames=0 quiet panic=-1
mitigations=off nokaslr tsc=reliable no_timer_check random.trust_cpu=on" \
		-drive "file=$DISK.$1,format=raw,if=virtio" \
		-fsdev "local,id=share,path=$dir,security_model=none" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share \
		${QEMU_OF[$1]} < /dev/null > "$dir/log" 2>&1 &
	PID[$1]=$!
}

# on_server COMMAND SERVER, on_both COMMAND: what timed() runs
on_server()
{
	on "$2" "$1"
}

on_both()
{
	everywhere "$1" "${SERVERS[@]}"
}

configured()
{
	local i

	for i in 1 2; do
		cp "$CLUSTER/net" "$CLUSTER/p$i" || return
		on "p$i" "hostnamectl set-hostname p$i
		printf '[Match]\nName=eth0\n[Network]\nAddress=10.1.0.$i/24\n' \
			> /etc/systemd/network/10-eth0.network
		systemctl restart systemd-networkd
		cp /share/net ." || return
	done
}

reboot()
{
	local name

	for name in "${SERVERS[@]}"; do
		rm "$CLUSTER/$name/ready"
		start "$name" "systemd-run --on-active=1 systemctl reboot"
	done
	for name in "${SERVERS[@]}"; do
		wait "${PID[$name]}"
		power_on "$name"
	done
	machines_wait
}

restored()
{
	everywhere "systemctl is-active aggnet
	aggctl -j host init --topology @/etc/aggnet/network |
		jq -e '.missing == [] and .settings > 0'" "${SERVERS[@]}"
}

# transfer JOB
transfer()
{
	timed on_server "aggctl -j plan --topology @net --job $1 --function sum \
		--senders 'p2*2' --receivers p1 --uid 0 > plan.json
		printf 'p1\np2\n' > hosts" p1 &&
		timed on_server "$(block "On node1, in place of \`\`apply\`\` on each server") \
			--timeout $PATIENCE" p1 || return
	start p1 "aggctl recv --job $1 --receiver 10.1.0.1 > result"
	timed on_server "seq 5000 | sed 's/\$/\t3/' > counts
		aggctl send --job $1 --receiver 10.1.0.1 counts &
		aggctl send --job $1 --receiver 10.1.0.1 counts
		wait \$!" p2 && finish p1 &&
		on p1 "seq 5000 | sed 's/\$/\t6/' | sort > expected
		sort result | cmp - expected
		aggctl -j why $1 | jq -e '.[0].bound == 1 and .[0].records_in == 5000'" &&
		timed on_server "aggctl why $1" p2
}

# The timer starts the unit that writes the counters, again and again.
exported()
{
	on p2 "dir=/var/lib/prometheus/node-exporter
	mkdir -p \$dir
	systemctl enable --now aggnet-export.timer
	timeout $PATIENCE sh -c \"until [ -s \$dir/aggnet.prom ]; do sleep 0.2; done
	rm \$dir/aggnet.prom
	until [ -s \$dir/aggnet.prom ]; do sleep 0.2; done\" &&
		grep '^aggnet_tree_[a-z_]*records.* 10000' \$dir/aggnet.prom"
}

packaged_test()
{
	cp "$TOP/debian/tests/module" "$CLUSTER/p2" &&
		on p2 "sh /share/module" > "$CLUSTER/said" && return
	sed 's/^/# /' "$CLUSTER/said"
	return 1
}

# A server that was in use, with all that its units have written. What is compared is files:
# the module stays loaded until the next boot.
purged()
{
	on p2 "systemctl enable --now aggd
	ls -d /etc/aggnet /var/lib/aggnet /var/lib/prometheus/node-exporter/aggnet.prom || exit
	apt-get purge -y \$(dpkg-query -W -f '\${Package}\n' '*aggnet*' '*aggtree*') || exit
	find / -xdev \( -path /proc -o -path /sys -o -path /share -o -path /root -o \
			-path /var/log -o -path /var/cache/apt \) -prune -o \
		\( -name '*aggnet*' -o -name '*aggtree*' -o -name 'aggctl*' -o -name 'aggd*' \) \
		-print > /share/left
	cat /share/left
	[ ! -s /share/left ]" > "$CLUSTER/said" && return
	sed 's/^/# /' "$CLUSTER/said"
	return 1
}

needs_root
if [ -z "${PACKAGES_INSIDE:-}" ]; then
	PACKAGES_INSIDE=1 exec unshare --mount --propagation private "$0"
fi
echo 1..11
TIME=0 OTHERS=0
machines_begin
trap packages_end EXIT
DISK=$CLUSTER/disk
bare
ok $? "a bare Debian 12"
built && disk
ok $? "the packages are built and installed, and DKMS builds the module"
switch s
machine p1 6.1 s
machine p2 6.1 s
cat > "$CLUSTER/net" << 'END'
topology graph
host p1
host p2
switch s
link p1 s
link p2 s
address p1 10.1.0.1
address p2 10.1.0.2
END
machines_wait && configured
ok $? "two machines have booted with systemd"
timed on_both "$(block "On each server")" &&
	timed on_both "$(block "On each server, to keep the settings")" && restored
ok $? "the unit is enabled, and makes them servers"
transfer 7
ok $? "the flows of two processes are merged on their server"
OTHERS=$((OTHERS / 100 / $(nproc)))
echo "# the commands took $TIME s; other programs used $OTHERS s of each CPU meanwhile"
[ $((TIME - OTHERS)) -le $LIMIT ]
ok $? "the commands take five minutes at most"
exported > "$CLUSTER/said"
ok $? "the timer exports the counters of the transfer"
packaged_test
ok $? "the packages' own test of the module"
reboot && restored
ok $? "after a reboot the settings are restored"
transfer 8
ok $? "after a reboot flows are merged again"
purged
ok $? "a purge leaves no file on a server that was in use"
exit $((FAILED > 0))
