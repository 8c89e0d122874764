#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libaggnet and libaggtree export to a linker exactly the names of their public
# headers, in the shared and in the static library; man pages and the symbols of the
# Debian packages have these names; and pkg-config reports the right flags after an
# installation.
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

# declared LIBRARY: write functions and objects that its headers declare, as the
# compiler sees them, to $tmp/LIBRARY
declared()
{
	local header prefix=${1#lib}

	for header in "$top/tools/$1/$prefix"*.h; do
		echo "#include \"$header\""
		sed -n 's/^extern const .*\(agg[a-z]*_[a-z_]*\)[];[]*$/\1/p' \
			"$header" >> "$tmp/names.$1"
	done > "$tmp/headers.c"
	gcc -I"$top/uapi" -aux-info "$tmp/prototypes" -fsyntax-only \
		"$tmp/headers.c" || return
	sed -n "s,^/\\* .*/$1/agg[^ ]* \\*/ extern .*[ *]\\(agg[a-z]*_[a-z_]*\\) (.*,\\1,p" \
		"$tmp/prototypes" >> "$tmp/names.$1"
	sort -u "$tmp/names.$1" > "$tmp/$1"
	[ -s "$tmp/$1" ]
}

shared_names()
{
	nm -D --defined-only "${lib%/*}/$1/$1.so" |
		sed -n "s/.* [B-TV-Z] \\([^@]*\\)@@${1^^}_0$/\\1/p" |
		sort > "$tmp/shared"
	diff "$tmp/$1" "$tmp/shared"
}

# The file that dpkg-gensymbols compares.
debian_names()
{
	sed -n 's/^ \(agg[a-z_]*\)@.*/\1/p' "$top/debian/${1}0.symbols" |
		sort > "$tmp/debian"
	diff "$tmp/$1" "$tmp/debian"
}

# documented LIBRARY: its man page describes all names, and all structures,
# enumerations and constants of its headers
documented()
{
	local page=${lib%/*}/$1/$1.3 header prefix=${1#lib}

	sed 's/$/ /' "$tmp/$1" > "$tmp/wanted"
	for header in "$top/tools/$1/$prefix"*.h; do
		sed -n 's/^\(\(struct\|enum\) [a-z_]*\) {$/\1 /p
			s/^#define \([A-Z_0-9]*\)[ \t(].*/\1 /p' "$header"
	done >> "$tmp/wanted"
	sed -n 's/,//g; s/^\.SS \(.*\)/ \1 /p' "$page" > "$tmp/sections"
	while read -r name; do
		grep -qF " $name " "$tmp/sections" || echo "$page: nothing about $name"
	done < "$tmp/wanted" > "$tmp/untold"
	# A subsection of code alone ends with .fi.
	awk '/^\.S[SH]/ && last == ".fi" { print name ": not described" }
		/^\.SS/ { name = $0 } { last = $0 }' "$page" >> "$tmp/untold"
	cat "$tmp/untold"
	[ ! -s "$tmp/untold" ]
}

# Both formatters of man pages accept the page.
formatted()
{
	man --warnings -l "$1" 2> "$tmp/said" > "$tmp/page" || return
	mandoc -Tlint -W warning "$1" >> "$tmp/said" 2>&1
	cat "$tmp/said"
	[ ! -s "$tmp/said" ] && [ -s "$tmp/page" ]
}

# The check above reports an unknown macro.
not_formatted()
{
	printf '%s\n' '.TH X 3 2026-01-01 x x' .SH NAME 'x \- y' .XX > "$tmp/bad.3"
	! formatted "$tmp/bad.3"
}

static_names()
{
	nm -g --defined-only "$lib/libaggnet.a" | awk 'NF == 3 { print $3 }' |
		sort > "$tmp/static"
	diff "$tmp/libaggnet" "$tmp/static"
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

echo 1..20
for name in libaggnet libaggtree; do
	result "$name: the headers declare names" declared $name
	result "$name: the shared library exports what they declare" \
		shared_names $name
	result "$name: the Debian package has the same symbols" debian_names $name
	result "$name: the man page describes all of them" documented $name
done
for page in "$top"/Documentation/man/*.[78] "${lib%/*}"/lib*/lib*.3 \
	"$top"/Documentation/man/*.3; do
	result "${page#"$top"/} is a good man page" formatted "$page"
done
result "a bad man page is reported" not_formatted
result "the static library exports what the headers declare" static_names
result "pkg-config follows PREFIX of the installation" installed
result "static link: the mathematical library" static_flags
result "a program may use the library's internal names" own_functions
exit $failed
