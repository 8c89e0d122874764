#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggctl eval reproduces the papers' values that can be reproduced, and reports
# what a run found.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# is NAME WANT GOT: a row, which passes if both are equal
is()
{
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: expected $2, got $3"
		failed=1
	fi
}

# run NAME: run an evaluation in few rounds
run()
{
	"$aggctl" -j eval "$1" --rounds 2 --seed "${2:-1}" \
		--plot "$tmp/$1.svg"
}

is "000 Table 2, bits for k = 3..7" "19 38 58 79 102" \
	"$("$aggctl" -j eval 000-table2 | jq -r '[.[].bits] | join(" ")')"

run 004-fig8b > "$tmp/a"
run 004-fig8b > "$tmp/b"
run 004-fig8b 2 > "$tmp/c"
is "the same seed gives the same numbers" 0 \
	"$(cmp -s "$tmp/a" "$tmp/b"; echo $?)"
is "another seed gives other numbers" 1 "$(cmp -s "$tmp/a" "$tmp/c"; echo $?)"
is "the output names the evaluation" "004-fig8b 1 2 true" "$(jq -r '.[0] |
	"\(.name) \(.seed) \(.rounds) \(.definition != null)"' "$tmp/a")"
# The paper has 62 %; two rounds are within half a percent of many.
is "004, VI-E, managed placement" true "$(jq '.[0].summary[] |
	select(.method == "ARS") | .paper == 62 and .saving > 61.4 and
	.saving < 62.4' "$tmp/a")"
is "a plot" "<svg" "$(grep -om1 '<svg' "$tmp/004-fig8b.svg")"
# text WORDS: does the plot have this text?
text()
{
	is "the plot says '$1'" 1 "$(sed 's/<[^>]*>//g' "$tmp/004-fig8b.svg" |
		grep -cF "$1")"
}
text "members in the smallest sub-network"
text "seed 2, 2 rounds a setting, bars: standard error"
text "receivers (number)"
text "network traffic (flows x links)"
text "mean saving (%)"
text "the paper"
# A bar is three strokes; the curve has six points.
is "an error bar at each point" true "$(
	sed -n '/<title>gnuplot_plot_3a/,/<title>gnuplot_plot_4a/p' \
		"$tmp/004-fig8b.svg" | tr -cd M | wc -c | jq '. >= 18')"
is "a plot of something else" 2 \
	"$("$aggctl" eval 004-fig8b --rounds 1 --plot "$tmp/x.gif" \
		> "$tmp/out" 2>&1; echo $?)"
echo "1..$n"
exit $failed
