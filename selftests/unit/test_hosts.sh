#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "aggctl apply --hosts" and "withdraw --hosts" say what is in force on which host, and
# "why --hosts" what is wrong there, whatever ssh prints, wherever a host fails, and within
# their time; "describe --hosts" needs a report of each. A script that answers as a host
# does stands for ssh.
# shellcheck disable=SC2016,SC2317 # the script expands what it is given; rows are called
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
export aggctl=$top/tools/aggctl/aggctl
tmp=$(mktemp -d)
export tmp
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
. "$top/selftests/lib/rows.sh"

# hosts COMMANDS: what a host does, whose name is in $host; by default it "agrees"
hosts()
{
	: > calls
	cat > ssh << END
#!/bin/bash
host=\$1
echo "\$host \$2" >> "$tmp/calls"
hear() { while read -r word && [ "\$word" = @wait ]; do :; done; }
stages() { hear; echo @staged; hear; [ "\$word" = @commit ] || { echo @undone; exit 1; }; }
commits() { stages; echo "@in force"; hear; }
agrees() { commits; [ "\$word" = @keep ] || { echo @undone; exit 1; }; exit 0; }
refuses() { echo "aggctl: \$1" >&2; echo @undone; exit 1; }
case \$2 in *withdraw*) cat > /dev/null ;; esac
case \$2 in *--supervised*) [ -e supervised ] || { echo "@no supervisor"; exit 0; } ;; esac
$1
case \$2 in *withdraw*) echo "@withdrawn \${left:-1}"; exit 0 ;; esac
agrees
END
	chmod +x ssh
}

# on_hosts STATUS COMMAND OPTION...: leaves what it prints in "said"
on_hosts()
{
	local want=$1 status=0

	[ "$2" != -j ] || set -- "$1" "${@:3}" -j
	"$aggctl" "$2" plan.json --hosts list --ssh "$tmp/ssh" "${@:3}" \
		> said 2>&1 < /dev/null || status=$?
	cat said
	[ "$status" = "$want" ] || { echo "status $status"; return 1; }
}

# says LINE...: these lines, in any order, and no other ones
says()
{
	diff <(printf 'aggctl: %s\n' "$@" | sort) <(sort said)
}

doubt="it may have the plan in force, or not: it has not said so"
again="when these hosts can be reached, apply the plan again, or withdraw it"
warning="Warning: Permanently added 'v3' to the list of known hosts."
mute="and aggctl printed nothing there"

applied()
{
	hosts ''
	on_hosts 0 apply && diff - said << 'END' || return
v0: applied, 1 entry
v1: applied, 1 entry
v2: applied, 1 entry
v3: applied, 1 entry
applied: 4 entries on 4 nodes
END
	on_hosts 0 withdraw && grep -qx "v3: withdrawn, 1 entry" said &&
		tail -n 1 said | grep -qx "withdrawn: 4 entries on 4 nodes"
}

# Each host says what it had: the last line has the sums.
had_it()
{
	hosts '[ $host != v2 ] || { stages; echo "@in force already"; hear; exit 0; }'
	on_hosts 0 apply && grep -qx "v2: already in force, 1 entry" said &&
		tail -n 1 said | grep -qx "applied: 3 entries on 3 nodes; already in force: 1 entry on 1 node" &&
		on_hosts 0 -j apply && jq -e 'length == 4 and ([.[] | select(.node == "v2")] |
			.[0].said == "already in force" and .[0].entries == 1)' said
}

had_none()
{
	hosts '[ $host != v2 ] || left=0'
	on_hosts 0 withdraw && grep -qx "v2: not in force" said &&
		tail -n 1 said | grep -qx "withdrawn: 3 entries on 3 nodes; not in force: nothing of the plan was left on 1 node" || return
	hosts left=0
	on_hosts 0 withdraw && grep -qx "v0: not in force" said &&
		tail -n 1 said | grep -qx "not in force: nothing of the plan was left on 4 nodes" &&
		on_hosts 0 -j withdraw && jq -e 'all(.said == "not in force" and .entries == 0)' said
}

