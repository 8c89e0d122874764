#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs test programs that print TAP, one after the other, and prints a line
# each: passed, failed, skipped, seconds, seconds of CPU. Exit status 1 if anything failed.
# Usage: collect.sh [-q] [-t SECONDS] [-l LOGDIR] [-o RESULTS] [-p PREFIX]
#                   PROGRAM...
#   -q  show the output of a program only if it fails
#   -t  time that each program has (default 300)
#   -l  keep each program's output in LOGDIR
#   -o  append "suite passed failed skipped seconds cpu" lines to RESULTS
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

tap=$(dirname "$0")/tap.awk
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# died STATUS FLAW: print why a program fails besides its "not ok" lines
died()
{
	if [ "$1" = 124 ] || [ "$1" = 137 ]; then
		echo "timed out after $limit s, or killed"
	elif [ "$1" != 0 ] && [ "$failed" = 0 ] &&
	     { [ "$1" != 4 ] || [ "$skipped" = 0 ]; }; then
		echo "exit status $1${2:+; $2}"
	else
		echo "$2"
	fi
}

run_one()
{
	local name=${1##*/} log=$scratch/log start=$SECONDS status user system
	local passed failed skipped why cpu
	local TIMEFORMAT='%0U %0S'

	# Write to a file: a pipe would wait for processes that a test left
	# running.
	{ time timeout -k 5 "$limit" "$1" > "$log" 2>&1 < /dev/null; } \
		2> "$scratch/time"
	status=$?
	read -r user system < <(tail -n 1 "$scratch/time")
	cpu=$((user + system))
	read -r passed failed skipped why < <(awk -f "$tap" "$log")
	why=$(died "$status" "$why")
	[ -z "$why" ] || failed=$((failed + 1))
	[ "$quiet$failed" = 10 ] || cat "$log"
	[ -z "$why" ] || echo "# $prefix$name: $why"
	printf '# %-36s %4d passed %3d failed %3d skipped %4d s %4d s CPU\n' \
		"$prefix$name" "$passed" "$failed" "$skipped" \
		$((SECONDS - start)) $cpu
	[ -z "$results" ] || echo "$prefix$name $passed $failed $skipped" \
		"$((SECONDS - start)) $cpu" >> "$results"
	[ -z "$logdir" ] || cp "$log" "$logdir/$name.log"
	[ "$failed" = 0 ]
}

[ -z "$logdir" ] || mkdir -p "$logdir"
bad=0
for program in "$@"; do
	run_one "$program" || bad=1
done
exit $bad
