#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libaggnet exports to a linker exactly the names of its public headers, in the
# shared and in the static library; and pkg-config reports the right flags after
# an installation.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
lib=${BUILD:-$top/build}/tools/libaggnet
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# result NAME COMMAND...: a row, which passes if the command succeeds
result()
{
	local name=$1 said

	shift
	n=$((n + 1))
	if said=$("$@" 2>&1); then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name: $said"
		failed=1
	fi
}

# Functions and objects that the headers declare, as the compiler sees them.
declared()
{
	local header

	for header in "$top"/tools/libaggnet/aggnet*.h; do
		echo "#include \"$header\""
		sed -n 's/^extern const .*\(aggnet_[a-z_]*\)[];[]*$/\1/p' \
			"$header" >> "$tmp/names"
	done > "$tmp/headers.c"
	gcc -I"$top/uapi" -aux-info "$tmp/prototypes" -fsyntax-only \
		"$tmp/headers.c" || return
	sed -n 's,^/\* .*/libaggnet/aggnet[^ ]* \*/ extern .*[ *]\(aggnet_[a-z_]*\) (.*,\1,p' \
		"$tmp/prototypes" >> "$tmp/names"
	sort -u "$tmp/names" > "$tmp/declared"
	[ -s "$tmp/declared" ]
}

shared_names()
{
	nm -D --defined-only "$lib/libaggnet.so" |
		sed -n 's/.* [B-TV-Z] \([^@]*\)@@LIBAGGNET_0$/\1/p' |
		sort > "$tmp/shared"
	diff "$tmp/declared" "$tmp/shared"
}

static_names()
{
	nm -g --defined-only "$lib/libaggnet.a" | awk 'NF == 3 { print $3 }' |
		sort > "$tmp/static"
	diff "$tmp/declared" "$tmp/static"
}

# A build for /usr/local is installed with another PREFIX.
installed()
{
	make -s -C "$top/tools/libaggnet" O="$lib" PREFIX="$tmp/usr" \
		DESTDIR= install > /dev/null || return
	[ "$(pkg_config --variable=prefix)" = "$tmp/usr" ] &&
		[ "$(pkg_config --variable=libdir)" = "$tmp/usr/lib" ] &&
		[ "$(pkg_config --variable=includedir)" = "$tmp/usr/include" ]
}

pkg_config()
{
	PKG_CONFIG_PATH=$tmp/usr/lib/pkgconfig pkg-config "$@" aggnet
}

# A program may define functions with the names that the library uses inside.
own_functions()
{
	cat > "$tmp/own.c" << 'EOF'
#include <aggnet.h>
#include <aggnet_data.h>

int merge_sort(int x) { return x + 1; }
int merge_add(int x) { return x + 1; }
int record_get(int x) { return x + 1; }
int conn_open(int x) { return x + 1; }
int sum_round(int x) { return x + 1; }

int main(void)
{
	struct in_addr receiver = { 0 };
	struct aggnet_source *s;

	aggnet_source_open(&s, receiver, 1, 0);
	aggnet_source_close(s);
	return merge_sort(1) + merge_add(1) + record_get(1) + conn_open(1) +
	       sum_round(1) != 10;
}
EOF
	rm -f "$tmp"/usr/lib/libaggnet.so*
	# shellcheck disable=SC2046 # they are words
	gcc -o "$tmp/own" "$tmp/own.c" \
		$(pkg_config --cflags --libs --static) && "$tmp/own"
}

static_flags()
{
	[[ " $(pkg_config --libs --static) " = *" -lm "* ]]
}

echo 1..6
result "the headers declare names" declared
result "the shared library exports what they declare" shared_names
result "the static library exports what they declare" static_names
result "pkg-config follows PREFIX of the installation" installed
result "static link: the mathematical library" static_flags
result "a program may use the library's internal names" own_functions
exit $failed