# A terminal shows which hosts are waited for: v3 begins when it was shown.
progress()
{
	rm -f shown
	mkfifo shown
	hosts '[ $host != v3 ] || read -r _ < "$tmp/shown"'
	script -qefc "\"$aggctl\" apply plan.json --hosts list --ssh \"$tmp/ssh\"" \
		terminal < /dev/null > /dev/null &
	set -- $!
	until grep -q "^waiting for v3: 3 of 4 hosts have staged the plan" terminal; do
		kill -0 "$1" || return
		sleep 0.05
	done
	echo > shown
	wait "$1"
}

warned_and_cut()
{
	hosts '[ $host != v3 ] || { echo "'"$warning"'" >&2; stages; exit 255; }'
	on_hosts 1 apply && says "v3: $warning" \
		"v3: the command ended with status 255, $mute" "v3: $doubt" "$again"
}

killed_at_commit()
{
	hosts '[ $host != v3 ] || { stages; kill -KILL $$; }'
	on_hosts 1 apply && says "v3: the command ended with status 137, $mute" \
		"v3: $doubt" "$again"
}

refused_at_stage()
{
	hosts '[ $host != v3 ] || { hear; refuses "v3: no"; }'
	on_hosts 1 apply && says "v3: no" "no host has changed"
}

refused_at_commit()
{
	hosts '[ $host != v0 ] || { stages; refuses "v0: no"; }'
	on_hosts 1 apply && says "v0: no" \
		"each host that has changed has taken the plan back"
}

# A host that says what is wrong, but not that it has taken the plan back.
not_undone()
{
	hosts '[ $host != v0 ] || { stages; echo "aggctl: v0: plan: no" >&2; exit 1; }'
	on_hosts 1 apply && says "v0: plan: no" "v0: $doubt" "$again"
}

not_kept()
{
	hosts '[ $host != v2 ] || { commits; echo "aggctl: no word" >&2; echo @undone; exit 1; }
		[ $host != v1 ] || { commits; exit 255; }'
	on_hosts 1 apply && says "v2: no word" "v2: it has taken the plan back" \
		"v1: the command ended with status 255, $mute" "v1: $doubt" \
		"the plan is in force on 2 of 4 hosts: apply it again, or withdraw it"
}

# The terminal sends the signal to all processes of its group. The host v2 keeps the plan
# when the signal has been sent.
interrupted()
{
	local pid status=0

	rm -f keeping go
	mkfifo go
	hosts '[ $host != v2 ] || { commits; echo $word > "$tmp/keeping"; read -r _ < "$tmp/go"; exit 0; }'
	setsid env --default-signal=INT,QUIT,HUP "$aggctl" apply plan.json \
		--hosts list --ssh "$tmp/ssh" > said 2>&1 < /dev/null &
	pid=$!
	until [ -s keeping ]; do
		kill -0 "$pid" || return
		sleep 0.05
	done
	kill -INT -- -"$pid"
	echo > go
	wait "$pid" || status=$?
	cat said
	[ "$status" = 130 ] && says "the plan is in force on all hosts"
}

late()
{
	on_hosts 1 apply --timeout 1s && grep -qx "aggctl: v3: it has not $1 within 1 s" said
}

talks_on()
{
	hosts '[ $host != v3 ] || { while sleep 0.2; do echo banner; done; }'
	late "staged the plan" && tail -n 1 said | grep -qx "aggctl: no host has changed"
}

says_it_again()
{
	hosts '[ $host != v3 ] || { stages; while sleep 0.2; do echo @staged; done; }'
	late "committed the plan" && grep -qx "aggctl: v3: $doubt" said
}

closes_output()
{
	hosts '[ $host != v3 ] || { exec > /dev/null 2>&1; exec sleep 1000; }'
	late "staged the plan"
}

hangs_when_kept()
{
	hosts '[ $host != v3 ] || { commits; exec sleep 1000; }'
	late "kept the plan" && grep -qx "aggctl: the plan is in force on 3 of 4 hosts: .*" said
}

# Such as the master of shared connections, which ssh leaves behind.
leaves_child()
{
	hosts '[ $host != v3 ] || { sleep 1000 & echo $! > "$tmp/child"; }'
	on_hosts 0 apply
	set -- $?
	kill "$(cat child)"
	return "$1"
}

# v0 stages its part when v1 has been told to wait.
told_to_wait()
{
	rm -f told
	mkfifo told
	hosts '[ $host != v1 ] || { hear; echo @staged; read -r word; echo $word > "$tmp/told"
			hear; echo "@in force"; hear; exit 0; }
		[ $host != v0 ] || { read -r word < "$tmp/told"; [ $word = @wait ] || exit 1; }'
	on_hosts 0 apply
}

