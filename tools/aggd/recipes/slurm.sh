#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#SBATCH --ntasks-per-node=1
#
# A Slurm batch script: a command runs on each host of the allocation, as one rank of
# a group of libaggnet. Hosts have the same names in Slurm and in aggd's network. The
# job of aggd ends with this script, however it ends.
# Usage: sbatch --nodes=HOSTS slurm.sh COMMAND [ARGUMENT...]
#   AGGD_HOST   where aggd runs, reached over ssh; without it this host
#   AGGD_GROUP  options of 'aggctl job submit': --type int32 --elements 4096
set -euo pipefail

[ $# -gt 0 ] || { echo "usage: sbatch --nodes=HOSTS slurm.sh COMMAND..." >&2; exit 2; }
mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
[ ${#hosts[@]} -gt 1 ] || { echo "slurm.sh: a group has at least two hosts" >&2; exit 2; }

said=$(mktemp) submit='' srun=''

# job_of PID: print the job %N of a process of this script that runs. After its end its PID may
# be another process's, but the shell sends no signal to a job that has ended.
job_of()
{
	jobs -lr | awk -v pid="$1" '$2 == pid { sub(/^\[/, "%"); sub(/\].*/, ""); print }'
}

# end_of PID: a command that ignores SIGTERM is killed after 10 seconds. Both
# take less than Slurm's KillWait (by default 30 seconds), after which it kills this script, too: then
# the connections to aggd end, and so does its job.
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

# The tasks end before their group. Another signal must not end this.
clean()
{
	local pid

	trap '' INT TERM HUP
	for pid in $srun $submit; do
		end_of "$pid"
	done
	rm "$said"
}

# group: print what the job says of it, once the line is complete
group()
{
	local line

	while IFS= read -r line; do
		[[ $line != AGGNET_GROUP=* ]] || {
			line=${line%$'\r'}
			echo "${line#*=}"
			return
		}
	done < "$said"
	return 1
}

trap clean EXIT
trap 'exit 143' TERM
members=$(IFS=,; echo "${hosts[*]:1}")
# With a terminal there, aggctl ends with ssh. It may wait for room at the nodes.
# shellcheck disable=SC2086 # words
${AGGD_HOST:+ssh -tt "$AGGD_HOST"} aggctl job submit --attached --root "${hosts[0]}" \
	--members "$members" ${AGGD_GROUP:-} < /dev/null > "$said" &
submit=$!
until AGGNET_GROUP=$(group); do
	[ "$(job_of $submit)" ] || {
		cat "$said" >&2
		wait $submit || exit
		exit 1
	}
	sleep 0.1
done
export AGGNET_GROUP

# Tasks are numbered in the order of the hosts.
# shellcheck disable=SC2016 # for the task
srun --ntasks-per-node=1 --distribution=block \
	bash -c 'AGGNET_RANK=$SLURM_PROCID exec "$@"' rank "$@" &
srun=$!
wait $srun
