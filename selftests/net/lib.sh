# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by the netns tests: TAP, a testbed that is taken away whatever
# happens, transfers with their reference.
export LC_ALL=C

NET_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$NET_DIR/../../build/selftests/net:$PATH
TMP=$(mktemp -d)
# The seed is printed, so that a failure can be repeated: SEED=... test.sh
SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
# A debug kernel takes ten to fifty times as long.
SLOW=${SLOW:-$([[ ${KERNEL:-} == @(debug|kcsan) ]] && echo 20 || echo 1)}
TIMEOUT=${TIMEOUT:-$((SLOW > 1 ? 1200 : 120))}
# An option of plan: on a slow kernel a node that is silent for long may be just
# slow.
PATIENCE=$([ "$SLOW" = 1 ] || echo --give-up 300)
# This run has every PARTS-th of the rows that are divided among kernels.
PART=${PART:-0}
PARTS=${PARTS:-1}
rows=0
tests=0
failures=0
job=100
rest=
looks=0

finish()
{
	local status=$?

	kill_all
	aggctl testbed down > "$TMP/down" 2>&1 || cat "$TMP/down" >&2
	rm -rf "$TMP"
	if [ "$tests" = 0 ] && [ $status = 0 ]; then
		status=1
	fi
	exit $status
}

# Kill the processes of this test that may still run.
kill_all()
{
	local pid

	for pid in $(jobs -p); do
		kill "$pid" 2> /dev/null
	done
	wait
}

say()
{
	printf '# %s\n' "$*"
}

# scaled N: print N, or its share on a slow kernel
scaled()
{
	echo $((($1 + SLOW - 1) / SLOW))
}

# mine: does this run have the next row?
mine()
{
	rows=$((rows + 1))
	[ $((rows % PARTS)) = "$PART" ]
}

# result STATUS NAME: print one TAP line
result()
{
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
	else
		failures=$((failures + 1))
		echo "not ok $tests - $2"
	fi
}

# refused STATUS TEXT COMMAND...: it exits with STATUS and an error that has
# TEXT
refused()
{
	local want=$1 text=$2 status=0

	shift 2
	"$@" > "$TMP/refused" 2>&1 || status=$?
	cat "$TMP/refused"
	[ $status = "$want" ] && grep -qF -- "$text" "$TMP/refused"
}

# check NAME COMMAND...: one row, which passes if the command succeeds
check()
{
	local name=$1 status=0

	shift
	"$@" > "$TMP/check" 2>&1 || status=$?
	[ $status = 0 ] || sed 's/^/# /' "$TMP/check"
	result $status "$name"
}

done_testing()
{
	[ "$SLOW" = 1 ] || say "a slow kernel: large sizes are divided by $SLOW"
	echo "1..$tests"
	[ "$failures" = 0 ]
}

# testbed TOPOLOGY [OPTION...]: set up a testbed
testbed()
{
	say "seed $SEED, testbed $*"
	trap finish EXIT
	# Without the generator every input would be empty and each comparison
	# pass.
	hash gen reference_reduce pairs aggctl_batch || exit 1
	aggctl testbed up "$@" > "$TMP/up" || exit 1
}

