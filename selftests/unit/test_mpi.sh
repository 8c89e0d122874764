#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The shim of MPI, with MPICH and Open MPI: results are those of MPI, in groups or not; all
# ranks decide alike; it is silent unless it is asked; errors go to the handler of the
# communicator. A library stands for libaggnet, whose collectives are those of MPI.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
. "$top/selftests/lib/rows.sh"
unset AGGNET_MPI AGGNET_MPI_MIN AGGNET_VERBOSE

# Job IDs tell the stand-in the group's type and function.
group=root=10.0.0.1,down=9,ranks=4
all=''
for t in 0:int64 1:int32 3:float32 4:float64; do
	all+="sum/${t#*:}:$group,up=${t%:*}00;min/${t#*:}:$group,up=${t%:*}10;"
	all+="max/${t#*:}:$group,up=${t%:*}20;"
done

built()
{
	make -s -C "$top/tools/mpi" O="$top/build/tools" || return
	for mpi in mpich openmpi; do
		mkdir "$mpi"
		"mpicc.$mpi" -O1 -Wall -Wextra -Werror -o "$mpi/calls" \
			"$top/selftests/lib/mpi_calls.c" -lm &&
			"mpicc.$mpi" -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -shared -fPIC \
			-I"$top/tools/libaggnet" -I"$top/uapi" -Wl,-soname,libaggnet.so.0 \
			-Wl,--version-script="$top/tools/libaggnet/libaggnet.map" \
			-o "$mpi/libaggnet.so.0" "$top/selftests/unit/mpi_stand_in.c" || return
	done
}

# launch WORD...: run it as MPI's launcher does
launch()
{
	local status=0

	: > shared
	# Ranks that wait for each other are ended.
	case $mpi in
	mpich)
		timeout 60 mpiexec.mpich "$@" > out 2> err || status=$? ;;
	openmpi)
		timeout 60 mpirun.openmpi --allow-run-as-root --oversubscribe \
			--mca pml ob1 --mca btl self,vader "$@" > out 2> err || status=$? ;;
	esac
	cat out err
	return "$status"
}

# calls [NAME=VALUE...] COUNT WHAT...: the program, with the shim, at four ranks
calls()
{
	local env=(STAND_IN_SHARED="$tmp/shared" LD_LIBRARY_PATH="$tmp/$mpi"
		LD_PRELOAD="$top/build/tools/mpi/libaggnet-mpi-$mpi.so")

	while [ "${1#*=}" != "$1" ]; do
		env+=("$1")
		shift
	done
	launch -n "${ranks:-4}" env "${env[@]}" "$tmp/$mpi/calls" "$@"
}

# said LINE...: has the shim printed these lines last, and no others of its own?
said()
{
	sed -n 's/^aggnet-mpi: //p' err | tail -n $# | cmp - <(printf '%s\n' "$@")
}

# counted ALLREDUCE REDUCE BCAST BARRIER, by groups, and then by MPI
counted()
{
	said "calls by groups: allreduce $1, reduce $2, bcast $3, barrier $4" \
		"calls by MPI: allreduce $5, reduce $6, bcast $7, barrier $8"
}

silent()
{
	calls 1 dup && [ ! -s out ] && [ ! -s err ] &&
		calls AGGNET_MPI="$all" 5000 results bcast && [ ! -s out ] && [ ! -s err ]
}

# 5000 elements are two parts.
by_groups()
{
	calls AGGNET_MPI="$all" AGGNET_VERBOSE=1 5000 results in_place overflow bcast &&
		counted 27 64 8 0  0 0 0 0 &&
		grep -x "aggnet-mpi: sum/int64: the group with job 0, of 4 ranks, for calls of at least 16384 bytes" err
}

small()
{
	calls AGGNET_MPI="$all" AGGNET_VERBOSE=1 4095 results bcast barriers &&
		counted 12 24 0 0  12 24 8 10
}

from_0_on()
{
	calls AGGNET_MPI="$all" AGGNET_MPI_MIN=0 AGGNET_VERBOSE=1 3 results bcast barriers &&
		counted 24 48 8 10  0 0 0 0
}

# A sum of reals broadcasts from rank 0 only.
other_types()
{
	calls AGGNET_MPI="sum/float32:$group,up=300" AGGNET_VERBOSE=1 5000 overflow bcast &&
		counted 0 0 2 0  3 0 6 0
}

communicators()
{
	calls AGGNET_MPI="$all" AGGNET_VERBOSE=1 1 dup split nonblocking &&
		counted 3 0 0 0  2 0 0 1 &&
		[ "$(grep -c "a copy of MPI_COMM_WORLD has its groups" err)" = 1 ] &&
		[ "$(grep -c "a communicator has no group" err)" = 3 ]
}

progress()
{
	calls AGGNET_MPI="$all" AGGNET_VERBOSE=1 1 progress && counted 1 0 0 0  0 0 0 0
}

threads()
{
	calls AGGNET_MPI="$all" AGGNET_VERBOSE=1 1 threads && counted 0 0 0 0  2 0 0 0 &&
		grep "only MPI_COMM_WORLD has the groups" err
}

