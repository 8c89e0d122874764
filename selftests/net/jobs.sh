#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A user that is not root submits jobs to aggd, runs a program on the nodes and gets the
# right result; another user cannot cancel them; and whatever happens to aggd, no node
# keeps an entry. BCube(4,1).
. "$(dirname "$0")/lib.sh"

TOOLS=$NET_DIR/../../tools
EXAMPLE=$NET_DIR/../../build/tools/libaggnet/allreduce
MINE=1000 OTHER=1001 STRANGER=1002
GROUP_OPTIONS=(--root v0 --members 'v2,v5*2,v9,v10')
# Servers of the ranks.
RANKS=(v0 v2 v5 v5 v9 v10)
SOCKET=$TMP/aggd.sock

# as UID COMMAND...
as()
{
	setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}

listening()
{
	aggctl job list --socket "$SOCKET" > "$TMP/listening" 2>&1
}

start_aggd()
{
	"$TOOLS/aggd/aggd" --config "$TMP/conf" --socket "$SOCKET" --state "$TMP/state" \
		--aggctl "$TOOLS/aggctl/aggctl" --topology bcube:4,1 \
		2>> "$TMP/aggd.err" &
	aggd=$!
	wait_for listening
}

# submit UID OPTION...: leaves the ID in $id, and what a launcher needs in $AGGNET_GROUP
submit()
{
	as "$1" aggctl job submit --socket "$SOCKET" "${@:2}" > "$TMP/submitted" || return
	id=$(sed -n 's/^job \([0-9]*\): in force$/\1/p' "$TMP/submitted")
	AGGNET_GROUP=$(sed -n 's/^AGGNET_GROUP=//p' "$TMP/submitted")
	[ -n "$id" ]
}

# job VERB UID ARGUMENT...
job()
{
	as "$2" aggctl job "$1" --socket "$SOCKET" "${@:3}"
}

# entries: print how many entries all nodes have
entries()
{
	local i

	for i in $(seq 0 15); do
		aggctl -j -n "v$i" tree show
	done | jq -s 'map(length) | add'
}

# ranks UID: does each rank of the group add the vectors of all?
ranks()
{
	local rank status=0 pids=()

	for rank in "${!RANKS[@]}"; do
		seq "$rank" "$((rank + 200))" > "$TMP/in.$rank"
		AGGNET_GROUP=$AGGNET_GROUP AGGNET_RANK=$rank \
			ip netns exec "${RANKS[rank]}" setpriv --reuid "$1" --regid "$1" \
			--clear-groups "$EXAMPLE" < "$TMP/in.$rank" \
			> "$TMP/out.$rank" 2> "$TMP/err.$rank" &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do
		wait "$rank" || status=1
	done
	cat "$TMP"/err.*
	paste "$TMP"/in.[0-9] | awk '{ for (i = s = 0; i++ < NF; s += $i); print s }' \
		> "$TMP/sum"
	[ -s "$TMP/sum" ] || status=1
	for rank in "${!RANKS[@]}"; do
		cmp "$TMP/sum" "$TMP/out.$rank" || status=1
	done
	return $status
}

group_job()
{
	submit $MINE "${GROUP_OPTIONS[@]}" && [ "$(entries)" -gt 0 ] && ranks $MINE
}

# The user of the job has the entries, and nobody else.
group_of_another()
{
	! ranks $OTHER && grep -F "job $id of receiver 10.0.0.1 does not permit this user" \
		"$TMP/err.3"
}

reduce_job()
{
	local node pid pids=() status=0

	submit $MINE --kind reduce --root v0 --members v5,v9 --function max || return
	printf 'a\t3\nb\t7\n' > "$TMP/in"
	ip netns exec v0 setpriv --reuid $MINE --regid $MINE --clear-groups \
		aggctl recv --job "$id" --timeout "$TIMEOUT" > "$TMP/out" &
	pids=($!)
	for node in v5 v9; do
		ip netns exec $node setpriv --reuid $MINE --regid $MINE --clear-groups \
			aggctl send --job "$id" --receiver 10.0.0.1 \
			--timeout "$TIMEOUT" "$TMP/in" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	sort "$TMP/out" | cmp - "$TMP/in" && return $status
}

others_are_refused()
{
	refused 1 "user $OTHER has no job $id" job cancel $OTHER "$id" &&
		refused 1 "user $OTHER has no job $id" job show $OTHER "$id" &&
		refused 1 "user $STRANGER may not submit jobs" \
			job submit $STRANGER "${GROUP_OPTIONS[@]}" &&
		[ "$(job list $OTHER -j | jq length)" = 0 ] &&
		[ "$(job list $MINE -j | jq length)" -ge 1 ] && [ "$(entries)" -gt 0 ]
}

plan_is_refused()
{
	refused 1 "v99" job submit $MINE --root v0 --members v99 &&
		refused 2 "'members' must be a list of names" \
			job submit $MINE --root v0 --members @/etc/shadow
}

cancelled()
{
	job cancel $MINE "$id" && none_left
}

none_left()
{
	[ "$(entries)" = 0 ]
}

# A job in force outlives aggd, and its trees serve programs.
restarted()
{
	submit $MINE "${GROUP_OPTIONS[@]}" || return
	kill -9 "$aggd"
	wait "$aggd"
	start_aggd && job show $MINE "$id" | grep "in force" && ranks $MINE &&
		job cancel $MINE "$id" && none_left
}

# aggd is killed while a job is applied or withdrawn.
killed()
{
	local i

	for i in $(seq "$(scaled 6)"); do
		job submit $MINE "${GROUP_OPTIONS[@]}" --no-wait > "$TMP/killed" || return
		id=$(sed -n 's/^job \([0-9]*\): .*/\1/p' "$TMP/killed")
		# The moment differs: as many requests later.
		for _ in $(seq "$i"); do
			listening
		done
		kill -9 "$aggd"
		wait "$aggd"
		start_aggd || return
		job cancel $MINE "$id" || job show $MINE "$id" | grep ended || return
	done
	wait_for none_left
}

# Entries that are missing do not keep a job from its end.
half_gone()
{
	submit $MINE "${GROUP_OPTIONS[@]}" || return
	aggctl withdraw "$TMP/state/jobs/$id.0.plan" --node v5 || return
	job cancel $MINE "$id" && none_left
}

lease_ends()
{
	submit $MINE "${GROUP_OPTIONS[@]}" --time 1 && wait_for none_left &&
		job show $MINE "$id" | grep "its time is over"
}

chmod 755 "$TMP"
printf 'allow user %s\nallow group %s\n' $MINE $OTHER > "$TMP/conf"
testbed bcube:4,1
check "aggd starts" start_aggd
check "a group of six ranks of a user" group_job
check "ranks of another user" group_of_another
check "another user, and a user that is not allowed" others_are_refused
check "its user cancels the job: no node has an entry" cancelled
check "a reduce of a user" reduce_job
check "it is cancelled" cancelled
check "a plan that cannot be" plan_is_refused
check "aggd is killed: the job goes on" restarted
check "aggd is killed at any moment" killed
check "a job that has lost entries is cancelled" half_gone
check "the time of a job is over" lease_ends
done_testing
