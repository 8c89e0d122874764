#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The netlink spec is valid by the kernel's schema, and the spec, the uapi header and
# the files generated from the spec agree. It runs the system's Python, because Debian's python3-yaml belongs to that.
dir=$(cd "$(dirname "$0")" && pwd)
exec /usr/bin/python3 "$dir/netlink_spec.py" "$dir/../.."
