#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs a command as root in a QEMU guest and exits with its status; a kernel
# splat or a module that does not unload makes a good status a bad one.
# Usage: [KERNEL=6.1|6.12|debug|kcsan] run.sh COMMAND
#   VM_SMP, VM_MEM    CPUs (2) and MiB (1024; 2048 with checkers)
#   VM_CPU            model of the CPU (max,-cx16)
#   VM_TIMEOUT        seconds until the guest is given up (900)
#   VM_ICOUNT=1       deterministic: one CPU, time counts instructions
#   VM_NO_MODULE=1    do not load aggnet.ko
#   VM_MODULE, VM_MODULE_ARGS  load this one instead, with parameters
#   VM_LAYER=DIR      have this part of build/ on top of the host's root, and nothing of
#                     the tree in PATH (packages/layer.sh)
#   VM_APPEND, VM_QEMU  more words for the kernel's and QEMU's command lines
set -euo pipefail
. "$(dirname "$0")/lib.sh"

KERNEL=${KERNEL:-6.12}
[ $# = 1 ] || { say "usage: run.sh COMMAND"; exit 2; }

# initramfs FILE: pack busybox, init, and the modules that the root file system
# needs
initramfs()
{
	local tmp rel module
	local tree=$BUILD/vm/$KERNEL

	rel=$(kernel_release "$KERNEL")
	tmp=$(mktemp -d "$tree/initramfs.XXXXXX")
	mkdir -p "$tmp"/{bin,sbin,dev,proc,lower,rw,new,lib}
	cp /bin/busybox "$tmp/bin"
	for module in sh mount mkdir insmod cat switch_root; do
		ln -s busybox "$tmp/bin/$module"
	done
	cp "$VM_DIR/init" "$tmp/init"
	chmod +x "$tmp/init"
	: > "$tmp/modules"
	if [ -d "$tree/lib/modules" ]; then
		for module in virtio_pci virtio_console 9p 9pnet_virtio overlay; do
			PATH=$PATH:/sbin:/usr/sbin modprobe -S "$rel" \
				-d "$tree" --show-depends "$module"
		done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r module; do
			cp "$module" "$tmp/lib"
			echo "/lib/${module##*/}" >> "$tmp/modules"
		done
	fi
	(cd "$tmp" && find . | busybox cpio -o -H newc 2> /dev/null) \
		> "$tmp.cpio"
	mv "$tmp.cpio" "$1"
	rm -rf "$tmp"
}

boot()
{
	# The emulator caches translated code by virtual address: with random
	# addresses it would translate every program again for each process.
	local smp=${VM_SMP:-2} mem=${VM_MEM:-1024} accel=tcg,thread=multi
	local extra=() append=''

	if [ "${VM_ICOUNT:-0}" = 1 ]; then
		smp=1 accel=tcg,thread=single
		extra=(-icount "shift=0,sleep=off")
	fi
	# Every warning is an error, as results after it are doubtful. KASAN checks
	# slab objects; slub_debug would check them again and take the slow path of
	# each allocation, which doubles the time of the suites.
	case $KERNEL in
	debug)
		append='panic_on_warn=1'
		mem=${VM_MEM:-2048} ;;
	kcsan)
		mem=${VM_MEM:-2048} ;;
	esac
	# At boot Linux waits for ticks of the timer, and panics if the emulator was
	# not scheduled meanwhile: no_timer_check.
	# shellcheck disable=SC2086
	timeout --foreground -k 5 "${VM_TIMEOUT:-900}" qemu-system-x86_64 \
		-M q35 -accel $accel -cpu "${VM_CPU:-max,-cx16}" -smp "$smp" \
		-m "$mem" -nodefaults -no-user-config -display none \
		-no-reboot "${extra[@]}" -serial "file:$run/console" \
		-kernel "$BUILD/vm/$KERNEL/vmlinuz" \
		-initrd "$BUILD/vm/$KERNEL/initramfs" \
		-append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic
nokaslr norandmaps mitigations=off tsc=reliable no_timer_check
random.trust_cpu=on log_buf_len=4M
vm.top=$TOP vm.run=$run vm.kernel=$KERNEL ${VM_LAYER:+vm.layer=$VM_LAYER} $append ${VM_APPEND:-}" \
		-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=build,path=$BUILD,security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=build,mount_tag=build \
		-device virtio-serial-pci \
		-add-fd fd=3,set=1 -chardev file,id=output,path=/dev/fdset/1,append=on \
		-device virtserialport,chardev=output,name=output \
		-chardev "file,id=status,path=$run/status" \
		-device virtserialport,chardev=status,name=status \
		${VM_QEMU:-} < /dev/null 2> "$run/qemu"
}

case $TOP in
*[[:space:]]*) die "the path of this tree has white space: $TOP" ;;
esac
command -v qemu-system-x86_64 > /dev/null || die "no QEMU: run 'make setup'"
kernel_release "$KERNEL" > /dev/null
if [ ! "$BUILD/vm/$KERNEL/initramfs" -nt "$VM_DIR/init" ]; then
	initramfs "$BUILD/vm/$KERNEL/initramfs"
fi

run=$(mktemp -d "$BUILD/vm/run.XXXXXX")
printf '%s\n' "$1" > "$run/command"
for name in "${!VM_@}" "${!AGGNET_@}"; do
	[ "$name" = VM_DIR ] || printf 'export %s=%q\n' "$name" "${!name}"
done > "$run/environment"

# The reader continues when its own output is closed, because QEMU would end
# otherwise. It still writes to the file then.
exec 3> >(trap '' INT; exec tee -p "$run/output")
reader=$!
status=0 interrupted=''
# Without this, an emulator that Ctrl-C has ended would be started again.
trap 'interrupted=1' INT
boot || status=$?
# Where the emulator gets too little time, a kernel may not come to its first program. That
# says nothing about what is tested, which has not begun.
if [ "$status$interrupted" = 0 ] && ! grep -qs 'vm: start' "$run/console"; then
	say "the guest ended before its first program; its last lines:"
	tail -qn 20 "$run/console" "$run/qemu" >&2 || :
	say "booting it again"
	mv "$run/console" "$run/console.first"
	boot || status=$?
fi
exec 3>&-
wait "$reader" || :
"$VM_DIR/verdict.sh" "$run" "$status" && status=0 || status=$?
if [ "$status" = 0 ] && [ "${VM_KEEP:-0}" = 0 ]; then
	rm -rf "$run"
else
	say "logs are in ${run#"$PWD/"}"
fi
exit "$status"
