#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# aggctl: a wrong command line ends with status 2, a request that fails with
# status 1, and one sentence on standard error names the culprit.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
aggctl=$top/tools/aggctl/aggctl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
n=0 failed=0

# result WHAT WRONG: a row, which passes if WRONG is empty
result()
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: $2"
		failed=1
	fi
}

# refused STATUS SENTENCE ARGUMENT...: aggctl prints this error and nothing else
refused()
{
	local want=$1 sentence=$2 status=0 wrong=''

	shift 2
	"$aggctl" "$@" > out 2> err < /dev/null || status=$?
	[ "$status" = "$want" ] || wrong="status $status"
	[ "$(cat err)" = "aggctl: $sentence" ] ||
		wrong+=" '$(cat err)'"
	[ ! -s out ] || wrong+=" with output"
	result "${*@Q}" "$wrong"
}

printf 'topology graph\nhost store-1\nhost store-2\nlink store-1 store-2\naddress %s\naddress %s\n' \
	"store-1 198.51.100.1" "store-2 198.51.100.2" > net
same()
{
	result "$1" "$(diff <("${@:2}" 2>&1) out)"
}

"$aggctl" tree show -h > out
same "commands and verbs may be shortened" "$aggctl" tr sh -h
same "help of a verb" "$aggctl" help tree show
same "list is show" "$aggctl" tree list -h
"$aggctl" recv -h > out
same "help of a command without verbs" "$aggctl" help recv
"$aggctl" -h > out
same "help alone" "$aggctl" help
"$aggctl" --version > out
same "version" echo "aggctl $(awk -F '"' '/LIBRARY_VERSION/ { print $2 }' \
	"$top/tools/libaggnet/aggnet.h"), wire revision $(awk \
	'/define AGGNET_VERSION/ { print $3 }' "$top/uapi/linux/aggnet_packet.h")"
refused 2 "ambiguous command 's'; 'aggctl -h' lists all" s
refused 2 "testbed: ambiguous verb 's'; see 'aggctl testbed -h'" testbed s
refused 2 "unknown command 'trees'; 'aggctl -h' lists all" trees
refused 2 "help: needs a command and a verb at most" help tree show all
refused 2 "unknown command 'trees'; 'aggctl -h' lists all" help trees
refused 2 "export: its format is that of Prometheus; it cannot be combined with --json" \
	-j export
refused 2 "why: 'x' is not a number below 2^32" why x
refused 2 "why: give the job once" why --job 1 2
refused 2 "job show: 'x' is not a job ID" job show x
refused 2 "job cancel: '0' is not a job ID" job cancel 0
refused 2 "job submit: --kind: 'foo' is neither group nor reduce" \
	job submit --root v0 --members v1 --kind foo
refused 2 "help: plan has no verb 'bar'; see 'aggctl plan -h'" help plan bar
refused 2 "probe measure: needs [NAME=]ADDRESS [NAME=]ADDRESS..." probe measure 10.0.0.1
printf 'topology graph\nhost node1\n' > named
echo hello > malformed
AGGNET_NETWORK=named refused 2 "why: --receiver: 'x' is neither an IPv4 address nor the name of a host in named" \
	why --receiver x
AGGNET_NETWORK=nosuch refused 2 "send: --receiver: 'x' is not an IPv4 address, and this host has no names: nosuch: No such file or directory: 'aggctl host init --topology @FILE --run' installs it" \
	send --job 7 --receiver x
AGGNET_NETWORK=malformed refused 2 "recv: --receiver: 'x' is not an IPv4 address, and malformed, which would have names of hosts, is refused: line 1: a description begins with: topology T" \
	recv --job 7 --receiver x
refused 2 "host init: needs --topology" host init
refused 2 "host init: --host: @net has no server 'store-3'" \
	host init --topology @net --host store-3
refused 2 "host init: --topology: bcube:2: expected bcube:N,K" \
	host init --topology bcube:2
refused 2 "describe: --identities: '10.0.0.1/24' is not a subnet such as 10.0.0.0/24" \
	describe --identities 10.0.0.1/24 none
refused 2 "host report: --name: host a/b: a name begins with a letter and has letters, digits, '.', '_' and '-', 47 at most" \
	host report --name a/b