no_line()
{
	hosts ''
	grep -v v3 list > part
	mv list all && mv part list
	on_hosts 1 apply && says "list: it has no line for node v3" &&
		on_hosts 1 withdraw && says "list: it has no line for node v3" && [ ! -s calls ]
	set -- $?
	mv all list
	return "$1"
}

withdrawn_in_part()
{
	hosts '[ $host != v3 ] || { echo "ssh: no route" >&2; exit 255; }
		[ $host != v2 ] || exit 255'
	on_hosts 1 withdraw && says "v3: ssh: no route" \
		"v3: the command ended with status 255, $mute" \
		"v2: the command ended with status 255, $mute" \
		"withdrawn from 2 of 4 hosts: repeat the command for the others" || return
	hosts ''
	on_hosts 0 withdraw && grep -q "^v3 aggctl withdraw - --held --node v3$" calls
}

# A shell that executes nothing ends with status 0, too.
not_asked()
{
	hosts 'exit 0'
	on_hosts 1 withdraw && grep -q "^aggctl: v2: the command ended with status 0, $mute" said &&
		grep -q "withdrawn from 0 of 4 hosts: repeat the command for the others" said
}

# The receiver is asked whether it supervises the plan. It withdraws first if it does, last
# if it does not.
order()
{
	hosts ''
	on_hosts 0 withdraw && head -n 1 calls | grep -q "^v0 .* --supervised " &&
		tail -n 1 calls | grep ^v0 | grep -vq -e --supervised &&
		[ "$(wc -l < calls)" = 5 ] || return
	: > calls
	: > supervised
	on_hosts 0 withdraw && head -n 1 calls | grep -q "^v0 .* --supervised " &&
		[ "$(wc -l < calls)" = 4 ] || return
	rm supervised
	: > calls
	on_hosts 0 withdraw --supervised && head -n 1 calls | grep ^v0 |
		grep -vq -e --supervised && [ "$(wc -l < calls)" = 4 ] || return
	: > calls
	hosts '[ $host != v0 ] || exit 255'
	on_hosts 1 withdraw --supervised && [ "$(wc -l < calls)" = 1 ]
}

# wrong SENTENCE COMMAND OPTION...: a usage error
wrong()
{
	"$aggctl" "$2" plan.json "${@:3}" > said 2>&1
	[ $? = 2 ] && says "$1"
}

options()
{
	wrong "--ssh needs --hosts" apply --ssh x --sudo &&
		wrong "--sudo needs --hosts" withdraw --sudo &&
		wrong "--supervised needs --hosts" withdraw --supervised &&
		wrong "--ssh: ' ' is not a command of 1 to 32 words" \
			apply --hosts list --ssh ' ' &&
		wrong "--ssh: '$(echo {1..33})' is not a command of 1 to 32 words" \
			apply --hosts list --ssh "$(echo {1..33})"
}

