#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A job without aggctl: the example "job", a C program, plans with libaggtree,
# installs entries with libaggnet and transfers. All members compute the same plan.
. "$(dirname "$0")/lib.sh"

# Identities and ports of the testbed.
describe()
{
	local server switch

	echo "topology bcube:2,1"
	for server in 0 1 2 3; do
		echo "address v$server 10.0.0.$((server + 1))"
		switch=$((server / 2))
		echo "address v$server-w$switch 10.16.$switch.$((server % 2 + 1))"
		switch=$((server % 2 + 2))
		echo "address v$server-w$switch 10.16.$switch.$((server / 2 + 1))"
	done
}

# member SERVER RUN: take part in a run, with the words of a file
member()
{
	aggctl testbed exec "$1" -- "$(type -P job)" "$TMP/net" 9 "$2" v1,v2,v3 v0 \
		< "$TMP/words.$1"
}

# run N: each server takes part
run()
{
	local server members=() status=0

	for server in v1 v2 v3; do
		member "$server" "$1" &
		members+=($!)
	done
	member v0 "$1" < /dev/null | sort > "$TMP/got" || status=1
	wait "${members[@]}" || status=1
	cat "$TMP"/words.v[123] | sort | uniq -c |
		awk '{ print $2 "\t" $1 }' | sort > "$TMP/expected"
	[ $status = 0 ] && [ -s "$TMP/expected" ] &&
		cmp "$TMP/expected" "$TMP/got"
}

# v2 is on the way of v3 to the receiver, and merges both flows.
merged()
{
	aggctl -n v2 -j tree show | jq -e --argjson run "$1" '.[] |
		.job == 9 and .instance == $run and .state == "done" and
		.records_in > .records_out and .channels == 1'
}

# A source cannot read its words: it must not end its input, nor the receiver have a
# result.
unreadable()
{
	local members=() server status=0

	for server in v1 v2; do
		member "$server" "$1" &
		members+=($!)
	done
	aggctl testbed exec v3 -- "$(type -P job)" "$TMP/net" 9 "$1" v1,v2,v3 v0 < / &
	members+=($!)
	! member v0 "$1" < /dev/null > "$TMP/got" || status=1
	for server in "${members[@]}"; do
		! wait "$server" || status=1
	done
	return $status
}

testbed bcube:2,1
describe > "$TMP/net"
for i in 0 1 2 3; do
	for ((n = 0; n < 3000; n++)); do
		echo "word$(((n * (i + 7) + SEED) % 100))"
	done > "$TMP/words.v$i"
done
check "a program plans a job and transfers" run 1
check "a server merges the flow of another one" merged 1
check "the next run replaces the entries" run 2
check "it is merged, too" merged 2
check "a source that cannot read its words does not end its input" unreadable 3
done_testing
