#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The recipes of aggd: what the Slurm script asks aggd for, what each of its tasks gets,
# and that its job is cancelled however it ends; likewise the script for MPI; what the
# systemd unit writes for ranks.
# Scripts stand for Slurm, ssh and aggctl.
# shellcheck disable=SC2016,SC2181 # scripts for the tasks; status after several lines
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
recipes=$top/tools/aggd/recipes
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
. "$top/selftests/lib/rows.sh"

# fake NAME: a program, from standard input
fake()
{
	{
		printf '#!/bin/bash\n'
		cat
	} > "$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

mkdir "$tmp/bin"
fake aggctl <<'END'
[ "$2" = list ] || echo "aggctl $*" >> "$CALLS"
case $2 in
submit)
	[ -z "${REFUSED:-}" ] || { echo "aggctl: $REFUSED" >&2; exit 1; }
	trap 'echo "job ended" >> "$CALLS"; exit 143' TERM
	# A job that waits says nothing.
	[[ -z ${WAITS:-} || $* != *${WAITS_FOR:-}* ]] ||
		until [ -e "${GOES:-}" ]; do sleep 0.01; done
	# The first group may end before the second one is there.
	[[ -z ${ENDS:-} || $* != *float64* ]] || {
		echo $$ > "$ENDS.pid"
		mv "$ENDS.pid" "$ENDS"
	}
	[[ -z ${ENDS:-} || $* == *float64* ]] || {
		kill "$(< "$ENDS")"
		while kill -0 "$(< "$ENDS")" 2> /dev/null; do sleep 0.01; done
	}
	echo "job 1000: in force"
	echo -n AGGNET_GROUP=root=10.0.0.1,up=10
	${CUT:+sleep 0.5}
	echo "00,down=1001,ranks=3"
	while :; do sleep 0.01; done ;;
list)
	# The first job is another one. So is 1001, which comes before the second group.
	[ -z "${SILENT:-}" ] || { echo "aggctl: aggd does not answer" >&2; exit 1; }
	: >> "$CALLS.listed"
	submits=$(grep -c '^aggctl job submit' "$CALLS")
	# What the second group waits for, each time that jobs are listed: "go" lets it go.
	waits=
	if [ "$submits" = 2 ]; then
		echo >> "$CALLS.listed"
		looks=$(wc -l < "$CALLS.listed")
		for word in ${WAITS_AT:-}; do
			waits=$word
			[ $((looks -= 1)) -gt 0 ] || break
		done
	fi
	[ "$waits" != go ] || { : > "$GOES"; waits=plan; }
	# job ID STATE [WHAT IT WAITS FOR]
	job()
	{
		printf '  {\n    "job": %s,\n    "user": 1,\n    "state": "%s"' "$1" "$2"
		[ -z "${3:-}" ] || printf ',\n    "waits": "%s"' "$3"
		printf '\n  }'
	}
	printf '[\n'
	job 900 queued room
	[ "$submits" = 0 ] || { echo ,; job 1000 "in force"; }
	[ "$submits" -lt 2 ] || [ -z "${OTHER:-}" ] || { echo ,; job 1001 $OTHER; }
	[ "$submits" -lt 2 ] || { echo ,; job 1002 "${WAITS:-in force}" $waits; }
	printf '\n]\n' ;;
esac
END
fake ssh <<'END'
[ "$1" != -tt ] || { echo "ssh $*" >> "$CALLS"; shift; }
shift
"$@" > >(sed -u 's/$/\r/') &
trap 'kill $!; wait; exit 255' TERM
wait
END
fake scontrol <<'END'
[ "$*" = "show hostnames $SLURM_JOB_NODELIST" ] && tr ' ' '\n' <<< "$HOSTS"
END
fake srun <<'END'
while [ "${1#--}" != "$1" ]; do
	shift
done
pids=()
trap 'kill "${pids[@]}"; wait; exit 143' TERM
for SLURM_PROCID in 0 1 2; do
	SLURM_PROCID=$SLURM_PROCID "$@" &
	pids+=($!)
done
status=0
for pid in "${pids[@]}"; do
	wait "$pid" || status=$?
done
exit $status
END

# slurm COMMAND...: run the script as Slurm does
slurm()
{
	local status=0

	: > "$tmp/calls"
	PATH=$tmp/bin:$PATH CALLS=$tmp/calls HOSTS=${hosts:-node1 node2 node3} \
		SLURM_JOB_NODELIST='node[1-3]' "$recipes/slurm.sh" "$@" \
		> "$tmp/out" 2> "$tmp/err" || status=$?
	return "$status"
}

