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

# The k best of each key, an id by its best value: sort knows how.
best()
{
	local function=$1 k=$2 order=n

	[ "$function" = nearest ] || order=nr
	sort -t "$(printf '\t')" -k1,1 -k3,3n -k2,2$order |
		awk -F '\t' '!seen[$1, $3]++' |
		sort -t "$(printf '\t')" -k1,1 -k2,2$order -k3,3n |
		awk -F '\t' -v k="$k" 'n[$1]++ < k'
}

# reference FUNCTION[:WHAT] FILE...
reference()
{
	local function=${1%:*} what=${1#*:}

	shift
	case $function:$what in
	topk:* | nearest:*)
		cat "$@" | best "$function" "$what" | sort ;;
	*:float*)
		cat "$@" | "$NET_DIR/exact_real.py" "$function" "$what" | sort ;;
	*:fixed)
		# Steps of 2^-20 are exact here, too.
		cat "$@" | awk -F '\t' '{ s[$1] += $2 }
			END { for (k in s) printf "%s\t%.17g\n", k, s[k] }' |
			sort ;;
	*)
		sort -t "$(printf '\t')" -k1,1 "$@" | fold "$function" ;;
	esac
}

# shaped FUNCTION:WHAT OPTION...
shaped()
{
	planned --function "${1%:*}" "${@:2}" &&
		transfers fn "$1" v0 "$SENDERS"
}

# The three greatest sums; what is whole at no sender.
top_of_sums()
{
	local s pids=() pid

	plan top --topology bcube:4,1 --method irs --uid 0 --type int32 \
		--senders "${SENDERS// /,}" --receivers v0 || return
	start_recv top v0 --top 3
	for s in $SENDERS; do
		start_send top "$s" v0 "$TMP/in.$s"
		pids+=("$send_pid")
	done
	for pid in "${pids[@]}" "$recv_pid"; do
		wait "$pid" || return
	done
	cat "$TMP"/in.* | awk -F '\t' '{ s[$1] += $2 }
		END { for (k in s) print k "\t" s[k] }' |
		sort -t "$(printf '\t')" -k2,2nr -k1,1 |
		awk 'NR <= 3' | cmp - "$TMP/top.out"
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
inputs 3000 20 pairs
check "topk" shaped topk:10 --k 10
withdraw fn
check "nearest" shaped nearest:64 --k 64
withdraw fn
inputs 1500 60 real
check "sum of float64" shaped sum:float64 --type float64
withdraw fn
check "average of float64" shaped average:float64 --type float64
withdraw fn
inputs 1500 60 real32
check "sum of float32" shaped sum:float32 --type float32
withdraw fn
inputs 1500 400 small
check "sum of fixed" shaped sum:fixed --type fixed --scale 20
withdraw fn
check "sum of int32, the top three" top_of_sums
withdraw top
aggctl testbed shape
# Far more keys than the buffers hold, so they leave in parts.
inputs 6000 8000 small
for function in average bxor; do
	check "$function, in parts" whole $function --memory 96K
	withdraw fn
done
inputs 1000 3000 real
check "sum of float64, in parts" shaped sum:float64 --type float64 --memory 128K
withdraw fn
inputs 4000 2000 pairs
check "nearest, in parts" shaped nearest:20 --k 20 --memory 256K
withdraw fn
check "product: one that does not fit" overflows
withdraw fn
check "product: zero" zeroed
withdraw fn
check "another function is refused" mixed function max
withdraw mix
check "another type is refused" mixed vtype int32
withdraw mix
done_testing
