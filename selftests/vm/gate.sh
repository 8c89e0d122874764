#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The debug kernel catches faults: for each fault a variant of the module with
# that fault boots once and has to fail its run with the right words; a variant
# without a fault has to pass. A line for each prints the kernel's words and the
# time of the boot.
# Usage: gate.sh [FAULT...]
set -euo pipefail
. "$(dirname "$0")/lib.sh"

n=0
failed=0

# words FAULT: print what the kernel logs for this fault
words()
{
	case $1 in
	leak | leaks) echo 'unreferenced object' ;;
	double_free) echo 'KASAN: (double-free|invalid-free)' ;;
	use_after_free) echo 'KASAN: (slab-)?use-after-free' ;;
	sleep) echo 'sleeping function called from invalid context' ;;
	unlock) echo 'broken_lock\)[^ ]* at: broken_unlock' ;;
	order) echo 'possible circular locking dependency' ;;
	rcu) echo 'suspicious rcu_dereference' ;;
	list) echo 'RCU-list traversed in non-reader section' ;;
	*) return 1 ;;
	esac
}

# boot FAULT: print the status of a run whose command succeeds
boot()
{
	KERNEL=debug VM_TIMEOUT=600 VM_MODULE=$BUILD/broken/aggnet.ko \
		VM_MODULE_ARGS="broken=$1" "$VM_DIR/run.sh" true \
		> "$BUILD/broken/$1.log" 2>&1
}

# caught FAULT: the run fails and reports the fault
caught()
{
	local why

	why=$(words "$1") || die "no fault '$1'"
	! boot "$1" && grep -q 'the kernel complained' "$BUILD/broken/$1.log" &&
		grep -qE "$why" "$BUILD/broken/$1.log"
}

# said FAULT: print the kernel's message
said()
{
	[ "$1" != none ] || { echo nothing; return; }
	grep -m 1 -oE "$(words "$1")" "$BUILD/broken/$1.log" || :
}

# result NAME COMMAND... FAULT: one row
result()
{
	local name=$1 fault=${*: -1} start=$SECONDS

	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		failed=$((failed + 1))
		tail -n 20 "$BUILD/broken/$fault.log" | sed 's/^/# /'
	fi
	printf '# gate: %-15s %3d s  %s\n' "$fault" $((SECONDS - start)) \
		"$(said "$fault")"
}

[ $# -gt 0 ] ||
	set -- leak leaks double_free use_after_free sleep unlock order rcu \
		list
"$VM_DIR/module.sh" broken debug
echo "1..$(($# + 1))"
result "no fault passes" boot none
for fault in "$@"; do
	result "$fault is caught" caught "$fault"
done
[ $failed = 0 ]
