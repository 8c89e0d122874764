# The table as text, tab separated.
def two: . * 100 | round / 100 | tostring;
(["topology", "method", "seconds", "predicted", "ratio", "predicted ratio",
  "MB on links", "CPU busy", "seeds", "exact"] | join("\t")),
(.[] | [.topology,
	(if .layout == "tcp" then "TCP" elif .objective then
	 "\(.method) for \(.objective)" else .method end),
	(.seconds | two), (.predicted | two), (.ratio | two),
	(.predicted_ratio | two), (.link_bytes / 1e6 | two),
	(.busy * 100 | round | tostring + " %"), (.seeds | tostring),
	(if .exact then "yes" else "no" end)] | join("\t"))
