#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A transfer is exact or every application gets an error: a lost or doubled
# merge, a killed reader or writer. BCube(4,1).
#
# For every function, value type and layout a merge is skipped, done twice, or a
# bit of it inverted, at the source or at the receiver. The last record of a packet
# is struck, which is the last part where a state leaves in several. Skips and
# doubles have to end in an error at both applications, and so has an inverted bit
# if the function is linear. Of other functions it is not seen: the row says so, and
# that the result differs. FULL=1: each at both nodes.
# Then faults at an aggregator, overflow, and applications that are killed, with
# senders of the papers' example to v0.
. "$(dirname "$0")/lib.sh"

FULL=${FULL:-0}
SENDERS="v2 v5 v9 v10 v11 v14"
# How many jobs run at a time; each has its own source and receiver.
PAIRS=8
TAB=$(printf '\t')

inputs()
{
	local s

	for s in $SENDERS; do
		gen "$SEED" 2000 500 mix small > "$TMP/in.$s"
	done
}

# --- every shape -------------------------------------------------------------

types_of()
{
	case $1 in
	sum | min | max | count | average)
		echo "int64 int32 fixed float32 float64"
		;;
	topk | nearest) echo "int64 int32 fixed float64" ;;
	*) echo "int64 int32" ;;
	esac
}

functions_of()
{
	if [ "$1" = dense ]; then
		echo "sum min max"
	else
		echo "sum min max count average product band bor bxor land lor" \
			"lxor topk nearest"
	fi
}

# shapes: print lines LAYOUT FUNCTION TYPE
shapes()
{
	local layout function type

	for layout in keyed dense sorted; do
		for function in $(functions_of $layout); do
			for type in $(types_of "$function"); do
				echo "$layout $function $type"
			done
		done
	done
}

# records LAYOUT FUNCTION TYPE FAULT: print the source's input. Pairs and float
# sums need so many values, or values so far apart, that they take several
# records; but an inverted bit must change the sum.
records()
{
	case $1,$2,$3,$4 in
	dense,*) seq 0 25 | sed "s/\$/${TAB}1/" ;;
	*,topk,* | *,nearest,*)
		seq 1 40 | sed "s/\(.*\)/k$TAB\1$TAB\1/"
		;;
	*,sum,float64,d* | *,average,float64,d*)
		printf 'k\t%s\n' 1e-300 1e300
		;;
	*) printf '%s\t%s\n' a 3 b 5 k 7 ;;
	esac
}

# shape_options LAYOUT FUNCTION TYPE: print the options of plan for this shape
shape_options()
{
	echo "--function $2 --type $3"
	[ "$3" != fixed ] || echo "--scale 20"
	[ "$1" != dense ] || echo "--elements 26"
	[ "$1" != sorted ] || echo "--sorted"
	case $2 in topk | nearest) echo "--k 64" ;; esac
}

# cell SLOT NAME LAYOUT FUNCTION TYPE NODE FAULT: add one job to the batch
cell()
{
	local source=v$((2 * $1 + 1)) receiver=v$((2 * $1)) name=$2 at

	at=$source
	[ "$6" = source ] || at=$receiver
	job=$((job + 1))
	records "$3" "$4" "$5" "$7" > "$TMP/$name.in"
	# shellcheck disable=SC2046 # words
	echo "$TMP/$name.json $TMP/$name.plan.err -j plan --job $job" \
		"--topology bcube:4,1 --method irs --receivers $receiver" \
		"--senders $source --uid 0 $PATIENCE" \
		$(shape_options "$3" "$4" "$5") >> "$TMP/plans"
	echo "$TMP/$name.apply $TMP/$name.apply.err apply $TMP/$name.json" \
		>> "$TMP/applies"
	echo "$at $7" >> "$TMP/faults"
	member "$name" "$receiver" recv "$receiver" >> "$TMP/members"
	member "$name.$source" "$source" send "$receiver" "$TMP/$name.in" \
		>> "$TMP/members"
	echo "$TMP/$name.gone $TMP/$name.gone.err withdraw $TMP/$name.json" \
		>> "$TMP/ends"
}

# Run the jobs of a batch. $TMP/batch lists the members that exit with an error.
run_batch()
{
	local step at fault

	[ -s "$TMP/plans" ] || return 0
	for step in plans applies; do
		aggctl_batch < "$TMP/$step" || return
	done
	while read -r at fault; do
		plant_fault "$at" "$fault" || return
	done < "$TMP/faults"
	aggctl_batch < "$TMP/members" 2>> "$TMP/batch"
	aggctl_batch < "$TMP/ends" || return
	for step in plans applies faults members ends; do
		: > "$TMP/$step"
	done
}

