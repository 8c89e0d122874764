#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many trees, entries, children, keys and bytes: results are exact, and the
# memory that they take is printed.
#   64 trees of six senders at once on BCube(4,1), 400 keys each
#   1000 entries on a node, and a transfer among them
#   1000000 keys in one tree
#   200 MB in one transfer
#   64 children of one server, 400 keys each
# On a slow kernel 16 trees and 24 children.
# To save time the seed chooses many keys or many bytes. The other keys are 20000
# and the other bytes 1 MB. FULL=1: both as above, with 4000 keys for each of the
# 64 trees and 10000 for the 64 children.
. "$(dirname "$0")/lib.sh"

FULL=${FULL:-0}
SENDERS="v2 v5 v9 v10 v11 v14"
RECEIVERS="v0 v1 v3 v4 v6 v7 v8 v12"
WIDE=ghc:5,13 PLANS=8 CHILDREN=64
[ "$SLOW" = 1 ] || WIDE=ghc:5,5 PLANS=2 CHILDREN=24

# size USUAL FULL [TURN]: FULL with FULL=1, or in its turn if the kernel is not
# slow; else USUAL
size()
{
	if [ "$FULL" = 1 ] || [ "$SLOW-${3:-}" = "1-$((10#$SEED / 2 % 2))" ]; then
		echo "$2"
	else
		scaled "$1"
	fi
}

# told NAME: print the servers' memory
told()
{
	local node

	for node in v{0..15}; do
		aggctl -j -n "$node" node show
	done | jq -s -r --arg name "$1" 'map(.memory_used) | "# \($name): " +
		"at most \(max) bytes of a server, \(add) of all"' >&3
	free -m | awk '/Mem/ { print "# MiB of the machine in use: " $3 }' >&3
}

# Print the last line of the program.
mass_said()
{
	many_transfers "$@" > "$TMP/said" && say "$(< "$TMP/said")" >&3
}

many_trees()
{
	local i r

	for ((i = 1; i <= PLANS; i++)); do
		plan trees$i --topology bcube:4,1 --method irs --function sum \
			--senders "${SENDERS// /,}" --uid 0 --memory 1048576 \
			--receivers "${RECEIVERS// /,}" || return
		for r in $RECEIVERS; do
			echo "$job $(identity "$r") $r $SENDERS"
		done
	done > "$TMP/transfers"
	told "$((8 * PLANS)) trees" && mass_said "$(size 400 4000)" < "$TMP/transfers" &&
		told "$((8 * PLANS)) trees, done" || return
	for ((i = 1; i <= PLANS; i++)); do
		withdraw trees$i || return
	done
}

# one NAME RECORDS KEY-BYTES SENDER...: run a transfer to v0
one()
{
	local name=$1 records=$2 klen=$3 senders

	shift 3
	senders=$*
	plan one --topology bcube:4,1 --method irs --function sum --uid 0 \
		--senders "${senders// /,}" --receivers v0 || return
	told "$name"
	mass_said "$records" "$klen" <<< "$job 10.0.0.1 v0 $senders" &&
		told "$name, done" && withdraw one
}

# v0 has 1000 entries: those of six senders' transfer, and those of transfers
# that do not run.
entries()
{
	aggctl -n v0 node set memory $((512 << 20)) &&
		aggctl node set tenant "$(aggctl -j node show | jq .memory)" ||
		return
	plan few --topology bcube:4,1 --method irs --function sum --uid 0 \
		--senders v2,v5 --receivers v0 || return
	# Without its own ID: withdrawing one plan would withdraw both.
	jq 'del(.id) | walk(if type == "object" and has("instance")
		then .instance += 16 else . end) | .nodes |= {v0} | .nodes.v0.trees |= (.[0] as $t |
		[range(1000) | $t + {job: (5000 + .), memory: 65536}])' \
		"$TMP/few.json" > "$TMP/thousand.json" &&
		aggctl apply "$TMP/thousand.json" > "$TMP/thousand.apply" &&
		test "$(aggctl -j -n v0 node show | jq .trees)" = 1001 &&
		told "1000 entries" && withdraw few &&
		one "a transfer among 1000 entries" 2000 12 v2 v5 &&
		withdraw thousand
}

# Without aggregation every sender is a child of the receiver.
children()
{
	local list

	list=$(seq -f 'v%.0f' -s ' ' $CHILDREN)
	plan all --topology $WIDE --method existing --function sum --uid 0 \
		--senders "${list// /,}" --receivers v0 || return
	mass_said "$(size 400 10000)" <<< "$job 10.0.0.1 v0 $list" &&
		told "$CHILDREN children" && withdraw all
}

# All senders' records meet at v0: it may use all memory that the host has for
# aggnet.
tenant=$(aggctl -j node show | jq .tenant)
exec 3>&1
testbed bcube:4,1
trap 'status=$?; aggctl node set tenant "$tenant"; (exit $status); finish' EXIT
# The ceiling of the host is an eighth of its memory, unless it is set.
aggctl node set memory $((512 << 20)) || exit 1
check "$((8 * PLANS)) trees at once" many_trees
check "1000 entries" entries
KEYS=$(size 20000 1000000 0)
# shellcheck disable=SC2086
check "$KEYS keys in one tree" one "keys" "$KEYS" 12 $SENDERS
RECORDS=$(size 5000 985000 1)
check "$RECORDS records of 200 bytes in one transfer" \
	one "bytes" "$RECORDS" 200 v5
check "the first network is removed" aggctl testbed down
check "a network of $((CHILDREN + 1)) servers" aggctl testbed up $WIDE
check "$CHILDREN children" children
done_testing
