#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Members of a transfer are late, missing or dead, in 20 rounds of each kind: a
# straggler, a slow source, no entry, no port, no source, crashes before and
# after custody and their repair by libaggnet, and repairs around a link, a
# switch, an aggregator, and one whose last cable fails during the repair.
# Detection and repair times are printed. straggler.c and crash_rounds.c have a
# line s --- a --- r for each kind, made once, all at the same time because a
# node waits most of that time. reroute_rounds.c has a testbed with two paths,
# one of which breaks.
#   ROUNDS=N  of each kind (20)
. "$(dirname "$0")/lib.sh"

ROUNDS=${ROUNDS:-$(scaled 20)}
declare -A pids names
kinds=()

# start PROGRAM KIND NAME: run the rounds of one kind in the background
start()
{
	"$1" "$SEED" "$ROUNDS" "$2" > "$TMP/said.$2" 2> "$TMP/err.$2" 7<&- &
	pids[$2]=$!
	names[$2]=$3
	kinds+=("$2")
}

# ended KIND: wait for its rounds and print the program's last line
ended()
{
	wait "${pids[$1]}" && say "$1: $(< "$TMP/said.$1")" >&3 && return
	cat "$TMP/err.$1"
	return 1
}

say "seed $SEED, $ROUNDS rounds each"
exec 3>&1
trap 'kill_all; rm -rf "$TMP"' EXIT
while read -r program kind name <&7; do
	! mine || start "$program" "$kind" "$name"
done 7<< 'END'
straggler straggler a straggler past hold: exact, its partials are told
straggler slow a slow source past hold: likewise
straggler no-entry an aggregator without an entry, or with a late one
straggler no-port an aggregator without a port
straggler no-source a source that never comes is named everywhere
straggler no-straggler a straggler that never comes, likewise
straggler no-receiver a receiver that never comes, likewise
crash_rounds before-custody an aggregator dies before its parent has what it held
crash_rounds after-custody an aggregator dies when its parent has it all
crash_rounds source a source dies: an error everywhere that names it
crash_rounds source-left a source dies and may be missing: the end tells
crash_rounds receiver the receiver dies: an error everywhere
reroute_rounds link a link goes down: the rest is as good
reroute_rounds switch a switch goes down, likewise
reroute_rounds aggregator an aggregator is cut off: the other one merges
reroute_rounds cables its last cable goes while the first is gone around, likewise
END
for kind in "${kinds[@]}"; do
	check "${names[$kind]}" ended "$kind"
done
done_testing
