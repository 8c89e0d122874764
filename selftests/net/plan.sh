#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A plan is in force on all nodes or on none, and nothing remains of it
# afterwards.
# BCube(4,1):   v0..v15, each on a level-0 switch (w0..w3, eth0) and a level-1
#               switch (w4..w7, eth1).
. "$(dirname "$0")/lib.sh"

SENDERS=v2,v5,v9,v10,v11,v14

make_plan() # NAME OPTION...
{
	local name=$1

	shift
	aggctl -j plan --topology bcube:4,1 --uid 0 "$@" > "$TMP/$name.json"
}

# Print a line for each entry and each link in force on any node.
in_force()
{
	aggctl -j testbed entries | jq -r '
		(.trees[] | "\(.node) tree \(.job) \(.receiver) \(.attempt)"),
		(.links[] | "\(.node) link \(.port) \(.neighbour)")'
}

# Print the same lines for what a plan has.
planned() # NAME
{
	jq -r '.nodes | to_entries[] | .key as $n |
		(.value.trees[] | "\($n) tree \(.job) \(.receiver) \(.attempt)"),
		(.value.links[] | "\($n) link \(.port) \(.neighbour)")' \
		"$TMP/$1.json"
}

is_in_force() # NAME
{
	diff <(planned "$1" | sort) <(in_force | sort)
}

nothing()
{
	in_force > "$TMP/left"
	cat "$TMP/left"
	[ ! -s "$TMP/left" ]
}

# refused TEXT COMMAND...: it exits with status 1 and prints a line that has
# TEXT
refused()
{
	local text=$1 status=0

	shift
	"$@" > "$TMP/refused" 2>&1 || status=$?
	cat "$TMP/refused"
	[ $status = 1 ] && grep -qF -- "$text" "$TMP/refused"
}

comes_and_goes() # NAME
{
	aggctl apply "$TMP/$1.json" && is_in_force "$1" &&
		aggctl withdraw "$TMP/$1.json" && nothing
}

# An entry of another plan is in the way: the node refuses the plan while it
# checks.
block()
{
	if [[ $1 = v* ]]; then
		aggctl -n "$1" tree add --job 1 --receiver 10.0.0.1 instance 1 \
			contributors 1 sources 1 writers 1 scheme route
	else
		aggctl -n "$1" link add p0 neighbour 10.99.0.1 \
			lladdr 02:00:00:00:00:01
		aggctl -n "$1" tree add --job 1 --receiver 10.0.0.1 instance 1 \
			--device p0 link_neighbour 10.99.0.1
	fi
}

unblock()
{
	aggctl -n "$1" tree del --job 1 --receiver 10.0.0.1
	[[ $1 = v* ]] || aggctl -n "$1" link del p0 neighbour 10.99.0.1
}

# Nodes of the tree to v0 refuse in turn, before the plan is in force anywhere.
blocks() # NAME NODE...
{
	local name=$1 node

	shift
	for node in "$@"; do
		block "$node" &&
			refused "$node: tree of job 1 to 10.0.0.1: another plan of this job is in force" \
				aggctl apply "$TMP/$name.json" || return 1
		unblock "$node" && nothing || return 1
	done
}

used()
{
	aggctl -j -n "$1" node show | jq .memory_used
}

# The filter of a link is made when the plan comes into force: a node that has
# memory for its trees only refuses then, after other nodes have agreed.
fails_late() # NAME NODE
{
	local need

	aggctl apply "$TMP/$1.json" || return 1
	need=$(used "$2")
	aggctl withdraw "$TMP/$1.json" &&
		aggctl -n "$2" node set memory $((need - 1)) &&
		refused "$2: plan: Bloom table does not fit" \
			aggctl apply "$TMP/$1.json" || return 1
	aggctl -n "$2" node set memory $((64 << 20)) && nothing
}

