#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every suite of the list (file "suites"): on the host, in one guest for each
# kernel, and some on the debug kernel. Two of these jobs run at a time; the machines of
# cluster/ run after them, alone. Prints a table of what ran and, last, "N passed, N failed,
# N skipped".
# Usage: [KERNELS="6.1 6.12"] [TESTS="GLOB..."] check.sh
#        check.sh guest KERNEL   (the guest's half)
#   HOST=0            no tests on the host
#   DEBUG=part        the suites that the list has for the debug kernel, too; or
#                     no, or all (and the faults on purpose: gate.sh)
#   JOBS=2            jobs at a time, and processes of make
set -euo pipefail
. "$(dirname "$0")/lib.sh"

export TESTS=${TESTS:-*}
DEBUG=${DEBUG:-part}
JOBS=${JOBS:-2}
OUT=$BUILD/check
RESULTS=$OUT/results

# row NAME STATUS SECONDS CPU: write a result that is not TAP
row()
{
	local passed=1 failed=0

	[ "$2" = 0 ] || passed=0 failed=1
	echo "$1 $passed $failed 0 $3 $4" >> "$RESULTS"
	[ "$2" = 0 ] || say "$1 FAILED"
}

# timed NAME COMMAND...: run it and write a row
timed()
{
	local name=$1 start=$SECONDS status=0 user system cpu
	local TIMEFORMAT='%0U %0S'

	shift
	cpu=$(mktemp "$OUT/cpu.XXXXXX")
	{ time "$@" >&3 2>&4; } 3>&1 4>&2 2> "$cpu" || status=$?
	# Only the last line: before it bash may print the signal that ended the
	# command.
	read -r user system < <(tail -n 1 "$cpu")
	rm "$cpu"
	row "$name" $status $((SECONDS - start)) $((user + system))
	return $status
}

# log_of NAME: print the file that keeps the output of a row
log_of()
{
	mkdir -p "$OUT/$(dirname "$1")"
	echo "$OUT/$1.log"
}

quiet()
{
	local log=$1

	shift
	"$@" > "$log" 2>&1 || { tail -n 100 "$log"; return 1; }
}

# logged NAME COMMAND...: run it and write a row; show its output if it fails
logged()
{
	timed "$1" quiet "$(log_of "$1")" "${@:2}"
}

# program SUITE: print the program to run
program()
{
	case $1 in
	*.sh) echo "$TOP/selftests/$1" ;;
	*) echo "$BUILD/$1" ;;
	esac
}

# collect WHERE LIMIT SUITE [OPTION...]: run a suite that prints TAP
collect()
{
	local where=$1 limit=$2 suite=$3 dir=$1/${3%/*}

	env "${@:4}" "$VM_DIR/collect.sh" -q -t "$limit" -p "$dir/" \
		-o "$RESULTS" -l "$OUT/$dir" "$(program "$suite")" ||
		say "$where/$suite FAILED"
}

# fuzz SUITE RUNS=N: run it N times from the seeds; keep inputs that fail here
fuzz()
{
	local suite=$1 name=${1##*/fuzz_} RUNS=100000 "${@:2}"
	local corpus=$OUT/host/corpus-$name

	mkdir -p "$corpus"
	logged "host/$suite" timeout 1800 "$(program "$suite")" -verbosity=0 \
		-runs="$RUNS" -timeout=60 -seed=$((SEED % (1 << 31))) \
		-artifact_prefix="$OUT/host/$name-" "$corpus" \
		"$TOP/selftests/${suite%/*}/seeds/$name"
}

# suite_on_host SUITE [OPTION...]: run it on the host
suite_on_host()
{
	local status=0 RUNS=2000 "${@:2}"

	case $1 in
	lint/*)
		logged "host/$1" env "${@:2}" "$VM_DIR/lint.sh" "${1#*/}" ||
			status=$? ;;
	*/fuzz_*)
		fuzz "$@" || status=$? ;;
	*/flow_random)
		logged "host/$1" "$(program "$1")" "$SEED" "$RUNS" ||
			status=$? ;;
	cluster/* | packages/* | fuzz/mutants.sh)
		# Builds have what the guests leave of the CPUs.
		collect host 1800 "$@" ;;
	*)
		collect host 900 "$@" ;;
	esac
	return $status
}

# suites_of WHERE DIRECTORY: print suites with their options. With SHARE=I/N a
# guest gets every N-th one.
suites_of()
{
	local share=${SHARE:-0/1}

	"$VM_DIR/suites.sh" select "$1" |
		awk -v i="${share%/*}" -v n="${share#*/}" 'NR % n == i' |
		grep "^$2/[^/]*$" || :
}

