# Completion times as text, tab separated. Input: rows of live.sh; TCP is the first.
def two: . * 100 | round / 100 | tostring;
def percent: . * 100 | round | tostring + " %";
(["transfer", "seconds", "predicted", "times faster", "link bytes",
  "receiver bytes", "CPU busy", "exact"] | join("\t")),
(.[0].seconds as $base | .[] | [
	(if .layout == "tcp" then "TCP"
	 elif .objective then "\(.method) for \(.objective)"
	 else .method end),
	(.seconds | two), (.predicted | two), ($base / .seconds | two),
	.link_bytes, .receiver_bytes, (.busy | percent),
	(if .exact then "yes" else "no" end)] | map(tostring) | join("\t"))
