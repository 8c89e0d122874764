#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts in place what building and testing need: Debian packages, the guest
# kernels and their headers and an etcd (unpacked under build/vm, never installed),
# the kselftest headers and the schema of netlink specs.
# Usage: setup.sh [check-modules|check-tools|list|demo|packages|headers|kernels|sources|debug-source]...
#        KERNELS="6.1 6.12" names the kernels
set -euo pipefail
. "$(dirname "$0")/lib.sh"

MODULE_PACKAGES="gcc make bc flex bison libelf-dev libssl-dev xz-utils kmod"
TOOL_PACKAGES="gcc make pkg-config libnl-3-dev libnl-genl-3-dev
	libnl-route-3-dev libjansson-dev libcurl4-openssl-dev"
BUILD_PACKAGES="$MODULE_PACKAGES $TOOL_PACKAGES"
DEMO_PACKAGES="qemu-system-x86 busybox-static iproute2 nftables jq graphviz
	bsdextrautils bible-kjv bible-kjv-text gnuplot-nox"
TEST_PACKAGES="patch perl python3 python3-yaml python3-jsonschema
	mandoc man-db lintian debhelper dh-dkms dkms fakeroot libbpf-dev clang llvm
	libclang-rt-14-dev sparse shellcheck spin tcc ethtool linux-perf python3-networkx
	python3-prometheus-client tshark tzdata gcc-s390x-linux-gnu libc6-dev-s390x-cross
	qemu-user-static mmdebstrap e2fsprogs openssh-client dropbear-bin bpftrace
	openssl libmpich-dev mpich libopenmpi-dev openmpi-bin"

# Module directories that the guest needs; the rest (graphics, sound, hardware
# drivers) is left out, which keeps depmod and modprobe quick.
MODULES="arch crypto fs kernel lib mm net drivers/virtio drivers/char
	drivers/block drivers/net"
NO_MODULES="drivers/net/ethernet drivers/net/wireless drivers/net/usb
	drivers/net/can drivers/net/wwan drivers/net/phy drivers/net/dsa"

updated=0

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "not root and no sudo: run as root: $*"
	fi
}

apt_root()
{
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=900 -o Dpkg::Use-Pty=0 "$@"
}

apt_update()
{
	[ $updated = 0 ] || return 0
	updated=1
	say "updating the package lists"
	apt_root update >&2
}

missing_of()
{
	local pkg

	for pkg in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$pkg" \
			2>/dev/null)" = installed ] || echo "$pkg"
	done
}

