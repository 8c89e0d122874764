#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module's files that compile on the host also compile for 32 bits, and
# contain no division of 64 bits: a kernel of 32 bits has no function for it.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
flow=$top/selftests/fuzz/flow
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# Those of the product: without the faults that tests plant.
read -ra names < <(make -s --no-print-directory -C "$flow" AGGNET_FAULTS= names)
n=0 failed=0

# result NAME FAULT: a row, which passes if FAULT is empty
result()
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: ${2//$'\n'/, }"
		failed=1
	fi
}

# compile FILE.c: print the compiler's messages and the divisions that it calls
compile()
{
	gcc -m32 -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Werror -Wno-sign-compare \
		-DSHIM_CALLS -include prelude.h -I "$tmp" -I "$flow" \
		-I "$top/selftests/shim" -I "$top/uapi" \
		-I "$top/kmod" -idirafter "/usr/include/$(gcc -print-multiarch)" \
		-c -o "$tmp/object" "$1" 2>&1 && nm "$tmp/object" |
		grep -oE '__u?(div|mod)[a-z0-9]*'
}

# The C library's common headers suffice, but one of them includes this file.
mkdir "$tmp/gnu" && : > "$tmp/gnu/stubs-32.h"
echo 'unsigned long long f(unsigned long long a, unsigned b) { return a / b; }' \
	> "$tmp/division.c"
if [ "$(compile "$tmp/division.c")" != __udivdi3 ]; then
	echo "1..0 # SKIP gcc does not compile for 32 bits here"
	exit 4
fi
for name in "${names[@]}"; do
	result "$name" "$(compile "$top/kmod/$name.c")"
done
echo "1..$n"
[ $n -gt 0 ] && exit $failed
exit 1
