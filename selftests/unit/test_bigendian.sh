#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The unit tests of the cores and of the library's own parts on a big-endian
# machine: a cross compiler builds them, an emulator runs them. UBSan is on, which
# refuses an access that its type's alignment does not allow.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
machine=s390x
cross=$machine-linux-gnu-
emulator=qemu-$machine-static
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# result NAME COMMAND...: a row, which passes if the command succeeds
result()
{
	local name=$1

	shift
	n=$((n + 1))
	if "$@" > "$tmp/log" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		grep -v -e '^ok ' -e '^#  *\(RUN\|OK\) ' "$tmp/log" |
			tail -n 40 | sed 's/^#* */# /'
		failed=1
	fi
}

cross_make()
{
	env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory -j 2 \
		-C "$here" BUILD="$build" CROSS_COMPILE="$cross" "$@"
}

# The program must be for the other machine, and must find a test.
runs()
{
	local program=$build/$machine/$1

	"${cross}readelf" -h "$program" | grep 'big endian' || return
	"$emulator" "$program" || return
	[ "$(grep -c '^ok ' "$tmp/log")" -gt 0 ]
}

# Each header in use is one of the tree or of that machine.
no_host_header()
{
	cat "$build/$machine"/*.d "$build/$machine"/*/*.d | tr ' ' '\n' |
		sort -u > "$tmp/headers"
	grep "/$machine-linux-gnu/include/stdint.h" "$tmp/headers" &&
		! grep '^/usr/include' "$tmp/headers"
}

for tool in "${cross}gcc" "$emulator"; do
	command -v "$tool" > /dev/null || {
		echo "1..0 # SKIP no $tool here"
		exit 4
	}
done
read -ra names < <(cross_make cross-names)
result "the tests compile without a warning" cross_make -k cross
result "they include no header of this host" no_host_header
for name in "${names[@]}"; do
	result "$name" runs "$name"
done
echo "1..$n"
[ ${#names[@]} -gt 0 ] && exit $failed
exit 1