refused 2 "host report: --name: a host cannot be called 'a b'" host report --name 'a b'
refused 2 "host report: --name: a host cannot be called 'switch1'" host report --name switch1
# called NAME SENTENCE: the name of this host is refused, too
called()
{
	# shellcheck disable=SC2016
	aggctl=$aggctl unshare -ru bash -c 'echo "$0" > /proc/sys/kernel/hostname
		"$aggctl" host report; echo $?' "$1" > out 2> err
	result "a host that is called $1" "$(diff <(echo "aggctl: host report: $2: give --name") err;
		diff <(echo 2) out)"
}
called switch1 "a host cannot be called 'switch1'"
called 3f "host 3f: a name begins with a letter and has letters, digits, '.', '_' and '-', 47 at most"
refused 1 "host init: no device of this host has 198.51.100.2, the address of store-2: assign it, or correct its line 'address'" \
	host init --topology @net --host store-2
{ cat net; echo 'address store-2-store-1 198.51.100.3'; } > port
refused 1 "host init: no device of this host has 198.51.100.3, the address of store-2-store-1: assign it, or correct its line 'address'" \
	host init --topology @port --host store-2
refused 1 "host init: no device of this host has 10.16.0.2, the address of v1-w0: assign it" \
	host init --topology bcube:2,1 --host v1
echo 'topology bcube:2,1' > cube
refused 1 "host init: no device of this host has 10.16.0.2, the address of v1-w0: assign it, or add its line 'address'" \
	host init --topology @cube --host v1
refused 1 "host: no server of @net has an address or the name of this host ('$(hostname -s)'); name it with --host" \
	host init --topology @net

# Of a description in which an address is missing there is no plan, and no server.
printf '%s\n' 'topology graph' 'host a' 'host b' 'host c' 'switch s' 'switch t' 'link a s' \
	'link b s' 'link b t' 'link c t' 'address a 10.0.0.1' 'address b 10.0.0.2' \
	'address c-t 10.0.2.3' 'address b-s 10.0.1.2' 'address b-t 10.0.2.2' > all
sed '/b-s/d' all > no-port
sed '/address b /d' all > no-identity
for made in all no-port no-identity; do
	"$aggctl" -j plan --topology "@$made" --senders b,c --receivers a > "plan-$made" 2> /dev/null
done
result "one NIC: its address is the identity" \
	"$(jq -e '.nodes | keys == ["a", "b", "c"] and .c.address == "10.0.2.3"' plan-all 2>&1 |
		grep -vx true)"
refused 1 "plan: no-port: no line 'address b-s A.B.C.D': without it the plan has no entries" \
	-j plan --topology @no-port --senders a,c --receivers b
refused 1 "plan: no-identity: no line 'address b A.B.C.D': without it the plan has no entries" \
	-j plan --topology @no-identity --senders b,c --receivers a
"$aggctl" plan --topology @no-port --senders a,c --receivers b > out 2> err
result "plan: as text it is an estimate" \
	"$(grep -q '^b  *- ' out || cat out
	head -n 1 err | diff - <(echo "aggctl: plan: note: no-port: no line 'address b-s A.B.C.D': without it the plan has no entries"))"
refused 1 "host init: no-port: no line 'address b-s A.B.C.D': each port of this server needs its address" \
	host init --topology @no-port --host b
refused 1 "host init: no-identity: no line 'address b A.B.C.D': each server needs an identity" \
	host init --topology @no-identity --host a
sed '/^address/d' all > bare
"$aggctl" -j plan --topology @bare --senders b,c --receivers a > estimate
for command in apply withdraw supervise; do
	refused 1 "the plan has the addresses of a testbed, and no testbed is up here: for hosts, plan with a description that has an 'address' line for each server and port: '--topology @FILE'" \
		$command estimate
done
# In the namespace of a node of the testbed, the plan may have its addresses; in another one
# it may not.
# shellcheck disable=SC2317
inside()
{
	mount -t tmpfs none /run && mkdir /run/aggnet &&
		echo '{"nodes": [{"name": "b"}]}' > /run/aggnet/testbed.json &&
		ip netns add b && ip netns add other || return
	for command in apply withdraw; do
		"$aggctl" -n b "$command" estimate --node b
		"$aggctl" -n other "$command" estimate --node b
	done 2>&1 | grep "addresses of a testbed"
}
export -f inside
aggctl=$aggctl unshare -rnm bash -c inside > out 2>&1
result "--netns and --node in a testbed, and outside of it" "$(for _ in 1 2; do
	echo "aggctl: the plan has the addresses of a testbed, and this namespace is not one of its nodes: give that of the node, or leave --netns out"
