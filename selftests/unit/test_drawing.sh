#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggctl plan --dot: what a drawing has, and that dot draws it so that it can be read.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
n=0 failed=0

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

printf '%s\n' 'topology graph' 'host node-1' 'host node.2' 'host node3' \
	'switch rack_a' 'switch rack_b' 'link node-1 rack_a' \
	'link node.2 rack_a' 'link node.2 rack_b' 'link node3 rack_b' > net

# plan NAME ARGUMENT...: make NAME.json, NAME.dot and NAME.svg
plan()
{
	"$aggctl" -j plan "${@:2}" --dot "$1.dot" > "$1.json" &&
		dot -Tsvg -o "$1.svg" "$1.dot"
}

# has FILE TEXT...: print each text that the file lacks
has()
{
	local text

	for text in "${@:2}"; do
		grep -qF -- "$text" "$1" || echo "$1 has no '$text'"
	done
}

# unreadable FILE.svg: print each label of a link whose text a line crosses
unreadable()
{
	python3 - "$1" <<- 'END'
	import re, sys
	svg = open(sys.argv[1]).read()
	edges = re.findall(r'class="edge">(.*?)</g>', svg, re.S)
	texts, points = [], []
	for edge in edges:
	    d = re.search(r' d="M([^"]*)"', edge).group(1)
	    xy = [tuple(map(float, p.split(","))) for p in re.split("[ C]", d)]
	    for i in range(0, len(xy) - 3, 3):
	        for k in range(51):
	            t, u = k / 50, 1 - k / 50
	            w = (u ** 3, 3 * u * u * t, 3 * u * t * t, t ** 3)
	            points.append([sum(a * q[j] for a, q in zip(w, xy[i:i + 4]))
	                           for j in (0, 1)])
	    for x, y, text in re.findall(r'<text [^>]*x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)<', edge):
	        text = text.replace("&#160;", " ")
	        left = float(x) + 3 * (len(text) - len(text.lstrip()) - 1) - 3 * len(text.strip())
	        texts.append((text.strip(), left, float(y)))
	if not texts:
	    print("no labels")
	for text, left, y in texts:
	    if any(left < x < left + 6 * len(text) and y - 8 < py < y
	           for x, py in points):
	        print("a line crosses '%s'" % text)
	END
}

# colours FILE.dot: print a line for each tree: its frame's colour and line
colours()
{
	sed -n 's/.*fontcolor="\([^"]*\)" style="rounded,\([a-z]*\)".*/\1 \2/p' "$1"
}

plan incast --topology bcube:4,1 --senders v2,v5,v9,v10,v11,v14 --receivers v0 \
	--method irs
plan shuffle --topology bcube:4,1 --senders v2,v5,v9,v10,v11,v14 \
	--receivers v0,v3,v8,v12
plan existing --topology bcube:4,1 --senders v1,v2,v4,v5 --receivers v0 \
	--method existing
plan fabric --topology leafspine:4,2,8 --senders v3,v8,v9,v12,v20,v31 \
	--receivers v0
plan named --topology @net --senders node.2,node3 --receivers node-1
plan agents --topology hyperx:4,4:4 --senders random:20 --receivers v0
plan many --topology bcube:8,1 --senders v1,v20,v33 \
	--receivers v0,v2,v3,v4,v5,v6,v7,v8,v9,v10,v11,v12,v13,v14,v15,v16,v17,v18,v19,v21,v22
plan stripes --topology bcube:4,1 --senders v1,v2,v3,v4,v5,v6,v7,v8 \
	--receivers v0 --stripes 2

for name in incast shuffle existing fabric named agents many stripes; do
	result "$name: dot draws it" "$(python3 -c \
		'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' \
		"$name.svg" 2>&1)"
	result "$name: no line crosses a number" "$(unreadable "$name.svg")"
	result "$name: a legend" "$(has "$name.svg" ">receives the result<" \
		"send" ">forwards<" "Line: a link")"
	result "$name: totals" "$(has "$name.svg" \
		"$(jq -r '"method \(.method), "' "$name.json")" \
		" $(jq .metrics.links "$name.json") links." "flows in, " \
		"cost $(jq .metrics.cost "$name.json"), without merging $(
			jq .metrics.existing "$name.json").")"
