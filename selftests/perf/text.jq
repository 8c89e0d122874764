# The benchmark's tables. Figures are instructions, net of making and sending the
# packets.
def two: . * 100 | round / 100;
def pad($n): tostring | . + ($n - length) * " ";
def lead($n): tostring | ($n - length) * " " + .;
def each_of: .instructions_a_record // .instructions_an_element;
. as $b |
def get($name; $mac): $b.rows[] | select(.name == $name and .mac == $mac) | each_of;
def ratio($peer; $mac): get($peer; if $peer | startswith("xdp") then "crc" else $mac end)
	/ get(if $peer | endswith("dense") then "aggnet_dense" else "aggnet" end; $mac) | two;
"Merging at one server, kernel \(.kernel); instructions a record (of dense vectors an" +
" element), and a packet:",
"  \("" | pad(30)) \("CRC32C" | lead(8)) \("packet" | lead(8)) " +
"\("key" | lead(8)) \("packet" | lead(8))  datagrams a message",
(.rows | map(.name) | reduce .[] as $n ([]; if index($n) then . else . + [$n] end) | .[] |
	. as $name | ($b.rows | map(select(.name == $name))) as $r | $r[0] as $crc |
	$r[1] as $key |
"  \($name | pad(30)) \($crc | each_of | lead(8)) \($crc.instructions_a_packet | lead(8)) " +
"\($key | if . then each_of else "" end | lead(8)) " +
"\($key.instructions_a_packet // "" | lead(8))" +
if $crc.datagrams_a_message then
"  \($crc.datagrams_a_message)\(if $key then ", \($key.datagrams_a_message)" else "" end)"
else "" end),
"  the generator: \(.rows[0].generator_a_packet) a packet",
"Ratios to aggnet, CRC32C (with key):",
(("peer_recvmmsg", "peer_gro", "xdp_hash", "xdp_array", "xdp_dense", "peer_recvmmsg_dense") |
"  \(pad(30)) \(ratio(.; "crc")) (\(ratio(.; "key")))"),
"Instructions by function, a packet (channel: a record, of both ends):",
(.profiles | to_entries[] | .key as $key | "  \($key):",
	(.value | map(select(.module or $key == "channel")) | .[:16][] |
"    \(.instructions | lead(6)) \(.function)")),
"One channel, \(.bytes) bytes of records with distinct keys, end to end:",
"  TCP \(.bytes / .tcp / 1e6 | two) MB/s, aggnet " +
"\(.bytes / .channel / 1e6 | two) MB/s, ratio \(.tcp / .channel | two)" +
"; of layout sorted \(.bytes / .sorted / 1e6 | two) MB/s, ratio \(.tcp / .sorted | two)",
"Tasks of one server, \(.task_records) records of the same keys each, a link of" +
" \(.rate):",
(.tasks[] | .merged as $one | .apart as $own |
"  \(.n) tasks: \($one.bytes) bytes leave, of trees of their own" +
" \($own.bytes): \((1 - $one.bytes / $own.bytes) * 100 | two) % less;",
"    \($one.seconds * 1000 | round) ms, of trees of their own" +
" \($own.seconds * 1000 | round) ms:" +
" \($one.seconds / $own.seconds * 100 | two) %")
