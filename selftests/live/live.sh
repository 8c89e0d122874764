#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Plays jobs on testbeds whose links have a rate, in a guest whose clock counts
# instructions: one CPU plays all nodes, and is idle while packets are on links.
# Usage: live.sh OUT JOBS (KERNEL=6.1|6.12); the format of JOBS is in guest.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(realpath -m "$1") jobs=$(realpath "$2")
make -s -C selftests/live
VM_ICOUNT=1 VM_TIMEOUT=${VM_TIMEOUT:-1800} bash selftests/vm/run.sh \
	"selftests/live/guest.sh $out < $jobs"
