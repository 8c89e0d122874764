# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: rows of a test in shell, which runs in a directory of its own.
#   check WHAT COMMAND...   a row, which passes if the command does
#   end_rows                print how many there were, and exit: 1 if one has failed
n=0 failed=0

check()
{
	n=$((n + 1))
	if "${@:2}" > log 2>&1; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' log
		failed=1
	fi
}

end_rows()
{
	echo "1..$n"
	exit $failed
}
