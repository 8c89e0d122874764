#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Debian packages are built from this tree, lintian has nothing to say about them and
# their source, and they are installed on a copy of this host: their tests pass there, DKMS
# builds the module for the kernels that it supports and declines another one, and a purge
# leaves no file. The copy is an overlay in a mount namespace of its own.
set -u

. "$(dirname "$0")/lib.sh"
KERNELS=${KERNELS:-6.1 6.12}
TESTS=0 FAILED=0

# check NAME COMMAND...: a row, which passes if the command succeeds
check()
{
	local name=$1

	shift
	TESTS=$((TESTS + 1))
	if "$@" > "$TMP/said" 2>&1; then
		echo "ok $TESTS - $name"
	else
		FAILED=$((FAILED + 1))
		echo "not ok $TESTS - $name"
		tail -n 30 "$TMP/said" | sed 's/^/# /'
	fi
}

lint()
{
	lintian --info --display-info --fail-on error,warning,info --allow-root "$@"
}

# The source package, the packages and those for debuggers.
lintian_clean()
{
	local changes

	changes=$(echo "$TMP"/*.changes)
	grep -q '\.dsc$' "$changes" && grep -q -- '-dbgsym_.*deb$' "$changes" &&
		lint "$changes"
}

# finds TAG FILE...: does the same check find this fault?
finds()
{
	! lint "${@:2}" > "$TMP/lint" && cat "$TMP/lint" && grep -q "^E: .*: $1" "$TMP/lint"
}

lintian_finds()
{
	dpkg-deb -R "$TMP"/libaggtree0_*.deb "$TMP/faulty" &&
		rm "$TMP/faulty/usr/share/doc/libaggtree0/copyright" &&
		mkdir "$TMP/found" && dpkg-deb -b "$TMP/faulty" "$TMP/found" || return
	finds no-copyright-file "$TMP"/found/*.deb
}

# Of a source that has no more than debian/: the rest needs long.
lintian_finds_in_source()
{
	local source=$TMP/faulty.source

	mkdir "$source" && dpkg-source -x "$TMP"/*.dsc "$source/aggnet" &&
		find "$source/aggnet" -mindepth 1 -maxdepth 1 ! -name debian -exec rm -r {} + &&
		sed -i '/^Maintainer:/d' "$source/aggnet/debian/control" &&
		(cd "$source" && dpkg-source -b aggnet) || return
	finds required-field "$source"/*.dsc
}

copy()
{
	host_copy "$TMP" && cp -r "$TMP/aggnet/debian/tests" "$ROOT/tmp"
}

installed()
{
	inside sh -c 'dpkg -i /tmp/debs/*.deb' && inside dpkg --audit &&
		[ -x "$ROOT/usr/bin/aggctl" ] &&
		[ -e "$ROOT/lib/systemd/system/aggnet.service" ] &&
		inside man -w aggctl aggnet libaggnet libaggtree
}

# Wireshark finds the dissector by itself.
dissector()
{
	inside tshark -G protocols | grep -i aggnet
}

# The README and its pages are in the directories that its links name.
linked()
{
	local to n=0 doc=$ROOT/usr/share/doc/aggnet

	while read -r to; do
		n=$((n + 1))
		[ -e "$doc/$to" ] || {
			echo "$to: no such file"
			return 1
		}
	done < <(grep -oP '\]\(\K[^)#]+' "$doc/README.md")
	[ $n -gt 0 ]
}

# dkms KERNEL RELEASE: build the module for a release with the headers of a kernel
dkms_builds()
{
	local headers

	headers=$(echo "$TOP/build/vm/$1"/headers/usr/src/linux-headers-*-amd64)
	inside dkms build -m aggnet -v 0.1.0 -k "$2" --force \
		--kernelsourcedir "$headers"
}

declined()
{
	! dkms_builds "$1" 6.6.0-amd64 > "$TMP/dkms" 2>&1 || return
	cat "$TMP/dkms"
	grep -q 'BUILD_EXCLUSIVE' "$TMP/dkms"
}

# What an administrator and the units leave behind.
use()
{
	mkdir -p "$ROOT/etc/aggnet" "$ROOT/var/lib/prometheus/node-exporter" &&
		echo 'topology bcube:2,1' > "$ROOT/etc/aggnet/network" &&
		touch "$ROOT/var/lib/prometheus/node-exporter/aggnet.prom" &&
		inside systemctl enable aggnet.service aggnet-export.timer &&
		[ -L "$ROOT/etc/systemd/system/timers.target.wants/aggnet-export.timer" ]
}

# Files that the copy has and this host has not, and those that it has lost.
left()
{
	local path

	# Directories that others make, or that this test makes.
	(cd "$TMP/tmpfs/upper" && find . -mindepth 1 -printf '%y %P\n') |
		while read -r type path; do
			if [ "$type" = c ] || [ ! -e "/$path" ]; then
				echo "$path"
			fi
		done | grep -v -e '^var/lib/dpkg/' -e '^var/log/' -e '\.wants$' \
			-e '^var/lib/prometheus$' -e '^var/lib/prometheus/node-exporter$'
}

purged()
{
	local names

	names=$(for deb in "$ROOT"/tmp/debs/*.deb; do
		dpkg-deb -f "$deb" Package
	done)
	# shellcheck disable=SC2086 # words
	inside dpkg --purge $names && ! left
}

run()
{
	local kernel release

	if ! overlays "$TMP" 2> "$TMP/said"; then
		TESTS=$((TESTS + 1))
		echo "ok $TESTS - installation # SKIP $(< "$TMP/said")"
		return
	fi
	check "a copy of this host" copy
	check "the packages are installed" installed
	check "links of the README" linked
	check "Wireshark loads the dissector" dissector
	check "autopkgtest: command" inside /tmp/tests/command
	check "autopkgtest: libraries" inside /tmp/tests/libraries
	check "autopkgtest: python" inside /tmp/tests/python
	for kernel in $KERNELS; do
		release=$(kernel_release "$kernel")
		check "dkms builds for $kernel" dkms_builds "$kernel" "$release"
	done
	check "dkms declines another kernel" declined "${KERNELS##* }"
	check "a server that is in use" use
	check "there are files before the purge" left
	check "a purge leaves no file" purged
}

if [ "$(id -u)" != 0 ]; then
	exec sudo -E "$0"
fi
if [ -z "${PACKAGES_INSIDE:-}" ]; then
	PACKAGES_INSIDE=1 exec unshare --mount --propagation private "$0"
fi
TMP=$(mktemp -d)
trap 'umount -R -l "$TMP/root" "$TMP/tmpfs" 2> /dev/null; rm -rf --one-file-system "$TMP"' EXIT
check "the packages are built" packages "$TMP"
check "lintian has nothing to say" lintian_clean
check "lintian finds a fault" lintian_finds
check "lintian finds a fault of the source" lintian_finds_in_source
run
echo "1..$TESTS"
[ $FAILED = 0 ]
