#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every function gives the same result under loss, duplicates and reordering,
# and with buffers so small that parts leave before the flow is whole; overflows
# and members that disagree are reported. BCube(4,1), six senders, trees of irs;
# all jobs at the same time, because starting programs takes long.
. "$(dirname "$0")/lib.sh"

SENDERS="v2 v5 v9 v10 v11 v14"
TAB=$(printf '\t')
declare -A input

# inputs KIND RECORDS KEYS [KLEN]: make an input for each sender
inputs()
{
	local files=() s

	for s in $SENDERS; do
		files+=("$TMP/$1.$s")
	done
	gen "$SEED" "$2" "$3" "${4:-mix}" "${1%-*}" "${files[@]}"
	cat "${files[@]}" > "$TMP/$1"
	sort -t "$TAB" -k1,1 "$TMP/$1" > "$TMP/$1.sorted"
}

# job NAME INPUT RECV_OPTIONS PLAN_OPTION...: add a job. No NAME may be another
# one's prefix with a dot behind it. All jobs together must fit into a node's
# memory.
job()
{
	local name=$1 s

	job=$((job + 1))
	input[$name]=$TMP/$2
	echo "$TMP/$name.json $TMP/$name.plan.err -j plan --job $job" \
		"--topology bcube:4,1 --method irs --receivers v0 --uid 0" \
		"--senders ${SENDERS// /,} --memory 512K $PATIENCE ${*:4}" \
		>> "$TMP/plans"
	echo "$TMP/$name.apply $TMP/$name.apply.err apply $TMP/$name.json" \
		>> "$TMP/applies"
	{
		member "$name" v0 recv v0 "$3"
		for s in $SENDERS; do
			member "$name.$s" "$s" send v0 "$TMP/$2.$s"
		done
	} >> "$TMP/members"
}