# host DIRECTORY...: run the suites of these directories; guests have priority
host()
{
	local suite options dir list

	renice -n 10 $BASHPID > /dev/null
	for dir in "$@"; do
		list=$(suites_of host "$dir")
		[ -n "$list" ] || continue
		case $dir in
		unit | fuzz*)
			logged "host/$dir/build" make -s -j"$JOBS" \
				-C "$TOP/selftests/$dir" all || : ;;
		esac
		while read -r suite options <&8; do
			# shellcheck disable=SC2086 # words
			suite_on_host "$suite" $options || :
		done 8<<< "$list"
	done
}

# where_of KERNEL: print its name in suites.sh
where_of()
{
	case $1-$DEBUG in
	debug-part) echo debug ;;
	debug-*) echo debug-all ;;
	*) echo "$1" ;;
	esac
}

# guest KERNEL: run its suites inside the guest. The debug kernel takes at least
# ten times as long; with many packets tests reduce their sizes themselves.
guest()
{
	local suite options limit=900 plain dir

	[ "$1" != debug ] || limit=3600
	say "time of a test: $limit s"
	for dir in uapi net live; do
		plain=()
		while read -r suite options <&8; do
			[ -n "$suite" ] || continue
			if [ -z "$options" ] || [ "$1" = debug ]; then
				plain+=("$(program "$suite")")
			else
				# shellcheck disable=SC2086 # words
				collect "$1" $limit "$suite" $options
			fi
		done 8<<< "$(suites_of "$(where_of "$1")" "$dir")"
		[ ${#plain[@]} = 0 ] || "$VM_DIR/collect.sh" -q -t $limit \
			-p "$1/$dir/" -o "$RESULTS" -l "$OUT/$1/$dir" \
			"${plain[@]}" || say "$1/$dir: tests failed"
	done
}

# kernel NAME PART [SHARE]: run the guest with its suites, or a share of them,
# and with part PART (I/N) of split suites. It has a row of its own: the guest
# booted and gave its status, its log is clean, the module was loaded and
# unloaded.
kernel()
{
	local -x KERNEL=$1 VM_TIMEOUT=${VM_TIMEOUT:-7200} AGGNET_TESTS=$TESTS
	local -x AGGNET_SEED=$SEED AGGNET_PART=$2 AGGNET_DEBUG=$DEBUG
	local -x AGGNET_KERNELS=$KERNELS AGGNET_SHARE=${3:-0/1}
	local share=${3:+.${3%/*}}

	[ -n "$(SHARE=$AGGNET_SHARE suites_of "$(where_of "$1")" '.*')" ] ||
		return 0
	[ "$1 $DEBUG" != "debug all" ] || VM_TIMEOUT=14400
	logged "$1/build$share" flock "$OUT" \
		"$VM_DIR/module.sh" guest "$1" || return 0
	say "kernel $1${3:+, share $3}: booting"
	timed "$1/vm" "$VM_DIR/run.sh" "TESTS=\$AGGNET_TESTS SEED=\$AGGNET_SEED \
		PART=\${AGGNET_PART%/*} PARTS=\${AGGNET_PART#*/} \
		DEBUG=\$AGGNET_DEBUG KERNELS=\$AGGNET_KERNELS \
		SHARE=\$AGGNET_SHARE selftests/vm/check.sh guest $1" \
		2> >(tee "$OUT/said.$1$share" >&2) || :
}

# Does the debug kernel detect faults? One boot for each fault on purpose.
gate()
{
	local suite options

	while read -r suite options <&8; do
		[ -n "$suite" ] || continue
		collect debug 3600 "$suite"
		grep '^# gate:' "$OUT/debug/$suite.log" || :
	done 8<<< "$("$VM_DIR/suites.sh" select gate)"
}

# selected WHERE...: does any suite run there?
selected()
{
	local where

	for where in "$@"; do
		[ -z "$("$VM_DIR/suites.sh" select "$where")" ] || return 0
	done
	return 1
}

build_for_guest()
{
	local dir

	for dir in uapi net live; do
		logged "host/$dir-build" \
			make -s -j"$JOBS" -C "$TOP/selftests/$dir" all || :
	done
}

# jobs_of: print the jobs, one a line, in their order
jobs_of()
{
	local kernels name part=0 quick="host lint unit"

	[ "$HOST" = 1 ] || quick=''
	read -r -a kernels <<< "$KERNELS"
	for name in "${kernels[@]}"; do
		echo "kernel $name $part/${#kernels[@]}"
		part=$((part + 1))
		# The quickest tests that find the most, while the first guest
		# runs.
		[ -z "$quick" ] || echo "$quick"
		quick=''
	done
	[ -z "$quick" ] || echo "$quick"
	case $DEBUG in
	part) echo "kernel debug 0/1" ;;
	# One guest needs little more than one CPU. The debug kernel runs a quarter
	# of each split suite, which the seed chooses.
	all) printf "kernel debug $((10#$SEED % 4))/4 %s\n" 0/2 1/2 ;;
	esac
	[ "$HOST" != 1 ] || printf '%s\n' "host packages vm" \
		"host fuzz fuzz/library fuzz/flow fuzz/netlink model"
	[ "$DEBUG" != all ] || echo gate
}

# in_parallel COMMAND...: run JOBS at a time, in this order. The audit reports
# suites that a failed job did not run.
in_parallel()
{
	local command running=0

	for command in "$@"; do
		if [ $running = "$JOBS" ]; then
			wait -n || :
			running=$((running - 1))
		fi
		$command < /dev/null &
		running=$((running + 1))
	done
	wait
}

guests()
{
	local name

	for name in $KERNELS; do
		where_of "$name"
	done
	[ "$DEBUG" = no ] || where_of debug
}

# wheres: print the places where suites run, by their names in suites.sh
wheres()
{
	guests
	[ "$HOST" != 1 ] || echo host
	[ "$DEBUG" != all ] || echo gate
}

# Each suite with missing tests counts as a failure, whatever its row has.
audit()
{
	local lacks

	# shellcheck disable=SC2046 # words
	lacks=$("$VM_DIR/suites.sh" audit "$RESULTS" $(wheres)) && return
	printf '%s\n' "$lacks" | tee "$OUT/lacks"
	echo "suites 0 $(wc -l <<< "$lacks") 0 0 0" >> "$RESULTS"
}

# Say again, where a reader of the end of the output finds it, what failed, and the
# last words of guests.
faults()
{
	local log

	awk '$3 > 0 { print "failed: " $1 }' "$RESULTS"
	[ ! -e "$OUT/lacks" ] || cat "$OUT/lacks"
	for log in "$OUT"/said.*; do
		[ ! -s "$log" ] || tail -n 12 "$log"
	done
}

# Print every suite with its time and CPU time, what failed, and the sums.
summary()
{
	echo
	sort -s -t / -k 1,1 "$RESULTS" | awk '{
		printf "%-36s %4d passed %3d failed %3d skipped %5d s %5d s CPU\n",
		$1, $2, $3, $4, $5, $6 }'
	faults
	printf '\n%d min %d s in all\n' $((SECONDS / 60)) $((SECONDS % 60))
	awk '{ p += $2; f += $3; s += $4 }
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0 || !p }' "$RESULTS"
}

SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
HOST=${HOST:-1}
export SEED
if [ "${1:-}" = guest ]; then
	# On a host these tests would change its namespaces and sysctls.
	[ -n "${VM_INSIDE:-}" ] || die "guest: this is not a guest;" \
		"'make check' boots one"
	# Each guest has its own file: lines that several guests append get lost
	# over 9p.
	mkdir -p "$OUT"
	RESULTS=$OUT/results.$2.${SHARE:-0/1}
	RESULTS=${RESULTS%/*}
	guest "$2"
	exit
fi

"$VM_DIR/suites.sh" select host > /dev/null || exit
case $DEBUG in
no | part | all) ;;
*) die "DEBUG is not no, part or all" ;;
esac
rm -rf "$OUT"
mkdir -p "$OUT"
: > "$RESULTS"
say "seed $SEED"
# shellcheck disable=SC2046 # words
! selected $(guests) || build_for_guest
mapfile -t jobs < <(jobs_of)
in_parallel "${jobs[@]}"
# Four machines need both CPUs: beside a guest, what waits for them took twice as long.
[ "$HOST" != 1 ] || (host cluster) < /dev/null || :
cat "$OUT"/results.* >> "$RESULTS" 2> "$OUT/none" || :
audit
summary
