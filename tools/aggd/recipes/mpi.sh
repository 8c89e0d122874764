#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs a program of MPI, which is not changed, with groups of libaggnet: submits one for
# each FUNCTION/TYPE, and runs the command with AGGNET_MPI in its environment. The jobs of
# aggd end with this script, unless it is killed by SIGKILL.
# Usage: mpi.sh ROOT MEMBERS FUNCTION/TYPE[,FUNCTION/TYPE...] COMMAND [ARGUMENT...]
#   ROOT, MEMBERS  as of 'aggctl job submit': v0 v2,v5*2,v9
#   COMMAND        mpiexec and so on, which has the program preload libaggnet-mpi
#   AGGD_HOST      where aggd runs, reached over ssh; without it this host
#   AGGD_GROUP     more options of 'aggctl job submit': --elements 4096 --time 7200
#   AGGD_QUEUE     seconds that a group may wait for room, after its plan is made, while this
#                  run holds another one (10)
set -euo pipefail

[ $# -gt 3 ] || { echo "usage: mpi.sh ROOT MEMBERS FUNCTION/TYPE,... COMMAND..." >&2; exit 2; }
root=$1 members=$2
IFS=, read -ra pairs <<< "$3"
shift 3
# A shell there reads the command of ssh.
[ -z "${AGGD_HOST:-}" ] || members=$(printf %q "$members")

said=$(mktemp -d) submits=() command='' newest=0

# job_of PID: print the job %N of a process of this script that runs. After its end its PID may
# be another process's, but the shell sends no signal to a job that has ended.
job_of()
{
	jobs -lr | awk -v pid="$1" '$2 == pid { sub(/^\[/, "%"); sub(/\].*/, ""); print }'
}

# end_of PID: a program that ignores SIGTERM is killed after 10 seconds
end_of()
{
	local since=$SECONDS job

	job=$(job_of "$1")
	[ -z "$job" ] || kill "$job" 2> /dev/null || :
	while [ "$(job_of "$1")" ]; do
		[ $((SECONDS - since)) -le 10 ] || {
			kill -KILL "$job" 2> /dev/null || :
			break
		}
		sleep 0.05
	done
	wait "$1" || :
}

# The program ends before its groups. Another signal must not end this.
clean()
{
	local pid

	trap '' INT TERM HUP
	for pid in $command "${submits[@]}"; do
		end_of "$pid"
	done
	rm -r "$said"
}

# submit I: with a terminal there, aggctl ends with ssh
submit()
{
	[ "$1" = 0 ] || newest=$(jobs_of_aggd | awk '$1 > id { id = $1 } END { print id + 0 }') || {
		echo "mpi.sh: ${pairs[$1]}: 'aggctl job list' fails: the group is not submitted, and the program does not run" >&2
		exit 1
	}
	: > "$said/$1"
	# shellcheck disable=SC2086 # words
	${AGGD_HOST:+ssh -tt "$AGGD_HOST"} aggctl job submit --attached --root "$root" \
		--members "$members" --function "${pairs[$1]%/*}" --type "${pairs[$1]#*/}" \
		${AGGD_GROUP:-} < /dev/null > "$said/$1" &
	submits+=($!)
}

# jobs_of_aggd: print a line for each, with its ID, and "done", "room" if it waits for room,
# or "comes"
jobs_of_aggd()
{
	# shellcheck disable=SC2086 # words
	${AGGD_HOST:+ssh "$AGGD_HOST"} aggctl job list -j < /dev/null |
		awk -v RS='{' 'match($0, /"job": [0-9]+/) {
			state = "comes"
			if (/"waits": "room"/) state = "room"
			if (/"state": "(in force|withdrawing|ended)"/) state = "done"
			print substr($0, RSTART + 7, RLENGTH - 7), state }'
}

# lacks_room: does the job that was submitted last? Others may have been submitted since
# jobs were listed before it: it does if all of them do that are not in force.
lacks_room()
{
	jobs_of_aggd | awk -v newest="$newest" '$1 > newest && $2 != "done" {
		jobs++; room += $2 == "room" } END { exit !jobs || room < jobs }'
}

# group_of I: print what the job says of its group, once the line is complete
group_of()
{
	local line

	while IFS= read -r line; do
		[[ $line != AGGNET_GROUP=* ]] || {
			line=${line%$'\r'}
			echo "${line#*=}"
			return
		}
	done < "$said/$1"
	return 1
}

# alive I: or end with what its job says
alive()
{
	[ "$(job_of "${submits[$1]}")" ] || {
		cat "$said/$1" >&2
		echo "mpi.sh: ${pairs[$1]}: no group: the program does not run" >&2
		wait "${submits[$1]}" || exit
		exit 1
	}
}

# wait_for I: until the group is in force. If it waits for room while this run holds another
# one, it may wait for the end of this run: it has to come within AGGD_QUEUE seconds in which
# it waits for room each time that jobs are listed, once a second.
wait_for()
{
	local seen=$SECONDS since='' told=''

	until group=$(group_of "$1"); do
		alive "$1"
		sleep 0.1
		[ "$SECONDS" -gt "$seen" ] || continue
		seen=$SECONDS
		[ "$told" ] || echo "mpi.sh: ${pairs[$1]}: waiting until the group is in force" >&2
		told=1
		[ "$1" != 0 ] || continue
		if ! lacks_room; then
			since=''
			continue
		fi
		since=${since:-$seen}
		[ $((seen - since)) -ge "${AGGD_QUEUE:-10}" ] || continue
		# It may have come before the list.
		group_of "$1" > /dev/null && continue
		echo "mpi.sh: ${pairs[$1]}: the group is queued while this run holds ${pairs[*]:0:$1}: lower --elements or --memory in AGGD_GROUP, name fewer groups, or try again later" >&2
		exit 1
	done
}

trap clean EXIT
trap 'exit 143' TERM
AGGNET_MPI=
for i in "${!pairs[@]}"; do
	submit "$i"
	wait_for "$i"
	AGGNET_MPI+="${pairs[i]}:$group;"
done
for i in "${!pairs[@]}"; do
	alive "$i"
done
export AGGNET_MPI

"$@" <&0 &
command=$!
wait "$command"
