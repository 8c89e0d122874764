# The table as text, tab separated.
def two: . * 100 | round / 100 | tostring;
def how:
	if .layout == "tcp" then "TCP"
	elif .layout == "combiner" then "combiners"
	elif .objective then "\(.method) for \(.objective)"
	else .method end +
	if .layout == "sorted" then ", sorted" else "" end;
(["setting", "method", "seconds", "predicted", "measured/predicted",
  "times faster", "predicted", "paper", "MB on links", "CPU busy", "bed, s",
  "bed, MB", "seeds", "exact", "least, s", "most, s", "times faster than TCP",
  "busiest link/planned"] | join("\t")),
(.[] | [(.row | gsub(":"; " ")), how, (.seconds | two), (.predicted | two),
	(.seconds / .predicted | two), (.ratio | two),
	(.predicted_ratio | two),
	(if .paper then .paper | tostring else "-" end),
	(.link_bytes / 1e6 | two), (.busy * 100 | round | tostring + " %"),
	(.bed_seconds | two), (.bed_bytes / 1e6 | round | tostring),
	(.seeds | tostring), (if .exact then "yes" else "no" end),
	(.least | two), (.most | two),
	(if .tcp_ratio then .tcp_ratio | two else "-" end), (.busiest | two)] |
	join("\t"))
