#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The run of all suites, in a tree with made-up suites where guests are processes
# of the host: its table, its last line and its status, when all is well and
# when a guest ends early, does not boot, or is not there.
# shellcheck disable=SC2016
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset TESTS HOST KERNELS KERNEL DEBUG JOBS SUITES PART PARTS MAKEFLAGS MAKELEVEL
unset "${!AGGNET_@}" "${!VM_@}"
n=0 failed=0

# script FILE TEXT: write an executable script
script()
{
	mkdir -p "${1%/*}"
	printf '#!/bin/bash\n%s\n' "$2" > "$1"
	chmod +x "$1"
}

# guest TEXT: replace run.sh of the made-up tree
guest()
{
	script "$tmp/tree/selftests/vm/run.sh" \
		"cd $tmp/tree || exit; export VM_INSIDE=1; $1"
}

# The guest is a shell with a guest's environment; "no.debug" makes the build of
# the debug kernel fail.
tree()
{
	local dir

	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/build/uapi" "$tmp/tree/.ci"
	cp -r "$top/selftests/vm" "$tmp/vm"
	mkdir -p "$tmp/tree/selftests"
	mv "$tmp/vm" "$tmp/tree/selftests/vm"
	cp "$top/.ci/run" "$tmp/tree/.ci"
	guest 'bash -c "$1"'
	script "$tmp/tree/selftests/vm/module.sh" '[ ! -e "${0%/*}/no.$2" ]'
	for dir in unit uapi net live; do
		mkdir -p "$tmp/tree/selftests/$dir"
		printf 'all:\n' > "$tmp/tree/selftests/$dir/Makefile"
	done
	cat > "$tmp/tree/Makefile" <<-'END'
	OUT ?=
	check:
		@echo "<$(TESTS)$(KERNELS)$(HOST)$(OUT)$$SEED$$VM_MODULE$$FUZZ_RUNS>" \
			"$(DEBUG) $$http_proxy $$AGGNET_CACHE"
	END
	sed -i 's/^@/\t@/' "$tmp/tree/Makefile"
	script "$tmp/tree/selftests/unit/test_a.sh" 'echo 1..1; echo ok 1'
	script "$tmp/tree/build/uapi/test_b" \
		'echo 1..2; echo ok 1; [ "$KERNEL" = debug ] || s="# SKIP x"
		echo "ok 2 $s"'
	script "$tmp/tree/selftests/net/matrix.sh" '. "${0%/*}/../vm/lib.sh"
		PART=${PART:-0} PARTS=${PARTS:-1} t=0
		for i in {0..6}; do
			[ $((i % PARTS)) = $PART ] || continue
			t=$((t + 1)); echo "ok $t $ROWS"
		done; echo "1..$t"'
	script "$tmp/tree/selftests/net/turn_a.sh" 'echo 1..1; echo ok 1'
	cp "$tmp/tree/selftests/net/turn_a.sh" "$tmp/tree/selftests/net/turn_b.sh"
	cat > "$tmp/tree/selftests/vm/suites" <<-'END'
	unit/test_a.sh  host  1 0 -
	uapi/test_b     each  1 1 2:0
	net/matrix.sh   split 7 0 -   ROWS=5
	net/turn_a.sh   turn  1 0 -
	net/turn_b.sh   turn  1 0 -
	END
}

# run: run check.sh of the made-up tree
run()
{
	"$tmp/tree/selftests/vm/check.sh" > "$tmp/log" 2>&1
}

# says NAME STATUS LAST_LINE [TEXT]: a row about the last run
says()
{
	local status=$4

	n=$((n + 1))
	if [ "$status" = "$2" ] && [ "$(tail -n 1 "$tmp/log")" = "$3" ] &&
	   grep -q -e "${5:-.}" "$tmp/log"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: status $status"
		sed 's/^/# /' "$tmp/log"
		failed=$((failed + 1))
	fi
}

