#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggd with its jobs in etcd: restarts, several aggd of which one leads, an etcd that is
# down or has lost members, answers and values that are wrong. Each etcd is started here,
# as an unprivileged user, in a network namespace of the test.
top=$(cd "$(dirname "$0")/../.." && pwd)
exec unshare --net /usr/bin/python3 -B "$top/selftests/unit/aggd_etcd_rows.py" "$top"
