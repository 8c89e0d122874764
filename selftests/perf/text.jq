# The benchmark's table. Seconds are instructions of the whole machine / 1e9;
# "net" is without the cost of generating and sending the packets.
def two: . * 100 | round / 100;
def per($n): . * 1e9 / $n | round;
(.packets * .records) as $n |
. as $b |
def net($s): $s - $b.generator;
def rate($s): $n / net($s) / 1e6 | two;
def row($what; $s): "  \($what): \($s | per($b.packets)) instructions a packet, " +
	"net \(net($s) | per($b.packets)) = \(net($s) | per($n)) a record, " +
	"\(rate($s)) M records/s net";
"Merging at one server, \(.packets) DATA of \(.records) records (8+8 bytes)," +
" \(.keys) keys, kernel \(.kernel)",
"  generator alone: \(.generator | per($b.packets)) instructions a packet",
row("aggnet, CRC32C"; .module),
row("aggnet, SipHash key"; .module_key),
row("userspace, CRC32C"; .user),
row("userspace, SipHash key"; .user_key),
row("XDP, merges only, hash map"; .xdp_hash),
row("XDP, merges only, array map (dense keys)"; .xdp_array),
"  ratios net of the generator, CRC32C (with key):",
"    aggnet / userspace \(net(.user) / net(.module) | two)" +
" (\(net(.user_key) / net(.module_key) | two))",
"    aggnet / XDP hash \(net(.xdp_hash) / net(.module) | two)" +
" (\(net(.xdp_hash) / net(.module_key) | two))",
"    aggnet / XDP array \(net(.xdp_array) / net(.module) | two)" +
" (\(net(.xdp_array) / net(.module_key) | two))",
"  and with it: userspace \(.user / .module | two)," +
" XDP hash \(.xdp_hash / .module | two)," +
" XDP array \(.xdp_array / .module | two)",
"One channel, \(.bytes) bytes of records with distinct keys, end to end:",
"  TCP \(.bytes / .tcp / 1e6 | two) MB/s, aggnet " +
"\(.bytes / .channel / 1e6 | two) MB/s, ratio \(.tcp / .channel | two)",
"Tasks of one server, \(.task_records) records of the same keys each, a link of" +
" \(.rate):",
(.tasks[] | .merged as $one | .apart as $own |
"  \(.n) tasks: \($one.bytes) bytes leave, of trees of their own" +
" \($own.bytes): \((1 - $one.bytes / $own.bytes) * 100 | two) % less;",
"    \($one.seconds * 1000 | round) ms, of trees of their own" +
" \($own.seconds * 1000 | round) ms:" +
" \($one.seconds / $own.seconds * 100 | two) %")