# asks COMMANDS: what ssh does in place of a host that is as planned
asks()
{
	cat > ssh << END
#!/bin/bash
host=\$1
echo "\$host \$2" >> "$tmp/calls"
finding='{"note": false, "object": "port eth0", "cause": "it is down", "fix": "ip link set eth0 up"}'
answer() # FINDINGS FALLBACKS STATE
{
	jq -n --arg state "\${3:-done}" --arg identity "10.0.0.\${host#v}" '{node: "n",
		identity: \$identity, findings: [], trees: [{job: 7,
		receiver: "10.0.0.1", node: "n", part: "merges", state: \$state,
		expected: 2, bound: 2, arrived: ["10.0.0.5"], acceptor: "0.0.0.0",
		findings: '"[\${1-}]}], fallbacks: [\${2-}]"', notes: []}'
}
$1
answer
END
	chmod +x ssh
	: > calls
}

# why STATUS OPTION...: leaves what it prints in "said"
why()
{
	local status=0

	"$aggctl" why --hosts list --ssh "$tmp/ssh" "${@:2}" > said 2>&1 < /dev/null ||
		status=$?
	cat said
	[ "$status" = "$1" ] || { echo "status $status"; return 1; }
}

all_planned()
{
	asks ''
	why 0 7 && head -n 2 said | diff - <(printf '%s\n' \
		"job 7: as planned on all 4 hosts" "== v0") &&
		grep -c "^job 7 to 10.0.0.1 at n (merges, done): the planned flows are merged here$" said |
			grep -qx 4 && [ "$(grep "^==" said | tr -d '\n')" = "== v0== v1== v2== v3" ] &&
		[ "$(sort calls | head -n 1)" = "v0 aggctl why 7 --held" ] || return
	asks '[ $host != v2 ] || { answer "" "" idle; exit; }'
	why 0 --receiver 10.0.0.1 --sudo &&
		head -n 1 said | grep -qx "all transfers: as planned on all 4 hosts; not all has arrived yet on 1" &&
		grep -qx "v0 sudo -n aggctl why --held --receiver 10.0.0.1" calls
}

named_faults()
{
	asks '[ $host != v1 ] || { answer "$finding"; exit 3; }
		[ $host != v2 ] || { answer "" "{\"counter\": \"drop_link\", \"count\": 4,
			\"cause\": \"no carrier\", \"fix\": \"aggctl host check\"}"; exit 3; }'
	why 3 7 && head -n 3 said | diff - <(printf '%s\n' \
		"job 7: as planned on 2 of 4 hosts; WRONG on v1, v2" \
		"  v1: port eth0: it is down. Next on v1: ip link set eth0 up" \
		"  v2: 4 packets (drop_link): no carrier. Next on v2: aggctl host check") &&
		grep -qx "  WRONG: port eth0: it is down. Next: ip link set eth0 up" said &&
		why 3 7 -j && jq -e 'map(.host) == ["v0", "v1", "v2", "v3"] and
			map(.said) == ["as planned", "wrong", "wrong", "as planned"] and
			all(.error == null and (.trees | length) == 1)' said
}

# lacks NOTE FILTER: v2 has no entry, and takes that for a note or not; FILTER changes the
# answers of the other hosts
lacks()
{
	asks '[ $host != v2 ] || {
		answer | jq ".trees = [] | .findings = [{note: '"$1"', object: \"v2\", cause:
			\"it has no entry of this transfer, and more\", fix: \"x\"}]"; exit; }
		answer | jq '"'$2'; exit"
}

# Only the others know whether v2 should have an entry: not if packets have the names of
# their links, and v2 is no end. What v2 thinks, by what it has forwarded at any time, does
# not count.
no_entry()
{
	lacks true .
	why 3 7 && head -n 1 said | grep -qx "job 7: as planned on 3 of 4 hosts; WRONG on v2" ||
		return
	grep -qx "WRONG: v2: it has no entry of this transfer, and merges nothing of it. Next: aggctl apply PLAN.json" said ||
		return
	lacks false '.trees[0].scheme = "packet"'
	why 0 7 && head -n 1 said | grep -qx "job 7: as planned on all 4 hosts" &&
		grep -qx "note: v2: it has no entry of this transfer, and needs none if it only forwards. Next: aggctl stats show" said ||
		return
	lacks true '.trees[0].scheme = "packet"'
	why 0 7 && grep -q "^note: v2: it has no entry of this transfer, and more. Next: x" said
}

# The plan was not applied on v2, which is an end by the entry of another host.
no_entry_of_an_end()
{
	lacks false '.trees[0].scheme = "packet" | .trees[0].children = ["10.0.0.1", "10.0.0.2"]'
	why 3 7 && head -n 1 said | grep -qx "job 7: as planned on 3 of 4 hosts; WRONG on v2" ||
		return
	lacks false '.trees[0].scheme = "packet" | .trees[0].receiver = "10.0.0.2"'
	why 3 7 || return
	# It has said nothing of its identity.
	lacks false '.trees[0].scheme = "packet" | .trees[0].children = [null]'
	sed -i 's/\.trees = \[\]/del(.identity) | &/' ssh
	why 0 7
}

# A server may lack the entry of another transfer, whose packets have no names.
no_entry_of_any()
{
	lacks false '.trees[0].scheme = "packet" | .trees += [.trees[0] | .job = 8 | .scheme = "exact"]'
	why 3 && head -n 1 said | grep -qx "all transfers: as planned on 3 of 4 hosts; WRONG on v2"
}

