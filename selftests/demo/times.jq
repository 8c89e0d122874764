# Completion times as text, tab separated. Input: demo.json.
def two: . * 100 | round / 100 | tostring;
def percent: . * 100 | round | tostring + " %";
def names: { tcp: "TCP", auto: "auto for time", stripes: "two stripes" };
(["transfer", "seconds", "predicted", "times faster", "link bytes",
  "receiver bytes", "CPU busy", "exact"] | join("\t")),
(.time.rows[] | [
	(names[.method] // .method),
	(.seconds | two), (.predicted_seconds | two), (.times_faster | two),
	.link_bytes, .receiver_bytes, (.busy | percent),
	(if .exact then "yes" else "no" end)] | map(tostring) | join("\t"))
