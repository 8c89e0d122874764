#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One step of K-means over points (x TAB y) that lie on several servers: each
# assigns its points, the average of each coordinate of each centroid is taken
# on the way. The centroids are spread over the receivers; function average,
# type float64. Usage: kmeans.sh JOB CENTROIDS RECEIVER,... NODE=POINTS...
set -euo pipefail
job=$1 centroids=$2
IFS=, read -ra receivers <<< "$3"
shift 3
pids=()
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# assign POINTS PART PARTS: lines "centroid.axis TAB coordinate"
assign()
{
	awk -F '\t' -v part="$2" -v parts="$3" '
	NR == FNR { x[NR] = $1; y[NR] = $2; n = NR; next }
	{
		best = 1
		least = -1
		for (c = 1; c <= n; c++) {
			d = ($1 - x[c]) ^ 2 + ($2 - y[c]) ^ 2
			if (least < 0 || d < least) {
				least = d
				best = c
			}
		}
		if (best % parts == part)
			print best ".x\t" $1 "\n" best ".y\t" $2
	}' "$centroids" "$1"
}

for r in "${!receivers[@]}"; do
	aggctl -n "${receivers[$r]}" recv --job "$job" > "$tmp/$r" &
	pids+=($!)
	for pair in "$@"; do
		assign "${pair#*=}" "$r" "${#receivers[@]}" |
			aggctl -n "${pair%%=*}" send --job "$job" \
				--receiver "${receivers[$r]}" &
		pids+=($!)
	done
done
for pid in "${pids[@]}"; do
	wait "$pid"
done
sort -t . -k1,1n "$tmp"/* | awk -F '\t' '
	/\.x/ { x = $2 }
	/\.y/ { print x "\t" $2 }'
