#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggd: what it answers to requests, who may ask, what waits, how jobs end, and what is
# left when it is killed. A script stands for the aggctl that it runs.
top=$(cd "$(dirname "$0")/../.." && pwd)
exec /usr/bin/python3 -B "$top/selftests/unit/aggd_rows.py" "$top"