# An update leaves unchanged entries alone and removes those that it drops.
updates() # OPTION...
{
	make_plan old --method irs --senders $SENDERS --receivers v0,v8 "$@" &&
		aggctl apply "$TMP/old.json" || return 1
	aggctl -j plan --update "$TMP/old.json" join:v7 leave:v5 \
		receiver:v8=v3 > "$TMP/new.json" || return 1
	refused "another plan of this job is in force" aggctl apply "$TMP/new.json" &&
		is_in_force old || return 1
	aggctl apply --replace "$TMP/new.json" &&
		in_force_but_links new || return 1
	aggctl apply --replace "$TMP/new.json" &&
		in_force_but_links new || return 1
	aggctl withdraw "$TMP/new.json" && nothing
}

# Links that an update does not use stay until the plan is withdrawn.
in_force_but_links()
{
	diff <(planned "$1" | grep tree | sort) \
		<(in_force | grep tree | sort)
}

one_node()
{
	aggctl apply "$TMP/exact.json" --node v10 || return 1
	[ "$(in_force | cut -d' ' -f1 | sort -u)" = v10 ] || return 1
	aggctl withdraw "$TMP/exact.json" --node v10 && nothing
}

twice()
{
	aggctl apply "$TMP/exact.json" | grep -q "^applied: " &&
		aggctl apply "$TMP/exact.json" > "$TMP/again" || return 1
	grep "^already in force: " "$TMP/again" && is_in_force exact || return 1
	aggctl withdraw "$TMP/exact.json" && nothing &&
		refused "were not in force" aggctl withdraw "$TMP/exact.json"
}

# unusable FAULT [NETNS]: apply refuses a plan whose link has it, but with --force
unusable()
{
	local sentence="v2: the planned link eth0 to 10.16.0.1 cannot be used: $1: "
	local at=(${2:+-n "$2"}) node=(${2:+--node "$2"})

	refused "$sentence" aggctl "${at[@]}" apply "$TMP/exact.json" "${node[@]}" &&
		nothing &&
		aggctl "${at[@]}" apply --force "$TMP/exact.json" "${node[@]}" &&
		aggctl "${at[@]}" withdraw "$TMP/exact.json" "${node[@]}" &&
		nothing
}

no_carrier()
{
	ip -n w0 link set p2 down
	unusable "the device is down or has no cable"
}

short_mtu()
{
	ip -n v2 link set eth0 mtu 583
	unusable "its MTU is 583, not 584 at least"
}

# In a testbed the addresses of neighbours are known; a host asks for them.
silent()
{
	ip -n v2 neigh del 10.16.0.1 dev eth0
	ip -n w0 link set p0 down
	unusable "no answer to ARP" v2
}

# mended COMMAND...: whatever it finds, the links of v2 are as before
mended()
{
	local status=0 lladdr

	lladdr=$(ip -n v2 -j neigh show 10.16.0.1 dev eth0 | jq -r '.[].lladdr')
	"$@" || status=$?
	ip -n w0 link set p2 up
	ip -n w0 link set p0 up
	ip -n v2 link set eth0 mtu 1500
	ip -n v2 neigh replace 10.16.0.1 dev eth0 lladdr "$lladdr" nud permanent
	return $status
}

# Two plans of the same trees are made in the same millisecond. They are not
# taken for the same plan, in either order.
one_millisecond()
{
	jq '.id = "0123456789abcdef" | .nodes[].trees[].plan |=
		"0123456789abcdef" + .[16:]' "$TMP/exact.json" \
		> "$TMP/other.json" || return
	chmod 600 "$TMP/other.json"
	aggctl apply "$TMP/exact.json" || return
	refused "another plan of the same epoch" \
		aggctl apply --replace "$TMP/other.json" &&
		refused "another plan of the same epoch" \
			aggctl withdraw "$TMP/other.json" &&
		is_in_force exact && aggctl apply --replace "$TMP/exact.json" &&
		aggctl withdraw "$TMP/exact.json" && nothing
}

settings()
{
	local node

	for node in v0 v2 v10 v14; do
		aggctl -j -n "$node" node show |
			jq -c '[.role, .address, .label, .ports]'
	done
}

