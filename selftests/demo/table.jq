# demo.json of the rows: ratios against the existing method stand beside.
def order: { existing: 0, unicast: 1, irs: 2, srs: 3 }[.];
. as $rows |
{
	corpus: "King James Bible (Debian package bible-kjv-text)",
	topology: .[0].topology,
	rows: (map(. as $row |
		first($rows[] | select(.transfer == $row.transfer and
				       .method == "existing")) as $base |
		del(.topology) + {
			predicted_ratio:
				(.predicted_cost / $base.predicted_cost),
			predicted_ratio_at_delta: (.predicted_cost_at_delta /
				$base.predicted_cost_at_delta),
			predicted_ratio_of_keys:
				(.keys_on_links / $base.keys_on_links),
			measured_ratio: (.link_bytes / $base.link_bytes)
		}) | sort_by(.transfer, (.method | order)))
}
