#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Set-up does not change the host's kernels: their packages and the contents of
# /boot and /lib/modules are the same as before.
# Usage: untouched.sh record   before set-up
#        untouched.sh          afterwards; prints TAP
set -euo pipefail
. "$(dirname "$0")/lib.sh"

RECORD=$BUILD/untouched

# state PART: print the state of this part
state()
{
	case $1 in
	packages)
		dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' \
			'linux-image*' 'linux-headers*' 'linux-modules*' \
			2> /dev/null | grep '^ii' | sort ;;
	boot)
		find /boot -printf '%p %s %T@\n' 2> /dev/null | sort ;;
	modules)
		find /lib/modules -maxdepth 1 2> /dev/null | sort ;;
	esac || :
}

if [ "${1:-}" = record ]; then
	mkdir -p "$RECORD"
	for part in packages boot modules; do
		state $part > "$RECORD/$part"
	done
	exit
fi

n=0 failed=0
echo 1..3
for part in packages boot modules; do
	n=$((n + 1))
	if state $part | diff "$RECORD/$part" - > "$RECORD/diff" 2>&1; then
		echo "ok $n - $part of kernels"
	else
		echo "not ok $n - $part of kernels"
		sed 's/^/# /' "$RECORD/diff"
		failed=$((failed + 1))
	fi
done
[ $failed = 0 ]
