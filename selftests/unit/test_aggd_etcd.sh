#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggd with its jobs in etcd: restarts, several aggd of which one leads, an etcd that is
# down or has lost members, certificates, answers and values that are wrong. Each etcd is
# started here, as an unprivileged user. Most rows wait for times that are over: six
# processes, each in a network namespace of its own, share them.
top=$(cd "$(dirname "$0")/../.." && pwd)
CLAIMS=$(mktemp -d)
export CLAIMS
trap 'rm -rf "$CLAIMS"' EXIT
workers=()
status=0
for _ in 1 2 3 4 5 6; do
	unshare --net /usr/bin/python3 -B "$top/selftests/unit/aggd_etcd_rows.py" "$top" &
	workers+=($!)
done
for pid in "${workers[@]}"; do
	wait "$pid" || status=1
done
exit "$status"
