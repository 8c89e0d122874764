#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#SBATCH --ntasks-per-node=1
#
# A Slurm batch script: a command runs on each host of the allocation, as one rank of
# a group of libaggnet. Hosts have the same names in Slurm and in aggd's network.
# Usage: sbatch --nodes=HOSTS slurm.sh COMMAND [ARGUMENT...]
#   AGGD_HOST   where aggd runs, reached over ssh; without it this host
#   AGGD_GROUP  options of 'aggctl job submit': --type float64 --elements 4096
set -euo pipefail

[ $# -gt 0 ] || { echo "usage: sbatch --nodes=HOSTS slurm.sh COMMAND..." >&2; exit 2; }

# aggd ARGUMENT...: run aggctl where aggd is
aggd()
{
	${AGGD_HOST:+ssh -n "$AGGD_HOST"} aggctl "$@"
}

mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
[ ${#hosts[@]} -gt 1 ] || { echo "slurm.sh: a group has at least two hosts" >&2; exit 2; }
members=$(IFS=,; echo "${hosts[*]:1}")
# shellcheck disable=SC2086 # words
submitted=$(aggd job submit --root "${hosts[0]}" --members "$members" ${AGGD_GROUP:-})
job=$(sed -n 's/^job \([0-9]*\): .*/\1/p' <<< "$submitted")
trap 'aggd job cancel "$job"' EXIT
AGGNET_GROUP=$(sed -n 's/^AGGNET_GROUP=//p' <<< "$submitted")
export AGGNET_GROUP

# Tasks are numbered in the order of the hosts.
# shellcheck disable=SC2016 # for the task
srun --ntasks-per-node=1 --distribution=block \
	bash -c 'AGGNET_RANK=$SLURM_PROCID exec "$@"' rank "$@" &
srun=$!
trap 'kill "$srun"; wait "$srun" || exit' TERM
wait "$srun"
