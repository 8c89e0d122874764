#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts the words of texts that lie on several servers. The plan is in force.
# Usage: wordcount.sh JOB RECEIVER NODE=TEXT...   (result on standard output)
set -euo pipefail
job=$1 receiver=$2
shift 2
senders=()

words()
{
	tr -cs '[:alpha:]' '\n' < "$1" | tr '[:upper:]' '[:lower:]' |
		sed '/^$/d; s/$/\t1/'
}

for pair in "$@"; do
	words "${pair#*=}" |
		aggctl -n "${pair%%=*}" send --job "$job" --receiver "$receiver" &
	senders+=($!)
done
aggctl -n "$receiver" recv --job "$job"
for pid in "${senders[@]}"; do
	wait "$pid"
done
