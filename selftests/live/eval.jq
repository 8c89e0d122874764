# Means over the seeds, and ratios to the existing method, which merges nothing.
def mean: add / length;
# The papers' ratios: 001 Tables 1 and 2 (M2), 004 Table I (ARS).
def paper: {
	"k:2 m2": 3.79, "k:3 m2": 2.97, "k:4 m2": 2.92, "k:5 m2": 3.04, "k:6 m2": 2.74,
	"k:2 ars": 5.70, "k:3 ars": 4.99, "k:4 ars": 4.79, "k:5 ars": 5.69,
	"k:6 ars": 4.60, "m:500 m2": 2.59
};
def order: { tcp: 0, keyed: 1, combiner: 2, sorted: 3, dense: 4 };
[group_by(.row)[] |
	(map(select(.layout != "tcp" and .method == "existing")) |
	 { seconds: (map(.seconds) | mean),
	   predicted: (map(.predicted) | mean) }) as $base |
	(map(select(.layout == "tcp").seconds) |
	 if length > 0 then mean else null end) as $tcp |
	group_by([order[.layout], .method != "existing", .objective, .method])[] |
	{ row: .[0].row, layout: .[0].layout, method: .[0].method,
	  objective: .[0].objective, seeds: length,
	  seconds: (map(.seconds) | mean),
	  least: (map(.seconds) | min), most: (map(.seconds) | max),
	  predicted: (map(.predicted) | mean), busy: (map(.busy) | max),
	  link_bytes: (map(.link_bytes) | mean),
	  # Of the busiest link: bytes over those of the plan.
	  busiest: (map(.busiest_bytes / .planned_busiest_bytes) | mean),
	  stress: .[0].stress, exact: all(.[]; .exact),
	  bed_seconds: (map(.bed.seconds // 0) | max),
	  bed_bytes: (map(.bed.kilobytes // 0) | max * 1024) } |
	.ratio = $base.seconds / .seconds |
	.tcp_ratio = (if $tcp then $tcp / .seconds else null end) |
	.predicted_ratio = $base.predicted / .predicted |
	.paper = (if .layout == "keyed" then paper["\(.row) \(.method)"] else null end)]
