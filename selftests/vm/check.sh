#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every test: on the host, then in one guest for each kernel. Prints a table
# of what ran and, last, "N passed, N failed, N skipped".
# Usage: [KERNELS="6.1 6.12"] [TESTS=GLOB] check.sh
#        check.sh guest KERNEL   (the guest's half)
#   HOST=0            no tests on the host
#   LINT=1            static checks, too
#   KERNELS=debug     the debug kernel: slow, so that tests get more time
#   DEBUG_TESTS=GLOB  besides, these on the debug kernel, if it has been built,
#   DEBUG_TIMEOUT=900 in so many seconds
#   FUZZ_SECONDS=3    of each fuzzer
#   FLOW_RUNS=2000    random scripts of the flow
set -euo pipefail
. "$(dirname "$0")/lib.sh"

TESTS=${TESTS:-*}
FUZZ_SECONDS=${FUZZ_SECONDS:-3}
FLOW_RUNS=${FLOW_RUNS:-2000}
OUT=$BUILD/check
RESULTS=$OUT/results

# selected FILE...: those that are test programs and match TESTS
selected()
{
	local file name

	for file in "$@"; do
		name=${file##*/}
		case $name in
		lib.sh) continue ;;
		*.sh) name=${name%.sh} ;;
		*.*) continue ;;
		esac
		# shellcheck disable=SC2053
		[[ $name == $TESTS ]] && [ -f "$file" ] && [ -x "$file" ] &&
			echo "$file"
	done
	return 0
}

# row SUITE STATUS START: a result that is no TAP
row()
{
	local passed=1 failed=0

	[ "$2" = 0 ] || passed=0 failed=1
	echo "$1 $passed $failed 0 $((SECONDS - $3))" >> "$RESULTS"
	[ "$2" = 0 ] || say "$1 FAILED"
}

