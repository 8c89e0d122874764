# A row of bench.json from what children sent and what came of it, in that order.
# Seconds are instructions of the whole machine / 1e9; "net" is without the cost of
# making and sending the packets.
.[0] as $sent | .[1] as $result |
# XDP programs count no records.
if (if $name | startswith("xdp") then $sent else $result end).records !=
	$sent.records or
	$result.keys != $sent.keys or $result.sum != $sent.sum
then error("\($name): sent \($sent), merged \($result)") else . end |
(($sent.seconds - $generator) * 1e9) as $net |
def each($n): $net / $n * 10 | round / 10;
{ $name, $mac, $load, $children, packets: $sent.packets, records: $sent.records } +
(if $load | startswith("dense") then
	{ instructions_an_element: each($sent.elements) }
else
	{ instructions_a_record: each($sent.records) }
end) +
{ instructions_a_packet: each($sent.packets),
  generator_a_packet: ($generator * 1e9 / $sent.packets | round) } +
(if $result.messages then
	{ datagrams_a_message: ($result.datagrams / $result.messages * 10 | round / 10) }
else {} end)