# What rank 0 has in its environment counts.
one_environment()
{
	local shim=(env STAND_IN_SHARED="$tmp/shared" LD_LIBRARY_PATH="$tmp/$mpi"
		LD_PRELOAD="$top/build/tools/mpi/libaggnet-mpi-$mpi.so")
	local program=("$tmp/$mpi/calls" 1 dup)

	launch -n 1 "${shim[@]}" AGGNET_MPI="$all" AGGNET_VERBOSE=1 "${program[@]}" : \
		-n 3 "${shim[@]}" "${program[@]}" && counted 2 0 0 0  0 0 0 0 &&
		launch -n 1 "${shim[@]}" "${program[@]}" : \
		-n 3 "${shim[@]}" AGGNET_MPI="$all" AGGNET_VERBOSE=1 "${program[@]}" &&
		[ ! -s err ]
}

# without FAULT SENTENCE: one rank fails, and all of them use MPI
without()
{
	calls AGGNET_MPI="sum/int32:$group,up=100" STAND_IN="$1" AGGNET_VERBOSE=1 5000 dup \
		bcast && said "sum/int32: MPI, without a group: $2"
}

one_fails()
{
	without lookup=2 "rank 2: job 100: this server has no entry of it: 'aggctl job list' tells whether it has ended; ranks run on the servers of --members, in their order" &&
		without denied=1 "rank 1: job 100: its entry does not permit this user: submit the group as the user of the program" &&
		without join=3 "rank 3: the group cannot be joined" &&
		without open=0 "rank 0: a rank did not come"
}

unfit()
{
	calls AGGNET_MPI="sum/int32:${group/ranks=4/ranks=5},up=100;sum/int64:$group,up=100" \
		AGGNET_VERBOSE=1 1 dup &&
		said "sum/int32: MPI, without a group: rank 0: the group has 5 ranks and MPI_COMM_WORLD 4" \
		"sum/int64: MPI, without a group: rank 0: job 100 has another function or type: AGGNET_MPI has to name those of the group"
}

# wrong VALUE: is it said?
wrong()
{
	ranks=1 calls AGGNET_MPI="$1" AGGNET_VERBOSE=1 1 barriers &&
		said "AGGNET_MPI: '${1%;}' is not FUNCTION/TYPE:GROUP, such as sum/float64:root=10.0.0.1,up=7,down=8,ranks=4: MPI is used"
}

wrong_environment()
{
	wrong sum && wrong sum/int32 && wrong "avg/int32:$group,up=1" &&
		wrong "sum/int16:$group,up=1" && wrong "sum/int32:$group" &&
		wrong "sum/int32:$group,up=x" && wrong "sum/int32:$group,up=4294967296" || return
	ranks=1 calls AGGNET_MPI="$all" AGGNET_MPI_MIN=4k AGGNET_VERBOSE=1 1 barriers &&
		said "AGGNET_MPI_MIN: '4k' is not a number of bytes: MPI is used" || return
	ranks=1 calls AGGNET_MPI="$all" AGGNET_VERBOSE=1 1 barriers &&
		said "MPI_COMM_WORLD has one rank: MPI is used"
}

errors()
{
	local rank

	calls AGGNET_MPI="sum/int32:$group,up=100" STAND_IN=call=4 1 error || return
	for rank in 0 1 2 3; do
		grep -x "rank $rank: MPI_Allreduce by the group of sum/int32: node 10.0.0.9 does not answer" \
			out || return
	done
}

# The group is left at the first call, and the second one has the same sentence.
without_memory()
{
	local rank

	calls AGGNET_MPI="sum/int32:$group,up=100" 1 no_memory || return
	for rank in 0 1 2 3; do
		[ "$(grep -cx "rank $rank: MPI_Bcast by the group of sum/int32: the group was left: no memory for a copy of MPI_Bcast" \
			out)" = 2 ] || return
	done
}

fatal()
{
	local status=0

	calls AGGNET_MPI="sum/int32:$group,up=100" STAND_IN=call=2 1 fatal || status=$?
	[ "$status" != 0 ] && [ "$status" != 124 ] &&
		cat out err | grep "sum/int32: node 10.0.0.9 does not answer"
}

check "both shims are built" built
mpi=mpich
check "wrong environments" wrong_environment
for mpi in mpich openmpi; do
	check "$mpi: results, without a line" silent
	check "$mpi: results by groups, in parts, and sums that do not fit" by_groups
	check "$mpi: small calls" small
	check "$mpi: calls of each size, and barriers" from_0_on
	check "$mpi: types without a group" other_types
	check "$mpi: copies and parts of MPI_COMM_WORLD" communicators
	check "$mpi: a message that another rank needs first" progress
	check "$mpi: threads" threads
	check "$mpi: the environment of rank 0 counts" one_environment
	check "$mpi: a rank that cannot join" one_fails
	check "$mpi: groups that do not fit" unfit
	check "$mpi: an error, returned" errors
	check "$mpi: an error, fatal" fatal
	check "$mpi: no memory for a copy" without_memory
done
end_rows
