#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The N pages with the most bytes in access logs (common log format) that lie on
# several servers. Bytes of a page are summed on the way; the top is taken at
# the receiver, where sums are whole. Function sum.
# Usage: topk.sh JOB RECEIVER N NODE=LOG...
set -euo pipefail
job=$1 receiver=$2 n=$3
shift 3
pids=()

for pair in "$@"; do
	awk '$10 ~ /^[0-9]+$/ { print $7 "\t" $10 }' "${pair#*=}" |
		aggctl -n "${pair%%=*}" send --job "$job" --receiver "$receiver" &
	pids+=($!)
done
aggctl -n "$receiver" recv --job "$job" --top "$n"
for pid in "${pids[@]}"; do
	wait "$pid"
done
