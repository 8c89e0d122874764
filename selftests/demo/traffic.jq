# What each port counted between two readings: {"v0 eth0": {...}, ...}
def index: map({ key: "\(.node) \(.port)", value: . }) | from_entries;
($b[0] | index) as $before | ($a[0] | index) | to_entries |
map($before[.key] as $old | .value |= {
	node, port,
	tx_bytes: (.tx_bytes - $old.tx_bytes),
	tx_packets: (.tx_packets - $old.tx_packets),
	rx_bytes: (.rx_bytes - $old.rx_bytes),
	rx_packets: (.rx_packets - $old.rx_packets)
}) | from_entries
