# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced after page.sh: a transfer with a supervisor on each machine, during which something
# fails. The script that sources it sets MERGES, and PLAN_OF, RECV_OF and SEND_OF, which
# introduce the commands on the page.
#   wait_for WHAT COMMAND...      until it succeeds
#   flagged NAME DEVICE FLAG      has the device of a machine this flag?
#   in_force                      a plan, and a supervisor on each server
#   begin                         begin the transfer, until the planned flows are bound
#   end SOURCE...                 let these go on to its end; they and the receiver succeed
#   withdraw SERVER...            the plan
#   why_names NAME CAUSE          does "why" there name the cause?
#   settings NAME                 print what a server has without a plan
#   booted NAME                   boot it: it has the settings of before

MERGES=()	# "NAME N": flows that arrive at a server as planned
PLAN_OF='' RECV_OF='' SEND_OF=''

LIMIT=180	# seconds until a condition that does not come is a failure

# wait_for WHAT COMMAND...: until it succeeds
wait_for()
{
	local until=$((SECONDS + LIMIT)) what=$1

	shift
	until "$@"; do
		[ $SECONDS -lt $until ] || {
			echo "# $what: not after $LIMIT s"
			return 1
		}
		nap 0.2
	done
}

# flagged NAME DEVICE FLAG: has the device of the machine this flag?
flagged()
{
	on "$1" "ip link show $2" > "$CLUSTER/flags" && grep -q "[<,]$3[,>]" "$CLUSTER/flags"
}

there()
{
	[ -s "$1" ]
}

# in_force: a plan, applied on each server, with a supervisor on each. They keep its file
# in a directory of the server: what is written into the shared one may be seen only when
# the file is closed.
in_force()
{
	on "$RECEIVER" "$(block "$PLAN_OF")" && spread_plan &&
		everywhere "home=\$PWD
		rm -f go *.status *.log
		cp plan.json /root
		cd /root
		rm -f supervise.log
		cat > watch << 'END'
$(block "server, until the result is there")
END
		{ bash -e watch > supervise.log 2>&1 || status=\$?
		cp supervise.log \$home
		echo \${status:-0} > \$home/supervise.status; } > /dev/null 2>&1 &
		until grep -q listening supervise.log || [ -e \$home/supervise.status ]; do
			sleep 0.1
		done
		grep -q listening supervise.log" "${SERVERS[@]}"
}

# begin: the sources hold back the second half of their records, as a program does that
# computes them: their file is a FIFO
begin()
{
	local name

	on "$RECEIVER" "{ { $(block "$RECV_OF")
		} 2> recv.log || status=\$?
		echo \${status:-0} > recv.status; } > /dev/null 2>&1 &"
	for name in "${SOURCES[@]}"; do
		on "$name" "home=\$PWD
		cd /root
		rm -f counts.tsv
		mkfifo counts.tsv
		{ head -n 2500 \$home/counts.tsv
		until [ -e \$home/go ]; do sleep 0.1; done
		tail -n +2501 \$home/counts.tsv; } > counts.tsv 2> /dev/null &
		{ { $(block "$SEND_OF")
		} 2> \$home/send.log || status=\$?
		echo \${status:-0} > \$home/send.status; } > /dev/null 2>&1 &"
	done
	wait_for "the planned flows" merged
}

# merged: are the planned flows bound?
merged()
{
	local at

	for at in "${MERGES[@]}"; do
		on "${at% *}" "aggctl -j why 8 | jq -e '.[0].bound == ${at#* }'" \
			> "$CLUSTER/bound" || return
	done
}

# end SOURCE...: the rest of the records; all these members succeed
end()
{
	local name status=0

	for name in "$@"; do
		: > "$CLUSTER/$name/home/go"
	done
	wait_for "the result" there "$CLUSTER/$RECEIVER/home/recv.status" || status=1
	for name in "$@"; do
		wait_for "the end of $name" there \
			"$CLUSTER/$name/home/send.status" || status=1
	done
	for name in "$RECEIVER" "$@"; do
		wait_for "the end of the supervisor of $name" there \
			"$CLUSTER/$name/home/supervise.status" || status=1
	done
	for name in "$RECEIVER" "$@"; do
		! grep -Hv '^0$' "$CLUSTER/$name"/home/*.status || status=1
		sed "s/^/# $name: /" "$CLUSTER/$name"/home/*.log
	done
	return $status
}

withdraw()
{
	everywhere "cd /root
	$(block "When the job is done, on each server")" "$@"
}

# why_names NAME CAUSE: "why" fails there, and names the server and the cause
why_names()
{
	on "$1" "aggctl why 8" > "$CLUSTER/found"
	[ $? = 3 ] && grep -q " at $1 (" "$CLUSTER/found" &&
		grep -q "WRONG: $2" "$CLUSTER/found" && return
	sed 's/^/# /' "$CLUSTER/found"
	return 1
}

# absent SOURCE: does the receiver name it as missing?
absent()
{
	grep -q "absent: .* ($1)" "$CLUSTER/$RECEIVER/home/recv.log"
}

# settings NAME: each part is there. Entries come with plans, and so do links, unless they
# have names.
settings()
{
	on "$1" "aggctl -j node show | jq -e .
		aggctl -j port show | jq -e 'map({port, level}) | if length > 0 then . else null end'
		aggctl -j link show | jq -e .
		ip -4 route show
		ip -4 -o address show"
}

# booted NAME: are its settings those of $CLUSTER/before?
booted()
{
	power_on "$1"
	machines_wait
	settings "$1" > "$CLUSTER/after" && diff "$CLUSTER/before" "$CLUSTER/after"
}
