#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The Python package on the library with a simulated node: conversions of keys and values,
# results of each function, errors, interrupted calls, closing at any time, and what "with"
# commits and aborts. The examples of its documentation run, too.
set -u

dir=$(cd "$(dirname "$0")" && pwd)
top=$dir/../..
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# shellcheck disable=SC2046 # words
cc -std=gnu11 -D_GNU_SOURCE -O1 -g -w -shared -fPIC -Wl,-soname,libaggnet.so.0 \
	-isystem "${BUILD:-$top/build}/kselftest" -I"$top/selftests/shim" \
	-I"$top/uapi" -I"$top/kmod" -DAGGNET_FAULTS $(pkg-config --cflags libnl-3.0) \
	-o "$tmp/libaggnet.so.0" "$dir/python_fake.c" "$top"/kmod/core/*.c \
	"$top/selftests/shim/support.c" -lm || exit
LD_LIBRARY_PATH=$tmp PYTHONPATH=$top/tools/python PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 -W error "$dir/python_binding.py"
