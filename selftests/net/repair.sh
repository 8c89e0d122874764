#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A supervised plan survives failures that a path leads around: of an
# aggregator, a link, a switch; of a source only if the plan allows it to be
# missing. Results are exact, and the time of each repair is printed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/incast.inc"

GIVE_UP=${GIVE_UP:-10}
repair=60	# seconds that members wait for one

# begin HELD OPTION...: all members run, the plan is supervised; sender HELD
# reads a pipe that stays open at 5
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

# At each node one of its own, with its own copy of the plan.
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

# What it says is not read, and the directory of its plan is gone.
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
outcome=0	# of supervision, if all goes well

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

# end HELD SENDER...: the pipe ends; recv and these senders exit 0, the result
# is exactly theirs, and supervision ends as it should
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

# figures WHAT: for readers of the log
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

# breaks HELD NODE FILTER COMMAND...: when that is true of the node's entry, the
# command; the transfer is repaired, and exact
breaks()
{
	local held=$1 node=$2 filter=$3

	shift 3
	begin "$held" && wait_for tree "$node" "$filter" || return
	now
	"$@"
	repaired && end "$held" "${SENDERS[@]}"
}

# Another supervisor finds that v1, which the plan goes around, is gone.
supervisor_killed()
{
	begin v5 && wait_for tree v1 ".weight == 2" || return
	now
	ip netns del v1
	repaired || return
	kill -KILL "$supervise_pid"
	wait "$supervise_pid"
	# The pipe ends with its last writer.
	one_for_all 5>&-
	repaired && end v5 "${SENDERS[@]}"
}

# What v1 held is lost without a word, and it comes back under the same identity
# and epoch.
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

# all_fail TEXT WHY: every member ends in an error, a message has TEXT, and
# supervision says WHY
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

# v10's process dies when it has bound to v2 and its input has not ended.
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

# Only the other hosts of the transfer tell that v10's is dead.
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

# Each host hears the others' ABORT only, and comes to the same plan. The flows go
# through new servers without an entry.
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

# What is not in force will not end; where it is, nothing is said.
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

# Its supervisor ends, although each source may leave, and puts nothing back.
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

# The repair counts, and the end tells that the plan is lost, once more.
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

# row FIGURES NAME COMMAND...: each on a whole network; the figures of its repair
# by this name, if there is one
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
mine && check "what of the plan is not in force is told" not_in_force
mine && check "a plan is withdrawn: its supervisor ends" withdrawn
# v1 holds records of v9 and v11, and v5 has not finished.
row "aggregator before custody" \
	"an aggregator dies before its parent has what it held" \
	breaks v5 v1 ".weight == 2" ip netns del v1
# v0 has all of what v1 had, and v1's children wait for DONE.
row "aggregator after custody" \
	"an aggregator dies when its parent has it all" \
	breaks v14 v1 '.state == "waiting"' ip netns del v1
row "link" "a link goes down" \
	breaks v5 v1 ".records_in > 0" ip -n v1 link set dev eth0 down
row "switch" "a switch dies" \
	breaks v14 v2 ".records_in > 1000" ip netns del w6
row "switch without its bridge" "a switch forwards no longer" \
	breaks v14 v2 ".records_in > 1000" ip -n w6 link set dev br down
row "" "a supervisor is killed after a repair: another one goes on" \
	supervisor_killed
row "" "an aggregator restarts" restarted
row "" "a source dies: an error everywhere that names it" source_missed
row "source" "a source dies and may be missing: the end tells" source_left
row "" "a source's host dies, likewise" source_host_left
row "" "the receiver dies: an error everywhere" receiver_gone
row "every host for itself" "every host for itself" every_host_for_itself
row "" "its file cannot be written, and nobody listens: it goes on" goes_on
done_testing