# What is not known is not wrong; a host that is wrong counts more.
not_known()
{
	asks '[ $host != v3 ] || { echo "Warning: new host" >&2; printf "ssh: no route\r\n" >&2; exit 255; }'
	why 1 7 && head -n 2 said | diff - <(printf '%s\n' \
		"job 7: as planned on 3 of 4 hosts; not known of v3" \
		"  v3: not known: ssh: no route. Next: $tmp/ssh v3 aggctl why 7") &&
		[ "$(grep -c "^==" said)" = 3 ] &&
		why 1 7 -j && jq -e '.[3] == {host: "v3", said: "not known", error: "ssh: no route"}' said || return
	asks '[ $host != v3 ] || exit 255; [ $host != v1 ] || { answer "$finding"; exit 3; }'
	why 3 7 && head -n 1 said | grep -qx "job 7: as planned on 2 of 4 hosts; WRONG on v1; not known of v3" &&
		grep -q "^  v3: not known: the command ended with status 255, $mute. Next" said || return
	asks '[ $host != v3 ] || { echo "aggctl: node: refused" >&2; exit 1; }'
	why 1 && grep -qx "  v3: not known: node: refused. Next: $tmp/ssh v3 aggctl why" said
}

# The next command is not "aggctl why", which would say the same again.
not_loaded()
{
	local loaded="the aggnet module is not loaded: 'modprobe aggnet' loads it"

	asks '[ $host != v3 ] || { echo "aggctl: '"$loaded"'" >&2; exit 1; }'
	why 1 7 &&
		grep -qxF "  v3: not known: $loaded. Next: $tmp/ssh v3 modprobe aggnet" said &&
		why 1 7 --sudo && grep -q " Next: $tmp/ssh v3 sudo modprobe aggnet$" said
}

# nothing_of_v3 SENTENCE COMMANDS [TIMEOUT]: v3 does these, and the sentence is why
# nothing is known of it
nothing_of_v3()
{
	asks "[ \$host != v3 ] || { $2; exit; }"
	why 1 7 --timeout "${3:-30s}" && grep -q "^  v3: not known: $1\. Next: " said
}

any_answer()
{
	nothing_of_v3 "it has not printed what aggctl why prints" 'echo "{"; echo "}"' &&
		nothing_of_v3 "its answer is not JSON" 'answer; answer' &&
		nothing_of_v3 "its answer is not complete: the command ended with status 0" \
			'answer | head -n 5' &&
		nothing_of_v3 "its answer is longer than 4194304 bytes" \
			'echo "{"; yes "  \"x\"," | head -n 700000; echo "}"' &&
		nothing_of_v3 'a\\x1b\[2Jb' 'printf "a\033[2Jb\n"' &&
		nothing_of_v3 "the command ended with status 0, $mute" 'printf "\377\n"' || return
	# A row of the wrong kind is printed, and controls nothing.
	asks '[ $host != v3 ] || { answer 5 "{\"counter\": \"\\u001b[2J\"}" | sed "s/\"done\"/[]/"; exit; }'
	why 3 7 && grep -qF "WRONG: 0 packets (\\x1b[2J): ?. Next: ?" said &&
		grep -qx "  WRONG: ?: ?. Next: ?" said && ! grep -q $'\033' said
}

late_answer()
{
	nothing_of_v3 "it has not answered within 1 s" 'exec sleep 1000' 1s &&
		nothing_of_v3 "it has not answered within 1 s" 'exec yes' 1s &&
		nothing_of_v3 "it has not answered within 1 s" 'echo "{"; exec yes "  5,"' 1s || return
	# It has answered when the others are late, and does not end.
	asks '[ $host = v3 ] || exec sleep 1000; answer; exec sleep 1000'
	why 1 7 --timeout 5s && grep -qx "== v3" said
}

# More hosts than are asked at a time, and some of them do not answer.
# Of 70 hosts 32 are asked at a time: these have fewer descriptors than the process may.
few_descriptors()
{
	mv list all
	printf 'h%d\n' {1..70} > list
	asks ''
	(ulimit -n 130; why 0 7)
	set -- $?
	mv all list
	[ "$1" = 0 ] && grep "as planned on all 70 hosts" said
}

many_hosts()
{
	mv list all
	printf 'h%d\n' {1..70} > list
	asks '[ "${host#h3}" = "$host" ] || exec sleep 1000'
	why 1 7 --timeout 5s
	set -- $?
	mv all list
	[ "$1" = 0 ] && [ "$(wc -l < calls)" = 70 ] &&
		grep -qx "  h39: not known: it has not answered within 5 s\. Next: .*" said
}

