#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every function gives the same whatever the links do to packets and however
# the buffers split it: loss, duplicates, reordering, and buffers so small that
# parts leave before the flow is whole. BCube(4,1), six senders, trees of irs.
. "$(dirname "$0")/lib.sh"

SENDERS="v2 v5 v9 v10 v11 v14"

# inputs RECORDS KEYS VALUES
inputs()
{
	local s n=0

	for s in $SENDERS; do
		n=$((n + 1))
		gen $((SEED + n)) "$1" "$2" mix "$3" > "$TMP/in.$s"
	done
}

planned()
{
	plan fn --topology bcube:4,1 --method irs --senders "${SENDERS// /,}" \
		--receivers v0 --uid 0 "$@"
}

# whole FUNCTION OPTION...: a transfer and its reference
whole()
{
	planned --function "$@" && transfers fn "$1" v0 "$SENDERS"
}

# partials: how many DATA left before their flow was whole
partials()
{
	local v sum=0

	for v in v{0..15}; do
		sum=$((sum + $(aggctl -j -n "$v" tree show --job $job |
			jq 'map(.packets_out // 0) | add // 0')))
	done
	echo $sum
}

# split FUNCTION: a buffer of 96 KiB for 400 KiB of keys
split()
{
	whole "$1" --memory 96K && [ "$(partials)" -gt 20 ]
}

# ends_in WORD NAME COMMAND...: fails, and says so in these words
ends_in()
{
	local word=$1 name=$2

	shift 2
	! "$@" 2> "$TMP/$name.err" > "$TMP/$name.out" || return 1
	cat "$TMP/$name.err"
	grep -q "$word" "$TMP/$name.err"
}

# The product of one key passes 64 bits: all are told, and which key it was.
overflows()
{
	local s pids=() pid

	for s in $SENDERS; do
		printf 'fits\t3\nbig\t-100000000000\n' > "$TMP/in.$s"
	done
	planned --function product || return
	start_recv over v0
	for s in $SENDERS; do
		start_send over "$s" v0 "$TMP/in.$s"
		pids+=("$send_pid")
	done
	! wait "$recv_pid" || return 1
	grep "key 'big'" "$TMP/over.recv.err" || return
	for pid in "${pids[@]}"; do
		! wait "$pid" || return 1
	done
	grep -h "does not fit" "$TMP"/over.v*.err
}

# Of two big factors and a zero the product is 0, in any order.
zeroed()
{
	local s

	for s in $SENDERS; do
		printf 'k\t-4611686018427387904\nl\t-1\n' > "$TMP/in.$s"
	done
	echo 'k	0' >> "$TMP/in.v11"
	planned --function product && transfers fn product v0 "$SENDERS"
}

# mixed NAME VALUE: v14's entry says something else than its acceptor's
mixed()
{
	local s pids=() pid said=0

	inputs 10 10 small
	job=$((job + 1))
	aggctl -j plan --job $job --topology bcube:4,1 --method irs --uid 0 \
		--senders "${SENDERS// /,}" --receivers v0 |
		jq --arg name "$1" --arg value "$2" \
		'(.nodes.v14.trees[] | select(.writers > 0))[$name] |=
		($value | tonumber? // $value)' > "$TMP/mix.json" &&
		aggctl apply "$TMP/mix.json" > "$TMP/mix.apply" || return
	start_recv mix v0
	for s in $SENDERS; do
		start_send mix "$s" v0 "$TMP/in.$s"
		pids+=("$send_pid")
	done
	for pid in "${pids[@]}" "$recv_pid"; do
		! wait "$pid" || return 1
	done
	for s in $SENDERS; do
		grep -q "disagree on function" "$TMP/mix.$s.err" &&
			said=$((said + 1))
	done
	cat "$TMP/mix.recv.err"
	[ $said = 6 ] && grep "because of 10.0.0.15" "$TMP/mix.recv.err"
}

testbed bcube:4,1 --delay 1ms --loss 3% --duplicate 3% --reorder 25%
inputs 1500 400 small
for function in average band bor bxor land lor lxor; do
	check "$function" whole $function
	withdraw fn
done
inputs 1500 400 factors
check "product" whole product
withdraw fn
aggctl testbed shape
inputs 6000 8000 small
for function in average bxor; do
	check "$function, in parts" split $function
	withdraw fn
done
check "product: one that does not fit" overflows
withdraw fn
check "product: zero" zeroed
withdraw fn
check "another function is refused" mixed function max
withdraw mix
done_testing
