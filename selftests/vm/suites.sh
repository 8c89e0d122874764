#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The list of suites (file "suites"): which ones run where, and whether a run
# had all of them, with as many tests as they have.
# Usage: suites.sh select WHERE         suites that run there, with their options
#        suites.sh audit RESULTS WHERE...  what a run lacks; exit 1 if anything
#        suites.sh update [RESULTS]     write a green run's counts into the list
#        suites.sh list                 each suite and what it proves: the first
#                                       comment of its file; exit 1 if one has none
#   WHERE  host, gate, debug (the part of make check), debug-all, or a kernel
#   TESTS  words, each a glob that names suites (*); with or without directory
#          and .sh
#   KERNELS, SEED  of the run: which kernel's turn it is
set -euo pipefail
. "$(dirname "$0")/lib.sh"

SUITES=${SUITES:-$VM_DIR/suites}
TESTS=${TESTS:-*}
SEED=${SEED:-0}

# matches SUITE WORD: does the word name this suite?
matches()
{
	local name=${1##*/}

	# shellcheck disable=SC2053 # a glob
	[[ $1 == $2 || $name == $2 || ${name%.sh} == $2 ]]
}

# wanted SUITE: does a word of TESTS name it?
wanted()
{
	local word

	for word in "${words[@]}"; do
		! matches "$1" "$word" || return 0
	done
	return 1
}

# has_turn KERNEL: does the current suite, which kernels run in turn, run there?
# The seed chooses the kernel of the first one.
has_turn()
{
	local kernels

	read -r -a kernels <<< "$KERNELS"
	[ ${#kernels[@]} != 0 ] &&
		[ "$1" = "${kernels[(turns + 10#$SEED) % ${#kernels[@]}]}" ]
}

# runs WHERE PLACE DEBUG: does a suite with these columns run there?
runs()
{
	case $1 in
	host | gate) [ "$2" = "$1" ] ;;
	debug) [[ $3 != - && $3 != all:* ]] ;;
	debug-all) [[ $2 = @(each|split|turn) || $3 != - ]] ;;
	*) [[ $2 = each || $2 = split || $2 = "$1" ]] ||
		{ [ "$2" = turn ] && has_turn "$1"; } ;;
	esac
}

lines()
{
	grep -v -e '^#' -e '^$' "$SUITES"
}

# A word that names no suite is an error: otherwise the run would do nothing and
# pass.
check_words()
{
	local word suite found

	for word in "${words[@]}"; do
		found=0
		while read -r suite _; do
			! matches "$suite" "$word" || found=1
		done < <(lines)
		[ $found = 1 ] || {
			say "TESTS: no suite is called '$word'"
			exit 2
		}
	done
}

# for_each WHERE COMMAND...: call it with the columns of each suite that runs
# there
for_each()
{
	local where=$1 suite place passes skips debug options turns=0

	shift
	while read -r suite place passes skips debug options; do
		[ "$place" != turn ] || turns=$((turns + 1))
		if wanted "$suite" && runs "$where" "$place" "$debug"; then
			"$@" "$suite" "$place" "$passes" "$skips" "$debug" \
				"$options"
		fi
	done < <(lines)
}

print_suite()
{
	echo "$1${6:+ $6}"
}

# counts NAME SUITE: set passed and skipped from the row of a result, or fail
counts()
{
	read -r passed skipped < <(awk -v name="$1/$2" \
		'$1 == name { print $2, $4; exit }' "$results")
}

lack()
{
	echo "$*"
	lacks=$((lacks + 1))
}

