#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Collectives of seven ranks, two of them on one server: each one is byte for byte what
# it must be, with each function and type, over bad links and with little memory. If a
# rank is lost or makes another call, all ranks get an error. BCube(4,1).
. "$(dirname "$0")/lib.sh"

# Servers of the ranks.
RANKS=(v0 v2 v5 v5 v9 v10 v14)
MEMBERS='v2,v5*2,v9,v10,v14'
ELEMENTS=3000
COUNT=200

# planned FUNCTION TYPE [OPTION...]: plan and apply both trees; $job is that of the first
planned()
{
	local scale=()

	[ "$2" != fixed ] || scale=(--scale 8)
	plan down --topology bcube:4,1 --method irs --uid 0 --collective bcast \
		--root v0 --receivers "$MEMBERS" --persist "${@:3}" || return
	job=$((job - 2))
	plan up --topology bcube:4,1 --method irs --uid 0 --receivers v0 \
		--senders "v0,$MEMBERS" --persist --elements $ELEMENTS \
		--function "$1" --type "$2" "${scale[@]}" "${@:3}" || return
	shape="$1 $2"
}

unplan()
{
	withdraw down && withdraw up
	job=$((job + 2))
}

# ranks WHAT [NUMBER]: start all ranks; $ranks
ranks()
{
	local rank

	ranks=()
	for rank in "${!RANKS[@]}"; do
		# shellcheck disable=SC2086 # words
		(cd "$TMP" && exec ip netns exec "${RANKS[rank]}" coll 10.0.0.1 \
			$job "$rank" ${#RANKS[@]} $shape "$@") \
			> "$TMP/rank.$rank.out" 2> "$TMP/rank.$rank.err" &
		ranks+=($!)
	done
}

# all_exit_with STATUS: do the ranks that have not been lost?
all_exit_with()
{
	exit_with "$1" "${ranks[@]}" || { cat "$TMP"/rank.*.err; return 1; }
}

# group FUNCTION TYPE WHAT NUMBER [OPTION...]: run a group from plan to withdrawal
group()
{
	local status=0

	planned "$1" "$2" "${@:5}" || return
	ranks "$3" "$4"
	all_exit_with 0 || status=1
	unplan && return $status
}

# The rounds of the call are in the entries, which are those of the plan.
many()
{
	local status=0

	planned sum int64 --memory 64K || return
	aggctl -n v5 -j tree show > "$TMP/before"
	ranks many 200
	all_exit_with 0 || status=1
	aggctl -n v5 -j tree show > "$TMP/after"
	jq -es '(.[0] | map([.job, .instance, .attempt])) ==
		(.[1] | map([.job, .instance, .attempt])) and
		(.[1] | map(select(.job >= '"$job"')) | length == 2 and
		all(.round == 201))' "$TMP/before" "$TMP/after" || status=1
	unplan && return $status
}

# running RANK: has it completed an all-reduce?
running()
{
	[ -e "$TMP/$job.$1" ]
}

all_running()
{
	local rank

	for rank in "${!RANKS[@]}"; do
		running "$rank" || return
	done
}

# No rank sends a message to the control plane, as none has a socket for it.
no_netlink()
{
	local pid

	for pid in "${ranks[@]}"; do
		[ "$(cat "/proc/$pid/comm")" = coll ] || return
		! awk -v pid="$pid" '$3 == pid' "/proc/$pid/net/netlink" |
			grep . || return
	done
}

# says ERRNO: have all ranks but the one that is lost ended with it?
says()
{
	local rank status=0

	for rank in "${!ranks[@]}"; do
		[ "$(cat "$TMP/rank.$rank.out")" = "$1" ] || status=1
	done
	[ $status = 0 ] || cat "$TMP"/rank.*.out "$TMP"/rank.*.err
	return $status
}

# lost RANK [NUMBER]: it is killed during all-reduces of so many elements; the others know
lost()
{
	local status=0

	planned sum int64 || return
	ranks endless "${2:-1}"
	wait_for all_running || status=1
	no_netlink || status=1
	kill -9 "${ranks[$1]}"
	wait "${ranks[$1]}"
	unset "ranks[$1]"
	all_exit_with 1 || status=1
	says ECONNABORTED || status=1
	unplan && return $status
}

# A server that others need falls silent: its links are cut, which deletes its routes, so
# this is the last row. The vectors have several parts.
cut()
{
	local status=0

	planned sum int64 --give-up "$((SLOW * 5))" || return
	ranks endless 16000
	wait_for all_running || status=1
	ip -n v1 link set eth0 down
	ip -n v1 link set eth1 down
	all_exit_with 1 || status=1
	# A rank may first learn that another one has left.
	sed -i 's/^ECONNABORTED$/ETIMEDOUT/' "$TMP"/rank.*.out
	says ETIMEDOUT || status=1
	return $status
}

differ()
{
	local status=0

	planned max float64 || return
	ranks differ
	all_exit_with 1 || status=1
	says EPROTO || status=1
	grep -F "the ranks disagree: call 1 is barrier here, call 1 is allreduce of 1 elements at rank 0" \
		"$TMP/rank.1.err" || status=1
	unplan && return $status
}

# large COMMAND...: run it with trees for vectors of several parts
large()
{
	local ELEMENTS=20000

	"$@"
}

alone()
{
	coll 10.0.0.1 7 0 1 sum int64 each 100
}

over_bad_links()
{
	aggctl testbed shape --loss 1% --delay 1ms --reorder 25% &&
		shaped 'any(.options | (."loss-random".loss > 0) and
			(.reorder.reorder > 0))' v5:eth0 w0:p0 && "$@"
}

testbed bcube:4,1
for type in int64 int32 fixed float32 float64; do
	for function in sum min max; do
		check "each collective, $function of $type" \
			group $function $type each "$(scaled $COUNT)"
	done
done
check "64 KiB of memory" group sum int64 each "$(scaled $COUNT)" --memory 64K
check "all-reduces of several parts" large group sum int64 sizes 0
check "all-reduces of several parts, 64 KiB of memory" \
	large group sum int64 sizes 0 --memory 64K
check "a group of one rank" alone
check "a rank makes another call" differ
check "rank 4 is lost" lost 4
check "rank 4 is lost between parts" large lost 4 16000
check "rank 0 is lost" lost 0
check "a rank on a server with another one is lost" lost 3
check "over bad links, 200 all-reduces" over_bad_links many
check "over bad links, each collective" group max int32 each "$(scaled $COUNT)" \
	--memory 64K
check "a server falls silent between parts" large cut
done_testing
