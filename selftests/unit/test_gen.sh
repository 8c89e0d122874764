#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggctl gen: its files have exactly the aggregation ratio that it prints, the same
# options make the same bytes, and an error names the option.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
export LC_ALL=C
n=0 failed=0
SEED=${SEED:-1}
SEED=$((10#$SEED))
echo "# seed $SEED"

# result WHAT WRONG: a row, which passes if WRONG is empty
result()
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: $2"
		failed=1
	fi
}

# refused STATUS SENTENCE ARGUMENT...: aggctl gen prints this error and nothing else
refused()
{
	local want=$1 sentence=$2 status=0 wrong=''

	shift 2
	"$aggctl" gen "$@" > out 2> err < /dev/null || status=$?
	[ "$status" = "$want" ] || wrong="status $status"
	[ "$(< err)" = "aggctl: gen: $sentence" ] || wrong+=" '$(< err)'"
	[ ! -s out ] || wrong+=" with output"
	result "${*@Q}" "$wrong"
}

# different FILE...: print how many keys they have, each counted once
different()
{
	cut -f 1 "$@" | sort -u | wc -l
}

# measured DIR: print what gen -j would say of its files: sum of the sources' keys,
# keys of the largest, keys of all
measured()
{
	local file keys sum=0 max=0

	for file in "$1"/source.*; do
		keys=$(different "$file")
		sum=$((sum + keys))
		[ "$max" -ge "$keys" ] || max=$keys
	done
	echo "$sum $max $(different "$1"/source.*)"
}

# ratio DIR OPTION...: are its files, made with these options, as the output says?
ratio()
{
	local dir=$1 sum max all

	shift
	"$aggctl" -j gen --seed "$SEED" --out "$dir" "$@" > "$dir.json" || {
		echo "status $?"
		return
	}
	read -r sum max all <<< "$(measured "$dir")"
	jq -r --argjson sum "$sum" --argjson max "$max" --argjson all "$all" \
		--argjson lines "$(cat "$dir"/source.* | wc -l)" '
		(if $sum == $max then .delta else ($all - $max) / ($sum - $max)
			end) as $delta |
		if .union != $all then "union \(.union), not \($all)" else empty end,
		if .senders * .records != $lines then "\($lines) lines" else empty end,
		if .out_in != $all / $lines then "out_in \(.out_in)" else empty end,
		if .delta != $delta then "delta \(.delta), not \($delta)"
			else empty end' "$dir.json" 2>&1
}

# Ratios and sizes at the edges and between, and one that the seed chooses.
for options in "1 1 0" "1 7 0.5" "5 1 1" "4 10 0.33" "6 1000 0" "6 1000 1" \
	"3 997 0.7" "$((2 + SEED % 9)) $((1 + SEED * 37 % 2000)) 0.$((SEED * 13 % 1000))"; do
	read -r senders records delta <<< "$options"
	result "$senders sources of $records records, delta $delta" "$(
		rm -rf dir
		ratio dir --senders "$senders" --records "$records" \
			--delta "$delta"
		jq -r 'if ((.delta - .asked) * .records | fabs) > 0.500001
			then "delta \(.delta) for \(.asked)" else empty end' \
			dir.json)"
done
result "as many files as sources" "$([ "$(ls dir)" = "$(seq -f 'source.%.0f' 0 \
	$((senders - 1)) | sort)" ] || ls dir)"
result "words" "$(ratio words --senders 5 --records 500 --dict 300)"
result "a word for each source" "$(ratio word --senders 3 --records 1 --dict 4096)"
result "words of one source have no ratio" "$("$aggctl" -j gen --senders 1 \
	--records 9 --dict 4 | jq -c .delta | grep -vx null)"

some=(--senders 4 --records 300 --delta 0.4 --seed "$SEED")
"$aggctl" gen "${some[@]}" --out one > one.text
result "output" "$(diff one.text - << END
senders          4
records of each  300
bytes of each    6300
bytes of a key   16
common keys      180
own keys         120
union            660
out/in           0.55
delta            0.4
delta asked for  0.4
rounded          no
END
)"
result "a ratio that is rounded" "$("$aggctl" gen --senders 4 --records 10 \
	--delta 0.33 | tail -n 3 | tr -s ' \n' ' ' |
	grep -vx 'delta 0.3 delta asked for 0.33 rounded yes ')"
"$aggctl" gen "${some[@]}" --out two > /dev/null
result "the same seed makes the same bytes" "$(diff -r one two)"
result "another seed makes others" "$("$aggctl" gen "${some[@]}" \
	--seed $((SEED + 1)) --source 0 | cmp -s - one/source.0 && echo equal)"