done

result "each server of an incast" "$(has incast.svg v0 v1 v2 v5 v9 v10 v11 v14)"
result "names" "$(has named.svg ">node&#45;1<" ">node.2<" ">node3<" ">rack_a<" \
	">rack_b<")"
result "servers that merge are green" "$(
	jq '.metrics.aggregating_servers' incast.json > want
	grep -c 'merges.*fillcolor="#7FD1AE"' incast.dot | diff want -)"
result "nothing merges" "$(grep merges existing.dot)"
result "flows that share a link" "$(has existing.dot '[label="   3 "')"
result "a stripe has its part of a flow" "$(has stripes.dot '[label="   0.5 "')"
result "a colour for each of four trees" "$(colours shuffle.dot | sort -u | wc -l |
	grep -vx 4)"
result "a colour and line for each of 21 trees" "$(colours many.dot | sort -u |
	wc -l | grep -vx 21)"
result "links in the colour of their tree" "$(
	sed -n 's/.*edge \[color="\([^"]*\)" style=\([a-z]*\)\].*/\1 \2/p' many.dot |
		diff <(colours many.dot) -)"

# Each port has sent as many kilobytes as the row has.
jq -n '[range(16) as $v | {node: "v\($v)", port: ("eth0", "eth1")}] +
	[range(8) as $w | {node: "w\($w)", port: ("p0", "p1", "p2", "p3")}] |
	to_entries | map(.value + {tx_bytes: (1000 * (.key + 1))})' > traffic
jq 'del(.nodes) | .entries.keyed = false' shuffle.json > plain.json
"$aggctl" plan --update plain.json --dot measured.dot --traffic traffic > out
result "a plan file, measured: nothing is printed" "$(cat out)"
# v0 receives by w0 p0, which is row 32.
result "measured: the bytes of each port" "$(has measured.dot \
	't0_0 -> t0_0_0 [label="   33 kB')"
result "measured: links of several trees" "$(has measured.dot 'kB* "' \
	'* Traffic of several trees.')"
result "measured: the sum" "$(has measured.dot "on all links 2.08 MB")"
sed -n 's/.*label="   .*penwidth=\([0-9.]*\)\].*/\1/p' measured.dot | sort -n -u > widths
result "measured: a link is the wider the more it carries" "$(
	[ "$(wc -l < widths)" -gt 2 ] || echo "few widths: $(cat widths)"
	[ "$(tail -n 1 widths)" = 4.00 ] || echo "the busiest has $(tail -n 1 widths)")"

jq 'map(select(.node != "w0"))' traffic > part
"$aggctl" plan --update plain.json --dot part.dot --traffic part > out
result "not measured: no number" "$(has part.dot 't0_0 -> t0_0_0 [label="   ? ')"
jq '.method = "a<b>&c"' plain.json > named.json
"$aggctl" plan --update named.json --dot named.dot > out 2> err
result "a method with characters of HTML" "$(has named.dot "method a&#60;b&#62;&#38;c, "
	dot -Tsvg -o named.svg named.dot 2>&1; cat err)"

# refused SENTENCE ARGUMENT...: aggctl plan prints this error
refused()
{
	"$aggctl" plan "${@:2}" > /dev/null 2> err
	result "refused: $1" "$(echo "aggctl: plan: --traffic: $1" | diff err -)"
}
echo '[{"node": "v0"}]' > short
refused "is for --dot only" --topology bcube:4,1 --senders v1 --receivers v0 \
	--traffic traffic
refused "short: not rows of 'aggctl -j testbed traffic'" --topology bcube:4,1 \
	--senders v1 --receivers v0 --dot x --traffic short
jq '.[3].tx_bytes = -5' traffic > less
refused "less: not rows of 'aggctl -j testbed traffic'" --topology bcube:4,1 \
	--senders v1 --receivers v0 --dot x --traffic less
refused "links of hyperx:4,4:4 are not measured: it needs bcube or ghc" \
	--topology hyperx:4,4:4 --senders v1 --receivers v0 --dot x --traffic traffic

echo "1..$n"
exit $failed