identity()
{
	local i=$((${1#v} + 1))

	echo "10.0.$((i / 256)).$((i % 256))"
}

# wait_for COMMAND...: run it until it succeeds, for at most TIMEOUT seconds
wait_for()
{
	local end=$((SECONDS + TIMEOUT))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
	done
}

# exit_with STATUS PID...: wait for these processes; do all exit with this status?
exit_with()
{
	local pid status failed=0

	for pid in "${@:2}"; do
		status=0
		wait "$pid" || status=$?
		[ $status = "$1" ] || failed=1
	done
	return $failed
}

# plant_fault NODE drop|double|flip: the next merge there is skipped, is done twice, or
# inverts a bit
plant_fault()
{
	local faults=(none drop double flip) fault

	for fault in "${!faults[@]}"; do
		[ "${faults[fault]}" != "$2" ] ||
			nsenter --net="/run/netns/$1" \
				tee /proc/net/aggnet_fault <<< "$fault"
	done > "$TMP/planted"
}

# at_rest COMMAND...: has it printed the same five times in a row? For wait_for;
# $rest is what it printed
at_rest()
{
	local now

	now=$("$@") || return
	[ "$now" = "$rest" ] || looks=0
	rest=$now
	looks=$((looks + 1))
	[ $looks -ge 5 ] && looks=0
}

# shaped FILTER NODE:DEVICE...: is FILTER true of the qdiscs of each device?
shaped()
{
	local device

	for device in "${@:2}"; do
		ip netns exec "${device%:*}" \
			tc -j qdisc show dev "${device#*:}" > "$TMP/qdisc" ||
			return
		jq -e "$1" "$TMP/qdisc" || {
			echo "$device is not '$1': $(< "$TMP/qdisc")"
			return 1
		}
	done
}

# summed NAME NODE...: print the sum of a counter over nodes
summed()
{
	local name=$1 node

	shift
	for node in "$@"; do
		echo "$TMP/stats.$node $TMP/stats.err -j -n $node stats show"
	done | aggctl_batch && jq -s "map(.$name) | add" "${@/#/$TMP/stats.}"
}

# plan NAME OPTION...: plan the next job into $TMP/NAME.json and apply it
plan()
{
	local name=$1

	shift
	job=$((job + 1))
	# shellcheck disable=SC2086 # words; of two the last one counts
	aggctl -j plan --job $job $PATIENCE "$@" > "$TMP/$name.json" &&
		aggctl apply "$TMP/$name.json" > "$TMP/$name.apply"
}

# start_recv NAME RECEIVER [OPTION...]: receive in the background; $recv_pid
start_recv()
{
	local name=$1 receiver=$2

	shift 2
	aggctl -n "$receiver" recv --job $job \
		--receiver "$(identity "$receiver")" --timeout "$TIMEOUT" "$@" \
		> "$TMP/$name.out" 2> "$TMP/$name.recv.err" &
	recv_pid=$!
}

# start_send NAME SENDER RECEIVER FILE [OPTION...]: send in the background;
# $send_pid
start_send()
{
	aggctl -n "$2" send --job $job --receiver "$(identity "$3")" \
		--timeout "$TIMEOUT" "${@:5}" "$4" 2> "$TMP/$1.$2.err" &
	send_pid=$!
}

# reference FUNCTION FILE...: print the expected result
reference()
{
	local function=$1

	shift
	sort -t "$(printf '\t')" -k1,1 "$@" | reference_reduce "$function"
}

# member NAME NODE VERB RECEIVER [FILE]: print a line for aggctl_batch
member()
{
	local out=$TMP/$1.out

	[ "$3" = recv ] || out=/dev/null
	echo "$out $TMP/$1.$3.err -n $2 $3 --job $job" \
		"--receiver $(identity "$4") --timeout $TIMEOUT ${5-}"
}

# transfers NAME FUNCTION RECEIVERS SENDERS: run all members of a plan in force,
# with the inputs $TMP/in.SENDER for every receiver. Do all exit with 0, and is
# every result exact?
transfers()
{
	local name=$1 function=$2 files=() status=0 r s

	rm -f "$TMP/$name".*err "$TMP/$name".*out
	for s in $4; do
		files+=("$TMP/in.$s")
	done
	for r in $3; do
		member "$name.$r" "$r" recv "$r"
		for s in $4; do
			member "$name.$r.$s" "$s" send "$r" "$TMP/in.$s"
		done
	done > "$TMP/$name.members"
	aggctl_batch < "$TMP/$name.members" || {
		status=1
		cat "$TMP/$name".*err
	}
	reference "$function" "${files[@]}" > "$TMP/$name.expected"
	[ -s "$TMP/$name.expected" ] || {
		echo "$name: the reference is empty"
		status=1
	}
	for r in $3; do
		sort "$TMP/$name.$r.out" | cmp - "$TMP/$name.expected" ||
			status=1
	done
	return $status
}

# transfer NAME FUNCTION RECEIVER SENDER...: the same for one receiver
transfer()
{
	transfers "$1" "$2" "$3" "${*:4}"
}

withdraw()
{
	aggctl withdraw "$TMP/$1.json" > "$TMP/$1.withdraw"
}
