#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# collect.sh does not count a test that did not run as passed.
set -u

collect=$(cd "$(dirname "$0")/../vm" && pwd)/collect.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# counts NAME "PASSED FAILED SKIPPED" STATUS SCRIPT: collect.sh counts this of a
# program that is SCRIPT; $limit is its time limit in seconds (60)
counts()
{
	local name=$1 expected=$2 want=$3 status=0 got

	printf '#!/bin/bash\n%s\n' "$4" > "$tmp/program"
	chmod +x "$tmp/program"
	: > "$tmp/results"
	"$collect" -q -t "${limit:-60}" -o "$tmp/results" "$tmp/program" > "$tmp/log" ||
		status=1
	got=$(awk '{ print $2, $3, $4 }' "$tmp/results")
	n=$((n + 1))
	if [ "$got" = "$expected" ] && [ $status = "$want" ]; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name: '$got', status $status"
		failed=$((failed + 1))
	fi
}

echo 1..26
counts "all pass" "2 0 0" 0 'echo 1..2; echo ok 1; echo ok 2'
counts "one fails" "1 1 0" 1 'echo 1..2; echo ok 1; echo not ok 2; exit 1'
counts "one fails, status 0" "1 1 0" 1 'echo 1..2; echo ok 1; echo not ok 2'
counts "one is skipped" "1 0 1" 0 'echo 1..2; echo ok 1; echo "ok 2 # SKIP x"'
counts "all are skipped" "0 0 1" 0 'echo "1..0 # SKIP why"'
counts "skipped, status 4" "0 0 1" 0 'echo 1..1; echo "ok 1 # SKIP x"; exit 4'
counts "no test ran" "0 1 0" 1 'exit 0'
counts "fewer than planned" "1 1 0" 1 'echo 1..2; echo ok 1'
counts "more than planned" "2 1 0" 1 'echo 1..1; echo ok 1; echo ok 2'
counts "all pass, status 1" "1 1 0" 1 'echo 1..1; echo ok 1; exit 1'
counts "killed" "1 1 0" 1 'echo 1..2; echo ok 1; kill -KILL $$'
limit=2 counts "hangs" "1 1 0" 1 'echo 1..1; echo ok 1; read -r < <(tail -f /dev/null)'
counts "is no program" "0 1 0" 1 'nothing-of-this-name'
counts "no plan" "2 1 0" 1 'echo ok 1; echo ok 2'
counts "two plans" "1 1 0" 1 'echo 1..1; echo ok 1; echo 1..1'
counts "the plan at the end" "2 0 0" 0 'echo ok 1; echo ok 2; echo 1..2'
counts "a failure after text" "1 1 0" 1 'echo 1..2; echo ok 1; echo "x not ok 2"'
counts "a failure after text, planned away" "1 1 0" 1 \
	'echo 1..1; echo ok 1; echo "text without an end not ok 2 - x"'
counts "a failure after a comment" "1 1 0" 1 \
	'echo 1..2; echo ok 1; echo "# text not ok 2"'
counts "it bails out" "1 1 0" 1 'echo 1..1; echo ok 1; echo Bail out! no network'
counts "it bails out at once" "0 1 0" 1 'echo Bail out!'
counts "a number twice" "2 1 0" 1 'echo 1..2; echo ok 1; echo ok 1'
counts "a number too large" "2 1 0" 1 'echo 1..2; echo ok 1; echo ok 3'
counts "no numbers" "2 1 0" 1 'echo 1..2; echo ok - a; echo ok - b'
counts "a failure has a skipped number" "1 1 1" 1 \
	'echo 1..3; echo ok 1; echo "ok 2 # SKIP"; echo not ok 3'
counts "all skipped, and tests" "1 1 1" 1 'echo "1..0 # SKIP x"; echo ok 1'
[ $failed = 0 ]
