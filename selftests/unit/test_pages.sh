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

# unsaid FILE: the phrases in quotes of the first column of its table of symptoms, without
# the commands before a colon, that no string of the tools or the module has, or that are one
# word and not a counter, which is in many strings; and in rows of commands each part between
# commas and semicolons that has no phrase. N, M, ADDRESS, NAME, JOB, FILE and ethN stand for
# any words; other programs print what is in their rows.
unsaid()
{
	find "$top/tools" "$top/kmod" "$top/uapi" -name '*.[ch]' -print0 | sort -z |
		xargs -0 cat > sources
	python3 - "$1" sources << 'END'
import re
import sys

page, strings = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
table = page.split("When something is wrong\n===", 1)[1]
strings = re.sub(r"/\*.*?\*/", "", strings, flags=re.S)
# One string may be several literals, with a macro for a conversion between them.
strings = re.sub(r'"\s*(?:(?:JSON_INTEGER_FORMAT|PRI[a-z0-9]+)\s*)?"', "", strings)
said = "\n".join(re.findall(r'"(?:[^"\\\n]|\\.)*"', strings))
for row in re.findall(r"\n   \* - (.*?)\n     - ", table, re.S)[1:]:
    row = " ".join(row.split())
    if re.match("``(modprobe|rmmod)``", row):
        continue
    row, commands = re.subn(r"(^|; )(``[a-z ]+``(,| or|) )*``[a-z ]+``: ", r"\1", row)
    for part in re.split("[,;]", re.sub("``.*?``", "@", row)) if commands else []:
        if "@" not in part:
            print(part.strip())
    for phrase in re.findall("``(.*?)``", row):
        plain = [not re.fullmatch("N|M|ADDRESS|NAME|JOB|FILE|ethN", word)
                 for word in re.split("( |,|:)", phrase)]
        words = [re.escape(word) if same else ".{1,60}?"
                 for word, same in zip(re.split("( |,|:)", phrase), plain)]
        if (not re.search("".join(words), said) or
                len(phrase.split()) < 2 and not re.match("drop_|--", phrase)):
            print(phrase)
END
}

# symptoms: are there phrases, which are all printed?
symptoms()
{
	local page=$top/Documentation/aggregating.rst

	[ "$(sed -n '/^When something is wrong/,$p' "$page" | grep -c '^   \* - .*: .*``')" -gt 20 ] &&
		unsaid "$page" > found && diff found /dev/null || return
	sed 's/``not merged as planned``/``not at all as planned``, ``N packets of job N``/
		s/; ``send``: ``all writers of/; ``send``: ``all writers for/
		s/``it has no entry``/it has no entry/; s/``it names no link``/``link``/' \
		"$page" > wrong
	unsaid wrong > found
	printf '%s\n' "all writers for JOB are here already" "it has no entry" link \
		"not at all as planned" "N packets of job N" | diff found -
}

# reasons: has the page each sentence of a reason? Nodes of this version do not raise two.
reasons()
{
	sed -n '/reasons\[__AGGNET/,/^};/p' "$top/tools/libaggnet/reason.c" |
		grep -o '"[^"]*"' | tr '"' '\`' |
		grep -v '^`\(no error\|a member does not keep up\|what a member lacks .*\)`$' > texts
	[ "$(wc -l < texts)" -gt 10 ] &&
		grep -o ': ``.*``$' "$top/Documentation/operations.rst" | sed 's/^: `\(.*\)`$/\1/' |
		grep -vxFf - texts > missing
	diff missing /dev/null
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
check "operations.rst has the sentence of each reason" reasons
check "phrases of the table of symptoms are printed" symptoms
for file in "$top"/README.md "$top"/Documentation/*.rst "$top"/Documentation/tutorials/*.rst; do
	[ "$(commands "$file")" ] || continue
	check "commands of ${file#"$top"/}" page "$file"
done
end_rows
