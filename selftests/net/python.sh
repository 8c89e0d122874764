#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Python programs as members: sums, averages, vectors (also over two trees), rounds and
# broadcasts are those that plain Python computes, also beside aggctl; a source that fails,
# or a receiver that is interrupted, gives the others the errno and the node; ranks of a group
# get what each collective must give; the examples count words, find the longest requests, and
# train a model whose losses do not depend on the number of ranks. BCube(2,1), three senders.
. "$(dirname "$0")/lib.sh"

SENDERS="v1 v2 v3"
ROUNDS=${ROUNDS:-5}
STEPS=${STEPS:-5}
RANKS=${RANKS:-2 4 16}
EXAMPLES=$NET_DIR/../../tools/python/examples
# Each process would compile the package anew; no bytecode is left in the tree.
export PYTHONPATH=$NET_DIR/../../tools/python PYTHONPYCACHEPREFIX=$TMP/pycache

# python NODE PROGRAM ARGUMENT...
python()
{
	aggctl testbed exec "$1" -- /usr/bin/python3 "${@:2}"
}

# role NODE ROLE ARGUMENT...: of python_member.py; the job comes first
role()
{
	python "$1" "$NET_DIR/python_member.py" "$2" $job "${@:3}"
}

# planned OPTION...: plan and apply a job of the senders with receiver v0
planned()
{
	plan py --topology bcube:2,1 --receivers v0 --senders "${SENDERS// /,}" --uid 0 "$@"
}

# members ROLE [ARGUMENT...]: start it at each sender, with the sender in place of NODE
members()
{
	local s rest=("${@:2}")

	pids=()
	for s in $SENDERS; do
		role "$s" "$1" "$(identity v0)" "${rest[@]//NODE/$s}" 2> "$TMP/py.$s.err" &
		pids+=($!)
	done
}

# all_exit_with STATUS: do the members?
all_exit_with()
{
	exit_with "$1" "${pids[@]}" || { tail -n 5 "$TMP"/py.*.err; return 1; }
}

# received ROLE [ARGUMENT...]: does it succeed at the receiver, and do the members?
received()
{
	local status=0

	role v0 "$@" > "$TMP/py.out" 2> "$TMP/py.v0.err" || status=1
	all_exit_with 0 || status=1
	[ $status = 0 ] || cat "$TMP/py.v0.err"
	return $status
}

sum()
{
	planned && members send "$TMP/in.NODE" && received recv || return
	sort "$TMP/py.out" | cmp - "$TMP/expected"
}

# The receiver is aggctl.
mixed()
{
	planned || return
	start_recv mixed v0
	members send "$TMP/in.NODE"
	all_exit_with 0 && wait "$recv_pid" && sort "$TMP/mixed.out" | cmp - "$TMP/expected"
}

average()
{
	planned --function average --type float64 || return
	members average 1e300 1 -1e300
	received average_recv && [ "$(< "$TMP/py.out")" = "7 0.3333333333333333 9" ]
}

vector()
{
	planned --elements 1000 && members vector_send NODE &&
		received vector_recv v1 v2 v3
}

# Both trees of a job have a part of it.
striped_vector()
{
	planned --elements 1000 --stripes 2 && members vector_send NODE &&
		received vector_recv v1 v2 v3
}

rounds()
{
	planned --elements 1000 --persist && members rounds_send NODE "$ROUNDS" &&
		received rounds_recv "$ROUNDS" v1 v2 v3
}

broadcast()
{
	local s status=0

	plan py --topology bcube:2,1 --collective bcast --root v0 --uid 0 \
		--receivers "${SENDERS// /,}" || return
	head -c 1000000 /dev/urandom > "$TMP/bytes"
	members member "$TMP/got.NODE"
	role v0 root "$TMP/bytes" 2> "$TMP/py.v0.err" || status=1
	cat "$TMP/py.v0.err"
	all_exit_with 0 && [ $status = 0 ] || return
	for s in $SENDERS; do
		cmp "$TMP/bytes" "$TMP/got.$s" || return
	done
}

