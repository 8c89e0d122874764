# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this directory: where things are, and how the
# supported kernels are called.

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM_DIR/../.." && pwd)
BUILD=$TOP/build
# Downloaded packages; set AGGNET_CACHE to share one cache among several clones.
CACHE=${AGGNET_CACHE:-$BUILD/cache}
# Kernels built from source; they are not in build/ because building them takes
# long.
KERNEL_CACHE=${AGGNET_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/aggnet}
KERNELS=${KERNELS-6.1 6.12}

say()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die()
{
	say "$@"
	exit 1
}

# kernel_release NAME: print the release of NAME (6.1, 6.12, debug or kcsan)
kernel_release()
{
	local file=$BUILD/vm/$1/release

	[ -s "$file" ] || case $1 in
	debug | kcsan) die "no kernel $1: run 'make debug-kernel CONFIG=$1'" ;;
	*) die "kernel $1 is not set up: run 'make setup'" ;;
	esac
	cat "$file"
}

# clone DIR: copy what git has or would have, so that nothing of a build here is in it
clone()
{
	mkdir "$1" && (cd "$TOP" && git ls-files -co --exclude-standard -z |
		tar -c --null --ignore-failed-read -T -) | tar -x -C "$1"
}

# kernel_kdir NAME: print the directory that modules for NAME are built against
kernel_kdir()
{
	echo "$BUILD/vm/$1/headers/usr/src/linux-headers-$(kernel_release "$1")"
}
