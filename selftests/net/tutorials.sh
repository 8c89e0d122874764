#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tutorials give the results that they promise, on real data: licences of
# base-files, places of tzdata. Each is compared with a program that uses no
# network.
. "$(dirname "$0")/lib.sh"

DIR=$NET_DIR/../../Documentation/tutorials
NODES=(v2 v5 v9 v14)
TAB=$(printf '\t')

# plan_of RECEIVERS OPTION...: plan and apply a job
plan_of()
{
	plan t --topology bcube:4,1 --senders v2,v5,v9,v14 --receivers "$1" \
		--uid 0 "${@:2}"
}

# deal FILE: write its lines in turn to $TMP/deal.NODE; $pairs is for the
# scripts
deal()
{
	local i

	pairs=()
	for i in 0 1 2 3; do
		awk -v i=$i 'NR % 4 == i' "$1" > "$TMP/deal.${NODES[$i]}"
		pairs+=("${NODES[$i]}=$TMP/deal.${NODES[$i]}")
	done
}

# places: print number, latitude and longitude of tzdata's zones, in degrees
places()
{
	awk -F '\t' '
	function degrees(text, width,  v)
	{
		v = substr(text, 2, width) + substr(text, 2 + width, 2) / 60
		return substr(text, 1, 1) == "-" ? -v : v
	}
	!/^#/ && NF >= 3 {
		match(substr($2, 2), /[-+]/)
		printf "%d\t%.6f\t%.6f\n", ++n,
			degrees(substr($2, 1, RSTART), 2),
			degrees(substr($2, RSTART + 1), 3)
	}' /usr/share/zoneinfo/zone1970.tab
}

# counted FILE...: does $TMP/got have the words of the files and their counts?
counted()
{
	cat "$@" | tr -cs '[:alpha:]' '\n' | tr '[:upper:]' '[:lower:]' |
		sed '/^$/d' | sort | uniq -c | awk '{ print $2 "\t" $1 }' |
		cmp - "$TMP/got" && [ -s "$TMP/got" ]
}

# block N: print the N-th block of commands of the page
block()
{
	awk -v n="$1" '/::$/ && !/^\.\./ { k++; next }
		k == n && /^    / { print substr($0, 5) }' "$DIR/index.rst"
}

# Run the page's first commands unchanged.
page()
{
	block 1 > "$TMP/network"
	block 2 > "$TMP/command"
	(cd "$TMP" && bash -e network) > "$TMP/up" &&
		PATH=$DIR:$PATH bash -e "$TMP/command" > "$TMP/got" || return
	counted /usr/share/common-licenses/{GPL-2,GPL-3,LGPL-3,Apache-2.0}
}

word_count()
{
	cat /usr/share/common-licenses/{GPL-2,GPL-3,Apache-2.0} > "$TMP/text"
	deal "$TMP/text"
	plan_of v0 && "$DIR/wordcount.sh" $job v0 "${pairs[@]}" > "$TMP/got" &&
		counted "$TMP/text"
}

# The same step without a network.
plain_step()
{
	/usr/bin/python3 - "$1" "$2" << 'END'
import sys


def read(path):
    return [tuple(map(float, line.split("\t"))) for line in open(path)]


centroids, points = read(sys.argv[1]), read(sys.argv[2])
sums = [[0, 0, 0] for _ in centroids]
for x, y in points:
    d = [(x - a) ** 2 + (y - b) ** 2 for a, b in centroids]
    s = sums[d.index(min(d))]
    s[0] += int(x)
    s[1] += int(y)
    s[2] += 1
for x, y, n in sums:
    print(f"{x / n:.17g}\t{y / n:.17g}")
END
}

# Three steps give, bit for bit, the result of one machine.
k_means()
{
	places | awk -F '\t' '{ printf "%.0f\t%.0f\n", $2 * 1e6, $3 * 1e6 }' \
		> "$TMP/points"
	deal "$TMP/points"
	awk 'NR <= 5' "$TMP/points" > "$TMP/centroids"
	for _ in 1 2 3; do
		plan_of v0,v3 --elements 9 &&
			"$DIR/kmeans.sh" $job "$TMP/centroids" v0,v3 \
				"${pairs[@]}" > "$TMP/got" &&
			plain_step "$TMP/centroids" "$TMP/points" > "$TMP/want" &&
			cmp "$TMP/want" "$TMP/got" && withdraw t || return
		mv "$TMP/got" "$TMP/centroids"
	done
}

access_log()
{
	awk -v seed="$SEED" 'BEGIN {
		srand(seed)
		for (i = 0; i < 4000; i++)
			printf "10.0.0.%d - - [21/Nov/2026:07:00:00 +0000] \"GET /page/%d HTTP/1.1\" 200 %d\n",
				i % 250, 40 * rand() * rand(), 9000 * rand()
	}' > "$TMP/log"
	deal "$TMP/log"
	plan_of v0 && "$DIR/topk.sh" $job v0 5 "${pairs[@]}" > "$TMP/got" &&
		awk '{ s[$7] += $10 } END { for (k in s) print k "\t" s[k] }' \
			"$TMP/log" | sort -t "$TAB" -k2,2nr -k1,1 |
		awk 'NR <= 5' | cmp - "$TMP/got"
}

neighbours()
{
	printf 'ocean\t0\t-150\nalps\t46.5\t9.5\npole\t-89\t0\n' > "$TMP/queries"
	places > "$TMP/points"
	deal "$TMP/points"
	plan_of v0 --function nearest --type float64 --k 5 &&
		"$DIR/nearest.sh" $job v0 "$TMP/queries" "${pairs[@]}" \
			> "$TMP/got" || return
	awk -F '\t' 'NR == FNR { q[$1] = $2; r[$1] = $3; next }
		{ for (k in q) printf "%s\t%.17g\t%s\n", k,
			($2 - q[k]) ^ 2 + ($3 - r[k]) ^ 2, $1 }' \
		"$TMP/queries" "$TMP/points" |
		sort -t "$TAB" -k1,1 -k2,2g -k3,3n |
		awk -F '\t' 'n[$1]++ < 5' | cmp - "$TMP/got"
}

trap finish EXIT
check "the page's first commands" page
aggctl testbed down > "$TMP/down"
testbed bcube:4,1
check "word count" word_count
withdraw t
check "K-means" k_means
check "top-k of an access log" access_log
withdraw t
check "nearest neighbours" neighbours
done_testing
