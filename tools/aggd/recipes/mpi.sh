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
set -euo pipefail

[ $# -gt 3 ] || { echo "usage: mpi.sh ROOT MEMBERS FUNCTION/TYPE,... COMMAND..." >&2; exit 2; }
root=$1 members=$2
IFS=, read -ra pairs <<< "$3"
shift 3
# A shell there reads the command of ssh.
[ -z "${AGGD_HOST:-}" ] || members=$(printf %q "$members")

said=$(mktemp -d) submits=() command=''

# The program ends before its groups.
clean()
{
	local pid

	for pid in $command "${submits[@]}"; do
		kill "$pid" 2> /dev/null || :
		wait "$pid" || :
	done
	rm -r "$said"
}

trap clean EXIT
trap 'exit 143' TERM
for i in "${!pairs[@]}"; do
	# With a terminal there, aggctl ends with ssh. It may wait for room at the nodes.
	# shellcheck disable=SC2086 # words
	${AGGD_HOST:+ssh -tt "$AGGD_HOST"} aggctl job submit --attached --root "$root" \
		--members "$members" --function "${pairs[i]%/*}" --type "${pairs[i]#*/}" \
		${AGGD_GROUP:-} < /dev/null > "$said/$i" &
	submits+=($!)
done
AGGNET_MPI=
for i in "${!pairs[@]}"; do
	until grep -q '^AGGNET_GROUP=' "$said/$i"; do
		kill -0 "${submits[i]}" 2> /dev/null || {
			cat "$said/$i" >&2
			wait "${submits[i]}" || exit
			exit 1
		}
		sleep 0.1
	done
	AGGNET_MPI+="${pairs[i]}:$(sed -n 's/^AGGNET_GROUP=\([^\r]*\).*/\1/p' "$said/$i");"
done
export AGGNET_MPI

"$@" <&0 &
command=$!
wait "$command"
