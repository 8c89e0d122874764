#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Where a receive queue spreads flows over CPUs, channels are spread: all DATA of a
# channel is served by one CPU, as it has one UDP source port, and of many
# channels each CPU has some. v1 sends CHANNELS transfers to v0 at once; the
# module's own trace tells which CPU took which packet.
. "$(dirname "$0")/lib.sh"

CHANNELS=32
RECORDS=$(scaled 2000)
TRACE=/sys/kernel/tracing
DATA=3	# type of a packet

# Trees from v1 to v0 that differ only in their job.
trees()
{
	plan one --topology bcube:4,1 --method irs --function sum --uid 0 \
		--memory 65536 --senders v1 --receivers v0 || return
	jq --argjson n $CHANNELS '.nodes[].trees |= (.[0] as $t |
		[range($n) | $t + {job: ($t.job + 1 + .)}])' "$TMP/one.json" \
		> "$TMP/many.json" && withdraw one &&
		aggctl apply "$TMP/many.json" > "$TMP/many.apply"
}

# Spread the receive queue's flows over CPUs 0 and 1.
spread()
{
	local device

	for device in eth0 eth1; do
		ip netns exec v0 tee \
			"/sys/class/net/$device/queues/rx-0/rps_cpus" <<< 3
	done
}

# Trace the DATA that v0 takes, from now on.
traced()
{
	echo > $TRACE/trace
	echo "netns == $(stat -Lc %i /run/netns/v0) && type == $DATA" \
		> $TRACE/events/aggnet/aggnet_rx/filter &&
		echo 1 > $TRACE/events/aggnet/aggnet_rx/enable
}

transfers_run()
{
	local i

	for ((i = 1; i <= CHANNELS; i++)); do
		echo "$((job + i)) $(identity v0) v0 v1"
	done > "$TMP/transfers"
	traced && many_transfers "$RECORDS" < "$TMP/transfers" || return
	echo 0 > $TRACE/events/aggnet/aggnet_rx/enable
	echo 0 > $TRACE/events/aggnet/aggnet_rx/filter
	# One line for each packet: its CPU and its incast ID.
	sed -n 's/.*\[\([0-9]*\)\].* aggnet_rx: .*incast=\([0-9a-f]*\) .*/\1 \2/p' \
		$TRACE/trace > "$TMP/packets"
}

# each_whole: each channel's packets are on one CPU, and all channels are there
each_whole()
{
	sort -u "$TMP/packets" > "$TMP/pairs"
	say "$(wc -l < "$TMP/packets") packets, by CPU:" \
		"$(cut -d ' ' -f 1 "$TMP/packets" | sort | uniq -c | tr -s '\n ' ' ')" \
		>&3
	cut -d ' ' -f 2 "$TMP/pairs" | sort -u | wc -l | grep -qx $CHANNELS &&
		wc -l < "$TMP/pairs" | grep -qx $CHANNELS
}

# All channels are on one CPU by chance in one of 2^31 runs.
both()
{
	cut -d ' ' -f 1 "$TMP/packets" | sort -u | wc -l | grep -qx 2
}

exec 3>&1
if [ "$(nproc)" -lt 2 ]; then
	echo "1..0 # SKIP one CPU only"
	exit 0
fi
testbed bcube:4,1
check "$CHANNELS trees" trees
check "queues that spread flows" spread
check "$CHANNELS transfers at once" transfers_run
check "a channel is served by one CPU" each_whole
check "both CPUs serve channels" both
check "the trees are withdrawn" withdraw many
done_testing
