#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A transfer is exact or every application gets an error.
# BCube(4,1); senders of the papers' example to v0.
. "$(dirname "$0")/lib.sh"

SENDERS="v2 v5 v9 v10 v11 v14"

inputs()
{
	local s

	for s in $SENDERS; do
		gen "$SEED" 2000 500 mix small > "$TMP/in.$s"
	done
}

planned()
{
	plan "$@" --topology bcube:4,1 --method irs --receivers v0 --uid 0 \
		--senders "${SENDERS// /,}"
}

start_all()
{
	local s

	senders=()
	start_recv "$1" v0
	for s in $SENDERS; do
		start_send "$1" "$s" v0 "$TMP/in.$s"
		senders+=("$send_pid")
	done
}

# all_fail TEXT: every member ends with status 1, and its message has TEXT
all_fail()
{
	local pid status failed=0

	for pid in "$recv_pid" "${senders[@]}"; do
		status=0
		wait "$pid" || status=$?
		[ $status = 1 ] || { echo "pid $pid: status $status"; failed=1; }
	done
	for file in "$TMP/fault".*err; do
		grep -q "$1" "$file" || {
			echo "${file##*/}: $(< "$file")"
			failed=1
		}
	done
	return $failed
}

# One merge is lost, or done twice, at a server on the way or at the receiver.
fault()
{
	local node=$1 fault=$2 status=0

	rm -f "$TMP/fault".*
	planned fault || return
	aggctl -n "$node" node set fault "$fault" || return
	start_all fault
	all_fail "record counts do not add up at" || status=1
	withdraw fault
	return $status
}

overflow()
{
	local s status=0

	rm -f "$TMP/fault".*
	planned fault || return
	for s in $SENDERS; do
		printf 'fits\t1\ntoo much\t9223372036854775807\n' \
			> "$TMP/in.$s"
	done
	start_all fault
	all_fail "does not fit" || status=1
	grep -q "too much" "$TMP/fault.recv.err" || status=1
	withdraw fault
	inputs
	return $status
}

# The receiver dies when it has read every record but not the end mark: its
# output goes to a pipe that is full, and it takes the mark only after that.
receiver_killed()
{
	local status=0 pid s

	rm -f "$TMP/fault".*
	planned fault || return
	for s in $SENDERS; do
		gen "$SEED" 12000 12000 mix small > "$TMP/in.$s"
	done
	mkfifo "$TMP/fault.out"
	exec 9<> "$TMP/fault.out"
	start_all fault
	wait_for all_read
	kill -KILL "$recv_pid"
	exec 9>&-
	for pid in "${senders[@]}"; do
		wait "$pid" && status=1
	done
	grep -L "the receiver closed" "$TMP"/fault.v*.err | grep . && status=1
	rm "$TMP/fault.out"
	withdraw fault
	inputs
	return $status
}

# The tree at v0 has been whole, and holds no key any more.
all_read()
{
	aggctl -n v0 -j tree show > "$TMP/tree.json" &&
		jq -e '.[] | select(.state == "closing" and .keys == 0)' \
			"$TMP/tree.json" > "$TMP/tree.closing"
}

fine()
{
	# shellcheck disable=SC2086
	planned fine && transfer fine sum v0 $SENDERS
}

# More than v9's other child can have brought: its own records are there.
took_some()
{
	aggctl -n v9 -j tree show > "$TMP/tree.json" &&
		jq -e '.[] | select(.records_in > 3000)' "$TMP/tree.json" \
			> "$TMP/tree.some"
}

# A mapper that crashes is not a short input.
sender_killed()
{
	local status=0 pid

	rm -f "$TMP/fault".*
	planned fault || return
	mkfifo "$TMP/never"
	mv "$TMP/in.v9" "$TMP/in.v9.saved"
	mv "$TMP/never" "$TMP/in.v9"
	start_all fault
	exec 9> "$TMP/in.v9"
	gen "$SEED" 20000 500 mix small >&9
	# It is a member, some of its records count, and its input does not end.
	wait_for took_some
	kill -KILL "${senders[2]}"
	exec 9>&-
	for pid in "$recv_pid" "${senders[@]}"; do
		wait "$pid" && status=1
	done
	mv "$TMP/in.v9.saved" "$TMP/in.v9"
	grep -q "a source closed before it was finished at 10.0.0.10" \
		"$TMP/fault.recv.err" || status=1
	withdraw fault
	return $status
}

inputs
testbed bcube:4,1
for node in v2 v0; do
	for fault in drop double; do
		check "$fault of one merge at $node: error everywhere" \
			fault $node $fault
	done
done
check "a sum beyond int64: error everywhere, the key is named" overflow
check "receiver killed: every sender gets an error" receiver_killed
check "source killed before its end: error everywhere" sender_killed
check "and the same tree works when nothing is broken" fine
done_testing
