#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results are exact, byte for byte, under loss, duplication, reordering and
# corruption, by every scheme: functions, one tree and eight, 1 to 64
# contributors, sizes of flows and keys, in order or not. Each pair of these
# values is in some row.
# BCube(8,1):   v0..v63, each on a level-0 switch (w0..w7, eth0) and a level-1
#               switch (w8..w15, eth1); on a slow kernel BCube(4,1), v0..v15.
# Every row is one job; any two choices of two columns meet in some row:
#   one    one sender, one tree
#   six    six senders, one tree
#   eight  six senders, eight trees at the same time
#   many   all servers contribute, the receiver among them
# With the scheme "route" plain IP takes them to the receiver, which alone merges;
# by others the flows of several senders merge on the way. One sender of several
# has nothing to say, another has the longest flow: so many records of so many
# keys of so many bytes. Sorted: each sender gives its keys in order.
. "$(dirname "$0")/lib.sh"

SIDE=8
SIX="v9 v2 v18 v27 v38 v63"
EIGHT="v0 v3 v8 v20 v29 v36 v45 v54"
if [ "$SLOW" -gt 1 ]; then
	SIDE=4
	SIX="v9 v2 v5 v10 v11 v14"
	EIGHT="v0 v1 v3 v4 v6 v8 v12 v15"
fi
ALL=$(seq -f 'v%.0f' -s ' ' 0 $((SIDE * SIDE - 1)))
LONG=$(scaled 50000)
# How many packets v0's switches have forwarded so far, by scheme.
declare -A forwarded=([bloom]=0 [filter]=0)

shape()
{
	local all=(--delay 1ms --loss 5% --duplicate 5% --reorder 25%)

	case $1 in
	none) aggctl testbed shape ;;
	loss) aggctl testbed shape --loss 5% ;;
	dup) aggctl testbed shape --duplicate 5% ;;
	reorder) aggctl testbed shape --delay 1ms --reorder 25% ;;
	corrupt) aggctl testbed shape --corrupt 1% ;;
	all) aggctl testbed shape "${all[@]}" --corrupt 1% ;;
	esac
}

# shaped_as LINKS: does one link of each kind of node shape packets like that?
shaped_as()
{
	local want

	case $1 in
	none) want='all(.kind != "netem")' ;;
	loss) want='any(.options."loss-random".loss > 0)' ;;
	dup) want='any(.options.duplicate.duplicate > 0)' ;;
	reorder) want='any(.options.reorder.reorder > 0)' ;;
	corrupt) want='any(.options.corrupt.corrupt > 0)' ;;
	all) want='any(.options | (."loss-random".loss > 0) and
		(.duplicate.duplicate > 0) and (.reorder.reorder > 0) and
		(.corrupt.corrupt > 0))' ;;
	esac
	shaped "$want" v9:eth0 w0:p0
}

# inputs RECORDS:KEYS:KLEN VALUES LAYOUT: make an input for each of $senders
inputs()
{
	local files=() s records keys klen order=()

	IFS=: read -r records keys klen <<< "$1"
	for s in $senders; do
		files+=("$TMP/in.$s")
	done
	[ "$3" = keyed ] || order=(-s)
	gen "${order[@]}" "$SEED" $((records < 100 ? records : 100)) \
		$((keys < 80 ? keys : 80)) "$klen" "$2" "${files[@]}"
	gen "${order[@]}" $((SEED + 64)) "$records" "$keys" "$klen" "$2" "${files[0]}"
	[ ${#files[@]} = 1 ] || : > "${files[2]}"
}

# forwarded_by bloom|filter: have v0's switches forwarded more since the last
# call?
forwarded_by()
{
	local before=${forwarded[$1]}

	forwarded[$1]=$(summed "forwarded_$1" w0 w$SIDE)
	echo "v0's switches forwarded by $1: $before, then ${forwarded[$1]}"
	[ "${forwarded[$1]}" -gt "$before" ]
}

# exact METHOD FUNCTION SCHEME LAYOUT LINKS: run one job and compare its result
exact()
{
	local words=(--method "$1" --scheme "$3")

	shape "$5" && shaped_as "$5" || return
	[ "$3" != route ] || words=(--method existing)
	[ "$4" = keyed ] || words+=(--sorted)
	plan exact --topology "bcube:$SIDE,1" --function "$2" --uid 0 \
		"${words[@]}" \
		--senders "${senders// /,}" --receivers "${receivers// /,}" &&
		transfers exact "$2" "$receivers" "$senders" || return
	case $3 in
	bloom) forwarded_by bloom ;;
	packet) forwarded_by filter ;;
	esac
}

# row TREES FUNCTION LINKS RECORDS:KEYS:KLEN VALUES SCHEME LAYOUT: one TAP row
row()
{
	local senders=$SIX receivers=v0 method=irs

	case $1 in
	one) senders=v9 ;;
	eight) receivers=$EIGHT method=srs ;;
	many) senders=$ALL ;;
	esac
	inputs "$4" "$5" "$7"
	check "$1 $2, links $3, longest flow $4, values $5, $6, $7" \
		exact $method "$2" "$6" "$7" "$3"
	withdraw exact
}

testbed "bcube:$SIDE,1"
pairs "$SEED" "one six eight many" "sum min max count" \
	"none loss dup reorder corrupt all" \
	"2:1:255 3000:60:1 700:700:255 $LONG:$LONG:4" "small limits" \
	"route exact bloom packet" "keyed sorted" \
	> "$TMP/rows"
while read -r -a choices <&7; do
	! mine || row "${choices[@]}"
done 7< "$TMP/rows"
done_testing
