#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tree builders against a general-graph Steiner tree (python3-networkx) where
# that ends in time, and how their time grows with senders and dimensions.
# Results also in build/bench/trees.json
set -euo pipefail
cd "$(dirname "$0")/../.."

out=build/bench
mkdir -p "$out"
cc -O2 -g -std=gnu11 -Wall -Wextra -o "$out/bench_trees" \
	selftests/perf/bench_trees.c tools/libaggtree/*.c -lm
bench=$out/bench_trees
json=$out/trees.json
: > "$json"

show() {
	jq -r '"\(.topology) \(.senders) \(.receivers) \(.method) \(.ms) \(.cost) \(.depth) \(.kib)"' |
		awk '{ printf "%-10s %6s %5s %-10s %11.3f %10s %6s %9s\n",
			$1, $2, $3, $4, $5, $6, $7, $8 }'
}

run() {
	"$bench" "$@" | tee -a "$json" | show
}

printf '%-10s %6s %5s %-10s %11s %10s %6s %9s\n' topology send recv method \
	ms cost depth KiB
echo '# against a general graph'
for size in 4,2,20 6,2,40 8,2,80; do
	IFS=, read -r n k m <<< "$size"
	run "bcube:$n,$k" "$m" 1 irs ars m2 steiner auto auto-deep
	if /usr/bin/python3 -c 'import networkx' 2> /dev/null; then
		"$bench" "bcube:$n,$k" "$m" |
			/usr/bin/python3 selftests/perf/bench_trees.py "$n" "$k" |
			tee -a "$json" | show
	else
		echo '# no networkx here: apt-get install python3-networkx'
	fi
done
echo '# growth with senders, BCube(8,5): 262144 servers'
for m in 500 1000 2000 4000; do
	run bcube:8,5 "$m" 1 rs:012345 ars irs m2 steiner
done
run bcube:8,5 4000 1 auto auto-deep
echo '# growth with dimensions, 1000 senders'
for k in 4 6 8 10; do
	run "bcube:4,$k" 1000 1 ars irs m2
done
echo '# shuffles, BCube(8,5)'
run bcube:8,5 300 300 irs srs
run bcube:8,5 1500 1500 srs
jq -rs '
	def ms(t; m; s): map(select(.method == m and .topology == t and
		.senders == s and .receivers == 1))[0].ms;
	def over(t; s; u; r): . as $all | ["irs", "ars", "m2"] | map(. as $m |
		$all | "\($m) \(ms(t; $m; s) / ms(u; $m; r) * 10 | round / 10)") |
		join(", ");
	"# time for 4000 senders over 500 (8 x the senders): " +
		over("bcube:8,5"; 4000; "bcube:8,5"; 500),
	"# time for 11 dimensions over 7 (1.6 x): " +
		over("bcube:4,10"; 1000; "bcube:4,6"; 1000),
	(map(select(.method == "networkx"))[] as $peer |
	 map(select(.topology == $peer.topology and .senders == $peer.senders and
		.method == "irs"))[0] as $irs |
	 "# \($peer.topology), \($peer.senders) senders: irs is \($peer.ms / $irs.ms | round) x as fast as networkx, cost \($irs.cost) against \($peer.cost)")
' "$json"
