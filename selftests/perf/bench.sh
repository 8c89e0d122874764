#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a merge costs, beside its peers, and what bystanders pay: each in one run of
# one VM that counts instructions (one is one nanosecond of its clock), so that
# figures repeat and ratios mean something. And what two CPUs get through.
# Usage: bench.sh (KERNEL=6.1|6.12); results also in build/bench/bench.json
set -euo pipefail
cd "$(dirname "$0")/../.."

make -s -C selftests/perf
rm -rf build/bench
mkdir -p build/bench
VM_ICOUNT=1 VM_TIMEOUT=1800 bash selftests/vm/run.sh \
	"selftests/perf/guest.sh $PWD/build/bench"
jq -rf selftests/perf/text.jq build/bench/bench.json
build/selftests/perf/bench_lookup
make -s -C selftests/net
VM_TIMEOUT=900 bash selftests/vm/run.sh selftests/perf/misforwarded.sh
VM_TIMEOUT=900 bash selftests/vm/run.sh \
	"selftests/perf/cores.sh $PWD/build/bench"
jq -rf selftests/perf/cores.jq build/bench/cores.json
selftests/perf/bench_trees.sh
# This part is last, because it may fail.
VM_ICOUNT=1 VM_TIMEOUT=900 bash selftests/vm/run.sh selftests/perf/bystander.sh
