#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Explores the protocol's SPIN models. Each line of the table is a run: with
# "holds" the exploration must be complete and without an error, with "ends" no
# run may go on for ever; "choice" has a choice where SPIN makes none; every other
# line breaks a rule or allows a fault without its remedy, and the run must detect
# it.
# Usage: run.sh [PATTERN]   JOBS=2 and OUT=build/model may be set
set -u

here=$(cd "$(dirname "$0")" && pwd)
OUT=${OUT:-$here/../../build/model}
JOBS=${JOBS:-2}

# Model, expected verdict, macros (- for none), what the run shows.
table()
{
	grep -v '^$' <<-'END'
	channel holds - every record once, or no result, whatever the network does
	channel holds RECS=0 the same for an empty flow
	channel ends - no livelock, whatever the network does
	channel holds LIVE without crashes every child gets DONE
	channel holds LIVE,RECS=0 the same for an empty flow
	channel deadlock LIVE,NO_RST a closed end does not refuse a PROBE
	channel assertion REACH a result can be reached
	channel assertion UNNAMED DATA merged by another than the acceptor it names
	channel assertion REBIND a BOUND child opens anew
	channel assertion NONCE a restarted acceptor serves its former nonce
	channel assertion ACK_FIRST ACK before merge
	channel assertion DUP no duplicate check
	channel assertion TAG a corrupt DATA is merged
	channel assertion EPOCH an older epoch is accepted
	channel assertion FIN_BINDS,RECS=0 FIN binds
	channel assertion MEMBERS a source twice in the place of a missing one
	channel holds UNNAMED,CUSTODY=0,RECS=1 a merge by an unnamed end is no result
	channel holds REBIND,CUSTODY=0,RECS=1 a double merge after rebinding is no result
	channel holds NONCE,CUSTODY=0,RECS=1 a double merge after restart is no result
	channel holds DUP,CUSTODY=0,RECS=1 a duplicate merge is no result
	channel holds ACK_FIRST,CUSTODY=0,RECS=1 a lost merge is no result
	channel assertion UNNAMED,CUSTODY=0,UNCHECKED,RECS=1 records are not compared
	rooted holds - bindings have no cycle, and all ends get rooted
	rooted holds UNLISTED the same if no list of children is kept
	rooted ends - no livelock
	rooted ends UNLISTED the same if no list of children is kept
	rooted assertion REACH all ends can be bound
	rooted assertion ANYONE any end accepts any child
	rooted assertion DIRECT any end but the child's own acceptor accepts it
	rooted livelock CLOSED_ACCEPTS an end that has closed answers an OPEN
	rooted livelock FOREVER restarts have no end
	rooted deadlock LISTS_ONLY the receiver accepts only children on its list
	completion holds - every application gets DONE
	completion holds HOLD=1 the same if hold passes anywhere
	completion holds READER_CLOSES=1 the reader closes before the end mark
	completion holds HOLD=1,WRITER_CLOSES=1 a writer closes without shutdown
	completion holds CRASH=1,GIVE_UP=1 crash of the aggregator
	completion holds CRASH=1,RESTART=1,GIVE_UP=1 crash and restart of it
	completion holds BYPASS=1,GIVE_UP=1 a route leads around the planned end
	completion holds BYPASS=1,HOLD=1 hold ends the wait: every application gets DONE
	completion ends - no livelock
	completion ends CRASH=1,RESTART=1,GIVE_UP=1 the same after a restart
	completion ends BYPASS=1,HOLD=1 the same around the planned end
	completion assertion REACH DONE can be reached
	completion deadlock CRASH=1,GIVE_UP=1,NO_CHILD an end waits for a bound child that is silent
	completion deadlock CRASH=1,GIVE_UP=1,NO_PEER a child waits for an acceptor that is silent
	completion deadlock CRASH=1,RESTART=1,GIVE_UP=1,NO_WRITER a node waits for a process that never joins
	completion deadlock CRASH=1,GIVE_UP=1,NO_SHORT the receiver waits for sources that will not come
	completion deadlock BYPASS=1,GIVE_UP=1,NO_HALF an end waits for a child that bound elsewhere
	completion deadlock CRASH=1 a crash without give_up
	completion deadlock CRASH=1,RESTART=1 a restart without give_up
	completion deadlock BYPASS=1 a bypass without hold and give_up
	completion assertion DONE_BY_FIN DONE when the FIN is taken
	completion assertion DONE_BY_WHOLE DONE before the end mark is taken
	completion deadlock NO_TOMBSTONE a repeated FIN is not answered by DONE
	completion assertion FIN_EARLY FIN before all DATA are merged
	completion deadlock UNFINISHED a flow closes before its bound children
	completion deadlock OWN_WRITERS a flow closes before its own writers
	completion deadlock EXACT a flow closes at its weight only, not above
	completion deadlock HOLD_AT_R,HOLD=1 hold closes the receiver
	completion deadlock SILENT_ABORT,WRITER_CLOSES=1 no ABORT is sent up
	giveup holds - a missing source ends the transfer, a healthy one is not given up
	giveup holds LAZY=1 the same with a source that lives and never finishes
	giveup holds BYPASS=1 the same if packets go past an end, which may be cut off
	giveup ends LAZY=1,BYPASS=1 no livelock
	giveup assertion REACH the transfer can be done
	giveup deadlock LIVES,LAZY=1 an end is not short while a bound child lives
	giveup assertion UNTOLD children do not report their sources
	giveup assertion ONCE the report is not repeated
	giveup assertion AS_PLANNED it is not repeated once it is as planned
	giveup assertion PASSED_BY,BYPASS=1 an end that takes no part gives up
	giveup deadlock WAITS ends never stop waiting
	giveup assertion EAGER the receiver counts finished sources only
	refuse holds - a refusal is final, whatever is repeated
	refuse ends - no livelock
	refuse assertion REACH a refused child can be bound
	refuse deadlock REBINDS a copy of a refused PROBE binds
	epoch holds - the newer epoch ends the older, and is exact
	epoch holds LEFT_OUT=1 the same for a child that has no newer entry
	epoch holds CHILD_FIRST=1 the same if the child has the newer entry first
	epoch ends - no livelock
	epoch assertion REACH the newer epoch can be done
	epoch deadlock DROPPED,LEFT_OUT=1 an RST of a newer epoch is dropped
	epoch deadlock OPEN_SILENT,LEFT_OUT=1 the OPEN of an older epoch is not answered
	epoch deadlock NEWER_DROPPED,CHILD_FIRST=1 the OPEN of a newer epoch is dropped
	epoch assertion ANY_NONCE an RST for another nonce is taken
	epoch assertion ANY_EPOCH an RST of an older epoch is taken
	epoch assertion OLD_DATA records of an older epoch are merged
	missing holds - a result without a source names it, and has all others once
	missing assertion KEEP the receiver keeps records of an earlier attempt
	missing assertion REST a source does not start again
	missing assertion OLD_FIN a record of the previous attempt is taken
	missing assertion SILENT the end mark does not name the absent source
	missing deadlock ANEW the next attempt begins after the result
	supervise holds REFUSE=3 a repair is in force everywhere or nowhere
	supervise holds KILL=1,UNSAVED=1 the same if the supervisor is killed
	supervise holds TWO=1,REFUSE=1,KILL=1 the same with two supervisors; one continues
	supervise ends TWO=1,REFUSE=1 no livelock between them
	supervise assertion REUSE,REFUSE=1 an attempt that was undone is used again
	supervise assertion NO_UNDO,REFUSE=3 a refused repair is not undone
	supervise assertion NO_NOTE,REFUSE=1,KILL=1 the file does not have the repair
	supervise assertion NO_RESUME,KILL=1 the repair in the file is not continued
	supervise assertion NO_ADOPT,KILL=1,UNSAVED=1 a later attempt is not adopted
	supervise assertion NO_ID,TWO=1 a node accepts two plans of one attempt
	supervise assertion DEAF,BLIND,TWO=1 two supervisors continue
	credit holds - trees X to Y and Y to X both finish
	credit holds CHUNKS=2 the same with nothing but the reserve
	credit holds SLOW_READER=1 a reader that never reads stops its own tree
	credit holds SLOW_READER=1,CHUNKS=2 the same with nothing but the reserve
	credit ends - no livelock between them
	credit ends CHUNKS=2 the same with nothing but the reserve
	credit livelock TAKEN_BACK a credit is taken back
	credit deadlock SHARED one pool for both trees
	credit deadlock SHARED,SLOW_READER=1,CHUNKS=8 the same with a slow reader
	credit deadlock NO_SOURCE no reserve for the packet to emit
	credit deadlock NO_SINK no reserve for the credit
	credit assertion UNBACKED credit without memory behind it
	pressure holds - idle children do not stop a child that sends
	pressure ends - no livelock
	pressure deadlock HALF unused credits count as free
	reserve holds - unplanned children leave reserved memory to others
	reserve ends - no livelock
	reserve deadlock STRANGERS an unplanned child binds without memory for a credit
	reserve deadlock DRY a child without credit has no claim on the next chunks
	reserve deadlock OWN the own writer has no claim
	sorted holds - a key leaves once, with each source that gave it
	sorted ends - no livelock
	sorted assertion REACH the end can be reached
	sorted assertion EARLY an end merges before it is closed
	sorted assertion EMPTY an end does not wait for an empty run
	sorted deadlock LATE a closed end accepts
	sorted deadlock PLANNED a flow states the weight that was planned
	sorted deadlock NO_HOLD hold never passes, and a source binds elsewhere
	rounds holds ROUNDS=3 each result has the records of its round
	rounds holds ROUNDS=3,EARLY=1 the same if a source ends in any round
	rounds holds ROUNDS=3,ABORTS=1 an error is that of a round that is not done
	rounds holds ROUNDS=3,REPAIR=1 an attempt restarts the round of the root
	rounds holds REPAIR=1,ABORTS=1,EARLY=1 the same after an abort
	rounds holds ROUNDS=3,BOTH=1,REPAIR=1 the same with results that go down
	rounds holds RESTART rounds alone tell old DATA from new
	rounds ends - no livelock
	rounds ends REPAIR=1 the same with a new attempt
	rounds assertion REACH the last round can be done
	rounds assertion OLD_FIN a FIN of an older round is counted
	rounds assertion OLD_DONE a DONE of an older round is taken
	rounds assertion DONE_BY_FIN custody of a FIN ends the round
	rounds deadlock NO_TOMBSTONE an acceptor in the next round does not answer a FIN
	rounds assertion RESTART,ANY_ROUND neither sequence nor round tells old DATA
	rounds assertion KEEP books are not reset
	rounds assertion LAST_UP,EARLY=1 FIN does not tell the last round
	rounds assertion LAST_DOWN,EARLY=1 DONE does not tell the last round
	rounds assertion NO_ROUND,ABORTS=1 an ABORT of the next round does not imply DONE
	rounds assertion EARLY_DONE,BOTH=1 DONE before all members have the result
	rounds deadlock OWN,REPAIR=1 a source replays a round that is done
	rounds assertion RELABEL,REPAIR=1 it replays it as of the present round
	rounds assertion LATE,REPAIR=1 the root goes on after its round was read
	both holds - no program makes all members wait
	both holds RING=2 the same with a longer ring
	both holds REVERSE=1 the same if members send in different orders
	both holds STORE=3,RING=3,REVERSE=1 a result that fits may be read at the end
	both ends - no livelock
	both assertion REACH a result can be read
	both deadlock SEND_WAITS a send waits for its own member to read
	both deadlock ASLEEP it looks at the ring only when it begins
	both deadlock RECV_WAITS a recv waits for its own member to send
	both deadlock NO_PARTIAL,REVERSE=1 only whole blocks leave the store
	both assertion REUSE a slot is used again too early
	both deadlock SILENT an error is not told to the others
	down holds - every reader gets every packet, once and in order
	down holds RING=1 the same with the shortest ring
	down holds LOSS=2,COPY=2 the same with more losses and copies
	down holds CLOSES=1 a reader that closes early ends the transfer for all
	down holds NO_CREDIT a packet without credit is dropped, and comes again
	down ends - no livelock
	down assertion REACH the root can be DONE
	down assertion REUSE a slot is used again before the child below has its packet
	down assertion PASSED_ON a slot is used again before the reader has its packet
	down assertion UNJOINED a reader that has not joined is not waited for
	down assertion UNBOUND a child that has not bound is not waited for
	down assertion UNCHECKED,NO_CREDIT a packet is taken without a slot for it
	down assertion CUSTODY a node finishes before its reader has the end mark
	down assertion OWN a node finishes before its child
	down assertion HOLED a reader takes the end mark before the last packet
	down deadlock SENT_ONCE a packet is not repeated
	down deadlock TOLD_ONCE an ACK is not repeated
	down deadlock END_ONCE the end of the stream is not repeated
	down deadlock FIN_ONCE a FIN is not repeated
	down deadlock SILENT_UP,CLOSES=1 an abort is not told to the node above
	down deadlock SILENT_DOWN,CLOSES=1 an abort is not told to the nodes below
	down holds ROUNDS=2 each round ends before the next one begins, for all
	down holds ROUNDS=2,RING=1 the same with the shortest ring
	down holds ROUNDS=2,CLOSES=1,COPY=0 a reader that closes early ends all rounds
	down ends ROUNDS=2 no livelock
	down assertion ROUNDS=2,REACH the last round can be done
	down deadlock ROUNDS=2,UNTOLD a FIN implies no credit for the next round
	down assertion ROUNDS=2,RUSH the root goes on when its child knows the end
	down assertion ROUNDS=2,KEEP_END the end of the round before is not forgotten
	down assertion ROUNDS=2,OLD_END a FIN of the round before ends the next one
	down deadlock ROUNDS=2,OLD_ACK an ACK of the round before counts in the next one
	down assertion ROUNDS=2,OLD_FIN a child's FIN of the round before counts
	down choice IN_STEP whether a copy stays under way is chosen in a d_step
	END
}