done | diff - out)"
ln -s loop loop
refused 1 "namespace ./loop: Too many levels of symbolic links" -n ./loop node show
"$aggctl" -j plan --topology ghc:200,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2 --senders v1,v2 --receivers v0 > large
refused 1 "large: it has no nodes: plan with a description that has an 'address' line for each server and port: '--topology @FILE'" \
	apply large
kinds="bcube:N,K, ghc:N0,N1,..., fbfly:K,N,C, hyperx:S0,S1,...:T, camcube:X,Y,Z, dcell:N,K, leafspine:L,S,H, fattree:K or racks:R,S"
refused 2 "plan: --topology: topology all: expected $kinds; '--topology @all' reads the file" \
	plan --topology all --senders b,c --receivers a
refused 2 "host init: --topology: topology net2: expected $kinds, or @FILE that describes it" \
	host init --topology net2
refused 1 "host init: net2: No such file or directory" host init --topology @net2

# verbs: print each verb with its noun
verbs()
{
	local noun

	for noun in $("$aggctl" -h | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		"$aggctl" "$noun" -h > help
		grep -q '^verbs:' help || echo "$noun"
		sed -n "/^verbs:/,\$s/^  \([a-z]*\) .*/$noun \1/p" help
	done
}

# each FUNCTION: what it prints for each verb, in $words
each()
{
	local line words n=0

	while read -r line; do
		read -ra words <<< "$line"
		n=$((n + 1))
		"$1" "${words[@]}"
	done < <(verbs)
	[ $n -gt 40 ] || echo "only $n verbs"
}

# says SENTENCE ARGUMENT...: nothing, if aggctl refuses them so
says()
{
	local status=0

	"$aggctl" "${@:2}" > out 2>&1 < /dev/null || status=$?
	[ "$status" = 2 ] && [ "$(cat out)" = "aggctl: $1" ] ||
		echo "$status: $(cat out)"
}

unknown_option()
{
	says "$*: --no-such is an unknown option" "$@" --no-such
	says "$*: -~ is an unknown option" "$@" -~
}

# In the help an option with a value has one space before it.
without_value()
{
	local option

	for option in $("$aggctl" "$@" -h |
		sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*\) [A-Z].*/\2/p'); do
		says "$*: $option needs a value" "$@" "$option"
	done
}

# Those that take any number of arguments have dots in their usage, or names.
too_many()
{
	local many

	mapfile -t many < <(yes x | head -n 20)
	"$aggctl" "$@" -h | head -n 1 | grep -qF ... ||
		says "$*: 'x' is one argument too many" "$@" "${many[@]}"
}

result "each verb refuses an unknown option" "$(each unknown_option)"
result "each verb refuses an option without its value" "$(each without_value)"
result "each verb refuses an argument too many" "$(each too_many)"
refused 2 "host report: the value of --name is not UTF-8" host report --name $'\xff'
refused 2 "probe: member 'a' has two addresses" probe measure a=10.0.0.1 a=10.0.0.2
refused 2 "testbed up: bcube:4: expected bcube:N,K" testbed up bcube:4

small=(--topology "bcube:2,1" --senders "v1,v3" --receivers v0)

"$aggctl" -j plan "${small[@]}" > plan.json
# An update does not accept options that a plan already has, and names them.
mapfile -t options < <("$aggctl" plan -h |
	sed -n '/^  --update /d; /^  --dot /d; /^  --traffic /d; s/^  \(--[a-z-]*\) \{0,1\}\([^ ]*\).*/\1 \2/p')
result "plan has options" "$([ ${#options[@]} -gt 25 ] || echo "${options[*]}")"
for option in "${options[@]}"; do
	read -r name value <<< "$option"
	case $value in
	'') args=("$name") ;;
	KIND) args=("$name" dumb) ;;
	*) args=("$name" 1) ;;
	esac
	refused 2 "plan: $name cannot be combined with --update: the plan keeps its own" \
		plan --update plan.json "${args[@]}" join:v2
done
refused 2 "plan: --update: needs changes, like join:v7 or failed:w6" \
	plan --update plan.json
"$aggctl" plan --update plan.json --dot dot join:v2 > out
result "a plan that is changed is drawn" "$(grep -q v2 dot || echo "not v2")"

