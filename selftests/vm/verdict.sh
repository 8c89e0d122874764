#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The verdict on a run of the guest, from the files that it left: exits with the
# status of its command; with another than 0, and the reason, if the kernel
# complained, the module did not unload, or a log is missing or cut.
# Usage: verdict.sh RUN QEMU_STATUS
set -euo pipefail
. "$(dirname "$0")/lib.sh"

run=$1 qemu=$2

# complaint LOG [AWK_OPTION...]: print the first complaint and fail, if there is
# one
complaint()
{
	local log=$1 why

	shift
	why=$(awk "$@" -f "$VM_DIR/splats.awk" "$log" 2>&1) && return
	say "the kernel complained, or its log is not whole (${log##*/}):"
	printf '%s\n' "$why" >&2
	return 1
}

# The guest returned no status: the console shows how far it got.
died()
{
	say "the guest ended without a status (QEMU's was $qemu);" \
		"its last lines:"
	tail -qn 20 "$run/console" "$run/qemu" >&2 || :
	[ "$qemu" != 124 ] || exit 124
	exit 1
}

# fail [TEXT...]: turn status 0 into 1
fail()
{
	[ $# = 0 ] || say "$@"
	[ "$status" != 0 ] || status=1
}

status='' unloaded=''
[ ! -s "$run/status" ] || read -r status unloaded < "$run/status"
if [ -z "$unloaded" ]; then
	complaint "$run/console" || :
	died
fi
if ! complaint "$run/dmesg" -v whole=1 || ! complaint "$run/console"; then
	fail
fi
[ "$unloaded" = 0 ] || fail "aggnet.ko does not unload"
[ "$qemu" = 0 ] || fail "QEMU ended with status $qemu"
exit "$status"