# audit_one WHERE SUITE PLACE PASSES SKIPS DEBUG OPTIONS: check its counts. The
# rows of a split suite are counted together, with the last kernel. The debug
# kernel has a quarter.
audit_one()
{
	local where=$1 suite=$2 least=$4 most=$5 passed=0 skipped=0
	local debug=${6#all:}

	[ "$where" != debug ] || [ "$debug" = - ] ||
		least=${debug%:*} most=${debug#*:}
	counts "$where" "$suite" || {
		lack "$where/$suite: did not run"
		return 0
	}
	if [ "$3" = split ] && [ "$where" = debug ]; then
		least=$((least / 4))
	elif [ "$3" = split ]; then
		sum[$suite]=$((${sum[$suite]:-0} + passed))
		passed=${sum[$suite]}
		[ "$where" = "$last" ] || least=0
	fi
	[ "$passed" -ge "$least" ] ||
		lack "$where/$suite: $passed passed, of $least at least"
	[ "$skipped" -le "$most" ] ||
		lack "$where/$suite: $skipped skipped, of $most at most"
}

# audit_guest WHERE NAME: check the rows about the log and the module of a guest
audit_guest()
{
	case $1 in
	host | gate) return ;;
	esac
	[ -n "$(for_each "$1" echo)" ] || return 0
	counts "$2" vm || lack "$2/vm: no verdict on the guest"
}

# audit WHERE...: print all suites with missing tests
audit()
{
	local where name last=

	declare -A sum=()
	for where in "$@"; do
		case $where in
		host | gate | debug*) ;;
		*) last=$where ;;
		esac
	done
	for where in "$@"; do
		name=$where
		[ "$where" != debug-all ] && [ "$where" != gate ] || name=debug
		for_each "$where" audit_one "$name"
		audit_guest "$where" "$name"
	done
	[ $lacks = 0 ]
}

# Of all kernels take the fewest passed and the most skipped tests; for a split
# suite, the sums; for a line of one kernel, the counts of that kernel.
update()
{
	awk '
	FILENAME == ARGV[1] {
		split($1, part, "/")
		suite = substr($1, length(part[1]) + 2)
		passed[$1] = $2
		skipped[$1] = $4
		if (part[1] == "debug") {
			debug[suite] = $2 ":" $4
			next
		}
		if (!(suite in least) || $2 < least[suite])
			least[suite] = $2
		if (!(suite in most) || $4 > most[suite])
			most[suite] = $4
		sum[suite] += $2
		next
	}
	/^#|^$/ { print; next }
	{
		if ($2 "/" $1 in passed) {
			$3 = passed[$2 "/" $1]
			$4 = skipped[$2 "/" $1]
		} else if ($1 in least) {
			$3 = $2 == "split" ? sum[$1] : least[$1]
			$4 = most[$1]
		}
		if ($5 != "-" && $1 in debug)
			$5 = ($5 ~ /^all:/ ? "all:" : "") debug[$1]
		options = ""
		for (i = 6; i <= NF; i++)
			options = options " " $i
		printf "%-31s %-5s %6d%6d  %-6s%s\n", $1, $2, $3, $4, $5, options
	}' "$results" "$SUITES" | sed 's/ *$//' > "$SUITES.new"
	cat "$SUITES.new" > "$SUITES"
	rm "$SUITES.new"
}

# The counts of a run with failures are too small.
check_green()
{
	awk '$3 > 0 { bad = 1 } END { exit bad || !NR }' "$results" ||
		die "$results is not of a green run"
}

# source_of SUITE: print its source file
source_of()
{
	case $1 in
	lint/*) echo "$VM_DIR/lint.sh" ;;
	*.sh) echo "$TOP/selftests/$1" ;;
	*) echo "$TOP/selftests/$1.c" ;;
	esac
}

# list: print the wanted suites, each once
list()
{
	local suite file text

	while read -r suite; do
		wanted "$suite" || continue
		file=$(source_of "$suite")
		text=$([ ! -f "$file" ] || awk -f "$VM_DIR/comment.awk" "$file")
		[ -n "$text" ] || {
			lack "$suite: its file does not begin with a comment"
			continue
		}
		echo "$suite"
		fold -s -w 72 <<< "$text" | sed 's/^/    /; s/ *$//'
	done < <(lines | awk '!seen[$1]++ { print $1 }')
	[ $lacks = 0 ]
}

read -r -a words <<< "$TESTS"
lacks=0
case ${1:-} in
select)
	check_words
	for_each "$2" print_suite ;;
audit)
	results=$2
	shift 2
	audit "$@" ;;
update)
	results=${2:-$BUILD/check/results}
	check_green
	update ;;
list)
	check_words
	list ;;
*)
	say "usage: select WHERE | audit RESULTS WHERE... | update [RESULTS] | list"
	exit 2 ;;
esac