# The files of reports and the hosts describe the same network.
reported()
{
	cat > ssh << 'END'
#!/bin/bash
case $2 in "aggctl host report --name host") ;; "aggctl host report --name host --all") touch all ;; *) exit ;; esac
i=${1#v}
jq -n --arg a "10.0.0.$((i + 1))" '{name: "a-host", devices: [{name: "eth0", up: true,
	address: $a, prefixlen: 24, mtu: 1500}]}'
END
	for i in 0 1 2 3; do
		./ssh "v$i" "aggctl host report --name host" | jq ".name = \"v$i\""
	done > reports
	"$aggctl" describe reports > typed &&
		"$aggctl" describe --hosts list --ssh "$tmp/ssh" > said &&
		diff typed said && grep -qx "host v3" said && [ ! -e all ] &&
		"$aggctl" describe --all --hosts list --ssh "$tmp/ssh" > said && [ -e all ] &&
		diff typed said || return
	"$aggctl" describe --all reports > said 2>&1
	[ $? = 2 ] && says "describe: --all: is for --hosts: 'aggctl host report --all' makes such a report"
}

not_reported()
{
	asks '[ $host = v1 ] || { echo "{"; echo "}"; exit; }; echo "ssh: no route" >&2; exit 255'
	! "$aggctl" describe --hosts list --ssh "$tmp/ssh" > said 2>&1 || return
	cat said
	grep -qx "aggctl: describe: v1: ssh: no route" said && [ "$(wc -l < said)" = 1 ] || return
	"$aggctl" describe --hosts list reports > said 2>&1
	[ $? = 2 ] && says "describe: needs REPORT... or --hosts"
	"$aggctl" describe > said 2>&1
	[ $? = 2 ] && says "describe: needs REPORT... or --hosts"
}

why_options()
{
	wrong_why() # SENTENCE OPTION...
	{
		"$aggctl" why "${@:2}" > said 2>&1
		[ $? = 2 ] && says "$1"
	}
	wrong_why "--sudo needs --hosts" --sudo &&
		wrong_why "--ssh: ' ' is not a command of 1 to 32 words" --hosts list --ssh ' ' &&
		wrong_why "why: --hosts is for the hosts of the file, not for this one" \
			--hosts list --held || return
	echo "# none" > empty
	"$aggctl" why --hosts empty > said 2>&1
	[ $? = 1 ] && says "empty: it has no line for a host"
}

"$aggctl" -j plan --topology bcube:2,1 --job 1 --uid 0 --method irs --senders v1,v2,v3 \
	--receivers v0 > plan.json
jq -r '.nodes | keys[]' plan.json > list
check "a plan is applied and withdrawn" applied
check "a host has the plan already" had_it
check "a host has nothing of the plan" had_none
check "progress on a terminal" progress
check "ssh prints a warning, and its connection breaks" warned_and_cut
check "a host that is to commit is killed" killed_at_commit
check "a host does not stage its part" refused_at_stage
check "a host does not commit" refused_at_commit
check "a host does not say that it has taken the plan back" not_undone
check "two hosts do not keep the plan" not_kept
check "a signal when hosts are to keep the plan" interrupted
check "a host that prints lines for ever" talks_on
check "a host that says the same again for ever" says_it_again
check "a program that closes its output" closes_output
check "a host that does not end" hangs_when_kept
check "a program that leaves a child with its output" leaves_child
check "hosts that wait for others hear of it" told_to_wait
check "a host without a line" no_line
check "withdrawal fails on two hosts" withdrawn_in_part
check "hosts that do not execute the command" not_asked
check "receivers first, if hosts supervise the plan" order
check "options" options
check "why: all hosts are as planned" all_planned
check "why: what is wrong on which host" named_faults
check "why: a host without an entry" no_entry
check "why: an end without an entry" no_entry_of_an_end
check "why: a host without an entry, of several transfers" no_entry_of_any
check "why: hosts of which nothing is known" not_known
check "why: a host without the module" not_loaded
check "why: hosts that answer anything" any_answer
check "why: hosts that are late" late_answer
check "why: many hosts" many_hosts
check "why: more hosts than half of the descriptors" few_descriptors
check "why: options" why_options
check "describe: each host has reported" reported
check "describe: a host has not reported" not_reported
end_rows
