#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts a kernel with checkers in place, for KERNEL=CONFIG: from the cache, or,
# where there is none, built from Debian's 6.1 source in about twelve minutes.
#   debug  KASAN, lockdep, kmemleak, fault injection (debug.config)
#   kcsan  data races, in place of KASAN (kcsan.config, over the other)
# The cache has what boots and what modules are built against; the source tree
# goes when that is made.
# Usage: debug-kernel.sh [CONFIG]
set -euo pipefail
. "$(dirname "$0")/lib.sh"

CONFIG=${1:-debug}
JOBS=${JOBS:-$(nproc)}
DEST=$BUILD/vm/$CONFIG
SOURCE=$BUILD/vm/linux-$CONFIG
DEB=$CACHE/linux-source-6.1.deb

case $CONFIG in
debug) FRAGMENTS=("$VM_DIR/debug.config") ;;
kcsan) FRAGMENTS=("$VM_DIR/debug.config" "$VM_DIR/kcsan.config") ;;
*) die "no configuration '$CONFIG' (debug or kcsan)" ;;
esac

# The digest of all that the kernel depends on: configuration, source and
# compiler.
digest()
{
	{
		cat "${FRAGMENTS[@]}"
		dpkg-deb -f "$DEB" Version
		gcc -v 2>&1 | grep '^gcc version'
	} | sha256sum | cut -c 1-16
}

unpack_source()
{
	local tmp=$SOURCE.unpack

	[ ! -e "$SOURCE/Makefile" ] || return 0
	say "unpacking the source"
	rm -rf "$tmp"
	mkdir -p "$tmp"
	dpkg-deb --fsys-tarfile "$DEB" |
		tar -xO ./usr/src/linux-source-6.1.tar.xz | xz -dc |
		tar -x -C "$tmp"
	rm -rf "$SOURCE"
	mv "$tmp"/linux-source-6.1 "$SOURCE"
	rmdir "$tmp"
}

# Kconfig may drop an option, which would silently disable a checker. Later
# fragments override earlier ones.
check_config()
{
	local line name value

	declare -A wanted=()
	while read -r line; do
		[ "${line#CONFIG_}" = "$line" ] || wanted[${line%%=*}]=${line#*=}
	done < <(cat "${FRAGMENTS[@]}")
	for name in "${!wanted[@]}"; do
		value=$(sed -n "s/^$name=//p" .config)
		[ "${value:-n}" = "${wanted[$name]}" ] ||
			die "$name=${wanted[$name]} did not take"
	done
}

configure()
{
	say "configuring"
	make -s tinyconfig > merge.log
	KCONFIG_CONFIG=.config scripts/kconfig/merge_config.sh -m .config \
		"${FRAGMENTS[@]}" >> merge.log
	make -s olddefconfig
	check_config
}

compile()
{
	say "building with $JOBS jobs; ten minutes on two CPUs"
	make -s -j"$JOBS" bzImage modules_prepare modules > build.log 2>&1 || {
		tail -n 30 build.log >&2
		die "the build failed; its log is ${SOURCE#"$TOP/"}/build.log"
	}
}

# Keep the files that modules are built against, as Debian's headers package
# does.
headers()
{
	find . arch/x86 -maxdepth 1 -name 'Makefile*'
	find include scripts arch/x86/include \
		\( -type f -o -type l \) ! -name '*.o' ! -name '*.cmd'
	find arch/x86 -name Kbuild.platforms
	find tools/objtool -maxdepth 1 -name objtool
	echo ./.config
	echo ./Module.symvers
}

# pack ARCHIVE: pack the build in the current directory
pack()
{
	local rel to tmp=$1.$$

	rel=$(make -s kernelrelease)
	to=$tmp/headers/usr/src/linux-headers-$rel
	mkdir -p "$to"
	headers | tar -c -T - | tar -x -C "$to"
	cp arch/x86/boot/bzImage "$tmp/vmlinuz"
	cp .config "$tmp/config"
	echo "$rel" > "$tmp/release"
	tar -C "$tmp" -czf "$tmp.tar" .
	mv "$tmp.tar" "$1"
	rm -rf "$tmp"
}

# build ARCHIVE: build the kernel and pack it
build()
{
	unpack_source
	mkdir -p "$KERNEL_CACHE"
	(
		cd "$SOURCE"
		configure
		compile
		pack "$1"
	)
	rm -rf "$SOURCE"
}

# install ARCHIVE DIGEST: unpack it and note the digest
install()
{
	local rel tmp=$DEST.$$

	mkdir -p "$tmp"
	tar -C "$tmp" -xzf "$1" || die "$1 is broken: remove it"
	echo "$2" > "$tmp/digest"
	rm -rf "$DEST"
	mv "$tmp" "$DEST"
	rel=$(kernel_release "$CONFIG")
	# The build of the module may have objects for another configuration.
	rm -rf "${BUILD:?}/$rel"
	mkdir -p "$BUILD/$rel"
	ln -sfn "$rel" "$BUILD/$CONFIG"
}

mkdir -p "$BUILD/vm"
exec 9> "$BUILD/vm/$CONFIG.lock"
flock 9
"$VM_DIR/setup.sh" debug-source
key=$(digest)
if [ -s "$DEST/release" ] && [ -s "$DEST/digest" ] &&
   [ "$(< "$DEST/digest")" = "$key" ]; then
	exit
fi
archive=$KERNEL_CACHE/kernel-$CONFIG-$key.tar.gz
if [ ! -s "$archive" ]; then
	"$VM_DIR/setup.sh" packages
	build "$archive"
fi
install "$archive" "$key"