# logged SUITE COMMAND...: what it printed is shown if it fails
logged()
{
	local suite=$1 start=$SECONDS status=0 log

	log=$OUT/${suite//\//.}.log
	shift
	"$@" > "$log" 2>&1 || status=$?
	[ $status = 0 ] || tail -n 100 "$log"
	row "$suite" $status "$start"
	return $status
}

# collect PREFIX TIMEOUT PROGRAM...: failures are in the table; fails only if a
# program has no row there
collect()
{
	local prefix=$1 limit=$2 rows

	rows=$(wc -l < "$RESULTS")
	shift 2
	"$VM_DIR/collect.sh" -q -t "$limit" -p "$prefix" -o "$RESULTS" \
		-l "$OUT/${prefix%/}" "$@" || say "${prefix%/}: tests failed"
	[ $(($(wc -l < "$RESULTS") - rows)) = $# ]
}

unit()
{
	local programs

	logged host/unit-build make -s -C "$TOP/selftests/unit" all || return 0
	mapfile -t programs < <(selected "$BUILD"/unit/test_* \
		"$TOP"/selftests/unit/test_*.sh \
		"$TOP"/selftests/model/documented.sh)
	[ ${#programs[@]} = 0 ] || collect host/ 120 "${programs[@]}"
}

# fuzz_all SUITE SOURCES PROGRAMS
fuzz_all()
{
	local program name

	logged "host/$1-build" make -s -C "$TOP/$2" all || return 0
	for program in $(selected "$3"/fuzz_*); do
		name=${program##*/fuzz_}
		# What it finds is kept here, never among the seeds.
		mkdir -p "$OUT/corpus-$name"
		logged "host/fuzz_$name" timeout 120 "$program" -verbosity=0 \
			-max_total_time="$FUZZ_SECONDS" -timeout=10 \
			-seed=$((SEED % (1 << 31))) \
			-artifact_prefix="$OUT/fuzz_$name-" \
			"$OUT/corpus-$name" "$TOP/$2/seeds/$name" || :
	done
}

fuzz()
{
	fuzz_all fuzz selftests/fuzz "$BUILD/fuzz"
	fuzz_all fuzz-library selftests/fuzz/library "$BUILD/fuzz/library"
	fuzz_all fuzz-flow selftests/fuzz/flow "$BUILD/fuzz/flow"
	fuzz_all fuzz-netlink selftests/fuzz/netlink "$BUILD/fuzz/netlink"
	random_flows
}

# Random scripts of the flow, its rules one by one, and the broken module that
# has to be found.
random_flows()
{
	local program

	for program in $(selected "$BUILD"/fuzz/flow/flow_{rules,ends}); do
		collect host/ 120 "$program"
	done
	for program in $(selected "$BUILD/fuzz/flow/flow_random"); do
		logged host/flow_random "$program" "$SEED" "$FLOW_RUNS" || :
	done
	for program in $(selected "$TOP/selftests/fuzz/mutants.sh"); do
		collect host/fuzz- 500 "$program"
	done
}

models()
{
	local programs

	mapfile -t programs < <(selected "$TOP/selftests/model/run.sh")
	[ ${#programs[@]} = 0 ] || collect host/model- 600 "${programs[@]}"
}

programs_of_guest()
{
	selected "$BUILD"/uapi/test_* "$TOP"/selftests/net/*.sh
}

# The debug kernel takes ten times as long, and more where packets are many.
guest()
{
	local programs limit=600

	[ "$1" != debug ] || limit=3600
	say "time of a test: $limit s"
	mapfile -t programs < <(programs_of_guest)
	[ ${#programs[@]} -gt 0 ] || return 0
	collect "$1/" "$limit" "${programs[@]}"
}

# skipped KERNEL: a row for each test that has none
skipped()
{
	local program

	for program in $(programs_of_guest); do
		grep -q "^$1/${program##*/} " "$RESULTS" ||
			echo "$1/${program##*/} 0 0 1 0" >> "$RESULTS"
	done
}

# Is the gate of the debug kernel shut? A boot for each fault on purpose.
gate()
{
	local programs

	mapfile -t programs < <(selected "$VM_DIR/gate.sh")
	[ ${#programs[@]} = 0 ] || collect debug/ 3600 "${programs[@]}"
	[ ${#programs[@]} = 0 ] || grep '^# gate:' "$OUT/debug/gate.sh.log"
}

# vm_timeout KERNEL: seconds for a guest with all tests
vm_timeout()
{
	case $1 in
	debug) echo 14400 ;;
	*) echo 3000 ;;
	esac
}

# The guest's own row: it booted and said its status, its log is clean, the
# module came and went. Tests that failed have rows of their own, and so have
# those that it did not come to.
kernel()
{
	local start status=0

	logged "$1/build" "$VM_DIR/module.sh" guest "$1" || {
		skipped "$1"
		return
	}
	say "kernel $1: booting"
	start=$SECONDS
	KERNEL=$1 VM_TIMEOUT=${VM_TIMEOUT:-$(vm_timeout "$1")} AGGNET_TESTS=$TESTS \
		AGGNET_SEED=$SEED "$VM_DIR/run.sh" \
		"TESTS=\$AGGNET_TESTS SEED=\$AGGNET_SEED \
		selftests/vm/check.sh guest $1" || status=$?
	row "$1/vm" $status "$start"
	skipped "$1"
}

# Tests on the debug kernel beside the others: it takes long to build, so where
# it is not there they are skipped, and counted so.
some_on_debug()
{
	local TESTS=${DEBUG_TESTS:-}

	[ -n "$TESTS" ] || return 0
	if [ -s "$BUILD/vm/debug/release" ]; then
		VM_TIMEOUT=${DEBUG_TIMEOUT:-900} kernel debug
	else
		say "no debug kernel (make debug-kernel): its tests are skipped"
		skipped debug
	fi
}

build_for_guest()
{
	local dir

	for dir in uapi net; do
		[ ! -f "$TOP/selftests/$dir/Makefile" ] ||
			logged "host/$dir-build" \
				make -s -C "$TOP/selftests/$dir" all || :
	done
}

# Every suite with the seconds that it took, then what that makes together.
summary()
{
	echo
	awk '{ printf "%-36s %4d passed %3d failed %3d skipped %5d s\n",
		$1, $2, $3, $4, $5 }' "$RESULTS"
	printf '\n%d min %d s in all\n' $((SECONDS / 60)) $((SECONDS % 60))
	awk '{ p += $2; f += $3; s += $4 }
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0 }' "$RESULTS"
}

SEED=${SEED:-$RANDOM$RANDOM}
if [ "${1:-}" = guest ]; then
	export SEED
	mkdir -p "$OUT"
	touch "$RESULTS"
	guest "$2"
	exit
fi

rm -rf "$OUT"
mkdir -p "$OUT"
: > "$RESULTS"
say "seed $SEED"
export SEED
[ "${LINT:-0}" = 0 ] || logged host/lint "$VM_DIR/lint.sh" || :
if [ "${HOST:-1}" = 1 ]; then
	say "host: unit tests, fuzzers, models"
	unit
	fuzz
	models
fi
build_for_guest
for name in $KERNELS; do
	kernel "$name"
done
some_on_debug
[[ " $KERNELS " != *' debug '* ]] || gate
summary