# Read a model without macros. Does a d_step select from more than one option and
# "else"? Of options that are executable SPIN takes the first one, and explores no
# other.
chooses()
{
	awk '
	/\{$/			{ depth++ }
	/d_step \{$/ && !step	{ step = depth; n = 0 }
	step && /^ *(if|do)$/	{ options[++n] = 0 }
	step && /^ *::$/	{ options[n]++ }
	step && /^ *else;$/	{ options[n]-- }
	step && /^ *(fi|od);$/	{ found += options[n--] > 1 }
	/^ *\};?$/		{ if (depth == step) step = 0; depth-- }
	END			{ exit !found }
	'
}

# one DIR MODEL VERDICT MACROS: explore in DIR, write the file "result"
one()
{
	local dir=$1 model=$2 verdict=$3 macros=$4 got defs='' cc='gcc -O1'
	local search=-DSAFETY cycles=''

	mkdir -p "$dir" && cd "$dir" || return
	[ "$macros" = - ] || defs="-D${macros//,/ -D}"
	# A small state space is explored before gcc has compiled the program.
	case $verdict-$model in
	holds-channel | holds-completion | ends-channel | ends-completion) ;;
	*) cc=tcc ;;
	esac
	# No state is marked as progress: a cycle of states is a livelock.
	case $verdict in
	ends | livelock) search=-DNP cycles=-l ;;
	esac
	# shellcheck disable=SC2086 # a list of options
	spin -a $defs "$here/$model.pml" > log 2>&1 &&
		$cc -w $search -DMEMLIM=1200 -o pan pan.c >> log 2>&1 &&
		./pan $cycles -m20000 -w22 >> log 2>&1
	case $(grep -E '^pan:1:|errors:|too small|not completed' log) in
	*'too small'*)			got=incomplete ;;
	*'assertion violated'*)		got=assertion ;;
	*'invalid end state'*)		got=deadlock ;;
	*'non-progress cycle'*)		got=livelock ;;
	*'not completed'*)		got=incomplete ;;
	*'errors: 0'*)			got=${cycles:+ends} got=${got:-holds} ;;
	*)				got=broken ;;
	esac
	# shellcheck disable=SC2086 # a list of options
	! spin -I $defs "$here/$model.pml" | chooses || got=choice
	rm -f pan pan.? pan.pre
	echo "$got $(awk '/states, stored/ { print $1 }' log)" > result
}