install_packages()
{
	local missing

	mapfile -t missing < <(missing_of "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		die "missing packages, install them as root:" \
			"apt-get install ${missing[*]}"
	fi
	apt_update
	say "installing ${missing[*]}"
	apt_root install --no-install-recommends "${missing[@]}" >&2
}

# check_build PACKAGE...: name missing packages and fail; install nothing.
# Without dpkg the build itself detects what is missing.
check_build()
{
	local missing

	command -v dpkg-query > /dev/null || {
		say "no dpkg: not checked whether there is what the build" \
			"needs of these Debian packages: $*"
		return
	}
	mapfile -t missing < <(missing_of "$@")
	[ ${#missing[@]} = 0 ] || die "missing packages; install them with" \
		"'apt-get install ${missing[*]}', or run 'make setup'"
}

# download PACKAGE [NAME]: download it to NAME.deb (PACKAGE.deb) in the cache
download()
{
	local name=${2:-$1} tmp

	[ -s "$CACHE/$name.deb" ] && return
	apt_update
	say "downloading $1 ($(apt-cache show --no-all-versions "$1" |
		awk '/^Size:/ { printf "%.0f MB", $2 / 1e6 }'))"
	mkdir -p "$CACHE"
	tmp=$(mktemp -d "$CACHE/download.XXXXXX")
	(cd "$tmp" && apt-get -q -o APT::Sandbox::User="$(id -un)" \
		download "$1" >/dev/null)
	mv "$tmp"/*.deb "$CACHE/$name.deb"
	rmdir "$tmp"
}

# newest_release SERIES: print the newest plain amd64 kernel whose image and
# headers are both in the archive
newest_release()
{
	apt-cache search --names-only "^linux-(headers|image)-${1/./\\.}\..*-amd64$" |
		awk '{ print $1 }' | grep -vE -e '-(rt|cloud)-amd64$' |
		sed -E 's/^linux-(headers|image)-//' | sort -V | uniq -d | tail -n 1
}

prune_modules()
{
	local from=$1 to=$2 dir

	mkdir -p "$to/kernel"
	cp "$from"/modules.builtin* "$from"/modules.order "$to"
	for dir in $MODULES; do
		[ -d "$from/kernel/$dir" ] || continue
		mkdir -p "$to/kernel/$(dirname "$dir")"
		mv "$from/kernel/$dir" "$to/kernel/$dir"
	done
	for dir in $NO_MODULES; do
		rm -rf "${to:?}/kernel/$dir"
	done
	find "$to" -name '*.ko.xz' -print0 | xargs -0 -r -P 2 -n 100 unxz
}

# unpack_kernel SERIES RELEASE: build/vm/SERIES/{vmlinuz,lib/modules,release}
unpack_kernel()
{
	local dest=$BUILD/vm/$1 rel=$2 tmp

	download "linux-image-$rel"
	say "unpacking linux-image-$rel"
	tmp=$(mktemp -d "$BUILD/vm/unpack.XXXXXX")
	dpkg-deb -x "$CACHE/linux-image-$rel.deb" "$tmp/deb"
	mkdir -p "$tmp/tree"
	mv "$tmp/deb/boot/vmlinuz-$rel" "$tmp/tree/vmlinuz"
	mv "$tmp/deb/boot/config-$rel" "$tmp/tree/config"
	prune_modules "$tmp/deb/lib/modules/$rel" "$tmp/tree/lib/modules/$rel"
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$tmp/tree" "$rel"
	echo "$rel" > "$tmp/tree/release"
	rm -rf "$dest"
	mv "$tmp/tree" "$dest"
	rm -rf "$tmp"
}

# unpack_headers SERIES RELEASE: build/vm/SERIES/headers, a root with the files
# that the three packages install under /usr. Installing linux-headers-RELEASE
# would put a kernel into /boot of this host.
unpack_headers()
{
	local dest=$BUILD/vm/$1/headers rel=$2 tmp pkg common
	local deb=$CACHE/linux-headers-$2.deb

	download "linux-headers-$rel"
	common=$(depends_on "$deb" '^linux-headers-.*-common$')
	download "$common"
	# Of the 6.1 series this package has no release in its name.
	download "$(depends_on "$deb" '^linux-kbuild-')" "linux-kbuild-for-$rel"
	say "unpacking linux-headers-$rel"
	tmp=$(mktemp -d "$BUILD/vm/unpack.XXXXXX")
	for pkg in "linux-headers-$rel" "$common" "linux-kbuild-for-$rel"; do
		dpkg-deb -x "$CACHE/$pkg.deb" "$tmp"
	done
	# The Makefile's only absolute path.
	sed -i "1s,^include /usr/src/,include \$(dir \$(lastword \$(MAKEFILE_LIST)))../," \
		"$tmp/usr/src/linux-headers-$rel/Makefile"
	# If this file exists, a build makes BTF for the module, which needs
	# pahole.
	rm -f "$tmp/usr/src/linux-headers-$rel/vmlinux"
	rm -rf "$dest" "${tmp:?}/lib"
	mv "$tmp" "$dest"
}

# depends_on DEB PATTERN: print the package that DEB depends on
depends_on()
{
	dpkg-deb -f "$1" Depends | awk -v RS='[,|]' -v pattern="$2" '
		!found && $1 ~ pattern { found = $1 }
		END { print found; exit !found }' || die "$1 depends on no $2"
}

# find_release SERIES PART...: set rel to a release whose parts (image, headers)
# are available
find_release()
{
	local series=$1 part

	shift
	rel=$(newest_release "$series")
	if [ -z "$rel" ]; then
		apt_update
		rel=$(newest_release "$series")
	fi
	[ -n "$rel" ] || die "no plain $series kernel with headers in the" \
		"package lists: is this Debian 12 with its security suite?"
	for part in "$@"; do
		[ ! -s "$CACHE/linux-$part-$rel.deb" ] || continue
		# A kernel of outdated package lists may be gone from the
		# archive.
		apt_update
		rel=$(newest_release "$series")
		return
	done
}

# has SERIES FILE: is this file unpacked?
has()
{
	[ -s "$BUILD/vm/$1/release" ] && [ -e "$BUILD/vm/$1/$2" ]
}

# setup_headers SERIES: unpack its headers without its image
setup_headers()
{
	local series=$1 rel

	has "$series" headers || {
		find_release "$series" headers
		mkdir -p "$BUILD/vm/$series"
		unpack_headers "$series" "$rel"
		echo "$rel" > "$BUILD/vm/$series/release"
	}
	link_release "$series"
}

setup_kernel()
{
	local series=$1 rel

	if ! has "$series" headers || ! has "$series" vmlinuz; then
		find_release "$series" image headers
		unpack_kernel "$series" "$rel"
		unpack_headers "$series" "$rel"
	fi
	link_release "$series"
}

# link_release SERIES: make build/SERIES a link to the modules of its release
link_release()
{
	local rel

	rel=$(kernel_release "$1")
	mkdir -p "$BUILD/$rel"
	[ "$(readlink "$BUILD/$1")" = "$rel" ] || ln -sfn "$rel" "$BUILD/$1"
}

# setup_sources: unpack the kselftest headers, and checkpatch with its word
# lists
setup_sources()
{
	local dest=$BUILD/kselftest tmp
	local tests=linux-source-6.1/tools/testing/selftests
	local scripts=linux-source-6.1/scripts

	[ -s "$dest/checkpatch.pl" ] && return
	download linux-source-6.1
	say "extracting the kselftest headers and checkpatch (half a minute)"
	tmp=$(mktemp -d "$BUILD/kselftest.XXXXXX")
	dpkg-deb --fsys-tarfile "$CACHE/linux-source-6.1.deb" |
		tar -xO ./usr/src/linux-source-6.1.tar.xz | xz -dc |
		tar -x -C "$tmp" --transform 's,.*/,,' \
			$tests/kselftest.h $tests/kselftest_harness.h \
			$scripts/checkpatch.pl $scripts/spelling.txt \
			$scripts/const_structs.checkpatch
	mkdir -p "$dest"
	mv "$tmp"/[!c]* "$tmp"/const* "$dest"
	mv "$tmp/checkpatch.pl" "$dest"
	rmdir "$tmp"
}

# setup_schema: unpack the kernel's schema of netlink specs, which 6.1 does not have
setup_schema()
{
	local dest=$BUILD/netlink schema=genetlink-legacy.yaml
	local docs=usr/share/doc/linux-doc-6.12/Documentation/netlink

	[ -s "$dest/$schema" ] && return
	download linux-doc-6.12
	mkdir -p "$dest"
	dpkg-deb --fsys-tarfile "$CACHE/linux-doc-6.12.deb" |
		tar -xO "./$docs/$schema.gz" | gzip -dc > "$dest/$schema.tmp"
	mv "$dest/$schema.tmp" "$dest/$schema"
}

# setup_etcd: unpack the server, which would start if it were installed
setup_etcd()
{
	local dest=$BUILD/vm/etcd tmp

	[ -x "$dest/usr/bin/etcd" ] && return
	download etcd-server
	tmp=$(mktemp -d "$BUILD/vm/unpack.XXXXXX")
	dpkg-deb -x "$CACHE/etcd-server.deb" "$tmp"
	rm -rf "$dest"
	mv "$tmp" "$dest"
}

mkdir -p "$BUILD/vm"
exec 9> "$BUILD/setup.lock"
flock 9
[ $# -gt 0 ] || set -- packages kernels sources
for part in "$@"; do
	case $part in
	check-modules)
		# shellcheck disable=SC2086
		check_build $MODULE_PACKAGES ;;
	check-tools)
		# shellcheck disable=SC2086
		check_build $TOOL_PACKAGES ;;
	list)
		# shellcheck disable=SC2086
		echo $BUILD_PACKAGES $DEMO_PACKAGES $TEST_PACKAGES ;;
	demo)
		# shellcheck disable=SC2086
		install_packages $BUILD_PACKAGES $DEMO_PACKAGES ;;
	packages)
		# shellcheck disable=SC2086
		install_packages $BUILD_PACKAGES $DEMO_PACKAGES $TEST_PACKAGES ;;
	headers)
		for series in $KERNELS; do
			setup_headers "$series"
		done ;;
	kernels)
		for series in $KERNELS; do
			setup_kernel "$series"
		done ;;
	sources)
		setup_sources
		setup_schema
		setup_etcd ;;
	debug-source)
		download linux-source-6.1 ;;
	*)
		say "unknown part '$part' (check-modules, check-tools, list, demo, packages," \
			"headers, kernels, sources or debug-source)"
		exit 2 ;;
	esac
done
