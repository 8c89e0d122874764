#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the debug kernel from Debian's 6.1 source, for KERNEL=debug: KASAN,
# lockdep, kmemleak, fault injection (debug.config). About ten minutes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

DEST=$BUILD/vm/debug
SOURCE=$DEST/linux
JOBS=${JOBS:-$(nproc)}

exec 9> "$BUILD/vm/debug.lock"
flock 9
if [ -s "$DEST/release" ] && [ "$DEST/config" -nt "$VM_DIR/debug.config" ]; then
	exit
fi
"$VM_DIR/setup.sh" packages debug-source
mkdir -p "$DEST"
if [ ! -e "$SOURCE/Makefile" ]; then
	say "unpacking the source"
	mkdir -p "$DEST/unpack"
	dpkg-deb --fsys-tarfile "$CACHE/linux-source-6.1.deb" |
		tar -xO ./usr/src/linux-source-6.1.tar.xz | xz -dc |
		tar -x -C "$DEST/unpack"
	rm -rf "$SOURCE"
	mv "$DEST"/unpack/linux-source-6.1 "$SOURCE"
	rmdir "$DEST/unpack"
fi

say "configuring"
cd "$SOURCE"
make -s tinyconfig > "$DEST/merge.log"
KCONFIG_CONFIG=.config scripts/kconfig/merge_config.sh -m .config \
	"$VM_DIR/debug.config" >> "$DEST/merge.log"
make -s olddefconfig
# An option that Kconfig dropped would be a checker that is silently off.
while read -r line; do
	case $line in
	CONFIG_*=n)
		! grep -q "^${line%=n}=" .config ||
			die "$line did not take" ;;
	CONFIG_*)
		grep -qxF "$line" .config || die "$line did not take" ;;
	esac
done < "$VM_DIR/debug.config"

say "building with $JOBS jobs; ten minutes on two CPUs"
make -s -j"$JOBS" bzImage modules_prepare modules > "$DEST/build.log" 2>&1 || {
	tail -n 30 "$DEST/build.log" >&2
	die "the build failed; its log is build/vm/debug/build.log"
}
cp arch/x86/boot/bzImage "$DEST/vmlinuz"
mkdir -p "$BUILD/$(make -s kernelrelease)"
ln -sfn "$(make -s kernelrelease)" "$BUILD/debug"
cp .config "$DEST/config"
make -s kernelrelease > "$DEST/release"