broadcast_rounds()
{
	plan py --topology bcube:2,1 --collective bcast --root v0 --uid 0 --persist \
		--receivers "${SENDERS// /,}" && members member_rounds "$ROUNDS" &&
		received root_rounds "$ROUNDS"
}

# v2 fails: the receiver and the other sources learn which one and why.
source_fails()
{
	local pid

	planned || return
	role v2 fail "$(identity v0)" &
	pid=$!
	SENDERS="v1 v3" members send "$TMP/in.NODE"
	role v0 error > "$TMP/py.out"
	wait $pid
	[ $? = 3 ] && all_exit_with 1 && cat "$TMP/py.out" &&
		grep -x "ECONNABORTED $(identity v2)" "$TMP/py.out" &&
		grep "a source closed before it was finished at $(identity v2)" "$TMP/py.v1.err"
}

waits()
{
	grep -q '^[0-9]' "$TMP/py.out"
}

# SIGINT interrupts a receiver that waits for a result.
receiver_interrupted()
{
	local pid

	planned || return
	role v0 interrupted > "$TMP/py.out" &
	pid=$!
	wait_for waits || return
	members send "$TMP/in.NODE"
	kill -INT "$(head -n 1 "$TMP/py.out")"
	wait $pid && all_exit_with 1 && grep -x interrupted "$TMP/py.out" &&
		grep "the receiver closed" "$TMP/py.v1.err"
}

# shuffle PROGRAM PREFIX: run an example between the senders and the receivers v0 and v3,
# with the inputs PREFIX.NODE; $TMP/py.out
shuffle()
{
	local s status=0 pids=()

	for s in v1 v2; do
		python "$s" "$EXAMPLES/$1" $job "$(identity v0)" "$(identity v3)" \
			< "$2.$s" 2> "$TMP/py.$s.err" &
		pids+=($!)
	done
	python v3 "$EXAMPLES/$1" $job > "$TMP/py.v3" 2> "$TMP/py.v3.err" &
	pids+=($!)
	python v0 "$EXAMPLES/$1" $job > "$TMP/py.v0" 2> "$TMP/py.v0.err" || status=1
	all_exit_with 0 && [ -s "$TMP/py.v0" ] && [ -s "$TMP/py.v3" ] &&
		cat "$TMP/py.v0" "$TMP/py.v3" > "$TMP/py.out" && [ $status = 0 ]
}

# planned_shuffle OPTION...: plan and apply a job of v1 and v2 with two receivers
planned_shuffle()
{
	plan py --topology bcube:2,1 --receivers v0,v3 --senders v1,v2 --uid 0 "$@"
}

wordcount()
{
	planned_shuffle && head -n 300 "$NET_DIR/../../Documentation/trees.rst" > "$TMP/text" &&
		split -n l/2 --numeric-suffixes=1 -a 1 "$TMP/text" "$TMP/text.v" &&
		shuffle wordcount.py "$TMP/text" || return
	/usr/bin/python3 "$NET_DIR/python_member.py" count "$TMP/text" | sort > "$TMP/words"
	[ -s "$TMP/words" ] && sort "$TMP/py.out" | cmp - "$TMP/words"
}

longest()
{
	planned_shuffle --function topk --k 2 || return
	printf '%s\n' "1 /a 30" "2 /a 50" "3 /b 7" "4 /c 1" > "$TMP/log.v1"
	printf '%s\n' "5 /a 40" "6 /b 9" "7 /b 8" "8 /d 2" > "$TMP/log.v2"
	shuffle longest.py "$TMP/log" || return
	printf '%s\n' "/a 50:2 40:5" "/b 9:6 8:7" "/c 1:4" "/d 2:8" > "$TMP/longest"
	sort "$TMP/py.out" | cmp - "$TMP/longest"
}

