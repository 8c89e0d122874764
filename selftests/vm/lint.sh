#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Style and static checks over all sources; silent when they are clean.
# Usage: lint.sh [checkpatch|includes|module|tools|shell]...
#   EVERY=N   checkpatch: of tools and selftests every N-th file only; SEED
#             chooses the first one
set -euo pipefail
. "$(dirname "$0")/lib.sh"

CHECKPATCH="$BUILD/kselftest/checkpatch.pl --no-tree --quiet --terse
	--no-summary --show-types --typedefsfile=$VM_DIR/typedefs"
# An X-macro is a list: it cannot have parentheses, and may use an argument
# twice.
IGNORE=COMPLEX_MACRO,MACRO_ARG_REUSE
# Programs also include uapi headers and have no __packed and __aligned();
# checkpatch knows this for include/uapi/ only.
IGNORE_UAPI=$IGNORE,PREFER_DEFINED_ATTRIBUTE_MACRO
# trace/events has columns of TP_*( ... ) in the whole kernel.
IGNORE_TRACE=$IGNORE,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT
# Only the kernel has these: its attributes, ARRAY_SIZE, kstrto*().
IGNORE_USER=$IGNORE,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,NAKED_SSCANF
IGNORE_USER+=,SSCANF_TO_KSTRTO,PREFER_KERNEL_TYPES,NEW_TYPEDEFS,ENOSYS
# These refer to messages and test output.
IGNORE_USER+=,EMBEDDED_FUNCTION_NAME,SPLIT_STRING,MISSING_SPACE
# Digests of rules and files that checkpatch has found clean.
CLEAN=$KERNEL_CACHE/checkpatch
bad=0

# each COMMAND...: run it on the files of standard input, two at a time
each()
{
	xargs -d '\n' -P 2 -n 8 "$@" 2>&1
}

# checkpatch takes FIXTURE_DATA(x) *self for a multiplication.
pointers()
{
	grep -v "need consistent spacing around '\*' (ctx:WxV)"
}

