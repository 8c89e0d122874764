#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The recipes of aggd: what the Slurm script asks aggd for, what each of its tasks gets,
# and that its job is cancelled however it ends; what the systemd unit writes for ranks.
# Scripts stand for Slurm, ssh and aggctl.
# shellcheck disable=SC2016,SC2181 # scripts for the tasks; status after several lines
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
recipes=$top/tools/aggd/recipes
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# result STATUS NAME
result()
{
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n - $2" && return
	echo "not ok $n - $2"
	failed=1
	sed 's/^/# /' "$tmp"/{calls,out,err}
}

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
echo "aggctl $*" >> "$CALLS"
case $2 in
submit)
	[ -z "${REFUSED:-}" ] || { echo "aggctl: $REFUSED" >&2; exit 1; }
	printf 'job 1000: in force\nAGGNET_GROUP=root=10.0.0.1,up=1000,down=1001,ranks=3\n'
	case "$*" in *--attached*) exec sleep infinity ;; esac ;;
esac
END
fake ssh <<'END'
echo "ssh $*" >> "$CALLS"
[ "$1" = -n ] && shift 2 && exec "$@"
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
	return $status
}

# called LINE...: were these, and no others, the calls?
called()
{
	cmp -s "$tmp/calls" <([ $# = 0 ] || printf '%s\n' "$@")
}

SUBMIT="job submit --root node1 --members node2,node3"
slurm sh -c 'echo "$AGGNET_GROUP $AGGNET_RANK $*"' x "a b" '*'
[ $? = 0 ] && sort "$tmp/out" | cmp -s - <(
	for i in 0 1 2; do
		echo "root=10.0.0.1,up=1000,down=1001,ranks=3 $i a b *"
	done)
result $? "slurm: each task has the group, its rank and its arguments"

called "aggctl $SUBMIT" "aggctl job cancel 1000"
result $? "slurm: the job is cancelled at the end"

AGGD_HOST=login AGGD_GROUP="--type float64 --elements 9" slurm true &&
	called "ssh -n login aggctl $SUBMIT --type float64 --elements 9" \
		"aggctl $SUBMIT --type float64 --elements 9" \
		"ssh -n login aggctl job cancel 1000" "aggctl job cancel 1000"
result $? "slurm: aggd of another host, with options of the group"

slurm sh -c 'exit $((AGGNET_RANK == 1 ? 7 : 0))'
[ $? = 7 ] && called "aggctl $SUBMIT" "aggctl job cancel 1000"
result $? "slurm: a task fails"

REFUSED="hpc: no more than 8 jobs" slurm touch "$tmp/ran"
[ $? = 1 ] && [ ! -e "$tmp/ran" ] && grep -q "no more than 8 jobs" "$tmp/err" &&
	called "aggctl $SUBMIT"
result $? "slurm: aggd refuses the job"

# Slurm ends a script by SIGTERM.
slurm bash -c 'trap ": > $0.ended; exit 1" TERM; : > "$0.$AGGNET_RANK"
	while :; do sleep 0.01; done' "$tmp/runs" &
until [ -e "$tmp/runs.0" ] && [ -e "$tmp/runs.1" ] && [ -e "$tmp/runs.2" ]; do
	:
done
pkill -TERM -P $! slurm.sh
wait $!
[ $? = 143 ] && [ -e "$tmp/runs.ended" ] && called "aggctl $SUBMIT" "aggctl job cancel 1000"
result $? "slurm: the script is ended"

hosts=node1 slurm true
[ $? = 2 ] && called && grep -q "at least two hosts" "$tmp/err"
result $? "slurm: one host"

slurm
[ $? = 2 ] && grep -q "^usage: " "$tmp/err"
result $? "slurm: no command"
# line_of KEY: print the command of the unit, with this aggctl and file
line_of()
{
	sed -n "s/^$1=//p" "$recipes/aggnet-group.service" |
		sed "s|/usr/bin/aggctl|$tmp/bin/aggctl|; s|/run/aggnet-group|$tmp|g"
}

: > "$tmp/env"
bash -c "$(line_of ExecStartPost)" &
post=$!
bash -c "exec env CALLS=$tmp/calls $(line_of ExecStart)" > "$tmp/env" &
start=$!
wait $post && kill $start && wait $start
[ $? = 143 ] && grep -qx "AGGNET_GROUP=root=.*" "$tmp/env" &&
	[ "$(line_of StandardOutput)" = "truncate:$tmp/env" ]
result $? "systemd: the unit has started when the file has the group"
echo "1..$n"
exit $failed
