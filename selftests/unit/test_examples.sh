#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The examples of the libraries refuse arguments and inputs that are wrong, before they
# join a transfer.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}/tools
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# refused NAME STATUS SENTENCE COMMAND...
refused()
{
	local name=$1 status=$2 said got

	n=$((n + 1))
	said=$("${@:4}" 2>&1)
	got=$?
	if [ "$got" = "$status" ] && grep -qF -- "$3" <<< "$said"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name: status $got: $said"
		failed=1
	fi
}

for name in wordsum contribute allreduce job; do
	# shellcheck disable=SC2046 # words
	cc -o "$tmp/$name" -I"$top/tools/libaggnet" -I"$top/tools/libaggtree" \
		-I"$top/uapi" $(pkg-config --cflags libnl-3.0) \
		"$top/tools/libaggnet/examples/$name.c" \
		"$build/libaggnet/libaggnet.a" "$build/libaggtree/libaggtree.a" \
		$(pkg-config --libs libnl-3.0 libnl-genl-3.0) -lm || exit
done
cd "$tmp" || exit
refused "wordsum: a job that is not a number" 2 "usage: wordsum" ./wordsum x
refused "wordsum: a number with a tail" 2 "usage: wordsum" ./wordsum 7x
refused "wordsum: a wrong address" 2 "usage: wordsum" ./wordsum 7 10.0.0.x
refused "contribute: a number that is too large" 2 "usage: contribute" \
	./contribute 4294967296 10.0.0.1
refused "contribute: no receiver" 2 "usage: contribute" ./contribute 7
refused "allreduce: no number of ranks" 2 "usage: allreduce" \
	./allreduce 10.0.0.1 7 8 0
refused "allreduce: a rank that is not one of the group" 1 \
	"allreduce: rank 3 is not one of 3 ranks" ./allreduce 10.0.0.1 7 8 3 3 < /dev/null
refused "allreduce: a group of one rank" 0 "-12" ./allreduce 10.0.0.1 7 8 0 1 <<< "-12"
refused "allreduce: a line without a number" 1 "line 3: not a number of 64 bits" \
	./allreduce 10.0.0.1 7 8 0 1 <<< $'1 2\n3\n4 x'
refused "allreduce: a number with a tail" 1 "line 1: not a number of 64 bits" \
	./allreduce 10.0.0.1 7 8 0 1 <<< 0.5
refused "allreduce: a number that is too large" 1 "line 2: not a number of 64 bits" \
	./allreduce 10.0.0.1 7 8 0 1 <<< $'1\n9223372036854775808'
refused "allreduce: too many numbers" 1 "line 1001: more than 1000 numbers" \
	./allreduce 10.0.0.1 7 8 0 1 < <(seq 1001)
refused "allreduce: as many numbers as there may be" 0 "1000" \
	./allreduce 10.0.0.1 7 8 0 1 < <(seq 1000)
AGGNET_GROUP=root=10.0.0.1,up=7,down=8,ranks=1 AGGNET_RANK=0 \
	refused "allreduce: a group of the environment" 0 "-12" ./allreduce <<< "-12"
AGGNET_GROUP='' refused "allreduce: an environment without a group" 1 \
	"allreduce: AGGNET_GROUP: 'root' is missing" ./allreduce < /dev/null
refused "job: a description that does not exist" 1 "none: No such file" \
	./job none 7 1 v1 v0
refused "job: a description that is a directory" 1 ".: Is a directory" \
	./job . 7 1 v1 v0
refused "job: a run that is not a number" 2 "usage: job" ./job . 7 one v1 v0
echo "1..$n"
exit $failed
