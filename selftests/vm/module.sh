#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds aggnet.ko in build/product/RELEASE, and for tests, which can plant faults in
# it, in build/RELEASE; from links to the sources: Kbuild wants objects and sources in
# one place, and the sources stay clean.
# Usage: module.sh build KDIR [COPY]     build, and leave a copy
#        module.sh guest KERNEL          build the one for tests
#        module.sh product KERNEL        build, install for a guest's modprobe, and
#                                        print its path
#        module.sh lint KERNEL           build with sparse and W=1
#        module.sh broken KERNEL         build the variant with faults (gate.sh)
#        module.sh coverage KERNEL       build one that counts (coverage.sh)
#        module.sh install KDIR DESTDIR  build, and install for the host
#        module.sh uninstall KDIR DESTDIR
#        module.sh kdir KERNEL           print a guest kernel's KDIR
#        module.sh instead KERNEL        likewise, where the running one has none
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# kernel.release is not the release: in Debian's 6.1 headers it is the upstream
# version.
release_of()
{
	local header=$1/include/generated/utsrelease.h

	[ -r "$header" ] || die "no headers of a kernel in '$1'"
	sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$header"
}

# check_kdir KDIR: fail if it is empty
check_kdir()
{
	[ -n "$1" ] || die "no headers of the running kernel: install" \
		"linux-headers-$(uname -r) or name others by KDIR="
}

# instead KERNEL: print this guest kernel's KDIR; plain make downloads nothing
instead()
{
	[ -d "$BUILD/vm/$1/headers" ] ||
		die "no headers of the running kernel: install" \
			"linux-headers-$(uname -r), name others by KDIR=, or run" \
			"'make headers', which fetches those of a guest kernel"
	say "no headers of the running kernel $(uname -r): building for a" \
		"guest's; 'make install' will need KDIR="
	kernel_kdir "$1"
}

# link_sources OUT: link all sources, and remove links to deleted ones
link_sources()
{
	local dir

	for dir in kmod kmod/core kmod/flow kmod/net kmod/ctl; do
		mkdir -p "$1/$dir"
		ln -sf -t "$1/$dir" "$TOP/$dir"/*.[ch]
	done
	ln -sf -t "$1/kmod" "$TOP/kmod/core.mk"
	ln -sfn "$TOP/Kbuild" "$1/Kbuild"
	ln -sfn "$TOP/uapi" "$1/uapi"
	find -L "$1/kmod" -type l -delete
}

# build OUT KDIR [MAKE_ARGUMENT...]: build the module; one for tests only if the
# arguments ask for it, whatever the environment says
build()
{
	local out=$1 kdir=$2

	shift 2
	link_sources "$out"
	flock "$out" make -s -C "$kdir" M="$out" AGGNET_FAULTS= "$@" modules \
		2> >(grep -v 'Skipping BTF generation' >&2)
}

guest()
{
	build "$BUILD/$(kernel_release "$1")" "$(kernel_kdir "$1")" AGGNET_FAULTS=y
}

product()
{
	local rel tree module

	rel=$(kernel_release "$1")
	module=$BUILD/product/$rel/aggnet.ko
	tree=$BUILD/vm/$1/lib/modules/$rel/updates
	build "${module%/*}" "$(kernel_kdir "$1")"
	echo "$module"
	[ -d "$BUILD/vm/$1/lib" ] || return 0
	cmp -s "$module" "$tree/aggnet.ko" && return
	mkdir -p "$tree"
	cp "$module" "$tree/aggnet.ko.$$"
	mv "$tree/aggnet.ko.$$" "$tree/aggnet.ko"
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$BUILD/vm/$1" "$rel"
}

# lint KERNEL: a separate build with sparse and extra warnings. Sparse does not
# implement __has_include: kmod/compat*.h tests for headers that all came with
# 6.12.
lint()
{
	local kdir dir out=$BUILD/lint/$1 has=0

	kdir=$(kernel_kdir "$1")
	for dir in "$kdir" "$kdir"/../linux-headers-*-common; do
		[ ! -e "$dir/include/linux/unaligned.h" ] || has=1
	done
	rm -rf "$out"
	link_sources "$out"
	make -s -j"$(nproc)" -C "$kdir" M="$out" AGGNET_FAULTS=y W=1 C=2 \
		CF="-D__CHECK_ENDIAN__ '-D__has_include(x)=$has'" modules \
		2>&1 | grep -v -e 'Skipping BTF generation' || return 0
	return "${PIPESTATUS[0]}"
}

# variant OUT KERNEL LINE: a separate build with one more line in Kbuild
variant()
{
	rm -rf "$1"
	link_sources "$1"
	rm "$1/Kbuild"
	{ cat "$TOP/Kbuild"; echo "$3"; } > "$1/Kbuild"
	ln -s "$VM_DIR/broken/broken.c" "$1"
	make -s -C "$(kernel_kdir "$2")" M="$1" AGGNET_FAULTS=y modules
}

# uninstall KDIR DESTDIR: remove the module of the running kernel if KDIR is
# empty, and name modules of other kernels
uninstall()
{
	local rel left

	rel=$(uname -r)
	[ -z "$1" ] || rel=$(release_of "$1")
	if [ -e "$2/lib/modules/$rel/updates/aggnet.ko" ]; then
		rm "$2/lib/modules/$rel/updates/aggnet.ko"
		PATH=$PATH:/sbin:/usr/sbin depmod -b "$2/" "$rel"
	fi
	for left in "$2"/lib/modules/*/updates/aggnet.ko; do
		[ ! -e "$left" ] || say "left $left: delete it, or name the" \
			"headers of that kernel by KDIR="
	done
}

case ${1:-} in
build)
	rel=$(release_of "$2")
	build "$BUILD/product/$rel" "$2"
	[ $# = 2 ] || {
		cp "$BUILD/product/$rel/aggnet.ko" "$3"
		say "built $3 for kernel $rel"
	} ;;
guest)
	guest "$2" ;;
product)
	product "$2" ;;
lint)
	lint "$2" ;;
broken)
	variant "$BUILD/broken" "$2" 'aggnet-y += broken.o' ;;
coverage)
	variant "$BUILD/coverage/module" "$2" 'GCOV_PROFILE := y' ;;
install)
	check_kdir "$2"
	rel=$(release_of "$2")
	build "$BUILD/product/$rel" "$2"
	install -D -m 644 "$BUILD/product/$rel/aggnet.ko" \
		"$3/lib/modules/$rel/updates/aggnet.ko"
	strip --strip-debug "$3/lib/modules/$rel/updates/aggnet.ko"
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$3/" "$rel" ;;
uninstall)
	uninstall "$2" "$3" ;;
kdir)
	kernel_kdir "$2" ;;
instead)
	instead "$2" ;;
*)
	say "usage: build KDIR [COPY] | guest KERNEL | product KERNEL | lint KERNEL | broken KERNEL | coverage KERNEL | install KDIR DESTDIR | uninstall KDIR DESTDIR | kdir KERNEL | instead KERNEL"
	exit 2 ;;
esac
