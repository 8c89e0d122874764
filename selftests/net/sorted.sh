#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sorted transfers: sources give their keys in order, every end merges them, and
# the receiver gets each key once, in order, while they still come, through
# buffers far smaller than the result; also with missing entries, late sources
# and replays. BCube(4,1), six senders. FULL=1: a result of 20 MB, also by
# packets that carry a filter of their path.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/incast.inc"

FULL=${FULL:-0}
MEMORY=262144
# More records than the library collects before it sends.
FIRST=1000

# sorted_inputs RECORDS KEYS: make long inputs in order
sorted_inputs()
{
	local files=("${SENDERS[@]/#/$TMP/in.}")

	gen -s "$SEED" "$1" "$2" 100 small "${files[@]}"
	reference sum "${files[@]}" > "$TMP/expected"
}

# distinct_inputs RECORDS: each source has its own keys, so each waits while
# another sends
distinct_inputs()
{
	local s

	sorted_inputs "$1" 1000000
	for s in "${SENDERS[@]}"; do
		sed -i "s/^/$s/" "$TMP/in.$s"
	done
	reference sum "${SENDERS[@]/#/$TMP/in.}" > "$TMP/expected"
}

# planned OPTION...: plan and apply a sorted transfer
planned()
{
	rm -f "$TMP"/x.*
	printed=$TMP/x.out
	plan x --topology bcube:4,1 --method irs --receivers v0 --uid 0 \
		--senders "$(IFS=,; echo "${SENDERS[*]}")" --sorted \
		--memory $MEMORY "$@"
}

# begin SOURCE...: start the receiver and these sources
begin()
{
	start_recv x v0 --stream
	start_senders "$@"
}

# end: all members exit with 0, and the output is the result, in order as it
# came
end()
{
	local status=0

	all_end_well || status=1
	cmp "$TMP/x.out" "$TMP/expected" || status=1
	[ $status = 0 ] || cat "$TMP"/x.*err
	return $status
}

# exact OPTION...: plan with these options and run a transfer
exact()
{
	local status=0

	planned "$@" || return
	begin "${SENDERS[@]}"
	end || status=1
	withdraw x && return $status
}

over_bad_links()
{
	aggctl testbed shape --loss 3% --duplicate 3% --delay 1ms \
		--reorder 25% &&
		shaped 'any(.options | (."loss-random".loss > 0) and
			(.duplicate.duplicate > 0) and
			(.reorder.reorder > 0))' v5:eth0 w0:p0 && "$@"
}

# Switches have no entry and forward packets by their filter.
by_filter()
{
	local before switches

	switches=$(echo w{0..7})
	# shellcheck disable=SC2086
	before=$(summed forwarded_filter $switches)
	# shellcheck disable=SC2086
	"$@" --scheme packet &&
		[ "$(summed forwarded_filter $switches)" -gt "$before" ]
}

# bounded OPTION...: plan with these options. Entries of v1 and v2 merge, v0
# receives.
bounded()
{
	local node used most=0 status=0

	planned "$@" || return
	begin "${SENDERS[@]}"
	end || status=1
	for node in v0 v1 v2; do
		tree $node '.memory_most' || status=1
		used=$(< "$TMP/x.jq")
		[ "$used" -lt "$most" ] || most=$used
	done
	say "a result of $(wc -c < "$TMP/x.out") bytes, at most $most a node" |
		tee -a "$TMP/bounded"
	[ $((most * 4)) -lt "$(wc -c < "$TMP/x.out")" ] || status=1
	withdraw x && return $status
}

# no_entry OPTION...: plan with these options, and delete an entry
no_entry()
{
	local status=0

	planned "$@" && aggctl withdraw "$TMP/x.json" --node v1 > "$TMP/x.none" ||
		return
	begin "${SENDERS[@]}"
	end || status=1
	aggctl apply "$TMP/x.json" --node v1 > "$TMP/x.none" && withdraw x &&
		return $status
}

# taken NODE: print how many records it has taken
taken()
{
	tree "$1" .records_in && cat "$TMP/x.jq"
}

# Until v14 binds, its keys may be less than any other: no key may leave v0.
late()
{
	local status=0

	planned || return
	begin v2 v5 v9 v10 v11
	wait_for tree v0 ".records_in > 0" &&
		wait_for tree v2 ".records_in > 0" &&
		wait_for at_rest taken v2 || status=1
	tree v2 ".packets_out == 0" && tree v0 ".records_out == 0" || status=1
	start_send x v14 v0 "$TMP/in.v14"
	senders+=("$send_pid")
	end || status=1
	withdraw x && return $status
}

