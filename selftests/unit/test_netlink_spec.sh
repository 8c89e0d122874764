#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The netlink spec, the uapi header and the module's policies say the same.
# The system's Python, which Debian's python3-yaml belongs to.
dir=$(cd "$(dirname "$0")" && pwd)
exec /usr/bin/python3 "$dir/netlink_spec.py" "$dir/../.."
