# demo.json of the rows: ratios against the existing method stand beside.
def order: { existing: 0, unicast: 1, irs: 2, srs: 3 };
{
	corpus: "King James Bible (Debian package bible-kjv-text)",
	topology: .[0].topology,
	rows: (map(. as $row |
		(map(select(.transfer == $row.transfer and
			    .method == "existing"))[0]) as $base | $row | del(.topology) + {
		predicted_ratio: (.predicted_cost / $base.predicted_cost),
		predicted_ratio_at_delta:
			(.predicted_cost_at_delta / $base.predicted_cost_at_delta),
		measured_ratio: (.link_bytes / $base.link_bytes)
	}) | map(. as $row | . + { order: (order[$row.method]) }) |
	sort_by(.transfer, .order) | map(del(.order)))
}
