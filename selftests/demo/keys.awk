# The prediction by keys: how many keys cross each link of a plan,
# summed over the links (each edge of a tree is two of them).
# Input: lines "edge RECEIVER CHILD PARENT" and "key RECEIVER SENDER KEY"
# -v merge=0: flows are not merged
$1 == "edge" { parent[$2, $3] = $4 }
$1 == "key" {
	for (at = $3; at != $2; at = parent[$2, at]) {
		if (merge && ($2, at, $4) in seen)
			next
		seen[$2, at, $4]
		crossed += 2
	}
}
END { print crossed + 0 }
