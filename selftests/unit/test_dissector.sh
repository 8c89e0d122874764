#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Wireshark's dissector decodes a packet of each type, and marks malformed ones. The
# packets are written by hand here, from Documentation/wire.rst.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0
command -v tshark text2pcap > /dev/null || {
	echo "1..0 # SKIP no tshark here"
	exit 4
}

/usr/bin/python3 - > "$tmp/packets" << 'END'
import struct

A, B, C = (bytes([10, 0, 0, i]) for i in (1, 2, 9))

def packet(kind, body, flags=0, version=4, length=None, units=0):
    length = len(body) if length is None else length
    head = struct.pack(">BBBBHHI4sII4s4sQQIIIIQ", version, kind, 64, units,
                       flags, length, 7, A, 1, 0, B, A, 5, 6, 7, 8, 0, 0, 9)
    return head + body

def data(count, records):
    return packet(3, struct.pack(">IHHQ", 100, count, 0, 2) + records)

two = bytes([2, 1]) + b"ab\x05" + bytes([1, 0]) + b"z"
packets = [
    packet(1, bytes(24)),
    packet(2, struct.pack(">HHBBH", 1384, 77, 60, 0, 0)),
    data(2, two),
    packet(4, struct.pack(">II40s", 3, 4, bytes(40)), flags=0x400),
    packet(5, struct.pack(">IIQIIQ16x", 3, 1, 4, 0, 5, 6) + C, flags=0x10),
    packet(6, struct.pack(">II", 3, 0)),
    packet(7, struct.pack(">I4s4sI", 1, A, B, 1) + C),
    packet(8, struct.pack(">IIII", 2, 1, 0, 0)),
    packet(9, b""),
    packet(9, struct.pack(">II", 3, 1) + C + bytes(40)),
    packet(3, bytes(8) + struct.pack(">IHHQ", 100, 2, 0, 2) + two, units=1),
    packet(3, struct.pack(">IHHQ", 101, 0, 0, 5) + b"hello", flags=0x1000),
    # malformed
    data(3, two),
    data(1, two),
    data(1, bytes([0, 1, 5])),
    data(1, bytes([9, 9, 5])),
    packet(6, b""),
    packet(6, bytes(8), length=9),
    packet(12, b""),
    # not ours
    packet(6, bytes(8), version=2),
    bytes(71),
]
for p in packets:
    for at in range(0, len(p), 16):
        print("%06x %s" % (at, " ".join("%02x" % b for b in p[at:at + 16])))
    print()
END
text2pcap -q -u 50000,18016 "$tmp/packets" "$tmp/pcap" 2> "$tmp/err"
# Packets of the suite's own transfers, NAME.TYPE, which the fuzzers begin with.
captured=("$top"/selftests/fuzz/seeds/packet/*.*)
for packet in "${captured[@]}"; do
	od -Ax -tx1 -v "$packet"
done > "$tmp/hex"
text2pcap -q -u 50000,18016 "$tmp/hex" "$tmp/captured" 2>> "$tmp/err"
# shark [-r FILE] OPTION...
shark()
{
	[ "$1" = -r ] || set -- -r "$tmp/pcap" "$@"
	tshark -X lua_script:"$top/tools/wireshark/aggnet.lua" \
		"$@" 2> "$tmp/err"
}

# same NAME EXPECTED GOT
same()
{
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
		return
	fi
	echo "not ok $n - $1"
	diff <(echo "$2") <(echo "$3") | sed 's/^/# /'
	sed 's/^/# /' "$tmp/err"
	failed=1
}

echo 1..9
same "a summary of each type" "OPEN, job 7
ACCEPT, job 7
DATA seq 100, 2 records, job 7
ACK cum 3, credit 4, job 7
FIN final 3, 1 sources, job 7
DONE 3 sources, job 7
ABORT timeout, job 7
RST closed, job 7
PROBE, job 7
PROBE, job 7
DATA seq 100, 2 records, job 7
DATA seq 101, 5 bytes, job 7" \
	"$(shark -Y 'aggnet and frame.number <= 12' -T fields -e _ws.col.Info)"
same "malformed packets, and no other ones, are marked" \
	"$(seq 13 19)" \
	"$(shark -Y aggnet.malformed -T fields -e frame.number)"
same "packets of another version, or too short, are left alone" "20
21" "$(shark -Y 'not aggnet' -T fields -e frame.number)"
same "records" "6162,7a	05" \
	"$(shark -Y 'frame.number == 3' -T fields -e aggnet.key -e aggnet.value)"
same "names of a FIN, an ABORT and a PROBE" "10.0.0.9
10.0.0.9
10.0.0.9" "$(shark -Y aggnet.name -T fields -e aggnet.name)"
same "flags" "$(printf '1\t0\n0\t1')" \
	"$(shark -Y 'frame.number in {4,5}' -T fields -e aggnet.flags.fin \
		-e aggnet.flags.check)"
same "captured packets are decoded, and none is marked" \
	"$(printf '%s\n' "${captured[@]##*.}" | tr "[:lower:]" "[:upper:]")" \
	"$(shark -r "$tmp/captured" -Y 'aggnet and not aggnet.malformed and not _ws.malformed' \
		-T fields -e _ws.col.Info | sed 's/[ ,].*//')"
same "captured packets of a broadcast, and of a transfer whose packets left by plain IP" \
	"$(printf 'ACK\t1\t\nDATA\t1\t\nFIN\t1\t0\nFIN\t0\t3')" \
	"$(shark -r "$tmp/captured" -Y 'aggnet.flags.down == 1 or aggnet.fell_link > 0' \
		-T fields -e _ws.col.Info -e aggnet.flags.down -e aggnet.fell_link |
		sed 's/[ ,][^\t]*//')"
# With "tcpdump -s 120" bodies are missing, and nothing is wrong with the packets.
editcap -s 120 "$tmp/captured" "$tmp/cut" 2>> "$tmp/err"
same "packets that a capture has cut are not marked" \
	"DATA, job (cut by the capture)" \
	"$(shark -r "$tmp/cut" -Y 'aggnet.type == 3 or aggnet.malformed or _ws.malformed' \
		-T fields -e _ws.col.Info | sed 's/job [0-9]*/job/' | sort -u)"
exit $failed
