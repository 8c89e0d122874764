# Why predicted and measured ratios differ, with the numbers of this run.
def three: . * 1000 | round / 1000 | tostring;
(.rows | map(select(.method == "existing"))) as $existing |
"",
([
	"Ratios are against the existing method. \"Cost ratio\" is the papers'",
	"prediction for flows with one and the same key set (delta 0). Here the",
	"six senders saw different words: the measured aggregation ratio delta,",
	"in keys, is",
	($existing | map("\(.delta | three) (\(.transfer))") | join(" and ")) + ",",
	"so a merged flow is longer than each of those that meet in it; \"at",
	"delta\" is the prediction for that, with flows of equal size. But text",
	"has no one delta: two senders share fewer of their words than all six",
	"do, and most merges on the way are of two or three flows. \"Of keys\"",
	"counts the distinct words that cross each link of the plan, from the",
	"input. \"Measured\" is bytes, and so has what no model has:",
	"acknowledgements, handshakes, packets sent again, and headers."
] | join(" "))
