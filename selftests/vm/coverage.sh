#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Lines and branches of the module that tests reach: of the pure cores in the
# unit tests, of the flow in random scripts, and, if the debug kernel is built,
# of all of it in the guest; and the functions that none calls. Last, each line
# that all of these left out, with the reason (unreached.txt); fails without one.
# Usage: coverage.sh [unit|flow|guest|unreached]...
#   SEED=, TESTS=, VM_TIMEOUT=  of guest
set -euo pipefail
. "$(dirname "$0")/lib.sh"

OUT=$BUILD/coverage
SEED=${SEED:-1}
TESTS=${TESTS:-*}

# report TITLE DIRECTORY FILE[:OBJECT]...: print a line for each file from the
# notes and counts in DIRECTORY
report()
{
	local title=$1 dir=$2 file counts

	shift 2
	printf '\n%-24s %18s %18s\n' "$title" lines 'branches taken'
	for file in "$@"; do
		counts=${file#*:} file=${file%:*}
		(cd "$dir" && gcov -b -o "${counts%/*}" "$counts.gcda" \
			2> gcov.log) |
			awk -v want="/$file.c'" '
			/^File/ { on = index($0, want) }
			on && /^Lines/ { lines = $0; sub(/.*:/, "", lines) }
			on && /^Taken/ { taken = $0; sub(/.*:/, "", taken) }
			END { printf "%-24s %18s %18s\n", want, lines, taken }'
		[ ! -e "$dir/$file.c.gcov" ] ||
			awk '/^function/ && $4 == 0 { print "\tnot called: " $2 }' \
			"$dir/$file.c.gcov"
	done
}

# Built without sanitizers, which add branches of their own.
unit()
{
	local program files

	rm -rf "$OUT/unit"
	mkdir -p "$OUT"
	ln -sfn "$BUILD/kselftest" "$OUT/kselftest"
	make -s -C "$TOP/selftests/unit" BUILD="$OUT" \
		SANITIZE="--coverage -DSHIM_COVERAGE" all
	for program in "$OUT"/unit/test_*; do
		case $program in
		*.*) continue ;;
		esac
		"$program" > "$program.log" 2>&1 || die "${program##*/} fails"
	done
	mapfile -t files < <(cd "$TOP/kmod" && printf '%s\n' core/*.c |
		sed 's,core/\(.*\)\.c$,\1:kmod/core/\1,')
	report "unit tests" "$OUT/unit" "${files[@]}"
}

flow()
{
	rm -rf "$OUT/fuzz"
	make -s -C "$TOP/selftests/fuzz/flow" BUILD="$OUT" EXTRA=--coverage \
		"$OUT/fuzz/flow/flow_random"
	"$OUT/fuzz/flow/flow_random" "$SEED" 2000
	report "random scripts" "$OUT/fuzz/flow/fast" child:./child \
		local:./local timers:./timers tree:./tree uplink:./uplink
}

# The kernel keeps the counts when the module is unloaded.
guest()
{
	local out=$OUT/module files

	[ -s "$BUILD/vm/debug/release" ] || {
		say "no debug kernel (make debug-kernel): the guest is left out"
		return 0
	}
	"$VM_DIR/module.sh" coverage debug
	make -s -C "$TOP/selftests/uapi" all
	make -s -C "$TOP/selftests/net" all
	KERNEL=debug VM_TIMEOUT=${VM_TIMEOUT:-14400} VM_MODULE=$out/aggnet.ko \
		AGGNET_TESTS=$TESTS "$VM_DIR/run.sh" "
		TESTS=\$AGGNET_TESTS SEED=$SEED DEBUG=all \
			selftests/vm/check.sh guest debug || exit
		rmmod aggnet
		cd /sys/kernel/debug/gcov$out/kmod &&
			for file in *.gcda */*.gcda; do
				cat \$file > $out/kmod/\$file
			done"
	mapfile -t files < <(cd "$TOP/kmod" && printf '%s\n' ./*.c */*.c |
		sed 's,\(.*\)/\(.*\)\.c$,\2:\1/\2,')
	report "guest" "$out/kmod" "${files[@]}"
}

# Without the guest's counts most lines of the module would be listed.
unreached()
{
	local file files=()

	[ -s "$OUT/module/kmod/netns.c.gcov" ] || {
		say "nothing of the guest: no list of what is not reached"
		return 0
	}
	for file in "$TOP"/kmod/*.c "$TOP"/kmod/*/*.c; do
		file=${file##*/}.gcov
		files+=("$OUT"/{unit,fuzz/flow/fast,module/kmod}/"$file")
	done
	mapfile -t files < <(ls "${files[@]}" 2> "$OUT/none")
	awk -v guest="$OUT/module/kmod" -f "$VM_DIR/unreached.awk" \
		"$VM_DIR/unreached.txt" "${files[@]}"
}

[ $# -gt 0 ] || set -- unit flow guest unreached
for part in "$@"; do
	case $part in
	unit | flow | guest | unreached) $part ;;
	*)
		say "unknown part '$part' (unit, flow, guest or unreached)"
		exit 2 ;;
	esac
done
