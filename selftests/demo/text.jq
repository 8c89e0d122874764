# The table as text, tab separated.
def two: . * 100 | round / 100 | tostring;
(["transfer", "method", "cost", "links", "link bytes", "link packets",
  "receiver bytes", "seconds", "exact", "cost ratio", "at delta",
  "of keys", "measured"] | join("\t")),
(.rows[] | [.transfer, .method, .predicted_cost, .links, .link_bytes,
	.link_packets, .receiver_bytes, .seconds,
	(if .exact then "yes" else "no" end), (.predicted_ratio | two),
	(.predicted_ratio_at_delta | two),
	(.predicted_ratio_of_keys | two), (.measured_ratio | two)] |
	map(tostring) | join("\t"))
