#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results are exact, byte for byte, whatever the links do to packets.
# BCube(8,1):   v0..v63, each on a level-0 switch (w0..w7, eth0) and a level-1
#               switch (w8..w15, eth1); on a slow kernel BCube(4,1), v0..v15.
# Every row is one job; any two choices of two columns meet in some row:
#   one   one sender, one tree
#   irs   six senders, one tree, merged on the way
#   srs   six senders, eight trees at the same time
#   many  all servers contribute at one, the receiver among them
# One sender of several has nothing to say, another has the longest flow: so many
# records of so many keys of so many bytes.
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
LONG=$(scaled 100000)

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

# inputs RECORDS:KEYS:KLEN VALUES: of $senders
inputs()
{
	local files=() s records keys klen

	IFS=: read -r records keys klen <<< "$1"
	for s in $senders; do
		files+=("$TMP/in.$s")
	done
	gen "$SEED" $((records < 100 ? records : 100)) \
		$((keys < 80 ? keys : 80)) "$klen" "$2" "${files[@]}"
	gen $((SEED + 64)) "$records" "$keys" "$klen" "$2" "${files[0]}"
	[ ${#files[@]} = 1 ] || : > "${files[2]}"
}

# exact METHOD FUNCTION
exact()
{
	plan exact --topology "bcube:$SIDE,1" --method "$1" --function "$2" \
		--senders "${senders// /,}" --receivers "${receivers// /,}" \
		--uid 0 && transfers exact "$2" "$receivers" "$senders"
}

# row TREES FUNCTION LINKS RECORDS:KEYS:KLEN VALUES
row()
{
	local senders=$SIX receivers=v0 method=irs

	case $1 in
	one) senders=v9 ;;
	srs) receivers=$EIGHT method=srs ;;
	many) senders=$ALL method=existing ;;
	esac
	shape "$3"
	inputs "$4" "$5"
	check "$1 $2, links $3, longest flow $4, values $5" \
		exact $method "$2"
	withdraw exact
}

testbed "bcube:$SIDE,1"
pairs "$SEED" "one irs srs many" "sum min max count" \
	"none loss dup reorder corrupt all" \
	"2:1:255 3000:60:1 700:700:255 $LONG:$LONG:4" "small limits" \
	> "$TMP/rows"
while read -r -a choices <&7; do
	row "${choices[@]}"
done 7< "$TMP/rows"
done_testing
