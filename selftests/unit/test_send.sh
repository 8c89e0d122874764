#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggctl send checks a file before it sends anything, and names the line of an
# error. It needs no module for that.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# says WHAT SENTENCE [KILOBYTES]: sending the file "input" with so much memory
# fails with this error and status 1
says()
{
	local said status

	n=$((n + 1))
	said=$(ulimit -v "${3:-unlimited}"
		"$top/tools/aggctl/aggctl" send --job 1 --receiver 10.0.0.1 \
			"$tmp/input" 2>&1)
	status=$?
	if [ "$said" = "aggctl: send: $tmp/input: $2" ] && [ $status = 1 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: it says '$said', status $status"
		failed=1
	fi
}

echo 1..3
printf 'a\t1\nb\t1\nc\n' > "$tmp/input"
says "a bad line" "line 3: there is no TAB between key and value"
rm "$tmp/input"
says "no file" "No such file or directory"
# A line of zeros that needs more memory than there is must not count as the
# file's end.
printf 'a\t1\n' > "$tmp/input"
truncate -s 512M "$tmp/input"
says "a line that is too long for memory" "Cannot allocate memory" 131072
exit $failed
