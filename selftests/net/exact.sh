#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results are exact, byte for byte, whatever the links do to packets.
# BCube(4,1):   v0..v15, each on a level-0 switch (w0..w3, eth0) and a level-1
#               switch (w4..w7, eth1); v14 reaches v0 as v14 w6 v2 w0 v0.
# Every row below is one transfer; the columns cover each other pairwise.
. "$(dirname "$0")/lib.sh"

ALL="--delay 1ms --loss 5% --duplicate 5% --reorder 25% --corrupt 1%"
SENDERS=v2,v5,v9,v10,v11,v14

# links METHOD FUNCTION LINKS RECORDS KEYS KLEN VALUES
run()
{
	local method=$1 function=$2 links=$3 records=$4 keys=$5 klen=$6 values=$7
	local s n=0 name="$1 $2, links $3, $4 records, $5 keys of $6, $7"
	local shape=()

	case $links in
	loss) shape=(--loss 5%) ;;
	dup) shape=(--duplicate 5%) ;;
	reorder) shape=(--delay 1ms --reorder 25%) ;;
	corrupt) shape=(--corrupt 1%) ;;
	all) read -ra shape <<< "$ALL" ;;
	esac
	aggctl testbed shape "${shape[@]}"
	for s in ${SENDERS//,/ }; do
		n=$((n + 1))
		# One sender has nothing to say.
		[ $n != 3 ] || records=0
		gen $((SEED + n)) "$records" "$keys" "$klen" "$values" \
			> "$TMP/in.$s"
		records=$4
	done
	check "$name: planned" plan exact --topology bcube:4,1 \
		--method "$method" --function "$function" --senders $SENDERS \
		--receivers v0 --uid 0
	# shellcheck disable=SC2086
	check "$name" transfer exact "$function" v0 ${SENDERS//,/ }
	withdraw exact
}

testbed bcube:4,1
#   method  function links   records keys  klen values
run irs     sum      none    2000    500   mix  limits
run srs     min      loss    2000    2000  1    small
run irs     max      dup     1       1     255  limits
run srs     count    reorder 2000    300   255  small
run existing sum     all     2000    500   mix  limits
run irs     count    corrupt 2000    60    1    limits
run srs     sum      all     2000    500   255  small
run irs     min      all     1       1     1    limits
run unicast max      reorder 2000    500   mix  small
run srs     max      loss    2000    500   mix  limits
run irs     sum      none    100000  100000 mix small
run irs     sum      all     20000   20000 mix  small
done_testing