for i in 0 3; do
	result "source $i on standard output" "$(
		"$aggctl" gen "${some[@]}" --source $i 2>&1 | cmp - one/source.$i)"
done
result "without --out and --source no file is made" "$(mkdir empty && cd empty &&
	"$aggctl" gen "${some[@]}" > /dev/null && ls)"
result "sorted" "$("$aggctl" gen "${some[@]}" --source 2 --sorted > sorted
	sort -c sorted 2>&1
	sort one/source.2 | cmp - sorted)"
result "not sorted" "$(sort -c one/source.2 2> /dev/null && echo "it is sorted")"
result "rounding beside lines" "$("$aggctl" gen --senders 2 --records 10 \
	--delta 0.33 --source 1 > out 2> err || echo "status $?"
	wc -l < out | grep -vx 10
	diff err <(echo 'aggctl: gen: --delta: 0.33 is rounded to 3 / 10'))"
result "bytes in packets" "$("$aggctl" -j gen --senders 2 --bytes 1000 \
	--key-bytes 45 --delta 0 | jq -c '[.records, .bytes] | select(. != [20, 1000])')"
result "bytes of whole records" "$("$aggctl" -j gen --senders 2 --bytes 1025 \
	--key-bytes 45 --delta 0 | jq -c '[.records, .bytes] | select(. != [21, 1050])')"

# send checks a file before it joins: its error must not be one of a line.
result "send accepts the lines" "$(printf 'a\t1\n' > good
	for file in good one/source.0; do
		"$aggctl" send --job 1 --receiver 10.0.0.1 $file 2> err.${file##*/}
	done
	grep -s line err.source.0; cmp err.good err.source.0)"
# 200 MB of lines.
result "little memory" "$(ulimit -v 65536
	"$aggctl" gen --senders 3 --records 1000000 --delta 0.5 --key-bytes 200 \
		--source 1 2>&1 | wc -c | grep -vx 207000000)"

result "a full standard output" "$(
	"$aggctl" gen "${some[@]}" --source 0 > /dev/full 2> err || [ $? = 1 ] ||
		echo "another status"
	diff err <(echo 'aggctl: standard output: No space left on device'))"
mkdir full.dir && ln -s /dev/full full.dir/source.1
refused 1 "full.dir/source.1: No space left on device" "${some[@]}" --out full.dir
refused 1 "none/dir: No such file or directory" "${some[@]}" --out none/dir
refused 1 "good/source.0: Not a directory" "${some[@]}" --out good

small=(--senders 2 --records 10)
refused 2 "needs --senders" --records 1 --delta 0
refused 2 "needs --records or --bytes" --senders 1 --delta 0
refused 2 "needs --delta or --dict" "${small[@]}"
refused 2 "--senders: must be more than 0" --senders 0 --records 1 --delta 0
refused 2 "--records: must be more than 0" --senders 1 --records 0 --delta 0
refused 2 "--delta: 1.5 is not in 0..1" "${small[@]}" --delta 1.5
refused 2 "--delta: '-0.1' is not a number" "${small[@]}" --delta -0.1
refused 2 "--delta: 'nan' is not a number" "${small[@]}" --delta nan
refused 2 "--delta: '0.5x' is not a number" "${small[@]}" --delta 0.5x
refused 2 "--dict: must be more than 0" "${small[@]}" --dict 0
refused 2 "--key-bytes: 0 is not in 1..255" "${small[@]}" --delta 0 --key-bytes 0
refused 2 "--key-bytes: 256 is not in 1..255" \
	"${small[@]}" --delta 0 --key-bytes 256
refused 2 "--key-bytes: different keys need at least 2" \
	"${small[@]}" --delta 0 --key-bytes 1
refused 2 "--source: 2 is not in 0..1" "${small[@]}" --delta 0 --source 2
refused 2 "--bytes: a record has 21 bytes" --senders 2 --bytes 20 --delta 0
refused 2 "--bytes: 5000000000 records are too many; the most is 4294967295" \
	--senders 2 --bytes 105000000000 --delta 0
refused 2 "--bytes: cannot be combined with --records" \
	"${small[@]}" --bytes 100 --delta 0
refused 2 "--delta: cannot be combined with --dict" \
	"${small[@]}" --dict 10 --delta 0
refused 2 "--sorted: cannot be combined with --dict" \
	"${small[@]}" --dict 10 --sorted
refused 2 "--source: cannot be combined with --out" \
	"${small[@]}" --delta 0 --out dir --source 0
refused 2 "--source: prints lines; it cannot be combined with --json" \
	-j "${small[@]}" --delta 0 --source 0

echo "1..$n"
exit $failed
