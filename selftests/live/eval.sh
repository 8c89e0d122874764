#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Completion times of the incasts of the papers' tables (001 Table 1, 004 Table I): 120
# random senders in BCube(6,k), k = 2..6, flows with the same keys. Each job runs on
# the nodes that it needs. Fails if a result is not exact, or if the CPU that plays all
# nodes is busy for more than half of a job, as the table would then compare CPU times.
# Usage: eval.sh [K...] (SEEDS=5, KERNEL=6.1|6.12); results also in
#	build/live/eval.json
set -euo pipefail
cd "$(dirname "$0")/../.."

DIR=build/live
RATE=1mbit
RECORDS=14222	# of 18 bytes: 256 kB

# Without merging nearly all flows share the last link, and a flow may wait for its turn
# longer than the usual give_up.
jobs()
{
	local k seed

	for k in "$@"; do
		for ((seed = 1; seed <= ${SEEDS:-5}; seed++)); do
			sed "s|^|@bcube:6,$k $RATE |; s|JOB|$RECORDS 0 1 v0 random:120/$seed|" <<- END
			tcp existing JOB
			keyed existing JOB --give-up 600
			keyed unicast JOB --give-up 600
			keyed m2 JOB --give-up 600
			keyed ars JOB --give-up 600
			keyed auto JOB --objective time --give-up 600
			END
		done
	done
}

[ $# != 0 ] || set -- 2 3 4 5 6
mkdir -p "$DIR"
rm -f "$DIR/rows"
jobs "$@" > "$DIR/jobs"
VM_MEM=3072 VM_TIMEOUT=7200 selftests/live/live.sh "$DIR/rows" "$DIR/jobs"
jq -sf selftests/live/eval.jq "$DIR/rows" > "$DIR/eval.json"
jq -rf selftests/live/eval_text.jq "$DIR/eval.json" | column -t -s $'\t'
jq -e 'all(.[]; .exact and .busy <= 0.5)' "$DIR/eval.json" > "$DIR/good" || {
	echo "eval.sh: a result is not exact, or the CPU is busy for more than half of a job" >&2
	exit 1
}
