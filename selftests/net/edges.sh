#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Members of a transfer are late, missing or dead, again and again: late.c and
# death.c have a line s --- a --- r for each kind, made once, all at the same
# time because most of that time somebody waits. So has detour.c a testbed with
# two ways, one of which breaks.
#   ROUNDS=N  of each kind (20)
. "$(dirname "$0")/lib.sh"

ROUNDS=${ROUNDS:-$(scaled 20)}
LATE="straggler slow no-entry no-port no-source no-straggler no-receiver"
DEATH="before-custody after-custody source source-left receiver"
DETOUR="link switch aggregator cables"
declare -A pids

# start PROGRAM KIND
start()
{
	"$1" "$SEED" "$ROUNDS" "$2" > "$TMP/said.$2" 2> "$TMP/err.$2" &
	pids[$2]=$!
}

# ended KIND: the last line that it prints is kept
ended()
{
	wait "${pids[$1]}" && say "$1: $(< "$TMP/said.$1")" >&3 && return
	cat "$TMP/err.$1"
	return 1
}

say "seed $SEED, $ROUNDS rounds each"
exec 3>&1
trap 'kill_all; rm -rf "$TMP"' EXIT
for kind in $LATE; do
	start late "$kind"
done
for kind in $DEATH; do
	start death "$kind"
done
for kind in $DETOUR; do
	start detour "$kind"
done
check "a straggler past hold: exact, its partials are told" ended straggler
check "a slow source past hold: likewise" ended slow
check "an aggregator without an entry, or with a late one" ended no-entry
check "an aggregator without a port" ended no-port
check "a source that never comes is named everywhere" ended no-source
check "a straggler that never comes, likewise" ended no-straggler
check "a receiver that never comes, likewise" ended no-receiver
check "an aggregator dies before its parent has what it held" ended before-custody
check "an aggregator dies when its parent has it all" ended after-custody
check "a source dies: an error everywhere that names it" ended source
check "a source dies and may be missing: the end tells" ended source-left
check "the receiver dies: an error everywhere" ended receiver
check "a link goes down: the rest is as good" ended link
check "a switch goes down, likewise" ended switch
check "an aggregator is cut off: the other one merges" ended aggregator
check "its last cable goes while the first is gone around, likewise" ended cables
done_testing
