#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Breaks the module's files on purpose, one rule at a time, in copies: the rules
# and random scripts of flow, or the fuzzer of netlink, have to find each, and
# nothing in what is not broken.
# Usage: mutants.sh [PATTERN]   MUTANTS_SEED=, FLOW_RUNS= (flow) and
#                               RUNS_EACH= (netlink) may be set
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
OUT=${OUT:-$top/build/fuzz/mutants}
# Always the same scripts: those that find them.
SEED=${MUTANTS_SEED:-1}
FLOW_RUNS=${FLOW_RUNS:-2000}
# As many requests as are enough, however slow the machine.
RUNS_EACH=${RUNS_EACH:-20000}

# file, what it shows, sed script
table()
{
	grep -v '^$' <<-'END'
	child.c|no mark that a DATA was merged|/aggnet_rxwin_mark/d
	child.c|any end accepts strangers|/^static bool child_rooted/,/^}/s/return .*/return true;/
	child.c|a refusal presses nobody|s/aggnet_tree_press(tree, !(have + more))/aggnet_tree_press(tree, false)/
	child.c|strangers take what is reserved|/^static bool child_extra/,/^}/s/return .*/return conf->sources > 99;/
	child.c|credit without memory|s/clamp_t(u32, share, 1, CHILD_TARGET)/share ? CHILD_TARGET : 1/;s/target - have, room/target - have, room + 99/
	child.c|a FIN ends before what was merged|/^static bool child_holed/,/^}/s/return .*/return false;/
	child.c|a few slots of many are looked at|s/slots \/ CHILD_LOOKS, CHILD_SCAN/CHILD_SCAN, CHILD_SCAN/
	uplink.c|any answer ends the backoff|s/taken ? 0 : backoff/taken ? 0 : 0 * backoff/
	uplink.c|the probe for DONE forgets give_up|s/UPLINK_PROBE_MAX_US, uplink_alive_us(tree))/UPLINK_PROBE_MAX_US, UPLINK_PROBE_MAX_US)/
	tree.c|closes before its own writers|s/conf.writers && !aggnet_tree_own_done/conf.writers > 9 \&\& !aggnet_tree_own_done/
	tree.c|no comparison of members and weights|/^static bool tree_books_ok/,/^}/s/return \(.*\)/return 1 ? true : \1/
	tree.c|a merge that is not counted|s/tree->records + tree->local_records;/tree->records;/
	tree.c|a work that was cancelled keeps its tree|s/if (cancel_work_sync(&tree->grow_work))/if (cancel_work_sync(\&tree->grow_work) \&\& 0)/
	timers.c|each arming takes a reference|s/if (!mod_timer(timer, expires))/mod_timer(timer, expires);/
	uplink.c|an abort keeps the clock of its DATA|/^static bool uplink_in_flight/,/^}/s/return .*/return up->una != up->nxt ||/
	uplink.c|nothing is sent again|s/seg->lost = true;/seg->lost = false;/
	local.c|the end mark does not tell the sources|/aggnet_tree_done(tree, &out);/d
	local.c|an end mark that is read is taken|s/return local_put_end(tree, buf);/tree->end_read = true; aggnet_tree_done(tree, out); &/
	child.c|a refusal is not final|s/tree->refusals += tree->accepting;//
	child.c|slots of planned children are given away|s/ + aggnet_child_due(tree) > / + 0 > /
	child.c|records of no source are taken|/^static bool fin_sourceless/,/^}/s/return .*/return false;/
	tree.c|empty ends have no slots|/^static u32 tree_ends/,/^}/s/return .*/return conf->sources;/
	tree.c|the RST of a newer epoch is dropped|/^static bool tree_epoch_over/,/^}/s/return .*/return false \&\&/
	tree.c|the receiver waits while its children live|s/(aggnet_tree_is_receiver(tree) || tree_awaits(tree)/(tree_awaits(tree)/
	tree.c|an end that awaits a child tells what it has|s/if (tree_awaits(tree))/if (0)/
	uplink.c|an ACCEPT starts give_up again|s/up->max_records = records;/&up->heard = jiffies;/
	uplink.c|sequences come again|s/up->nxt != AGGNET_SEQ_END/1/
	timers.c|an end that was passed by gives up|/^static bool hold_passed/,/^}/s/if (aggnet_tree_bypassed(tree))/if (0)/
	local.c|a record is written twice|s/done += used;/done += used * 0;/
	aggtable.c|a chunk is lost|/t->free++/d
	sorted.c|it begins before all sources are there|s/tree->runs.weight < tree->conf.sources/!tree->runs.weight/
	sorted.c|others may come when it has begun|/^static void sorted_cover/,/^}/s/tree->accepting = false;//
	sorted.c|a planned child's room is given to others|s/tree->extra < tree->run_extras/tree->extra < 99/
	sorted.c|credit beyond the run|s/return more > tree->runs/return more + 1 > tree->runs/;s/ ? more : 0;/ ? more + 1 : 0;/
	runs.c|an empty run is not waited for|s/r->waits += !run->finished/r->waits += 0/
	runs.c|a packet is not given back|/^static void top_next/,/^}/s/slot->len = 0;//
	runs.c|the heap is not mended|s/^\tif (r->heaped)$/\tif (r->heaped > 99)/
	tree.c|children that wait for each other are waited for|s/return aggnet_tree_sorted(tree) && !tree->runs.unknown;/return false;/
	local.c|a writer goes on behind its end|s/ \&\& !as->shut ? 0/ ? 0/
	local.c|a writer's run does not end|/aggnet_runs_finish(&tree->runs, as->run);/d
	window.c|an ACK covers one too many|s/aggnet_before(seq, cum)/!aggnet_before(cum, seq)/
	netlink.c|a number of any length|s/\[AGGNET_A_TREE_INSTANCE\] = { .type = NLA_U32/[AGGNET_A_TREE_INSTANCE] = { .type = NLA_BINARY/
	netlink.c|a label without an end|s/.type = NLA_NUL_STRING,/.type = NLA_BINARY,/
	netlink.c|a command has an attribute more than its policy|s/.maxattr = ARRAY_SIZE(name) - 1,/.maxattr = ARRAY_SIZE(name) - 2,/
	tree_nl.c|a refused entry keeps its lists|/^int aggnet_nl_tree_add/,/^}/s/aggnet_step_free(step);/;/
	tree_nl.c|hold is told as give_up|s/AGGNET_A_TREE_HOLD, conf->hold_ms)/AGGNET_A_TREE_HOLD, conf->give_up_ms)/
	plan.c|a refused step keeps its tree|/^static int plan_alone/,/^}/s/aggnet_step_free(step);/;/
	plan.c|entries that went are looked at|/^static void plan_publish/,/^}/{/plan_unmark_old/d;s/plan_retire(old, trees);/&plan_unmark_old(an, plan, old, trees);/}
	link.c|the memory of a link is not given back|/^static void link_remove/,/^}/s/aggnet_memory_uncharge(.*;/(void)bits;/
	port.c|a device is held for ever|s/^\tdev_put(dev);/\t;/
	END
}