echo 1..16
tree
run
says "a good run" 0 "24 passed, 0 failed, 2 skipped" $?
KERNELS=6.12 run
says "one kernel has all rows" 0 "21 passed, 0 failed, 1 skipped" $?
KERNELS=6.12 HOST=0 DEBUG=no TESTS='test_b' run
says "one test" 0 "6 passed, 0 failed, 1 skipped" $?
TESTS='test_b test_x' run
says "an unknown name" 2 "suites.sh: TESTS: no suite is called 'test_x'" $?
KERNELS='' DEBUG=no TESTS=test_b run
says "nothing to run" 1 "0 passed, 0 failed, 0 skipped" $?
touch "$tmp/tree/selftests/vm/no.debug"
run
says "no debug kernel" 1 "20 passed, 3 failed, 2 skipped" $? \
	"debug/uapi/test_b: did not run"
tree
guest '[ $KERNEL = 6.12 ] || bash -c "$1"'
run
says "a guest runs nothing, with status 0" 1 "19 passed, 3 failed, 1 skipped" \
	$? "6.12/net/matrix.sh: did not run"
tree
guest 'bash -c "$1"; [ $KERNEL != 6.1 ]'
run
says "a guest fails after its tests" 1 "23 passed, 1 failed, 2 skipped" $?
tree
guest 'bash -c "$1"; status=$?; touch "ended.$KERNEL"; exit $status'
script "$tmp/tree/selftests/cluster/test_c.sh" 'cd "${0%/*}/../.." || exit
	[ -e ended.6.1 ] && [ -e ended.6.12 ] && [ -e ended.debug ] || echo -n "not "
	echo ok 1; echo 1..1'
echo "cluster/test_c.sh host 1 0 -" >> "$tmp/tree/selftests/vm/suites"
run
says "machines run after all guests" 0 "25 passed, 0 failed, 2 skipped" $?
tree
chmod -x "$tmp/tree/selftests/net/matrix.sh"
HOST=0 DEBUG=no run
says "a test that cannot be executed" 1 "11 passed, 3 failed, 2 skipped" $? \
	"matrix.sh: 0 passed, of 7 at least"
tree
SEED=2 KERNELS='' HOST=0 DEBUG=all run
says "two guests share the suites of the debug kernel" 0 \
	"13 passed, 0 failed, 0 skipped" $? "debug/net/turn_b.sh"
SEED=3 KERNELS='' HOST=0 DEBUG=all run
says "the next seed runs other rows of a split suite" 0 \
	"12 passed, 0 failed, 0 skipped" $?
guest '[ $AGGNET_SHARE = 0/2 ] || bash -c "$1"'
KERNELS='' HOST=0 DEBUG=all run
says "one of the two runs nothing" 1 "10 passed, 2 failed, 0 skipped" $? \
	"debug/net/matrix.sh: did not run"
guest :
KERNELS=debug HOST=0 DEBUG=no run
says "the debug kernel as one of the kernels has all suites" 1 \
	"5 passed, 4 failed, 0 skipped" $? "debug/net/matrix.sh: did not run"
script "$tmp/bin/git" '[ "$*" = "rev-parse --short=7 HEAD" ] && echo 000101e'
TESTS=none KERNELS=none HOST=0 SEED=1 VM_MODULE=x FUZZ_RUNS=1 OUT=x DEBUG=no \
	MAKEFLAGS='-- TESTS=x' GNUMAKEFLAGS='KERNELS=x' http_proxy=proxy \
	AGGNET_CACHE=cache PATH=$tmp/bin:$PATH "$tmp/tree/.ci/run" \
	> "$tmp/log" 2>&1
says ".ci/run inherits only the cache and the proxy; the seed is the commit's" \
	0 "<4126> part proxy cache" $?
env -u VM_INSIDE "$tmp/tree/selftests/vm/check.sh" guest 6.12 > "$tmp/log" 2>&1
says "the guest's part is run outside a guest" 1 \
	"check.sh: guest: this is not a guest; 'make check' boots one" $?
[ $failed = 0 ]
