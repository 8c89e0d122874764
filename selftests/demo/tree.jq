# A tree as Graphviz draws it: servers, the switches between them, and on each
# link the bytes that left by it while the transfer ran.
# Input: traffic; $plan: [plan]; $name: title
def pow($b; $e): reduce range($e) as $i (1; . * $b);
def size: if . >= 1e6 then "\(. / 1e4 | round / 100) MB"
	elif . >= 1000 then "\(. / 100 | round / 10) kB" else "\(.) B" end;
. as $traffic |
($plan[0].topology | capture("bcube:(?<n>[0-9]+),(?<k>[0-9]+)") |
	map_values(tonumber)) as $t |
def digit($j): (. / pow($t.n; $j) | floor) % $t.n;
def switch($j): $j * pow($t.n; $t.k) +
	(. / pow($t.n; $j + 1) | floor) * pow($t.n; $j) + . % pow($t.n; $j);
def hops: . as [$c, $p] |
	first(range($t.k + 1) | select(. as $j |
		($c | digit($j)) != ($p | digit($j)))) as $j |
	($c | switch($j)) as $w |
	{ from: "v\($c)", to: "w\($w)", port: "eth\($j)" },
	{ from: "w\($w)", to: "v\($p)", port: "p\($p | digit($j))" };
def bytes: $traffic["\(.from) \(.port)"].tx_bytes;
[$plan[0].trees[].edges[] | hops] | unique as $links |
($plan[0].trees | map(.receiver | tostring | ltrimstr("v"))) as $receivers |
($plan[0].trees | map(.senders[] | tostring | ltrimstr("v"))) as $senders |
([$links[] | bytes] | max) as $max |
"digraph \"\($name)\" {",
"	rankdir=BT; label=\"\($name)\"; fontname=sans;",
"	node [fontname=sans]; edge [fontname=sans, fontsize=10];",
([$links[] | .from, .to] | unique[] |
	if startswith("w") then
		"	\(.) [shape=box, height=0.2, width=0.3, color=gray];"
	elif ltrimstr("v") | IN($receivers[]) then
		"	\(.) [shape=doublecircle, style=filled, fillcolor=gold];"
	elif ltrimstr("v") | IN($senders[]) then
		"	\(.) [shape=circle, style=filled, fillcolor=lightblue];"
	else "	\(.) [shape=circle];" end),
($links[] | "	\(.from) -> \(.to) [label=\"\(bytes | size)\", penwidth=" +
	"\(1 + 5 * bytes / $max)];"),
"}"
