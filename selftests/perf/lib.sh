# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by what runs in the guest: a directory and jobs that end with the script.
TMP=$(mktemp -d)
trap finish EXIT
PATH=$PWD/build/selftests/perf:$PATH

# Also end a program that still waits for packets.
finish()
{
	local pid

	for pid in $(jobs -p); do
		kill "$pid"
	done
	rm -rf "$TMP"
}
