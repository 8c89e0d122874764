#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# README is typed first: each command of "Use it" has to be on the page "Your cluster",
# whose commands are executed on machines (cluster/servers.sh).
# shellcheck disable=SC2016 # commands as they are written
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
readme=$top/README.md
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
. "$top/selftests/lib/rows.sh"

# section TITLE: print the commands of README's section, each on one line
section()
{
	awk -v title="## $1" '/^## / { inside = $0 == title } inside && sub(/^    /, "")' \
		"$readme" | sed -e :a -e '/\\$/{N;s/ *\\\n */ /;ba}' -e 's/  *#.*//'
}

# The page as one line for each command, too.
page()
{
	sed -e :a -e '/\\$/{N;s/ *\\\n */ /;ba}' -e 's/^ *//' "$top/Documentation/cluster.rst"
}

# The user that the page names is root.
cluster_commands()
{
	local command n=0 bad=0

	while read -r command; do
		n=$((n + 1))
		page | grep -xF -- "${command//'$(id -u)'/0}" > found || {
			echo "$command: not on the page"
			bad=1
		}
	done < <(section "Use it" | grep -v '^make ')
	[ "$n" -ge 7 ] && return "$bad"
}

make_commands()
{
	[ "$(section "Try it" | grep '^make ')" = $'make demo\nmake check' ] &&
		[ "$(section "Use it" | grep '^make ')" = "make && make install" ] &&
		grep -q '^check:' "$top/Makefile" && grep -q '^demo:' "$top/Makefile" &&
		grep -qF 'make check' "$top/.ci/run"
}

# title FILE ANCHOR: FILE has a section whose title makes this anchor, if it is not empty
title()
{
	[ ! "$2" ] || tr 'A-Z ' 'a-z-' < "$1" | grep -B 1 '^==*$' | grep -qx "$2"
}

# links FILE: its links to other files lead to files, and to sections that they have
links()
{
	local to anchor bad=0

	while IFS='#' read -r to anchor; do
		if [ ! -e "$top/$to" ] || ! title "$top/$to" "$anchor"; then
			echo "$to${anchor:+#$anchor}: no such file or section"
			bad=1
		fi
	done < <(grep -oP '\]\(\K[^):]+' "$1")
	return "$bad"
}

# The pages that an administrator needs before users depend on the servers.
leads()
{
	local page bad=0

	for page in cluster aggregating sizing security operations jobs index; do
		grep -q "](Documentation/$page\.rst[#)]" "$readme" || {
			echo "no link to $page.rst"
			bad=1
		}
	done
	return "$bad"
}

check "commands on servers are those of the page" cluster_commands
check "commands of make are there" make_commands
check "links lead to files and sections" links "$readme"
check "an administrator's pages are linked" leads
end_rows