# Files given as text or as a plan.
: > empty
printf 'v1\0v3' > zero
mkdir dir
for use in "--topology @" "--senders @" "--receivers @" "--sizes "; do
	read -ra args <<< "${use/%[@ ]/ }"
	at=${use#"${args[0]} "}
	for file in "dir:Is a directory" "empty:it is empty" \
		"none:No such file or directory" \
		"zero:not a text file: it has a zero byte"; do
		refused 1 "plan: ${file/:/: }" \
			plan "${small[@]}" "${args[0]}" "$at${file%%:*}"
	done
done
for file in "dir:Is a directory" "none:No such file or directory" \
	"empty:line 1: '[' or '{' expected near end of file"; do
	refused 1 "${file/:/: }" plan --update "${file%%:*}" join:v2
	for command in apply withdraw supervise; do
		refused 1 "${file/:/: }" $command "${file%%:*}"
	done
done

# Values that are empty or too large.
refused 2 "plan: --elements: a vector has at least one" \
	plan "${small[@]}" --elements 0
refused 2 "plan: --bloom-trees: a table is for at least one tree" \
	plan "${small[@]}" --scheme bloom --bloom-trees 0
refused 2 "plan: --rate: must be more than 0" plan "${small[@]}" --rate 0
refused 2 "plan: --rate: '10mb' is not a rate like 10mbit or 1gbit" \
	plan "${small[@]}" --rate 10mb
refused 2 "plan: --objective: 'speed' is not one of traffic, time" \
	plan "${small[@]}" --objective speed
refused 2 "plan: --objective: method irs has none; auto and exact have one" \
	plan "${small[@]}" --objective time --method irs
for stripes in 0 65; do
	refused 2 "plan: --stripes: must be from 1 to 64" \
		plan "${small[@]}" --stripes $stripes
done
refused 2 "plan: --stripes: cannot be combined with --method: stripes are a method of their own" \
	plan "${small[@]}" --stripes 2 --method irs
refused 2 "plan: --objective: method stripes:2 has none; auto and exact have one" \
	plan "${small[@]}" --stripes 2 --objective time
refused 2 "plan: --persist: a tree of sorted records serves one transfer" \
	plan "${small[@]}" --persist --sorted
refused 2 "plan: --sorted: records in order cannot be split over stripes" \
	plan "${small[@]}" --stripes 2 --sorted
refused 2 "plan: --job: 4294967295 and the 1 after it are needed, which exceed the largest ID" \
	plan "${small[@]}" --stripes 2 --job 4294967295
refused 2 "plan: method stripes:2: all trees lead to one receiver, 2 are given" \
	plan --topology bcube:2,1 --senders v1 --receivers v0,v2 --stripes 2
refused 2 "plan: method stripes:3: the servers of bcube:2,1 have 2 links: there are at most as many trees without a common link" \
	plan "${small[@]}" --stripes 3
refused 2 "plan: method stripes:1: a server of fbfly:2,2,2 has one link, which each tree would use" \
	plan --topology fbfly:2,2,2 --senders v1 --receivers v0 --stripes 1
down=(--topology "bcube:2,1" --collective bcast --receivers "v1,v2")
refused 2 "plan: --collective: 'scatter' is not one of reduce, bcast" \
	plan "${small[@]}" --collective scatter
refused 2 "plan: --root: is for --collective bcast" plan "${small[@]}" --root v1
refused 2 "plan: --collective bcast: needs --topology, --root and --receivers, and no --senders" \
	plan "${down[@]}"
refused 2 "plan: --collective bcast: takes no --sorted, --elements, --allow-missing and --hold" \
	plan "${down[@]}" --root v0 --hold 1
refused 2 "plan: --collective bcast: has scheme exact only" \
	plan "${down[@]}" --root v0 --scheme bloom
refused 2 "plan: --collective bcast: has one tree" \
	plan "${down[@]}" --root v0 --stripes 2
refused 2 "plan: --root: a broadcast has one root" \
	plan "${down[@]}" --root v0,v3
refused 2 "plan: --receivers: v1 is the root, which has the stream" \
	plan "${down[@]}" --root v1
refused 2 "plan: max of int64: a stream of bytes has neither function nor value type" \
	plan "${down[@]}" --root v0 --function max
refused 2 "bcast: needs --job" bcast
refused 2 "plan: --persist: a job of several trees has no rounds" \
	plan "${small[@]}" --stripes 2 --persist
refused 2 "plan: --elements: 13 elements are fewer blocks than 2 stripes" \
	plan "${small[@]}" --stripes 2 --elements 13
refused 2 "plan: --flow-size: must be more than 0" \
	plan "${small[@]}" --flow-size 0
for seconds in 0 2147.484 3600; do
	refused 2 "plan: --give-up: must be from 0.001 to 2147.483 seconds" \
		plan "${small[@]}" --give-up $seconds
done
refused 2 "plan: v1: 1024 tasks of 2 writers exceed the 1024 of an entry" \
	plan --topology bcube:2,1 --senders "v1*1024,v3" --receivers v0 --writers 2
refused 2 "plan: --filter-rate: cannot be combined with --filter-bits" \
	plan "${small[@]}" --scheme packet --filter-bits 64 --filter-rate 1
refused 1 "plan: names of links have room for digits below 256, bcube:300,0 has greater ones" \
	plan --topology bcube:300,0 --senders v1,v2 --receivers v0 --scheme packet
refused 2 "plan: --uid: 4294967295 is not a user ID" \
	plan "${small[@]}" --uid 4294967295
refused 2 "plan: --gid: '4294967295' is not a group ID" \
	plan "${small[@]}" --gid 4294967295
for command in "send --receiver v0" recv "tree add --receiver v0 instance 1" \
	"tree del --receiver v0" "tree show"; do
	read -ra args <<< "$command"
	name=${command%% -*}
	refused 2 "${name%% instance*}: --job: '4294967296' is not a number below 2^32" \
		"${args[@]}" --job 4294967296
done
refused 2 "tree add: its job or receiver differs from --job and --receiver" \
	tree add --job 1 --receiver v0 instance 1 job 2
refused 2 "plan: --netns: '' is not a text that is not empty" plan -n ''
refused 2 "namespace nosuch: No such file or directory" -n nosuch tree show
refused 1 "namespace /dev/null: Invalid argument" -n /dev/null tree show
refused 2 "plan: 'irs' is for --update only" plan --method list irs
result "methods as JSON" "$(diff <("$aggctl" plan --method list) \
	<("$aggctl" -j plan --method list | jq -r '.[]'))"

# These are found before anything is computed.
refused 2 "eval: --plot: 'x.gif' ends in neither .svg nor .png" \
	eval 004-fig8b --plot x.gif
refused 2 "eval: --plot: the file name has a control character" \
	eval 004-fig8b --plot $'a\n!touch planted\n.svg'
refused 1 "eval: --plot: none/x.svg: No such file or directory" \
	eval 004-fig8b --plot none/x.svg
refused 2 "eval: --plot: update is a table" eval update --plot x.svg
refused 2 "eval: --plot: 000-table2 is a table" eval 000-table2 --plot x.svg
refused 1 "eval: --rst: dir: Is a directory" eval --rst dir
refused 1 "eval: --rst: empty: lacks the marks of the tables" eval --rst empty

# unwritten WHAT SENTENCE STATUS: the error of standard output that cannot be
# written
unwritten()
{
	local wrong=''

	[ "$3" = 1 ] || wrong="status $3"
	[ "$(cat err)" = "aggctl: standard output: $2" ] ||
		wrong+=" '$(cat err)'"
	result "$1" "$wrong"
}

large=(--topology "bcube:8,2" --senders "random:100" --receivers v0)
for command in -h "plan -h" "plan ${small[*]}" "-j plan ${small[*]}" \
	"plan ${large[*]}" "-j plan ${large[*]}" "-j plan --method list"; do
	read -ra args <<< "$command"
	status=0
	"$aggctl" "${args[@]}" > /dev/full 2> err || status=$?
	unwritten "full: $command" "No space left on device" $status
	status=0
	"$aggctl" "${args[@]}" 2> err >&- || status=$?
	unwritten "closed: $command" "Bad file descriptor" $status
done
# The longest that an entry accepts.
result "the longest give-up" "$([ "$("$aggctl" -j plan "${small[@]}" \
	--give-up 2147.483 | jq .entries.give_up)" = 2147483 ] || echo "refused")"
result "1024 writers at a sender" "$("$aggctl" -j plan --topology bcube:2,1 \
	--senders "v1*512,v3" --receivers v0 --writers 2 2>&1 > out)"
# A number that begins with 0 is decimal, as in other options.
result "a job of 010" "$([ "$("$aggctl" -j plan "${small[@]}" --job 010 |
	jq .job)" = 10 ] || echo "it is not 10")"
result "a job of 0x10" "$([ "$("$aggctl" -j plan "${small[@]}" --job 0x10 |
	jq .job)" = 16 ] || echo "it is not 16")"

# Three flows on one link: 3 times 2 MB in packets of 1514 bytes, which carry
# 1384 bytes of records, and one packet that waits at the switch.
"$aggctl" -j plan --topology ghc:4 --senders v1,v2,v3 --receivers v0 \
	--method irs --rate 10mbit --flow-size 2000000 > timed.json
result "predicted seconds" "$(jq -c '.metrics |
	[.bottleneck, .bottleneck_bytes, .fan_in,
	 (.predicted_seconds * 10000 | round)] |
	select(. != [3, 6563583, 3, 52521])' timed.json)"
# 15 servers send: stripes leave all switches by several links, and the tree that
# ends first leaves some so unless their switches copy.
all=v1,v2,v3,v4,v5,v6,v7,v8,v9,v10,v11,v12,v13,v14,v15
many=(--topology "bcube:4,1" --senders "$all" --receivers v0 --rate 10mbit)
for scheme in bloom exact; do
	"$aggctl" -j plan "${many[@]}" --stripes 2 --scheme $scheme > "$scheme.json"
	"$aggctl" -j plan "${many[@]}" --objective time --scheme $scheme \
		> "time.$scheme.json"
done
result "switches that copy" "$(jq -c .metrics.copying_switches bloom.json \
	exact.json time.bloom.json | diff - <(printf '8\nnull\nnull\n'))"
result "copies take time" "$(jq -s -e 'map(.metrics.predicted_seconds) |
	.[0] > .[1] and .[2] > .[3] and .[2] < .[0]' bloom.json exact.json \
	time.bloom.json time.exact.json 2>&1 | grep -vx true)"
result "a plan's copies after an update" "$("$aggctl" -j plan --update bloom.json \
	leave:v1 | jq -e .metrics.predicted_seconds | jq -e '. > 4' | grep -vx true)"
refused 2 "plan: switch w14: the tree of v0 leaves it by more than 4 links, and a switch with Bloom tables makes 4 copies at most: use another method or scheme" \
	plan --topology "bcube:8,1" --senders "random:63" --receivers v0 \
	--stripes 2 --scheme bloom
"$aggctl" -j plan --update timed.json leave:v1 > less.json
result "predicted seconds after an update" "$(jq .metrics.bottleneck_bytes \
	less.json | grep -vx 4375722)"

# Without Graphviz aggctl draws nothing and prints the whole plan, which is
# longer than a pipe's buffer.
many=(--topology "bcube:8,2" --senders "random:400" --receivers v0 --seed 1)
mkdir nodot
status=0
PATH=$PWD/nodot "$aggctl" -j plan "${many[@]}" --dot x.svg > plan.nodot \
	2> err || status=$?
result "no Graphviz: an error" "$(
	grep -q 'dot: No such file or directory; it draws' err || cat err
	[ $status = 1 ] || echo "status $status")"
