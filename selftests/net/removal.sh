#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
#   ROUNDS=N  for each thing that goes (4), LOADS=N of the module (20)
#
# What a transfer stands on goes while it runs: each application returns, with
# the exact result or an error, and nothing of it is left. removal.c makes the
# network for each round: s --- a --- r; reload.c has the module come and go.
. "$(dirname "$0")/lib.sh"

ROUNDS=${ROUNDS:-4}
LOADS=${LOADS:-20}
MODULE=$NET_DIR/../../build/$KERNEL/aggnet.ko

# gone WHAT: the last line that it prints is kept
gone()
{
	removal "$SEED" "$ROUNDS" "$1" > "$TMP/said" && say "$(< "$TMP/said")" >&3
}

reloaded()
{
	reload "$SEED" "$LOADS" "$MODULE" > "$TMP/said" &&
		say "$(< "$TMP/said")" >&3
}

say "seed $SEED, $ROUNDS rounds each"
exec 3>&1
trap 'rm -rf "$TMP"' EXIT
check "nothing goes" gone nothing
check "a port is detached, some come back" gone port
check "a device is deleted" gone device
check "carrier is lost, some links come back" gone carrier
check "an identity is no address of the host any more" gone identity
check "a node's namespace goes" gone namespace
check "an entry is withdrawn" gone entry
check "another plan is applied" gone plan
check "the module cannot go" gone module
check "the module comes and goes under packets" reloaded
done_testing
