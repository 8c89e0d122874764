#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The k nearest points of each query, of points (id TAB x TAB y) that lie on
# several servers. No more than k candidates of a query leave any of them.
# Function nearest, type float64. Usage: nearest.sh JOB RECEIVER QUERIES NODE=POINTS...
# (queries: name TAB x TAB y; result: name TAB squared distance TAB id)
set -euo pipefail
job=$1 receiver=$2 queries=$3
shift 3
pids=()

for pair in "$@"; do
	awk -F '\t' 'NR == FNR { q[$1] = $2; r[$1] = $3; next }
	{
		for (k in q)
			printf "%s\t%.17g\t%s\n", k,
				($2 - q[k]) ^ 2 + ($3 - r[k]) ^ 2, $1
	}' "$queries" "${pair#*=}" |
		aggctl -n "${pair%%=*}" send --job "$job" --receiver "$receiver" &
	pids+=($!)
done
aggctl -n "$receiver" recv --job "$job"
for pid in "${pids[@]}"; do
	wait "$pid"
done
