#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What aggd runs instead of aggctl in test_aggd.sh. Files in $AGGD_FAKE decide what it
# does: "hold VERB" makes it wait, "fail VERB" has the sentence that it fails with, and
# "entries" has a file for each plan that is in force.
set -u

verb=''
plan=''
job=''
for arg in "$@"; do
	case $arg in
	plan | apply | withdraw) verb=$arg ;;
	--job=*) job=${arg#--job=} ;;
	/*) plan=${arg##*/} ;;
	esac
done
cd "$AGGD_FAKE" || exit
echo "$*" >> calls
while [ -e "hold $verb" ]; do
	: > "running/$$"
	sleep 0.02
done
rm -f "running/$$"
if [ -e "fail $verb" ]; then
	# A failure may leave some entries.
	[ "$verb" != apply ] || : > "entries/$plan"
	cat "fail $verb" >&2
	exit 1
fi
case $verb in
plan)
	nodes=''
	read -r names < nodes
	for node in $names; do
		nodes="$nodes${nodes:+, }\"$node\": {\"trees\": [{\"job\": $job}]}"
	done
	echo "{\"trees\": [{\"identity\": \"10.0.0.1\"}], \"nodes\": {$nodes}}" ;;
apply)
	: > "entries/$plan" ;;
withdraw)
	rm -f "entries/$plan" ;;
esac
