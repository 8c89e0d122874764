#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results are exact, byte for byte, whatever the links do to packets.
# BCube(4,1):   v0..v15, each on a level-0 switch (w0..w3, eth0) and a level-1
#               switch (w4..w7, eth1); v14 reaches v0 as v14 w6 v2 w0 v0.
# Every row is one transfer of six senders, of which one has nothing to say:
# irs to v0, srs to v0, v3 and v8. Any two choices meet in some row.
. "$(dirname "$0")/lib.sh"

SENDERS="v2 v5 v9 v10 v11 v14"

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

# inputs RECORDS KEYS KLEN VALUES
inputs()
{
	local s n=0 records

	for s in $SENDERS; do
		n=$((n + 1))
		records=$1
		[ $n != 3 ] || records=0
		gen $((SEED + n)) "$records" "$2" "$3" "$4" > "$TMP/in.$s"
	done
}

# exact METHOD FUNCTION
exact()
{
	local receivers="v0"

	[ "$1" != srs ] || receivers="v0 v3 v8"
	plan exact --topology bcube:4,1 --method "$1" --function "$2" \
		--senders "${SENDERS// /,}" --receivers "${receivers// /,}" \
		--uid 0 && transfers exact "$2" "$receivers" "$SENDERS"
}

# row METHOD FUNCTION LINKS RECORDS:KEYS KLEN VALUES
row()
{
	shape "$3"
	inputs "${4%:*}" "${4#*:}" "$5" "$6"
	check "$1 $2, links $3, records:keys $4 of $5 bytes, $6" exact "$1" "$2"
	withdraw exact
}

testbed bcube:4,1
pairs "$SEED" "irs srs" "sum min max count" \
	"none loss dup reorder corrupt all" "2000:500 2:1 3000:3000" \
	"1 mix 255" "small limits" > "$TMP/rows"
while read -r -a choices <&7; do
	row "${choices[@]}"
done 7< "$TMP/rows"
row irs sum none 100000:100000 mix small
done_testing
