#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A program of MPI that knows nothing of aggnet, with the shim, each rank on a server of its
# own: results are right whether a group or MPI has the call, sums of reals are rounded once,
# a message that another rank needs first comes, and ranks that cannot join have all ranks use
# MPI at once. BCube(2,1), MPICH over shared memory.
. "$(dirname "$0")/lib.sh"

TOP=$(cd "$NET_DIR/../.." && pwd)
MEMBERS=v1,v2,v3
ELEMENTS=500
unset AGGNET_MPI AGGNET_MPI_MIN AGGNET_VERBOSE

# planned FUNCTION TYPE: plan and apply both trees of a group, and add it to $groups
planned()
{
	job=$((job + 2))
	plan "down.$1.$2" --topology bcube:2,1 --collective bcast --root v0 --uid 0 \
		--persist --receivers "$MEMBERS" || return
	plan "up.$1.$2" --topology bcube:2,1 --receivers v0 --senders "v0,$MEMBERS" --uid 0 \
		--persist --elements $ELEMENTS --function "$1" --type "$2" || return
	groups+="$1/$2:root=$(identity v0),up=$job,down=$((job - 1)),ranks=4;"
}

# The server of each rank; MPI itself has shared memory.
cat > "$TMP/rank" << 'END'
#!/bin/bash
read -ra servers <<< "$SERVERS"
export LD_LIBRARY_PATH=$BUILT/libaggnet
exec ip netns exec "${servers[PMI_RANK]}" env LD_PRELOAD="$BUILT/mpi/libaggnet-mpi-mpich.so" "$@"
END
chmod +x "$TMP/rank"

# calls COUNT WHAT...: the program at four ranks
calls()
{
	local status=0

	BUILT=$TOP/build/tools SERVERS=${servers:-v0 v1 v2 v3} AGGNET_MPI=$groups \
		AGGNET_MPI_MIN=0 AGGNET_VERBOSE=1 UCX_TLS=self,sm \
		timeout "$TIMEOUT" mpiexec.mpich -launcher fork -n 4 "$TMP/rank" mpi_calls "$@" \
		> "$TMP/mpi.out" 2>&1 || status=$?
	cat "$TMP/mpi.out"
	return $status
}

# counted ALLREDUCE REDUCE BCAST BARRIER, by groups, and then by MPI
counted()
{
	grep -x "aggnet-mpi: calls by groups: allreduce $1, reduce $2, bcast $3, barrier $4" \
		"$TMP/mpi.out" &&
		grep -x "aggnet-mpi: calls by MPI: allreduce $5, reduce $6, bcast $7, barrier $8" \
		"$TMP/mpi.out"
}

# More elements than a group has are sent in parts.
results()
{
	groups=''
	planned sum float64 && planned sum int32 && planned min float32 &&
		calls 510 results overflow exact bcast dup nonblocking progress barriers &&
		counted 13 12 8 10  19 36 0 0
}

# Ranks 1 and 2 are on one server.
together()
{
	groups=''
	MEMBERS="v1*2,v3"
	planned sum float32 && planned max int64 && servers="v0 v1 v1 v3" calls 510 \
		results bcast dup && counted 4 8 8 0  22 40 0 0
}

joined()
{
	grep "the group with job" "$TMP/mpi.out"
}

# The error handler of MPI_COMM_WORLD ends a program whose group is withdrawn.
withdrawn()
{
	local pid status=0

	groups=''
	MEMBERS=v1,v2,v3
	planned sum int32 && rm -f "$TMP/mpi.out" || return
	calls 1 endless &
	pid=$!
	wait_for joined && withdraw up.sum.int32
	wait "$pid" || status=$?
	[ $status != 0 ] && [ $status != 124 ] && grep "MPI_Allreduce by the group of sum/int32: " "$TMP/mpi.out"
}

# A rank on the server of rank 0, and a job without entries: all ranks use MPI at once.
without()
{
	groups="max/int64:root=$(identity v0),up=90,down=91,ranks=4;"
	planned max int32 && servers="v0 v0 v2 v3" calls 1 dup &&
		grep "max/int32: MPI, without a group: rank " "$TMP/mpi.out" &&
		grep "max/int64: MPI, without a group: rank 0: job 90: this server has no entry of it" \
		"$TMP/mpi.out"
}

testbed bcube:2,1
check "results by groups and by MPI" results
check "two ranks on one server" together
check "a group that is withdrawn" withdrawn
check "ranks that cannot join" without
done_testing
