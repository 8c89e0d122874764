#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The documentation explains each name of the ABI and of the module: counters,
# events, reasons, packet types, flags, states, files and models. bpftrace takes its lines.
# shellcheck disable=SC2317 # a shell in namespaces of its own calls these functions
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

# typed TRACEPOINT: print "TYPE, NAME", or "TYPE, NAME, ELEMENTS", of its fields, which may be
# those of a class
typed()
{
	local class

	class=$(sed -n "s/^DEFINE_EVENT(\([a-z_]*\), $1,/\1/p" "$top/kmod/trace.h")
	sed -n "/^[A-Z_]*(${class:-$1},/,/^)/s/^[[:space:]]*__\(field\|array\)(\(.*\)).*/\2/p" \
		"$top/kmod/trace.h"
}

# fields TRACEPOINT: print the names of its fields
fields()
{
	typed "$1" | sed 's/^[^,]*, \([a-z_]*\).*/\1/'
}

# entry TRACEPOINT: print its entry in the page
entry()
{
	awk -v name="\`\`$1\`\`" '/^[^ ]/ { inside = $0 == name } inside' "$doc/operations.rst"
}

# format TRACEPOINT: print its file "format" as tracefs has it
format()
{
	local type name elements size at=8
	local -A sizes=(["unsigned int"]=4 ["const void *"]=8 [char]=1 [u8]=1 [u16]=2 [u32]=4
		[u64]=8)
	# This directory has no types of the kernel.
	local -A plain=([u8]="unsigned char" [u16]="unsigned short" [u32]="unsigned int"
		[u64]="unsigned long")

	printf 'name: %s\nID: 1\nformat:\n' "$1"
	typed "$1" | while IFS=, read -r type name elements; do
		size=${sizes[$type]}
		at=$(((at + size - 1) / size * size))
		elements=${elements# }
		size=$((size * ${elements:-1}))
		printf '\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:0;\n' \
			"${plain[$type]:-$type}" "${name# }${elements:+[$elements]}" $at $size
		at=$((at + size))
	done
}

# parsed TRACEPOINT...: print "ok TRACEPOINT" if bpftrace takes the lines of its entry, else
# the error. In namespaces of its own: tracefs has the tracepoints of this source there, though
# the module is not loaded.
parsed()
{
	local name line error events=/sys/kernel/tracing/events/aggnet

	mount -t tmpfs none /sys/kernel && mkdir -p $events || return
	printf 'aggnet:%s\n' "$@" > /sys/kernel/tracing/available_events
	for name in "$@"; do
		mkdir $events/"$name"
		format "$name" > $events/"$name"/format
		line=$(entry "$name" | sed -n 's/^ *\(bpftrace .*\)/\1 -d || exit/p')
		if error=$(bash -c "$line" 2>&1 > /dev/null); then
			echo "ok $name"
		else
			printf '# %s: %s\n%s\n' "$name" "$line" "$error"
		fi
	done
}

# traced TRACEPOINT: its entry in the page has each field, and a line for bpftrace
# that has no other one
traced()
{
	local text field missing='' all

	n=$((n + 1))
	all=$(fields "$1")
	text=$(entry "$1")
	for field in $all; do
		[[ $text = *"\`\`$field\`\`"* ]] || missing+=" $field"
	done
	while read -r field; do
		grep -qx "${field#args->}" <<< "$all" || missing+=" $field"
	done < <(grep -o 'args->[a-z_]*' <<< "$text" | sort -u)
	[[ $text = *"bpftrace -e 'tracepoint:aggnet:$1 "* ]] || missing+=" bpftrace"
	if [ -n "$all" ] && [ -z "$missing" ]; then
		echo "ok $n operations.rst: $1 with its fields"
	else
		echo "not ok $n operations.rst: $1:${missing:- no fields}"
		failed=$((failed + 1))
	fi
}

if [ "${1:-}" = parsed ]; then
	parsed "${@:2}"
	exit
fi
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

mapfile -t traces < <(sed -n 's/^\(TRACE_EVENT(\|DEFINE_EVENT([a-z_]*, \)\([a-z_]*\),.*/\2/p' \
	"$top/kmod/trace.h")

echo 1..$((10 + 2 * ${#traces[@]}))
explained operations.rst counters "${counters[@]}"
explained operations.rst events "${events[@]}"
explained operations.rst reasons "${reasons[@]}"
explained wire.rst 'packet types' "${types[@]}"
explained wire.rst flags "${flags[@]}"
explained channel.rst "a tree's states" "${trees[@]}"
explained channel.rst "an uplink's states" "${ups[@]}"
explained architecture.rst files "${files[@]}"
explained protocol.rst models "${models[@]}"
explained operations.rst tracepoints "${traces[@]}"
for name in "${traces[@]}"; do
	traced "$name"
done
taken=$(unshare -rm "$0" parsed "${traces[@]}" 2>&1)
for name in "${traces[@]}"; do
	n=$((n + 1))
	if grep -qx "ok $name" <<< "$taken"; then
		echo "ok $n operations.rst: bpftrace takes the line of $name"
	else
		echo "not ok $n operations.rst: bpftrace refuses the line of $name"
		failed=$((failed + 1))
	fi
done
grep -v ^ok <<< "$taken" | sed 's/^/# /'
echo "# $((n - failed)) passed, $failed failed"
[ $failed = 0 ]
