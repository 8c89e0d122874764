#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Whoever counts tests cannot be fooled: what did not run has not passed.
set -u

collect=$(cd "$(dirname "$0")/../vm" && pwd)/collect.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# counts NAME "PASSED FAILED SKIPPED" STATUS SCRIPT: of a program that is SCRIPT
counts()
{
	local name=$1 expected=$2 want=$3 status=0 got

	printf '#!/bin/bash\n%s\n' "$4" > "$tmp/program"
	chmod +x "$tmp/program"
	: > "$tmp/results"
	"$collect" -q -t 2 -o "$tmp/results" "$tmp/program" > "$tmp/log" ||
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

echo 1..13
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
counts "hangs" "1 1 0" 1 'echo 1..1; echo ok 1; read -r < <(tail -f /dev/null)'
counts "is no program" "0 1 0" 1 'nothing-of-this-name'
[ $failed = 0 ]
