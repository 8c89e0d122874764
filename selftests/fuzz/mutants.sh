#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Breaks the sources in a copy, one line at a time: the program that a row of
# mutants.txt names has to detect it. The same programs have to pass on the
# unbroken sources. Runs are counted, so that a seed is the same work on each
# machine.
# Usage: mutants.sh [PATTERN]   only rows that match; MUTANTS_SEED=, FLOW_RUNS=,
#                               FUZZ_RUNS= may be set
#   EVERY=N   every N-th row only; SEED chooses the first one
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
OUT=${OUT:-$top/build/fuzz/mutants}
FIRST=${SEED:-0}
SEED=${MUTANTS_SEED:-1}
EVERY=${EVERY:-1}
FLOW_RUNS=${FLOW_RUNS:-2000}
FUZZ_RUNS=${FUZZ_RUNS:-3000}

# suite PROGRAM: print the folder that builds it
suite()
{
	case $1 in
	flow_*) echo fuzz/flow ;;
	fuzz_netlink) echo fuzz/netlink ;;
	fuzz_library) echo fuzz/library ;;
	*) echo unit ;;
	esac
}

# half PROGRAM: print which of the two parallel builds makes it
half()
{
	case $1 in
	flow_*) echo flow ;;
	*) echo other ;;
	esac
}

# build COPY PROGRAM: build without optimisation, as a mutant runs only briefly
build()
{
	local at

	at=$(suite "$2")
	make -s -C "$1/selftests/$at" OPTIMISE=-O0 "$1/build/$at/$2" \
		> "$1/log" 2>&1
}

# fuzz COPY PROGRAM: run a libFuzzer target
fuzz()
{
	local at name=${2#fuzz_}

	at=$(suite "$2")
	rm -rf "$1/corpus" && mkdir "$1/corpus"
	timeout 600 "$1/build/$at/$2" -seed="$SEED" -runs="$FUZZ_RUNS" \
		-mutate_depth=2 -error_exitcode=1 -artifact_prefix="$1/" \
		"$1/corpus" "$1/selftests/$at/seeds/$name"
}

# run COPY PROGRAM: exit status 1 if it detects a fault
run()
{
	case $2 in
	flow_random)
		timeout 600 "$1/build/fuzz/flow/$2" "$SEED" "$FLOW_RUNS" ;;
	fuzz_*)
		fuzz "$1" "$2" ;;
	*)
		timeout 600 "$1/build/$(suite "$2")/$2" ;;
	esac > "$1/log" 2>&1
}

# Print the program's last message, or the sanitizer's.
said()
{
	grep -a -m 1 -e '^# [a-z_]*[.:]' -e '^SUMMARY' -e '^not ok' \
		-e '^[a-z_]*: ' "$1/log" | sed 's/^# //' | cut -c 1-100
}

# replace TEXT OTHER FUNCTION < FILE: replace TEXT, which must stand exactly
# once in the file, or in FUNCTION if it is not empty
replace()
{
	TEXT=$1 OTHER=$2 FUNCTION=$3 awk '
	BEGIN { text = ENVIRON["TEXT"]; name = ENVIRON["FUNCTION"] }
	/^[a-z].*\(/ && !/;$/ { inside = index($0, name "(") }
	name == "" || inside {
		rest = $0
		while (at = index(rest, text)) {
			found++
			rest = substr(rest, at + length(text))
		}
		if (at = index($0, text))
			$0 = substr($0, 1, at - 1) ENVIRON["OTHER"] \
			     substr($0, at + length(text))
	}
	{ print }
	END { exit found != 1 }'
}

# verdict COPY PROGRAM FILE TEXT OTHER: print found, missed, or another outcome
verdict()
{
	local copy=$1 program=$2 file=$3 status=0 path
	local name=${file%%:*} function=

	[ "$name" = "$file" ] || function=${file#*:}
	path=$copy/$name
	cp "$path" "$copy/whole"
	if ! replace "$4" "$5" "$function" < "$copy/whole" > "$path"; then
		echo "the text does not stand there once"
	elif ! build "$copy" "$program"; then
		echo "it does not build"
	else
		run "$copy" "$program" || status=$?
		case $status in
		0) echo "missed" ;;
		1) echo "found" ;;
		*) echo "status $status" ;;
		esac
	fi
	cp "$copy/whole" "$path"
}

# result WANTED GOT COPY WHAT: one TAP line
result()
{
	if [ "$1" = "$2" ]; then
		echo "ok $4 ($(said "$3"))"
	else
		echo "not ok $4: $2"
		tail -n 5 "$3/log" | sed 's/^/# /'
	fi
}

# control COPY PROGRAM: the program passes on the unchanged source
control()
{
	local got="it does not build"

	if build "$1" "$2"; then
		got=passed
		run "$1" "$2" || got="status $?"
	fi
	result passed "$got" "$1" "$2: nothing is broken"
}

# copy_tree COPY: copy the tree with its objects and their times, so that only
# changed files are compiled
copy_tree()
{
	local at

	mkdir -p "$1/build/fuzz"
	ln -s "$top/build/kselftest" "$1/build/kselftest"
	cp -a "$top/kmod" "$top/tools" "$top/uapi" "$top/selftests" "$1"
	for at in unit fuzz/flow fuzz/netlink fuzz/library; do
		[ ! -d "$top/build/$at" ] ||
			cp -a "$top/build/$at" "$1/build/$at"
	done
	find "$1/build" -name '*.d' -type f -exec sed -i "s,$top/,$1/,g" {} +
}

# work HALF: run its controls, then its mutants
work()
{
	local copy=$OUT/$1 file program what text other

	copy_tree "$copy"
	while IFS='@' read -r file program what text other; do
		[ "$(half "$program")" = "$1" ] || continue
		if [ -z "${tried[$program]-}" ]; then
			tried[$program]=1
			control "$copy" "$program"
		fi
		result found "$(verdict "$copy" "$program" "$file" "$text" \
			"$other")" "$copy" "$program: $file: $what"
	done < "$OUT/rows"
}

rm -rf "$OUT"
mkdir -p "$OUT"
grep -v -e '^#' -e '^$' "$here/mutants.txt" | grep -e "${1:-.}" |
	awk -v n="$EVERY" -v i="$FIRST" 'NR % n == i % n' > "$OUT/rows"
[ -s "$OUT/rows" ] || { echo "Bail out! no row matches"; exit 1; }
unset MAKEFLAGS	# of a make -j that calls this script
declare -A tried=()
work flow > "$OUT/flow.tap" &
work other > "$OUT/other.tap" &
wait
echo "# seed $SEED"
# The plan comes first, so that a half that ends early is detected.
echo "1..$(($(wc -l < "$OUT/rows") + $(cut -d @ -f 2 "$OUT/rows" | sort -u | wc -l)))"
awk '/^(not )?ok / { n++; sub(/ok /, "ok " n " ") } { print }' \
	"$OUT/flow.tap" "$OUT/other.tap"
! grep -q '^not ok' "$OUT/flow.tap" "$OUT/other.tap"
