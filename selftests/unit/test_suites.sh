#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The list of suites has each test that exists and no other, and each test
# begins with a comment; a run that lacks a suite or some of its tests fails.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
suites=$top/selftests/vm/suites.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# result STATUS NAME: one row
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$tmp/log"
		failed=$((failed + 1))
	fi
}

# sources: print every file that is a test, by the name of its suite. A file
# with an unknown suffix counts as one; a program of uapi/ may have any name.
sources()
{
	local file

	cd "$top/selftests" || exit
	printf '%s\n' lint/{checkpatch,includes,module,tools,shell} vm/{untouched,gate}.sh \
		cluster/{servers,racks}.sh live/jobs.sh packages/install.sh
	for file in unit/test_* \
		$(grep -lE '^(TEST_HARNESS_MAIN|int main)' uapi/*.c) net/* \
		model/*.sh fuzz/mutants.sh fuzz/fuzz_* fuzz/*/fuzz_* \
		fuzz/flow/flow_*; do
		case $file in
		net/*.[ch] | net/*.inc | net/*.py | net/Makefile) ;;
		net/lib.sh) ;;
		*.c) echo "${file%.c}" ;;
		*) echo "$file" ;;
		esac
	done
}

# listed: print every suite once
listed()
{
	awk '/^[^#]/ && !seen[$1]++ { print $1 }' "$top/selftests/vm/suites"
}

not_executable()
{
	local file

	for file in $(listed); do
		case $file in
		*.sh) [ -x "$top/selftests/$file" ] || echo "$file" ;;
		esac
	done
}

# same [SUITE]: do the list without SUITE and the sources agree?
same()
{
	diff <(sources | sort) <(listed | grep -vx "${1:-}" | sort) > "$tmp/log"
}

# missed SUITE...: is each of them reported if the list does not have it?
missed()
{
	local suite

	for suite in "$@"; do
		! same "$suite" && grep -qx "< $suite" "$tmp/log" || return
	done
}

# never_passed: print suites that may be skipped wherever they run
never_passed()
{
	awk '/^[^#]/ && $3 == 0 && ($5 == "-" || $5 ~ /^(all:)?0:/)' \
		"$top/selftests/vm/suites"
}

# selects TESTS STATUS LINES: does "select" print so many lines of this test's
# list?
selects()
{
	local status=0

	TESTS=$1 "$suites" select host > "$tmp/log" 2>&1 || status=$?
	[ $status = "$2" ] && [ "$(grep -c '^u/' "$tmp/log")" = "$3" ]
}

# audits STATUS TEXT ROW...: is this the verdict on these rows, of a run on all
# kernels or on WHERE?
audits()
{
	local status=0 text=$2 want=$1

	shift 2
	printf '%s\n' "$@" > "$tmp/results"
	# shellcheck disable=SC2086 # words
	TESTS='*' "$suites" audit "$tmp/results" ${WHERE:-6.1 6.12 host debug} \
		> "$tmp/log" 2>&1 || status=$?
	[ $status = "$want" ] && grep -q -e "$text" <(cat "$tmp/log"; echo)
}

echo 1..29
same
result $? "each test has a line in the list, each line a test"
missed lint/shell vm/gate.sh uapi/test_wait net/exact.sh
result $? "a suite that the list does not have is reported"
never_passed > "$tmp/log"
test ! -s "$tmp/log"
result $? "each suite has tests that must pass somewhere"
not_executable > "$tmp/log"
test ! -s "$tmp/log"
result $? "scripts can be executed"
"$suites" list > "$tmp/log" 2>&1
result $? "each test begins with a comment"

export SUITES=$tmp/suites KERNELS="6.1 6.12" SEED=0
cat > "$SUITES" <<'END'
# a comment
u/one           host   2   0  -
u/two.sh        host   1   1  -    RUNS=5

k/each          each   3   1  4:0
k/split.sh      split  5   0  -
k/kernel        6.1    1   2  all:1:2
k/kernel        6.12   3   0  -
END
good=("host/u/one 2 0 0 1 1" "host/u/two.sh 3 0 1 1 1" "6.1/k/each 3 0 1 1 1"
	"6.12/k/each 4 0 0 1 1" "debug/k/each 4 0 0 9 9"
	"6.1/k/split.sh 3 0 0 1 1" "6.12/k/split.sh 2 0 0 1 1" "6.1/vm 1 0 0 1 1"
	"6.12/vm 1 0 0 1 1" "debug/vm 1 0 0 1 1" "6.1/k/kernel 1 0 2 1 1"
	"6.12/k/kernel 3 0 0 1 1")
mkdir -p "$tmp/selftests/vm" "$tmp/selftests/u"
cp "$top"/selftests/vm/{suites.sh,lib.sh,comment.awk} "$tmp/selftests/vm"
printf '%s\n' '#!/bin/sh' '# SPDX-License-Identifier: GPL-2.0' '#' '# Two is' \
	'# shown.' '#' '# How:' > "$tmp/selftests/u/two.sh"
printf '%s\n' '// SPDX-License-Identifier: GPL-2.0' '#include <stdio.h>' \
	'/* Not first. */' > "$tmp/selftests/u/one.c"
! TESTS='u/*' "$tmp/selftests/vm/suites.sh" list > "$tmp/log" 2>&1 &&
	[ "$(< "$tmp/log")" = "u/one: its file does not begin with a comment
u/two.sh
    Two is shown." ]
result $? "a test without a comment is found"
selects '*' 0 2
result $? "TESTS: all"
selects 'tw*' 0 1
result $? "TESTS: a glob"
selects 'one two' 0 2
result $? "TESTS: words, without .sh"
selects 'each' 0 0
result $? "TESTS: a suite that runs elsewhere"
selects 'onne' 2 0
result $? "TESTS: an unknown name"
selects 'one x*' 2 0
result $? "TESTS: a glob that matches nothing, among others"
audits 0 '' "${good[@]}"
result $? "a whole run"
audits 1 '6.12/vm: no verdict on the guest' "${good[@]/6.12\/vm */6.12/other 1 0 0 1 1}"
result $? "a guest without a verdict"
audits 1 'host/u/one: did not run' "${good[@]:1}"
result $? "a suite has no row on the host"
audits 1 '6.12/k/each: did not run' "${good[@]:0:3}" "${good[@]:4}"
result $? "a suite has no row on one kernel"
audits 1 'debug/k/each: did not run' "${good[@]:0:4}" "${good[@]:5}"
result $? "a suite has no row on the debug kernel"
audits 1 'two.sh: 0 passed, of 1 at least' "${good[0]}" \
	"host/u/two.sh 0 0 1 1 1" "${good[@]:2}"
result $? "too few pass"
audits 1 'two.sh: 2 skipped, of 1 at most' "${good[0]}" \
	"host/u/two.sh 3 0 2 1 1" "${good[@]:2}"
result $? "too many are skipped"
audits 1 'split.sh: 4 passed, of 5 at least' "${good[@]:0:6}" \
	"6.12/k/split.sh 1 0 0 1 1"
result $? "too few of a suite that is split"
results=("debug/k/each 4 0 0 9 9" "debug/k/split.sh 2 0 0 9 9" "debug/vm 1 0 0 1 1"
	"debug/k/kernel 1 0 2 1 1")
WHERE=debug-all audits 0 '' "${results[@]}"
result $? "the debug kernel has a quarter of a suite that is split"
WHERE=debug-all audits 1 'split.sh: 0 passed, of 1 at least' \
	"${results[@]/split.sh 2/split.sh 0}"
result $? "the debug kernel has less than a quarter of it"
audits 1 '6.12/k/kernel: 2 skipped, of 0 at most' "${good[@]/6.12\/k\/kernel */6.12/k/kernel 3 0 2 1 1}"
result $? "a suite that one kernel may skip and another may not"
[ "$(for where in 6.1 6.12 debug debug-all; do
	TESTS=kernel "$suites" select $where | wc -l
done | tr '\n' ' ')" = "1 1 0 1 " ]
result $? "a line for one kernel, and with counts for the debug kernel"
printf 'k/turn%s turn 1 0 -\n' 1 2 3 >> "$SUITES"
[ "$(for seed in 0 1; do for where in 6.1 6.12 debug debug-all; do
	SEED=$seed TESTS='turn*' "$suites" select $where | tr '\n' ' '
	echo -n '| '
done; done)" = "k/turn2 | k/turn1 k/turn3 | | k/turn1 k/turn2 k/turn3 | \
k/turn1 k/turn3 | k/turn2 | | k/turn1 k/turn2 k/turn3 | " ] &&
	[ "$(KERNELS=6.1 TESTS='turn*' "$suites" select 6.1 | wc -l)" = 3 ]
result $? "kernels take suites in turn; the seed chooses the first"
printf '%s\n' "6.1/k/turn2 1 0 0 1 1" "6.12/k/turn3 1 0 0 1 1" "6.1/vm 1 0 0 1 1" \
	"6.12/vm 1 0 0 1 1" > "$tmp/results"
! TESTS='turn*' "$suites" audit "$tmp/results" 6.1 6.12 > "$tmp/log" &&
	[ "$(< "$tmp/log")" = "6.12/k/turn1: did not run" ]
result $? "a suite has no row on the kernel in turn"
sed -i '/^k.turn/d' "$SUITES"
echo 'k/long          each   0   6  all:6:0' >> "$SUITES"
[ -z "$(TESTS=long "$suites" select debug)" ] &&
	[ "$(TESTS=long "$suites" select debug-all)" = k/long ] &&
	echo "debug/k/long 0 0 6 1 1" > "$tmp/results" &&
	! TESTS=long "$suites" audit "$tmp/results" debug-all > "$tmp/log" &&
	grep -q 'debug/k/long: 0 passed, of 6 at least' "$tmp/log"
result $? "too few of a suite that only check-debug runs there"
sed -i '$d' "$SUITES"
printf '%s\n' "${good[@]}" > "$tmp/results"
"$suites" update "$tmp/results" > "$tmp/log" 2>&1 &&
	[ "$(awk '/^[uk]/ { printf "%s:%s:%s:%s ", $3, $4, $5, $6 }' "$SUITES")" = \
	"2:0:-: 3:1:-:RUNS=5 3:1:4:0: 5:0:-: 1:2:all:1:2: 3:0:-: " ] && grep -q '^# a comment' "$SUITES"
result $? "the counts of a run become those of the list"
echo "host/u/one 2 1 0 1 1" >> "$tmp/results"
! "$suites" update "$tmp/results" > "$tmp/log" 2>&1
result $? "the counts of a run with failures do not"
[ $failed = 0 ]
