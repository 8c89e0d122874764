# Means over the seeds, and ratios to the existing method, which merges nothing.
def mean: add / length;
[group_by(.topology)[] |
	(map(select(.layout == "keyed" and .method == "existing")) |
	 { seconds: (map(.seconds) | mean),
	   predicted: (map(.predicted) | mean) }) as $base |
	group_by([.layout != "tcp", .method != "existing", .objective, .method])[] |
	{ topology: (.[0].topology | ltrimstr("@")), layout: .[0].layout,
	  method: .[0].method, objective: .[0].objective, seeds: length,
	  seconds: (map(.seconds) | mean), predicted: (map(.predicted) | mean),
	  busy: (map(.busy) | max), link_bytes: (map(.link_bytes) | mean),
	  exact: all(.[]; .exact) } |
	.ratio = $base.seconds / .seconds |
	.predicted_ratio = $base.predicted / .predicted]
