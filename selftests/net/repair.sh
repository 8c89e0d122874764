#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A supervised plan survives failures that a path leads around: of an
# aggregator, a link, a switch; of a source only if the plan allows it to be
# missing. Results are exact, and the time of each repair is printed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/incast.inc"

GIVE_UP=${GIVE_UP:-10}
repair=60	# seconds that members wait for a repair

# begin HELD OPTION...: start all members and supervision of the plan. Sender
# HELD reads a pipe, which descriptor 5 keeps open.
begin()
{
	local held=$1 s input

	shift
	rm -f "$TMP"/x.*
	plan x --topology bcube:4,1 --method irs --receivers v0 --uid 0 \
		--senders "$(IFS=,; echo "${SENDERS[*]}")" --give-up "$GIVE_UP" "$@" || return
	$supervision || return
	start_recv x v0 --repair "$repair"
	senders=()
	for s in "${SENDERS[@]}"; do
		input=$TMP/in.$s
		if [ "$s" = "$held" ]; then
			input=$TMP/x.pipe
			mkfifo "$input"
		fi
		start_send x "$s" v0 "$input" --repair "$repair"
		senders+=("$send_pid")
	done
	exec 5> "$TMP/x.pipe"
	head -n 1000 "$TMP/in.$held" >&5
}

one_for_all()
{
	aggctl -j supervise "$TMP/x.json" > "$TMP/x.log" 2> "$TMP/x.why" &
	supervise_pid=$!
	wait_for said listening || cat "$TMP/x.why"
}

# Each node has its own supervisor, with its own copy of the plan.
each_for_itself()
{
	local node

	hosts=()
	for node in v1 v2 v5 v9 v10 v11 v14 v0; do
		cp "$TMP/x.json" "$TMP/x.$node.json"
		aggctl -n "$node" -j supervise "$TMP/x.$node.json" \
			--node "$node" > "$TMP/x.$node.log" \
			2> "$TMP/x.$node.why" &
		hosts+=($!)
	done
	supervise_pid=$!
	ln -s "x.$node.log" "$TMP/x.log"
	ln -s "x.$node.why" "$TMP/x.why"
	wait_for said listening
}

# The supervisor's output is not read, and its plan's directory is deleted.
unheard_of()
{
	local first

	mkdir "$TMP/x.own" && cp "$TMP/x.json" "$TMP/x.own/x.json" &&
		mkfifo "$TMP/x.log" || return
	aggctl -j supervise "$TMP/x.own/x.json" > "$TMP/x.log" 2> "$TMP/x.why" &
	supervise_pid=$!
	read -r first < "$TMP/x.log" && rm -r "$TMP/x.own" "$TMP/x.log" &&
		[[ $first = *listening* ]]
}

supervision=one_for_all
outcome=0	# exit status of supervision if nothing fails

said()
{
	grep -q "\"event\":\"$1\"" "$TMP/x.log"
}

repaired()
{
	wait_for said repaired && return
	cat "$TMP/x.why" "$TMP/x.log"
	return 1
}

now()
{
	killed=$(date +%s.%N)
}

# end HELD SENDER...: end the input. recv and these senders exit with 0, the
# result is that of these senders, and supervision ends with $outcome.
end()
{
	local held=$1 status=0 supervised=0 s i=0 files=()

	shift
	tail -n +1001 "$TMP/in.$held" >&5
	exec 5>&-
	wait "$recv_pid" || { echo "recv: status $?"; status=1; }
	for s in "${SENDERS[@]}"; do
		if [[ " $* " = *" $s "* ]]; then
			files+=("$TMP/in.$s")
			wait "${senders[i]}" || {
				echo "$s: status $?"
				status=1
			}
		fi
		i=$((i + 1))
	done
	wait "$supervise_pid" || supervised=$?
	[ $supervised = $outcome ] || {
		echo "supervise: status $supervised"
		status=1
	}
	reference sum "${files[@]}" > "$TMP/x.expected"
	sort "$TMP/x.out" | cmp - "$TMP/x.expected" || status=1
	[ $status = 0 ] || cat "$TMP"/x.*err "$TMP/x.why" "$TMP/x.log"
	return $status
}