# cells: print lines NAME LAYOUT FUNCTION TYPE NODE FAULT
cells()
{
	local layout function type node nodes fault i=0

	shapes | while read -r layout function type; do
		i=$((i + 1))
		nodes=source
		[ $((i % 2)) = 0 ] || nodes=receiver
		[ "$FULL" = 0 ] || nodes="source receiver"
		for node in $nodes; do
			for fault in none drop double flip; do
				echo "$layout.$function.$type.$node.$fault" \
					"$layout $function $type $node $fault"
			done
		done
	done
}

run_cells()
{
	local slot=0 line

	: > "$TMP/batch"
	while read -r line; do
		# shellcheck disable=SC2086 # words
		cell $slot $line
		slot=$(((slot + 1) % PAIRS))
		[ $slot != 0 ] || run_batch || return
	done < "$TMP/cells"
	run_batch
}

# seen NAME: both members end with an error about their record counts
seen()
{
	[ "$(grep -c -F "$TMP/$1." "$TMP/batch")" = 2 ] &&
		[ "$(cat "$TMP/$1".*recv.err "$TMP/$1".*send.err |
			grep -c "the merged records do not add up at")" = 2 ]
}

# differs NAME: both members end with an error, the receiver's about the fingerprint
differs()
{
	[ "$(grep -c -F "$TMP/$1." "$TMP/batch")" = 2 ] &&
		grep -q "does not have the fingerprint of" "$TMP/$1".*recv.err &&
		grep -q "the merged records do not add up at" "$TMP/$1".*send.err
}

# linear SHAPE: does its function have a fingerprint?
linear()
{
	case $1 in
	*.sum.* | *.count.* | *.average.* | *.bxor.* | *.lxor.*) ;;
	*) return 1 ;;
	esac
}

# ended NAME: both members end without an error, and there is a result
ended()
{
	! grep -F "$TMP/$1." "$TMP/batch" && [ -s "$TMP/$1.out" ]
}

# books NAME: are the outcomes of a shape at a node as expected for every fault?
books()
{
	local status=0

	seen "$1.drop" || { echo "a skip is not detected"; status=1; }
	seen "$1.double" || { echo "a double is not detected"; status=1; }
	ended "$1.none" || { echo "an error without a fault"; status=1; }
	if linear "$1"; then
		differs "$1.flip" || { echo "a flip is not detected"; status=1; }
	else
		# Nothing compares the values of these from end to end.
		ended "$1.flip" || { echo "a flip ends in an error"; status=1; }
		! cmp "$TMP/$1.none.out" "$TMP/$1.flip.out" > "$TMP/cmp" ||
			{ echo "a flip changes nothing"; status=1; }
	fi
	[ $status = 0 ] || tail -n +1 "$TMP/$1".*err
	return $status
}

every_shape()
{
	local name layout function type node fault

	# Each part takes two shapes in turn, one at each kind of node.
	cells | awk -v part="$PART" -v parts="$PARTS" \
		'int((NR - 1) / 8) % parts == part' > "$TMP/cells"
	run_cells > "$TMP/run" 2>&1 || cat "$TMP/run"
	while read -r name layout function type node fault; do
		[ "$fault" = none ] || continue
		check "$function of $type, $layout, at the $node: skip and double detected, flip not" \
			books "${name%.none}"
	done < "$TMP/cells"
}

# --- by trees ----------------------------------------------------------------

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

# fault NODE FAULT OPTION...: a server on the path or the receiver skips one
# merge or does it twice
fault()
{
	local node=$1 fault=$2 status=0

	rm -f "$TMP/fault".*
	planned fault "${@:3}" || return
	plant_fault "$node" "$fault" || return
	start_all fault
	all_fail "the merged records do not add up at" || status=1
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

# Kill the receiver after it has read every record but not the end mark: its
# output is a full pipe, and it reads the end mark only when the output is
# written.
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
	wait_for all_read || status=1
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

# The tree at v0 has received everything and holds no key any more.
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

# v9 has more records than its other child sends, so it has some of its own.
took_some()
{
	aggctl -n v9 -j tree show > "$TMP/tree.json" &&
		jq -e '.[] | select(.records_in > 3000)' "$TMP/tree.json" \
			> "$TMP/tree.some"
}

# Kill a sender whose input has not ended: the result must not seem complete.
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
	# v9 is a member, it has taken some of the input, and the input does not
	# end.
	wait_for took_some || status=1
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
every_shape
for node in v2 v0; do
	for fault in drop double; do
		for function in sum average bxor; do
			mine && check "$fault of one merge at $node, $function: error everywhere" \
				fault $node $fault --function $function
		done
	done
done
mine && check "a sum beyond int64: error everywhere, the key is named" overflow
mine && check "receiver killed: every sender gets an error" receiver_killed
mine && check "source killed before its end: error everywhere" sender_killed
check "the same tree is exact without a fault" fine
done_testing
