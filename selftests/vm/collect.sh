#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs test programs that print TAP, one after the other, and prints a line
# each: passed, failed, skipped, seconds. Exit status 1 if anything failed.
# Usage: collect.sh [-q] [-t SECONDS] [-l LOGDIR] [-o RESULTS] [-p PREFIX]
#                   PROGRAM...
#   -q  show the output of a program only if it fails
#   -t  time that each program has (default 300)
#   -l  keep each program's output in LOGDIR
#   -o  append "suite passed failed skipped seconds" lines to RESULTS
#   -p  put PREFIX before each suite's name in RESULTS
set -u

quiet=0 limit=300 logdir='' results='' prefix=''
while getopts qt:l:o:p: opt; do
	case $opt in
	q) quiet=1 ;;
	t) limit=$OPTARG ;;
	l) logdir=$OPTARG ;;
	o) results=$OPTARG ;;
	p) prefix=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# count LOG: sets passed, failed, skipped and planned from TAP
count()
{
	local line

	passed=0 failed=0 skipped=0 planned=''
	while IFS= read -r line; do
		case $line in
		'ok '*'# SKIP'* | 'ok '*'# skip'*)
			skipped=$((skipped + 1)) ;;
		'ok '*)
			passed=$((passed + 1)) ;;
		'not ok '*)
			failed=$((failed + 1)) ;;
		'1..'[0-9]*)
			planned=${line#1..} planned=${planned%% *}
			# "1..0 # SKIP why" is a whole program skipped
			[ "$planned" != 0 ] || skipped=$((skipped + 1)) ;;
		esac
	done < "$1"
}

# died STATUS: says why a program counts as failed beyond its "not ok" lines
died()
{
	local ran=$((passed + failed + skipped))

	if [ "$1" = 124 ] || [ "$1" = 137 ]; then
		echo "timed out after $limit s"
	elif [ "$1" != 0 ] && [ "$failed" = 0 ] &&
	     { [ "$1" != 4 ] || [ "$skipped" = 0 ]; }; then
		echo "exit status $1"
	elif [ "$ran" = 0 ]; then
		echo "ran no test"
	elif [ -n "$planned" ] && [ "$planned" != 0 ] &&
	     [ "$ran" != "$planned" ]; then
		echo "ran $ran of $planned tests"
	fi
}

run_one()
{
	local name=${1##*/} log=$scratch/log start=$SECONDS status why

	# Into a file: a pipe would wait for whatever a test left behind.
	timeout -k 5 "$limit" "$1" > "$log" 2>&1 < /dev/null
	status=$?
	count "$log"
	why=$(died "$status")
	[ -z "$why" ] || failed=$((failed + 1))
	[ $quiet$failed = 10 ] || cat "$log"
	[ -z "$why" ] || echo "# $name: $why"
	printf '# %-34s %4d passed %3d failed %3d skipped %4d s\n' "$name" \
		"$passed" "$failed" "$skipped" $((SECONDS - start))
	[ -z "$results" ] || echo "$prefix$name $passed $failed $skipped" \
		"$((SECONDS - start))" >> "$results"
	[ -z "$logdir" ] || cp "$log" "$logdir/$name.log"
	[ $failed = 0 ]
}

[ -z "$logdir" ] || mkdir -p "$logdir"
bad=0
for program in "$@"; do
	run_one "$program" || bad=1
done
exit $bad
