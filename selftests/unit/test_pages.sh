#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Commands of aggctl on the pages, in literal blocks and in sentences, exist with the verbs
# and options that they have there.
# shellcheck disable=SC2016 # commands as they are written
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
. "$top/selftests/lib/rows.sh"

# commands FILE: print each command, on one line, without a prompt
commands()
{
	sed -e :a -e '/\\$/{N;s/ *\\\n */ /;ba}' "$1" | grep -oP \
		'^ +([$#] )?\Kaggctl [a-z-].*|``(sudo )?\Kaggctl [a-z-][^`]*|(&&|;|\|) \Kaggctl [a-z-].*' |
		sed 's/ [|;&>#<].*//; s/["'\''(),]/ /g; s/=/ /g'
}

declare -A help

# have WORD...: have the help of a noun, or of a verb, in help[aggctl WORDS]
have()
{
	[ "${help["aggctl $*"]:-}" ] || help["aggctl $*"]=$("$aggctl" "$@" -h 2>&1)
}

# is_word WORD WORD...: does the help of these words have a line about WORD?
is_word()
{
	local word=$1

	shift
	have "$@"
	grep -q "^  $word " <<< "${help["aggctl $*"]}"
}

# fault COMMAND: what of it aggctl does not have
fault()
{
	local words noun='' verb='' word skip=''

	read -ra words <<< "$1"
	for word in "${words[@]:1}"; do
		if [ "$skip" ]; then
			skip=''
		elif [ "$word" = -n ]; then
			skip=1
		elif [[ $word == --?* ]]; then
			[ "$noun" ] || have
			grep -qe "^  \(-., \)\?$word\( \|$\)" \
				<<< "${help["aggctl $noun${verb:+ $verb}"]}" ||
				echo "no option $word"
		elif [[ $word == -* ]]; then
			continue
		elif [ ! "$noun" ]; then
			noun=$word
			is_word "$noun" || {
				echo "no command $noun"
				return
			}
			have "$noun"
		elif [ ! "$verb" ] && grep -q '^verbs:' <<< "${help["aggctl $noun"]}"; then
			verb=$word
			is_word "$verb" "$noun" || {
				echo "no verb $verb of $noun"
				return
			}
			have "$noun" "$verb"
		fi
	done
}

# page FILE: each command of it is one of aggctl's
page()
{
	local command found bad=0

	while read -r command; do
		found=$(fault "$command")
		[ ! "$found" ] && continue
		echo "$command: $found"
		bad=1
	done < <(commands "$1" | sort -u)
	return "$bad"
}

# A command of each kind of mistake is found.
mistakes()
{
	printf '    aggctl tree drop\n\n``aggctl plant --job 7`` and\n    # aggctl recv --jobs 7\n' \
		> wrong
	page wrong > found && return 1
	diff found - << 'END'
aggctl plant --job 7: no command plant
aggctl recv --jobs 7: no option --jobs
aggctl tree drop: no verb drop of tree
END
}

check "mistakes on a page are found" mistakes
for file in "$top"/README.md "$top"/Documentation/*.rst "$top"/Documentation/tutorials/*.rst; do
	[ "$(commands "$file")" ] || continue
	check "commands of ${file#"$top"/}" page "$file"
done
end_rows
