#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One step of K-means over points (x TAB y, whole numbers) that lie on several
# servers. Each sums the points of each centroid and contributes a dense vector of
# x, y and how many; vectors are added on the way. The centroids are spread over
# the receivers. Usage: kmeans.sh JOB CENTROIDS RECEIVER,... NODE=POINTS...
set -euo pipefail
job=$1 centroids=$2
IFS=, read -ra receivers <<< "$3"
shift 3
parts=${#receivers[@]}
each=$((($(wc -l < "$centroids") + parts - 1) / parts))
pids=()
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# assign POINTS PART: lines "element TAB sum" of the centroids of that part
assign()
{
	awk -F '\t' -v n=0 -v first=$(($2 * each)) -v each=$each '
	NR == FNR { x[n] = $1; y[n++] = $2; next }
	{
		best = 0
		least = -1
		for (c = 0; c < n; c++) {
			d = ($1 - x[c]) ^ 2 + ($2 - y[c]) ^ 2
			if (least < 0 || d < least) {
				least = d
				best = c
			}
		}
		sum[3 * best] += $1
		sum[3 * best + 1] += $2
		sum[3 * best + 2]++
	}
	END {
		for (i = 0; i < 3 * each; i++)
			printf "%d\t%.0f\n", i, sum[3 * first + i]
	}' "$centroids" "$1"
}

for r in "${!receivers[@]}"; do
	aggctl -n "${receivers[$r]}" recv --job "$job" > "$tmp/$r" &
	pids+=($!)
	for pair in "$@"; do
		assign "${pair#*=}" "$r" |
			aggctl -n "${pair%%=*}" send --job "$job" \
				--receiver "${receivers[$r]}" &
		pids+=($!)
	done
done
for pid in "${pids[@]}"; do
	wait "$pid"
done
# A centroid without points stays where it was.
for r in "${!receivers[@]}"; do
	sort -n "$tmp/$r"
done | paste - - - | paste "$centroids" - | awk -F '\t' '
	NF < 8 { next }
	!$8 { print $1 "\t" $2; next }
	{ printf "%.17g\t%.17g\n", $4 / $8, $6 / $8 }'
