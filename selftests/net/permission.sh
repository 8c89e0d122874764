#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Only the user or group that the entry names may use a transfer, in the entry's
# namespace; not root of a user namespace, whose own network namespaces cannot
# take more memory than the host's ceiling leaves. The line is drawn in
# line.inc.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/forwarding.inc"
. "$(dirname "$0")/line.inc"

MINE=1000 OTHER=1001 GROUP=2000

# as UID GID NODE COMMAND...: run it as that user and group
as()
{
	ip netns exec "$3-$tag" setpriv --reuid "$1" --regid "$2" \
		--clear-groups "${@:4}"
}

# refused TEXT COMMAND...: it ends with status 1 and an error that has TEXT
refused()
{
	local text=$1 status=0

	shift
	"$@" > "$TMP/refused" 2>&1 || status=$?
	cat "$TMP/refused"
	[ $status = 1 ] && grep -qiF -- "$text" "$TMP/refused"
}

# The users that entries name may use sockets: a user at s, a group at a and r.
they_may()
{
	local pids=() pid status=0

	as $OTHER $GROUP r aggctl recv --job $job --receiver $R --stats \
		--timeout "$TIMEOUT" > "$TMP/out" 2> "$TMP/recv.err" &
	pids+=($!)
	as $OTHER $GROUP a aggctl send --job $job --receiver $R \
		--timeout "$TIMEOUT" - < "$TMP/in" 2> "$TMP/a.err" &
	pids+=($!)
	as $MINE $MINE s aggctl send --job $job --receiver $R \
		--timeout "$TIMEOUT" - < "$TMP/in" 2> "$TMP/s.err" &
	pids+=($!)
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	cat "$TMP"/{recv,a,s}.err
	reference sum "$TMP/in" "$TMP/in" > "$TMP/expected"
	sort "$TMP/out" | cmp - "$TMP/expected" && return $status
}

# The receiver's user has no privilege, and sees how its transfer was merged.
they_see()
{
	grep -E '^in short: .* of .* planned flows .*arrived, about .* bytes were saved .* packets of this node fell back to plain IP' \
		"$TMP/recv.err" && grep 'node counters unreadable' "$TMP/recv.err"
}

# Add entries of the next job for user MINE or group GROUP.
entries_of_others()
{
	entries uid $MINE gid $GROUP
}

# in_user_namespace COMMAND...: run it as root of a user namespace, in the
# network namespace of s
in_user_namespace()
{
	as $OTHER $OTHER s unshare --user --map-root-user "$@"
}

# Root of a user namespace, in a network namespace of its own, adds up to $1
# trees until one is refused.
greedy()
{
	local i

	ip link set lo up && ip address add 10.7.0.1/32 dev lo &&
		aggctl node set address 10.7.0.1 memory $((1 << 40)) || return
	for ((i = 1; i <= $1; i++)); do
		aggctl tree add --job $i --receiver 10.7.0.1 instance 1 \
			contributors 1024 sources 1024 memory $((16 << 20)) ||
			return
	done
}

host_used()
{
	aggctl -j node show | jq .memory_used
}

# The ceiling is the limit of the initial namespace; memory of others counts.
ceiling()
{
	local status=0 limit before

	before=$(host_used)
	limit=$((before + (24 << 20)))
	aggctl node set memory $limit tenant $limit || return
	export -f greedy
	export PATH
	as $OTHER $OTHER s unshare --user --map-root-user --net \
		bash -c 'greedy 20; aggctl -j node show | jq .trees >&2
			 exit 1' > "$TMP/greedy" 2>&1
	cat "$TMP/greedy"
	grep -q "ceiling, the memory limit of the initial namespace, leaves no room" "$TMP/greedy" || status=1
	[ "$(tail -n 1 "$TMP/greedy")" -gt 0 ] || status=1
	wait_for same_memory "$before" || status=1
	return $status
}

same_memory()
{
	[ "$(host_used)" = "$1" ]
}

line_up
members_up || exit 1
# The source tree may be in a home directory that other users cannot read.
chmod 755 "$TMP" && cp "$(command -v aggctl)" "$TMP" || exit 1
PATH=$TMP:$PATH
gen "$SEED" 500 500 mix small > "$TMP/in"
chmod 644 "$TMP/in"
whole_host=$(aggctl -j node show | jq .memory)
tenant=$(aggctl -j node show | jq .tenant)
check "entries for a user and a group" entries_of_others
check "another user may not send" refused "permit" \
	as $OTHER $OTHER s aggctl send --job $job --receiver $R "$TMP/in"
check "another user may not receive" refused "permit" \
	as $OTHER $OTHER r aggctl recv --job $job --receiver $R
check "root of a user namespace may not send" refused "permit" \
	in_user_namespace aggctl send --job $job --receiver $R "$TMP/in"
for noun in node port link tree stats; do
	check "another user may not read: $noun" refused "not permitted" \
		as $MINE $GROUP s aggctl $noun show
	check "root of a user namespace may not read: $noun" refused "not permitted" \
		in_user_namespace aggctl $noun show
done
check "another user may not configure" refused "not permitted" \
	as $MINE $GROUP s aggctl tree del --job $job --receiver $R
check "root of a user namespace may not configure" refused "not permitted" \
	in_user_namespace aggctl tree del --job $job --receiver $R
check "root of a user namespace may not listen to events" refused "not permitted" \
	as $MINE $GROUP s aggctl monitor
check "another namespace does not have the transfer" refused "no entry" \
	as $MINE $GROUP e aggctl send --job $job --receiver $R "$TMP/in"
check "the users that entries name may, and the result is exact" they_may
check "a user sees how its transfer was merged" they_see
check "a user's own namespace: up to the ceiling" ceiling
check "the host's limits are restored" \
	aggctl node set memory "$whole_host" tenant "$tenant"
done_testing
