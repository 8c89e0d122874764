#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One libFuzzer program, for some seconds, beginning with seeds/NAME of the current
# directory; what it finds stays beside the program. Its log is shown if it fails.
# Usage: fuzz.sh PROGRAM SECONDS SEED [OPTION...]
set -u

program=$1 seconds=$2 seed=$3
shift 3
out=${program%/*} name=${program##*/fuzz_}
mkdir -p "$out/corpus/$name"
echo "# fuzz_$name for $seconds s"
"$program" -max_total_time="$seconds" -seed="$seed" -timeout=10 \
	-print_final_stats=1 -artifact_prefix="$out/$name-" "$@" \
	"$out/corpus/$name" "seeds/$name" > "$out/$name.log" 2>&1 || {
	tail -n 60 "$out/$name.log"
	exit 1
}
grep -h -e '^INFO: Seed' -e number_of_executed "$out/$name.log"
