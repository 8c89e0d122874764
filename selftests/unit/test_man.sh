#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The man page of aggctl describes every command, verb and option of the help
# texts; the man page of the socket states the length of a message.
top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
page=$(sed 's/\\f.//g; s/\\-/-/g; s/"//g; s/^\.[A-Z]* //; s/  */ /g' \
	"$top/Documentation/man/aggctl.8")
tests=0
bad=0

words()
{
	sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

options()
{
	sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p'
}

# untold WORDS...: print those that the page does not have
untold()
{
	local text

	for text in "$@"; do
		[[ $page = *"$text"* ]] || echo "$text"
	done
}

# result NAME MISSING: a row, which passes if MISSING is empty
result()
{
	tests=$((tests + 1))
	if [ -z "$2" ]; then
		echo "ok $tests - $1"
	else
		bad=1
		echo "not ok $tests - $1: nothing about ${2//$'\n'/, }"
	fi
}

for noun in $("$aggctl" -h | words); do
	verbs=$("$aggctl" "$noun" -h | words)
	if [ -z "$verbs" ]; then
		mapfile -t all < <("$aggctl" "$noun" -h | options)
		result "$noun" "$(untold "aggctl $noun" "${all[@]}")"
	fi
	for verb in $verbs; do
		mapfile -t all < <("$aggctl" "$noun" "$verb" -h | options)
		result "$noun $verb" "$(untold "$verb" "${all[@]}")"
	done
done
# The length of the receiver's buffer, from the page of the socket.
bytes=$(sed -n 's/^The buffer must have at least \([0-9]*\) bytes$/\1/p' \
	"$top/Documentation/man/aggnet.7")
result "aggnet.7: a message's size" "$(cc -fsyntax-only -I "$top/uapi" -xc - 2>&1 << EOF
#include <linux/aggnet.h>
#include <linux/aggnet_packet.h>
_Static_assert(sizeof(struct aggnet_msg) + AGGNET_RECORD_MAX == ${bytes:-0}, "");
EOF
)"
# Words of a macro line alternate between fonts, without spaces.
result "no sentence is in the line of a macro" \
	"$(grep -nE '^\.[BIR]{2} [^"]* [.;] [A-Z][a-z]' "$top"/Documentation/man/*.[0-9])"
# A program that does not run prints no help: this must not pass.
[ $tests -gt 0 ] || echo "not ok 1 - $aggctl has no commands"
echo "1..$((tests > 0 ? tests : 1))"
[ $tests -gt 0 ] && exit $bad
exit 1