# finder FILE: what has to find that it is broken
finder()
{
	case $1 in
	netlink.c | *_nl.c | plan.c | link.c | port.c) echo netlink ;;
	*) echo flow ;;
	esac
}

# build FINDER
build()
{
	local programs=("$OUT/fuzz/flow/"flow_{rules,ends,random})

	[ "$1" = flow ] || programs=("$OUT/fuzz/netlink/fuzz_netlink")
	make -s -j 2 -C "$here/$1" BUILD="$OUT" KMOD="$OUT/kmod" \
		HARNESS="$top/build/kselftest" "${programs[@]}" \
		> "$OUT/log" 2>&1
}

# run FINDER: exits 1 if it finds something
run()
{
	if [ "$1" = flow ]; then
		timeout 120 "$OUT/fuzz/flow/flow_rules" || return
		timeout 120 "$OUT/fuzz/flow/flow_ends" || return
		timeout 120 "$OUT/fuzz/flow/flow_random" "$SEED" "$FLOW_RUNS"
		return
	fi
	rm -rf "$OUT/corpus" && mkdir "$OUT/corpus"
	timeout 120 "$OUT/fuzz/netlink/fuzz_netlink" -seed="$SEED" \
		-runs="$RUNS_EACH" -mutate_depth=2 -error_exitcode=1 \
		-artifact_prefix="$OUT/" "$OUT/corpus" \
		"$here/netlink/seeds/netlink" 2>&1
}

# The finder's own words, or the sanitizer's.
said()
{
	grep -m 1 -e '^# [a-z_]*[.:]' -e '^SUMMARY' -e '^[a-z_]*: ' "$OUT/log"
}

# verdict FILE SCRIPT: found, missed, or what else became of the mutant
verdict()
{
	local status=0

	cp "$top/kmod/$1" "$OUT/kmod/$1.whole"
	sed "$2" "$OUT/kmod/$1.whole" > "$OUT/kmod/$1"
	if cmp -s "$OUT/kmod/$1.whole" "$OUT/kmod/$1"; then
		echo "it changes nothing"
	elif ! build "$(finder "$1")"; then
		echo "it does not build"
	else
		run "$(finder "$1")" > "$OUT/log" 2>&1 || status=$?
		case $status in
		0) echo "missed" ;;
		1) echo "found" ;;
		*) echo "status $status" ;;
		esac
	fi
	cp "$OUT/kmod/$1.whole" "$OUT/kmod/$1"
}

rm -rf "$OUT"
mkdir -p "$OUT/kmod"
cp "$top"/kmod/*.[ch] "$OUT/kmod"
for finder in flow netlink; do
	build $finder && continue
	cat "$OUT/log"
	echo "Bail out! it does not build"
	exit 1
done
mapfile -t rows < <(table | grep -e "${1:-.}")
echo "# seed $SEED"
echo "1..${#rows[@]}"
i=0 failed=0
for row in "${rows[@]}"; do
	IFS='|' read -r file what script <<< "$row"
	i=$((i + 1))
	got=$(verdict "$file" "$script")
	if [ "$got" = found ]; then
		echo "ok $i $file: $what ($(said))"
	else
		echo "not ok $i $file: $what: $got"
		tail -n 5 "$OUT/log"
		failed=$((failed + 1))
	fi
done
[ $failed = 0 ]
