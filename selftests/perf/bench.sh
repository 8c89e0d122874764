#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a merge costs, beside its peers, and what bystanders pay: each in one run of
# one VM that counts instructions (one is one nanosecond of its clock), so that
# figures repeat and ratios mean something. And what two CPUs get through.
# Usage: bench.sh (KERNEL=6.1|6.12); results also in build/bench/bench.json
set -euo pipefail
cd "$(dirname "$0")/../.."

# The emulator counts each step of a string instruction, which a CPU does many of at
# a time: without these features the kernel and libc copy with other instructions.
COUNTING=max,-cx16,-erms,-fsrm

# counted COMMAND: run it in a guest that counts instructions
counted()
{
	VM_ICOUNT=1 VM_CPU=$COUNTING VM_TIMEOUT=1800 bash selftests/vm/run.sh "$1"
}

make -s -C selftests/perf
rm -rf build/bench
mkdir -p build/bench
status=0
counted "selftests/perf/guest.sh $PWD/build/bench" || status=$?
jq -rf selftests/perf/text.jq build/bench/bench.json
build/selftests/perf/native
build/selftests/perf/bench_lookup
make -s -C selftests/net
VM_TIMEOUT=900 bash selftests/vm/run.sh selftests/perf/misforwarded.sh
VM_TIMEOUT=900 bash selftests/vm/run.sh \
	"selftests/perf/cores.sh $PWD/build/bench"
jq -rf selftests/perf/cores.jq build/bench/cores.json
selftests/perf/bench_trees.sh
counted selftests/perf/bystander.sh || status=$?
exit $status