# planned_group RANKS ELEMENTS [TYPE]: plan and apply both trees, that down with the job ID
# after that up; rank 0 is on v0, the others on the senders; $hosts
planned_group()
{
	local i=0 s members=''

	hosts=(v0)
	for s in $SENDERS $SENDERS $SENDERS $SENDERS $SENDERS; do
		[ ${#hosts[@]} -ge "$1" ] || hosts+=("$s")
	done
	for s in $SENDERS; do
		i=$(printf '%s\n' "${hosts[@]}" | grep -c -x "$s")
		[ "$i" = 0 ] || members+=${members:+,}$s\*$i
	done
	job=$((job + 1))
	plan py.down --topology bcube:2,1 --collective bcast --root v0 --uid 0 --persist \
		--receivers "$members" || return
	job=$((job - 2))
	plan py --topology bcube:2,1 --receivers v0 --senders "v0,$members" --uid 0 \
		--persist --elements "$2" --type "${3:-int64}"
}

unplan_group()
{
	withdraw py && withdraw py.down
	job=$((job + 1))
}

# ranks PROGRAM ARGUMENT...: start it at each rank, with its number in place of RANK
ranks()
{
	local rank

	pids=()
	for rank in "${!hosts[@]}"; do
		python "${hosts[rank]}" "${@//RANK/$rank}" > "$TMP/py.$rank.out" \
			2> "$TMP/py.$rank.err" &
		pids+=($!)
	done
}

# group TYPE: the collectives of four ranks
group()
{
	planned_group 4 300 "$1" || return
	ranks "$NET_DIR/python_member.py" collectives $job "$(identity v0)" RANK 4 "$1"
	all_exit_with 0
}

in_a_barrier()
{
	grep -q '^[0-9]' "$TMP/py.2.out"
}

# SIGINT at a rank that waits for the others ends the group.
rank_interrupted()
{
	local rank status=0

	planned_group 4 300 || return
	pids=()
	# Rank 1 does not come.
	for rank in 0 2 3; do
		role "${hosts[rank]}" waits_for_all "$(identity v0)" $rank 4 \
			> "$TMP/py.$rank.out" 2> "$TMP/py.$rank.err" &
		pids[rank]=$!
	done
	wait_for in_a_barrier || return
	kill -INT "$(head -n 1 "$TMP/py.2.out")"
	wait "${pids[2]}" || status=1
	grep -x interrupted "$TMP/py.2.out" || status=1
	for rank in 0 3; do
		wait "${pids[rank]}" || status=1
		grep ECONNABORTED "$TMP/py.$rank.out" || status=1
	done
	return $status
}

# The losses of many ranks are those of one, bit by bit.
trained()
{
	local n

	/usr/bin/python3 "$EXAMPLES/sgd.py" 0 1 --steps "$STEPS" > "$TMP/losses" &&
		[ "$(wc -l < "$TMP/losses")" = "$STEPS" ] || return
	for n in $RANKS; do
		planned_group "$n" 22 || return
		ranks "$EXAMPLES/sgd.py" RANK "$n" "$(identity v0)" $job $((job + 1)) \
			--steps "$STEPS"
		all_exit_with 0 && cmp "$TMP/py.0.out" "$TMP/losses" || return
		[ "$n" = "${RANKS##* }" ] || unplan_group || return
	done
}

# group_row NAME COMMAND [ARGUMENT...]: check it, and withdraw the group's trees
group_row()
{
	check "$@"
	unplan_group
}

# row NAME COMMAND: check it, and withdraw its job
row()
{
	check "$1" "$2"
	withdraw py
}

testbed bcube:2,1
files=()
for s in $SENDERS; do
	files+=("$TMP/in.$s")
done
gen "$SEED" 5000 4000 overlap wide "${files[@]}"
reference sum "${files[@]}" > "$TMP/expected"
row "sums of three senders" sum
row "sums that aggctl receives" mixed
row "averages of reals, rounded once" average
row "a vector" vector
row "rounds, and sources that end without another vector" rounds
row "a broadcast" broadcast
row "rounds of a broadcast" broadcast_rounds
row "a source that fails: all get the errno, the receiver the node" source_fails
row "SIGINT at a receiver that waits" receiver_interrupted
row "words of two receivers are those that plain Python counts" wordcount
row "the longest requests" longest
row "a vector over two trees" striped_vector
group_row "every collective of four ranks" group float32
group_row "SIGINT at a rank that waits: the others get the errno" rank_interrupted
group_row "losses of $RANKS ranks are those of one, bit by bit" trained
done_testing
