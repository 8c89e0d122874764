#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each line that no test reaches needs a reason, and a reason covers a stated
# number of lines and no more.
set -u

here=$(cd "$(dirname "$0")" && pwd)
awk=$here/../vm/unreached.awk
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# gcov DIRECTORY COUNT...: write gcov's output for a function whose lines ran so
# often
gcov()
{
	local dir=$tmp/$1 count line=2

	shift
	mkdir -p "$dir"
	{
		printf '        -:    0:Source:a.c\n'
		printf '        -:    1:static int work(void)\n'
		for count in "$@"; do
			printf '%9s:%5d:\tstep();\n' "$count" "$line"
			line=$((line + 1))
		done
	} > "$dir/a.c.gcov"
}

# row STATUS TEXT NAME REASON: with that line in the list of reasons, the output
# has TEXT
row()
{
	local status=0

	n=$((n + 1))
	echo "$4" > "$tmp/reasons"
	awk -v guest="$tmp/guest" -f "$awk" "$tmp/reasons" \
		"$tmp"/*/a.c.gcov > "$tmp/log" || status=$?
	if [ "$status" = "$1" ] && grep -q -F -e "$2" "$tmp/log"; then
		echo "ok $n - $3"
		return
	fi
	echo "not ok $n - $3"
	sed 's/^/# /' "$tmp/log"
	failed=1
}

echo 1..5
gcov guest '#####' 3 '#####' '#####'
gcov unit '#####' '#####' 7 '#####'
row 0 "a.c, work: 2 5" "as many lines as the reason is for" "work 2 no memory"
row 1 "? of 1 lines it is known: no memory" "more lines" "work 1 no memory"
row 1 "?" "no reason" "other 2 no memory"
row 0 "no memory" "lines that are not counted" "work - no memory"
gcov unit 1 1 1 1
row 0 "0 of 4 lines" "nothing is left" "# none"
exit $failed