# figures WHAT: print the repair's times for readers of the log
figures()
{
	jq -rs --arg killed "$killed" --arg what "$1" '
		map(select(.event == "repaired" and .trees > 0))[0] as $r |
		map(select(.event == "done"))[0] as $d |
		"# \($what): \($r.what): heard after \(($r.time -
		($killed | tonumber)) * 1000 | round) ms, detection \(
		$r.detection) s, planning \($r.planning) s, installation \(
		$r.installation) s, total \($r.total) s, \($r.bytes) bytes" +
		" sent again; \($d.total) s to the result"' "$TMP/x.log"
}

again()
{
	aggctl testbed down > "$TMP/down" && testbed bcube:4,1
}

# breaks HELD NODE FILTER COMMAND...: run COMMAND when FILTER is true of the
# node's entry; the transfer is repaired, and its result is exact
breaks()
{
	local held=$1 node=$2 filter=$3

	shift 3
	begin "$held" && wait_for tree "$node" "$filter" || return
	now
	"$@"
	repaired && end "$held" "${SENDERS[@]}"
}

# A second supervisor finds that v1, which the plan avoids, is gone.
supervisor_killed()
{
	begin v5 && wait_for tree v1 ".weight == 2" || return
	now
	ip netns del v1
	repaired || return
	kill -KILL "$supervise_pid"
	wait "$supervise_pid"
	# The pipe ends when its last writer closes it.
	one_for_all 5>&-
	repaired && end v5 "${SENDERS[@]}"
}

# v1's entry is deleted while v1 is cut off, so no node hears an ABORT. It
# returns under the same identity and epoch.
restarted()
{
	local port

	begin v5 && wait_for tree v1 ".weight == 2" || return
	for port in eth0 eth1; do
		tc -n v1 qdisc replace dev $port root netem loss 100%
	done
	aggctl withdraw - --node v1 < "$TMP/x.json" > "$TMP/x.restart" &&
		aggctl apply "$TMP/x.json" --node v1 > "$TMP/x.restart"
	now
	for port in eth0 eth1; do
		tc -n v1 qdisc del dev $port root
	done
	repaired && end v5 "${SENDERS[@]}"
}

# all_fail TEXT WHY: every member ends with an error, one message has TEXT, and
# supervision's has WHY
all_fail()
{
	local pid status failed=0

	exec 5>&-
	for pid in "$recv_pid" "$supervise_pid" "${senders[@]}"; do
		status=0
		wait "$pid" || status=$?
		[ $status != 0 ] || { echo "pid $pid: no error"; failed=1; }
	done
	grep "$1" "$TMP"/x.*err || failed=1
	grep "$2" "$TMP/x.why" || failed=1
	[ $failed = 0 ] || cat "$TMP"/x.*err "$TMP/x.why"
	return $failed
}

# Kill v10's process when it has bound to v2 and its input has not ended.
source_killed()
{
	begin v10 "$@" && wait_for tree v2 ".channels == 2" || return
	now
	kill -KILL "${senders[3]}"
}

source_missed()
{
	local repair=5

	source_killed && all_fail \
		"closed before it was finished at 10.0.0.11" "source v10"
}

source_left()
{
	source_killed --allow-missing && repaired || return
	end v10 v2 v5 v9 v11 v14 &&
		grep "complete without 1 of 6 sources" "$TMP/x.recv.err" &&
		grep "absent: 10.0.0.11" "$TMP/x.recv.err"
}

# v10's host is deleted; only the events of other hosts report it.
source_host_left()
{
	source_killed --allow-missing || return
	ip netns del v10
	repaired || return
	end v10 v2 v5 v9 v11 v14 && grep "absent: 10.0.0.11" "$TMP/x.recv.err"
}

receiver_gone()
{
	local repair=5

	begin v5 && wait_for tree v1 ".records_in > 0" || return
	kill -KILL "$recv_pid"
	all_fail "the receiver closed" "the receiver closed"
}

