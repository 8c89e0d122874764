# What each port counted between two readings, as rows.
def index: map({ key: "\(.node) \(.port)", value: . }) | from_entries;
($b[0] | index) as $before | $a[0] |
map($before["\(.node) \(.port)"] as $old | {
	node, port,
	tx_bytes: (.tx_bytes - $old.tx_bytes),
	tx_packets: (.tx_packets - $old.tx_packets),
	rx_bytes: (.rx_bytes - $old.rx_bytes),
	rx_packets: (.rx_packets - $old.rx_packets)
})