# called LINE...: were these, and no others, the calls?
called()
{
	cmp -s "$tmp/calls" <([ $# = 0 ] || printf '%s\n' "$@")
}

SUBMIT="job submit --attached --root node1 --members node2,node3"

each_task()
{
	slurm sh -c 'echo "$AGGNET_GROUP $AGGNET_RANK $*"' x "a b" '*' &&
		sort out | cmp - <(for i in 0 1 2; do
			echo "root=10.0.0.1,up=1000,down=1001,ranks=3 $i a b *"
		done)
}

at_the_end()
{
	slurm true && called "aggctl $SUBMIT" "job ended"
}

over_ssh()
{
	AGGD_HOST=login AGGD_GROUP="--type int32 --elements 9" slurm sh -c 'echo "$AGGNET_GROUP"' &&
		grep -x "root=10.0.0.1,up=1000,down=1001,ranks=3" out &&
		called "ssh -tt login aggctl $SUBMIT --type int32 --elements 9" \
			"aggctl $SUBMIT --type int32 --elements 9" "job ended"
}

task_fails()
{
	slurm sh -c 'exit $((AGGNET_RANK == 1 ? 7 : 0))'
	[ $? = 7 ] && called "aggctl $SUBMIT" "job ended"
}

refused()
{
	REFUSED="hpc: no more than 8 jobs" slurm touch "$tmp/ran"
	[ $? = 1 ] && [ ! -e ran ] && grep "no more than 8 jobs" err &&
		called "aggctl $SUBMIT"
}

# wait_for COMMAND...: until it succeeds, for at most a minute
wait_for()
{
	local end=$((SECONDS + 60))

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
	done
}

# terminated COMMAND...: Slurm ends the script by SIGTERM when this succeeds
terminated()
{
	wait_for "$@" && pkill -TERM -P $! slurm.sh
	wait $!
	[ $? = 143 ]
}

all_run()
{
	[ -e runs.0 ] && [ -e runs.1 ] && [ -e runs.2 ]
}

ended()
{
	slurm bash -c 'trap ": > $0.ended; exit 1" TERM; : > "$0.$AGGNET_RANK"
		while :; do sleep 0.01; done' "$tmp/runs" &
	terminated all_run && [ -e runs.ended ] && called "aggctl $SUBMIT" "job ended"
}

ended_in_queue()
{
	rm -f calls
	WAITS=queued slurm touch "$tmp/ran" &
	terminated test -s calls && [ ! -e ran ] && called "aggctl $SUBMIT" "job ended"
}

one_host()
{
	hosts=node1 slurm true
	[ $? = 2 ] && called && grep "at least two hosts" err
}

no_command()
{
	slurm
	[ $? = 2 ] && grep "^usage: " err
}

# mpi ROOT MEMBERS PAIRS COMMAND...: run the script for MPI
mpi()
{
	local status=0

	: > "$tmp/calls"
	PATH=$tmp/bin:$PATH CALLS=$tmp/calls "$recipes/mpi.sh" "$@" \
		> "$tmp/out" 2> "$tmp/err" || status=$?
	return "$status"
}

# mpi_called [MEMBERS]: were two groups submitted, and have they ended?
mpi_called()
{
	local submit="aggctl job submit --attached --root node1 --members ${1:-node2*2,node3}"

	cmp -s <(grep -v ^ssh "$tmp/calls" | sort) \
		<(printf '%s\n' "$submit --function max --type int32" \
		"$submit --function sum --type float64" "job ended" "job ended" | sort)
}

mpi_groups()
{
	local group=root=10.0.0.1,up=1000,down=1001,ranks=3

	mpi node1 'node2*2,node3' sum/float64,max/int32 sh -c 'echo "$AGGNET_MPI"' &&
		grep -x "sum/float64:$group;max/int32:$group;" out && mpi_called || return
	AGGD_HOST=login mpi node1 'node2*2,node3' sum/float64,max/int32 \
		sh -c 'echo "$AGGNET_MPI"' &&
		grep -x "sum/float64:$group;max/int32:$group;" out &&
		mpi_called 'node2\*2\,node3' || return
	echo input | mpi node1 'node2*2,node3' sum/float64,max/int32 sh -c 'read -r x; echo "$x"' &&
		grep -x input out
}

mpi_fails()
{
	mpi node1 'node2*2,node3' sum/float64,max/int32 sh -c 'exit 7'
	[ $? = 7 ] && mpi_called
}

mpi_refused()
{
	REFUSED="hpc: no more than 8 jobs" mpi node1 node2 sum/int32 touch "$tmp/mpi.ran"
	[ $? = 1 ] && [ ! -e mpi.ran ] && grep "no more than 8 jobs" err || return
	mpi node1 node2 sum/int32
	[ $? = 2 ] && grep "^usage: " err && called
}

# comes STATE [WHAT IT WAITS FOR]: the second group, and the program runs
comes()
{
	local pid

	rm -f calls.listed goes
	WAITS=$1 WAITS_AT=${2:-} WAITS_FOR=int32 GOES=$tmp/goes AGGD_QUEUE=1 \
		mpi node1 'node2*2,node3' sum/float64,max/int32 true &
	pid=$!
	wait_for test -s calls.listed && : > goes
	wait "$pid" && mpi_called
}

# A group without room may wait for this run; one that is planned or put in force comes.
mpi_queued()
{
	WAITS=queued WAITS_AT=room WAITS_FOR=int32 AGGD_QUEUE=1 mpi node1 'node2*2,node3' \
		sum/float64,max/int32 touch "$tmp/mpi.ran"
	[ $? = 1 ] && [ ! -e mpi.ran ] && mpi_called &&
		grep -x "mpi.sh: max/int32: waiting until the group is in force" err &&
		grep -x "mpi.sh: max/int32: the group is queued while this run holds sum/float64: lower --elements or --memory in AGGD_GROUP, name fewer groups, or try again later" \
		err || return
	comes applying && comes queued plan
}

# The time in which it is planned does not count, nor a wait for room with a break.
mpi_comes_late()
{
	local waits

	for waits in "plan plan plan room go" "room plan room plan go"; do
		rm -f calls.listed goes
		WAITS=queued WAITS_AT=$waits WAITS_FOR=int32 GOES=$tmp/goes AGGD_QUEUE=2 \
			mpi node1 'node2*2,node3' sum/float64,max/int32 true || return
		mpi_called || return
	done
}

# Jobs of the same user may come between.
mpi_queued_among()
{
	OTHER="queued room" comes queued plan || return
	OTHER=ended WAITS=queued WAITS_AT=room WAITS_FOR=int32 GOES=$tmp/never AGGD_QUEUE=1 \
		mpi node1 'node2*2,node3' sum/float64,max/int32 touch "$tmp/mpi.ran"
	[ $? = 1 ] && [ ! -e mpi.ran ] && grep "is queued while this run holds" err || return
	SILENT=1 mpi node1 'node2*2,node3' sum/float64,max/int32 touch "$tmp/mpi.ran"
	[ $? = 1 ] && [ ! -e mpi.ran ] && grep -x "mpi.sh: max/int32: 'aggctl job list' fails: the group is not submitted, and the program does not run" err
}

mpi_group_ends()
{
	ENDS=$tmp/mpi.ends mpi node1 'node2*2,node3' sum/float64,max/int32 touch "$tmp/mpi.ran"
	[ $? != 0 ] && [ ! -e mpi.ran ] && mpi_called &&
		grep -x "mpi.sh: sum/float64: no group: the program does not run" err
}

# The line of a group may come in parts.
group_in_parts()
{
	local group=root=10.0.0.1,up=1000,down=1001,ranks=3

	CUT=1 mpi node1 node2 sum/float64 sh -c 'echo "$AGGNET_MPI"' &&
		grep -x "sum/float64:$group;" out || return
	CUT=1 slurm sh -c 'echo "$AGGNET_GROUP"' && [ "$(grep -cx "$group" out)" = 3 ]
}

# ended_twice SCRIPT COMMAND...: a second signal comes while the program ends by the first one
ended_twice()
{
	local program='trap ": > \$0.ends; until [ -e \$0.goes ]; do sleep 0.01; done; exit 1" TERM
		: > "$0"; while :; do sleep 0.01; done'
	local name=$1

	shift
	rm -f "$tmp"/twice*
	"$@" bash -c "$program" "$tmp/twice" &
	wait_for test -e twice && pkill -TERM -P $! "$name" && wait_for test -e twice.ends &&
		pkill -TERM -P $! "$name"
	: > twice.goes
	wait $!
	[ $? = 143 ]
}

mpi_ended_twice()
{
	ended_twice mpi.sh mpi node1 'node2*2,node3' sum/float64,max/int32 && mpi_called
}

slurm_ended_twice()
{
	ended_twice slurm.sh slurm && called "aggctl $SUBMIT" "job ended"
}

# ended_deaf SCRIPT COMMAND...: the program ignores the signal, and ends by itself later
ended_deaf()
{
	local name=$1 pid i

	shift
	rm -f "$tmp"/deaf*
	"$@" bash -c 'trap "" TERM; : > "$0"; until [ -e "$0.goes" ]; do sleep 0.01; done' \
		"$tmp/deaf" &
	pid=$!
	wait_for test -e deaf && pkill -TERM -P "$pid" "$name"
	for ((i = 0; i < 300; i++)); do
		kill -0 "$pid" 2> /dev/null || break
		sleep 0.1
	done
	: > deaf.goes
	wait "$pid"
	[ $? = 143 ] && [ "$i" -lt 300 ]
}

mpi_ended_deaf()
{
	ended_deaf mpi.sh mpi node1 'node2*2,node3' sum/float64,max/int32 && mpi_called
}

slurm_ended_deaf()
{
	ended_deaf slurm.sh slurm && called "aggctl $SUBMIT" "job ended"
}

# A process that has ended gets no signal, as its PID may be another one's.
signals_to_jobs()
(
	kill()
	{
		[[ $0 != */recipes/* ]] || echo "$*" >> "$tmp/kills"
		builtin kill "$@"
	}

	export tmp
	export -f kill
	mpi node1 'node2*2,node3' sum/float64,max/int32 true && slurm true && [ -s kills ] &&
		! grep -vx '\(-KILL \)\?%[0-9]*' kills
)

mpi_runs()
{
	[ -e "$tmp/mpi.runs" ]
}

mpi_ended()
{
	mpi node1 'node2*2,node3' sum/float64,max/int32 \
		bash -c 'trap "exit 1" TERM; : > "$0"; while :; do sleep 0.01; done' \
		"$tmp/mpi.runs" &
	wait_for mpi_runs && pkill -TERM -P $! mpi.sh
	wait $!
	[ $? = 143 ] && mpi_called
}

# line_of KEY: print a line of the unit, with this aggctl and file
line_of()
{
	sed -n "s/^$1=//p" "$recipes/aggnet-group.service" |
		sed "s|/usr/bin/aggctl|$tmp/bin/aggctl|; s|/run/aggnet-group|$tmp|g"
}

# unit_starts: as systemd starts it, but for what it does itself; leaves $main
unit_starts()
{
	: > "$tmp/env"
	CALLS=$tmp/calls bash -c "exec $(line_of ExecStart)" &
	main=$!
	MAINPID=$main bash -c "$(line_of ExecStartPost)"
}

unit_has_group()
{
	unit_starts && kill "$main" && grep -x "AGGNET_GROUP=root=.*" "$tmp/env"
}

unit_refused()
{
	! REFUSED="no more than 8 jobs" unit_starts
}

check "slurm: each task has the group, its rank and its arguments" each_task
check "slurm: the job is cancelled at the end" at_the_end
check "slurm: aggd of another host, with options of the group" over_ssh
check "slurm: a task fails" task_fails
check "slurm: aggd refuses the job" refused
check "slurm: the script is ended" ended
check "slurm: the script is ended while its job waits" ended_in_queue
check "slurm: the script is ended twice" slurm_ended_twice
check "slurm: the command ignores SIGTERM" slurm_ended_deaf
check "slurm: one host" one_host
check "slurm: no command" no_command
check "mpi: the program has all groups, which end with it" mpi_groups
check "mpi: the program fails" mpi_fails
check "mpi: no group, no program" mpi_refused
check "mpi: the script is ended" mpi_ended
check "mpi: the script is ended twice" mpi_ended_twice
check "mpi: the program ignores SIGTERM" mpi_ended_deaf
check "mpi: a group that is queued while another one is held" mpi_queued
check "mpi: a group that waits for room for a short time" mpi_comes_late
check "mpi: other jobs of the user, and an aggd that does not answer" mpi_queued_among
check "mpi: a group that ends before the program begins" mpi_group_ends
check "mpi, slurm: the line of a group comes in parts" group_in_parts
check "mpi, slurm: signals go to jobs of the shell" signals_to_jobs
check "systemd: the unit has started when the file has the group" unit_has_group
check "systemd: the unit does not wait for a group that is refused" unit_refused
end_rows
