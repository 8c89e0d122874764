# The object "time" of demo.json. Input: rows of live.sh; TCP is the first.
.[0] as $tcp |
{
	topology: $tcp.topology, rate: $tcp.rate, senders: $tcp.senders,
	tasks: $tcp.tasks, records: $tcp.records,
	rows: map({
		method: (if .layout == "tcp" then "tcp"
			 else .method | sub(":.*"; "") end),
		scheme: (if .layout == "tcp" then null else .scheme end),
		seconds, predicted_seconds: .predicted,
		times_faster: ($tcp.seconds / .seconds),
		link_bytes, receiver_bytes, busy, exact
	})
}
