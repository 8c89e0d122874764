# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this directory: where things are, and how the
# supported kernels are called.

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM_DIR/../.." && pwd)
BUILD=$TOP/build
# Downloaded packages; set it to share one cache between several clones.
CACHE=${AGGNET_CACHE:-$BUILD/cache}
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

# kernel_release NAME: the release that NAME (6.1, 6.12 or debug) stands for
kernel_release()
{
	local file=$BUILD/vm/$1/release

	[ -s "$file" ] || die "kernel $1 is not set up: run 'make setup'"
	cat "$file"
}

# kernel_kdir NAME: the directory that modules for NAME are built against
kernel_kdir()
{
	if [ "$1" = debug ]; then
		echo "$BUILD/vm/debug/linux"
	else
		echo "$BUILD/vm/$1/headers/usr/src/linux-headers-$(kernel_release "$1")"
	fi
}
