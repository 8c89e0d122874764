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
#   graphs   a leaf-spine fabric, and a described network without a pattern
#   stripes  trees that share no link, and what each link carries (stripes.links)
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
		if [[ $line != *SEED* ]]; then
			echo "$line"
			continue
		fi
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
		sed "s|^|part:bcube:6,$k 1mbit |; s|JOB|14222 0 1 v0 random:120/SEED row=k:$k|
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
	sed "s|^|part:bcube:4,8 1mbit |; s|JOB|1000 0 1 v0 random:500/SEED row=m:500|
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
		sed "s|^|part:bcube:4,2 1mbit |; s|JOB|800 $delta 1 random:8/SEED random:8/SEED|
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
		sed "s|^|part:bcube:6,2 1mbit |; s|JOB|3500 0 1 v0 random:30/SEED late=$late|
			s|\$| row=late:$late $PATIENCE|" <<- END
		keyed existing JOB
		keyed m2 JOB
		keyed auto JOB --objective time
		END
	done
}

# leafspine LEAVES SPINES HOSTS: describe it with links of 1 Mbit/s to the servers, and
# of 10 Mbit/s between switches
leafspine()
{
	local leaf host spine

	echo topology graph
	for ((host = 0; host < $1 * $3; host++)); do
		echo "host v$host"
	done
	for ((leaf = 0; leaf < $1 + $2; leaf++)); do
		echo "switch w$leaf"
	done
	for ((host = 0; host < $1 * $3; host++)); do
		echo "link v$host w$((host / $3)) 1M"
	done
	for ((leaf = 0; leaf < $1; leaf++)); do
		for ((spine = 0; spine < $2; spine++)); do
			echo "link w$leaf w$(($1 + spine)) 10M"
		done
	done
}

# graph_jobs NAME FILE SENDERS
graph_jobs()
{
	sed "s|^|@$2 1mbit |; s|KEYS|14222 0 1 v0 $3|
		s|\$| row=graph:$1 $PATIENCE|" <<- END
	tcp existing KEYS
	keyed existing KEYS
	keyed getparent KEYS
	keyed auto KEYS --objective time
	END
}

jobs_graphs()
{
	leafspine 4 2 8 > "$DIR/leafspine.graph"
	graph_jobs leafspine "$DIR/leafspine.graph" random:16/SEED
	graph_jobs irregular selftests/live/irregular.graph random:10/SEED
}

# stripes_jobs TOPOLOGY STRIPES SERVERS: all others send to the first one, as many
# bytes in vectors as in records with keys
stripes_jobs()
{
	local all

	all=$(seq -s , -f v%.0f 1 $(($3 - 1)))
	sed "s|^|$1 1mbit |; s|KEYS|29127 0 1 v0 $all|; s|VECTOR|65536 0 1 v0 $all|
		s|\$| row=stripes:$2 $PATIENCE|" <<- END
	tcp existing KEYS
	dense existing VECTOR
	dense auto VECTOR --objective time
	dense stripes:$2 VECTOR
	END
}

jobs_stripes()
{
	stripes_jobs bcube:4,1 2 16
	stripes_jobs bcube:3,2 3 27
}

# links: of plans of stripes print each link's bytes, of those of one stripe on it
links()
{
	jq -rs '["setting", "link from", "port", "bytes", "stripes"],
		(.[] | select(.stress) | .row as $row |
		 (.planned_busiest_bytes / .stress) as $one |
		 .links[] | select(.bytes > 0) |
		 [($row | gsub(":"; " ")), .node, .port, .bytes,
		  (.bytes / $one * 100 | round / 100)]) | join("\t")' "$DIR/rows"
}

# link_stress: print what the links carry, those with a stripe and the others apart
link_stress()
{
	awk -F '\t' '
		NR == 1 { next }
		!($1 in n) { n[$1] = 0; least[$1] = $5 + 1e9 }
		$5 < 0.5 { if ($5 > acks[$1]) acks[$1] = $5; next }
		{
			n[$1]++; sum[$1] += $5
			if ($5 < least[$1]) least[$1] = $5
			if ($5 > most[$1]) most[$1] = $5
		}
		END {
			for (row in n)
				printf "%s: %d links carry a stripe, each %.2f " \
					"to %.2f times its bytes, %.2f on average; " \
					"other links %.2f at most\n", row, n[row],
					least[row], most[row],
					sum[row] / n[row], acks[row]
		}' "$DIR/$1.links" | sort
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
	if [ "$name" = stripes ]; then
		links > "$DIR/$name.links"
		link_stress "$name"
	fi
	gnuplot -e "in='$DIR/$name.tsv'; out='$DIR/$name.svg'; name='$name'" \
		selftests/live/eval.gp
	jq -e 'all(.[]; .exact and .busy <= 0.5 and .bed_seconds <= 60 and
		.bed_bytes <= 2e9)' "$DIR/$name.json" > "$DIR/good" || {
		echo "eval.sh: $name: a result is not exact, the CPU is busy for more" \
			"than half of a job, or a testbed takes too much" >&2
		return 1
	}
}

[ $# != 0 ] || set -- tables table2 fig7 skew graphs stripes
for name in "$@"; do
	[[ $name =~ ^(tables|table2|fig7|skew|graphs|stripes)$ ]] || {
		echo "eval.sh: unknown table '$name'" >&2
		exit 2
	}
done
mkdir -p "$DIR"
for name in "$@"; do
	one "$name"
done
