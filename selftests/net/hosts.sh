#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "apply --hosts" puts a plan in force on all hosts of a list or on none, whichever host
# refuses, is cut off or cannot be reached, and also if the command itself is killed;
# "why --hosts" then asks them.
# A script that enters a namespace stands for ssh.
# shellcheck disable=SC2016 # the script expands what it is given
. "$(dirname "$0")/lib.sh"

SENDERS=v2,v5,v9,v10,v11,v14

# stand_in COMMANDS: what runs in place of ssh, with the host and the command; for v14
# these commands, which may "run" it, or "begin" it and read its output from 3
stand_in()
{
	# What a test that failed has left.
	aggctl withdraw "$TMP/plan.json" > "$TMP/left" 2>&1
	cat > "$TMP/ssh" << END
#!/bin/bash
host=\${1#host-} TMP=$TMP PATH=$PATH
run() { ip netns exec "\$host" sh -c "\$2"; }
begin() { exec 4<&0 3< <(run "\$@" <&4 2>&1); }
echo "\$2" >> "\$TMP/commands"
if [ "\$host" = v14 ]; then
	$1
else
	run "\$@"
fi
END
	chmod +x "$TMP/ssh"
	: > "$TMP/commands"
}

entries()
{
	aggctl -j testbed entries | jq '.trees + .links | length'
}

# Are all entries of the plan in force?
whole()
{
	[ "$(entries)" = "$(jq '[.nodes[] | .trees, .links | length] | add' \
		"$TMP/plan.json")" ]
}

nothing()
{
	[ "$(entries)" = 0 ]
}

on_hosts() # COMMAND OPTION...
{
	aggctl "$1" "$TMP/plan.json" --hosts "$TMP/hosts" --ssh "$TMP/ssh" "${@:2}"
}

comes_and_goes()
{
	stand_in 'run "$@"'
	on_hosts apply > "$TMP/first" && whole &&
		on_hosts apply > "$TMP/again" && whole &&
		on_hosts withdraw > "$TMP/last" && nothing &&
		on_hosts withdraw > "$TMP/nothing" || return
	cat "$TMP/first" "$TMP/again" "$TMP/last" "$TMP/nothing"
	grep -qx "v14: applied, 1 entry" "$TMP/first" &&
		grep -q "^applied: " "$TMP/first" &&
		grep -qx "v14: already in force, 1 entry" "$TMP/again" &&
		grep -q "^already in force: " "$TMP/again" &&
		grep -qx "v14: withdrawn, 1 entry" "$TMP/last" &&
		grep -q "^withdrawn: " "$TMP/last" &&
		[ "$(sed -n 's/^withdrawn: //p' "$TMP/last")" = "$(sed -n 's/^applied: //p' "$TMP/first")" ] &&
		grep -qx "v14: not in force" "$TMP/nothing" &&
		grep -q "^not in force: nothing of the plan was left on " "$TMP/nothing"
}

# Keys are not on any command line, and a host has no key of another one.
secret()
{
	stand_in 'tee "$TMP/sent" | run "$@"'
	on_hosts apply && on_hosts withdraw || return
	! grep -F "$(jq -r '.nodes.v14.trees[0].key' "$TMP/plan.json")" \
		"$TMP/commands" &&
		[ "$(head -n 1 "$TMP/sent" | jq -c '.nodes | keys')" = '["v14"]' ]
}

# refused TEXT OPTION...: apply fails with a line that has TEXT
refused()
{
	local status=0

	on_hosts apply "${@:2}" > "$TMP/said" 2>&1 || status=$?
	cat "$TMP/said"
	[ $status = 1 ] && grep -qF -- "$1" "$TMP/said"
}

nowhere()
{
	refused "$@" && grep -q "no host has changed" "$TMP/said" &&
		nothing
}

# An entry of another plan, which is in the way.
block='tree add --job 1 --receiver 10.0.0.1 instance 1 contributors 1 sources 1 writers 1'

# shellcheck disable=SC2086 # words
host_refuses()
{
	stand_in 'run "$@"'
	aggctl -n v14 $block || return
	refused "v14: tree of job 1 to 10.0.0.1: " || return
	aggctl -n v14 tree del --job 1 --receiver 10.0.0.1 && nothing
}

# The entry comes after the host has agreed.
host_refuses_late()
{
	stand_in 'run "$@" | while read -r line; do
		[ "$line" != @staged ] || ip netns exec v14 aggctl '"$block"'
		echo "$line"
	done'
	refused "v14: plan: " &&
		grep "each host that has changed has taken the plan back" "$TMP/said" &&
		aggctl -n v14 tree del --job 1 --receiver 10.0.0.1 && nothing
}

# If v14 is the last to stage, the others may have been told to commit before its end is seen.
cut_when_staged()
{
	stand_in 'begin "$@"; read -r line <&3; echo "$line"'
	refused "v14: the command ended with status 0" && wait_for nothing
}

# The host has committed, and its answer is lost.
cut_when_in_force()
{
	stand_in 'begin "$@"; read -r line <&3; echo "$line"; read -r line <&3'
	refused "v14: it may have the plan in force, or not" &&
		wait_for nothing && stand_in 'run "$@"' && on_hosts apply &&
		on_hosts withdraw && nothing
}

unreachable()
{
	stand_in 'echo "ssh: connect to host v14: No route to host" >&2; exit 255'
	nowhere "v14: ssh: connect to host v14: No route to host"
}

no_program()
{
	aggctl apply "$TMP/plan.json" --hosts "$TMP/hosts" --ssh /nothing/here \
		> "$TMP/said" 2>&1
	[ $? = 1 ] && grep -q "/nothing/here: No such file" "$TMP/said" && nothing
}

all_have_begun()
{
	[ "$(wc -l < "$TMP/commands")" = "$(jq '.nodes | length' "$TMP/plan.json")" ]
}

# v14 has not staged the plan when the command is killed.
killed()
{
	local pid

	mkfifo "$TMP/hold"
	stand_in 'read -r _ < "$TMP/hold"; run "$@"'
	aggctl apply "$TMP/plan.json" --hosts "$TMP/hosts" --ssh "$TMP/ssh" &
	pid=$!
	wait_for all_have_begun && kill -KILL $pid
	wait $pid
	echo > "$TMP/hold"
	wait_for no_command && nothing
}

# A command on v14 that was cut off from the one that leads it has the plan in force, and
# waits: another one must not keep what this one takes back.
cut_off_before()
{
	local pid

	stand_in 'run "$@"'
	mkfifo "$TMP/words"
	ip netns exec v14 aggctl apply - --held --node v14 < "$TMP/words" > "$TMP/v14" &
	pid=$!
	exec 5> "$TMP/words"
	jq -c . "$TMP/plan.json" >&5
	wait_for grep -q "@staged" "$TMP/v14" && echo @commit >&5 &&
		wait_for grep -q "@in force" "$TMP/v14" &&
		refused "v14: another 'aggctl apply --hosts' has not ended" &&
		! on_hosts withdraw > "$TMP/kept" 2>&1 &&
		grep "v14: another 'aggctl apply --hosts' has not ended" "$TMP/kept" &&
		grep -q "no host has changed" "$TMP/said"
	set -- $?
	exec 5>&-
	wait $pid
	[ "$1" = 0 ] && nothing && on_hosts apply && whole && on_hosts withdraw && nothing
}

attached()
{
	aggctl -n v14 -j port show | jq -r '.[].port' | sort | tr '\n' ' '
}

# A command attaches the ports of v14 and is cut off; a plan of another job is in force there
# by then, and needs them.
ports_stay()
{
	local port before pid

	before=$(attached)
	for port in $before; do
		aggctl -n v14 port del "$port" || return
	done
	mkfifo "$TMP/plans"
	ip netns exec v14 aggctl apply - --held --node v14 < "$TMP/plans" > "$TMP/v14" &
	pid=$!
	exec 5> "$TMP/plans"
	jq -c . "$TMP/plan.json" >&5
	wait_for grep -q "@staged" "$TMP/v14" &&
		ip netns exec v14 aggctl apply --node v14 "$TMP/other.json"
	set -- $?
	exec 5>&-
	wait $pid
	[ "$1" = 0 ] && [ "$(attached)" = "$before" ] &&
		ip netns exec v14 aggctl withdraw --node v14 "$TMP/other.json" && nothing
}

no_command()
{
	! pgrep -f "apply - --held" > "$TMP/pids"
}

# wrong LINE SENTENCE: a file of hosts with this line is refused
wrong()
{
	cp "$TMP/hosts" "$TMP/kept"
	printf '%s\n' "$1" >> "$TMP/hosts"
	refused "hosts: line $(wc -l < "$TMP/hosts"): $2"
	set -- $?
	cp "$TMP/kept" "$TMP/hosts"
	return "$1"
}

bad_file()
{
	stand_in 'run "$@"'
	wrong "v14" "node v14 has a line already" &&
		wrong "v1 -oProxyCommand=sh" "'-oProxyCommand=sh' is not the name" &&
		wrong 'v1;true' "'v1;true' is not the name" &&
		wrong 'v1 a b' "'b' is not the name" || return
	grep -v v14 "$TMP/hosts" > "$TMP/kept"
	mv "$TMP/hosts" "$TMP/all"
	mv "$TMP/kept" "$TMP/hosts"
	refused "hosts: it has no line for node v14"
	set -- $?
	mv "$TMP/all" "$TMP/hosts"
	[ "$1" = 0 ] && nothing
}

asked() # STATUS OPTION...
{
	aggctl why 1 --hosts "$TMP/hosts" --ssh "$TMP/ssh" "${@:2}" > "$TMP/said"
	set -- $? "$1"
	cat "$TMP/said"
	[ "$1" = "$2" ]
}

# An entry is missing on one host; another one cannot be reached.
why_on_hosts()
{
	stand_in 'run "$@"'
	on_hosts apply && asked 0 && head -n 1 "$TMP/said" |
		grep -q "^job 1: as planned on all .* hosts; not all has arrived yet on " || return
	ip netns exec v2 aggctl tree del --job 1 --receiver 10.0.0.1
	asked 3 && grep -q "^job 1: .*; WRONG on v2" "$TMP/said" &&
		grep -qx "  v2: v2: it has no entry of this transfer, and merges nothing of it. Next on v2: aggctl apply PLAN.json" "$TMP/said" &&
		asked 3 -j && jq -e 'map(select(.said == "wrong") | .host) == ["v2"] and
			(map(select(.host == "v14")) | .[0].trees[0].job == 1)' "$TMP/said" || return
	on_hosts apply
	stand_in 'echo "ssh: connect to host v14: No route to host" >&2; exit 255'
	on_hosts withdraw
	asked 3 && grep -q "^  v14: not known: ssh: connect to host v14: No route" "$TMP/said"
	set -- $?
	stand_in 'run "$@"'
	on_hosts withdraw && nothing && return "$1"
}

contradiction()
{
	on_hosts apply --node v2 2> "$TMP/said"
	[ $? = 2 ] && grep -q "not for one node" "$TMP/said"
}

testbed bcube:4,1
aggctl -j plan --topology bcube:4,1 --uid 0 --job 1 --method irs --senders $SENDERS \
	--receivers v0 > "$TMP/plan.json"
aggctl -j plan --topology bcube:4,1 --uid 0 --job 2 --method irs --senders $SENDERS \
	--receivers v0 > "$TMP/other.json"
{
	echo "# the hosts of the plan"
	jq -r '.nodes | keys[]' "$TMP/plan.json" | sed '/v14/d'
	echo "v14 host-v14	# its name is another one there"
} > "$TMP/hosts"
check "a plan is applied and withdrawn, each twice" comes_and_goes
check "a host gets its own keys only" secret
check "a host refuses" host_refuses
check "a host refuses when it is to commit" host_refuses_late
check "a host is cut off when it has staged" cut_when_staged
check "a host is cut off when it has committed" cut_when_in_force
check "a host cannot be reached" unreachable
check "a program instead of ssh that is not there" no_program
check "the command is killed" killed
check "an earlier command on a host has not ended" cut_off_before
check "a plan that is taken back leaves ports that another one uses" ports_stay
check "a file of hosts that is wrong" bad_file
check "what is wrong on which host" why_on_hosts
check "options that contradict each other" contradiction
done_testing