if [ "${1-}" = --one ]; then
	shift
	one "$@"
	exit
fi

if ! command -v spin > /dev/null; then
	echo 'Bail out! spin is not installed (Debian package spin)'
	exit 1
fi
if ! command -v tcc > /dev/null; then
	echo 'Bail out! tcc is not installed (Debian package tcc)'
	exit 1
fi

mkdir -p "$OUT" && rm -rf "$OUT"/[0-9]* || exit 1
OUT=$(cd "$OUT" && pwd)
if ! table | grep -e "${1:-.}" > "$OUT/table"; then
	echo "Bail out! no run matches $1"
	exit 2
fi
n=$(wc -l < "$OUT/table")
echo "1..$n"
export OUT
awk -v out="$OUT" '{ print out "/" NR, $1, $2, $3 }' "$OUT/table" |
	xargs -r -P "$JOBS" -L 1 "$here/run.sh" --one

i=0 failed=0
while read -r model verdict macros what; do
	i=$((i + 1))
	got='broken' states=0
	[ ! -r "$OUT/$i/result" ] || read -r got states < "$OUT/$i/result"
	says="$i $model: $what ($verdict, ${states:-0} states)"
	if [ "$got" = "$verdict" ]; then
		echo "ok $says"
	else
		echo "not ok $says"
		echo "# found: $got; macros: $macros; see $OUT/$i/log"
		failed=$((failed + 1))
	fi
done < "$OUT/table"
echo "# $((n - failed)) passed, $failed failed"
[ $failed = 0 ]