result "no Graphviz: the plan" "$(jq -e .job plan.nodot > /dev/null 2> why ||
	echo "it is not whole: $(cat why)")"

# A testbed is refused before anything of it is made.
refused 2 "testbed: --rate: must be more than 0" testbed up bcube:2,1 --rate 0
refused 2 "testbed: --core: must be more than 0" testbed up racks:2,2 --core 0mbit
refused 2 "testbed: --core: must be more than 0" testbed shape --core 0
refused 1 "absent: No such file or directory" testbed up --of absent
printf 'topology graph\n# B\xfcro\nhost a\nhost b\nlink a b\n' > latin
refused 1 "testbed up: latin: not a text file: it is not UTF-8" testbed up @latin
printf '%s\n' 'topology graph' 'host a' 'host b' 'link a b' 'address a 10.0.0.2' > one
refused 2 "graph: no line 'address b A.B.C.D': in a testbed either all hosts have described addresses or none has one" \
	testbed up @one
printf '%s\n' 'topology bcube:2,0' 'address v0 192.0.2.1' 'address v1 192.0.2.2' \
	'address v0-w0 198.51.100.1' > cube
refused 2 "bcube:2,0: no line 'address v1-w0 A.B.C.D': in a testbed either all hosts have described addresses or none has one" \
	testbed up @cube
