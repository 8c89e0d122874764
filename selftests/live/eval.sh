#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Completion times of the papers' tables and figures on links with a rate. Each job runs
# on the nodes that it needs. Fails if a result is not exact, if the CPU that plays all
# nodes is busy for more than half of a job, as the table would then compare CPU times,
# or if a testbed takes more than a minute of the guest's time or 2 GB.
# Usage: eval.sh [NAME...] (K='2 3 4 5 6', SEEDS=5, KERNEL=6.1|6.12)
#   tables   001 Table 1 and 004 Table I: 120 random senders in BCube(6,k)
#   table2   001 Table 2: 500 random senders in BCube(4,8)
#   fig7     000 Fig. 7: a shuffle, merged and not, by aggregation ratio
#   skew     one of 30 senders begins 10 s after the others
# Results also in build/live/NAME.json and NAME.svg
set -euo pipefail
cd "$(dirname "$0")/../.."

DIR=build/live
# Without merging nearly all flows share the last link, and a flow may wait for its turn
# longer than the usual give_up.
PATIENCE='--give-up 600'

# each_seed: print each line of the input once for each seed, which replaces SEED
each_seed()
{
	local line seed

	while read -r line; do
		for ((seed = 1; seed <= ${SEEDS:-5}; seed++)); do
			echo "${line//SEED/$seed}"
		done
	done
}

# A record has 18 bytes, so a flow has 256 kB.
jobs_tables()
{
	local k

	for k in ${K:-2 3 4 5 6}; do
		sed "s|^|@bcube:6,$k 1mbit |; s|JOB|14222 0 1 v0 random:120/SEED row=k:$k|
			s|\$| $PATIENCE|" <<- END
		tcp existing JOB
		keyed existing JOB
		combiner m2 JOB
		keyed unicast JOB
		keyed m2 JOB
		keyed ars JOB
		keyed auto JOB --objective time
		END
	done
}

jobs_table2()
{
	sed "s|^|@bcube:4,8 1mbit |; s|JOB|1000 0 1 v0 random:500/SEED row=m:500|
		s|\$| $PATIENCE|" <<- END
	keyed existing JOB
	keyed m2 JOB
	keyed auto JOB --objective time
	END
}

# Without merging flows take the same paths as with it.
jobs_fig7()
{
	local delta

	for delta in 0 0.2 0.4 0.6 0.8 1; do
		sed "s|^|@bcube:4,2 1mbit |; s|JOB|800 $delta 1 random:8/SEED random:8/SEED|
			s|\$| paths=srs row=delta:$delta $PATIENCE|" <<- END
		tcp existing JOB
		keyed existing JOB
		keyed srs JOB
		END
	done
}

jobs_skew()
{
	local late

	for late in 0 10; do
		sed "s|^|@bcube:6,2 1mbit |; s|JOB|3500 0 1 v0 random:30/SEED late=$late|
			s|\$| row=late:$late $PATIENCE|" <<- END
		keyed existing JOB
		keyed m2 JOB
		keyed auto JOB --objective time
		END
	done
}


one()
{
	local name=$1

	"jobs_$name" | each_seed > "$DIR/jobs"
	rm -f "$DIR/rows"
	VM_MEM=3072 VM_TIMEOUT=7200 selftests/live/live.sh "$DIR/rows" "$DIR/jobs"
	jq -sf selftests/live/eval.jq "$DIR/rows" > "$DIR/$name.json"
	jq -rf selftests/live/eval_text.jq "$DIR/$name.json" > "$DIR/$name.tsv"
	column -t -s $'\t' "$DIR/$name.tsv"
	gnuplot -e "in='$DIR/$name.tsv'; out='$DIR/$name.svg'; name='$name'" \
		selftests/live/eval.gp
	jq -e 'all(.[]; .exact and .busy <= 0.5 and .bed_seconds <= 60 and
		.bed_bytes <= 2e9)' "$DIR/$name.json" > "$DIR/good" || {
		echo "eval.sh: $name: a result is not exact, the CPU is busy for more" \
			"than half of a job, or a testbed takes too much" >&2
		return 1
	}
}

[ $# != 0 ] || set -- tables table2 fig7 skew
for name in "$@"; do
	[[ $name =~ ^(tables|table2|fig7|skew)$ ]] || {
		echo "eval.sh: unknown table '$name'" >&2
		exit 2
	}
done
mkdir -p "$DIR"
for name in "$@"; do
	one "$name"
done
