#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Does the man page tell of every command, verb and option of the help texts?
man=$1
missing=0

# told WORD...: the words stand in the page, whatever its fonts are
told()
{
	sed 's/\\f.//g; s/\\-/-/g; s/"//g; s/^\.[A-Z]* //; s/  */ /g' "$man" |
		grep -qF -e "$*" && return
	echo "$man: nothing about '$*'" >&2
	missing=1
}

words()
{
	sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

options()
{
	sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p'
}

for noun in $(./aggctl -h | words); do
	verbs=$(./aggctl "$noun" -h | words)
	if [ -z "$verbs" ]; then
		told "aggctl $noun"
		verbs=-h
	fi
	for verb in $verbs; do
		[ "$verb" = -h ] || told "$verb"
		for option in $(./aggctl "$noun" "$verb" -h | options); do
			told "$option"
		done
	done
done
exit $missing