sed -i '$d' cube
refused 2 "bcube:2,0: no line 'address v0-w0 A.B.C.D': in a testbed either all hosts have described addresses or none has one" \
	testbed up @cube
echo 'address v0-w0 198.51.100.1
address v1-w0 198.51.100.2' >> cube
pair=(--senders v1 --receivers v0 --job 7 --uid 0)
"$aggctl" -j plan --topology bcube:2,0 "${pair[@]}" > named.json 2> err
"$aggctl" -j plan --topology @cube "${pair[@]}" > cube.json 2> err
{ cat cube; echo 'absent v1'; } > absent
jq --rawfile text absent '.description = $text' cube.json > absent.json
refused 1 "cube.json: its description is not that of the first plan" \
	testbed up --of named.json cube.json
refused 1 "named.json: its description is not that of the first plan" \
	testbed up --of cube.json named.json
# The part of the first plan needs no addresses of ports at level 1; that of the
# second needs them. What is not bcube's is refused after the addresses.
printf '%s\n' 'topology bcube:2,1' 'address v0 192.0.2.1' 'address v1 192.0.2.2' \
	'address v2 192.0.2.3' 'address v0-w0 198.51.100.1' \
	'address v1-w0 198.51.100.2' > level
for node in 1 2; do
	"$aggctl" -j plan --topology @level --senders v$node --receivers v0 \
		--job 7 --uid 0 > level.$node.json 2> err
