#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bash completion offers exactly what aggctl accepts.
set -u

dir=$(cd "$(dirname "$0")/../../tools/aggctl" && pwd)
PATH=$dir:$PATH
# shellcheck source=../../tools/aggctl/aggctl.bash-completion
. "$dir/aggctl.bash-completion"
n=0 failed=0

# offers "WORDS" TYPED...: these words complete the last of what was typed
offers()
{
	local wanted=$1

	shift
	n=$((n + 1))
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=() COMP_LINE=$*
	_aggctl
	if [ "${COMPREPLY[*]}" = "$wanted" ]; then
		echo "ok $n - $*"
	else
		echo "not ok $n - $*: it offers '${COMPREPLY[*]}'"
		failed=1
	fi
}

# A namespace's name may be a shell command: completion must not run it.
ls()
{
	if [ "$1" = /run/netns ]; then
		printf '%s\n' v1 "\$(touch${IFS:0:1}$scratch/planted)" \
			"\`touch\`"
	else
		command ls "$@"
	fi
}

# The entries of this node, and of a namespace v3.
aggctl()
{
	case $* in
	"-j tree show")
		printf '[\n  {\n    "job": %d,\n    "state": "done"\n  }\n]\n' 12 7 12 ;;
	"-j -n v3 tree show")
		printf '    "job": %d,\n' 33 ;;
	"-j testbed show")
		echo '    "name": "v5",' ;;
	"-j port show")
		echo '    "port": "eth7",' ;;
	*)
		command aggctl "$@" ;;
	esac
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The description of this host's network.
export AGGNET_NETWORK=$scratch/network
cat > "$AGGNET_NETWORK" << 'END'
topology graph
host node1
host node2	# the second one
switch s
link node1 s
link node2 s
address node1 10.0.0.1
address node2 10.0.0.2
address node1-s 192.168.1.1
END
cat > "$scratch/racks" << 'END'
topology graph
host r1
server r2
address r1 10.1.0.1
address r2 10.1.0.2
END
echo 1..37
offers "plan port probe" aggctl p
offers "show add del" aggctl link ''
offers "--sorted" aggctl plan --so
offers "--stream" aggctl recv --str
offers "topk" aggctl plan --function t
offers "int64 int32" aggctl plan --type i
offers "exact bloom packet" aggctl plan --scheme ''
offers "general paper" aggctl plan --filter-rule ''
offers "v1 \\\$\\(touch $scratch/planted\\) \\\`touch\\\`" aggctl -n ''
offers "label" aggctl node set la
offers "lo" aggctl port add lo
offers "node1 node2" aggctl host init --host n
offers "node1 node2 v5" aggctl plan --senders ''
offers "node1,node1 node1,node2 node1,v5" aggctl plan --senders node1,
offers "10.0.0.1 10.0.0.2" aggctl recv --receiver 10
offers "node1 node2" aggctl recv --receiver n
offers "node1 node2" aggctl job submit --root n
offers "node1 node2 v5" aggctl plan --collective bcast --root ''
offers "v5\\*2\\,node1 v5\\*2\\,node2" aggctl job submit --members 'v5*2,n'
offers "r1 r2 v5" aggctl plan --topology "@$scratch/racks" --senders ''
offers "r1 r2 v5 10.1.0.1 10.1.0.2" aggctl plan "--topology=@$scratch/racks" --receiver ''
offers "-V" aggctl -V
offers "help" aggctl he
offers "plan port probe" aggctl help p
offers "show add del" aggctl help link ''
offers "" aggctl help plan '' 2> /dev/null
offers "" aggctl help link show '' 2> /dev/null
offers "--sorted" aggctl plan --topology bcube:4,1 --senders v1 --so
offers "7 12" aggctl why ''
offers "--receiver" aggctl why 7 --r
offers "--hosts" aggctl why 7 --ho
# Files, by bash itself, which says that it does not complete now.
offers "" aggctl why --hosts '' 2> /dev/null
offers "7 12" aggctl recv --job ''
offers "33" aggctl -n v3 send --job ''
offers "eth7" aggctl tree add --device ''
offers "fbfly: fattree:" aggctl testbed up f
n=$((n + 1))
if [ -e "$scratch/planted" ]; then
	echo "not ok $n - the name of a namespace ran as a command"
	failed=1
else
	echo "ok $n - no name of a namespace runs as a command"
fi
exit $failed