# differ NAME WHAT VALUE: v14's entry of job NAME has VALUE where its acceptor's
# entry has another
differ()
{
	jq --arg name "$2" --arg value "$3" \
		'(.nodes.v14.trees[] | select(.writers > 0))[$name] =
		($value | tonumber? // $value)' "$TMP/$1.json" > "$TMP/differ"
	mv "$TMP/differ" "$TMP/$1.json"
}

# ended_badly NAME: print how many of its seven members ended with an error
ended_badly()
{
	grep -c -F "$TMP/$1." "$TMP/batch"
}

# exact NAME REFERENCE...: all members ended well, and the result is what the
# command REFERENCE prints
exact()
{
	local name=$1 bad

	shift
	bad=$(ended_badly "$name")
	[ "$bad" = 0 ] || {
		cat "$TMP/$name".*err
		return 1
	}
	"$@" < "${input[$name]}.sorted" > "$TMP/expected" &&
		[ -s "$TMP/expected" ] &&
		sort "$TMP/$name.out" | cmp - "$TMP/expected"
}

# The k best pairs of each key, each id with its best value, by sort.
best()
{
	local order=n

	[ "$1" = nearest ] || order=nr
	sort -t "$TAB" -k1,1 -k3,3n -k2,2$order |
		awk -F '\t' '!seen[$1, $3]++' |
		sort -t "$TAB" -k1,1 -k2,2$order -k3,3n |
		awk -F '\t' -v k="$2" 'n[$1]++ < k' | sort
}

# The least value of each key, in its digits of the input.
least()
{
	awk -F '\t' '!($1 in m) || $2 + 0 < m[$1] + 0 { m[$1] = $2 }
		END { for (k in m) print k "\t" m[k] }' | sort
}

# Sums of steps, which a double represents exactly.
steps()
{
	awk -F '\t' '{ s[$1] += $2 }
		END { for (k in s) printf "%s\t%.17g\n", k, s[k] }' | sort
}

# The three greatest sums. No sender alone knows a whole sum.
top_of_sums()
{
	reference_reduce sum | sort -t "$TAB" -k2,2nr -k1,1 | awk 'NR <= 3' | sort
}

# The three keys with the greatest values, and the two best pairs of each.
top_of_pairs()
{
	best topk 2 > "$TMP/best"
	sort -t "$TAB" -k2,2nr -k1,1 "$TMP/best" |
		awk -F '\t' '!seen[$1]++ && ++n <= 3 { print $1 }' |
		sort | join -t "$TAB" - "$TMP/best" | sort
}

# refused NAME SENTENCE OF_RECEIVER: no member ended well, and each printed the
# cause
refused()
{
	local bad told

	bad=$(ended_badly "$1")
	told=$(cat "$TMP/$1".v*.send.err | grep -c "$2")
	cat "$TMP/$1".*err
	[ "$bad" = 7 ] && [ "$told" = 6 ] &&
		grep -q "$3" "$TMP/$1.recv.err"
}

# The product of one key exceeds 64 bits; that of two big factors and a zero is
# 0.
products()
{
	local s

	for s in $SENDERS; do
		printf 'fits\t3\nbig\t-100000000000\n' > "$TMP/over.$s"
		printf 'k\t-4611686018427387904\nl\t-1\n' > "$TMP/zero.$s"
	done
	echo 'k	0' >> "$TMP/zero.v11"
	printf 'k\t0\nl\t1\n' > "$TMP/zero.sorted"
}

# v14's vector has one element less than the others'.
shorter()
{
	local s

	for s in $SENDERS; do
		cp "$TMP/small-vector.$s" "$TMP/shorter.$s"
	done
	sed -i '$d' "$TMP/shorter.v14"
}

testbed bcube:4,1 --delay 1ms --loss 3% --duplicate 3% --reorder 25%
inputs small 1000 400
inputs factors 1000 400
inputs pairs 1500 20
inputs real 1000 60
inputs real32 1000 60
inputs steps 1000 400
# There are far more keys than the buffers hold, so they leave in parts.
inputs small-many 2000 4000
inputs real-many 600 2500
inputs pairs-many 1200 1500
inputs small-vector 6000 1 offset
inputs real-vector 1000 1 offset
inputs steps-vector 1000 1 offset
products
shorter

simple="sum min max count average band bor bxor land lor lxor"
for function in $simple; do
	job "$function" small "" --function "$function"
done
job product factors "" --function product
job topk pairs "" --function topk --k 10
job nearest pairs "" --function nearest --k 64
for function in sum average; do
	job float64.$function real "" --function $function --type float64
done
for function in sum average; do
	job float32.$function real32 "" --function $function --type float32
done
job fixed.sum steps "" --function sum --type fixed --scale 20
job top small "--top 3" --function sum --type int32
job top.topk pairs "--top 3" --function topk --k 2
for function in average bxor; do
	job "parts.$function" small-many "" --function $function --memory 96K
done
job parts.float64 real-many "" --function sum --type float64 --memory 128K
job parts.nearest pairs-many "" --function nearest --k 20 --memory 256K
job dense.sum small-vector "" --type int32 --elements 6000 --memory 96K
job dense.int64 small-vector "" --elements 6000 --memory 96K
job dense.max small-vector "" --function max --elements 6000 --memory 96K
job dense.min real-vector "" --function min --type float64 --elements 1000
job dense.float64 real-vector "" --type float64 --elements 1000
job dense.fixed steps-vector "" --type fixed --scale 20 --elements 1000
job zero zero "" --function product
job over over "" --function product
for what in function type; do
	job "mixed.$what" small "" --function sum
done
job mixed.elements shorter "" --elements 6000 --memory 96K
aggctl_batch < "$TMP/plans" && differ mixed.function function max &&
	differ mixed.type vtype int32 && differ mixed.elements elements 5999 &&
	aggctl_batch < "$TMP/applies"
# A member that ends with an error is listed in $TMP/batch.
aggctl_batch < "$TMP/members" 2> "$TMP/batch"

for function in $simple; do
	check "$function" exact "$function" reference_reduce "$function"
done
check "product" exact product reference_reduce product
check "topk" exact topk best topk 10
check "nearest" exact nearest best nearest 64
for function in sum average; do
	check "$function of float64" exact float64.$function \
		"$NET_DIR/exact_real.py" $function float64
done
for function in sum average; do
	check "$function of float32" exact float32.$function \
		"$NET_DIR/exact_real.py" $function float32
done
check "sum of fixed" exact fixed.sum steps
check "sum of int32, the top three" exact top top_of_sums
check "topk, the top three" exact top.topk top_of_pairs
for function in average bxor; do
	check "$function, in parts" exact parts.$function reference_reduce $function
done
check "sum of float64, in parts" exact parts.float64 \
	"$NET_DIR/exact_real.py" sum float64
check "nearest, in parts" exact parts.nearest best nearest 20
check "vector of sums of int32, small buffers" exact dense.sum reference_reduce sum
check "vector of sums of int64" exact dense.int64 reference_reduce sum
check "vector of maxima of int64" exact dense.max reference_reduce max
check "vector of minima of float64" exact dense.min least
check "vector of sums of float64" exact dense.float64 \
	"$NET_DIR/exact_real.py" sum float64
check "vector of sums of fixed" exact dense.fixed steps
check "product: zero" exact zero cat
check "product: one that does not fit" refused over "does not fit" \
	"key 'big'"
for what in function type elements; do
	check "another $what is refused" refused mixed.$what \
		"disagree on function" "because of 10.0.0.15"
done
done_testing
