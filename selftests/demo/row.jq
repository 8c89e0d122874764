# One row of the table. Input: traffic of every port. A link and direction is
# counted where its packets leave, so each is in the sum once.
($receivers | split(" ")) as $to |
{
	$transfer, $topology, $method,
	predicted_cost: $plan[0].metrics.cost,
	predicted_existing: $plan[0].metrics.existing,
	$delta,
	predicted_cost_at_delta: $at_delta[0].metrics.cost,
	links: $plan[0].metrics.links,
	link_bytes: (map(.tx_bytes) | add),
	link_packets: (map(.tx_packets) | add),
	receiver_bytes: (map(select(.node | IN($to[]))) | map(.rx_bytes) | add),
	seconds: ((($ended - $began) * 1000 | round) / 1000),
	$exact
}
