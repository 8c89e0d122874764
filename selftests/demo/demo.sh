#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The main job on real input: word count over BCube(4,1), the shuffle reduced
# by the servers on its way. Prepares the input and the independent count here,
# runs the transfers in the VM, prints the table, draws the trees. Then the time that
# a job takes where links are slow, with and without aggregation.
# Usage: demo.sh (KERNEL=6.1|6.12)
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C

DIR=$PWD/build/demo
CORPUS_MIN=4000000
SENDERS="v2 v5 v9 v10 v11 v14"
# The words of each receiver's partition, by first letter.
declare -A PARTITION=(
	[incast/v0]='.' [shuffle/v0]='[a-h]' [shuffle/v3]='[i-s]'
	[shuffle/v8]='[t-z]'
)

say()
{
	printf 'demo: %s\n' "$*" >&2
}

corpus()
{
	bible -l79 'gen1:1-rev22:21' < /dev/null > "$DIR/corpus.txt"
	[ "$(stat -c %s "$DIR/corpus.txt")" -ge $CORPUS_MIN ] || {
		say "the corpus is smaller than $CORPUS_MIN bytes"
		exit 1
	}
	tr '[:upper:]' '[:lower:]' < "$DIR/corpus.txt" |
		tr -cs '[:lower:]' '\n' | sed '/^$/d' > "$DIR/words"
	say "corpus: $(stat -c %s "$DIR/corpus.txt") bytes," \
		"$(wc -l < "$DIR/words") words of the King James Bible"
}

# Every sender gets a sixth of the text and makes one record for each word; sort
# and uniq count the expected result.
inputs()
{
	local part sender receiver i=0

	split -n l/6 -d -a 1 "$DIR/words" "$DIR/split."
	for part in "${!PARTITION[@]}"; do
		mkdir -p "$DIR/in/$part"
		grep "^${PARTITION[$part]}" "$DIR/words" | sort | uniq -c |
			awk '{ print $2 "\t" $1 }' | sort \
			> "$DIR/in/$part/expected"
	done
	for sender in $SENDERS; do
		for part in "${!PARTITION[@]}"; do
			grep "^${PARTITION[$part]}" "$DIR/split.$i" |
				sed 's/$/\t1/' > "$DIR/in/$part/$sender"
		done
		i=$((i + 1))
	done
}

# delta TRANSFER: print the aggregation ratio of its flows, counted in keys:
# merging all of them leaves max + delta (sum - max)
delta()
{
	local receiver sender sizes=()

	for receiver in "$DIR/in/$1"/*/; do
		for sender in $SENDERS; do
			sizes+=("$(cut -f1 "$receiver$sender" | sort -u |
				wc -l)")
		done
		sizes+=("$(wc -l < "${receiver}expected")")
	done
	printf '%s\n' "${sizes[@]}" | awk '
		NR % 7 { sum += $1; if ($1 > max) max = $1; next }
		{ union += $1; maxes += max; max = 0 }
		END { printf "%.4f\n", (union - maxes) / (sum - maxes) }'
}

# by_keys: add to each plan's row how many keys cross all links
by_keys()
{
	local name transfer merge receiver sender crossed

	for name in "$DIR"/run/*.plan.json; do
		name=${name##*/} name=${name%.plan.json}
		transfer=${name%%-*}
		merge=1
		[ "${name#*-}" != existing ] || merge=0
		crossed=$({
			jq -r '.trees[] | .receiver as $r | .edges[] |
				"edge v\($r) v\(.[0]) v\(.[1])"' \
				"$DIR/run/$name.plan.json"
			for receiver in "$DIR/in/$transfer"/*/; do
				for sender in $SENDERS; do
					sort -u "$receiver$sender" | sed "s/^/key $(
						basename "$receiver") $sender /"
				done
			done
		} | awk -v merge=$merge -f selftests/demo/keys.awk)
		jq --argjson crossed "$crossed" '.keys_on_links = $crossed' \
			"$DIR/run/$name.row.json" > "$DIR/run/$name.keys.json"
	done
}

# Draw each tree with the bytes that its links carried.
draw()
{
	local name

	for name in "$DIR"/run/*.plan.json; do
		name=${name##*/} name=${name%.plan.json}
		tools/aggctl/aggctl plan --update "$DIR/run/$name.plan.json" \
			--traffic "$DIR/run/$name.traffic.json" \
			--dot "$DIR/$name.svg"
	done
}

# An incast of all other servers on links of 2 Mbit/s: 8 tasks on each server send
# 8192 records with the same keys.
time_jobs()
{
	local senders=v1,v2,v3,v4,v5,v6,v7,v8,v9,v10,v11,v12,v13,v14,v15
	local how

	while read -r how; do
		# shellcheck disable=SC2086
		set -- $how
		echo "bcube:4,1 2mbit $1 $2 8192 0 8 v0 $senders ${*:3}"
	done <<- END
	tcp existing
	keyed existing --scheme bloom
	keyed unicast --scheme bloom
	keyed irs --scheme bloom
	keyed srs --scheme bloom
	keyed auto --objective time
	keyed stripes:2
	END
}

# Compare completion times, print them, and draw them.
times()
{
	time_jobs > "$DIR/run/jobs"
	say "120 tasks on 15 servers send 8192 records each to one receiver," \
		"links of 2 Mbit/s"
	bash selftests/live/live.sh "$DIR/run/times" "$DIR/run/jobs"
	jq -sf selftests/demo/time.jq "$DIR/run/times" > "$DIR/run/time.json"
	jq --slurpfile time "$DIR/run/time.json" '.time = $time[0]' \
		"$DIR/run/rows.json" > "$DIR/demo.json"
	jq -rf selftests/demo/times.jq "$DIR/demo.json" > "$DIR/run/times.tsv"
	column -t -s $'\t' "$DIR/run/times.tsv"
	jq -rf selftests/demo/times_why.jq "$DIR/demo.json" | fold -s -w 79
	gnuplot -e "in='$DIR/run/times.tsv'; out='$DIR/times.svg'" \
		selftests/demo/times.gp
}

rm -rf "$DIR"
mkdir -p "$DIR/run"
corpus
inputs
for transfer in incast shuffle; do
	delta "$transfer" > "$DIR/in/$transfer/delta"
done
say "booting the VM"
bash selftests/vm/run.sh "selftests/demo/guest.sh $DIR"
by_keys
jq -sf selftests/demo/table.jq "$DIR"/run/*.keys.json > "$DIR/run/rows.json"
jq -rf selftests/demo/text.jq "$DIR/run/rows.json" | column -t -s $'\t'
jq -rf selftests/demo/why.jq "$DIR/run/rows.json" | fold -s -w 79
draw
times
say "wrote build/demo/demo.json and" \
	"$(find "$DIR" -name '*.svg' | wc -l) drawings build/demo/*.svg"
jq -e 'all(.rows[], .time.rows[]; .exact)' "$DIR/demo.json" > "$DIR/exact" || {
	say "a result is not exact"
	exit 1
}
