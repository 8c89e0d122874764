# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: Debian packages of this tree, and a copy of this host to install them in.
#   packages DIR                  build the source package and the packages:
#                                 DIR/*.{changes,dsc,deb}
#   overlays DIR                  DIR/root, an overlay on this host's root: what is written
#                                 there is in DIR/tmpfs/upper. The mount namespace has to
#                                 be the caller's own. A container may forbid overlays:
#                                 then nothing can be installed
#   host_copy DIR                 make it a copy of this host, with DIR/*.deb but without
#                                 those for debuggers
#   inside COMMAND...             run it in the copy, which is $ROOT
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

packages()
{
	clone "$1/aggnet" && (cd "$1/aggnet" && dpkg-buildpackage -us -uc -j2)
}

overlays()
{
	ROOT=$1/root
	mkdir "$1/tmpfs" && mount -t tmpfs tmpfs "$1/tmpfs" &&
		mkdir "$1"/tmpfs/{upper,work} "$ROOT" &&
		mount -t overlay overlay -o \
			"lowerdir=/,upperdir=$1/tmpfs/upper,workdir=$1/tmpfs/work" \
			"$ROOT"
}

host_copy()
{
	mount --bind /dev "$ROOT/dev" && mount -t proc proc "$ROOT/proc" &&
		mount -t tmpfs tmpfs "$ROOT/tmp" && mkdir "$ROOT/tmp/debs" &&
		cp "$1"/*.deb "$ROOT/tmp/debs" && rm "$ROOT"/tmp/debs/*-dbgsym_*.deb &&
		mount -t tmpfs tmpfs "$ROOT/var/cache"
}

inside()
{
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive \
		chroot "$ROOT" "$@"
}
