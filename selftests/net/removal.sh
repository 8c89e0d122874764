#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A port, device, carrier, identity, namespace, entry, plan or the module is
# removed while a transfer runs, 20 times each: every call returns with the
# exact result or an error, and nothing remains. removal.c has a line s --- a
# --- r for each, all at the same time because a node waits to give up most of
# that time; reload.c loads and unloads the module under packets.
#   ROUNDS=N  for each thing that goes (20)
#   LOADS=N   of the module (20)
. "$(dirname "$0")/lib.sh"

ROUNDS=${ROUNDS:-$((SLOW > 1 ? 5 : 20))}
LOADS=${LOADS:-$((SLOW > 1 ? 5 : 20))}
MODULE=${VM_MODULE:-$NET_DIR/../../build/$KERNEL/aggnet.ko}
THINGS="nothing port device carrier identity namespace entry plan module"
declare -A pids

memory_used()
{
	aggctl -j node show | jq .memory_used
}

# gave_back BYTES: does the host hold no more than BYTES? Earlier tests may have
# been freeing memory when BYTES was read.
gave_back()
{
	[ "$(memory_used)" -le "$1" ]
}

# gone WHAT: wait for its rounds and print the program's last line
gone()
{
	wait "${pids[$1]}" && say "$1: $(< "$TMP/said.$1")" >&3 && return
	cat "$TMP/err.$1"
	return 1
}

reloaded()
{
	reload "$SEED" "$LOADS" "$MODULE" > "$TMP/said" &&
		say "$(< "$TMP/said")" >&3
}

# pair NAME: namespaces NAME0 and NAME1 with a link, which NAME1 sends multicasts by
pair()
{
	local i

	for i in 0 1; do
		ip netns add "$1$i" && ip -n "$1$i" link set lo up || return
	done
	ip link add d0 netns "$1"0 type veth peer name d1 netns "$1"1 || return
	for i in 0 1; do
		ip -n "$1$i" address add 192.0.2.$i/31 dev d$i &&
			ip -n "$1$i" link set d$i up || return
	done
	ip -n "$1"1 route add 224.0.0.0/4 dev d1
}

# received COUNTER NUMBER: has namespace mc0 counted so many?
received()
{
	ip netns exec mc0 nstat -asz "$1" > "$TMP/nstat" &&
		[ "$(awk -v c="$1" '$1 == c { print $2 }' "$TMP/nstat")" -ge "$2" ]
}

# The kernel's UDP socket gets the datagram, and keeps its route, which is one of the
# loopback device. Namespaces end one after the other: the second one would wait, too.
multicast()
{
	local port name

	pair mc && pair next && ip -n mc0 address add 10.9.9.9/32 dev lo &&
		aggctl -n mc0 node set address 10.9.9.9 || return
	port=$(aggctl -n mc0 -j node show | jq .port)
	ip netns exec mc1 bash -c "echo > /dev/udp/224.0.0.1/$port" &&
		wait_for received IpExtInMcastPkts 1 || return
	for name in mc next; do
		ip netns delete "${name}0"
		wait_for no_device "${name}1" || return
	done
	ip netns delete mc1 && ip netns delete next1
}

no_device()
{
	! ip -n "$1" link show d1 > "$TMP/link" 2>&1
}

say "seed $SEED, $ROUNDS rounds each"
exec 3>&1
trap 'kill_all; rm -rf "$TMP"' EXIT
before=$(memory_used)
for thing in $THINGS; do
	removal "$SEED" "$ROUNDS" "$thing" > "$TMP/said.$thing" \
		2> "$TMP/err.$thing" &
	pids[$thing]=$!
done
check "nothing is removed" gone nothing
check "a port is detached, some are attached again" gone port
check "a device is deleted" gone device
check "carrier is lost, some links get it back" gone carrier
check "an identity's address is deleted" gone identity
check "a node's namespace is deleted" gone namespace
check "an entry is withdrawn" gone entry
check "another plan is applied" gone plan
check "the module cannot be unloaded" gone module
check "the host gets back all memory" wait_for gave_back "$before"
check "a namespace ends that has received a multicast" multicast
check "the module is unloaded and loaded under packets" reloaded
done_testing
