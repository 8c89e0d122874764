# Why predicted and measured ratios differ, with the numbers of this run.
def three: . * 1000 | round / 1000 | tostring;
(.rows | map(select(.method == "existing"))) as $existing |
"",
([
	"Ratios are against the existing method. \"Cost ratio\" is the papers'",
	"prediction for flows that have the same keys (delta 0). Here the six",
	"senders have different words: the measured aggregation ratio delta, in",
	"keys, is",
	($existing | map("\(.delta | three) (\(.transfer))") | join(" and ")) + ",",
	"so a merged flow is longer than each of its inputs; \"at delta\" is the",
	"prediction for this delta and flows of equal size. But a single delta",
	"does not describe text: two senders share fewer of their words than all",
	"six do, and most merges are of two or three flows. \"Of keys\" counts",
	"the distinct words of the input that cross each link of the plan.",
	"\"Measured\" is bytes, and includes what no model includes:",
	"acknowledgements, handshakes, packets sent again, and headers."
] | join(" "))