done
refused 2 "testbed up: --core: bcube:2,1 has no links between switches" \
	testbed up --core 1gbit --of level.1.json
refused 1 "bcube:2,1: no line 'address v0-w2 A.B.C.D': in a testbed either all hosts have described addresses or none has one" \
	testbed up --core 1gbit --of level.2.json
# Here c is the second server of a shorter way, over which there is no hop.
printf '%s\n' 'topology graph' 'host a' 'host b' 'host c' 'switch s' 'switch t' 'switch u' \
	'link a s' 'link s t' 'link t u' 'link u b' 'link a c' 'link c b' > round
"$aggctl" -j plan --topology @round --senders a --receivers b --job 7 --uid 0 2> err |
	jq '.trees[0].edges = [[0, 1]]' > round.json
echo '{}' > empty.json
refused 1 "empty.json: not a plan; 'aggctl -j plan' prints one" \
	testbed up --of round.json empty.json

# applied PLAN [DESCRIPTION]: what apply says of a plan in a testbed of bcube:2,0,
# whose namespaces do not exist
applied()
{
	jq -n --arg text "$(cat "${2-/dev/null}"; echo .)" '{topology: "bcube:2,0",
		nodes: [{name: "v0"}, {name: "v1"}, {name: "w0"}]} +
		if $text == "." then {} else
			{description: $text | rtrimstr(".")} end' > testbed.json
	# shellcheck disable=SC2016
	unshare -rm bash -c 'mount -t tmpfs run /run && mkdir /run/aggnet &&
		cp testbed.json /run/aggnet && "$0" apply "$1"' "$aggctl" "$1" 2>&1
}

differ="aggctl: the plan and the testbed are of different descriptions: make both from the same file"
result "apply: a plan by name, in a testbed with described addresses" \
	"$(applied named.json cube | diff - <(echo "$differ"))"
result "apply: a plan with described addresses, in a testbed by name" \
	"$(applied cube.json | diff - <(echo "$differ"))"
# A plan that is accepted goes on to the first namespace.
chmod 600 absent.json
missing="aggctl: namespace v0: No such file or directory"
result "apply: the same addresses" "$({ applied named.json; applied cube.json cube
	applied absent.json cube; } | diff - <(printf '%s\n' "$missing"{,,}))"

# Without the module each command says how to load it.
if [ ! -e /sys/module/aggnet ]; then
	loads="the aggnet module is not loaded: 'modprobe aggnet' loads it"
	refused 1 "$loads" why 7
	refused 1 "$loads" tree show
	refused 1 "$loads" top
	refused 1 "$loads" export
	refused 1 "send: $loads" send --job 7 --receiver 10.0.0.1
	refused 1 "recv: $loads" recv --job 7 --receiver 10.0.0.1
fi

# A file opened while standard output is closed must not become standard output.
status=0
"$aggctl" plan "${small[@]}" --dot closed 2> err >&- || status=$?
unwritten "closed, and a drawing" "Bad file descriptor" $status
"$aggctl" plan "${small[@]}" --dot open > out
result "the drawing is the same" "$(diff open closed)"

echo "1..$n"
exit $failed