# Each supervisor sees only its own host's events, and all make the same plan.
# The flows pass new servers, which have no entry.
every_host_for_itself()
{
	local status=0 pid

	supervision=each_for_itself
	begin v5 && wait_for tree v1 ".weight == 2" || return
	kill "${hosts[0]}"
	wait "${hosts[0]}"
	now
	ip netns del v1
	repaired && end v5 "${SENDERS[@]}" || status=1
	for pid in "${hosts[@]:1:6}"; do
		wait "$pid" || { echo "supervisor $pid: $?"; status=1; }
	done
	return $status
}

# A plan that is not in force does not end. Supervision warns about the node
# that does not have its entry, and about no other.
not_in_force()
{
	plan x --topology bcube:4,1 --receivers v0 --senders v5,v9 &&
		aggctl withdraw "$TMP/x.json" --node v0 > "$TMP/x.none" &&
		one_for_all || return
	kill "$supervise_pid"
	wait "$supervise_pid"
	cat "$TMP/x.why"
	[ "$(< "$TMP/x.why")" = "aggctl: warning: v0: of the plan's 1 entries 1 are not in force" ] &&
		aggctl apply "$TMP/x.json" --node v0 > "$TMP/x.none" &&
		withdraw x
}

# The supervisor of a withdrawn plan ends with an error and restores nothing,
# although every source may be missing.
withdrawn()
{
	local status=0

	plan x --topology bcube:4,1 --receivers v0 --allow-missing \
		--senders "$(IFS=,; echo "${SENDERS[*]}")" && one_for_all &&
		withdraw x || return
	wait "$supervise_pid" || status=$?
	cat "$TMP/x.why"
	[ $status = 1 ] &&
		grep "the entry was withdrawn at 10.0.0.1" "$TMP/x.why" &&
		aggctl -j testbed entries | jq -e '.trees == []'
}

# The repair is in force although the plan's file cannot be written; the error
# is repeated at the end.
goes_on()
{
	supervision=unheard_of
	outcome=1
	begin v5 && wait_for tree v1 ".records_in > 0" || return
	ip -n v1 link set dev eth0 down
	wait_for grep -q "it does not have the plan" "$TMP/x.why" &&
		end v5 "${SENDERS[@]}" || return
	[ "$(grep -c "it does not have the plan" "$TMP/x.why")" -ge 2 ] &&
		return
	cat "$TMP/x.why"
	return 1
}

# row FIGURES NAME COMMAND...: one row on an intact network; print the times of
# its repair under FIGURES unless that is empty
row()
{
	local name=$1

	shift
	mine || return
	[ $broken = 0 ] || again
	broken=1
	check "$@"
	[ -z "$name" ] || figures "$name"
}

inputs 3000 1500
broken=0
testbed bcube:4,1
mine && check "supervision names nodes on which the plan is not in force" not_in_force
mine && check "a plan is withdrawn: its supervisor ends" withdrawn
# v1 holds records of v9 and v11, and v5 has not finished.
row "aggregator before custody" \
	"an aggregator is deleted before its parent has its records" \
	breaks v5 v1 ".weight == 2" ip netns del v1
# v0 has all of what v1 had, and v1's children wait for DONE.
row "aggregator after custody" \
	"an aggregator is deleted after its parent has its records" \
	breaks v14 v1 '.state == "waiting"' ip netns del v1
row "link" "a link goes down" \
	breaks v5 v1 ".records_in > 0" ip -n v1 link set dev eth0 down
row "switch" "a switch fails" \
	breaks v14 v2 ".records_in > 1000" ip netns del w6
row "switch without its bridge" "a switch stops forwarding" \
	breaks v14 v2 ".records_in > 1000" ip -n w6 link set dev br down
row "" "a supervisor is killed after a repair: a second one continues" \
	supervisor_killed
row "" "an aggregator restarts" restarted
row "" "a source is killed: every member's error names it" source_missed
row "source" "a source that may be missing is killed: the end names it" source_left
row "" "the host of such a source is deleted: the end names it" source_host_left
row "" "the receiver is killed: every member gets an error" receiver_gone
row "every host for itself" "every host has its own supervisor" every_host_for_itself
row "" "the file cannot be written and output is not read: repairs continue" goes_on
done_testing