# A plan that fails leaves the nodes' settings as they were.
no_trace()
{
	local node

	for node in v0 v2 v10 v14; do
		aggctl -n "$node" node set address 0.0.0.0 label "" || return
	done
	settings > "$TMP/before"
	jq '.nodes.v14.trees[0].hops = 63' "$TMP/exact.json" > "$TMP/bad.json"
	chmod 600 "$TMP/bad.json"
	refused "v14: tree of job 1" aggctl apply "$TMP/bad.json" &&
		settings | diff "$TMP/before" - || return
	comes_and_goes exact
}

# Each node takes a descriptor. The rest does not suffice for all of them.
descriptors()
{
	(
		ulimit -n 12
		refused "the limit is 12" aggctl apply "$TMP/exact.json"
	) && nothing || return
	# aggctl raises a soft limit.
	(
		ulimit -S -n 12
		aggctl apply "$TMP/exact.json"
	) && is_in_force exact && aggctl withdraw "$TMP/exact.json" && nothing
}

# The file of one plan does not withdraw another plan of the same tree.
not_mine()
{
	make_plan later --method irs --senders $SENDERS --receivers v0 &&
		aggctl apply "$TMP/later.json" || return 1
	refused "it is in epoch" aggctl withdraw "$TMP/first.json" &&
		is_in_force later && aggctl withdraw "$TMP/later.json"
}

bad_files()
{
	echo '{' > "$TMP/bad.json"
	refused "bad.json: line" aggctl apply "$TMP/bad.json" || return 1
	echo '{"topology": "bcube:4,1"}' > "$TMP/bad.json"
	refused "has no 'nodes'" aggctl apply "$TMP/bad.json" || return 1
	jq '.nodes.v2.trees[0].colour = "red"' "$TMP/exact.json" > "$TMP/bad.json"
	chmod 600 "$TMP/bad.json"
	refused "v2: a tree has no 'colour'" aggctl apply "$TMP/bad.json" &&
		nothing || return 1
	jq '.nodes.v2.trees[0].hops = "far"' "$TMP/exact.json" > "$TMP/bad.json"
	refused "v2: hops: 'far'" aggctl apply "$TMP/bad.json" &&
		nothing || return 1
	jq '.nodes.v2.trees[0].link_port = "eth9"' "$TMP/exact.json" \
		> "$TMP/bad.json"
	refused "'eth9' is not one of the node's ports" \
		aggctl apply "$TMP/bad.json" && nothing || return 1
	aggctl -j plan --topology bcube:4,2 --senders v1 --receivers v0 \
		> "$TMP/bad.json"
	refused "the plan is for bcube:4,2, the testbed is bcube:4,1" \
		aggctl apply "$TMP/bad.json"
}

secret()
{
	[ "$(stat -c %a "$TMP/exact.json")" = 600 ] &&
		! aggctl -j -n v0 tree show | grep '"key"'
}

testbed bcube:4,1
make_plan first --method irs --senders $SENDERS --receivers v0
make_plan exact --method irs --senders $SENDERS --receivers v0,v3,v8
make_plan existing --method existing --senders $SENDERS --receivers v0
make_plan bloom --method srs --scheme bloom --senders $SENDERS \
	--receivers v0,v3,v8
make_plan filters --method irs --scheme bloom --switches dumb \
	--senders $SENDERS --receivers v0
for name in exact existing bloom filters; do
	mine && check "$name: applied and withdrawn" comes_and_goes $name
done
mine && check "a plan file is secret, keys are not shown" secret
mine && check "a plan is applied on one node" one_node
mine && check "a plan is applied twice" twice
for fault in no_carrier short_mtu silent; do
	mine && check "a planned link that cannot be used: $fault" \
		mended $fault
done
mine && check "another plan's entries are left alone" not_mine
mine && check "two plans of one epoch are told apart" one_millisecond
mine && check "a plan that fails leaves settings unchanged" no_trace
mine && check "too few descriptors for all nodes" descriptors
mine && check "exact: a node refuses" blocks exact v0 v2 v14
mine && check "bloom: a node refuses" blocks bloom w4 v14
mine && check "bloom: a node refuses after the others agreed" fails_late bloom v14
mine && check "exact: update" updates
mine && check "bloom: update" updates --scheme bloom
mine && check "bad files are refused" bad_files
done_testing
