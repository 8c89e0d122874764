#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The documentation explains each name of the ABI and of the module: counters,
# events, reasons, packet types, flags, states, files and models.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
doc=$top/Documentation
n=0 failed=0

# explained FILE WHAT NAME...: does FILE have every name, as a word?
explained()
{
	local file=$1 what=$2 name missing=''

	shift 2
	n=$((n + 1))
	for name in "$@"; do
		grep -qw -e "$name" "$doc/$file" || missing+=" $name"
	done
	if [ $# -gt 0 ] && [ -z "$missing" ]; then
		echo "ok $n $file: $# $what"
	else
		echo "not ok $n $file: $what:${missing:- none found}"
		failed=$((failed + 1))
	fi
}

# members ENUM PREFIX FILE: print its members without prefix, except the last
# marks
members()
{
	sed -n "/^enum $1 {/,/^}/s/^[[:space:]]*$2\([A-Z_]*\).*/\1/p" "$3"
}

uapi=$top/uapi/linux
mapfile -t counters < <(sed -n 's/^[[:space:]]*X(\([a-z_]*\)).*/\1/p' \
	"$top/kmod/stats.h")
mapfile -t events < <(members aggnet_event AGGNET_EVENT_ "$uapi/aggnet.h")
mapfile -t reasons < <(members aggnet_reason AGGNET_R_ \
	"$uapi/aggnet_packet.h" | grep -vx NONE)
mapfile -t types < <(members aggnet_type AGGNET_ "$uapi/aggnet_packet.h")
mapfile -t flags < <(sed -n 's/^#define AGGNET_\(F_[A-Z]*\)[[:space:]]*0x.*/\1/p' \
	"$uapi/aggnet_packet.h" | grep -vx F_IGNORABLE)
mapfile -t trees < <(members aggnet_tree_state AGGNET_TREE_ "$uapi/aggnet.h")
mapfile -t ups < <(members aggnet_up_state AGGNET_UP_ "$top/kmod/flow/channel.h")
mapfile -t files < <(find "$top/kmod" -name '*.c' -printf '%f\n' |
	sed 's,\.c$,,')
mapfile -t models < <(cd "$top/selftests/model" && printf '%s\n' ./*.pml |
	sed 's,^\./\(.*\)\.pml,\1,')

echo 1..9
explained operations.rst counters "${counters[@]}"
explained operations.rst events "${events[@]}"
explained operations.rst reasons "${reasons[@]}"
explained wire.rst 'packet types' "${types[@]}"
explained wire.rst flags "${flags[@]}"
explained channel.rst "a tree's states" "${trees[@]}"
explained channel.rst "an uplink's states" "${ups[@]}"
explained architecture.rst files "${files[@]}"
explained protocol.rst models "${models[@]}"
echo "# $((n - failed)) passed, $failed failed"
[ $failed = 0 ]
