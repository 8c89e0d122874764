#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two machines with a bare Debian 12 on a disk, and systemd: the packages of this tree are
# installed, DKMS builds the module on one and the other gets a copy, the unit is enabled,
# and after a reboot the servers have their settings and merge a transfer. It prints the
# time of the commands.
set -o pipefail
. "$(dirname "$0")/page.sh"

DISK=$CACHE/debian-12.disk
WANTED=systemd-sysv,udev,dbus,iproute2,jq,kmod,linux-image-amd64,linux-headers-amd64
WANTED+=,procps,dkms,gcc,make,libc6-dev,libjansson4,libnl-3-200,libnl-genl-3-200,libnl-route-3-200
SERVERS=(p1 p2)

# A disk is made once: its packages are the archive's, not those of this tree.
disk()
{
	local root=$CLUSTER/root

	[ ! -s "$DISK" ] || return 0
	say "making a disk with Debian 12 (three minutes)"
	mkdir -p "$CACHE"
	mmdebstrap -q --variant=minbase --include="$WANTED" bookworm "$root" &&
		mkdir "$root/share" && agent "$root" &&
		cp -L "$root"/boot/vmlinuz-* "$DISK.vmlinuz" &&
		cp -L "$root"/boot/initrd.img-* "$DISK.initrd" &&
		mke2fs -q -F -t ext4 -d "$root" "$DISK.new" 2500M &&
		mv "$DISK.new" "$DISK" && rm -rf "$root"
}

# agent ROOT: the service that executes our commands, and a configured network
agent()
{
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

# In place of a guest that shares this host's files.
power_on()
{
	local dir=$CLUSTER/$1

	mkdir "$dir/home"
	cp "$TOP/selftests/cluster/agent.sh" "$dir"
	# shellcheck disable=SC2086 # words
	ip netns exec "$NETNS" timeout --foreground -k 5 "${VM_TIMEOUT:-1800}" \
		qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max,-cx16 \
		-smp 2 -m 1024 -nodefaults -no-user-config -display none \
		-serial "file:$dir/console" \
		-kernel "$DISK.vmlinuz" -initrd "$DISK.initrd" \
		-append "root=/dev/vda rw console=ttyS0 net.ifnames=0 quiet panic=-1
mitigations=off nokaslr tsc=reliable no_timer_check random.trust_cpu=on" \
		-drive "file=$DISK,format=raw,if=virtio,snapshot=on" \
		-fsdev "local,id=share,path=$dir,security_model=none" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share \
		${QEMU_OF[$1]} < /dev/null > "$dir/log" 2>&1 &
	PID[$1]=$!
}

# build: the packages, of what git has or would have
build()
{
	mkdir "$CLUSTER/aggnet" &&
		(cd "$TOP" && git ls-files -co --exclude-standard -z |
			tar -c --null --ignore-failed-read -T -) |
		tar -x -C "$CLUSTER/aggnet" &&
		(cd "$CLUSTER/aggnet" && nice dpkg-buildpackage -b -us -uc -j2) \
			> "$CLUSTER/built" 2>&1
}

# timed COMMAND [SERVER]: on both servers, or this one; adds its time to $TIME
timed()
{
	local begin=$SECONDS status=0

	everywhere "$1" "${@:2}" > "$CLUSTER/said" || status=$?
	TIME=$((TIME + SECONDS - begin))
	echo "# $((SECONDS - begin)) s: ${1%%$'\n'*}"
	[ $status = 0 ] || cat "$CLUSTER/said"
	return $status
}

# installed: the packages, and the module of the running kernel
installed()
{
	# shellcheck disable=SC2016 # it is expanded there
	local module='/lib/modules/$(uname -r)/updates/dkms/aggnet.ko'

	timed "apt-get install -qq -y --no-install-recommends /share/{lib,aggnet_}*.deb" \
		"${SERVERS[@]}" &&
		timed "apt-get install -qq -y /share/aggnet-dkms_*.deb
		cp $module /share" p1 &&
		cp "$CLUSTER/p1/aggnet.ko" "$CLUSTER/p2" &&
		timed "install -D -m 644 /share/aggnet.ko $module; depmod" p2
}

configured()
{
	local i

	for i in 1 2; do
		cp "$CLUSTER/net" "$CLUSTER"/{aggnet_,aggnet-dkms_,libaggnet0_,libaggtree0_}*.deb \
			"$CLUSTER/p$i" || return
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
	machines_wait
}

restored()
{
	everywhere "systemctl is-active aggnet
	aggctl -j host init --topology @/etc/aggnet/network |
		jq -e '.missing == [] and .settings > 0'" "${SERVERS[@]}"
}

transfer()
{
	on p1 "aggctl -j plan --topology @net --job 7 --function sum \
		--senders 'p2*2' --receivers p1 --uid 0 > /share/plan.json" &&
		cp "$CLUSTER/p1/plan.json" "$CLUSTER/p2" || return
	timed "aggctl apply /share/plan.json; aggctl host check" "${SERVERS[@]}" ||
		return
	start p1 "aggctl recv --job 7 --receiver 10.1.0.1 > result"
	on p2 "seq 5000 | sed 's/\$/\t3/' > counts
		aggctl send --job 7 --receiver 10.1.0.1 counts &
		aggctl send --job 7 --receiver 10.1.0.1 counts
		wait \$!" && finish p1 &&
		on p1 "seq 5000 | sed 's/\$/\t6/' | sort > expected
		sort result | cmp - expected
		aggctl -j why 7 | jq -e '.[0].bound == 1 and .[0].records_in == 5000'"
}

needs_root
echo 1..5
TIME=0
machines_begin
disk && build
ok $? "a disk with Debian 12, and the packages of this tree"
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
installed &&
	timed "mkdir -p /etc/aggnet; cp net /etc/aggnet/network" "${SERVERS[@]}" &&
	timed "systemctl enable --now aggnet ||
	{ journalctl -u aggnet; exit 1; }" "${SERVERS[@]}" && restored
ok $? "the packages are installed, the module is built, the unit is enabled"
reboot && restored
ok $? "after a reboot the settings are restored"
transfer
ok $? "the flows of two processes are merged on their server"
echo "# the commands took $TIME s"
exit $((FAILED > 0))