# feed COMMAND...: v5 reads a pipe, which ends after the command
feed()
{
	local status=0 s

	mkfifo "$TMP/x.pipe"
	begin v2 v9 v10 v11 v14 5>&-
	aggctl -n v5 send --job $job --receiver "$(identity v0)" \
		--timeout "$TIMEOUT" "$TMP/x.pipe" 2> "$TMP/x.v5.err" 5>&- &
	senders+=($!)
	exec 5> "$TMP/x.pipe"
	head -n $FIRST "$TMP/in.v5" >&5
	"$@" || status=1
	tail -n +$((FIRST + 1)) "$TMP/in.v5" >&5
	exec 5>&-
	return $status
}

# Print the first lines of the result, from a file that still grows.
begun()
{
	local size

	size=$(wc -c < "$printed")
	[ "$size" -gt 0 ] && cmp -n "$size" "$printed" "$TMP/expected"
}

# In a new attempt of the transfer every source sends everything again.
anew()
{
	wait_for begun && jq 'walk(if type == "object" and has("attempt")
			then .attempt += 1 else . end)' "$TMP/x.json" \
			> "$TMP/anew.json" &&
		mv "$TMP/anew.json" "$TMP/x.json" &&
		aggctl apply "$TMP/x.json" --replace > "$TMP/x.apply"
}

replayed()
{
	local status=0

	planned || return
	feed anew || status=1
	end || status=1
	withdraw x && return $status
}

# recv cannot take back what it has written to a pipe.
unprinted()
{
	local status=0

	planned || return
	mkfifo "$TMP/x.reader"
	cat "$TMP/x.reader" > "$TMP/x.read" &
	printed=$TMP/x.read
	ln -s x.reader "$TMP/x.out"
	feed anew || status=1
	all_exit 1 || status=1
	grep "discard what was printed" "$TMP/x.recv.err" || status=1
	withdraw x && return $status
}

disorder()
{
	planned || return
	printf 'b\t1\nb\t2\nab\t3\n' > "$TMP/in.disorder"
	start_send disorder v2 v0 "$TMP/in.disorder"
	! wait "$send_pid" && grep "line 3: its key sorts before" \
		"$TMP/disorder.v2.err" && withdraw x
}

# v0 waits for twenty planned ends that do not exist and has memory for three
# others; four arrive. v0 reports this when it gives up, so the row runs in the
# background.
roomless_begin()
{
	local i children=10.9.0.1

	for i in {2..20}; do
		children+=,10.9.0.$i
	done
	job=99
	aggctl -n v0 tree add --job $job --receiver "$(identity v0)" \
		instance 1 contributors 20 sources 24 children "$children" \
		layout sorted memory 65536 give_up 6000 uid 0 || return
	for i in v1 v2 v3 v4; do
		aggctl -n $i tree add --job $job --receiver "$(identity v0)" \
			instance 1 contributors 1 sources 1 writers 1 \
			layout sorted give_up 20000 uid 0 || return
	done
	start_recv roomless v0
	roomless=("$recv_pid")
	for i in v1 v2 v3 v4; do
		start_send roomless $i v0 /dev/null
		roomless+=("$send_pid")
	done
}

roomless()
{
	local pid ended=0

	for pid in "${roomless[@]}"; do
		! wait "$pid" || ended=$((ended + 1))
	done
	cat "$TMP"/roomless.*err
	[ $ended = 0 ] && grep "no room at the receiver" "$TMP/roomless.recv.err"
}

testbed bcube:4,1
sorted_inputs 2500 2000
roomless_here=0
mine && roomless_here=1 && roomless_begin
job=100
mine && check "exact and in order over bad links" over_bad_links exact
mine && check "exact and in order over bad links, with filters" \
	over_bad_links by_filter exact
aggctl testbed shape
mine && check "an aggregator without an entry, with filters" \
	by_filter no_entry
mine && check "an aggregator without an entry" no_entry
mine && check "no key leaves before all planned children are bound" late
mine && check "lines come before the end; a new attempt rewrites the file" \
	replayed
mine && check "a new attempt cannot rewrite a pipe: recv fails" unprinted
mine && check "input that is out of order is refused" disorder
if [ "$FULL" = 0 ]; then
	distinct_inputs 2500
	mine && check "a result far larger than buffers" bounded
else
	distinct_inputs "$(scaled 30000)"
	mine && check "a result far larger than buffers" bounded
	mine && check "a result far larger than buffers, with filters" by_filter bounded
fi
[ $roomless_here = 0 ] ||
	check "more misses of planned ends than the receiver has room for" roomless
[ ! -s "$TMP/bounded" ] || cat "$TMP/bounded"
done_testing