# digests RULE...: print for each file of standard input a digest of all rules
# and of the file
digests()
{
	local rules

	rules=$(cat "$BUILD"/kselftest/*check* "$BUILD/kselftest/spelling.txt" \
		"$VM_DIR/typedefs" <(echo "$*") | sha256sum)
	xargs -d '\n' sha256sum | sed "s/^/${rules%% *} /"
}

# judge FILTER OPTION...: run checkpatch on the files of standard input that
# have changed since it found them clean; it takes 1.5 ms a line
judge()
{
	local new found

	new=$(digests "$@" | grep -v -x -F -f "$CLEAN")
	[ -n "$new" ] || return 0
	# shellcheck disable=SC2086
	found=$(cut -d ' ' -f 4- <<< "$new" | each $CHECKPATCH "${@:2}" -f | $1)
	if [ -z "$found" ]; then
		printf '%s\n' "$new" >> "$CLEAN"
	else
		printf '%s\n' "$found"
	fi
}

checkpatch()
{
	mkdir -p "$KERNEL_CACHE" && touch "$CLEAN" || return
	find kmod -name '*.[ch]' ! -name trace.h |
		judge cat --ignore "$IGNORE" --strict
	find uapi -name '*.h' | judge cat --ignore "$IGNORE_UAPI" --strict
	find kmod -name trace.h | judge cat --ignore "$IGNORE_TRACE" --strict
	find tools selftests -name '*.[ch]' ! -path '*/shim/*' | sort |
		awk -v n="${EVERY:-1}" -v i="${SEED:-0}" 'NR % n == i % n' |
		judge pointers --ignore "$IGNORE_USER"
	# checkpatch writes a file with the kernel's own CamelCase names.
	rm -f .checkpatch-camelcase.*
}

# A folder of kmod/ includes its own headers and those of the folders below it.
kmod_includes()
{
	grep -rn --include='*.[ch]' '^#include "' kmod/*/ | awk -F '[/:"]' '
	BEGIN {
		split("core flow net ctl", name, " ")
		for (i in name)
			rank[name[i]] = i
	}
	!($2 in rank) { print $0 ": unknown folder" }
	$2 in rank && $6 in rank && rank[$6] > rank[$2] {
		print $0 ": " $6 "/ is above " $2 "/"
	}
	$2 == "core" && $6 ~ /^(netns|stats|trace)\.h$/ {
		print $0 ": core/ is pure"
	}'
}

# A folder of tools/aggctl/ includes its own headers, those beside the folders, and
# those of the folders that it may use.
aggctl_includes()
{
	grep -rn --include='*.[ch]' '^#include "' tools/aggctl | awk -F '"' '
	BEGIN {
		uses["plan"] = uses["testbed"] = uses["eval"] = uses["remote"] = ""
		uses["host"] = "plan"
		uses["supervise"] = "plan testbed"
		uses["cmd"] = "plan testbed eval host remote supervise"
	}
	{
		split($1, path, "/")
		from = path[4] == "" ? "" : path[3]
		to = $2 ~ "/" ? $2 : ""
		sub("/.*", "", to)
	}
	from != "" && !(from in uses) { print $0 ": unknown folder" }
	to != "" && !(to in uses) {
		print $0 ": write the path below tools/aggctl/"
		next
	}
	to == "" && from != "" && !system("test -e tools/aggctl/" from "/" $2) {
		print $0 ": write " from "/" $2
	}
	to != "" && to != from && index(" " uses[from] " ", " " to " ") == 0 {
		print $0 ": " (from ? from "/ does" : "common files do") \
			" not use " to "/"
	}'
}

includes()
{
	kmod_includes
	aggctl_includes
}

# Run sparse and the compiler's extra warnings in a separate build. A run with a
# seed checks one kernel: only kmod/compat*.h depends on the kernel.
module()
{
	local names name

	read -r -a names <<< "$KERNELS"
	[ -z "${SEED:-}" ] || [ ${#names[@]} = 0 ] ||
		names=("${names[10#$SEED % ${#names[@]}]}")
	for name in "${names[@]}"; do
		"$VM_DIR/module.sh" lint "$name" 2>&1
	done
}

tools()
{
	local cflags mpi

	cflags=$(pkg-config --cflags libnl-3.0 libnl-genl-3.0 jansson libcurl)
	# shellcheck disable=SC2086
	find tools -name '*.c' ! -path 'tools/mpi/*' -print0 | xargs -0 -P 2 -n 1 gcc -std=gnu11 \
		-O2 -D_GNU_SOURCE -Wall -Wextra -Iuapi -Itools/libaggtree \
		-Itools/libaggnet -iquote tools/aggctl -iquote kmod \
		-include tools/libaggnet/kernel.h $cflags -c -o /dev/null 2>&1
	for mpi in mpich openmpi; do
		find tools/mpi -name '*.c' -print0 | xargs -0 -n 1 "mpicc.$mpi" -std=gnu11 \
			-O2 -D_GNU_SOURCE -Wall -Wextra -Iuapi -Itools/libaggnet \
			-c -o /dev/null 2>&1
	done
}

shell()
{
	find selftests tools .ci debian -type f \( -name '*.sh' -o \
		-path .ci/run -o -path 'tools/*completion*' -o \
		-name '*.postrm' -o -name '*.postinst' -o -name '*.prerm' -o \
		-path 'debian/tests/*' ! -name control \) |
		each shellcheck -x -P SCRIPTDIR -e SC2317
}

cd "$TOP"
[ $# -gt 0 ] || set -- checkpatch includes module tools shell
for part in "$@"; do
	case $part in
	checkpatch | includes | module | tools | shell)
		findings=$($part) || bad=1
		[ -z "$findings" ] || { printf '%s\n' "$findings"; bad=1; } ;;
	*)
		say "unknown part '$part' (checkpatch, includes, module, tools or shell)"
		exit 2 ;;
	esac
done
exit $bad
